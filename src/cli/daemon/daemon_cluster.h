/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The daemon of a Kubernetes cluster. Caches are kept from the start, so that a standby knows everything when it
 * takes over; engine and controllers are made when the lease is held and every kind has been listed, Workloads once
 * more: those that the last leader wrote just before are known then. When the lease
 * is lost nothing is written any more, and the process ends with an error. */
#ifndef SL_CLI_DAEMON_CLUSTER_H
#define SL_CLI_DAEMON_CLUSTER_H
#include "cli/config/config.h"
#include "cli/daemon/daemon_options.h"

/* Runs until SIGINT, SIGTERM or SIGHUP, then gives the lease back. An error code other than OK: it could not start,
 * or lost its lease, and *e says why. */
enum sl_code sl_daemon_cluster_run(const struct sl_daemon_options *options,
                                   const struct sl_config *config, struct sl_error *e);
#endif
