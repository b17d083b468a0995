/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* SHA-1, as FIPS 180-4 section 6.1 describes it. */
#include "controllers/work/sha1.h"
#include <stdio.h>
#include <string.h>

static uint32_t rotate(uint32_t x, unsigned n)
{
    return (x << n) | (x >> (32 - n));
}

static void schedule(const uint8_t block[static 64], uint32_t words[static 80])
{
    for (size_t t = 0; t < 16; t++) {
        const uint8_t *b = block + 4 * t;
        words[t] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (size_t t = 16; t < 80; t++) {
        words[t] = rotate(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
    }
}

static uint32_t mix(size_t t, const uint32_t s[static 5])
{
    if (t < 20) {
        return ((s[1] & s[2]) | (~s[1] & s[3])) + 0x5a827999u;
    }
    if (t < 40) {
        return (s[1] ^ s[2] ^ s[3]) + 0x6ed9eba1u;
    }
    if (t < 60) {
        return ((s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])) + 0x8f1bbcdcu;
    }
    return (s[1] ^ s[2] ^ s[3]) + 0xca62c1d6u;
}

static void compress(struct sl_sha1 *h)
{
    uint32_t words[80];
    uint32_t s[5];
    schedule(h->block, words);
    memcpy(s, h->state, sizeof s);
    for (size_t t = 0; t < 80; t++) {
        uint32_t next = rotate(s[0], 5) + mix(t, s) + s[4] + words[t];
        s[4] = s[3];
        s[3] = s[2];
        s[2] = rotate(s[1], 30);
        s[1] = s[0];
        s[0] = next;
    }
    for (size_t i = 0; i < 5; i++) {
        h->state[i] += s[i];
    }
}

void sl_sha1_init(struct sl_sha1 *h)
{
    *h = (struct sl_sha1){
        .state = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u}};
}

void sl_sha1_add(struct sl_sha1 *h, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        h->block[h->size++ % 64] = (uint8_t)data[i];
        if (h->size % 64 == 0) {
            compress(h);
        }
    }
}

void sl_sha1_hex(struct sl_sha1 *h, char out[static 41])
{
    uint64_t bits = h->size * 8;
    sl_sha1_add(h, "\x80", 1);
    while (h->size % 64 != 56) {
        sl_sha1_add(h, "", 1);
    }
    char length[8];
    for (unsigned i = 0; i < 8; i++) {
        length[i] = (char)(bits >> (56 - 8 * i));
    }
    sl_sha1_add(h, length, sizeof length);
    for (size_t i = 0; i < 5; i++) {
        snprintf(out + 8 * i, 9, "%08x", h->state[i]);
    }
}
