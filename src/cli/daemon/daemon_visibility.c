/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The server of the Visibility API: where it listens, and its pages. */
#include "cli/daemon/daemon_visibility.h"
#include "base/log.h"
#include "cli/common/version.h"
#include "cli/pages/visibility.h"
#include "cli/support/dump.h"
#include "cli/ui/ui.h"
#include <stdio.h>
#include <string.h>

#define PORT 8082u /* Kueue's */
#define CONNECTIONS_MAX 200u

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

static enum sl_code serve(struct sl_server **server, uv_loop_t *loop,
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
        {SL_METRICS_RESOURCE_PATH, sl_pages_metrics, place->pages},
        {SL_VISIBILITY_GROUP_PATH "/", sl_visibility_serve, place->pages},
        {"/openapi/", sl_visibility_openapi, place->pages},
        {"/metrics", sl_pages_metrics, place->pages}};
    const struct sl_server_question questions[] = {
        {SL_FORESIGHT_PATH, sl_foresight_answer, place->foresight},
        {SL_FORESIGHT_RESOURCE_PATH, sl_foresight_answer, place->foresight}};
    struct sl_server_options o = {
        .hooks = hooks,
        .hook_count = sizeof hooks / sizeof hooks[0],
        .questions = questions,
        .question_count = place->foresight == NULL ? 0 : sizeof questions / sizeof questions[0],
        .connections_max = CONNECTIONS_MAX,
        .version = SL_VERSION};
    sl_daemon_guard_options(place->guard, &o);
    enum sl_code code = listen_at(loop, &o, place, server, e);
    if (code == SL_CODE_OK) {
        sl_daemon_guard_add(place->guard, *server);
    }
    if (code == SL_CODE_OK && place->foresight != NULL) {
        sl_foresight_serve(place->foresight, *server);
    }
    if (code == SL_CODE_OK) {
        sl_log(SL_LOG_INFO, "serving", "port", sl_log_number(sl_server_port(*server)), "pages",
               "visibility, with TLS", "certificate",
               place->options->tls_dir != NULL ? place->options->tls_dir : "made here", NULL);
    }
    return code;
}

bool sl_daemon_visibility_is_off(const struct sl_daemon_options *options)
{
    const char *listen = options->visibility_listen;
    return listen == NULL ? options->kubeconfig != NULL : strcmp(listen, "0") == 0;
}

enum sl_code sl_daemon_visibility_start(struct sl_server **server, uv_loop_t *loop,
                                        const struct sl_visibility_place *place, struct sl_error *e)
{
    *server = NULL;
    return sl_daemon_visibility_is_off(place->options) ? SL_CODE_OK : serve(server, loop, place, e);
}
