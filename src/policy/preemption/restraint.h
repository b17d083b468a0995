/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Restraint: a workload that has preempted others again and again, and each time lost what it got
 * by it, is tried like any other, but finds no victims for a while (decision 0022). Owns which
 * workloads are restrained; the caller keeps, for each workload, the number of cycles in which it
 * preempted others since it last was served for long enough. */
#ifndef SL_POLICY_RESTRAINT_H
#define SL_POLICY_RESTRAINT_H
#include "kernel/base/types.h"
#include "kernel/lifecycle/requeue.h"
#include "specs/hidden.acsl"

/* It is from now on, or no more; then its queue has to be woken. At first nobody is, nor is whoever
 * gets its slot next. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_restraint_set(sl_workload_id id, bool restrained);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_restraint_holds(sl_workload_id id);

/* Cycles that are free; twice as many as a preemptor needs to go first (heads.h). */
#define SL_RESTRAINT_FREE 16u
#define SL_RESTRAINT_MS_FIRST 100
#define SL_RESTRAINT_MS_MAX 3600000
#define SL_RESTRAINT_SERVED_MS_MIN 1000
/* So many times the last restraint: else two that are restrained equally long give way in turn. */
#define SL_RESTRAINT_SERVED_TIMES 4

/*@
  logic integer Restraint(integer times) = times <= SL_RESTRAINT_FREE ? 0
      : Doubled(SL_RESTRAINT_MS_FIRST, SL_RESTRAINT_MS_MAX, times - SL_RESTRAINT_FREE);
  logic integer ServedEnough(integer times) =
      \max(SL_RESTRAINT_SERVED_MS_MIN, SL_RESTRAINT_SERVED_TIMES * Restraint(times));
*/

/* One more cycle in which the workload has preempted others. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  more:      \result == \min(times + 1, UINT32_MAX);
*/
uint32_t sl_restraint_count(uint32_t times);

/* How long it is to find no victims after that many such cycles; 0 = not at all. Never less for more
 * of them. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == Restraint(times);
  ensures  range:     0 <= \result <= SL_RESTRAINT_MS_MAX;
  ensures  free:      \result == 0 <==> times <= SL_RESTRAINT_FREE;
  ensures  grows:     Restraint(times) <= Restraint(times + 1);
*/
int64_t sl_restraint_ms(uint32_t times);

/* It no longer holds quota, which it held for served_ms, as it was preempted or for another reason:
 * how many of its cycles count from now on. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == (preempted && served_ms < ServedEnough(times) ? times : 0);
*/
uint32_t sl_restraint_after_service(uint32_t times, bool preempted, int64_t served_ms);
#endif
