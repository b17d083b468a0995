/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The listening socket, and which clients may use it: loopback addresses unless configured
 * otherwise, and no foreign web page in a browser on this machine. */
#ifndef SL_SERVER_LISTEN_H
#define SL_SERVER_LISTEN_H
#include <stdbool.h>

#include "base/error.h"

/* Opens "ADDR:PORT"; *port is the one bound. */
enum sl_code sl_listen_open(const char *address, bool allow_remote, int *fd, unsigned *port,
                            struct sl_error *e);
/* Is this the name of this machine's loopback ("localhost:8088", "127.0.0.1", "[::1]:80")? A
 * browser that was led here by another name (DNS rebinding) or by another site's page (Origin) says
 * so. */
bool sl_listen_is_loopback_name(const char *host);
#endif
