/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The standalone daemon: store, engine, controllers and HTTP server on one libuv loop and one thread. A turn of
 * the loop: requests and timers stage writes, one commit makes them durable, answers and watch events
 * leave, the controllers look at what has changed and stage their writes for the next turn. */
#ifndef SL_CLI_DAEMON_H
#define SL_CLI_DAEMON_H
#include "cli/daemon/daemon_options.h"
#include "engine/quota/settings.h"

/* Runs until SIGINT, SIGTERM or SIGHUP; the settings live as long. An error code other than OK: it could not
 * start, and *e says why. DAMAGED: what is stored is not what was written, seen at the start or while it ran. */
enum sl_code sl_daemon_run(const struct sl_daemon_options *options,
                           const struct sl_engine_settings *settings, struct sl_error *e);
#endif
