/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* SipHash-1-3 by Aumasson and Bernstein: a hash under a key. Who does not know the key cannot find texts that hash alike. */
#ifndef SL_BASE_SIPHASH_H
#define SL_BASE_SIPHASH_H
#include <stddef.h>
#include <stdint.h>

struct sl_siphash_key {
    uint64_t word[2];
};
uint64_t sl_siphash(const struct sl_siphash_key *key, const void *data, size_t len);
/* One of this process, drawn when it is first asked for: hashes under it are for its memory only. */
const struct sl_siphash_key *sl_siphash_own_key(void);
#endif
