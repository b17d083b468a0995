/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Certificates that clients present: whether an authority has signed one, and which user it
 * names. */
#ifndef SL_SERVER_CERTIFICATES_H
#define SL_SERVER_CERTIFICATES_H
#include <gnutls/x509.h>

#include "api/json/json.h"

struct sl_authority;
/* One or more certificates, PEM. NULL and BAD_REQUEST that names `key` when there is none in it. */
struct sl_authority *sl_authority_new(const char *pem, const char *key, struct sl_error *e);
void sl_authority_free(struct sl_authority *a);
/* Has it signed the chain (the client's own first, DER), for clients and now? Then *own is the
 * client's, which the caller deinits. UNAUTHORIZED with a reason that is not for the client. */
enum sl_code sl_authority_check(const struct sl_authority *a, const gnutls_datum_t *chain,
                                unsigned len, gnutls_x509_crt_t *own, struct sl_error *e);
/* The values of one attribute of the subject, in their order: a list of texts. Those that are not
 * UTF-8, or have a NUL in them, cannot be names: they are left out. */
struct sl_json *sl_certificate_names_new(gnutls_x509_crt_t crt, const char *oid);
#endif
