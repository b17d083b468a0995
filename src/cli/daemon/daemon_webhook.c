/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/daemon/daemon_webhook.h"

#include "api/versions/versions.h"
#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/common/version.h"
#include "cli/pages/metrics.h"
#include "cli/webhook/conversions.h"
#include "cli/webhook/discovery.h"
#include "cli/webhook/register.h"
#include "cli/webhook/registration.h"
#include "cli/webhook/secret.h"
#include "server/server.h"
#include "server/tls.h"
#include <stdio.h>
#include <string.h>

#define PORT 9443u /* Kueue's */
#define CONNECTIONS_MAX 200u
#define ADDRESS_MAX 320
#define FILE_BYTES_MAX (1u << 20)

struct sl_daemon_webhook {
    struct sl_daemon_webhook_place place;
    struct sl_webhook_discovery *discovery;
    struct sl_webhook_secret *secret; /* NULL: certificates are files */
    struct sl_webhook_register *registered;
    struct sl_webhook_conversions *conversions;
    struct sl_webhook_rules *rules;
    struct sl_webhook webhook;
    struct sl_tls *tls;
    struct sl_server *server; /* NULL: not yet, or nowhere */
    char *authorities;        /* PEM; NULL: others register theirs */
    uv_timer_t timer;         /* with certificates from files */
    char name[ADDRESS_MAX];   /* that the API server calls */
    char url[ADDRESS_MAX];    /* "": by the Service */
    bool known, on, leads, complained;
    bool serves; /* has begun to: for admission, or for CRDs that ask for conversion */
    uint64_t reviews, denied, malformed, conversions_asked;
};

/* --- answers ----------------------------------------------------------------------------------- */

static bool has(void *context, enum sl_kind kind, const char *ns)
{
    const struct sl_daemon_webhook *w = context;
    const struct sl_client *client = w->place.client;
    struct sl_json *object = NULL;
    struct sl_error e = {0};
    bool there = client->get(client->self, kind, ns, "default", &object, &e) == SL_CODE_OK;
    sl_json_free(object);
    return there;
}

static bool has_queue(void *context, const char *ns)
{
    return has(context, SL_KIND_LOCAL_QUEUE, ns);
}

static bool has_class(void *context)
{
    return has(context, SL_KIND_WORKLOAD_PRIORITY_CLASS, "");
}

static void refuse(struct sl_server_page *page, const struct sl_error *e)
{
    struct sl_json *status = sl_status_new(e, SL_KIND_COUNT, "");
    page->status = sl_code_http(e->code);
    sl_json_print(status, &page->body);
    sl_json_free(status);
}

static void answer(struct sl_daemon_webhook *w, enum sl_webhook_way way, const struct sl_json *body,
                   struct sl_server_page *page)
{
    struct sl_error e = {0};
    if (!w->place.ready(w->place.context)) {
        (void)sl_error_set(&e, SL_CODE_UNAVAILABLE, "not everything has been listed yet");
        refuse(page, &e);
        return;
    }
    struct sl_json *review = sl_webhook_answer_new(&w->webhook, way, body, &e);
    w->reviews++;
    if (review == NULL) {
        w->malformed++;
        refuse(page, &e);
        return;
    }
    w->denied += !sl_json_path_bool(review, "response.allowed", false);
    sl_json_print(review, &page->body);
    sl_json_free(review);
}

static void on_mutate(void *context, const struct sl_json *body, struct sl_server_page *page)
{
    answer(context, SL_WEBHOOK_MUTATES, body, page);
}

static void on_validate(void *context, const struct sl_json *body, struct sl_server_page *page)
{
    answer(context, SL_WEBHOOK_VALIDATES, body, page);
}

static void on_convert(void *context, const struct sl_json *body, struct sl_server_page *page)
{
    struct sl_daemon_webhook *w = context;
    struct sl_json *review = sl_convert_review(body);
    w->conversions_asked++;
    sl_json_print(review, &page->body);
    sl_json_free(review);
}

/* --- the server -------------------------------------------------------------------------------- */

