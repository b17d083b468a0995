/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A connection is ended by shutting its socket down: its driver finds it closed and closes it. */
#include "server/connections.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "server/listen.h"

#define NET_BYTES 16u
#define ANSWER_MS                                                                                  \
    30000u /* a client that has not read its answer for so long may lose it to a newcomer */

/* An address; of IPv6 ones the network, which is what one client has. Or a local user. */
struct peer {
    unsigned char net[NET_BYTES];
    char name[2 * NET_BYTES + 1]; /* the same in hexadecimal digits */
    unsigned count;
    size_t bytes; /* kept for all of its connections */
    struct peer *next;
};

struct sl_connection {
    struct sl_connection *previous, *next; /* in no order */
    struct peer *peer;
    void *context;
    uint64_t since_ms; /* it is in its phase */
    size_t bytes;
    int fd;
    enum sl_phase phase;
    bool ended;
};

struct sl_connections {
    struct sl_connections_limits limits;
    struct sl_connection *first;
    struct peer *peers;
    unsigned count, ended; /* ended ones count until they are closed */
    struct sl_connections_tally tally;
};

struct sl_connections *sl_connections_new(const struct sl_connections_limits *limits)
{
    SL_PRE(limits != NULL && limits->places > 0);
    struct sl_connections *all = sl_mem_new(1, sizeof *all);
    all->limits = *limits;
    return all;
}

void sl_connections_free(struct sl_connections *all)
{
    SL_PRE(all == NULL || (all->first == NULL && all->peers == NULL));
    sl_mem_free(all);
}

/* --- peers ----------------------------------------------------------------------------------- */

/* Of a local user it has the number, behind what no address begins with. */
static void net_of(const struct sockaddr *a, int fd, unsigned char net[static NET_BYTES])
{
    uid_t uid;
    memset(net, 0, NET_BYTES);
    if (a != NULL && a->sa_family == AF_UNIX && sl_listen_peer(fd, &uid)) {
        net[0] = 0xff;
        memcpy(net + NET_BYTES - sizeof uid, &uid, sizeof uid);
    } else if (a != NULL && a->sa_family == AF_INET) {
        net[10] = net[11] = 0xff;
        memcpy(net + 12, &((const struct sockaddr_in *)(const void *)a)->sin_addr, 4);
    } else if (a != NULL && a->sa_family == AF_INET6) {
        const struct in6_addr *v6 = &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
        memcpy(net, v6, IN6_IS_ADDR_V4MAPPED(v6) ? 16 : 8);
    }
}

static struct peer *peer_of(struct sl_connections *all, const struct sockaddr *a, int fd)
{
    unsigned char net[NET_BYTES];
    net_of(a, fd, net);
    for (struct peer *p = all->peers; p != NULL; p = p->next) {
        if (memcmp(p->net, net, sizeof net) == 0) {
            return p;
        }
    }
    struct peer *p = sl_mem_new(1, sizeof *p);
    memcpy(p->net, net, sizeof net);
    for (size_t i = 0; i < sizeof net; i++) {
        (void)snprintf(p->name + 2 * i, 3, "%02x", net[i]);
    }
    p->next = all->peers;
    all->peers = p;
    return p;
}

static void leave_peer(struct sl_connections *all, struct peer *peer)
{
    if (--peer->count > 0) {
        return;
    }
    struct peer **at = &all->peers;
    while (*at != peer) {
        at = &(*at)->next;
    }
    *at = peer->next;
    sl_mem_free(peer);
}

/* --- connections ----------------------------------------------------------------------------- */

struct sl_connection *sl_connection_open(struct sl_connections *all, int fd,
                                         const struct sockaddr *peer, uint64_t now_ms)
{
    SL_PRE(all != NULL && peer != NULL);
    struct sl_connection *c = sl_mem_new(1, sizeof *c);
    *c = (struct sl_connection){
        .next = all->first, .peer = peer_of(all, peer, fd), .since_ms = now_ms, .fd = fd};
    c->peer->count++;
    if (c->next != NULL) {
        c->next->previous = c;
    }
    all->first = c;
    all->count++;
    return c;
}

void sl_connection_close(struct sl_connections *all, struct sl_connection *c)
{
    SL_PRE(c != NULL);
    *(c->previous != NULL ? &c->previous->next : &all->first) = c->next;
    if (c->next != NULL) {
        c->next->previous = c->previous;
    }
    sl_connection_hold(c, 0);
    leave_peer(all, c->peer);
    all->count--;
    all->ended -= c->ended;
    sl_mem_free(c);
}

