/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Bodies of requests: authorization comes before reading, and there is a limit for each and for all
 * together. */
#include <stdio.h>
#include <string.h>

#include "server/http_parts.h"
#include "base/check.h"

#define LARGE_BYTES (1u << 20)
#define DISCARD_BYTES_MAX (32u << 20) /* of too large a body; then the connection is cut */

static bool has_body(const struct exchange *x)
{
    const char *length = sl_http_header(x, "Content-Length");
    return sl_http_header(x, "Transfer-Encoding") != NULL ||
           (length != NULL && strcmp(length, "0") != 0);
}

/* What can be answered without the body is answered without it: clients that may not write take no
 * memory. */
static void check(struct exchange *x)
{
    if (x->server->rest.store == NULL && !sl_serve_is_question(&x->request)) {
        sl_answer_fail(&x->request, SL_CODE_TOO_LARGE, "this server accepts no request bodies");
        x->served = true;
        return;
    }
    x->served = sl_entry_ask(&x->request, x->connection, sl_connection_peer(x->place),
                             &x->server->guard) == SL_VERDICT_REFUSE;
}

void sl_http_body_begin(struct exchange *x)
{
    bool body = has_body(x);
    x->served = x->served || !sl_entry_check_lengths(&x->request, x->connection);
    if (!x->served && body) {
        check(x);
    }
    sl_connection_phase(x->place, body ? SL_PHASE_BODY : SL_PHASE_ANSWER, sl_http_now_ms());
}

static void hold_body(struct exchange *x)
{
    x->server->bodies += x->request.body.cap - x->held;
    x->held = x->request.body.cap;
    sl_connection_hold(x->place, x->held);
}

/* All bodies together are at their limit: the one that is longest on its way goes, and without any such this one. */
static bool find_room(struct exchange *x)
{
    struct sl_server *server = x->server;
    if (server->bodies <= server->bodies_max ||
        sl_connections_end_body(server->connections, x->place)) {
        return true;
    }
    x->request.crowded = true;
    return false;
}

bool sl_http_body_take(struct exchange *x, const char *data, size_t size)
{
    SL_PRE(x != NULL);
    struct sl_request *r = &x->request;
    size_t most = x->server->rest.reviews ? SL_REVIEW_BYTES_MAX : SL_BODY_BYTES_MAX;
    bool fits = !r->too_large && !r->crowded && r->body.len + size <= most;
    r->too_large = !r->crowded && !fits;
    if (!fits || !find_room(x)) {
        x->discarded += size;
        sl_buf_fini(&r->body);
        hold_body(x);
        return x->discarded <= DISCARD_BYTES_MAX;
    }
    sl_buf_add(&r->body, data, size);
    hold_body(x);
    return true;
}

bool sl_http_body_waits(const struct exchange *x)
{
    SL_PRE(x != NULL);
    const struct sl_server *s = x->server;
    bool free = !s->large_read && uv_hrtime() >= s->large_after_ns && sl_http_body_next(s) == NULL;
    return x->request.body.len >= LARGE_BYTES && !x->granted && !free;
}

void sl_http_body_read(struct exchange *x, uint64_t took_ns)
{
    SL_PRE(x != NULL);
    if (x->request.body.len >= LARGE_BYTES) {
        x->server->large_read = true;
        x->server->large_after_ns = uv_hrtime() + took_ns;
        (void)snprintf(x->server->large_peer, sizeof x->server->large_peer, "%s",
                       sl_connection_peer(x->place));
    }
}

/* The list has the newest first. */
struct exchange *sl_http_body_next(const struct sl_server *server)
{
    SL_PRE(server != NULL);
    struct exchange *found = NULL;
    bool found_other = false;
    if (server->large_read || uv_hrtime() < server->large_after_ns) {
        return NULL;
    }
    for (struct exchange *x = server->exchanges; x != NULL; x = x->next) {
        bool other = strcmp(sl_connection_peer(x->place), server->large_peer) != 0;
        if (x->deferred && (other || !found_other)) {
            found = x;
            found_other = other;
        }
    }
    return found;
}
