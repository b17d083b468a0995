/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The listening socket, and which clients may use it: loopback addresses unless configured
 * otherwise, and no foreign web page in a browser on this machine. Or a socket in the file system, whose clients are local
 * users: which ones the kernel says. */
#ifndef SL_SERVER_LISTEN_H
#define SL_SERVER_LISTEN_H
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

#define SL_LISTEN_UNIX "unix:"

/* Opens "ADDR:PORT"; *port is the one bound. Or "unix:PATH", which all local users may connect to; *port is 0. A
 * socket that is left there without a listener is replaced. */
enum sl_code sl_listen_open(const char *address, bool allow_remote, int *fd, unsigned *port,
                            struct sl_error *e);
/* Whose process has connected, where the client is on a socket in the file system; else false. */
bool sl_listen_peer(int fd, uid_t *uid);
/* Is this the name of this machine's loopback ("localhost:8088", "127.0.0.1", "[::1]:80")? A
 * browser that was led here by another name (DNS rebinding) or by another site's page (Origin) says
 * so. */
bool sl_listen_is_loopback_name(const char *host);
#endif
