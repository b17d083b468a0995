/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Requests without sockets: sl_rest_serve over a store in a fresh directory. */
#ifndef SL_TEST_SERVER_FIXTURE_H
#define SL_TEST_SERVER_FIXTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "server/rest.h"

#define NOW_MS 1787392800000 /* 2026-08-22T10:00:00Z */
#define TABLE_TYPE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
#define QUEUES "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues"

struct fixture {
    char dir[64];
    struct sl_rest rest;
    struct sl_error e;
    struct sl_request r;   /* of the last call */
    struct sl_json *reply; /* its body, parsed; NULL when it is no JSON */
    bool used;
};

static inline int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/sluice-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    sl_clock_set_virtual(NOW_MS);
    f->rest = (struct sl_rest){.watches_max = 3, .version = "test"};
    assert_int_equal(sl_store_open(f->dir, &f->rest.store, &f->e), SL_CODE_OK);
    *state = f;
    return 0;
}

static inline void forget(struct fixture *f)
{
    if (f->used) {
        sl_json_free(f->reply);
        f->reply = NULL;
        sl_request_fini(&f->r);
        f->used = false;
    }
}

static inline void remove_dir(const char *dir)
{
    static const char *const files[] = {"sluice.db", "sluice.db-wal", "sluice.db-shm", "lock",
                                        "revision"};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(dir);
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    forget(f);
    assert_int_equal(f->rest.watch_count, 0);
    sl_store_close(f->rest.store);
    remove_dir(f->dir);
    sl_mem_free(f);
    return 0;
}

static inline void commit(struct fixture *f)
{
    while (sl_store_dirty(f->rest.store)) {
        assert_int_equal(sl_store_commit(f->rest.store, &f->e), SL_CODE_OK);
    }
}

struct call {
    const char *method, *uri, *body, *type, *accept;
};

/* Serves up to the point where the answer would wait for a commit. */
static inline int serve(struct fixture *f, struct call c)
{
    forget(f);
    f->used = true;
    if (!sl_request_init(&f->r, &f->rest, c.method, c.uri)) {
        return f->r.answer.status;
    }
    if (c.body != NULL) {
        sl_buf_add(&f->r.body, c.body, strlen(c.body));
    }
    f->r.content_type = sl_mem_text(c.type);
    f->r.accept_text = sl_mem_text(c.accept);
    sl_rest_serve(&f->r);
    return f->r.answer.status;
}

/* The whole exchange: commits, and parses the body. Returns the HTTP status. */
static inline int call(struct fixture *f, struct call c)
{
    (void)serve(f, c);
    while (f->r.wait || f->r.again) {
        if (f->r.wait) {
            enum sl_code code = sl_store_commit(f->rest.store, &f->e);
            sl_rest_committed(&f->r, code, &f->e);
        } else {
            sl_rest_serve(&f->r);
        }
    }
    commit(f);
    const struct sl_buf *body = &f->r.answer.body;
    if (f->r.answer.stream == NULL && body->len > 0) {
        f->reply = sl_json_parse(body->data, body->len, NULL);
    }
    return f->r.answer.status;
}

static inline int get(struct fixture *f, const char *uri)
{
    return call(f, (struct call){.method = "GET", .uri = uri});
}

static inline int post(struct fixture *f, const char *uri, const char *body)
{
    return call(
        f, (struct call){.method = "POST", .uri = uri, .body = body, .type = "application/json"});
}

static inline int patch(struct fixture *f, const char *uri, const char *type, const char *body)
{
    return call(f, (struct call){.method = "PATCH", .uri = uri, .body = body, .type = type});
}

static inline const char *text(const struct fixture *f, const char *path)
{
    return sl_json_path_text(f->reply, path, "(absent)");
}

static inline void make_queue(struct fixture *f, const char *name, const char *more_metadata)
{
    char body[512];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"%s\"%s},\"spec\":{\"clusterQueue\":\"cq\"}}", name,
                   more_metadata);
    if (post(f, QUEUES, body) != 201) {
        fail_msg("%s", text(f, "message"));
    }
}

/* Everything a stream has now, after what stands in the body already. */
static inline enum sl_stream_step drain(struct fixture *f, struct sl_buf *out)
{
    enum sl_stream_step step;
    struct sl_stream *stream = f->r.answer.stream;
    assert_non_null(stream);
    sl_buf_add(out, f->r.answer.body.data != NULL ? f->r.answer.body.data : "",
               f->r.answer.body.len);
    sl_buf_reset(&f->r.answer.body);
    do {
        step = stream->fill(stream, out);
    } while (step == SL_STREAM_MORE);
    return step;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#endif
