/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An event is addressed, judged by its guard, looked up in the table, and only then carried out: up to that
 * point nothing is written, and from there nothing can fail. */
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/lifecycle/lifecycle_effects.h"
#include "specs/lifecycle_resolve.acsl"

struct sl_workload sl_workloads[SL_WORKLOADS_MAX];

/* Is the event meant for a live incarnation, or for a free slot if it creates one? */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  fair:      MustApply(ev) ==> \result == SL_OK;
  ensures  says:      \result != SL_OK ==> RefusalSays(ev, \result);
  ensures  ok:        \result == SL_OK ==> ev.workload < SL_WORKLOADS_MAX && TimeValid(ev.now_ms) &&
                        sl_workloads[ev.workload].generation == ev.generation &&
                        0 <= ev.kind < SL_EVENT_COUNT &&
                        (ev.kind != SL_EV_CREATE ==>
                           sl_workloads[ev.workload].phase != SL_PHASE_ABSENT);
*/
static enum sl_status check_address(struct sl_event ev)
{
    if (ev.workload >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (ev.kind >= SL_EVENT_COUNT || ev.now_ms < 0 || ev.now_ms > SL_TIME_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_workloads[ev.workload].generation != ev.generation) {
        return SL_REFUSED_STALE;
    }
    if (ev.kind != SL_EV_CREATE && sl_workloads[ev.workload].phase == SL_PHASE_ABSENT) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    return SL_OK;
}

/* A slot whose generations are used up is never given out again: (id, generation) stays unique. */
/*@
  requires kind:      ev.kind == SL_EV_CREATE && TimeValid(ev.now_ms);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  says:      \result.status != SL_OK ==> RefusalSays(ev, \result.status);
  ensures  fair:      TimeValid(ev.value) && ev.generation < UINT32_MAX ==>
                        \result.status == SL_OK;
  ensures  ok:        \result.status == SL_OK ==> \result.step == SL_STEP_CREATE &&
                        \result.evict == SL_EVICT_NONE && EventSound(ev);
*/
static struct sl_verdict guard_create(struct sl_event ev)
{
    if (ev.value < 0 || ev.value > SL_TIME_MAX) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (ev.generation == UINT32_MAX) {
        return sl_guard_refuse(SL_FULL_WORKLOADS);
    }
    return sl_guard_step(SL_STEP_CREATE, SL_EVICT_NONE);
}

/* What the guard said, and the row of the table for it. */
struct resolution {
    struct sl_verdict verdict;
    struct sl_outcome row;
};

/*@
  requires status:    status != SL_OK;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  refused:   \result.verdict.status == status;
*/
static struct resolution refuse(enum sl_status status)
{
    struct resolution r;
    r.verdict = sl_guard_refuse(status);
    r.row = sl_lifecycle_row(SL_PHASE_ABSENT, SL_STEP_CREATE);
    return r;
}

/* Everything that can refuse, in one place; nothing is written yet. */
/*@
  requires record:    ev.workload < SL_WORKLOADS_MAX ==> WorkloadInv(ev.workload);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  fair:      MustApply(ev) ==> \result.verdict.status == SL_OK;
  ensures  says:      \result.verdict.status != SL_OK ==> RefusalSays(ev, \result.verdict.status);
  ensures  resolved:  \result.verdict.status == SL_OK ==>
                        Resolved(ev, \result.verdict, \result.row);
  ensures  finished:  \result.verdict.status == SL_OK &&
                      sl_workloads[ev.workload].phase == SL_PHASE_FINISHED ==>
                        ev.kind == SL_EV_DELETE;
  ensures  ready:     \result.verdict.status == SL_OK && ev.kind == SL_EV_RESERVE ==>
                        ReadyAt(ev.workload, ev.now_ms);
  ensures  told:      \result.verdict.status == SL_OK && ev.kind == SL_EV_SECOND_PASS_MISS ==>
                        MissTold(ev) && MissStep(ev, \result.verdict.step);
  ensures  late:      \result.verdict.status == SL_OK && ev.kind == SL_EV_PODS_READY_TIMEOUT ==>
                        (RuledOut(sl_workloads[ev.workload].requeue_count) ?
                           \result.verdict.step == SL_STEP_TARGET : \result.verdict.step == SL_STEP_PODS_TIMEOUT);
*/
static struct resolution resolve(struct sl_event ev)
{
    struct resolution r;
    enum sl_status status = check_address(ev);
    if (status != SL_OK) {
        return refuse(status);
    }
    enum sl_phase phase = sl_workloads[ev.workload].phase;
    if (phase == SL_PHASE_FINISHED && ev.kind != SL_EV_DELETE) {
        return refuse(SL_REFUSED_FINISHED);
    }
    r.verdict = phase == SL_PHASE_ABSENT ? guard_create(ev) : sl_lifecycle_guard(ev);
    if (r.verdict.status != SL_OK) {
        return r;
    }
    r.row = sl_lifecycle_row(phase, r.verdict.step);
    return r.row.found ? r : refuse(SL_REFUSED_TRANSITION);
}

/* The resets that a row names, but for those of creation. */
/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX && TimeValid(ev.now_ms);
  requires record:    TimesValid(ev.workload) && ChecksValid(ev.workload) &&
                      sl_workloads[ev.workload].generation < UINT32_MAX;
  requires admitted:  sl_workloads[ev.workload].was_admitted == 1 ==>
                        sl_workloads[ev.workload].admitted_at_ms != SL_NEVER;
  requires evict:     what == SL_RESET_EVICTION ==> evict != SL_EVICT_NONE;
  requires not_new:   what != SL_RESET_CREATION;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].generation,
                      sl_workloads[ev.workload].has_admission,
                      sl_workloads[ev.workload].was_admitted,
                      sl_workloads[ev.workload].topology_pending,
                      sl_workloads[ev.workload].reserved_at_ms,
                      sl_workloads[ev.workload].admitted_at_ms,
                      sl_workloads[ev.workload].accumulated_ms,
                      sl_workloads[ev.workload].pods_ready,
                      sl_workloads[ev.workload].pods_ready_at_ms,
                      sl_workloads[ev.workload].evicted, sl_workloads[ev.workload].evicted_at_ms,
                      sl_workloads[ev.workload].preempted,
                      sl_workloads[ev.workload].eviction_count,
                      sl_workloads[ev.workload].unhealthy_count,
                      sl_workloads[ev.workload].checks[0 .. SL_CHECKS_MAX - 1];
  ensures  done:      ResetDone{Pre,Post}(ev, what, evict);
