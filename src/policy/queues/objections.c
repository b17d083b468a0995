/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objections: a flag per workload. */
#include "policy/queues/objections.h"

static bool turned_away[SL_WORKLOADS_MAX];

bool sl_objections_any(sl_workload_id id)
{
    uint32_t count = sl_workloads[id].check_count;
    bool objects = false;
    /*@ loop invariant range: 0 <= i <= SL_CHECKS_MAX && (count <= SL_CHECKS_MAX ==> i <= count);
        loop invariant none:  objects == 0 ==> \forall integer j; 0 <= j < i ==>
          sl_workloads[id].checks[j].state < SL_CHECK_RETRY;
        loop invariant one:   objects == 1 ==> 0 < i && i <= count &&
          sl_workloads[id].checks[i - 1].state >= SL_CHECK_RETRY;
        loop assigns i, objects; loop variant SL_CHECKS_MAX - i; */
    for (uint32_t i = 0; i < count && i < SL_CHECKS_MAX && !objects; i++) {
        objects = sl_workloads[id].checks[i].state >= SL_CHECK_RETRY;
    }
    return objects;
}

/*@ terminates \true; exits \false; assigns turned_away[0 .. SL_WORKLOADS_MAX - 1]; */
void sl_objections_note(sl_workload_id id)
{
    if (id < SL_WORKLOADS_MAX) {
        turned_away[id] = true;
    }
}

/*@ terminates \true; exits \false; assigns turned_away[0 .. SL_WORKLOADS_MAX - 1]; */
void sl_objections_forget(sl_workload_id id)
{
    if (id < SL_WORKLOADS_MAX) {
        turned_away[id] = false;
    }
}

bool sl_objections_over(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && turned_away[id] && !sl_objections_any(id);
}
