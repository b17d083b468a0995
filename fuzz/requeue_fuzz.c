/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_requeue_delay_ms, sl_requeue_check_delay_s, sl_requeue_limit_reached.
 * Oracle: the formulas in 128-bit arithmetic, computed in one step instead of by doubling; delays never shrink.
 * Input: events of base (8 bytes), cap (8), n (4), jitter (1), limit (8); each brought into its bounds, small or large by
 * one byte in front of it. */
#include "fuzz/lib/check.h"
#include "fuzz/lib/producer.h"
#include "kernel/lifecycle/requeue.h"

typedef __int128 wide;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t take_time(struct producer *p)
{
    uint8_t shift = producer_byte(p) % 63;
    uint64_t raw = (uint64_t)producer_int64(p) >> 1 >> shift;
    return raw > (uint64_t)SL_TIME_MAX ? SL_TIME_MAX : (int64_t)raw;
}

static wide reference(int64_t base, int64_t cap, uint32_t n)
{
    if (n == 1 || base == 0) {
        return base;
    }
    wide delay = n - 1 > 63 ? (wide)SL_TIME_MAX * 2 : (wide)base << (n - 1);
    return delay < cap ? delay : cap;
}

static void step(struct producer *p)
{
    int64_t base = take_time(p);
    int64_t cap = take_time(p);
    uint32_t n = (uint32_t)producer_int64(p) >> producer_byte(p) % 32;
    uint32_t ppm = producer_below(p, SL_JITTER_PPM_MAX + 1);
    int64_t limit = producer_int64(p);
    n = n == 0 ? 1 : n;

    wide plain = reference(base, cap, n);
    wide jittered = plain + plain * ppm / 1000000;
    int64_t delay = sl_requeue_delay_ms(base, cap, n, ppm);
    CHECK(delay == (jittered > SL_TIME_MAX ? SL_TIME_MAX : jittered));
    CHECK(sl_requeue_check_delay_s(base, cap, n - 1) == plain);
    if (base <= cap && n < UINT32_MAX) {
        CHECK(sl_requeue_delay_ms(base, cap, n + 1, ppm) >= delay);
    }
    CHECK(sl_requeue_limit_reached(n, limit) == (limit >= 0 && (wide)n + 1 > limit));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer program = {data, size}, p;
    while (producer_event(&program, &p)) {
        step(&p);
    }
    return 0;
}
