/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Authentication of a server that does not serve every client: what a connection presents, and
 * whether a request is served. Between http.c and the guard (server.h). */
#ifndef SL_SERVER_ENTRY_H
#define SL_SERVER_ENTRY_H
#include <microhttpd.h>

#include "server/rest.h"
#include "server/front_proxy.h"
#include "server/tls.h"

/* A connection begins: what it shows, until sl_entry_close. NULL without TLS, which may be closed too. */
struct sl_tls_identity *sl_entry_open(struct sl_tls *tls, struct MHD_Connection *connection);
void sl_entry_close(struct sl_tls_identity *identity);
/* False, and an answer, when the headers do not agree on the body's length: a proxy between here
 * and the client may have used the other one. */
bool sl_entry_check_lengths(struct sl_request *r, struct MHD_Connection *connection);
/* Asked again after WAIT. After REFUSE the request has its answer. */
enum sl_verdict sl_entry_ask(struct sl_request *r, struct MHD_Connection *connection,
                             const char *peer, const struct sl_server_guard *guard);
#endif
