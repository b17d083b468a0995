/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: what policy decides on plain values (policy/verdicts, and restraint.h).
 * Oracle: the same said in another way, in 128-bit arithmetic where it is about times; of places, that no domain gets
 * more than its count, and that nobody stays gated while one has a place left.
 * Input: events of a function (1 byte) and its values, small, large or at an end by one byte in front of each. */
#include "fuzz/lib/check.h"
#include "fuzz/lib/producer.h"
#include "policy/preemption/restraint.h"
#include "policy/verdicts/backoff.h"
#include "policy/verdicts/node_failure.h"
#include "policy/verdicts/pacing.h"
#include "policy/verdicts/pod_places.h"
#include "policy/verdicts/queue_state.h"
#include "policy/verdicts/variants.h"

#define ROWS 4u
#define PODS 8u
#define VARIANTS 5u

typedef __int128 wide;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t take(struct producer *p)
{
    static const int64_t ends[] = {INT64_MIN, -1, 0, 1, SL_TIME_MAX, SL_TIME_MAX + 1, INT64_MAX};
    uint8_t how = producer_byte(p);
    return how < 128   ? producer_byte(p)
           : how < 192 ? ends[how % 7]
                       : producer_byte(p) * ((int64_t)1 << how % 50);
}

static bool take_bool(struct producer *p)
{
    return producer_byte(p) & 1;
}

static wide least(wide a, wide b)
{
    return a < b ? a : b;
}

static wide doubled(wide base, wide cap, uint32_t n)
{
    return n == 1 || base == 0 ? base : n > 64 ? cap : least(base << (n - 1), cap);
}

static wide restraint(uint32_t times)
{
    return times <= 16 ? 0 : doubled(100, 3600000, times - 16);
}

static void check_restraint(struct producer *p)
{
    uint32_t times = (uint32_t)take(p);
    int64_t served_ms = take(p);
    bool preempted = take_bool(p);
    CHECK(sl_restraint_ms(times) == restraint(times));
    CHECK(sl_restraint_count(times) == least((wide)times + 1, UINT32_MAX));
    bool enough = served_ms >= 1000 && served_ms >= 4 * restraint(times);
    CHECK(sl_restraint_after_service(times, preempted, served_ms) ==
          (preempted && !enough ? times : 0));
}

static void check_pacing(struct producer *p)
{
    struct sl_pace pace = {.ready = take_bool(p),
                           .untried = take_bool(p),
                           .pending = (uint32_t)take(p),
                           .idle_cycles = (uint64_t)take(p),
                           .cycle_ms = take(p),
                           .woken_ms = take(p),
                           .pass_ms = take(p)};
    bool circles = pace.idle_cycles > 600 + 2 * (wide)pace.pending;
    wide due_ms = INT64_MAX;
    if (pace.ready && circles) {
        due_ms = least((wide)pace.cycle_ms + 100, INT64_MAX);
    } else if (pace.ready) {
        wide window_ms = least(pace.pending / 500, 100);
        due_ms = pace.untried ? INT64_MIN : least((wide)pace.woken_ms + window_ms, INT64_MAX);
    }
    CHECK(sl_pacing_due_ms(pace) ==
          (pace.pass_ms == SL_NEVER ? due_ms : least(due_ms, pace.pass_ms)));
}

