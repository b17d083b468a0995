/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A watch of one ConfigMap, without a version to begin at: each time it begins with the object as it is. It ends every
 * some minutes, or when it fails, and is begun again after a while. */
#include "cli/pages/proxy_map.h"
#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/flow.h"
#include <stdio.h>
#include <string.h>

#define MAP_NAME "extension-apiserver-authentication"
#define WATCH_PATH                                                                                 \
    "/api/v1/namespaces/kube-system/configmaps?watch=true&allowWatchBookmarks=true&"               \
    "timeoutSeconds=300&fieldSelector=metadata.name%3D" MAP_NAME
#define IDLE_MS_MAX 150000 /* bookmarks come about every minute */
#define LINE_BYTES_MAX (2u << 20)
#define BACKOFF_FIRST_MS 500
#define BACKOFF_MOST_MS 30000

struct sl_proxy_map {
    struct sl_transport *transport;
    struct sl_front_proxy *proxy;
    struct sl_exchange *exchange; /* NULL: the timer runs */
    uv_timer_t timer;
    struct sl_backoff backoff;
    struct sl_buf line; /* what has come of the next event */
    bool broken;        /* what comes of this watch makes no sense: it is ended by the timer */
    char complaint[200];
};

static void complain(struct sl_proxy_map *m, const char *why)
{
    if (strncmp(m->complaint, why, sizeof m->complaint - 1) != 0) {
        (void)snprintf(m->complaint, sizeof m->complaint, "%s", why);
        sl_log(SL_LOG_WARN, "requests of the API server cannot be authenticated", "configmap",
               "kube-system/" MAP_NAME, "why", why, NULL);
    }
}

static void on_timer(uv_timer_t *timer);

/* An exchange is not ended from within its own callbacks. */
static void give_up(struct sl_proxy_map *m, const char *why)
{
    complain(m, why);
    m->broken = true;
    uv_timer_start(&m->timer, on_timer, 0, 0);
}

/* --- events ---------------------------------------------------------------------------------- */

static void learn(struct sl_proxy_map *m, const struct sl_json *data)
{
    struct sl_error e = {0};
    bool knew = sl_front_proxy_knows(m->proxy);
    if (sl_front_proxy_learn(m->proxy, data, &e) != SL_CODE_OK) {
        complain(m, e.text);
        return;
    }
    m->complaint[0] = '\0';
    if (!sl_front_proxy_knows(m->proxy)) {
        complain(m, "the API server has no requestheader-client-ca-file");
    } else if (!knew) {
        sl_log(SL_LOG_INFO, "requests of the API server can be authenticated", NULL);
    }
}

static void take_event(struct sl_proxy_map *m, const char *text, size_t len)
{
    struct sl_error e = {0};
    struct sl_json *event = sl_json_parse_received(text, len, &e);
    const char *type = sl_json_path_text(event, "type", "");
    if (event == NULL || strcmp(type, "ERROR") == 0) {
        give_up(m, event == NULL ? e.text : sl_json_path_text(event, "object.message", "error"));
    } else if (strcmp(type, "DELETED") == 0) {
        learn(m, NULL);
    } else if (strcmp(type, "BOOKMARK") != 0) {
        learn(m, sl_json_path(event, "object.data"));
    }
    sl_json_free(event);
    if (!m->broken) {
        sl_backoff_reset(&m->backoff);
    }
}

static void on_data(void *context, const char *data, size_t len)
{
    struct sl_proxy_map *m = context;
    while (len > 0 && !m->broken) {
        const char *end = memchr(data, '\n', len);
        size_t piece = end == NULL ? len : (size_t)(end - data);
        if (m->line.len + piece > LINE_BYTES_MAX) {
            give_up(m, "an event of the watch is too large");
            return;
        }
        sl_buf_add(&m->line, data, piece);
        if (end != NULL) {
            take_event(m, m->line.data, m->line.len);
            sl_buf_reset(&m->line);
        }
        data += end == NULL ? piece : piece + 1;
        len -= end == NULL ? piece : piece + 1;
    }
}

/* --- watches --------------------------------------------------------------------------------- */

static void on_end(void *context, const struct sl_response *r)
{
    struct sl_proxy_map *m = context;
    m->exchange = NULL;
    if (r->code != SL_CODE_OK && r->status == 0) {
        complain(m, "the API server does not answer"); /* others say why, again and again */
    } else if (r->code != SL_CODE_OK) {
        struct sl_json *status = sl_json_parse_received(r->body, r->body_len, NULL);
        complain(m, sl_json_path_text(status, "message", "the watch was refused"));
        sl_json_free(status);
    }
    uv_timer_start(&m->timer, on_timer, (uint64_t)sl_backoff_next_ms(&m->backoff), 0);
}

static void watch(struct sl_proxy_map *m)
{
    const struct sl_request r = {.method = "GET", .path = WATCH_PATH, .idle_ms = IDLE_MS_MAX};
    sl_buf_reset(&m->line);
    m->broken = false;
    m->exchange = sl_transport_send(m->transport, &r, on_data, on_end, m);
}

static void on_timer(uv_timer_t *timer)
{
    struct sl_proxy_map *m = timer->data;
    if (m->exchange == NULL) {
        watch(m);
        return;
    }
    sl_transport_cancel(m->exchange);
    m->exchange = NULL;
    uv_timer_start(timer, on_timer, (uint64_t)sl_backoff_next_ms(&m->backoff), 0);
}

struct sl_proxy_map *sl_proxy_map_new(uv_loop_t *loop, struct sl_transport *transport,
                                      struct sl_front_proxy *proxy, uint64_t seed)
{
    SL_PRE(loop != NULL && proxy != NULL);
    struct sl_proxy_map *m = sl_mem_new(1, sizeof *m);
    m->transport = transport;
    m->proxy = proxy;
    uv_timer_init(loop, &m->timer);
    m->timer.data = m;
    sl_backoff_init(&m->backoff, BACKOFF_FIRST_MS, BACKOFF_MOST_MS, seed);
    watch(m);
    return m;
}

static void on_closed(uv_handle_t *handle)
{
    sl_mem_free(handle->data);
}

void sl_proxy_map_free(struct sl_proxy_map *m)
{
    if (m == NULL) {
        return;
    }
    if (m->exchange != NULL) {
        sl_transport_cancel(m->exchange);
    }
    sl_buf_fini(&m->line);
    uv_close((uv_handle_t *)&m->timer, on_closed);
}
