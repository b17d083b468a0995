/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The certificate that a listener with TLS shows: from the files tls.crt and tls.key of a directory, read again when
 * they change, or signed by itself and made at start. Clients are asked for a certificate; whether it is any good is
 * looked at with each request (front_proxy.h), not in the handshake. */
#ifndef SL_SERVER_TLS_H
#define SL_SERVER_TLS_H
#include <gnutls/gnutls.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct sl_tls;
/* `dir` NULL: one is made for the DNS name `name` and for localhost. BAD_REQUEST names the file and what is wrong
 * with it. */
enum sl_code sl_tls_open(const char *dir, const char *name, struct sl_tls **out,
                         struct sl_error *e);
/* Makes tls.crt and tls.key there for `name`, which may be an IP address, unless there are such files: connections that
 * have learnt the certificate find it again after a restart. */
enum sl_code sl_tls_make_files(const char *dir, const char *name, struct sl_error *e);
/* Connections that begin from now on show this one (PEM). BAD_REQUEST: the two do not fit each other, and nothing changes. Not of
 * one that reads files. */
enum sl_code sl_tls_take(struct sl_tls *t, const char *certificate, const char *key,
                         struct sl_error *e);
/* What is spoken, of TLS 1.3 with any cipher suite and TLS 1.2 with GnuTLS's own. Read while it is chosen, and not after that. */
struct sl_tls_choice {
    bool only_13;
    const char *const *
        suites; /* no others with TLS 1.2; where none of them can be spoken (suites.h), no TLS 1.2 */
    size_t suite_count;     /* 0: they are not chosen */
    const uint16_t *curves; /* no others (curves.h); one at least that can be spoken */
    size_t curve_count;     /* 0: GnuTLS's own */
};
/* Once at most, before it is served. */
void sl_tls_choose(struct sl_tls *t, const struct sl_tls_choice *choice);
/* The versions, ciphers and groups, in GnuTLS's words. */
const char *sl_tls_priorities(const struct sl_tls *t);
/* After all that was begun has ended. */
void sl_tls_free(struct sl_tls *t);

/* The certificate as of now, and its key, as PEM text; lent until the next call. */
const char *sl_tls_certificate(struct sl_tls *t);
const char *sl_tls_key(struct sl_tls *t);
/* The certificate for a kubeconfig's certificate-authority-data. */
void sl_tls_print_base64(struct sl_tls *t, struct sl_buf *out);

/* What a connection shows, as long as it lives. */
struct sl_tls_identity;
/* Before the handshake: with the newest certificate that could be read. */
struct sl_tls_identity *sl_tls_begin(struct sl_tls *t, gnutls_session_t session);
void sl_tls_end(struct sl_tls_identity *identity);
#endif
