/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Any sound record and any event (G1, G5, G7, G9, G12). What may follow is said here once more, from
 * docs/lifecycle.md by hand: neither model/lifecycle.def nor the contracts are looked at. */
#include "kernel/lifecycle/lifecycle.h"
#include "specs/cbmc/look.h"
#include "specs/cbmc/record.h"

/* Phases as bits. */
#define P (1u << SL_PHASE_PENDING)
#define R (1u << SL_PHASE_QUOTA_RESERVED)
#define A (1u << SL_PHASE_ADMITTED)
#define E (1u << SL_PHASE_EVICTED)
#define F (1u << SL_PHASE_FINISHED)
#define GONE (1u << SL_PHASE_ABSENT)

/* Where each event may lead: from absent, pending, reserved, admitted, evicted, finished. */
static const uint8_t ways[SL_EVENT_COUNT][6] = {
    [SL_EV_CREATE] = {P, 0, 0, 0, 0, 0},
    [SL_EV_RESERVE] = {0, R | A, 0, 0, 0, 0},
    [SL_EV_WRITE_FAILED] = {0, 0, P, P, 0, 0},
    [SL_EV_REFUSE] = {0, P, 0, 0, 0, 0},
    [SL_EV_CHECK_ADD] = {0, P, R, A, E, 0},
    [SL_EV_CHECK_DROP] = {0, P, R | A, A, E, 0},
    [SL_EV_CHECK_STATE] = {0, P, R | A | E, A | E, E, 0},
    [SL_EV_PODS_READY] = {0, 0, 0, A, E, 0},
    [SL_EV_PODS_READY_TIMEOUT] = {0, 0, 0, A | E, 0, 0},
    [SL_EV_EXECUTION_TIMEOUT] = {0, 0, 0, A, 0, 0},
    [SL_EV_DRAIN] = {0, 0, 0, E, 0, 0},
    [SL_EV_QUEUE_UNUSABLE] = {0, P, P, 0, 0, 0},
    [SL_EV_QUEUE_RESTARTED] = {0, P, 0, 0, 0, 0},
    [SL_EV_PREEMPT] = {0, 0, E, E, 0, 0},
    [SL_EV_JOB_STOPPED] = {0, 0, 0, 0, P, 0},
    [SL_EV_DEACTIVATE] = {0, P, E, E, E, 0},
    [SL_EV_REACTIVATE] = {0, P, 0, 0, 0, 0},
    [SL_EV_BACKOFF_OVER] = {0, P, 0, 0, 0, 0},
    [SL_EV_HOLD] = {0, P, P, P, E, 0},
    [SL_EV_UNHOLD] = {0, P, 0, 0, E, 0},
    [SL_EV_GATE] = {0, P, R, A, E, 0},
    [SL_EV_UNGATE] = {0, P, R, A, E, 0},
    [SL_EV_RESCALE] = {0, P, R, A, E, 0},
    [SL_EV_NODE_FAILED] = {0, 0, 0, A | E, 0, 0},
    [SL_EV_NODE_RECOVERED] = {0, 0, 0, A, 0, 0},
    [SL_EV_SECOND_PASS_FIT] = {0, 0, A, A, 0, 0},
    [SL_EV_SECOND_PASS_MISS] = {0, 0, R, A | E, 0, 0},
    [SL_EV_FINISH] = {0, F, F, F, F, 0},
    [SL_EV_QUEUE_MOVED] = {0, P, 0, 0, 0, 0},
    [SL_EV_DELETE] = {0, GONE, GONE, GONE, GONE, GONE},
    [SL_EV_RESTORE_REQUEUE] = {0, P, 0, 0, 0, 0},
    [SL_EV_RESTORE_EVICTED] = {0, P, E, E, 0, 0},
    [SL_EV_RESTORE_TARGET] = {0, 0, R, A, 0, 0},
};

static void claim_quota(const struct sl_workload *was, const struct sl_workload *is,
                        enum sl_event_kind kind)
{
    bool ends = kind == SL_EV_WRITE_FAILED || kind == SL_EV_QUEUE_UNUSABLE || kind == SL_EV_HOLD ||
                kind == SL_EV_JOB_STOPPED || kind == SL_EV_DEACTIVATE || kind == SL_EV_FINISH ||
                kind == SL_EV_DELETE;
    USAGE(!holds(is) || holds(was) || kind == SL_EV_RESERVE,
          "quota is only taken by a reservation");
    USAGE(holds(is) || !holds(was) || ends, "quota is only given back by what ends a reservation");
    USAGE(kind != SL_EV_DEACTIVATE || !holds(is), "who is not active holds nothing");
    USAGE(is->phase != SL_PHASE_ADMITTED || was->phase == SL_PHASE_ADMITTED ||
              (ready(is) && !is->topology_pending),
          "admitted when every check is ready and the topology is there");
}