static enum sl_code listen_at(struct sl_daemon_webhook *w, struct sl_server_options *o,
                              struct sl_error *e)
{
    const struct sl_config_cluster *k = &w->place.config->cluster;
    char address[ADDRESS_MAX];
    o->listen = address;
    if (w->place.options->webhook_listen != NULL) {
        o->listen = w->place.options->webhook_listen;
    } else if (k->webhook_address != NULL && k->webhook_address[0] != '\0') {
        (void)snprintf(address, sizeof address,
                       strchr(k->webhook_address, ':') != NULL ? "[%.200s]:%u" : "%.200s:%u",
                       k->webhook_address, k->webhook_port);
    } else {
        (void)snprintf(address, sizeof address, "[::]:%u", k->webhook_port);
        if (sl_server_start(w->place.loop, NULL, o, &w->server, e) == SL_CODE_OK) {
            return SL_CODE_OK;
        }
        sl_error_clear(e); /* there is no IPv6 */
        (void)snprintf(address, sizeof address, "0.0.0.0:%u", k->webhook_port);
    }
    return sl_server_start(w->place.loop, NULL, o, &w->server, e);
}

/* The API server proves nothing about itself, here as with Kueue: what an answer says is no secret, and nothing is changed by it. */
static enum sl_code serve(struct sl_daemon_webhook *w, struct sl_error *e)
{
    const struct sl_server_question questions[] = {{SL_WEBHOOK_MUTATE_PATH, on_mutate, w},
                                                   {SL_WEBHOOK_VALIDATE_PATH, on_validate, w},
                                                   {SL_WEBHOOK_CONVERT_PATH, on_convert, w}};
    struct sl_server_options o = {.allow_remote = true,
                                  .questions = questions,
                                  .question_count = sizeof questions / sizeof questions[0],
                                  .connections_max = CONNECTIONS_MAX,
                                  .version = SL_VERSION,
                                  .reviews = true,
                                  .tls = w->tls};
    enum sl_code code = listen_at(w, &o, e);
    if (code == SL_CODE_OK) {
        const char *listen = w->place.options->webhook_listen;
        if (listen != NULL) {
            (void)snprintf(w->url, sizeof w->url, "https://%.*s:%u",
                           (int)(strrchr(listen, ':') - listen), listen, sl_server_port(w->server));
        }
        sl_log(SL_LOG_INFO, "serving", "port", sl_log_number(sl_server_port(w->server)), "pages",
               "webhook, with TLS", "certificate", w->name, NULL);
    }
    return code;
}

/* --- registration ------------------------------------------------------------------------------ */

static void want(struct sl_daemon_webhook *w)
{
    const struct sl_webhook_place place = {w->place.ns, w->place.config->cluster.webhook_service,
                                           w->url[0] != '\0' ? w->url : NULL};
    const struct sl_webhook_place *at = w->on ? &place : NULL;
    if (w->server != NULL && w->conversions != NULL) {
        sl_webhook_conversions_write(w->conversions, place.url, w->authorities);
    }
    if (!w->leads || !w->known || (w->on && w->server == NULL)) {
        return;
    }
    if (w->registered == NULL) {
        w->registered = sl_webhook_register_new(w->place.loop, w->place.transport, uv_hrtime());
    }
    sl_webhook_register_want(
        w->registered,
        sl_webhook_registration_new(w->rules, SL_WEBHOOK_MUTATES, at, w->authorities),
        sl_webhook_registration_new(w->rules, SL_WEBHOOK_VALIDATES, at, w->authorities));
}

static void begin_serving(struct sl_daemon_webhook *w)
{
    struct sl_error e = {0};
    if (w->server == NULL && serve(w, &e) != SL_CODE_OK && !w->complained) {
        w->complained = true;
        sl_log(SL_LOG_ERROR, "the webhook is not served", "reason", e.text, NULL);
    }
    want(w);
}

static void on_keys(void *context, const struct sl_webhook_keys *keys)
{
    struct sl_daemon_webhook *w = context;
    struct sl_error e = {0};
    if (sl_tls_take(w->tls, keys->server.certificate.data, keys->server.key.data, &e) !=
        SL_CODE_OK) {
        sl_log(SL_LOG_ERROR, "the webhook's certificate cannot be used", "reason", e.text, NULL);
        return;
    }
    sl_mem_free(w->authorities);
    w->authorities = sl_mem_text(keys->authority.certificate.data);
    sl_log(SL_LOG_INFO, "the webhook's certificate is that of the Secret", "secret",
           w->place.config->cluster.webhook_secret, NULL);
    begin_serving(w);
}

/* --- with files -------------------------------------------------------------------------------- */

