/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* libmicrohttpd's daemon, without threads and without a listening socket of its own: connections are handed to it. */
#ifndef SL_SERVER_MHD_H
#define SL_SERVER_MHD_H
#include <microhttpd.h>

#include "server/tls.h"

struct sl_mhd_calls {
    MHD_AccessHandlerCallback request;
    MHD_NotifyConnectionCallback connection;
    void *(*uri)(void *context, const char *uri, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    void *context; /* of all of them */
};
/* `tls` may be NULL. INTERNAL when the library cannot start. Ends with MHD_stop_daemon. */
enum sl_code sl_mhd_new(const struct sl_mhd_calls *calls, struct sl_tls *tls,
                        unsigned connections_max, struct MHD_Daemon **out, struct sl_error *e);
/* Raises the limit of open files as far as this server's `wanted` connections and those of other servers need it. The
 * number of connections that it can have, to be given back when it ends; 0 and an error when hardly any can. */
unsigned sl_mhd_take_files(unsigned wanted, struct sl_error *e);
void sl_mhd_return_files(unsigned taken);
#endif
