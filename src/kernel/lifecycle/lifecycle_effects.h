/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a step writes into the record: the event's own news first, then the resets and the requeuing that its
 * row of the table names. Internal to the lifecycle; nothing here can fail. */
#ifndef SL_KERNEL_LIFECYCLE_EFFECTS_H
#define SL_KERNEL_LIFECYCLE_EFFECTS_H
#include "kernel/lifecycle/lifecycle_guard.h"
#include "specs/lifecycle_effects.acsl"

/* Record the event's own news. */
/*@
  requires ready:     GuardReady(ev);
  requires sound:     EventSound(ev);
  requires step:      KindSound(ev.kind, step) && StepSound(ev.kind, step);
  requires node:      NodeSound(ev, step);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].active, sl_workloads[ev.workload].on_hold,
                      sl_workloads[ev.workload].gated, sl_workloads[ev.workload].pending_reason,
                      sl_workloads[ev.workload].requeue_count,
                      sl_workloads[ev.workload].requeue_at_ms,
                      sl_workloads[ev.workload].preempted, sl_workloads[ev.workload].finished,
                      sl_workloads[ev.workload].deactivation,
                      sl_workloads[ev.workload].pods_ready,
                      sl_workloads[ev.workload].pods_ready_at_ms,
                      sl_workloads[ev.workload].topology_pending,
                      sl_workloads[ev.workload].unhealthy_count,
                      sl_workloads[ev.workload].unhealthy[0 .. SL_UNHEALTHY_MAX - 1],
                      sl_workloads[ev.workload].check_count,
                      sl_workloads[ev.workload].checks[0 .. SL_CHECKS_MAX - 1],
                      sl_workloads[ev.workload].accumulated_ms,
                      sl_workloads[ev.workload].evicted, sl_workloads[ev.workload].evicted_at_ms,
                      sl_workloads[ev.workload].requeued,
                      sl_workloads[ev.workload].requeue_reason;
  ensures  enums:     EnumsValid(ev.workload);
  ensures  times:     TimesValid(ev.workload);
  ensures  checks:    ChecksValid(ev.workload);
  ensures  done:      NoteDone{Pre,Post}(ev, step);
  ensures  noted:     ChecksNoted{Pre,Post}(ev);
  ensures  added:     ev.kind == SL_EV_CHECK_ADD ==> CheckAdded{Pre,Post}(ev.workload, ev.index);
  ensures  dropped:   ev.kind == SL_EV_CHECK_DROP ==> CheckDropped{Pre,Post}(ev.workload, ev.index);
  ensures  reported:  ev.kind == SL_EV_CHECK_STATE ==>
                        CheckReported{Pre,Post}(ev.workload, ev.index, ev.reason, ev.value);
  ensures  pending:   PendingNoted{Pre,Post}(ev);
  ensures  pods:      PodsNoted{Pre,Post}(ev);
  ensures  history:   HistoryNoted{Pre,Post}(ev, step);
*/
void sl_lifecycle_note(struct sl_event ev, enum sl_step step);

/* The part of it that is about admission checks. */
/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX;
  requires bounds:    EventBounds(ev) && CheckNamed(ev);
  requires checks:    ChecksValid(ev.workload);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].check_count,
                      sl_workloads[ev.workload].checks[0 .. SL_CHECKS_MAX - 1];
  ensures  checks:    ChecksValid(ev.workload);
  ensures  noted:     ChecksNoted{Pre,Post}(ev);
  ensures  added:     ev.kind == SL_EV_CHECK_ADD ==> CheckAdded{Pre,Post}(ev.workload, ev.index);
  ensures  dropped:   ev.kind == SL_EV_CHECK_DROP ==> CheckDropped{Pre,Post}(ev.workload, ev.index);
  ensures  reported:  ev.kind == SL_EV_CHECK_STATE ==>
                        CheckReported{Pre,Post}(ev.workload, ev.index, ev.reason, ev.value);
*/
void sl_lifecycle_note_checks(struct sl_event ev);

