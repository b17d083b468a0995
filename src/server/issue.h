/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An authority of our own and the certificates of servers that it signs, for clients that believe it. All texts are PEM. */
#ifndef SL_SERVER_ISSUE_H
#define SL_SERVER_ISSUE_H
#include <gnutls/x509.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct sl_issued {
    struct sl_buf certificate, key;
};
void sl_issued_fini(struct sl_issued *i); /* the key is overwritten; may be called again */

/* INTERNAL: the library could not. */
enum sl_code sl_issue_authority(int64_t now_s, int64_t valid_s, struct sl_issued *out,
                                struct sl_error *e);
/* For the names, DNS or IP, up to NULL. BAD_REQUEST: `authority` is not a certificate with its key. Its first certificate counts. */
enum sl_code sl_issue_server(const struct sl_issued *authority, const char *const *names,
                             int64_t now_s, int64_t valid_s, struct sl_issued *out,
                             struct sl_error *e);
/* Is it a certificate with its key, for that name, that one of the authorities has signed? It may have ended. BAD_REQUEST says what
 * is wrong. */
enum sl_code sl_issued_check(const char *authorities, const struct sl_issued *server,
                             const char *name, struct sl_error *e);
/* An alternative name of a subject: DNS or IP. `how`: GNUTLS_FSAN_SET or _APPEND. What GnuTLS says. */
int sl_issue_name(gnutls_x509_crt_t crt, const char *name, unsigned how);
/* When the first certificate of the text ends, in seconds since 1970; 0: there is none. */
int64_t sl_issued_end_s(const char *certificates);
#endif
