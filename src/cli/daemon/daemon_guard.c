/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who asks, and may they? */
#include "cli/daemon/daemon_guard.h"
#include "base/check.h"
#include "base/log.h"
#include "cli/pages/access.h"
#include "cli/pages/tokens.h"
#include "cli/ui/ui.h"

#define SERVICE_NAME "sluice-visibility.kueue-system.svc"
/* The API server answers others as well, and our own writes share its connection. */
#define ACCESS_UNDER_WAY_MAX 64u
#define ACCESS_EACH_MAX 32u /* of one user */
#define TOKENS_UNDER_WAY_MAX 8u
#define TOKENS_EACH_MAX 2u /* of one address: guesses leave places for others */

/* In the API server's order: the user that it names, then the client's certificate, then a
 * token. */
static enum sl_verdict identify(struct sl_daemon_guard *g, const struct sl_call *call,
                                struct sl_json **caller, struct sl_error *e)
{
    struct sl_error why = {0};
    struct sl_error own = {0};
    *caller = sl_front_proxy_caller_new(g->proxy, call, &why);
    if (*caller != NULL) {
        return SL_VERDICT_PASS;
    }
    *caller = call->chain_len == 0 ? NULL : sl_front_proxy_user_new(g->proxy, call, &own);
    if (*caller != NULL) {
        return SL_VERDICT_PASS;
    }
    if (sl_token_shown(call)) {
        return sl_token_ask(g->tokens, call, caller, e);
    }
    sl_log(SL_LOG_DEBUG, "a request was not authenticated", "path", call->path, "why", why.text,
           "of its own", own.text, NULL);
    (void)sl_error_set(e, SL_CODE_UNAUTHORIZED, "Unauthorized");
    return SL_VERDICT_REFUSE;
}

static enum sl_verdict ask(void *context, const struct sl_call *call, struct sl_error *e)
{
    struct sl_daemon_guard *g = context;
    struct sl_json *caller = NULL;
    if (sl_ui_asked(call)) {
        return SL_VERDICT_PASS; /* a browser comes by way of the API server, which takes its user off */
    }
    enum sl_verdict verdict = identify(g, call, &caller, e);
    if (verdict == SL_VERDICT_PASS) {
        verdict = sl_access_ask(g->access, caller, call->method, call->path, e);
    }
    sl_json_free(caller);
    return verdict;
}

static void on_known(void *context)
{
    const struct sl_daemon_guard *g = context;
    for (size_t i = 0; i < g->count; i++) {
        sl_server_ask_again(g->servers[i]);
    }
}

enum sl_code sl_daemon_guard_start(struct sl_daemon_guard *g, const struct sl_daemon_guard_start *s,
                                   struct sl_error *e)
{
    SL_PRE(g != NULL && s != NULL);
    *g = (struct sl_daemon_guard){0};
    enum sl_code code = sl_tls_open(s->tls_dir, SERVICE_NAME, &g->tls, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    sl_tls_choose(g->tls, s->choice);
    g->proxy = sl_front_proxy_new();
    struct sl_reviews_options reviews = {s->transport, ACCESS_UNDER_WAY_MAX, ACCESS_EACH_MAX,
                                         on_known, g};
    g->access = sl_reviews_new(&reviews);
    reviews.under_way_max = TOKENS_UNDER_WAY_MAX;
    reviews.each_max = TOKENS_EACH_MAX;
    g->tokens = sl_reviews_new(&reviews);
    g->map = sl_proxy_map_new(s->loop, s->transport, g->proxy, uv_hrtime());
    return SL_CODE_OK;
}

void sl_daemon_guard_options(struct sl_daemon_guard *g, struct sl_server_options *o)
{
    SL_PRE(g != NULL && g->tls != NULL);
    o->allow_remote = true; /* no request is served without a user */
    o->tls = g->tls;
    o->guard = (struct sl_server_guard){ask, g};
}

void sl_daemon_guard_add(struct sl_daemon_guard *g, struct sl_server *server)
{
    SL_PRE(g != NULL && g->count < SL_DAEMON_GUARDED_MAX);
    g->servers[g->count++] = server;
}

void sl_daemon_guard_stop(struct sl_daemon_guard *g)
{
    SL_PRE(g != NULL);
    for (size_t i = 0; i < g->count; i++) {
        sl_server_stop(g->servers[i]);
    }
    sl_proxy_map_free(g->map);
    sl_reviews_free(g->access);
    sl_reviews_free(g->tokens);
    sl_front_proxy_free(g->proxy);
    sl_tls_free(g->tls);
    *g = (struct sl_daemon_guard){0};
}
