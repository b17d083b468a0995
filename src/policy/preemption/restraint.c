/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Restraint: a flag per workload, which counts in the incarnation of the slot that it was set in. */
#include "policy/preemption/restraint.h"

#include "kernel/lifecycle/lifecycle.h"
#include "kernel/lifecycle/requeue.h"

static bool is_restrained[SL_WORKLOADS_MAX];
static uint32_t restrained_generation[SL_WORKLOADS_MAX];

/*@ terminates \true; exits \false; assigns is_restrained[id], restrained_generation[id]; */
void sl_restraint_set(sl_workload_id id, bool restrained)
{
    if (id < SL_WORKLOADS_MAX) {
        is_restrained[id] = restrained;
        restrained_generation[id] = sl_workloads[id].generation;
    }
}

bool sl_restraint_holds(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && is_restrained[id] &&
           restrained_generation[id] == sl_workloads[id].generation;
}

/* Restraint never shrinks: a theorem for the prover, no code. */
/*@
  ghost
  /@
    terminates          \true;
    exits               \false;
    assigns             \nothing;
    ensures  grows:     Restraint(times) <= Restraint(times + 1);
    ensures  least:     times > SL_RESTRAINT_FREE ==> Restraint(times) >= SL_RESTRAINT_MS_FIRST;
  @/
  static void restraint_grows(uint32_t times)
  {
      /@
        loop invariant range:    0 <= i && (times > SL_RESTRAINT_FREE ==> i <= times - SL_RESTRAINT_FREE);
        loop invariant positive: 1 <= Pow2(i);
        loop assigns   i;
        loop variant   times - i;
      @/
      for (uint32_t i = 0; times > SL_RESTRAINT_FREE && i < times - SL_RESTRAINT_FREE; i++) {
      }
  }
*/

uint32_t sl_restraint_count(uint32_t times)
{
    return times < UINT32_MAX ? times + 1 : UINT32_MAX;
}

int64_t sl_restraint_ms(uint32_t times)
{
    /*@ ghost restraint_grows(times); */
    return times > SL_RESTRAINT_FREE
               ? sl_requeue_delay_ms(SL_RESTRAINT_MS_FIRST, SL_RESTRAINT_MS_MAX,
                                     times - SL_RESTRAINT_FREE, 0)
               : 0;
}

uint32_t sl_restraint_after_service(uint32_t times, bool preempted, int64_t served_ms)
{
    int64_t enough_ms = SL_RESTRAINT_SERVED_TIMES * sl_restraint_ms(times);
    if (enough_ms < SL_RESTRAINT_SERVED_MS_MIN) {
        enough_ms = SL_RESTRAINT_SERVED_MS_MIN;
    }
    return preempted && served_ms < enough_ms ? times : 0;
}
