/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Commit's door for a holder that needs less than it was given: one amount becomes smaller where it stands. */
#include "kernel/commit/commit.h"

/* Does the workload exist in this incarnation, and hold quota? */
/*@
  requires records:    RecordsValid;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == SL_OK <==>
                         id < SL_WORKLOADS_MAX && sl_workloads[id].generation == generation && HoldsQuota(id);
*/
static enum sl_status check_holder(sl_workload_id id, uint32_t generation)
{
    if (id >= SL_WORKLOADS_MAX || sl_workloads[id].phase == SL_PHASE_ABSENT) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (sl_workloads[id].generation != generation) {
        return SL_REFUSED_STALE;
    }
    return sl_lifecycle_holds_quota(id) ? SL_OK : SL_REFUSED_PLACE;
}

/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires counts:     UsageCountsValid;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == SL_OK <==>
                         index < sl_usage_counts[id] && 0 <= amount <= sl_usage_amounts[id][index];
*/
static enum sl_status check_amount(sl_workload_id id, uint32_t index, int64_t amount)
{
    if (index >= sl_usage_counts[id]) {
        return SL_REFUSED_PLAN_USAGE;
    }
    if (amount < 0) {
        return SL_REFUSED_AMOUNT;
    }
    return amount <= sl_usage_amounts[id][index] ? SL_OK : SL_REFUSED_BAD_ARGUMENT;
}

enum sl_status sl_commit_reduce(sl_workload_id id, uint32_t generation, uint32_t index,
                                int64_t amount)
{
    enum sl_status status = check_holder(id, generation);
    if (status != SL_OK) {
        return status;
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    status = check_amount(id, index, amount);
    return status == SL_OK ? sl_usage_reduce(id, index, amount) : status;
}
