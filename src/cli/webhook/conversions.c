/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/webhook/conversions.h"

#include "api/objects/object.h"
#include "base/base64.h"
#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/flow.h"
#include <string.h>

#define ANSWER_MS_MAX 10000
#define ANSWER_BYTES_MAX (8u << 20)
#define LOOK_MS 60000
#define LOOK_SELDOM_MS 300000 /* while no CRD asks for us */
#define BACKOFF_FIRST_MS 1000
#define API "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define CLIENT "spec.conversion.webhook.clientConfig"

/* The first one speaks for all: a component has them all converted, or none. */
static const char *const plurals[] = {"clusterqueues",
                                      "admissionchecks",
                                      "cohorts",
                                      "localqueues",
                                      "provisioningrequestconfigs",
                                      "resourceflavors",
                                      "topologies",
                                      "workloadpriorityclasses",
                                      "workloads"};
#define CRD_COUNT (sizeof plurals / sizeof plurals[0])

struct sl_webhook_conversions {
    struct sl_webhook_conversions_options o;
    char *ns, *service;
    char *url, *authorities; /* once they are written */
    struct sl_exchange *exchange;
    uv_timer_t timer;
    struct sl_backoff backoff;
    size_t at;
    bool asked, writes, again, complained;
};

/* --- what a CRD says --------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* By our Service, or by an address that a daemon outside of the cluster has written. */
bool sl_webhook_conversion_asks(const struct sl_json *crd, const char *ns, const char *service)
{
    const struct sl_json *client = sl_json_path(crd, CLIENT);
    if (strcmp(sl_json_path_text(crd, "spec.conversion.strategy", ""), "Webhook") != 0) {
        return false;
    }
    return (strcmp(sl_json_path_text(client, "service.name", ""), service) == 0 &&
            strcmp(sl_json_path_text(client, "service.namespace", ""), ns) == 0) ||
           ends_with(sl_json_path_text(client, "url", ""), SL_WEBHOOK_CONVERT_PATH);
}

static void set_place(struct sl_json *client, const char *ns, const char *service, const char *url)
{
    struct sl_buf text = {0};
    if (url != NULL) {
        sl_buf_print(&text, "%s" SL_WEBHOOK_CONVERT_PATH, url);
        sl_json_set_text(client, "url", text.data);
        sl_json_remove(client, "service");
    } else {
        struct sl_json *s = sl_json_path_make(client, "service");
        sl_json_remove(client, "url");
        sl_json_set_text(s, "name", service);
        sl_json_set_text(s, "namespace", ns);
        sl_json_set_text(s, "path", SL_WEBHOOK_CONVERT_PATH);
    }
    sl_buf_fini(&text);
}

struct sl_json *sl_webhook_conversion_patch_new(const struct sl_json *crd, const char *ns,
                                                const char *service, const char *url,
                                                const char *authorities)
{
    struct sl_buf coded = {0};
    if (!sl_webhook_conversion_asks(crd, ns, service)) {
        return NULL;
    }
    const struct sl_json *before = sl_json_path(crd, CLIENT);
    struct sl_json *after = sl_json_clone(before);
    set_place(after, ns, service, url);
    if (authorities != NULL) {
        sl_base64_print(authorities, strlen(authorities), &coded);
        sl_json_set_text(after, "caBundle", coded.data);
    }
    struct sl_json *change = sl_patch_between_new(before, after), *patch = NULL;
    if (change != NULL) {
        patch = sl_json_new_map();
        sl_json_set(sl_json_path_make(patch, "spec.conversion.webhook"), "clientConfig", change);
    }
    sl_json_free(after);
    sl_buf_fini(&coded);
    return patch;
}

/* --- with an API server ------------------------------------------------------------------------ */

static void on_read(void *context, const struct sl_response *r);
static void on_written(void *context, const struct sl_response *r);

static void ask(struct sl_webhook_conversions *c, const char *method, const struct sl_buf *body,
                sl_response_fn *done)
{
    struct sl_buf path = {0};
    sl_buf_print(&path, API "/%s.kueue.x-k8s.io", plurals[c->at]);
    const struct sl_request r = {.method = method,
                                 .path = path.data,
                                 .content_type =
                                     body == NULL ? NULL : "application/merge-patch+json",
                                 .body = body == NULL ? NULL : body->data,
                                 .body_len = body == NULL ? 0 : body->len,
                                 .timeout_ms = ANSWER_MS_MAX,
                                 .answer_max = ANSWER_BYTES_MAX};
    c->exchange = sl_transport_send(c->o.transport, &r, NULL, done, c);
    sl_buf_fini(&path);
}

