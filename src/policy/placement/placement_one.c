/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The pod set in question (sl_placing) on its domains: counted, spread evenly or searched for, and
 * down to the lowest level. */
#include "policy/search/placement_state.h"

#include "policy/common/settings.h"

/* The last slice is short of what there is not. */
/*@ requires ready: ChosenSound && FitsInRange; terminates \true; exits \false;
    assigns sl_fit_pods[0 .. SL_SPOTS_MAX - 1]; ensures fits: FitsInRange; */
static void leave_out(uint32_t surplus)
{
    /*@
      loop invariant fits: FitsInRange && i <= sl_chosen.count;
      loop assigns i, surplus, sl_fit_pods[0 .. SL_SPOTS_MAX - 1];
      loop variant i;
    */
    for (uint32_t i = sl_chosen.count; i > 0 && surplus > 0; i--) {
        uint32_t last = sl_chosen.spots[i - 1];
        int64_t fewer = sl_fit_pods[last] < surplus ? sl_fit_pods[last] : surplus;
        sl_fit_pods[last] -= fewer;
        surplus -= (uint32_t)fewer;
    }
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool wants_balance(void)
{
    return sl_settings.balanced_placement && !sl_placing.required && !sl_placing.unconstrained;
}

bool sl_placement_one(void)
{
    sl_counts_fill();
    uint32_t depth = wants_balance() ? sl_placement_balance() : SL_NO_ID;
    bool found = depth != SL_NO_ID && sl_placement_descend(depth, true);
    if (depth != SL_NO_ID && !found) {
        sl_counts_fill(); /* the way down has overwritten them */
    }
    if (!found) {
        depth = sl_placement_search();
        found = depth != SL_NO_ID && sl_placement_descend(depth, false);
    }
    if (found) {
        sl_placement_sort_chosen();
        leave_out(sl_placing.surplus);
    }
    return found;
}
