/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A workload's record as the harnesses see it: any, sound, the same; what its words mean is said here once more. */
#ifndef SL_SPECS_CBMC_RECORD_H
#define SL_SPECS_CBMC_RECORD_H
#include "kernel/base/types.h"
#include "kernel/base/reasons.h"

struct sl_workload nondet_workload(void);
struct sl_event nondet_event(void);

static bool is_time(int64_t t)
{
    return t >= 0 && t <= SL_TIME_MAX;
}

static bool is_time_or_never(int64_t t)
{
    return t == SL_NEVER || is_time(t);
}

static bool reserved(enum sl_phase p)
{
    return p == SL_PHASE_QUOTA_RESERVED || p == SL_PHASE_ADMITTED || p == SL_PHASE_EVICTED;
}

static bool holds(const struct sl_workload *w)
{
    return reserved(w->phase) && w->active;
}

static bool ready(const struct sl_workload *w)
{
    bool all = true;
    for (uint32_t i = 0; i < w->check_count; i++) {
        all = all && w->checks[i].state == SL_CHECK_READY;
    }
    return all;
}

static bool needs_pass(const struct sl_workload *w)
{
    return holds(w) && !w->on_hold &&
           ((w->phase == SL_PHASE_QUOTA_RESERVED && w->topology_pending && ready(w)) ||
            (w->phase == SL_PHASE_ADMITTED && w->unhealthy_count > 0));
}

static bool sound_fields(const struct sl_workload *w)
{
    return w->generation < UINT32_MAX && (uint32_t)w->phase <= SL_PHASE_FINISHED &&
           (uint32_t)w->pending_reason < SL_PENDING_REASONS &&
           (uint32_t)w->evicted < SL_EVICT_REASONS && (uint32_t)w->preempted < SL_PREEMPT_REASONS &&
           (uint32_t)w->deactivation < SL_CAUSES && (uint32_t)w->finished < SL_FINISH_REASONS &&
           (uint32_t)w->requeued <= SL_REQUEUED_FALSE &&
           (uint32_t)w->requeue_reason < SL_REQUEUE_REASONS &&
           (uint32_t)w->pods_ready <= SL_PODS_RECOVERED && is_time_or_never(w->requeue_at_ms) &&
           is_time_or_never(w->reserved_at_ms) && is_time_or_never(w->admitted_at_ms) &&
           is_time_or_never(w->evicted_at_ms) && is_time_or_never(w->pods_ready_at_ms) &&
           is_time(w->accumulated_ms) && is_time(w->execution_ms_max) &&
           w->check_count <= SL_CHECKS_MAX && w->unhealthy_count <= SL_UNHEALTHY_MAX;
}

static bool sound_checks(const struct sl_workload *w)
{
    bool good = true;
    for (uint32_t i = 0; i < w->check_count; i++) {
        good = good && (uint32_t)w->checks[i].state <= SL_CHECK_REJECTED &&
               is_time(w->checks[i].retry_after_ms);
        for (uint32_t j = 0; j < i; j++) {
            good = good && w->checks[i].check != w->checks[j].check;
        }
    }
    return good;
}

/* What a phase says about the rest of the record. */
static bool sound_phase(const struct sl_workload *w)
{
    bool runs = w->phase == SL_PHASE_QUOTA_RESERVED || w->phase == SL_PHASE_ADMITTED;
    return (!reserved(w->phase) || w->has_admission) &&
           (w->phase != SL_PHASE_PENDING || !w->has_admission) &&
           (w->phase != SL_PHASE_ADMITTED || (w->was_admitted && !w->topology_pending)) &&
           (w->phase != SL_PHASE_QUOTA_RESERVED ||
            (!w->was_admitted && (w->topology_pending || !ready(w)))) &&
           (!w->was_admitted || w->has_admission) &&
           w->has_admission == (w->reserved_at_ms != SL_NEVER) &&
           w->was_admitted == (w->admitted_at_ms != SL_NEVER) &&
           (!w->topology_pending || w->phase == SL_PHASE_QUOTA_RESERVED ||
            w->phase == SL_PHASE_EVICTED) &&
           (w->unhealthy_count == 0 || w->phase == SL_PHASE_ADMITTED) &&
           (!runs || (w->active && !w->on_hold && w->evicted == SL_EVICT_NONE)) &&
           (w->phase != SL_PHASE_EVICTED || w->evicted != SL_EVICT_NONE);
}

static bool sound(const struct sl_workload *w)
{
    return w->phase == SL_PHASE_ABSENT ||
           (sound_fields(w) && sound_checks(w) && sound_phase(w) &&
            (w->evicted != SL_EVICT_NONE) == (w->evicted_at_ms != SL_NEVER) &&
            (w->preempted == SL_PREEMPT_NONE || w->evicted == SL_EVICT_PREEMPTED) &&
            (w->phase == SL_PHASE_FINISHED) == (w->finished != SL_FINISH_NONE) &&
            (w->active || (w->requeue_count == 0 && w->requeue_at_ms == SL_NEVER)) &&
            (w->requeued == SL_REQUEUED_TRUE) == (w->requeue_reason != SL_REQUEUE_NONE));
}

static bool same(const struct sl_workload *a, const struct sl_workload *b)
{
    bool all =
        a->generation == b->generation && a->phase == b->phase && a->active == b->active &&
        a->on_hold == b->on_hold && a->gated == b->gated && a->has_admission == b->has_admission &&
        a->was_admitted == b->was_admitted && a->topology_pending == b->topology_pending &&
        a->pending_reason == b->pending_reason && a->evicted == b->evicted &&
        a->preempted == b->preempted && a->deactivation == b->deactivation &&
        a->finished == b->finished && a->requeued == b->requeued &&
        a->requeue_reason == b->requeue_reason && a->pods_ready == b->pods_ready &&
        a->requeue_count == b->requeue_count && a->requeue_at_ms == b->requeue_at_ms &&
        a->reserved_at_ms == b->reserved_at_ms && a->admitted_at_ms == b->admitted_at_ms &&
        a->evicted_at_ms == b->evicted_at_ms && a->pods_ready_at_ms == b->pods_ready_at_ms &&
        a->accumulated_ms == b->accumulated_ms && a->execution_ms_max == b->execution_ms_max &&
        a->eviction_count == b->eviction_count && a->check_count == b->check_count &&
        a->unhealthy_count == b->unhealthy_count;
    for (uint32_t i = 0; i < SL_CHECKS_MAX; i++) {
        all = all && a->checks[i].check == b->checks[i].check &&
              a->checks[i].state == b->checks[i].state &&
              a->checks[i].retry_count == b->checks[i].retry_count &&
              a->checks[i].retry_after_ms == b->checks[i].retry_after_ms;
    }
    for (uint32_t i = 0; i < SL_UNHEALTHY_MAX; i++) {
        all = all && a->unhealthy[i] == b->unhealthy[i];
    }
    return all;
}
#endif
