/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Authentication of the standalone daemon: every user of this machine by plain HTTP; where it is
 * reached from elsewhere, or on request, only clients with its token, over TLS. */
#ifndef SL_CLI_DAEMON_DOOR_H
#define SL_CLI_DAEMON_DOOR_H
#include "cli/daemon/daemon_options.h"
#include "server/server.h"

struct sl_door {
    char *token; /* NULL: there is none, and no TLS */
    struct sl_tls *tls;
};
/* Reads or makes the token and the certificate; what is made lies in the data directory, which exists. */
enum sl_code sl_door_open(struct sl_door *door, const struct sl_daemon_options *options,
                          struct sl_error *e);
/* For the server, which must have ended before the door is closed. */
void sl_door_guard(struct sl_door *door, struct sl_server_options *o);
/* Writes the kubeconfig by which kubectl and sluicectl get in into the data directory. */
enum sl_code sl_door_tell(struct sl_door *door, const struct sl_daemon_options *options,
                          unsigned port, struct sl_error *e);
void sl_door_close(struct sl_door *door);
#endif