*/
static void reset(struct sl_event ev, enum sl_reset what, enum sl_evict_reason evict)
{
    switch (what) {
    case SL_RESET_RESERVATION:
        sl_lifecycle_reserve(ev);
        break;
    case SL_RESET_EVICTION:
        sl_lifecycle_evict(ev, evict);
        break;
    case SL_RESET_RELEASE:
        sl_lifecycle_release(ev, true);
        break;
    case SL_RESET_UNWRITTEN:
        sl_lifecycle_release(ev, false);
        break;
    case SL_RESET_DELETION:
        sl_workloads[ev.workload].generation++;
        break;
    default:
        break;
    }
}

/* Enter the phase; the first moment of being admitted is kept. */
/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].phase, sl_workloads[ev.workload].was_admitted,
                      sl_workloads[ev.workload].admitted_at_ms;
  ensures  phase:     sl_workloads[ev.workload].phase == to;
  ensures  first:     to == SL_PHASE_ADMITTED &&
                      \old(sl_workloads[ev.workload].was_admitted) == 0 ==>
                        sl_workloads[ev.workload].was_admitted == 1 &&
                        sl_workloads[ev.workload].admitted_at_ms == ev.now_ms;
  ensures  same:      to != SL_PHASE_ADMITTED ||
                      \old(sl_workloads[ev.workload].was_admitted) == 1 ==>
                        sl_workloads[ev.workload].was_admitted ==
                          \old(sl_workloads[ev.workload].was_admitted) &&
                        sl_workloads[ev.workload].admitted_at_ms ==
                          \old(sl_workloads[ev.workload].admitted_at_ms);
*/
static void enter(struct sl_event ev, enum sl_phase to)
{
    sl_workload_id id = ev.workload;
    if (to == SL_PHASE_ADMITTED && !sl_workloads[id].was_admitted) {
        sl_workloads[id].was_admitted = true;
        sl_workloads[id].admitted_at_ms = ev.now_ms;
    }
    sl_workloads[id].phase = to;
}

