/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Connections with TLS, and authentication. */
#include "server/entry.h"

#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "server/listen.h"
#include "server/tls.h"

struct sl_tls_identity *sl_entry_open(struct sl_tls *tls, struct MHD_Connection *connection)
{
    if (tls == NULL) {
        return NULL;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    SL_ASSERT(info != NULL && info->tls_session != NULL);
    return sl_tls_begin(tls, info->tls_session);
}

void sl_entry_close(struct sl_tls_identity *identity)
{
    if (identity != NULL) {
        sl_tls_end(identity);
    }
}

/* Probes have no name to show. */
static bool is_open(const char *path)
{
    static const char *const paths[] = {"/healthz", "/livez", "/readyz"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (strcmp(path, paths[i]) == 0) {
            return true;
        }
    }
    return false;
}

struct visit {
    sl_header_fn *fn;
    void *context;
};

static enum MHD_Result visit_header(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    const struct visit *v = context;
    (void)kind;
    v->fn(v->context, name, value != NULL ? value : "");
    return MHD_YES;
}

static void each_header(const struct sl_call *call, sl_header_fn *fn, void *context)
{
    struct visit v = {fn, context};
    (void)MHD_get_connection_values(call->self, MHD_HEADER_KIND, visit_header, &v);
}

static enum MHD_Result note_length(void *context, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    const char **first = context;
    (void)kind;
    if (strcasecmp(name, "Content-Length") != 0) {
        return MHD_YES;
    }
    if (*first != NULL && (value == NULL || strcmp(*first, value) != 0)) {
        *first = "";
        return MHD_NO;
    }
    *first = value != NULL ? value : "";
    return MHD_YES;
}

bool sl_entry_check_lengths(struct sl_request *r, struct MHD_Connection *connection)
{
    const char *length = NULL;
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, note_length, &length);
    if (length != NULL && length[0] == '\0') {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST, "the request has more than one Content-Length");
        return false;
    }
    return true;
}

static enum sl_verdict refuse(struct sl_request *r, const struct sl_error *e)
{
    sl_request_route(r);
    if (e->code != SL_CODE_FORBIDDEN || r->route.target != SL_TARGET_OBJECTS) {
        r->route = (struct sl_route){.kind = SL_KIND_COUNT, .ns = "", .name = ""};
    }
    r->accept = sl_accept_parse(r->accept_text);
    sl_answer_error(r, e);
    return SL_VERDICT_REFUSE;
}

enum sl_verdict sl_entry_ask(struct sl_request *r, struct MHD_Connection *connection,
                             const char *peer, const struct sl_server_guard *guard)
{
    SL_PRE(guard != NULL && peer != NULL);
    struct sl_error e = {0};
    if (guard->ask == NULL || is_open(r->path)) {
        return SL_VERDICT_PASS;
    }
    struct sl_attributes about;
    sl_request_attributes(r, &about);
    struct sl_call call = {.method = r->method,
                           .path = r->path,
                           .peer = peer,
                           .each_header = each_header,
                           .self = connection,
                           .about = &about,
                           .user = &r->user};
    int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    call.local = sl_listen_peer(fd, &call.uid);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info != NULL && info->tls_session != NULL) {
        call.chain = gnutls_certificate_get_peers(info->tls_session, &call.chain_len);
    }
    enum sl_verdict verdict = guard->ask(guard->context, &call, &e);
    if (verdict != SL_VERDICT_REFUSE) {
        return verdict;
    }
    SL_ASSERT(e.code != SL_CODE_OK);
    return refuse(r, &e);
}