static void claim_eviction(const struct sl_workload *was, const struct sl_workload *is,
                           int64_t now_ms)
{
    bool evicted = is->phase == SL_PHASE_EVICTED && was->phase != SL_PHASE_EVICTED;
    USAGE(!evicted || is->eviction_count != was->eviction_count ||
              was->eviction_count == UINT32_MAX,
          "counted");
    USAGE(was->phase != SL_PHASE_EVICTED || is->eviction_count == was->eviction_count,
          "nobody is evicted twice");
    if (evicted) {
        USAGE(is->evicted != SL_EVICT_NONE && is->evicted_at_ms == now_ms,
              "the eviction has a reason and a time");
        USAGE(is->unhealthy_count == 0, "failed nodes are forgotten");
        for (uint32_t i = 0; i < is->check_count; i++) {
            USAGE(is->checks[i].state == SL_CHECK_PENDING, "checks start again");
        }
    }
}

static void claim_requeue(const struct sl_workload *was, const struct sl_workload *is,
                          struct sl_event ev)
{
    bool forgets = ev.kind == SL_EV_DEACTIVATE || ev.kind == SL_EV_BACKOFF_OVER ||
                   ev.kind == SL_EV_RESTORE_REQUEUE;
    USAGE(forgets || is->requeue_at_ms >= was->requeue_at_ms, "requeueAt only moves forward");
    USAGE(forgets || is->requeue_count >= was->requeue_count,
          "evictions for readiness stay counted");
    USAGE(was->deactivation == SL_CAUSE_NONE || is->deactivation == was->deactivation ||
              ev.kind == SL_EV_REACTIVATE,
          "the first cause of a deactivation stays");
    if (ev.kind == SL_EV_PODS_READY_TIMEOUT) {
        bool limit = sl_requeue_ruled_out(was->requeue_count);
        USAGE((is->phase == SL_PHASE_EVICTED) == !limit, "evicted below the limit of requeuing");
        USAGE(!limit || is->deactivation == SL_CAUSE_REQUEUING_LIMIT,
              "marked with the cause at the limit");
    }
}

/* Of requeue.c, which has a unit of its own: any delay, and the limit as it is configured. */
struct sl_requeue_rules sl_requeue_rules;

void sl_requeue_configure(struct sl_requeue_rules rules)
{
    sl_requeue_rules = rules;
}

int64_t sl_requeue_ruled_delay_ms(uint32_t count, uint32_t jitter_ppm)
{
    int64_t delay_ms = nondet_int64();
    (void)count;
    (void)jitter_ppm;
    ASSUME(delay_ms >= 0 && delay_ms <= SL_TIME_MAX);
    return delay_ms;
}

bool sl_requeue_ruled_out(uint32_t count)
{
    return sl_requeue_rules.limited && count >= sl_requeue_rules.count_max;
}

void look_lifecycle(void)
{
    struct sl_workload was = nondet_workload(), *is = &sl_workloads[0];
    struct sl_event ev = nondet_event();
    ASSUME(sound(&was) && ev.workload == 0);
    sl_workloads[0] = was;
    sl_requeue_configure((struct sl_requeue_rules){nondet_uint8() % 2 != 0, nondet_uint32(),
                                                   nondet_int64(), nondet_int64()});
    bool owed = needs_pass(&was);
    if (sl_lifecycle_apply(ev) != SL_OK) {
        USAGE(same(&was, is), "a refusal has no effect");
        return;
    }
    USAGE(ev.kind < SL_EVENT_COUNT && ev.generation == was.generation, "nothing late is applied");
    USAGE(ways[ev.kind][was.phase] & 1u << is->phase, "a way of the table");
    USAGE(sound(is), "the record stays sound");
    USAGE(is->generation == ev.generation + (ev.kind == SL_EV_DELETE),
          "a deleted incarnation does not come back");
    USAGE((ev.kind != SL_EV_SECOND_PASS_FIT && ev.kind != SL_EV_SECOND_PASS_MISS) || owed,
          "a second pass was owed");
    if (ev.kind != SL_EV_CREATE && ev.kind != SL_EV_DELETE) {
        claim_eviction(&was, is, ev.now_ms);
        claim_requeue(&was, is, ev);
    }
    claim_quota(&was, is, ev.kind);
}
