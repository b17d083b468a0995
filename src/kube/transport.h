/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Requests to one API server over HTTP/2: one connection for streams and one for all else where that can be, reused,
 * TLS always verified, on the loop's thread. Nothing is retried here. */
#ifndef SL_KUBE_TRANSPORT_H
#define SL_KUBE_TRANSPORT_H
#include "kube/credentials.h"
#include <uv.h>

#define SL_ANSWER_BYTES_MAX (64u << 20) /* a faulty server must not take all memory */
#define SL_RETRY_AFTER_MS_MAX 30000 /* of what a server may ask for; a longer wait is cut to this */

struct sl_transport;
struct sl_exchange; /* one request under way */

struct sl_request {
    const char *method;       /* "GET", "POST", "PUT", "PATCH", "DELETE" */
    const char *path;         /* from /api or /apis on, with the query */
    const char *content_type; /* NULL: no body */
    const char *body;         /* copied */
    size_t body_len;
    int64_t timeout_ms; /* for the whole exchange; 0 = none (watches) */
    int64_t idle_ms;    /* without a byte: the connection counts as dead; 0 = none */
    size_t answer_max;  /* bytes that are collected; 0 = SL_ANSWER_BYTES_MAX */
};

/* How an exchange ended. */
struct sl_response {
    /* OK for 2xx; UNAVAILABLE when there was no (whole) answer; TOO_LARGE when it was more than answer_max */
    enum sl_code code;
    int status; /* HTTP status; 0 = there was no answer: it may have been carried out or not */
    int64_t retry_ms; /* from Retry-After, at most SL_RETRY_AFTER_MS_MAX; 0 = none */
    const char *body; /* what was not taken by `data`; lent */
    size_t body_len;
    const char *reason; /* for people when status is 0 */
};
/* A piece of a 2xx body as it arrives; NULL in the exchange: it is collected. */
typedef void sl_data_fn(void *context, const char *data, size_t len);
/* Called once, never from within sl_transport_send; not after sl_transport_cancel. */
typedef void sl_response_fn(void *context, const struct sl_response *r);

/* `credentials` is lent and outlives the transport. */
struct sl_transport *sl_transport_new(uv_loop_t *loop, struct sl_credentials *credentials,
                                      const char *user_agent);
/* Cancels what is under way; the loop has to turn once more for its handles to close. Not from within `data`. */
void sl_transport_free(struct sl_transport *t);
struct sl_exchange *sl_transport_send(struct sl_transport *t, const struct sl_request *r,
                                      sl_data_fn *data, sl_response_fn *done, void *context);
void sl_transport_cancel(struct sl_exchange *x);

struct sl_transport_counters {
    uint64_t requests, failures, connections /* begun */, bytes_in, bytes_out;
};
const struct sl_transport_counters *sl_transport_count(const struct sl_transport *t);
#endif
