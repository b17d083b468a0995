/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What runs pods as processes, on the daemon's loop. All of it does nothing where pods are simulated. */
#ifndef SL_CLI_DAEMON_RUNNER_H
#define SL_CLI_DAEMON_RUNNER_H
#include "cli/daemon/daemon_options.h"
#include "cli/daemon/daemon_turns.h"
#include "runner/runner.h"

struct sl_daemon_runner {
    bool on;
    struct sl_running running;
    uv_poll_t news, orders;
};
/* In this order; the first before anything else is opened, and before rights are given up. */
enum sl_code sl_daemon_runner_begin(struct sl_daemon_runner *r,
                                    const struct sl_daemon_options *options, struct sl_error *e);
void sl_daemon_runner_open(struct sl_daemon_runner *r, struct sl_controllers *controllers,
                           const struct sl_client *client, struct sl_turns *turns);
void sl_daemon_runner_committed(struct sl_daemon_runner *r);
/* Before it is opened again. */
void sl_daemon_runner_close(struct sl_daemon_runner *r);
void sl_daemon_runner_serve(struct sl_daemon_runner *r, struct sl_server_options *o);
void sl_daemon_runner_start(struct sl_daemon_runner *r, uv_loop_t *loop);
void sl_daemon_runner_stop(struct sl_daemon_runner *r);
void sl_daemon_runner_end(struct sl_daemon_runner *r);
#endif
