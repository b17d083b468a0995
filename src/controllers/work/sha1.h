/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* SHA-1 (FIPS 180-4), only to name Workloads as Kueue does; nothing here relies on it for security. */
#ifndef SL_CONTROLLERS_SHA1_H
#define SL_CONTROLLERS_SHA1_H
#include <stddef.h>
#include <stdint.h>

struct sl_sha1 {
    uint32_t state[5];
    uint64_t size;
    uint8_t block[64];
};
void sl_sha1_init(struct sl_sha1 *h);
void sl_sha1_add(struct sl_sha1 *h, const char *data, size_t size);
/* 40 hexadecimal digits and a NUL. `h` is spent. */
void sl_sha1_hex(struct sl_sha1 *h, char out[static 41]);
#endif
