/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which cipher suites a listener speaks with TLS 1.2, by their names in Kubernetes and Go. Those of TLS 1.3 are always spoken, as
 * there. */
#ifndef SL_SERVER_SUITES_H
#define SL_SERVER_SUITES_H
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>

struct sl_suites;
/* Of names that are known, with more of GnuTLS's priorities ("": none); NULL: not one of them can be spoken with TLS 1.2. */
struct sl_suites *sl_suites_new(const char *const *names, size_t count, const char *more);
void sl_suites_free(struct sl_suites *s);
/* Can it ever be spoken? What is weak is not, and names of TLS 1.3 choose nothing. */
bool sl_suites_can_speak(const char *name);
/* Before the handshake; `s` has to live as long as the session does. */
void sl_suites_hold(const struct sl_suites *s, gnutls_session_t session);
#endif
