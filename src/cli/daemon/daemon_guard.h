/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* TLS, authentication and authorization of what the daemon of a cluster serves beyond loopback: for users that
 * the API server names (front_proxy.h), for those that show a client certificate, and for those with a token that a
 * TokenReview knows, as far as a SubjectAccessReview allows what they ask. One for all servers. */
#ifndef SL_CLI_DAEMON_GUARD_H
#define SL_CLI_DAEMON_GUARD_H
#include "cli/pages/proxy_map.h"
#include "cli/pages/reviews.h"
#include "server/front_proxy.h"
#include "server/server.h"
#include "server/tls.h"

#define SL_DAEMON_GUARDED_MAX 2

struct sl_daemon_guard {
    struct sl_tls *tls; /* NULL: it was not started */
    struct sl_front_proxy *proxy;
    struct sl_proxy_map *map;
    struct sl_reviews *access, *tokens; /* apart: any client can send tokens */
    struct sl_server *servers[SL_DAEMON_GUARDED_MAX];
    size_t count;
};
struct sl_daemon_guard_start {
    uv_loop_t *loop;
    struct sl_transport *transport; /* lent */
    const char *tls_dir;            /* of the certificate; NULL: one is made */
    const struct sl_tls_choice *choice;
};
/* What was begun before an error is ended by sl_daemon_guard_stop. */
enum sl_code sl_daemon_guard_start(struct sl_daemon_guard *g, const struct sl_daemon_guard_start *s,
                                   struct sl_error *e);
/* A server with these options serves them alone. */
void sl_daemon_guard_options(struct sl_daemon_guard *g, struct sl_server_options *o);
/* It is stopped with the guard. */
void sl_daemon_guard_add(struct sl_daemon_guard *g, struct sl_server *server);
/* While the transport lives; the loop has to turn once more. May be called again. */
void sl_daemon_guard_stop(struct sl_daemon_guard *g);
#endif
