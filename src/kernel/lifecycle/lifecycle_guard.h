/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What an event amounts to on the live record, before anything changes: a step of the table, or a refusal.
 * Nothing here writes. Internal to the lifecycle. */
#ifndef SL_KERNEL_LIFECYCLE_GUARD_H
#define SL_KERNEL_LIFECYCLE_GUARD_H
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/lifecycle/lifecycle_table.h"

struct sl_verdict {
    enum sl_status status; /* anything but SL_OK: refused, and the rest means nothing */
    enum sl_step step;
    enum sl_evict_reason evict; /* for the steps that evict: why */
};

#include "specs/lifecycle_guard.acsl"

/* The guard of `ev`, for a live record and an event that is addressed to it. */
/*@
  requires ready:     GuardReady(ev);
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_lifecycle_guard(struct sl_event ev);

/* Each of these is for the one kind of event in its name. */
/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_RESERVE;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_reserve(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_REFUSE;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_refused_plan(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_DRAIN;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_drain(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_QUEUE_UNUSABLE;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_queue_unusable(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_QUEUE_RESTARTED;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_queue_restarted(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_PREEMPT;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_preempt(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_JOB_STOPPED;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_job_stopped(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_DEACTIVATE;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_deactivate(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_BACKOFF_OVER;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_backoff_over(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_FINISH;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_finish(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_RESTORE_REQUEUE;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_restore_requeue(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_RESTORE_EVICTED;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_restore_evicted(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_CHECK_ADD;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_check_add(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_CHECK_DROP;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_check_drop(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_CHECK_STATE;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_check_state(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_PODS_READY;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_pods_ready(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_PODS_READY_TIMEOUT;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_pods_ready_timeout(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_EXECUTION_TIMEOUT;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_execution_timeout(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_RESTORE_TARGET;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_restore_target(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_NODE_FAILED;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_node_failed(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_NODE_RECOVERED;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_node_recovered(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_SECOND_PASS_FIT;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_second_pass_fit(struct sl_event ev);

/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_SECOND_PASS_MISS;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
struct sl_verdict sl_guard_second_pass_miss(struct sl_event ev);

/* Are all checks of a live workload ready? None is ready enough. */
/*@
  requires id:        id < SL_WORKLOADS_MAX;
  requires checks:    ChecksValid(id);
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> ChecksReady(id);
*/
bool sl_guard_checks_ready(sl_workload_id id);

/* Where the failed node is; the count when it is not there. */
/*@
  requires id:        id < SL_WORKLOADS_MAX;
  requires count:     sl_workloads[id].unhealthy_count <= SL_UNHEALTHY_MAX;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  range:     0 <= \result <= sl_workloads[id].unhealthy_count;
  ensures  found:     \result < sl_workloads[id].unhealthy_count ==>
                        sl_workloads[id].unhealthy[\result] == host;
  ensures  absent:    \result == sl_workloads[id].unhealthy_count <==> !NodeNamed(id, host);
*/
uint32_t sl_guard_find_node(sl_workload_id id, sl_host_id host);

/* Where the check is; the count when it is not there. */
/*@
  requires id:        id < SL_WORKLOADS_MAX;
  requires checks:    ChecksValid(id);
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  range:     0 <= \result <= sl_workloads[id].check_count;
  ensures  found:     \result < sl_workloads[id].check_count ==>
                        sl_workloads[id].checks[\result].check == check;
  ensures  absent:    \result == sl_workloads[id].check_count <==> !HasCheck(id, check);
*/
uint32_t sl_guard_find_check(sl_workload_id id, sl_check_id check);

/* Small constructors of verdicts. */
/*@
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  result:    \result.status == SL_OK && \result.step == step && \result.evict == evict;
*/
static inline struct sl_verdict sl_guard_step(enum sl_step step, enum sl_evict_reason evict)
{
    struct sl_verdict v = {SL_OK, step, evict};
    return v;
}

/*@
  requires status:    status != SL_OK;
  terminates          \true; exits \false;
  assigns             \nothing;
  ensures  result:    \result.status == status;
*/
static inline struct sl_verdict sl_guard_refuse(enum sl_status status)
{
    struct sl_verdict v = {status, SL_STEP_CREATE, SL_EVICT_NONE};
    return v;
}
#endif
