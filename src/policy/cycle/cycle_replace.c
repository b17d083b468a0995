/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An entry is committed; a slice takes the place of another in one step of the kernel, so that what
 * both have in common is never free for others. */
#include "policy/cycle/cycle_steps.h"

#include "kernel/commit/transition.h"
#include "policy/entries/entries.h"
#include "policy/placement/held_places.h"
#include "policy/queues/passes.h"
#include "policy/requests/slices.h"

/* clang-format off */
#define USAGE sl_plan.usage[0 .. SL_USAGE_CELLS_MAX - 1], sl_plan.usage_count
/* clang-format on */

/*@
  // What the plan has so far is within its array, and no amount is below zero.
  predicate UsageFilled{L} = sl_plan.usage_count <= SL_USAGE_CELLS_MAX &&
    \forall integer k; 0 <= k < sl_plan.usage_count ==> 0 <= sl_plan.usage[k].amount;
*/

bool sl_cycle_replaces_still(uint32_t entry)
{
    return sl_entries[entry].replaces ==
           sl_slices_old(sl_entries[entry].workload, sl_entries[entry].queue);
}

void sl_cycle_leave_out_held(uint32_t entry)
{
    if (sl_entries[entry].replaces < SL_WORKLOADS_MAX) {
        sl_held_places_leave_out(sl_entries[entry].replaces);
    }
}

/* False: there are more cells than a workload may use. */
/*@ requires usage: UsageFilled && 0 <= amount; terminates \true; exits \false; assigns USAGE;
    ensures usage: UsageFilled; */
static bool add_usage(sl_cell_id cell, int64_t amount)
{
    uint32_t i = 0;
    /*@
      loop invariant i: i <= sl_plan.usage_count;
      loop assigns i;
      loop variant sl_plan.usage_count - i;
    */
    while (i < sl_plan.usage_count && sl_plan.usage[i].cell != cell) {
        i++;
    }
    if (i >= SL_USAGE_CELLS_MAX) {
        return false;
    }
    if (i == sl_plan.usage_count) {
        sl_plan.usage[i] = (struct sl_cell_amount){cell, amount};
        sl_plan.usage_count++;
        return true;
    }
    int64_t left = SL_AMOUNT_MAX - sl_plan.usage[i].amount;
    sl_plan.usage[i].amount = amount < left ? sl_plan.usage[i].amount + amount : SL_AMOUNT_MAX;
    return true;
}

/* All that was chosen, held already or not. */
/*@ requires sound: AssignmentSound; terminates \true; exits \false; assigns USAGE; */
static bool fill_usage(void)
{
    bool done = true;
    sl_plan.usage_count = 0;
    /*@
      loop invariant usage: UsageFilled;
      loop assigns i, done, USAGE;
      loop variant sl_assignment.choice_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.choice_count && done; i++) {
        struct sl_choice choice = sl_assignment.choices[i];
        done = choice.amount <= 0 || add_usage(choice.cell, choice.amount);
    }
    return done;
}

/*@ requires ready: StepReady && EntriesInv && AssignmentSound;
    requires known: old < SL_WORKLOADS_MAX && sl_plan.workload < SL_WORKLOADS_MAX;
    terminates \true; exits \false;
    assigns sl_hidden, sl_cycle_outcome, SL_TOLD, SL_SETTLED, SL_SERVED, SL_PASS_TIMERS;
    ensures ready: StepReady && EntriesInv;
    ensures same: sl_cycle_outcome.workload == \old(sl_cycle_outcome.workload); */
static void replace(sl_workload_id old)
{
    if (!fill_usage()) {
        sl_cycle_outcome.status = SL_FULL_USAGE;
        return;
    }
    struct sl_replacement did = sl_transition_replace(old, sl_workloads[old].generation);
    sl_cycle_outcome.did = did.in;
    sl_cycle_outcome.status = did.in.status;
    if (did.in.status == SL_OK) {
        sl_cycle_outcome.replaced = old;
        sl_cycle_outcome.replaced_did = did.out;
        sl_queues_settle(old, sl_cycle_now_ms);
        sl_passes_settle(old, sl_cycle_now_ms);
    }
}

void sl_cycle_commit(uint32_t entry)
{
    if (sl_entries[entry].replaces < SL_WORKLOADS_MAX) {
        replace(sl_entries[entry].replaces);
        return;
    }
    sl_cycle_outcome.did = sl_transition_commit();
    sl_cycle_outcome.status = sl_cycle_outcome.did.status;
}
