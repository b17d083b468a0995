/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Where cluster mode serves its pages: metrics, health and pending workloads, without an API and without a store.
 * --listen or --metricsPort: all of them there, plain. In a pod: where the configuration says, the metrics with TLS for
 * those who may see them, unless their address begins with http://. Else nowhere. */
#ifndef SL_CLI_DAEMON_PAGES_H
#define SL_CLI_DAEMON_PAGES_H
#include "cli/config/config.h"
#include "cli/daemon/daemon_guard.h"
#include "cli/daemon/daemon_options.h"
#include "cli/pages/pages.h"

struct sl_daemon_pages {
    struct sl_server *metrics, *health; /* NULL: not served, or by the other one */
    struct sl_server *guarded;          /* metrics with TLS; stopped with the guard */
    char readiness[64], liveness[64];   /* paths */
};
struct sl_pages_place {
    uv_loop_t *loop;
    const struct sl_daemon_options *options;
    const struct sl_config_cluster *config;
    struct sl_pages *pages;        /* lent */
    struct sl_daemon_guard *guard; /* lent; in a pod it was started */
};
/* What was begun before an error is stopped by sl_daemon_pages_stop. */
enum sl_code sl_daemon_pages_start(struct sl_daemon_pages *p, const struct sl_pages_place *place,
                                   struct sl_error *e);
void sl_daemon_pages_stop(struct sl_daemon_pages *p);
#endif
