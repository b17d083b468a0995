/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Digests (FIPS 180-4) in hexadecimal, by GnuTLS. They make the names that Kueue would give; SHA-256 is what is kept of tokens. */
#ifndef SL_BASE_DIGEST_H
#define SL_BASE_DIGEST_H
#include <stddef.h>

/* SHA-1 of a text: 40 digits and a NUL. */
void sl_sha1_hex(const char *text, size_t size, char out[static 41]);
/* SHA-256 of a text: 64 digits and a NUL. */
void sl_sha256_hex(const char *text, size_t size, char out[static 65]);
#endif
