/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One patch at a time; one that failed is sent again. */
#include "cli/pages/leader_mark.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/flow.h"
#include <string.h>

#define ANSWER_MS_MAX 10000
#define BACKOFF_FIRST_MS 500
#define BACKOFF_MOST_MS 30000

struct sl_leader_mark {
    struct sl_transport *transport;
    struct sl_exchange *exchange;
    uv_timer_t timer;
    struct sl_backoff backoff;
    char *path;
    bool leads, written; /* what is to be written, and whether that has been */
    bool complained;
};

static void on_answer(void *context, const struct sl_response *r);

static void patch(struct sl_leader_mark *m)
{
    static const char *const bodies[] = {
        "{\"metadata\":{\"labels\":{\"" SL_LEADER_LABEL "\":null}}}",
        "{\"metadata\":{\"labels\":{\"" SL_LEADER_LABEL "\":\"true\"}}}"};
    const char *body = bodies[m->leads ? 1 : 0];
    const struct sl_request r = {.method = "PATCH",
                                 .path = m->path,
                                 .content_type = "application/merge-patch+json",
                                 .body = body,
                                 .body_len = strlen(body),
                                 .timeout_ms = ANSWER_MS_MAX};
    m->written =
        true; /* unless the answer says otherwise, or something else is to be written meanwhile */
    m->exchange = sl_transport_send(m->transport, &r, NULL, on_answer, m);
}

static void on_timer(uv_timer_t *timer)
{
    struct sl_leader_mark *m = timer->data;
    if (m->exchange == NULL && !m->written) {
        patch(m);
    }
}

static void on_answer(void *context, const struct sl_response *r)
{
    struct sl_leader_mark *m = context;
    m->exchange = NULL;
    if (r->code == SL_CODE_OK && !m->written) {
        patch(m);
        return;
    }
    if (r->code == SL_CODE_OK) {
        return;
    }
    m->written = false;
    if (!m->complained) {
        m->complained = true;
        sl_log(SL_LOG_WARN, "the leader's label could not be set on this pod", "path", m->path,
               "status", sl_log_number(r->status), NULL);
    }
    uv_timer_start(&m->timer, on_timer, (uint64_t)sl_backoff_next_ms(&m->backoff), 0);
}

struct sl_leader_mark *sl_leader_mark_new(uv_loop_t *loop, struct sl_transport *transport,
                                          const char *ns, const char *pod)
{
    struct sl_buf path = {0};
    if (ns == NULL || pod == NULL) {
        return NULL;
    }
    struct sl_leader_mark *m = sl_mem_new(1, sizeof *m);
    sl_buf_print(&path, "/api/v1/namespaces/%s/pods/%s", ns, pod);
    m->path = sl_buf_take(&path);
    m->transport = transport;
    uv_timer_init(loop, &m->timer);
    m->timer.data = m;
    sl_backoff_init(&m->backoff, BACKOFF_FIRST_MS, BACKOFF_MOST_MS, uv_hrtime());
    patch(m);
    return m;
}

void sl_leader_mark_set(struct sl_leader_mark *m)
{
    if (m == NULL) {
        return;
    }
    m->leads = true;
    m->written = false;
    if (m->exchange == NULL) {
        patch(m);
    }
}

static void on_closed(uv_handle_t *handle)
{
    struct sl_leader_mark *m = handle->data;
    sl_mem_free(m->path);
    sl_mem_free(m);
}

void sl_leader_mark_free(struct sl_leader_mark *m)
{
    if (m == NULL) {
        return;
    }
    if (m->exchange != NULL) {
        sl_transport_cancel(m->exchange);
    }
    uv_close((uv_handle_t *)&m->timer, on_closed);
}
