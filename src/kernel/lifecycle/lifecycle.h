/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workload records and the only way to change them. Owns sl_workloads. Carries G1, the record's part of G7
 * and the answer to G5's question. Bounds: times 0 .. SL_TIME_MAX or SL_NEVER.
 *
 * A slot's generation is that of the incarnation that lives in it, or of the next one while it is free:
 * SL_EV_CREATE names the generation it finds, SL_EV_DELETE ends it by moving the slot to the next. A slot
 * whose generations are used up is not given out again, so (id, generation) never names two incarnations. */
#ifndef SL_KERNEL_LIFECYCLE_H
#define SL_KERNEL_LIFECYCLE_H
#include "kernel/base/reasons.h"
#include "kernel/base/status.h"
#include "kernel/base/types.h"
#include "kernel/lifecycle/requeue.h"

extern struct sl_workload sl_workloads[SL_WORKLOADS_MAX];
#include "specs/lifecycle.acsl"
#include "specs/lifecycle_refusals.acsl"

/* Apply one event: the whole transition happens (SL_OK), or a refusal leaves the record alone.
 * Checks that a queue asks for are added before SL_EV_RESERVE: with none open it admits at once. */
/*@
  requires record:    ev.workload < SL_WORKLOADS_MAX ==> WorkloadInv(ev.workload);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload];
  ensures  known:     \result == SL_OK ==> ev.workload < SL_WORKLOADS_MAX &&
                        TimeValid(ev.now_ms) &&
                        \old(sl_workloads[ev.workload].generation) == ev.generation;
  ensures  applied:   MustApply{Pre}(ev) ==> \result == SL_OK;
  ensures  refused:   \result != SL_OK ==>
                        sl_workloads[ev.workload] == \old(sl_workloads[ev.workload]);
  ensures  says:      \result != SL_OK ==> RefusalSays{Pre}(ev, \result);
  ensures  record:    ev.workload < SL_WORKLOADS_MAX ==> WorkloadInv(ev.workload);
  ensures  allowed:   \result == SL_OK ==> MoveAllowed(ev.kind,
                        \old(sl_workloads[ev.workload].phase), sl_workloads[ev.workload].phase);
  ensures  made:      \result == SL_OK ==> MoveMade(ev.kind,
                        \old(sl_workloads[ev.workload].phase), sl_workloads[ev.workload].phase);
  ensures  finished:  \old(sl_workloads[ev.workload].phase) == SL_PHASE_FINISHED &&
                        \result == SL_OK ==> ev.kind == SL_EV_DELETE;
  ensures  created:   \result == SL_OK && ev.kind == SL_EV_CREATE ==> Admissible(ev.workload);
  ensures  row_e:     WasEvicted{Pre,Post}(ev.workload) ==>
                        RowE{Pre,Post}(ev.workload, ev.now_ms);
  ensures  reason:    WasEvicted{Pre,Post}(ev.workload) ==>
                        EvictedFor(ev, sl_workloads[ev.workload].evicted);
  ensures  late:      \result == SL_OK && ev.kind == SL_EV_PODS_READY_TIMEOUT ==> Late{Pre,Post}(ev);
  ensures  quota:     \result == SL_OK ==> QuotaMoved{Pre,Post}(ev.kind, ev.workload);
  ensures  admitted:  sl_workloads[ev.workload].phase == SL_PHASE_ADMITTED &&
                        \old(sl_workloads[ev.workload].phase) != SL_PHASE_ADMITTED ==>
                        ChecksReady(ev.workload);
  ensures  off:       \result == SL_OK && ev.kind == SL_EV_DEACTIVATE ==>
                        !HoldsQuota(ev.workload) && !PhaseRunning(sl_workloads[ev.workload].phase) &&
                        sl_workloads[ev.workload].active == 0;
  ensures  forward:   \result == SL_OK && ev.kind != SL_EV_CREATE ==>
                        RequeueForward{Pre,Post}(ev.workload);
  ensures  since:     \result == SL_OK ==> AdmittedSince{Pre,Post}(ev.workload, ev.now_ms);
  ensures  reserved:  \result == SL_OK && ev.kind == SL_EV_RESERVE ==>
                        ReservedSince(ev.workload, ev.now_ms, ev.index);
  ensures  ready:     \result == SL_OK && ev.kind == SL_EV_RESERVE ==> \old(ReadyAt(ev.workload, ev.now_ms));
  ensures  missed:    \result == SL_OK && ev.kind == SL_EV_SECOND_PASS_MISS ==> \old(MissTold(ev)) &&
                        MissMoves(ev.index, \old(sl_workloads[ev.workload].phase),
                                  sl_workloads[ev.workload].phase);
  ensures  slot:      \result == SL_OK ==> sl_workloads[ev.workload].generation == ev.generation +
                        (ev.kind == SL_EV_DELETE ? 1 : 0);
*/
enum sl_status sl_lifecycle_apply(struct sl_event ev) SL_MUST_CHECK;

/* QuotaReserved and not finished and active (Kueue's HasActiveQuotaReservation): does its usage count? */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> id < SL_WORKLOADS_MAX && HoldsQuota(id);
*/
bool sl_lifecycle_holds_quota(sl_workload_id id);

/* Reserved, admitted, or evicted with a job that has not stopped yet: may its pods still be on their nodes? True of all
 * that hold quota, and of those that were deactivated and have not stopped. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> id < SL_WORKLOADS_MAX && HoldsCapacity(id);
*/
bool sl_lifecycle_holds_capacity(sl_workload_id id);

/* May it be put into a queue's heap: pending, active, not gated, not on hold, not about to be deactivated? */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> id < SL_WORKLOADS_MAX && Admissible(id);
*/
bool sl_lifecycle_admissible(sl_workload_id id);

/* Is a second pass owed: quota held, and a topology that only waits for it, or a failed node to replace? */
/*@
  requires record:    id < SL_WORKLOADS_MAX ==> WorkloadInv(id);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> id < SL_WORKLOADS_MAX && NeedsPass(id);
*/
bool sl_lifecycle_needs_pass(sl_workload_id id);

/* Is the record sound? The checker for fuzzers and the simulator; equal to WorkloadInv by proof. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> id < SL_WORKLOADS_MAX && WorkloadInv(id);
*/
bool sl_lifecycle_valid(sl_workload_id id);
#endif