static void check_node(struct producer *p)
{
    struct sl_node_sight s = {.one = take_bool(p),
                              .exists = take_bool(p),
                              .ready = (enum sl_ready)producer_below(p, 3),
                              .toleration = (enum sl_toleration)producer_below(p, 3),
                              .under_way = take_bool(p),
                              .lost = take_bool(p)};
    enum sl_node_verdict verdict = sl_node_failure_judge(s);
    bool silent = !s.exists || s.ready == SL_READY_UNSAID;
    bool bad = s.ready != SL_READY_YES || s.toleration != SL_TOLERATED;
    bool brief = s.ready == SL_READY_YES && s.toleration == SL_TOLERATED_FOR_A_TIME;
    bool failed = s.one && (silent || (bad && !s.under_way && (!brief || s.lost)));
    CHECK((verdict == SL_NODE_FAILED) == failed);
    CHECK((verdict == SL_NODE_GOOD) == (!s.one || (!silent && !bad)));
    struct sl_node_case c = {verdict,      take_bool(p), take_bool(p),
                             take_bool(p), take_bool(p), take_bool(p)};
    enum sl_node_step expected = SL_NODE_STEP_NONE;
    if (c.admitted && c.replaces) {
        bool mark = failed && !c.marked && !(c.single && c.skip_single);
        bool unmark = verdict == SL_NODE_GOOD && c.marked;
        expected = mark ? SL_NODE_STEP_MARK : unmark ? SL_NODE_STEP_UNMARK : SL_NODE_STEP_NONE;
    }
    CHECK(sl_node_failure_step(c) == expected);
}

static void check_backoff(struct producer *p)
{
    uint32_t count = (uint32_t)take(p);
    CHECK(sl_backoff_of_write_ms(count) == doubled(1000, 30000, count > 0 ? count : 1));
    CHECK(sl_backoff_jitter_ppm((uint64_t)take(p), (uint64_t)take(p), count) <= 100);
}

static void check_queues(struct producer *p)
{
    struct sl_queue_sight s = {.local_exists = take_bool(p),
                               .local_deleting = take_bool(p),
                               .local_stop = (enum sl_stop)producer_below(p, 3),
                               .named = take_bool(p),
                               .exists = take_bool(p),
                               .deleting = take_bool(p),
                               .active = take_bool(p),
                               .stop = (enum sl_stop)producer_below(p, 3)};
    struct sl_own_sight own = {take_bool(p), take_bool(p), take_bool(p)};
    /* What holds of each obstacle: the first one is the answer. */
    const bool holds[] = {[SL_OBSTACLE_LOCAL_MISSING] = !s.local_exists,
                          [SL_OBSTACLE_LOCAL_DELETED] = s.local_deleting,
                          [SL_OBSTACLE_LOCAL_STOPPED] = s.local_stop != SL_STOP_NONE,
                          [SL_OBSTACLE_UNNAMED] = !s.named,
                          [SL_OBSTACLE_QUEUE_MISSING] = !s.exists,
                          [SL_OBSTACLE_QUEUE_STOPPED] = s.deleting || s.stop != SL_STOP_NONE,
                          [SL_OBSTACLE_QUEUE_INACTIVE] = !s.active,
                          [SL_OBSTACLE_CHECK] = own.check_objects,
                          [SL_OBSTACLE_OVERSIZED] = own.unusable && own.oversized,
                          [SL_OBSTACLE_OBJECT] = own.unusable};
    enum sl_obstacle first = SL_OBSTACLE_LOCAL_MISSING;
    while (first <= SL_OBSTACLE_OBJECT && !holds[first]) {
        first++;
    }
    first = first > SL_OBSTACLE_OBJECT ? SL_OBSTACLE_NONE : first;
    CHECK(sl_queue_state_judge(s, own) == first);
    CHECK(sl_queue_state_of_queues(s) == (first < SL_OBSTACLE_CHECK ? first : SL_OBSTACLE_NONE));
    enum sl_evict_reason drained = sl_queue_state_drains(s.stop, s.local_stop);
    CHECK((drained == SL_EVICT_NONE) == (s.stop != SL_STOP_DRAIN && s.local_stop != SL_STOP_DRAIN));
}

