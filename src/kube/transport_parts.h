/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Inside the transport: one exchange as a libcurl handle, and the sockets under them. */
#ifndef SL_KUBE_TRANSPORT_PARTS_H
#define SL_KUBE_TRANSPORT_PARTS_H
#include "base/buf.h"
#include "kube/transport.h"
#include <curl/curl.h>

/* A circle, whose head is none of its members. */
struct sl_link {
    struct sl_link *next, *prev;
};

/* Connections, and the exchanges that share them. Streams have a pool of their own: on a busy
 * connection a server sends their pieces so late that it ends them by its own timeout. */
struct sl_pool {
    struct sl_transport *transport;
    CURLM *multi;
    uv_timer_t *timer; /* libcurl's */
};
enum { SL_POOL_CALLS, SL_POOL_STREAMS, SL_POOL_COUNT };

struct sl_exchange {
    struct sl_link link; /* first: a link is its exchange */
    struct sl_transport *transport;
    struct sl_pool *pool;
    CURL *easy;
    struct curl_slist *headers;
    char *path, *body, *content_type;
    size_t body_len;
    const char *method;  /* one of a few literals */
    unsigned generation; /* of the identity that it carries */
    int64_t timeout_ms, idle_ms;
    size_t answer_max;
    uint64_t heard_ms; /* of the loop's clock: when the last byte came */
    long local_port;   /* of its connection; 0 = it has none yet */
    struct sl_buf answer;
    sl_data_fn *data;
    sl_response_fn *done;
    void *context;
    char why[CURL_ERROR_SIZE]; /* libcurl's words */
    char *refusal;             /* it could not even be begun */
    bool added;                /* to libcurl */
    bool cancelled;            /* while libcurl was at work: it goes when that is over */
    bool idle;                 /* ended for that */
    bool too_large;            /* likewise */
};

struct sl_transport {
    uv_loop_t *loop;
    struct sl_credentials *credentials;
    char *user_agent;
    char *
        base; /* https://host:port/path; the host is the one in the certificate. NULL: not known yet */
    char *host;                      /* the Host header, where that is another one */
    struct curl_slist *connect_list; /* and where to connect to then */
    bool local;                      /* the server is on this machine: no proxy */
    struct sl_pool pools[SL_POOL_COUNT];
    uv_timer_t *sweep_timer, *begin_timer;
    struct sl_link waiting, beginning, under_way;
    struct sl_link sockets;
    unsigned depth;      /* of calls into libcurl */
    unsigned busy;       /* callbacks of the loop that we are in */
    unsigned cancels;    /* exchanges that were cancelled meanwhile */
    unsigned generation; /* of the identity */
    bool rejected;       /* the present one, by a 401 */
    bool closing;
    struct sl_transport_counters counters;
};

/* Give the handle everything but the identity; then the identity. */
void sl_exchange_setup(struct sl_exchange *x);
enum sl_code sl_exchange_sign(struct sl_exchange *x, const struct sl_identity *identity);
/* Its outcome, for the caller; nothing of it is left afterwards. */
void sl_exchange_finish(struct sl_exchange *x, CURLcode result);
void sl_exchange_free(struct sl_exchange *x);
/* URL, CONNECT_TO and Host from the server and the name that its certificate has. */
void sl_transport_aim(struct sl_transport *t, const char *server, const char *server_name);
#endif