/* Row E: what every eviction resets. */
/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX && TimeValid(ev.now_ms);
  requires checks:    ChecksValid(ev.workload);
  requires reason:    reason != SL_EVICT_NONE;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].evicted, sl_workloads[ev.workload].evicted_at_ms,
                      sl_workloads[ev.workload].eviction_count,
                      sl_workloads[ev.workload].unhealthy_count,
                      sl_workloads[ev.workload].checks[0 .. SL_CHECKS_MAX - 1];
  ensures  row_e:     RowE{Pre,Post}(ev.workload, ev.now_ms);
  ensures  reason:    sl_workloads[ev.workload].evicted == reason;
  ensures  checks:    ChecksReset{Pre,Post}(ev.workload);
*/
void sl_lifecycle_evict(struct sl_event ev, enum sl_evict_reason reason);

/* A new reservation: eviction and failed nodes are history. */
/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].has_admission,
                      sl_workloads[ev.workload].reserved_at_ms,
                      sl_workloads[ev.workload].evicted, sl_workloads[ev.workload].evicted_at_ms,
                      sl_workloads[ev.workload].preempted,
                      sl_workloads[ev.workload].unhealthy_count;
  ensures  admission: sl_workloads[ev.workload].has_admission == 1 &&
                      sl_workloads[ev.workload].reserved_at_ms == ev.now_ms;
  ensures  history:   sl_workloads[ev.workload].evicted == SL_EVICT_NONE &&
                      sl_workloads[ev.workload].evicted_at_ms == SL_NEVER &&
                      sl_workloads[ev.workload].preempted == SL_PREEMPT_NONE &&
                      sl_workloads[ev.workload].unhealthy_count == 0;
*/
void sl_lifecycle_reserve(struct sl_event ev);

/* The reservation ends; the time it was admitted is added up when `counted`. */
/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX && TimeValid(ev.now_ms);
  requires times:     TimesValid(ev.workload);
  requires admitted:  sl_workloads[ev.workload].was_admitted == 1 ==>
                        sl_workloads[ev.workload].admitted_at_ms != SL_NEVER;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].has_admission,
                      sl_workloads[ev.workload].was_admitted,
                      sl_workloads[ev.workload].topology_pending,
                      sl_workloads[ev.workload].unhealthy_count,
                      sl_workloads[ev.workload].reserved_at_ms,
                      sl_workloads[ev.workload].admitted_at_ms,
                      sl_workloads[ev.workload].accumulated_ms,
                      sl_workloads[ev.workload].pods_ready,
                      sl_workloads[ev.workload].pods_ready_at_ms;
  ensures  released:  Released(ev.workload);
  ensures  run_time:  sl_workloads[ev.workload].accumulated_ms == (counted == 1 ?
                        TimeSum(\old(sl_workloads[ev.workload].accumulated_ms),
                                RunTime{Pre}(ev.workload, ev.now_ms)) :
                        \old(sl_workloads[ev.workload].accumulated_ms));
*/
void sl_lifecycle_release(struct sl_event ev, bool counted);

/* A record as new, for the generation it has. */
/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload];
  ensures  fresh:     Fresh(ev.workload);
  ensures  limit:     sl_workloads[ev.workload].execution_ms_max == ev.value;
  ensures  slot:      sl_workloads[ev.workload].generation ==
                        \old(sl_workloads[ev.workload].generation) &&
                      sl_workloads[ev.workload].phase == \old(sl_workloads[ev.workload].phase);
*/
void sl_lifecycle_create(struct sl_event ev);

/* The Requeued condition. */
/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].requeued, sl_workloads[ev.workload].requeue_reason;
  ensures  keep:      effect == SL_REQUEUING_KEEP ==>
                        sl_workloads[ev.workload].requeued ==
                          \old(sl_workloads[ev.workload].requeued) &&
                        sl_workloads[ev.workload].requeue_reason ==
                          \old(sl_workloads[ev.workload].requeue_reason);
  ensures  sound:     effect != SL_REQUEUING_KEEP ==>
                        RequeuedAfter{Pre,Post}(ev, effect);
*/
void sl_lifecycle_requeue(struct sl_event ev, enum sl_requeue_effect effect);
#endif
