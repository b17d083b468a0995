/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Turns fuzzer bytes into values. Every byte string is a valid program: when it is used up, reads give 0 and
 * producer_done is true. */
#ifndef SL_FUZZ_PRODUCER_H
#define SL_FUZZ_PRODUCER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct producer {
    const uint8_t *data;
    size_t left;
};

static inline bool producer_done(const struct producer *p)
{
    return p->left == 0;
}

static inline uint8_t producer_byte(struct producer *p)
{
    if (p->left == 0) {
        return 0;
    }
    p->left--;
    return *p->data++;
}

/* A value in 0 .. limit - 1; limit > 0. One byte when that is enough, so that mutations stay local. */
static inline uint32_t producer_below(struct producer *p, uint32_t limit)
{
    uint32_t v = producer_byte(p);
    if (limit > 256) {
        v = v << 8 | producer_byte(p);
    }
    return v % limit;
}

/* The next event of a program: FUZZ_EVENT bytes, fewer at the end. What an event does not read is of no matter; what
 * it reads beyond its bytes is 0. False = that was all. FUZZ_BETWEEN is called before each, in builds that name it. */
#ifdef FUZZ_EVENT
#ifdef FUZZ_BETWEEN
void FUZZ_BETWEEN(void);
#else
#define FUZZ_BETWEEN() ((void)0)
#endif
static inline bool producer_event(struct producer *program, struct producer *event)
{
    FUZZ_BETWEEN();
    size_t size = program->left < FUZZ_EVENT ? program->left : FUZZ_EVENT;
    *event = (struct producer){program->data, size};
    program->data += size;
    program->left -= size;
    return size != 0;
}
#endif

static inline int64_t producer_int64(struct producer *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) {
        v = v << 8 | producer_byte(p);
    }
    return (int64_t)v;
}
#endif
