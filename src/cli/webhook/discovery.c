/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/webhook/discovery.h"

#include "api/json/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/flow.h"

#define ANSWER_MS_MAX 10000
#define ANSWER_BYTES_MAX (1u << 20)
#define BACKOFF_FIRST_MS 200
#define BACKOFF_MOST_MS 10000
#define API "/apis/admissionregistration.k8s.io/"

static const char *const versions[] = {"v1", "v1beta1", "v1alpha1"};
#define VERSION_COUNT (sizeof versions / sizeof versions[0])

struct sl_webhook_discovery {
    struct sl_transport *transport;
    struct sl_exchange *exchange;
    uv_timer_t timer;
    struct sl_backoff backoff;
    size_t at; /* which version is asked for */
    sl_webhook_found_fn *found;
    void *context;
    bool complained;
};

static void on_answer(void *context, const struct sl_response *r);

static void ask(struct sl_webhook_discovery *d)
{
    struct sl_buf path = {0};
    sl_buf_print(&path, API "%s", versions[d->at]);
    const struct sl_request r = {.method = "GET",
                                 .path = path.data,
                                 .timeout_ms = ANSWER_MS_MAX,
                                 .answer_max = ANSWER_BYTES_MAX};
    d->exchange = sl_transport_send(d->transport, &r, NULL, on_answer, d);
    sl_buf_fini(&path);
}

static void on_timer(uv_timer_t *timer)
{
    ask(timer->data);
}

static void on_answer(void *context, const struct sl_response *r)
{
    struct sl_webhook_discovery *d = context;
    struct sl_json *list =
        r->code == SL_CODE_OK ? sl_json_parse_received(r->body, r->body_len, NULL) : NULL;
    bool served = sl_json_find_by(sl_json_get(list, "resources"), "name",
                                  "mutatingadmissionpolicies") != NULL;
    d->exchange = NULL;
    if (list == NULL && r->status != 404) {
        if (!d->complained) {
            d->complained = true;
            sl_log(SL_LOG_WARN, "it is not known yet whether the cluster has mutating policies",
                   "status", sl_log_number(r->status), NULL);
        }
        uv_timer_start(&d->timer, on_timer, (uint64_t)sl_backoff_next_ms(&d->backoff), 0);
    } else if (!served && d->at + 1 < VERSION_COUNT) {
        d->at++;
        ask(d);
    } else {
        d->found(d->context, served ? versions[d->at] : NULL);
    }
    sl_json_free(list);
}

struct sl_webhook_discovery *sl_webhook_discovery_new(uv_loop_t *loop,
                                                      struct sl_transport *transport, uint64_t seed,
                                                      sl_webhook_found_fn *found, void *context)
{
    struct sl_webhook_discovery *d = sl_mem_new(1, sizeof *d);
    d->transport = transport;
    d->found = found;
    d->context = context;
    sl_backoff_init(&d->backoff, BACKOFF_FIRST_MS, BACKOFF_MOST_MS, seed);
    uv_timer_init(loop, &d->timer);
    d->timer.data = d;
    ask(d);
    return d;
}

static void on_closed(uv_handle_t *handle)
{
    sl_mem_free(handle->data);
}

void sl_webhook_discovery_free(struct sl_webhook_discovery *d)
{
    if (d == NULL) {
        return;
    }
    if (d->exchange != NULL) {
        sl_transport_cancel(d->exchange);
    }
    uv_close((uv_handle_t *)&d->timer, on_closed);
}