static char *read_authorities(const char *dir)
{
    struct sl_buf path = {0}, text = {0};
    char piece[4096];
    size_t n;
    sl_buf_print(&path, "%s/ca.crt", dir);
    FILE *f = fopen(path.data, "re");
    while (f != NULL && text.len < FILE_BYTES_MAX && (n = fread(piece, 1, sizeof piece, f)) > 0) {
        sl_buf_add(&text, piece, n);
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    sl_buf_fini(&path);
    return text.len == 0 ? NULL : sl_buf_take(&text);
}

/* `dir` as sl_tls_open has it. */
static enum sl_code open_tls(struct sl_daemon_webhook *w, const char *dir, struct sl_error *e)
{
    enum sl_code code = sl_tls_open(dir, w->name, &w->tls, e);
    if (code == SL_CODE_OK) {
        sl_tls_choose(w->tls, &w->place.config->cluster.tls);
    }
    return code;
}

/* Another program may write the files later. */
static void on_files(uv_timer_t *timer)
{
    struct sl_daemon_webhook *w = timer->data;
    const char *dir = w->place.config->cluster.webhook_cert_dir;
    struct sl_error e = {0};
    uv_timer_start(&w->timer, on_files, SL_WEBHOOK_LOOK_MS, 0);
    if (w->tls == NULL && open_tls(w, dir, &e) != SL_CODE_OK) {
        if (!w->complained) {
            w->complained = true;
            sl_log(SL_LOG_ERROR, "the webhook is not served", "reason", e.text, NULL);
        }
        return;
    }
    char *authorities = read_authorities(dir);
    bool same =
        w->server != NULL &&
        (authorities == NULL ? w->authorities == NULL
                             : w->authorities != NULL && strcmp(authorities, w->authorities) == 0);
    sl_mem_free(w->authorities);
    w->authorities = authorities;
    if (!same) {
        begin_serving(w);
    }
}

/* --- whether there is one ---------------------------------------------------------------------- */

/* Without an address of its own a daemon outside the cluster cannot be asked. */
static bool has_place(const struct sl_daemon_webhook *w)
{
    return w->place.options->webhook_listen != NULL || w->place.options->kubeconfig == NULL;
}

static void begin_keys(struct sl_daemon_webhook *w)
{
    struct sl_error e = {0};
    const struct sl_config_cluster *k = &w->place.config->cluster;
    if (w->serves) {
        return;
    }
    w->serves = true;
    if (k->webhook_files) {
        on_files(&w->timer);
        return;
    }
    if (open_tls(w, NULL, &e) != SL_CODE_OK) {
        sl_log(SL_LOG_ERROR, "the webhook is not served", "reason", e.text, NULL);
        return;
    }
    const struct sl_webhook_secret_options o = {.loop = w->place.loop,
                                                .transport = w->place.transport,
                                                .ns = w->place.ns,
                                                .name = k->webhook_secret,
                                                .server = w->name,
                                                .seed = uv_hrtime(),
                                                .taken = on_keys,
                                                .context = w};
    w->secret = sl_webhook_secret_new(&o);
}

static void on_asked(void *context)
{
    sl_log(SL_LOG_INFO, "the webhook is served: CRDs have v1beta1 converted by it", NULL);
    begin_keys(context);
}

/* The one that leads; and any that has not listed everything yet, for what is stored in v1beta1 cannot be listed, and no
 * daemon lead, before the API server knows who converts it. */
static bool writes_conversions(void *context)
{
    const struct sl_daemon_webhook *w = context;
    return w->leads || !w->place.ready(w->place.context);
}

/* Where policies suspend jobs, too: CRDs ask for conversion. */
static void begin_conversions(struct sl_daemon_webhook *w)
{
    const struct sl_webhook_conversions_options o = {.loop = w->place.loop,
                                                     .transport = w->place.transport,
                                                     .ns = w->place.ns,
                                                     .service =
                                                         w->place.config->cluster.webhook_service,
                                                     .seed = uv_hrtime(),
                                                     .asked = on_asked,
                                                     .writes = writes_conversions,
                                                     .context = w};
    w->conversions = sl_webhook_conversions_new(&o);
}

static void decide(struct sl_daemon_webhook *w, bool on, const char *why)
{
    w->known = true;
    w->on = on;
    sl_log(SL_LOG_INFO,
           on ? "the webhook suspends jobs and gates pods when they are created"
              : "admission policies suspend jobs and gate pods when they are created; the webhook "
                "is off",
           "why", why, NULL);
    if (on) {
        begin_keys(w);
    }
    if (w->place.options->webhook != SL_WEBHOOK_OFF && has_place(w)) {
        begin_conversions(w);
    }
    want(w);
    w->place.decided(w->place.context);
}

static void on_found(void *context, const char *version)
{
    struct sl_daemon_webhook *w = context;
    char why[128];
    enum sl_webhook_choice choice = w->place.options->webhook;
    (void)snprintf(why, sizeof why, "MutatingAdmissionPolicy is %s%s",
                   version == NULL ? "not served" : "served, ", version == NULL ? "" : version);
    if (choice != SL_WEBHOOK_AUTO) {
        decide(w, choice == SL_WEBHOOK_ON,
               choice == SL_WEBHOOK_ON ? "--webhook on" : "--webhook off");
    } else if (version == NULL && !has_place(w)) {
        decide(w, false, "outside of the cluster, and without --webhook-listen");
    } else {
        decide(w, version == NULL, why);
    }
}

/* --- start and stop ---------------------------------------------------------------------------- */

/* What the API server calls: the Service, or the address without its port. */
static void name_it(struct sl_daemon_webhook *w)
{
    const char *listen = w->place.options->webhook_listen;
    if (listen == NULL) {
        (void)snprintf(w->name, sizeof w->name, "%.100s.%.100s.svc",
                       w->place.config->cluster.webhook_service, w->place.ns);
        return;
    }
    size_t len = (size_t)(strrchr(listen, ':') - listen);
    bool brackets = len > 2 && listen[0] == '[' && listen[len - 1] == ']';
    (void)snprintf(w->name, sizeof w->name, "%.*s", (int)(brackets ? len - 2 : len),
                   brackets ? listen + 1 : listen);
}

struct sl_daemon_webhook *sl_daemon_webhook_start(const struct sl_daemon_webhook_place *place)
{
    SL_PRE(place != NULL);
    struct sl_daemon_webhook *w = sl_mem_new(1, sizeof *w);
    w->place = *place;
    name_it(w);
    w->rules = sl_webhook_rules_new(&place->config->jobs, place->config->managed);
    w->webhook.world = (struct sl_admit_world){has_queue, has_class, w};
    sl_webhook_rules_fill(w->rules, &w->webhook);
    uv_timer_init(place->loop, &w->timer);
    w->timer.data = w;
    w->discovery =
        sl_webhook_discovery_new(place->loop, place->transport, uv_hrtime(), on_found, w);
    return w;
}

static void on_closed(uv_handle_t *handle)
{
    struct sl_daemon_webhook *w = handle->data;
    sl_webhook_rules_free(w->rules);
    sl_mem_free(w->authorities);
    sl_mem_free(w);
}

void sl_daemon_webhook_stop(struct sl_daemon_webhook *w)
{
    if (w == NULL) {
        return;
    }
    sl_webhook_discovery_free(w->discovery);
    sl_webhook_secret_free(w->secret);
    sl_webhook_register_free(w->registered);
    sl_webhook_conversions_free(w->conversions);
    if (w->server != NULL) {
        sl_server_stop(w->server);
    }
    sl_tls_free(w->tls);
    uv_close((uv_handle_t *)&w->timer, on_closed);
}

void sl_daemon_webhook_lead(struct sl_daemon_webhook *w)
{
    SL_PRE(w != NULL);
    w->leads = true;
    want(w);
}

bool sl_daemon_webhook_known(const struct sl_daemon_webhook *w)
{
    return w->known;
}

bool sl_daemon_webhook_mutates(const struct sl_daemon_webhook *w)
{
    return w->on;
}

void sl_daemon_webhook_print(const struct sl_daemon_webhook *w, struct sl_buf *out)
{
    sl_metrics_value(out, "sluice_webhook_reviews_total", "Admission reviews that were asked for",
                     w->reviews);
    sl_metrics_value(out, "sluice_webhook_denied_total", "Of these, requests that were refused",
                     w->denied);
    sl_metrics_value(out, "sluice_webhook_conversions_total",
                     "Conversion reviews that were answered", w->conversions_asked);
    sl_metrics_value(out, "sluice_webhook_malformed_total", "Of these, those that were none",
                     w->malformed);
}
