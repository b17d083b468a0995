/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Authentication of the standalone daemon: every user of this machine by plain HTTP; where it is
 * reached from elsewhere, runs commands, or on request, only clients with its token, or one of its users', over TLS, and on a
 * socket of the file system those users that the kernel names. Its
 * token is that of an administrator; what others may is said by their roles. What they write is noted. */
#ifndef SL_CLI_DAEMON_AUTH_H
#define SL_CLI_DAEMON_AUTH_H
#include "cli/daemon/daemon_options.h"
#include "cli/daemon/daemon_audit.h"
#include "cli/daemon/daemon_names.h"
#include "server/server.h"
#include "server/users.h"

struct sl_daemon_auth {
    char *token; /* NULL: there is none, and no TLS */
    struct sl_tls *tls;
    struct sl_user owner;         /* of the token */
    struct sl_users *users;       /* NULL: there is only the owner */
    struct sl_daemon_names names; /* of local users */
    struct sl_daemon_audit audit;
};
/* Reads or makes the token and the certificate; what is made lies in the data directory, which exists. */
enum sl_code sl_daemon_auth_open(struct sl_daemon_auth *auth,
                                 const struct sl_daemon_options *options, struct sl_error *e);
/* For the server, which must have ended before close is called. */
void sl_daemon_auth_guard(struct sl_daemon_auth *auth, struct sl_server_options *o);
/* Writes a kubeconfig for kubectl and sluicectl into the data directory. */
enum sl_code sl_daemon_auth_write(struct sl_daemon_auth *auth,
                                  const struct sl_daemon_options *options, unsigned port,
                                  struct sl_error *e);
/* Where the file of users is; nothing: there is none. */
void sl_daemon_auth_print_dir(const struct sl_daemon_options *options, struct sl_buf *out);
void sl_daemon_auth_close(struct sl_daemon_auth *auth);
#endif