static void begin(struct sl_webhook_conversions *c)
{
    c->at = 0;
    c->again = false;
    ask(c, "GET", NULL, on_read);
}

static void on_timer(uv_timer_t *timer)
{
    begin(timer->data);
}

static void rest_for(struct sl_webhook_conversions *c, int64_t ms)
{
    uv_timer_start(&c->timer, on_timer, c->again ? 0 : (uint64_t)ms, 0);
}

static void go_on(struct sl_webhook_conversions *c)
{
    if (!c->asked || c->again || ++c->at == CRD_COUNT) {
        c->at = 0;
        rest_for(c, c->asked ? LOOK_MS : LOOK_SELDOM_MS);
    } else {
        ask(c, "GET", NULL, on_read);
    }
}

static void on_read(void *context, const struct sl_response *r)
{
    struct sl_webhook_conversions *c = context;
    struct sl_json *crd =
        r->code == SL_CODE_OK ? sl_json_parse_received(r->body, r->body_len, NULL) : NULL;
    struct sl_json *patch = NULL;
    c->exchange = NULL;
    if (crd == NULL && r->status != 404 && r->status != 403) { /* no answer: soon again */
        rest_for(c, sl_backoff_next_ms(&c->backoff));
        return;
    }
    sl_backoff_reset(&c->backoff);
    if (!c->asked && sl_webhook_conversion_asks(crd, c->ns, c->service)) {
        c->asked = true;
        c->o.asked(c->o.context);
    }
    if (c->writes && (c->o.writes == NULL || c->o.writes(c->o.context))) {
        patch = sl_webhook_conversion_patch_new(crd, c->ns, c->service, c->url, c->authorities);
    }
    if (patch != NULL) {
        struct sl_buf text = {0};
        sl_json_print(patch, &text);
        ask(c, "PATCH", &text, on_written);
        sl_buf_fini(&text);
    } else {
        go_on(c);
    }
    sl_json_free(patch);
    sl_json_free(crd);
}

static void on_written(void *context, const struct sl_response *r)
{
    struct sl_webhook_conversions *c = context;
    c->exchange = NULL;
    if (r->code == SL_CODE_OK) {
        sl_log(SL_LOG_INFO, "the webhook converts v1beta1", "crd", plurals[c->at], NULL);
    } else if (!c->complained) {
        c->complained = true;
        sl_log(SL_LOG_WARN, "requests in v1beta1 fail: the webhook cannot be written into the CRD",
               "crd", plurals[c->at], "status", sl_log_number(r->status), "remedy",
               "apply deploy/kubernetes/webhook", NULL);
    }
    go_on(c);
}

struct sl_webhook_conversions *
sl_webhook_conversions_new(const struct sl_webhook_conversions_options *o)
{
    SL_PRE(o != NULL && o->asked != NULL);
    struct sl_webhook_conversions *c = sl_mem_new(1, sizeof *c);
    c->o = *o;
    c->ns = sl_mem_text(o->ns);
    c->service = sl_mem_text(o->service);
    sl_backoff_init(&c->backoff, BACKOFF_FIRST_MS, LOOK_MS, o->seed);
    uv_timer_init(o->loop, &c->timer);
    c->timer.data = c;
    begin(c);
    return c;
}

static char *copy_of(const char *text)
{
    return text == NULL ? NULL : sl_mem_text(text);
}

void sl_webhook_conversions_write(struct sl_webhook_conversions *c, const char *url,
                                  const char *authorities)
{
    SL_PRE(c != NULL);
    sl_mem_free(c->url);
    sl_mem_free(c->authorities);
    c->url = copy_of(url);
    c->authorities = copy_of(authorities);
    c->writes = true;
    c->again = true; /* what is under way looks once more */
    if (c->exchange == NULL) {
        rest_for(c, 0);
    }
}

static void on_closed(uv_handle_t *handle)
{
    struct sl_webhook_conversions *c = handle->data;
    sl_mem_free(c->ns);
    sl_mem_free(c->service);
    sl_mem_free(c->url);
    sl_mem_free(c->authorities);
    sl_mem_free(c);
}

void sl_webhook_conversions_free(struct sl_webhook_conversions *c)
{
    if (c == NULL) {
        return;
    }
    if (c->exchange != NULL) {
        sl_transport_cancel(c->exchange);
    }
    uv_close((uv_handle_t *)&c->timer, on_closed);
}
