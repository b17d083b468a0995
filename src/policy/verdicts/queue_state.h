/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the state of its queues means for a workload: whether it is queued, what becomes of its
 * record, and by which time it is ordered. Pure functions of what the caller has seen; owns nothing. */
#ifndef SL_POLICY_QUEUE_STATE_H
#define SL_POLICY_QUEUE_STATE_H
#include "kernel/base/types.h"

enum sl_stop { SL_STOP_NONE, SL_STOP_HOLD, SL_STOP_DRAIN }; /* spec.stopPolicy */

/* A LocalQueue and the ClusterQueue it names, as far as both are known. */
struct sl_queue_sight {
    bool local_exists;
    bool local_deleting;
    enum sl_stop local_stop;
    bool named; /* the LocalQueue names a ClusterQueue; else what follows does not count */
    bool exists;
    bool deleting;
    bool active; /* it can be used as it is */
    enum sl_stop stop;
};
/* What its own record and object are like. */
struct sl_own_sight {
    bool check_objects; /* an admission check asks to retry or has rejected it */
    bool unusable;      /* its object cannot be used */
    bool oversized;     /* it asks for more than any quota can be */
};

/* Why a workload cannot be queued: the first reason of these. */
enum sl_obstacle {
    SL_OBSTACLE_NONE,
    SL_OBSTACLE_LOCAL_MISSING,
    SL_OBSTACLE_LOCAL_DELETED, /* it is being deleted */
    SL_OBSTACLE_LOCAL_STOPPED,
    SL_OBSTACLE_UNNAMED, /* the LocalQueue names no ClusterQueue */
    SL_OBSTACLE_QUEUE_MISSING,
    SL_OBSTACLE_QUEUE_STOPPED, /* or is being deleted */
    SL_OBSTACLE_QUEUE_INACTIVE,
    SL_OBSTACLE_CHECK, /* the kernel would refuse any reservation, and in line it would be in the way of its like */
    SL_OBSTACLE_OVERSIZED,
    SL_OBSTACLE_OBJECT
};

/*@
  logic integer QueueObstacle(struct sl_queue_sight s) =
      !s.local_exists ? SL_OBSTACLE_LOCAL_MISSING
    : s.local_deleting ? SL_OBSTACLE_LOCAL_DELETED
    : s.local_stop != SL_STOP_NONE ? SL_OBSTACLE_LOCAL_STOPPED
    : !s.named ? SL_OBSTACLE_UNNAMED
    : !s.exists ? SL_OBSTACLE_QUEUE_MISSING
    : s.deleting || s.stop != SL_STOP_NONE ? SL_OBSTACLE_QUEUE_STOPPED
    : !s.active ? SL_OBSTACLE_QUEUE_INACTIVE
    : SL_OBSTACLE_NONE;
  logic integer OwnObstacle(struct sl_own_sight s) =
      s.check_objects ? SL_OBSTACLE_CHECK
    : !s.unusable ? SL_OBSTACLE_NONE
    : s.oversized ? SL_OBSTACLE_OVERSIZED : SL_OBSTACLE_OBJECT;
  // Stopped or deleted: the workload loses what is reserved for it.
  predicate LosesPlace(integer o) = SL_OBSTACLE_LOCAL_MISSING <= o <= SL_OBSTACLE_QUEUE_STOPPED;
*/

/* That of the queues comes first. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == QueueObstacle(queues);
*/
enum sl_obstacle sl_queue_state_of_queues(struct sl_queue_sight queues);
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  queues:    QueueObstacle(queues) != SL_OBSTACLE_NONE ==> \result == QueueObstacle(queues);
  ensures  own:       QueueObstacle(queues) == SL_OBSTACLE_NONE ==> \result == OwnObstacle(own);
*/
enum sl_obstacle sl_queue_state_judge(struct sl_queue_sight queues, struct sl_own_sight own);

/* What is to be done about a workload that cannot be queued. */
enum sl_queue_step {
    SL_QUEUE_STEP_NONE,
    SL_QUEUE_STEP_REFUSE,   /* its record gets the reason; it holds nothing */
    SL_QUEUE_STEP_UNUSABLE, /* its record gets the reason, and loses a reservation */
    SL_QUEUE_STEP_SAY       /* its record stays; the new words are said */
};
struct sl_queue_verdict {
    enum sl_queue_step step;
    enum sl_pending_reason reason; /* why it waits from now on */
};

