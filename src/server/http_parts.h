/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the files of the HTTP server share: http.c drives requests, http_body.c takes their bodies in, http_start.c starts
 * and stops it all. Nobody else includes this. */
#ifndef SL_SERVER_HTTP_PARTS_H
#define SL_SERVER_HTTP_PARTS_H
#include "server/connections.h"
#include "server/entry.h"
#include "server/mhd.h"

#define SL_ACCEPTED_AT_ONCE 64u /* then requests of known users are read */

struct exchange { /* one request on its way */
    struct sl_request request;
    struct sl_server *server;
    struct MHD_Connection *connection;
    struct sl_connection *place;
    struct exchange *previous, *next;
    bool begun, served, suspended, streaming, stream_ended, yields;
    bool deferred, granted; /* its large body waits to be read; it does not any more */
    bool asked;             /* suspended until the guard is asked again */
    struct sl_buf piece;    /* of the stream, and how much of it is out */
    size_t piece_at, discarded;
    size_t held; /* bytes of its body in memory, of the server's `bodies` */
};

struct sl_server {
    struct sl_rest rest;
    struct sl_server_guard guard;
    struct sl_server_audit audit;
    struct MHD_Daemon *daemon;
    struct sl_connections *connections;
    uint64_t told, tell_at_ms; /* of connections that were ended for others */
    struct sl_tls *tls;
    size_t bodies, bodies_max; /* bytes of all bodies in memory */
    uint64_t large_after_ns;   /* the next large one is not read before */
    bool large_read;           /* in this turn */
    char large_peer[40];       /* whose the last one was */
    int listen_fd;
    uv_poll_t poll, accept;
    uv_prepare_t prepare;
    uv_idle_t idle;
    uv_timer_t timeout, tick;
    unsigned handles_open, port, places;
    bool allow_remote, stopping, resumed, yielded, accept_paused;
    struct exchange *exchanges;
};

uint64_t sl_http_now_ms(void); /* of no clock that can be set */
const char *sl_http_header(const struct exchange *x, const char *name); /* NULL: absent */

/* --- http_body.c ----------------------------------------------------------------------------- */
/* A request's header is here: answers what can be said without the body. */
void sl_http_body_begin(struct exchange *x);
/* The next piece. False when the client sends on and on. */
bool sl_http_body_take(struct exchange *x, const char *data, size_t size);

/* Large bodies take long to read. Of all that are here one is read in a turn of the loop, and then not before the loop has had as
 * much time for others as that took; those of other peers come before those of the last one's. True: this one has to wait. */
bool sl_http_body_waits(const struct exchange *x);
void sl_http_body_read(struct exchange *x, uint64_t took_ns);
/* Which is read next: NULL: none, or not yet. */
struct exchange *sl_http_body_next(const struct sl_server *server);

/* --- http.c ---------------------------------------------------------------------------------- */
extern const struct sl_mhd_calls sl_http_calls; /* but for the context */
void sl_http_on_commit(void *context, enum sl_code code, const struct sl_error *e);
void sl_http_on_accept(uv_poll_t *accept, int status, int events);
void sl_http_on_readable(uv_poll_t *poll, int status, int events);
void sl_http_on_prepare(uv_prepare_t *prepare);
void sl_http_on_tick(uv_timer_t *timer);
void sl_http_tick(struct sl_server *server); /* from now on, until there is nothing to look at */
void sl_http_run(struct sl_server *server);
void sl_http_resume(struct exchange *x);
#endif
