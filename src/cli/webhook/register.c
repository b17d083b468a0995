/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/webhook/register.h"

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/webhook/registration.h"
#include "kube/flow.h"
#include <string.h>

#define ANSWER_MS_MAX 10000
#define ANSWER_BYTES_MAX (4u << 20)
#define BACKOFF_FIRST_MS 500
#define LOOK_MS 60000
#define API "/apis/admissionregistration.k8s.io/v1/"

struct sl_webhook_register {
    struct sl_transport *transport;
    struct sl_exchange *exchange;
    uv_timer_t timer;
    struct sl_backoff backoff;
    struct sl_json *wanted[2]; /* by enum sl_webhook_way; NULL: nothing is known yet */
    enum sl_webhook_way at;    /* which is looked at */
    bool again;                /* others are wanted since then */
    bool complained;
};

static void on_read(void *context, const struct sl_response *r);
static void on_written(void *context, const struct sl_response *r);

static const char *plural(enum sl_webhook_way way)
{
    return way == SL_WEBHOOK_MUTATES ? "mutatingwebhookconfigurations"
                                     : "validatingwebhookconfigurations";
}

static void look(struct sl_webhook_register *r)
{
    struct sl_buf path = {0};
    sl_buf_print(&path, API "%s/%s", plural(r->at), sl_webhook_registration_name(r->at));
    const struct sl_request q = {.method = "GET",
                                 .path = path.data,
                                 .timeout_ms = ANSWER_MS_MAX,
                                 .answer_max = ANSWER_BYTES_MAX};
    r->exchange = sl_transport_send(r->transport, &q, NULL, on_read, r);
    sl_buf_fini(&path);
}

static void begin(struct sl_webhook_register *r)
{
    r->at = SL_WEBHOOK_MUTATES;
    r->again = false;
    look(r);
}

static void on_timer(uv_timer_t *timer)
{
    begin(timer->data);
}

/* What was looked at is as it should be. */
static void go_on(struct sl_webhook_register *r)
{
    if (r->again) {
        begin(r);
    } else if (r->at == SL_WEBHOOK_MUTATES) {
        r->at = SL_WEBHOOK_VALIDATES;
        look(r);
    } else {
        r->complained = false;
        sl_backoff_reset(&r->backoff);
        uv_timer_start(&r->timer, on_timer, LOOK_MS, 0);
    }
}

static bool asks(const struct sl_json *wanted)
{
    return sl_json_len(sl_json_get(wanted, "webhooks")) > 0;
}

static void try_later(struct sl_webhook_register *r, const char *what, int status)
{
    if (!r->complained) {
        r->complained = true;
        sl_log(SL_LOG_WARN,
               asks(r->wanted[r->at]) ? "the webhook is not registered: jobs may start before they "
                                        "are suspended, and pods are not gated"
                                      : "the webhook may still be registered",
               "reason", what, "configuration", sl_webhook_registration_name(r->at), "status",
               sl_log_number(status), "remedy", "apply deploy/kubernetes/webhook", NULL);
    }
    uv_timer_start(&r->timer, on_timer, (uint64_t)sl_backoff_next_ms(&r->backoff), 0);
}

/* `live` NULL: it is made. */
static void put(struct sl_webhook_register *r, const struct sl_json *live)
{
    const struct sl_json *wanted = r->wanted[r->at];
    struct sl_buf text = {0}, path = {0};
    struct sl_json *merged =
        live == NULL ? sl_json_clone(wanted) : sl_webhook_registration_merged_new(live, wanted);
    sl_json_print(merged, &text);
    sl_buf_print(&path, API "%s", plural(r->at));
    if (live != NULL) {
        sl_buf_print(&path, "/%s", sl_webhook_registration_name(r->at));
    }
    const struct sl_request q = {.method = live == NULL ? "POST" : "PUT",
                                 .path = path.data,
                                 .content_type = "application/json",
                                 .body = text.data,
                                 .body_len = text.len,
                                 .timeout_ms = ANSWER_MS_MAX,
                                 .answer_max = ANSWER_BYTES_MAX};
    r->exchange = sl_transport_send(r->transport, &q, NULL, on_written, r);
    sl_json_free(merged);
    sl_buf_fini(&text);
    sl_buf_fini(&path);
}

static void on_read(void *context, const struct sl_response *answer)
{
    struct sl_webhook_register *r = context;
    struct sl_json *live = answer->code == SL_CODE_OK
                               ? sl_json_parse_received(answer->body, answer->body_len, NULL)
                               : NULL;
    const struct sl_json *wanted = r->wanted[r->at];
    r->exchange = NULL;
    if (answer->status == 404 && !asks(wanted)) {
        go_on(r);
    } else if (answer->status == 404) {
        put(r, NULL);
    } else if (live == NULL) {
        try_later(r, "it cannot be read", answer->status);
    } else if (sl_webhook_registration_differs(live, wanted)) {
        put(r, live);
    } else {
        go_on(r);
    }
    sl_json_free(live);
}

static void on_written(void *context, const struct sl_response *answer)
{
    struct sl_webhook_register *r = context;
    r->exchange = NULL;
    if (answer->code == SL_CODE_OK) {
        sl_log(SL_LOG_INFO,
               asks(r->wanted[r->at]) ? "the webhook is registered"
                                      : "the webhook is no longer registered",
               "configuration", sl_webhook_registration_name(r->at), NULL);
        go_on(r);
    } else if (answer->status == 409) {
        look(r); /* another one was first */
    } else {
        try_later(r, "it cannot be written", answer->status);
    }
}

struct sl_webhook_register *sl_webhook_register_new(uv_loop_t *loop, struct sl_transport *transport,
                                                    uint64_t seed)
{
    struct sl_webhook_register *r = sl_mem_new(1, sizeof *r);
    r->transport = transport;
    sl_backoff_init(&r->backoff, BACKOFF_FIRST_MS, LOOK_MS, seed);
    uv_timer_init(loop, &r->timer);
    r->timer.data = r;
    return r;
}

void sl_webhook_register_want(struct sl_webhook_register *r, struct sl_json *mutating,
                              struct sl_json *validating)
{
    SL_PRE(r != NULL && mutating != NULL && validating != NULL);
    sl_json_free(r->wanted[SL_WEBHOOK_MUTATES]);
    sl_json_free(r->wanted[SL_WEBHOOK_VALIDATES]);
    r->wanted[SL_WEBHOOK_MUTATES] = mutating;
    r->wanted[SL_WEBHOOK_VALIDATES] = validating;
    if (r->exchange != NULL) {
        r->again = true;
        return;
    }
    uv_timer_stop(&r->timer);
    begin(r);
}

static void on_closed(uv_handle_t *handle)
{
    struct sl_webhook_register *r = handle->data;
    sl_json_free(r->wanted[SL_WEBHOOK_MUTATES]);
    sl_json_free(r->wanted[SL_WEBHOOK_VALIDATES]);
    sl_mem_free(r);
}

void sl_webhook_register_free(struct sl_webhook_register *r)
{
    if (r == NULL) {
        return;
    }
    if (r->exchange != NULL) {
        sl_transport_cancel(r->exchange);
    }
    uv_close((uv_handle_t *)&r->timer, on_closed);
}
