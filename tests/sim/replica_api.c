/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Requests as the server gets them from HTTP (server/http.c). The store knows no Leases: there is one, guarded by its
 * version as any object is. */
#include "replica_api.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "server/rest.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATCHES_MAX 1000u
#define COMMITS_MAX 16u

struct sim_api {
    struct sl_rest rest;
    struct sl_json *lease; /* NULL: there is none */
    uint64_t lease_version;
    int64_t lease_written_ms;
};
struct sim_watch {
    struct sl_request request;
};

struct sim_api *sim_api_new(struct sl_store *store)
{
    struct sim_api *a = sl_mem_new(1, sizeof *a);
    a->rest = (struct sl_rest){.store = store, .watches_max = WATCHES_MAX, .version = "simulated"};
    return a;
}

void sim_api_free(struct sim_api *a)
{
    sl_json_free(a->lease);
    sl_mem_free(a);
}

/* --- the Lease ---------------------------------------------------------------------------------- */

bool sim_api_is_lease(const char *path)
{
    return strstr(path, "/leases") != NULL;
}

static void reply_status(struct sim_reply *out, int status, const char *reason)
{
    out->status = status;
    sl_buf_print(&out->body,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
                 "\"%s\",\"message\":\"the Lease: %s\",\"code\":%d}",
                 reason, reason, status);
}

static bool is_current(const struct sim_api *a, const struct sl_json *object)
{
    return strtoull(sl_object_resource_version(object), NULL, 10) == a->lease_version;
}

static void write_lease(struct sim_api *a, const struct sl_buf *body, struct sim_reply *out)
{
    char version[32];
    struct sl_json *object = sl_json_parse(body->data, body->len, NULL);
    (void)snprintf(version, sizeof version, "%llu", (unsigned long long)++a->lease_version);
    sl_json_set_text(sl_json_path_make(object, "metadata"), "resourceVersion", version);
    sl_json_free(a->lease);
    a->lease = object;
    a->lease_written_ms = sl_clock_now_ms();
    out->status = 200;
    sl_json_print(object, &out->body);
}

static void serve_lease(struct sim_api *a, const char *method, const struct sl_buf *body,
                        struct sim_reply *out)
{
    bool creates = strcmp(method, "POST") == 0;
    if (strcmp(method, "GET") == 0 && a->lease != NULL) {
        out->status = 200;
        sl_json_print(a->lease, &out->body);
    } else if (creates && a->lease != NULL) {
        reply_status(out, 409, "AlreadyExists");
    } else if (a->lease == NULL && !creates) {
        reply_status(out, 404, "NotFound");
    } else {
        struct sl_json *object = sl_json_parse(body->data, body->len, NULL);
        bool current = creates || is_current(a, object);
        sl_json_free(object);
        if (current) {
            write_lease(a, body, out);
        } else {
            reply_status(out, 409, "Conflict");
        }
    }
}

const char *sim_api_lease_holder(const struct sim_api *a)
{
    return sl_json_path_text(a->lease, "spec.holderIdentity", "");
}

int64_t sim_api_lease_written_ms(const struct sim_api *a)
{
    return a->lease_written_ms;
}

/* --- everything else ---------------------------------------------------------------------------- */

static void commit_for(struct sl_request *r)
{
    struct sl_error e = {0};
    for (unsigned i = 0; r->wait || r->again; i++) {
        if (!r->wait) {
            sl_rest_serve(r);
            continue;
        }
        enum sl_code code = sl_store_commit(r->rest->store, &e);
        if (code != SL_CODE_OK || i == COMMITS_MAX) {
            sim_story_violation("a commit failed without a fault: %s", e.text);
        }
        sl_rest_committed(r, code, &e);
    }
}

void sim_api_serve(struct sim_api *a, const char *method, const char *path,
                   const struct sl_buf *body, struct sim_reply *out)
{
    *out = (struct sim_reply){0};
    if (sim_api_is_lease(path)) {
        serve_lease(a, method, body, out);
        return;
    }
    struct sim_watch *w = sl_mem_new(1, sizeof *w);
    struct sl_request *r = &w->request;
    if (sl_request_init(r, &a->rest, method, path)) {
        r->content_type = sl_mem_text(strcmp(method, "PATCH") == 0 ? "application/merge-patch+json"
                                                                   : "application/json");
        if (body->len > 0) {
            sl_buf_add(&r->body, body->data, body->len);
        }
        sl_rest_serve(r);
        commit_for(r);
    }
    out->status = r->answer.status;
    if (r->answer.stream != NULL) {
        out->watch = w;
        return;
    }
    out->body = r->answer.body;
    r->answer.body = (struct sl_buf){0};
    sl_request_fini(r);
    sl_mem_free(w);
}

bool sim_watch_read(struct sim_watch *w, struct sl_buf *out)
{
    struct sl_stream *stream = w->request.answer.stream;
    enum sl_stream_step step = SL_STREAM_MORE;
    while (step == SL_STREAM_MORE && stream->ready(stream, sl_clock_now_ms())) {
        step = stream->fill(stream, out);
    }
    return step == SL_STREAM_MORE || step == SL_STREAM_WAIT;
}

void sim_watch_end(struct sim_watch *w)
{
    sl_request_fini(&w->request);
    sl_mem_free(w);
}