/* Give the slot out. */
/*@
  requires resolved:  Addressed(ev) && EventSound(ev) && ev.kind == SL_EV_CREATE;
  requires row:       RowRight(SL_PHASE_ABSENT, SL_STEP_CREATE, row);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload];
  ensures  record:    LiveInv(ev.workload);
  ensures  created:   sl_workloads[ev.workload].phase == SL_PHASE_PENDING &&
                      Admissible(ev.workload);
  ensures  slot:      sl_workloads[ev.workload].generation == ev.generation;
*/
static void create(struct sl_event ev, struct sl_outcome row)
{
    sl_lifecycle_create(ev);
    enter(ev, row.to);
}

/* Carry out what was resolved, on a live record. */
/*@
  requires resolved:  Resolved(ev, v, row) && sl_workloads[ev.workload].phase != SL_PHASE_ABSENT;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload];
  ensures  phase:     sl_workloads[ev.workload].phase == row.to;
  ensures  enums:     row.to != SL_PHASE_ABSENT ==> EnumsValid(ev.workload);
  ensures  times:     TimesValid(ev.workload);
  ensures  checks:    ChecksValid(ev.workload);
  ensures  holding:   row.to != SL_PHASE_ABSENT ==> ReservationSound(ev.workload);
  ensures  pass:      row.to != SL_PHASE_ABSENT ==> PassSound(ev.workload);
  ensures  eviction:  row.to != SL_PHASE_ABSENT ==> EvictionSound(ev.workload);
  ensures  requeue:   RequeueSound(ev.workload);
  ensures  row_e:     row.reset == SL_RESET_EVICTION ==> RowE{Pre,Post}(ev.workload, ev.now_ms);
  ensures  reason:    row.reset == SL_RESET_EVICTION ==>
                        EvictedFor(ev, sl_workloads[ev.workload].evicted);
  ensures  active:    sl_workloads[ev.workload].active == ActiveAfter{Pre}(ev);
  ensures  take:      row.quota == SL_QUOTA_TAKE ==> HoldsQuota(ev.workload);
  ensures  keep:      row.quota == SL_QUOTA_KEEP ==>
                        (HoldsQuota(ev.workload) <==> HoldsQuota{Pre}(ev.workload));
  ensures  drop:      row.quota == SL_QUOTA_DROP ==> !HoldsQuota(ev.workload);
  ensures  ready:     row.to == SL_PHASE_ADMITTED &&
                      \old(sl_workloads[ev.workload].phase) != SL_PHASE_ADMITTED ==>
                        ChecksReady(ev.workload);
  ensures  forward:   RequeueForward{Pre,Post}(ev.workload);
  ensures  requeued:  RequeuedAfter{Pre,Post}(ev, row.requeue);
  ensures  late:      ev.kind == SL_EV_PODS_READY_TIMEOUT ==>
                        sl_workloads[ev.workload].requeue_count == RequeueCountAfter{Pre}(ev, v.step) &&
                        sl_workloads[ev.workload].requeue_at_ms == RequeueAtAfter{Pre}(ev, v.step) &&
                        sl_workloads[ev.workload].deactivation == DeactivationAfter{Pre}(ev, v.step);
  ensures  since:     AdmittedSince{Pre,Post}(ev.workload, ev.now_ms);
  ensures  reserved:  row.reset == SL_RESET_RESERVATION ==>
                        ReservedSince(ev.workload, ev.now_ms, ev.index);
  ensures  slot:      sl_workloads[ev.workload].generation == ev.generation +
                        (row.to == SL_PHASE_ABSENT ? 1 : 0);
*/
static void change(struct sl_event ev, struct sl_verdict v, struct sl_outcome row)
{
    sl_lifecycle_note(ev, v.step);
    reset(ev, row.reset, v.evict);
    sl_lifecycle_requeue(ev, row.requeue);
    enter(ev, row.to);
}

enum sl_status sl_lifecycle_apply(struct sl_event ev)
{
    struct resolution r = resolve(ev);
    if (r.verdict.status != SL_OK) {
        return r.verdict.status;
    }
    if (sl_workloads[ev.workload].phase == SL_PHASE_ABSENT) {
        create(ev, r.row);
    } else {
        change(ev, r.verdict, r.row);
    }
    return SL_OK;
}
