/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "base/digest.h"
#include "base/check.h"
#include <gnutls/crypto.h>
#include <stdint.h>

static void digest_hex(gnutls_digest_algorithm_t algorithm, const char *text, size_t size,
                       char *out)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[32];
    size_t length = gnutls_hash_get_len(algorithm);
    SL_ASSERT(length <= sizeof bytes && gnutls_hash_fast(algorithm, text, size, bytes) == 0);
    for (size_t i = 0; i < length; i++) {
        out[2 * i] = digits[bytes[i] >> 4u];
        out[2 * i + 1] = digits[bytes[i] & 15u];
    }
    out[2 * length] = '\0';
}

void sl_sha1_hex(const char *text, size_t size, char out[static 41])
{
    digest_hex(GNUTLS_DIG_SHA1, text, size, out);
}

void sl_sha256_hex(const char *text, size_t size, char out[static 65])
{
    digest_hex(GNUTLS_DIG_SHA256, text, size, out);
}
