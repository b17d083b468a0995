/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Visibility API as the API server's own, and metrics: served with TLS to requests that the API
 * server forwards, and to clients with a token that it accepts, as far as its authorizers allow. In
 * a pod at the configuration's address and port, or [::]:8082; else where --visibility-listen
 * says. */
#ifndef SL_CLI_DAEMON_VISIBILITY_H
#define SL_CLI_DAEMON_VISIBILITY_H
#include "cli/config/config.h"
#include "cli/daemon/daemon_options.h"
#include "cli/pages/foresight.h"
#include "cli/pages/pages.h"
#include "kube/transport.h"

struct sl_daemon_visibility {
    struct sl_server *server; /* NULL: nowhere */
    struct sl_tls *tls;
    struct sl_front_proxy *proxy;
    struct sl_proxy_map *map;
    struct sl_reviews *access, *tokens; /* apart: any client can send tokens */
};
struct sl_visibility_place {
    const struct sl_daemon_options *options;
    const struct sl_config_cluster *config;
    struct sl_pages *pages;         /* lent */
    struct sl_foresight *foresight; /* lent; NULL: no questions are answered */
};
/* What was begun before an error is ended by sl_daemon_visibility_stop. */
enum sl_code sl_daemon_visibility_start(struct sl_daemon_visibility *v, uv_loop_t *loop,
                                        struct sl_transport *transport,
                                        const struct sl_visibility_place *place,
                                        struct sl_error *e);
/* While the transport lives; the loop has to turn once more. May be called again. */
void sl_daemon_visibility_stop(struct sl_daemon_visibility *v);
#endif