void sl_connection_phase(struct sl_connection *c, enum sl_phase phase, uint64_t now_ms)
{
    SL_PRE(c != NULL);
    c->phase = phase;
    c->since_ms = now_ms;
}

void sl_connection_hold(struct sl_connection *c, size_t bytes)
{
    SL_PRE(c != NULL && c->peer->bytes >= c->bytes);
    c->peer->bytes += bytes - c->bytes;
    c->bytes = bytes;
}

void sl_connection_set_context(struct sl_connection *c, void *context)
{
    SL_PRE(c != NULL);
    c->context = context;
}

void *sl_connection_context(const struct sl_connection *c)
{
    SL_PRE(c != NULL);
    return c->context;
}

const char *sl_connection_peer(const struct sl_connection *c)
{
    SL_PRE(c != NULL);
    return c->peer->name;
}

bool sl_connection_gone(const struct sl_connection *c)
{
    SL_PRE(c != NULL);
    char byte;
    ssize_t n = recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

unsigned sl_connections_count(const struct sl_connections *all)
{
    SL_PRE(all != NULL);
    return all->count - all->ended;
}

struct sl_connections_tally sl_connections_tally(const struct sl_connections *all)
{
    SL_PRE(all != NULL);
    return all->tally;
}

/* --- ends ------------------------------------------------------------------------------------ */

static void end(struct sl_connections *all, struct sl_connection *c, uint64_t *tally)
{
    SL_PRE(!c->ended);
    c->ended = true;
    all->ended++;
    (*tally)++;
    (void)shutdown(c->fd, SHUT_RDWR);
}

/* No proper client misses it: it has not asked yet, or does not read. */
static bool may_go(const struct sl_connection *c, uint64_t now_ms)
{
    switch (c->phase) {
    case SL_PHASE_STREAM:
        return false;
    case SL_PHASE_ANSWER:
        return !c->ended && now_ms - c->since_ms > ANSWER_MS;
    default:
        return !c->ended;
    }
}

bool sl_connections_end_one(struct sl_connections *all, uint64_t now_ms)
{
    SL_PRE(all != NULL);
    struct sl_connection *found = NULL;
    for (struct sl_connection *c = all->first; c != NULL; c = c->next) {
        if (may_go(c, now_ms) &&
            (found == NULL || c->peer->count > found->peer->count ||
             (c->peer->count == found->peer->count && c->since_ms <= found->since_ms))) {
            found = c;
        }
    }
    if (found != NULL) {
        end(all, found, &all->tally.for_room);
    }
    return found != NULL;
}

bool sl_connections_make_room(struct sl_connections *all, uint64_t now_ms)
{
    SL_PRE(all != NULL);
    return sl_connections_count(all) < all->limits.places || sl_connections_end_one(all, now_ms);
}

bool sl_connections_end_body(struct sl_connections *all, const struct sl_connection *but)
{
    SL_PRE(all != NULL);
    struct sl_connection *found = NULL;
    for (struct sl_connection *c = all->first; c != NULL; c = c->next) {
        if (c != but && !c->ended && c->phase == SL_PHASE_BODY &&
            (found == NULL || c->peer->bytes > found->peer->bytes ||
             (c->peer->bytes == found->peer->bytes && c->since_ms <= found->since_ms))) {
            found = c;
        }
    }
    if (found == NULL || (but != NULL && but->peer->bytes > found->peer->bytes)) {
        return false;
    }
    end(all, found, &all->tally.for_room);
    return true;
}

static bool is_late(const struct sl_connections *all, const struct sl_connection *c,
                    uint64_t now_ms)
{
    uint64_t age_ms = now_ms - c->since_ms;
    switch (c->phase) {
    case SL_PHASE_HEADER:
        return age_ms > all->limits.header_ms;
    case SL_PHASE_BODY:
        return age_ms > all->limits.body_ms;
    case SL_PHASE_IDLE:
        return age_ms > all->limits.idle_ms;
    default:
        return false;
    }
}

/* Who has asked may say that it says no more, and wait for the answer. */
static bool has_left(const struct sl_connection *c)
{
    return c->phase != SL_PHASE_ANSWER && c->phase != SL_PHASE_STREAM && sl_connection_gone(c);
}

void sl_connections_sweep(struct sl_connections *all, uint64_t now_ms)
{
    SL_PRE(all != NULL);
    for (struct sl_connection *c = all->first; c != NULL; c = c->next) {
        if (c->ended) {
            continue;
        }
        if (is_late(all, c, now_ms)) {
            end(all, c, &all->tally.late);
        } else if (has_left(c)) {
            end(all, c, &all->tally.gone);
        }
    }
}