static void check_record(struct producer *p)
{
    struct sl_workload w = {.phase = (enum sl_phase)producer_below(p, 6),
                            .active = take_bool(p),
                            .gated = take_bool(p),
                            .on_hold = take_bool(p),
                            .pending_reason = (enum sl_pending_reason)producer_below(p, 12),
                            .evicted = (enum sl_evict_reason)producer_below(p, 8),
                            .preempted = (enum sl_preempt_reason)producer_below(p, 6),
                            .requeued = (enum sl_requeued)producer_below(p, 3)};
    enum sl_obstacle o = (enum sl_obstacle)producer_below(p, 11);
    bool told = take_bool(p), outsider = take_bool(p);
    bool waits = w.phase == SL_PHASE_PENDING && w.active && !(w.gated || w.on_hold);
    struct sl_queue_verdict v = sl_queue_state_unusable(&w, o, told);
    bool loses = w.phase == SL_PHASE_QUOTA_RESERVED && o != SL_OBSTACLE_NONE &&
                 o < SL_OBSTACLE_QUEUE_INACTIVE;
    bool event = v.step == SL_QUEUE_STEP_REFUSE || v.step == SL_QUEUE_STEP_UNUSABLE;
    CHECK(v.reason == sl_queue_state_reason(o));
    CHECK(event == (loses || (waits && w.pending_reason != v.reason)));
    CHECK(!loses || v.step == SL_QUEUE_STEP_UNUSABLE);
    CHECK((v.step == SL_QUEUE_STEP_SAY) == (waits && !event && !told && o != SL_OBSTACLE_CHECK));
    bool restarts = sl_queue_state_restarts(&w);
    CHECK(!restarts || (w.active && w.requeued == SL_REQUEUED_FALSE));
    bool over = sl_queue_state_is_over(&w, outsider);
    CHECK(!over || (waits && (w.pending_reason == SL_PENDING_SUSPENDED || !outsider)));
    w.evicted_at_ms = take(p);
    int64_t created_ms = take(p);
    int64_t queued_ms = sl_queue_state_queued_at_ms(&w, created_ms, told, outsider);
    int64_t back_ms = w.evicted_at_ms - w.evicted_at_ms % 1000;
    CHECK(queued_ms == created_ms ||
          (w.evicted_at_ms != SL_NEVER && (queued_ms == back_ms || queued_ms == back_ms + 1)));
}

static void check_rank(struct producer *p)
{
    struct sl_pod_labels l = {take(p), take(p), take(p), take_bool(p), take(p), take(p)};
    int64_t rank = sl_pod_places_rank(l);
    CHECK(rank == SL_POD_NO_RANK || (rank >= 0 && rank < l.count));
    wide size = l.grouped && l.groups > 0 ? l.count / l.groups : 0;
    CHECK(rank == SL_POD_NO_RANK || rank == (wide)l.index + l.group * size * l.grouped - l.first);
    int64_t other = take(p);
    CHECK(sl_pod_places_behind(l.count, other, l.grouped) == (other < (wide)l.count + l.grouped));
}

static void check_lost(struct producer *p)
{
    uint8_t bits = producer_byte(p);
    struct sl_pinned_sight s = {bits & 1,  bits & 2,  bits & 4,  bits & 8,
                                bits & 16, bits & 32, bits & 64, bits & 128};
    bool off = s.placed && (!s.assigned || s.closed);
    bool stray = !s.placed && !s.decided && !s.gated && s.asks && s.node_known;
    CHECK(sl_pod_places_is_lost(s) == (s.known && (off || stray)));
}

