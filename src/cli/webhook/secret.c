/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/webhook/secret.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/flow.h"
#include <string.h>

#define ANSWER_MS_MAX 10000
#define ANSWER_BYTES_MAX (1u << 20)
#define BACKOFF_FIRST_MS 500

struct sl_webhook_secret {
    struct sl_webhook_secret_options o;
    char *ns, *name, *server, *path;
    struct sl_exchange *exchange;
    uv_timer_t timer;
    struct sl_backoff backoff;
    struct sl_webhook_keys keys; /* as last seen */
    bool complained;
};

static void on_read(void *context, const struct sl_response *r);
static void on_written(void *context, const struct sl_response *r);

static void look(uv_timer_t *timer)
{
    struct sl_webhook_secret *s = timer->data;
    const struct sl_request r = {.method = "GET",
                                 .path = s->path,
                                 .timeout_ms = ANSWER_MS_MAX,
                                 .answer_max = ANSWER_BYTES_MAX};
    s->exchange = sl_transport_send(s->o.transport, &r, NULL, on_read, s);
}

static void look_in(struct sl_webhook_secret *s, int64_t ms)
{
    uv_timer_start(&s->timer, look, (uint64_t)ms, 0);
}

/* Said once: it is tried again for as long as it takes. */
static void look_later(struct sl_webhook_secret *s, const char *what, int status)
{
    if (!s->complained) {
        s->complained = true;
        sl_log(SL_LOG_WARN,
               "the webhook has no certificate: jobs may start before they are suspended, and pods "
               "are not gated",
               "reason", what, "secret", s->path, "status", sl_log_number(status), "remedy",
               "apply deploy/kubernetes/webhook", NULL);
    }
    look_in(s, sl_backoff_next_ms(&s->backoff));
}

static bool same(const struct sl_buf *a, const struct sl_buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* `keys` are taken over. */
static void take(struct sl_webhook_secret *s, struct sl_webhook_keys *keys)
{
    bool changed = !same(&keys->authority.certificate, &s->keys.authority.certificate) ||
                   !same(&keys->server.certificate, &s->keys.server.certificate) ||
                   !same(&keys->server.key, &s->keys.server.key);
    sl_webhook_keys_fini(&s->keys);
    s->keys = *keys;
    s->complained = false;
    sl_backoff_reset(&s->backoff);
    look_in(s, SL_WEBHOOK_LOOK_MS);
    if (changed) {
        s->o.taken(s->o.context, &s->keys);
    }
}

/* The Secret with new keys; `old` NULL: it is made. */
static void put(struct sl_webhook_secret *s, const struct sl_json *old,
                const struct sl_webhook_keys *keys)
{
    struct sl_buf text = {0}, path = {0};
    struct sl_json *secret = old == NULL ? sl_json_new_map() : sl_json_clone(old);
    sl_json_set_text(secret, "apiVersion", "v1");
    sl_json_set_text(secret, "kind", "Secret");
    sl_json_set_text(sl_json_path_make(secret, "metadata"), "name", s->name);
    sl_webhook_keys_write(keys, secret);
    sl_json_print(secret, &text);
    sl_buf_print(&path, "/api/v1/namespaces/%s/secrets", s->ns);
    const struct sl_request r = {.method = old == NULL ? "POST" : "PUT",
                                 .path = old == NULL ? path.data : s->path,
                                 .content_type = "application/json",
                                 .body = text.data,
                                 .body_len = text.len,
                                 .timeout_ms = ANSWER_MS_MAX,
                                 .answer_max = ANSWER_BYTES_MAX};
    s->exchange = sl_transport_send(s->o.transport, &r, NULL, on_written, s);
    sl_json_free(secret);
    sl_buf_fini(&text);
    sl_buf_fini(&path);
}

/* What is good is taken; else it is renewed first, and taken when it has been written. */
static void consider(struct sl_webhook_secret *s, const struct sl_json *secret)
{
    struct sl_webhook_keys keys = {0};
    struct sl_error e = {0};
    const char *why = NULL;
    sl_webhook_keys_read(secret, &keys);
    enum sl_code code = sl_webhook_keys_renew(&keys, s->server, sl_clock_now_ms() / 1000, &why, &e);
    if (code == SL_CODE_OK && why == NULL) {
        take(s, &keys);
        return;
    }
    if (code == SL_CODE_OK) {
        sl_log(SL_LOG_INFO, "the webhook's certificate is made", "secret", s->name, "reason", why,
               "for", s->server, NULL);
        put(s, secret, &keys);
    } else {
        look_later(s, e.text, 0);
    }
    sl_webhook_keys_fini(&keys);
}

static void on_read(void *context, const struct sl_response *r)
{
    struct sl_webhook_secret *s = context;
    struct sl_json *secret =
        r->code == SL_CODE_OK ? sl_json_parse_received(r->body, r->body_len, NULL) : NULL;
    s->exchange = NULL;
    if (secret != NULL || r->status == 404) {
        consider(s, secret);
    } else {
        look_later(s, "its Secret cannot be read", r->status);
    }
    sl_json_free(secret);
}

/* Another replica was first (409), or it is there now: what counts is what is read. */
static void on_written(void *context, const struct sl_response *r)
{
    struct sl_webhook_secret *s = context;
    s->exchange = NULL;
    if (r->code == SL_CODE_OK || r->status == 409) {
        look_in(s, 0);
    } else {
        look_later(s, "its Secret cannot be written", r->status);
    }
}

struct sl_webhook_secret *sl_webhook_secret_new(const struct sl_webhook_secret_options *o)
{
    struct sl_buf path = {0};
    SL_PRE(o != NULL && o->taken != NULL);
    struct sl_webhook_secret *s = sl_mem_new(1, sizeof *s);
    s->o = *o;
    s->ns = sl_mem_text(o->ns);
    s->name = sl_mem_text(o->name);
    s->server = sl_mem_text(o->server);
    sl_buf_print(&path, "/api/v1/namespaces/%s/secrets/%s", s->ns, s->name);
    s->path = sl_buf_take(&path);
    sl_backoff_init(&s->backoff, BACKOFF_FIRST_MS, SL_WEBHOOK_LOOK_MS, o->seed);
    uv_timer_init(o->loop, &s->timer);
    s->timer.data = s;
    look_in(s, 0);
    return s;
}

static void on_closed(uv_handle_t *handle)
{
    struct sl_webhook_secret *s = handle->data;
    sl_webhook_keys_fini(&s->keys);
    sl_mem_free(s->ns);
    sl_mem_free(s->name);
    sl_mem_free(s->server);
    sl_mem_free(s->path);
    sl_mem_free(s);
}

void sl_webhook_secret_free(struct sl_webhook_secret *s)
{
    if (s == NULL) {
        return;
    }
    if (s->exchange != NULL) {
        sl_transport_cancel(s->exchange);
    }
    uv_close((uv_handle_t *)&s->timer, on_closed);
}
