/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "base/siphash.h"

#include <stdbool.h>
#include <sys/random.h>

#include "base/check.h"

struct state {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void turn(struct state *s)
{
    s->v0 += s->v1;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
}

static void take(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    turn(s);
    s->v0 ^= word;
}

/* Little-endian, whatever the machine is. */
static uint64_t word_at(const unsigned char *bytes, size_t len)
{
    uint64_t word = 0;
    for (size_t i = 0; i < len; i++) {
        word |= (uint64_t)bytes[i] << 8 * i;
    }
    return word;
}

uint64_t sl_siphash(const struct sl_siphash_key *key, const void *data, size_t len)
{
    SL_PRE(key != NULL);
    struct state s = {key->word[0] ^ 0x736f6d6570736575u, key->word[1] ^ 0x646f72616e646f6du,
                      key->word[0] ^ 0x6c7967656e657261u, key->word[1] ^ 0x7465646279746573u};
    const unsigned char *bytes = data;
    size_t whole = len - len % 8;
    for (size_t i = 0; i < whole; i += 8) {
        take(&s, word_at(bytes + i, 8));
    }
    take(&s, word_at(bytes + whole, len % 8) | (uint64_t)len << 56);
    s.v2 ^= 0xff;
    for (unsigned i = 0; i < 3; i++) {
        turn(&s);
    }
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

const struct sl_siphash_key *sl_siphash_own_key(void)
{
    static struct sl_siphash_key key;
    static bool drawn;
    if (!drawn) {
        ssize_t got = getrandom(&key, sizeof key, 0);
        SL_ASSERT(got == (ssize_t)sizeof key);
        drawn = true;
    }
    return &key;
}