/* The reason of an obstacle. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  known:     \result == SL_PENDING_SUSPENDED || \result == SL_PENDING_MISCONFIGURED ||
                      \result == SL_PENDING_EXCEEDS_MAX_QUOTA || \result == SL_PENDING_EVALUATION;
  ensures  suspended: \result == SL_PENDING_SUSPENDED <==> o == SL_OBSTACLE_LOCAL_STOPPED ||
                      o == SL_OBSTACLE_QUEUE_STOPPED || o == SL_OBSTACLE_QUEUE_INACTIVE;
  ensures  large:     \result == SL_PENDING_EXCEEDS_MAX_QUOTA <==> o == SL_OBSTACLE_OVERSIZED;
  ensures  check:     \result == SL_PENDING_EVALUATION <==> o == SL_OBSTACLE_CHECK;
*/
enum sl_pending_reason sl_queue_state_reason(enum sl_obstacle o);

/*@
  predicate WaitsInLine(struct sl_workload *w) =
    w->phase == SL_PHASE_PENDING && w->active && !w->gated && !w->on_hold;
*/

/* `said`: its condition has these words already. */
/*@
  requires record:    \valid_read(w);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  lost:      w->phase == SL_PHASE_QUOTA_RESERVED && LosesPlace(o) ==>
                      \result.step == SL_QUEUE_STEP_UNUSABLE;
  ensures  kept:      !(w->phase == SL_PHASE_QUOTA_RESERVED && LosesPlace(o)) && !WaitsInLine(w) ==>
                      \result.step == SL_QUEUE_STEP_NONE;
  ensures  news:      WaitsInLine(w) && w->pending_reason != \result.reason ==>
                      (\result.step == SL_QUEUE_STEP_REFUSE || \result.step == SL_QUEUE_STEP_UNUSABLE);
  ensures  said:      WaitsInLine(w) && w->pending_reason == \result.reason ==>
                      \result.step == (said || o == SL_OBSTACLE_CHECK ? SL_QUEUE_STEP_NONE
                                                                      : SL_QUEUE_STEP_SAY);
*/
struct sl_queue_verdict sl_queue_state_unusable(const struct sl_workload *w, enum sl_obstacle o,
                                                bool said);

/* It can be queued. Was it evicted as its queue stopped, so that it may be queued again? */
/*@
  requires record:    \valid_read(w);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result <==> w->requeued == SL_REQUEUED_FALSE && w->active &&
                      (w->evicted == SL_EVICT_CLUSTER_QUEUE_STOPPED ||
                       w->evicted == SL_EVICT_LOCAL_QUEUE_STOPPED);
*/
bool sl_queue_state_restarts(const struct sl_workload *w);
/* Does it wait with a reason that was that of its queues, and is so no longer? `outsider`: it is one
 * (outsiders.h) and its condition says so: then Misconfigured is still the reason. */
/*@
  requires record:    \valid_read(w);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result <==> WaitsInLine(w) &&
                      (w->pending_reason == SL_PENDING_SUSPENDED ||
                       (w->pending_reason == SL_PENDING_MISCONFIGURED && !outsider));
*/
bool sl_queue_state_is_over(const struct sl_workload *w, bool outsider);

/* Why an admitted workload is to be evicted: the ClusterQueue whose quota it holds is drained, or the
 * LocalQueue that it names; SL_EVICT_NONE = it stays. SL_STOP_NONE for what does not exist. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  queue:     \result == SL_EVICT_CLUSTER_QUEUE_STOPPED <==> held == SL_STOP_DRAIN;
  ensures  local:     \result == SL_EVICT_LOCAL_QUEUE_STOPPED <==>
                      held != SL_STOP_DRAIN && local == SL_STOP_DRAIN;
  ensures  stays:     \result == SL_EVICT_NONE <==> held != SL_STOP_DRAIN && local != SL_STOP_DRAIN;
*/
enum sl_evict_reason sl_queue_state_drains(enum sl_stop held, enum sl_stop local);

/*@
  logic integer ToSecond(integer ms) = ms - ms % 1000;
*/

/* The time by which it is ordered in its queue, ms (Kueue's GetQueueOrderTimestamp): that of its creation, or of the eviction
 * that sends it to the back, to the second as its object says it: after a restart nothing else is
 * known. Without priorities among queues, one that a borrower has preempted comes just behind the
 * borrower: else they would take turns for ever. */
/*@
  requires record:    \valid_read(w);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  never:     w->evicted_at_ms == SL_NEVER ==> \result == created_ms;
  ensures  back:      w->evicted_at_ms != SL_NEVER &&
                      (w->evicted == SL_EVICT_ADMISSION_CHECK ||
                       (w->evicted == SL_EVICT_PODS_READY_TIMEOUT && at_eviction)) ==>
                      \result == ToSecond(w->evicted_at_ms);
  ensures  among:     \result == created_ms || \result == ToSecond(w->evicted_at_ms) ||
                      \result == ToSecond(w->evicted_at_ms) + 1;
*/
int64_t sl_queue_state_queued_at_ms(const struct sl_workload *w, int64_t created_ms,
                                    bool at_eviction, bool priority_within_cohort);
#endif
