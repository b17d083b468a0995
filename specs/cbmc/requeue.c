/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The backoff (G7), for up to four evictions: what doubling step by step and capping at the end gives, never
 * shrinking. A jitter only adds its share; it is looked at for delays of up to a minute, and for the longest one. */
#include "kernel/lifecycle/requeue.h"
#include "specs/cbmc/look.h"

#define TIMES 4u

static int64_t expected(int64_t base, int64_t cap, uint32_t n)
{
    __int128 delay = (__int128)base << (n - 1);
    return n == 1 || delay < cap ? (int64_t)delay : base == 0 ? 0 : cap;
}

static void claim_backoff(void)
{
    int64_t base = nondet_int64(), cap = nondet_int64();
    uint32_t n = nondet_uint32();
    ASSUME(base >= 0 && base <= SL_TIME_MAX && cap >= 0 && cap <= SL_TIME_MAX);
    ASSUME(n >= 1 && n <= TIMES);
    int64_t delay = sl_requeue_check_delay_s(base, cap, n - 1);
    USAGE(delay == expected(base, cap, n), "doubled and capped");
    USAGE(base > cap || delay <= sl_requeue_check_delay_s(base, cap, n), "never shrinks");
}

static void claim_jitter(void)
{
    int64_t delay = nondet_uint16();
    uint32_t ppm = nondet_uint8();
    ASSUME(ppm <= SL_JITTER_PPM_MAX);
    int64_t more = sl_requeue_delay_ms(delay, delay, 1, ppm) - delay;
    USAGE(more * 1000000 <= delay * ppm && delay * ppm < (more + 1) * 1000000,
          "its share, rounded down");
    USAGE(sl_requeue_delay_ms(SL_TIME_MAX, SL_TIME_MAX, 2, ppm) == SL_TIME_MAX,
          "never past the largest time");
}

void look_requeue(void)
{
    uint32_t count = nondet_uint32();
    struct sl_requeue_rules rules = {nondet_uint8() % 2 != 0, nondet_uint32(), nondet_int64(),
                                     nondet_int64()};
    claim_backoff();
    claim_jitter();
    sl_requeue_configure(rules);
    USAGE(sl_requeue_ruled_out(count) ==
              (rules.limited && (int64_t)count + 1 > (int64_t)rules.count_max),
          "one more is too many");
}
