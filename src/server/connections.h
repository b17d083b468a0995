/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The connections of a server, and which of them has to go: one that does not finish its request in
 * time, one whose client hung up, and, when all places are taken, one of those that the busiest
 * peer holds without asking for anything. A new connection is preferred to an idle one, so that no
 * peer can hold all places. */
#ifndef SL_SERVER_CONNECTIONS_H
#define SL_SERVER_CONNECTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* What a connection is at. */
enum sl_phase {
    SL_PHASE_HEADER, /* new, or in the middle of a request's header */
    SL_PHASE_BODY,
    SL_PHASE_ANSWER, /* being served, or the answer on its way */
    SL_PHASE_STREAM, /* the answer is a stream, which may last */
    SL_PHASE_IDLE    /* between requests */
};
struct sl_connections; /* opaque */
struct sl_connection;  /* opaque */

struct sl_connections_limits {
    unsigned places;                      /* connections at a time, at least 1 */
    uint64_t header_ms, body_ms, idle_ms; /* how long a phase may take */
};
/* How many were ended, and why. */
struct sl_connections_tally {
    uint64_t for_room, late, gone;
};

struct sl_connections *sl_connections_new(const struct sl_connections_limits *limits);
void sl_connections_free(
    struct sl_connections *all); /* every connection has been closed; NULL: nothing */

/* Notes a connection, or that it is closed. `fd` stays the caller's. */
struct sl_connection *sl_connection_open(struct sl_connections *all, int fd,
                                         const struct sockaddr *peer, uint64_t now_ms);
void sl_connection_close(struct sl_connections *all, struct sl_connection *c);
void sl_connection_phase(struct sl_connection *c, enum sl_phase phase, uint64_t now_ms);
/* Its owner's data; NULL at first. */
void sl_connection_set_context(struct sl_connection *c, void *context);
void *sl_connection_context(const struct sl_connection *c);
/* Whose it is: a text that is the same for the same address, of IPv6 for the same network of 64 bits. Lent by `c`. */
const char *sl_connection_peer(const struct sl_connection *c);
/* Has its client hung up, with nothing left to read? */
bool sl_connection_gone(const struct sl_connection *c);

unsigned sl_connections_count(
    const struct sl_connections *all); /* but for those that are ended and not yet closed */
/* Is there a place for one more? Ends a connection when all are taken; false when none may be ended. */
bool sl_connections_make_room(struct sl_connections *all, uint64_t now_ms);
/* The same where no place, but something else is short: ends one in any case. */
bool sl_connections_end_one(struct sl_connections *all, uint64_t now_ms);
/* So many bytes of bodies are kept for it. */
void sl_connection_hold(struct sl_connection *c, size_t bytes);
/* Ends a connection that is sending a body, but not `but`: of the peer for which the most bytes are kept, the one that does so for
 * the longest time. False when there is no other, or `but` is the peer's that has more than any other. */
bool sl_connections_end_body(struct sl_connections *all, const struct sl_connection *but);
/* Ends those that are late and those whose clients hung up. To be called every now and then. */
void sl_connections_sweep(struct sl_connections *all, uint64_t now_ms);
struct sl_connections_tally sl_connections_tally(const struct sl_connections *all);
#endif
