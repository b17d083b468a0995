/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: the arithmetic of kernel/lifecycle/requeue.h, and a workload whose pods are late again and again, through
 * sl_lifecycle_apply: evicted, stopped, waiting, queued again, or deactivated at the limit.
 * Oracle: the formulas in 128-bit arithmetic, computed in one step instead of by doubling; delays never shrink; what the
 * record says of count, time and cause is what the rules say; nobody is queued again before that time, and at that time it is.
 * Input: events of base (8 bytes), cap (8), n (4), jitter (1), limit (8); each brought into its bounds, small or large by
 * one byte in front of it. */
#include "fuzz/lib/check.h"
#include "fuzz/lib/producer.h"
#include "kernel/lifecycle/lifecycle.h"

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
    sl_requeue_configure((struct sl_requeue_rules){limit >= 0, (uint32_t)limit, base, cap});
    CHECK(sl_requeue_ruled_out(n) == (limit >= 0 && n >= (uint32_t)limit));
    CHECK(sl_requeue_ruled_delay_ms(n - 1, ppm) == delay);
    CHECK(sl_requeue_ruled_delay_ms(UINT32_MAX, 0) == reference(base, cap, UINT32_MAX));
}

/* A time out of bounds counts as none. */
static void configure_badly(struct producer *p)
{
    struct sl_requeue_rules rules = {.base_ms = producer_int64(p), .ms_max = producer_int64(p)};
    bool bad = rules.base_ms < 0 || rules.base_ms > SL_TIME_MAX;
    sl_requeue_configure(rules);
    CHECK(!bad || sl_requeue_ruled_delay_ms(0, 0) == 0);
    CHECK(sl_requeue_ruled_delay_ms(3, 0) <= SL_TIME_MAX);
}

/* --- a workload whose pods are late ------------------------------------------------------------- */

enum { LATE = 3 };
static int64_t now_ms;

static enum sl_status tell(enum sl_event_kind kind, uint32_t index)
{
    struct sl_event ev = {.kind = kind,
                          .workload = LATE,
                          .generation = sl_workloads[LATE].generation,
                          .index = index,
                          .now_ms = now_ms};
    enum sl_status status = sl_lifecycle_apply(ev);
    CHECK(sl_lifecycle_valid(LATE));
    return status;
}

/* What a restart may find on its reservation. */
static void find_target(uint32_t cause)
{
    struct sl_event ev = {.kind = SL_EV_RESTORE_TARGET,
                          .workload = LATE,
                          .generation = sl_workloads[LATE].generation,
                          .reason = cause,
                          .now_ms = now_ms};
    CHECK((sl_lifecycle_apply(ev) == SL_OK) == (cause > SL_CAUSE_NONE && cause < SL_CAUSES));
    CHECK(sl_workloads[LATE].deactivation == (cause < SL_CAUSES ? cause : SL_CAUSE_NONE));
}

/* It was evicted: it is queued again when its time has come, and not before. */
static void check_wait(void)
{
    struct sl_workload *w = &sl_workloads[LATE];
    int64_t at_ms = w->requeue_at_ms;
    CHECK(tell(SL_EV_JOB_STOPPED, 0) == SL_OK && w->requeued == SL_REQUEUED_FALSE);
    if (at_ms > now_ms) {
        now_ms = at_ms - 1;
        CHECK(tell(SL_EV_BACKOFF_OVER, 0) != SL_OK && tell(SL_EV_RESERVE, 0) != SL_OK);
    }
    now_ms = at_ms > now_ms ? at_ms : now_ms;
    CHECK(tell(SL_EV_BACKOFF_OVER, 0) == SL_OK && w->requeued == SL_REQUEUED_TRUE);
}

/* By the rules that were configured last. */
static void be_late(uint32_t ppm)
{
    struct sl_workload *w = &sl_workloads[LATE];
    struct sl_requeue_rules rules = sl_requeue_rules;
    uint32_t count = w->requeue_count;
    if (ppm > SL_JITTER_PPM_MAX) {
        CHECK(tell(SL_EV_RESERVE, ppm % 2) == SL_OK); /* its topology may be pending */
        CHECK(tell(SL_EV_PODS_READY_TIMEOUT, ppm) == SL_REFUSED_BAD_ARGUMENT);
        find_target(ppm - SL_JITTER_PPM_MAX - 1);
        CHECK(tell(SL_EV_WRITE_FAILED, 0) == SL_OK);
        CHECK(tell(SL_EV_DEACTIVATE, 0) == SL_OK && tell(SL_EV_REACTIVATE, 0) == SL_OK);
        return;
    }
    CHECK(tell(SL_EV_RESERVE, 0) == SL_OK);
    CHECK(tell(SL_EV_PODS_READY_TIMEOUT, ppm) == SL_OK);
    if (rules.limited && count >= rules.count_max) {
        CHECK(w->phase == SL_PHASE_ADMITTED && w->deactivation == SL_CAUSE_REQUEUING_LIMIT);
        CHECK(tell(SL_EV_DEACTIVATE, 0) == SL_OK && tell(SL_EV_JOB_STOPPED, 0) == SL_OK);
        CHECK(tell(SL_EV_REACTIVATE, 0) == SL_OK && w->requeue_count == 0);
        return;
    }
    wide plain = reference(rules.base_ms, rules.ms_max, count + 1);
    wide delay = plain + plain * ppm / 1000000;
    wide at = now_ms + (delay > SL_TIME_MAX ? SL_TIME_MAX : delay);
    CHECK(w->phase == SL_PHASE_EVICTED && w->requeue_count == count + 1);
    CHECK(w->requeue_at_ms == (at > SL_TIME_MAX ? SL_TIME_MAX : at));
    check_wait();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer program = {data, size}, p;
    now_ms = 0;
    CHECK(tell(SL_EV_CREATE, 0) == SL_OK);
    while (producer_event(&program, &p)) {
        step(&p);
        uint32_t how = producer_byte(&p);
        if (how == UINT8_MAX) {
            configure_badly(&p);
        } else {
            be_late(how % (SL_JITTER_PPM_MAX + 1 + SL_CAUSES + 2));
        }
    }
    CHECK(tell(SL_EV_DELETE, 0) == SL_OK);
    return 0;
}
