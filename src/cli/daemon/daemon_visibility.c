/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The server of the Visibility API: TLS, authentication, authorization, and the pages. */
#include "cli/daemon/daemon_visibility.h"
#include "base/check.h"
#include "base/log.h"
#include "cli/pages/access.h"
#include "cli/pages/proxy_map.h"
#include "cli/pages/tokens.h"
#include "cli/common/version.h"
#include "cli/pages/visibility.h"
#include "cli/support/dump.h"
#include "cli/ui/ui.h"
#include "server/tls.h"
#include <stdio.h>
#include <string.h>

#define PORT 8082u /* Kueue's */
#define SERVICE_NAME "sluice-visibility.kueue-system.svc"
#define CONNECTIONS_MAX 200u
/* The API server answers others as well, and our own writes share its connection. */
#define ACCESS_UNDER_WAY_MAX 64u
#define ACCESS_EACH_MAX 32u /* of one user */
#define TOKENS_UNDER_WAY_MAX 8u
#define TOKENS_EACH_MAX 2u /* of one address: guesses leave places for others */

/* In the API server's order: the user that it names, then the client's certificate, then a
 * token. */
static enum sl_verdict identify(struct sl_daemon_visibility *v, const struct sl_call *call,
                                struct sl_json **caller, struct sl_error *e)
{
    struct sl_error why = {0};
    struct sl_error own = {0};
    *caller = sl_front_proxy_caller_new(v->proxy, call, &why);
    if (*caller != NULL) {
        return SL_VERDICT_PASS;
    }
    *caller = call->chain_len == 0 ? NULL : sl_front_proxy_user_new(v->proxy, call, &own);
    if (*caller != NULL) {
        return SL_VERDICT_PASS;
    }
    if (sl_token_shown(call)) {
        return sl_token_ask(v->tokens, call, caller, e);
    }
    sl_log(SL_LOG_DEBUG, "a request was not authenticated", "path", call->path, "why", why.text,
           "of its own", own.text, NULL);
    (void)sl_error_set(e, SL_CODE_UNAUTHORIZED, "Unauthorized");
    return SL_VERDICT_REFUSE;
}

static enum sl_verdict ask(void *context, const struct sl_call *call, struct sl_error *e)
{
    struct sl_daemon_visibility *v = context;
    struct sl_json *caller = NULL;
    if (sl_ui_asked(call)) {
        return SL_VERDICT_PASS; /* a browser comes by way of the API server, which takes its user off */
    }
    enum sl_verdict verdict = identify(v, call, &caller, e);
    if (verdict == SL_VERDICT_PASS) {
        verdict = sl_access_ask(v->access, caller, call->method, call->path, e);
    }
    sl_json_free(caller);
    return verdict;
}

static void on_known(void *context)
{
    const struct sl_daemon_visibility *v = context;
    if (v->server != NULL) {
        sl_server_ask_again(v->server);
    }
}

/* Every address, of both families where there are two. */
static enum sl_code listen_anywhere(uv_loop_t *loop, struct sl_server_options *o, unsigned port,
                                    struct sl_server **out, struct sl_error *e)
{
    char address[32];
    o->listen = address;
    (void)snprintf(address, sizeof address, "[::]:%u", port);
    if (sl_server_start(loop, NULL, o, out, e) == SL_CODE_OK) {
        return SL_CODE_OK;
    }
    sl_error_clear(e);
    (void)snprintf(address, sizeof address, "0.0.0.0:%u", port);
    return sl_server_start(loop, NULL, o, out, e);
}

static enum sl_code listen_at(uv_loop_t *loop, struct sl_server_options *o,
                              const struct sl_visibility_place *place, struct sl_server **out,
                              struct sl_error *e)
{
    char address[128];
    const char *ip = place->config->visibility_address;
    unsigned port = place->config->visibility_port != 0 ? place->config->visibility_port : PORT;
    o->listen = place->options->visibility_listen;
    if (o->listen == NULL && (ip == NULL || ip[0] == '\0')) {
        return listen_anywhere(loop, o, port, out, e);
    }
    if (o->listen == NULL) {
        (void)snprintf(address, sizeof address, strchr(ip, ':') != NULL ? "[%.64s]:%u" : "%.64s:%u",
                       ip, port);
        o->listen = address;
    }
    return sl_server_start(loop, NULL, o, out, e);
}

