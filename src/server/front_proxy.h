/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The user of a request. When the API server forwards requests it presents a certificate that only
 * it has, and names the user in headers. A direct client may present the certificate that it uses
 * for the API server, which has its name and groups. What certificates and headers these are the
 * API server says itself, in the ConfigMap extension-apiserver-authentication of kube-system. */
#ifndef SL_SERVER_FRONT_PROXY_H
#define SL_SERVER_FRONT_PROXY_H
#include <gnutls/gnutls.h>
#include <sys/types.h>

#include "api/json/json.h"
#include "server/attributes.h"

/* What is looked at of a request. */
typedef void sl_header_fn(void *context, const char *name, const char *value);
struct sl_call {
    const char *method, *path;   /* the path is decoded */
    const gnutls_datum_t *chain; /* the client's certificates, its own first, DER; it has the key */
    unsigned chain_len;          /* 0: it showed none */
    const char *peer;            /* sl_connection_peer */
    bool local;                  /* by a socket of the file system, from a process of */
    uid_t uid;                   /* this user */
    void (*each_header)(const struct sl_call *call, sl_header_fn *visit, void *context);
    void *self; /* for each_header */
    const struct sl_attributes *about;
    const struct sl_user **user; /* users.h: the guard says here who it is, where it knows that */
};

struct sl_front_proxy; /* at first it accepts no client */
struct sl_front_proxy *sl_front_proxy_new(void);
void sl_front_proxy_free(struct sl_front_proxy *p);
/* The ConfigMap's `data`. BAD_REQUEST names the key that makes no sense; then what was known stays.
 * Without a requestheader-client-ca-file no forwarded request is accepted, without a client-ca-file
 * no client's certificate. */
enum sl_code sl_front_proxy_learn(struct sl_front_proxy *p, const struct sl_json *data,
                                  struct sl_error *e);
bool sl_front_proxy_knows(const struct sl_front_proxy *p); /* can the API server ask for others? */
/* {user, groups, uid, extra} as in the spec of a SubjectAccessReview; the caller frees it. NULL and
 * UNAUTHORIZED when no user is named, or the request is not from the API server; the reason in *e
 * is not for the client. */
struct sl_json *sl_front_proxy_caller_new(const struct sl_front_proxy *p,
                                          const struct sl_call *call, struct sl_error *e);
/* The same of a direct client: the user is the last common name of its certificate, and the
 * organizations are the groups. Headers do not count. */
struct sl_json *sl_front_proxy_user_new(const struct sl_front_proxy *p, const struct sl_call *call,
                                        struct sl_error *e);
#endif
