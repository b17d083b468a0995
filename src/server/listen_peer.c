/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The user behind a connection, as the kernel knows it. */
#include "server/listen.h"

#include <stddef.h>
#include <sys/socket.h>

#include "base/check.h"

bool sl_listen_peer(int fd, uid_t *uid)
{
    SL_PRE(uid != NULL);
    int domain = AF_UNSPEC;
    struct ucred peer = {0};
    socklen_t domain_size = sizeof domain, size = sizeof peer;
    bool known = getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_size) == 0 &&
                 domain == AF_UNIX && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    *uid = peer.uid;
    return known;
}
