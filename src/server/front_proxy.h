/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who asks. When the API server asks for others it shows a certificate that only it has, and names the user in headers;
 * who comes by himself may show the certificate that he shows to the API server, which has his name and groups in it.
 * What certificates and headers these are the API server says itself, in the ConfigMap
 * extension-apiserver-authentication of kube-system. */
#ifndef SL_SERVER_FRONT_PROXY_H
#define SL_SERVER_FRONT_PROXY_H
#include <gnutls/gnutls.h>

#include "api/json/json.h"

/* What is looked at of a request. */
typedef void sl_header_fn(void *context, const char *name, const char *value);
struct sl_call {
    const char *method, *path;   /* the path is decoded */
    const gnutls_datum_t *chain; /* the client's certificates, its own first, DER; it has the key */
    unsigned chain_len;          /* 0: it showed none */
    void (*each_header)(const struct sl_call *call, sl_header_fn *visit, void *context);
    void *self; /* for each_header */
};

struct sl_front_proxy; /* at first it believes nobody */
struct sl_front_proxy *sl_front_proxy_new(void);
void sl_front_proxy_free(struct sl_front_proxy *p);
/* The ConfigMap's `data`. BAD_REQUEST names the key that makes no sense; then what was known stays. Without a
 * requestheader-client-ca-file nobody is believed who asks for others, without a client-ca-file nobody by his
 * certificate. */
enum sl_code sl_front_proxy_learn(struct sl_front_proxy *p, const struct sl_json *data,
                                  struct sl_error *e);
bool sl_front_proxy_knows(const struct sl_front_proxy *p); /* can the API server ask for others? */
/* {user, groups, uid, extra} as in the spec of a SubjectAccessReview; the caller frees it. NULL and UNAUTHORIZED
 * when nobody is named, or the one who names is not the API server; the reason in *e is not for the client. */
struct sl_json *sl_front_proxy_caller_new(const struct sl_front_proxy *p,
                                          const struct sl_call *call, struct sl_error *e);
/* The same of who comes by himself: his name is the last common name of his certificate, and the organizations are his
 * groups. What headers say of him is nothing. */
struct sl_json *sl_front_proxy_user_new(const struct sl_front_proxy *p, const struct sl_call *call,
                                        struct sl_error *e);
#endif