static void check_places(struct producer *p)
{
    struct sl_pod_at pods[PODS];
    uint32_t counts[ROWS], in[ROWS] = {0}, given[ROWS] = {0}, rows[PODS], scratch[ROWS * 4];
    uint32_t row_count = producer_below(p, ROWS + 1);
    uint32_t n = producer_below(p, PODS + 1);
    uint32_t size = row_count + producer_below(p, ROWS * 4 - row_count + 1);
    for (uint32_t r = 0; r < row_count; r++) {
        counts[r] = producer_below(p, 4);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint8_t what = producer_byte(p);
        pods[i] = (struct sl_pod_at){what % 8 == 7   ? -1
                                     : what % 8 == 6 ? (int64_t)i
                                                     : what % 8,
                                     what & 8, what / 16u % 5 == 4 ? SL_NO_ID : what / 16u % 5};
        if (!pods[i].gated && pods[i].row < row_count) {
            in[pods[i].row]++;
        }
    }
    sl_pod_places_find(pods, n, counts, row_count, scratch, size, rows);
    bool left = false, capacity = false;
    for (uint32_t i = 0; i < n; i++) {
        CHECK(rows[i] == SL_NO_ID || (pods[i].gated && rows[i] < row_count));
        left = left || (pods[i].gated && rows[i] == SL_NO_ID);
        if (rows[i] != SL_NO_ID) {
            given[rows[i]]++;
        }
    }
    for (uint32_t r = 0; r < row_count; r++) {
        CHECK(given[r] == 0 || in[r] + given[r] <= counts[r]);
        capacity = capacity || in[r] + given[r] < counts[r];
    }
    CHECK(!left || !capacity);
}

static void take_variants(struct producer *p)
{
    sl_variant_sight_count = producer_below(p, VARIANTS + 1);
    for (uint32_t i = 0; i < sl_variant_sight_count; i++) {
        uint8_t bits = producer_byte(p);
        sl_variant_sights[i] = (struct sl_variant_sight){.active = bits & 1,
                                                         .given_up = bits & 2,
                                                         .admitted = bits & 4,
                                                         .waits = bits & 8,
                                                         .tried = bits & 16,
                                                         .gated = bits & 32,
                                                         .open = bits & 64,
                                                         .opened_ms = take(p)};
    }
}

/* All before one that is admitted may be wanted; of those whose gate is closed the first opens, once the last that was
 * opened has had its time and nobody untried comes before it. */
static void check_variants(struct producer *p)
{
    int64_t now_ms = take(p), limit = take(p);
    bool parent = take_bool(p);
    take_variants(p);
    const struct sl_variant_sight *s = sl_variant_sights;
    uint32_t first = SL_NO_ID, next = SL_NO_ID;
    bool held_up = false;
    wide rest = 0;
    for (uint32_t i = sl_variant_sight_count; i > 0; i--) {
        const struct sl_variant_sight *v = &s[i - 1];
        first = v->admitted ? i - 1 : first;
        if (v->waits && !v->open) {
            next = v->gated ? i - 1 : !v->tried ? SL_NO_ID : next;
        }
        wide left = (wide)v->opened_ms + SL_VARIANT_GATE_MS - now_ms;
        held_up = v->waits && v->open && v->opened_ms >= 0 && now_ms >= 0 && left > rest;
        rest = held_up ? least(left, SL_VARIANT_GATE_MS) : rest;
    }
    CHECK(sl_variants_admitted() == first);
    for (uint32_t i = 0; i < sl_variant_sight_count; i++) {
        bool may = first == SL_NO_ID || i == first || (i < first && i < (uint32_t)limit);
        CHECK(sl_variants_is_wanted(i, parent, (uint32_t)limit) ==
              (parent && !s[i].given_up && may));
    }
    CHECK(sl_variants_to_open(now_ms) == (rest == 0 ? next : SL_NO_ID));
    CHECK(sl_variants_gate_wait_ms(now_ms) == (next == SL_NO_ID ? 0 : rest));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const checks[])(struct producer *) = {check_restraint, check_pacing, check_node,
                                                        check_backoff,   check_queues, check_record,
                                                        check_rank,      check_places, check_lost};
    struct producer program = {data, size}, p;
    while (producer_event(&program, &p)) {
        uint8_t which = producer_byte(&p); /* the last ones are as many as seeds know */
        which < 252 ? checks[which % (sizeof checks / sizeof checks[0])](&p) : check_variants(&p);
    }
    return 0;
}
