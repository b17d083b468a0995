/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Visibility API as the API server's own, and metrics: served with TLS to requests that the API
 * server forwards, and to clients with a token that it accepts, as far as its authorizers allow. In
 * a pod at the configuration's address and port, or [::]:8082; else where --visibility-listen
 * says. */
#ifndef SL_CLI_DAEMON_VISIBILITY_H
#define SL_CLI_DAEMON_VISIBILITY_H
#include "cli/config/config.h"
#include "cli/daemon/daemon_guard.h"
#include "cli/daemon/daemon_options.h"
#include "cli/pages/foresight.h"
#include "cli/pages/pages.h"

struct sl_visibility_place {
    const struct sl_daemon_options *options;
    const struct sl_config_cluster *config;
    struct sl_pages *pages;         /* lent */
    struct sl_foresight *foresight; /* lent; NULL: no questions are answered */
    struct sl_daemon_guard *guard;  /* lent; it was started */
};
/* Is it served nowhere? */
bool sl_daemon_visibility_is_off(const struct sl_daemon_options *options);
/* *server is NULL where it is off; it is stopped with the guard. */
enum sl_code sl_daemon_visibility_start(struct sl_server **server, uv_loop_t *loop,
                                        const struct sl_visibility_place *place,
                                        struct sl_error *e);
#endif
