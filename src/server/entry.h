/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The door of a server that does not serve everybody: what a connection shows, and whether a request is let in.
 * Between http.c and the guard (server.h). */
#ifndef SL_SERVER_ENTRY_H
#define SL_SERVER_ENTRY_H
#include <microhttpd.h>

#include "server/rest.h"
#include "server/front_proxy.h"

/* For MHD_OPTION_NOTIFY_CONNECTION; the context is a struct sl_tls. */
void sl_entry_connection(void *tls, struct MHD_Connection *connection, void **socket_context,
                         enum MHD_ConnectionNotificationCode code);
/* Asked again after WAIT. After REFUSE the request has its answer. */
enum sl_verdict sl_entry_ask(struct sl_request *r, struct MHD_Connection *connection,
                             const struct sl_server_guard *guard);
#endif
