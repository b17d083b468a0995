/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The host that a request names, and the address of the command line. */
#include "server/listen.c"
#include "specs/eva/any.h"

void eva_listen(void)
{
    char host[4], address[4];
    union address a;
    socklen_t size;
    any_text(host, sizeof host - 1);
    any_text(address, sizeof address - 1);
    if (any_bool()) {
        (void)sl_listen_is_loopback_name(host);
    } else {
        (void)parse(address, &a, &size);
    }
}
