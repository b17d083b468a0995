/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Servers of cluster mode. */
#include "cli/daemon/daemon_pages.h"
#include "base/check.h"
#include "cli/common/version.h"
#include "cli/pages/visibility.h"
#include <stdio.h>
#include <string.h>

#define METRICS_ADDRESS ":8443" /* as Kueue's */
#define HEALTH_ADDRESS ":8081"
#define PLAIN                                                                                      \
    "http://" /* before an address of metrics: without TLS, for all clients that reach it */

struct serving {
    uv_loop_t *loop;
    const char *address;
    bool remote, metrics;
    struct sl_daemon_guard *guard; /* NULL: plain, for all clients */
};

static void serve_alive(void *context, const char *path, const char *query,
                        struct sl_server_page *page)
{
    (void)context;
    (void)path;
    (void)query;
    page->content_type = "text/plain; charset=utf-8";
    sl_buf_text(&page->body, "ok\n");
}

/* ":PORT" means every address of the pod, of both families where there are two. */
static enum sl_code start(const struct serving *s, struct sl_server_options *o,
                          struct sl_server **out, struct sl_error *e)
{
    char address[128];
    o->listen = s->address;
    if (s->address[0] != ':') {
        return sl_server_start(s->loop, NULL, o, out, e);
    }
    o->listen = address;
    (void)snprintf(address, sizeof address, "[::]%.100s", s->address);
    if (sl_server_start(s->loop, NULL, o, out, e) == SL_CODE_OK) {
        return SL_CODE_OK;
    }
    sl_error_clear(e);
    (void)snprintf(address, sizeof address, "0.0.0.0%.100s", s->address);
    return sl_server_start(s->loop, NULL, o, out, e);
}

static enum sl_code serve(struct sl_daemon_pages *p, const struct serving *s,
                          struct sl_pages *pages, struct sl_server **out, struct sl_error *e)
{
    /* Under its usual name too: there the server itself would say that it is ready. */
    struct sl_server_hook hooks[5] = {{p->liveness, serve_alive, NULL},
                                      {p->readiness, sl_pages_ready, pages},
                                      {"/readyz", sl_pages_ready, pages}};
    size_t count = s->guard == NULL ? 3 : 0;
    if (s->metrics) {
        hooks[count++] = (struct sl_server_hook){"/metrics", sl_pages_metrics, pages};
    }
    if (s->metrics && s->guard == NULL) {
        hooks[count++] =
            (struct sl_server_hook){SL_VISIBILITY_GROUP_PATH "/", sl_visibility_serve, pages};
    }
    struct sl_server_options o = {
        .allow_remote = s->remote, .hooks = hooks, .hook_count = count, .version = SL_VERSION};
    if (s->guard != NULL) {
        sl_daemon_guard_options(s->guard, &o);
    }
    enum sl_code code = start(s, &o, out, e);
    if (code == SL_CODE_OK && s->guard != NULL) {
        sl_daemon_guard_add(s->guard, *out);
    }
    if (code == SL_CODE_OK) {
        sl_log(SL_LOG_INFO, "serving", "address", s->address, "port",
               sl_log_number(sl_server_port(*out)), "pages",
               s->guard != NULL ? "metrics, with TLS"
               : s->metrics     ? "metrics, health"
                                : "health",
               NULL);
    }
    return code;
}

static const char *address_or(const char *address, const char *preset)
{
    return address == NULL || address[0] == '\0' ? preset : address;
}

static bool is_off(const char *address)
{
    return strcmp(address, "0") == 0;
}

/* Plain ones may share the address of the probes. */
static enum sl_code start_configured(struct sl_daemon_pages *p, const struct sl_pages_place *place,
                                     struct sl_error *e)
{
    const char *given = address_or(place->config->metrics_address, METRICS_ADDRESS);
    const char *health = address_or(place->config->health_address, HEALTH_ADDRESS);
    bool plain = strncmp(given, PLAIN, strlen(PLAIN)) == 0;
    const char *metrics = plain ? given + strlen(PLAIN) : given;
    enum sl_code code = SL_CODE_OK;
    if (!is_off(metrics)) {
        struct serving s = {place->loop, metrics, true, true, plain ? NULL : place->guard};
        code = serve(p, &s, place->pages, plain ? &p->metrics : &p->guarded, e);
    }
    if (code == SL_CODE_OK && !(plain && strcmp(metrics, health) == 0) && !is_off(health)) {
        struct serving s = {place->loop, health, true, false, NULL};
        code = serve(p, &s, place->pages, &p->health, e);
    }
    return code;
}

enum sl_code sl_daemon_pages_start(struct sl_daemon_pages *p, const struct sl_pages_place *place,
                                   struct sl_error *e)
{
    SL_PRE(p != NULL && place != NULL);
    char address[32];
    const struct sl_daemon_options *options = place->options;
    struct serving s = {place->loop, options->listen, options->allow_remote, true, NULL};
    *p = (struct sl_daemon_pages){0};
    (void)snprintf(p->readiness, sizeof p->readiness, "/%.60s", place->config->readiness_name);
    (void)snprintf(p->liveness, sizeof p->liveness, "/%.60s", place->config->liveness_name);
    if (options->metrics_port != 0) {
        (void)snprintf(address, sizeof address, "127.0.0.1:%lld", (long long)options->metrics_port);
        s.address = address;
    }
    if (s.address != NULL) {
        return serve(p, &s, place->pages, &p->metrics, e);
    }
    return options->kubeconfig == NULL ? start_configured(p, place, e) : SL_CODE_OK;
}

void sl_daemon_pages_stop(struct sl_daemon_pages *p)
{
    SL_PRE(p != NULL);
    struct sl_server **servers[] = {&p->metrics, &p->health};
    for (size_t i = 0; i < 2; i++) {
        if (*servers[i] != NULL) {
            sl_server_stop(*servers[i]);
            *servers[i] = NULL;
        }
    }
}
