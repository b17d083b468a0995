/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The gate of the second pass and its timers. An entry is keyed by (workload, generation); need is judged
 * on the live record when the pass is taken. Nothing here writes a record: a refused or failed pass cannot
 * cost a workload its reservation. Owns the second-pass entries. Carries G5.
 * Bounds: times 0 .. SL_TIME_MAX; at most one entry per workload, so that the entries always fit. */
#ifndef SL_KERNEL_SECOND_PASS_H
#define SL_KERNEL_SECOND_PASS_H
#include "kernel/lifecycle/lifecycle.h"

struct sl_second_pass {
    sl_workload_id workload;
    uint32_t generation;
    int64_t due_ms;
};

/* The entries, dense, and where each workload's entry would be: it is there if and only if the entry at that
 * index names the workload, so that an index that was never written does no harm. */
extern struct sl_second_pass sl_second_passes[SL_WORKLOADS_MAX];
extern uint32_t sl_second_pass_index[SL_WORKLOADS_MAX];
extern uint32_t sl_second_pass_total;

#include "specs/second_pass.acsl"

/* Does the live workload need a second pass? */
/*@
  requires record:    id < SL_WORKLOADS_MAX ==> WorkloadInv(id);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> id < SL_WORKLOADS_MAX && NeedsPass(id);
*/
bool sl_second_pass_needed(sl_workload_id id);

/* Arm the pass: due after min(2^iteration, 30) s. One that is armed already stays as it is
 * (SL_REFUSED_ARMED): it will judge the workload as it is then, so a later failure is not lost. An entry of
 * an earlier incarnation is replaced. */
/*@
  requires record:    id < SL_WORKLOADS_MAX ==> WorkloadInv(id);
  requires entries:   EntriesInv;
  terminates          \true;
  exits               \false;
  assigns             sl_second_passes[0 .. SL_WORKLOADS_MAX - 1],
                      sl_second_pass_index[0 .. SL_WORKLOADS_MAX - 1], sl_second_pass_total;
  ensures  entries:   EntriesInv;
  ensures  needed:    \result == SL_OK || \result == SL_REFUSED_ARMED ==>
                        id < SL_WORKLOADS_MAX && NeedsPass(id) && ArmedLive(id);
  ensures  due:       \result == SL_OK ==> sl_second_passes[sl_second_pass_index[id]].due_ms ==
                        \min(now_ms + PassDelay(iteration), SL_TIME_MAX);
  ensures  others:    \forall integer w; 0 <= w < SL_WORKLOADS_MAX && w != id ==> PassSame{Pre,Post}(w);
  ensures  refused:   \result != SL_OK ==> EntriesSame{Pre,Post};
  ensures  kept:      id < SL_WORKLOADS_MAX && TimeValid(now_ms) && NeedsPass(id) &&
                        \old(sl_second_pass_total) < SL_WORKLOADS_MAX ==> ArmedLive(id);
  ensures  unneeded:  id < SL_WORKLOADS_MAX && TimeValid(now_ms) && !NeedsPass(id) ==>
                        \result == SL_REFUSED_NOT_NEEDED;
  ensures  unknown:   id >= SL_WORKLOADS_MAX ==> \result == SL_REFUSED_UNKNOWN_WORKLOAD;
  ensures  clock:     id < SL_WORKLOADS_MAX && !TimeValid(now_ms) ==> \result == SL_REFUSED_BAD_ARGUMENT;
*/
enum sl_status sl_second_pass_arm(sl_workload_id id, uint32_t iteration,
                                  int64_t now_ms) SL_MUST_CHECK;

/* Forget the pass of `id`, whatever incarnation it was armed for; nothing happens when there is none. */
/*@
  requires entries:   EntriesInv;
  terminates          \true;
  exits               \false;
  assigns             sl_second_passes[0 .. SL_WORKLOADS_MAX - 1],
                      sl_second_pass_index[0 .. SL_WORKLOADS_MAX - 1], sl_second_pass_total;
  ensures  entries:   EntriesInv;
  ensures  gone:      id < SL_WORKLOADS_MAX ==> !Armed(id);
  ensures  others:    \forall integer w; 0 <= w < SL_WORKLOADS_MAX && w != id ==> PassSame{Pre,Post}(w);
*/
void sl_second_pass_cancel(sl_workload_id id);

/* Take the pass of `id` if it is due and still needed; a stale or unneeded entry is removed and refused. One
 * that is not due yet stays. */
/*@
  requires record:    id < SL_WORKLOADS_MAX ==> WorkloadInv(id);
  requires entries:   EntriesInv;
  terminates          \true;
  exits               \false;
  assigns             sl_second_passes[0 .. SL_WORKLOADS_MAX - 1],
                      sl_second_pass_index[0 .. SL_WORKLOADS_MAX - 1], sl_second_pass_total;
  ensures  entries:   EntriesInv;
  ensures  gate:      \result == SL_OK ==> id < SL_WORKLOADS_MAX && NeedsPass(id) &&
                        ArmedLive{Pre}(id) &&
                        \old(sl_second_passes[sl_second_pass_index[id]].due_ms) <= now_ms;
  ensures  not_due:   \result == SL_REFUSED_NOT_DUE ==> EntriesSame{Pre,Post} && ArmedLive(id);
  ensures  gone:      id < SL_WORKLOADS_MAX && \result != SL_REFUSED_NOT_DUE ==> !Armed(id);
  ensures  taken:     id < SL_WORKLOADS_MAX && ArmedLive{Pre}(id) && NeedsPass(id) &&
                        \old(sl_second_passes[sl_second_pass_index[id]].due_ms) <= now_ms ==>
                        \result == SL_OK;
  ensures  others:    \forall integer w; 0 <= w < SL_WORKLOADS_MAX && w != id ==> PassSame{Pre,Post}(w);
*/
enum sl_status sl_second_pass_take(sl_workload_id id, int64_t now_ms) SL_MUST_CHECK;

/* The armed entries, in no particular order: for finding what is due. index < sl_second_pass_count(). */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == sl_second_pass_total;
*/
uint32_t sl_second_pass_count(void);

/*@
  requires entries:   EntriesInv;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  armed:     index < sl_second_pass_total ==> Armed(\result) &&
                        \result == sl_second_passes[index].workload;
  ensures  none:      index >= sl_second_pass_total ==> \result == SL_NO_ID;
*/
sl_workload_id sl_second_pass_at(uint32_t index);

/* When the pass of `id` is due; SL_NEVER when none is armed. */
/*@
  requires entries:   EntriesInv;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  armed:     id < SL_WORKLOADS_MAX && Armed(id) ==>
                        \result == sl_second_passes[sl_second_pass_index[id]].due_ms;
  ensures  none:      id >= SL_WORKLOADS_MAX || !Armed(id) ==> \result == SL_NEVER;
*/
int64_t sl_second_pass_due_ms(sl_workload_id id);

/* Are the entries sound? Equal to EntriesInv by proof; time proportional to what is armed. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> EntriesInv;
*/
bool sl_second_pass_valid(void);
#endif
