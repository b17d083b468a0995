/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What queues mean for a workload: the queues first, then its own object. */
#include "policy/verdicts/queue_state.h"

enum sl_obstacle sl_queue_state_of_queues(struct sl_queue_sight queues)
{
    if (!queues.local_exists) {
        return SL_OBSTACLE_LOCAL_MISSING;
    }
    if (queues.local_deleting) {
        return SL_OBSTACLE_LOCAL_DELETED;
    }
    if (queues.local_stop != SL_STOP_NONE) {
        return SL_OBSTACLE_LOCAL_STOPPED;
    }
    if (!queues.named) {
        return SL_OBSTACLE_UNNAMED;
    }
    if (!queues.exists) {
        return SL_OBSTACLE_QUEUE_MISSING;
    }
    if (queues.deleting || queues.stop != SL_STOP_NONE) {
        return SL_OBSTACLE_QUEUE_STOPPED;
    }
    return queues.active ? SL_OBSTACLE_NONE : SL_OBSTACLE_QUEUE_INACTIVE;
}

enum sl_obstacle sl_queue_state_judge(struct sl_queue_sight queues, struct sl_own_sight own)
{
    enum sl_obstacle found = sl_queue_state_of_queues(queues);
    if (found != SL_OBSTACLE_NONE) {
        return found;
    }
    if (own.check_objects) {
        return SL_OBSTACLE_CHECK;
    }
    if (!own.unusable) {
        return SL_OBSTACLE_NONE;
    }
    return own.oversized ? SL_OBSTACLE_OVERSIZED : SL_OBSTACLE_OBJECT;
}

enum sl_pending_reason sl_queue_state_reason(enum sl_obstacle o)
{
    switch (o) {
    case SL_OBSTACLE_LOCAL_STOPPED:
    case SL_OBSTACLE_QUEUE_STOPPED:
    case SL_OBSTACLE_QUEUE_INACTIVE:
        return SL_PENDING_SUSPENDED;
    case SL_OBSTACLE_OVERSIZED:
        return SL_PENDING_EXCEEDS_MAX_QUOTA;
    case SL_OBSTACLE_CHECK:
        return SL_PENDING_EVALUATION;
    default:
        return SL_PENDING_MISCONFIGURED;
    }
}

/*@
  requires record:    \valid_read(w);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result <==> WaitsInLine(w);
*/
static bool waits_in_line(const struct sl_workload *w)
{
    return w->phase == SL_PHASE_PENDING && w->active && !w->gated && !w->on_hold;
}

struct sl_queue_verdict sl_queue_state_unusable(const struct sl_workload *w, enum sl_obstacle o,
                                                bool said)
{
    struct sl_queue_verdict v = {SL_QUEUE_STEP_NONE, sl_queue_state_reason(o)};
    bool unusable = o >= SL_OBSTACLE_LOCAL_MISSING && o <= SL_OBSTACLE_QUEUE_STOPPED;
    bool lost = w->phase == SL_PHASE_QUOTA_RESERVED && unusable;
    bool waits = waits_in_line(w);
    if (lost || (waits && w->pending_reason != v.reason)) {
        bool own = o == SL_OBSTACLE_OVERSIZED || o == SL_OBSTACLE_CHECK;
        v.step = own ? SL_QUEUE_STEP_REFUSE : SL_QUEUE_STEP_UNUSABLE;
    } else if (waits && o != SL_OBSTACLE_CHECK && !said) {
        v.step = SL_QUEUE_STEP_SAY; /* something else is missing by now */
    }
    return v;
}

bool sl_queue_state_restarts(const struct sl_workload *w)
{
    return w->requeued == SL_REQUEUED_FALSE && w->active &&
           (w->evicted == SL_EVICT_CLUSTER_QUEUE_STOPPED ||
            w->evicted == SL_EVICT_LOCAL_QUEUE_STOPPED);
}

bool sl_queue_state_is_over(const struct sl_workload *w, bool outsider)
{
    return waits_in_line(w) && (w->pending_reason == SL_PENDING_SUSPENDED ||
                                (w->pending_reason == SL_PENDING_MISCONFIGURED && !outsider));
}

enum sl_evict_reason sl_queue_state_drains(enum sl_stop held, enum sl_stop local)
{
    if (held == SL_STOP_DRAIN) {
        return SL_EVICT_CLUSTER_QUEUE_STOPPED;
    }
    return local == SL_STOP_DRAIN ? SL_EVICT_LOCAL_QUEUE_STOPPED : SL_EVICT_NONE;
}

int64_t sl_queue_state_queued_at_ms(const struct sl_workload *w, int64_t created_ms,
                                    bool at_eviction, bool priority_within_cohort)
{
    bool late = w->evicted == SL_EVICT_PODS_READY_TIMEOUT && at_eviction;
    bool behind_borrower =
        w->preempted == SL_PREEMPT_RECLAIM_WHILE_BORROWING && !priority_within_cohort;
    if (w->evicted_at_ms == SL_NEVER) {
        return created_ms;
    }
    int64_t told_ms = w->evicted_at_ms - w->evicted_at_ms % 1000;
    if (late || w->evicted == SL_EVICT_ADMISSION_CHECK) {
        return told_ms;
    }
    return behind_borrower ? told_ms + 1 : created_ms;
}
