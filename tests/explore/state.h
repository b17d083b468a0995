/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One number for a state: two histories that lead to the same number are taken to have the same future. Of times only
 * this counts: how far those to come are away, and in which order those that are past were. */
#ifndef SL_EXPLORE_STATE_H
#define SL_EXPLORE_STATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUM_NUMBERS = 4096, SUM_GROUPS_OF_VERSIONS = 100 };
struct sum {
    uint64_t hash;
    int64_t now_ms;
    uint32_t count;
    struct sum_number {
        uint32_t where, group; /* 0: times */
        uint64_t n;
        bool aged;
    } numbers[SUM_NUMBERS];
};
void sum_word(struct sum *s, uint32_t where, uint64_t word); /* it may be a time */
void sum_bytes(struct sum *s, uint32_t where, const void *at, size_t size);
void sum_text(struct sum *s, uint32_t where, const char *text);
/* Numbers that only grow: their order within the group, or how far they are behind its greatest. */
void sum_number(struct sum *s, uint32_t where, uint32_t group, uint64_t n, bool aged);
uint64_t sum_end(struct sum *s);

/* Of the cluster, the engine and the core. */
uint64_t state_sum(void);
#endif