static enum sl_code serve(struct sl_daemon_visibility *v, uv_loop_t *loop,
                          const struct sl_visibility_place *place, struct sl_error *e)
{
    const struct sl_server_hook hooks[] = {
        {"/", sl_ui_find, NULL},
        {"/ui", sl_ui_find, NULL},
        {"/ui/", sl_ui_serve, NULL},
        {"/readyz", sl_pages_ready, place->pages},
        {"/apis", sl_visibility_groups, place->pages},
        {SL_VISIBILITY_GROUP_PATH, sl_visibility_groups, place->pages},
        {SL_DUMP_PATH, sl_dump_serve, place->pages},
        {SL_VISIBILITY_GROUP_PATH "/", sl_visibility_serve, place->pages},
        {"/openapi/", sl_visibility_openapi, place->pages},
        {"/metrics", sl_pages_metrics, place->pages}};
    const struct sl_server_question questions[] = {
        {SL_FORESIGHT_PATH, sl_foresight_answer, place->foresight},
        {SL_FORESIGHT_RESOURCE_PATH, sl_foresight_answer, place->foresight}};
    struct sl_server_options o = {
        .allow_remote = true, /* no request is served without a user */
        .hooks = hooks,
        .hook_count = sizeof hooks / sizeof hooks[0],
        .questions = questions,
        .question_count = place->foresight == NULL ? 0 : sizeof questions / sizeof questions[0],
        .connections_max = CONNECTIONS_MAX,
        .version = SL_VERSION,
        .tls = v->tls,
        .guard = {ask, v}};
    enum sl_code code = listen_at(loop, &o, place, &v->server, e);
    if (code == SL_CODE_OK && place->foresight != NULL) {
        sl_foresight_serve(place->foresight, v->server);
    }
    if (code == SL_CODE_OK) {
        sl_log(SL_LOG_INFO, "serving", "port", sl_log_number(sl_server_port(v->server)), "pages",
               "visibility, with TLS", "certificate",
               place->options->tls_dir != NULL ? place->options->tls_dir : "made here", NULL);
    }
    return code;
}

static bool is_off(const struct sl_visibility_place *place)
{
    const char *listen = place->options->visibility_listen;
    return listen == NULL ? place->options->kubeconfig != NULL : strcmp(listen, "0") == 0;
}

enum sl_code sl_daemon_visibility_start(struct sl_daemon_visibility *v, uv_loop_t *loop,
                                        struct sl_transport *transport,
                                        const struct sl_visibility_place *place, struct sl_error *e)
{
    *v = (struct sl_daemon_visibility){0};
    if (is_off(place)) {
        return SL_CODE_OK;
    }
    enum sl_code code = sl_tls_open(place->options->tls_dir, SERVICE_NAME, &v->tls, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    v->proxy = sl_front_proxy_new();
    struct sl_reviews_options reviews = {transport, ACCESS_UNDER_WAY_MAX, ACCESS_EACH_MAX, on_known,
                                         v};
    v->access = sl_reviews_new(&reviews);
    reviews.under_way_max = TOKENS_UNDER_WAY_MAX;
    reviews.each_max = TOKENS_EACH_MAX;
    v->tokens = sl_reviews_new(&reviews);
    v->map = sl_proxy_map_new(loop, transport, v->proxy, uv_hrtime());
    return serve(v, loop, place, e);
}

void sl_daemon_visibility_stop(struct sl_daemon_visibility *v)
{
    SL_PRE(v != NULL);
    if (v->server != NULL) {
        sl_server_stop(v->server);
    }
    sl_proxy_map_free(v->map);
    sl_reviews_free(v->access);
    sl_reviews_free(v->tokens);
    sl_front_proxy_free(v->proxy);
    sl_tls_free(v->tls);
    *v = (struct sl_daemon_visibility){0};
}
