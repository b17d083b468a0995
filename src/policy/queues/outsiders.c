/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Outsiders: two flags per workload. */
#include "policy/queues/outsiders.h"

static bool is_outsider[SL_WORKLOADS_MAX];
static bool turned_away[SL_WORKLOADS_MAX]; /* outsiders only */

/*@ terminates \true; exits \false;
    assigns is_outsider[0 .. SL_WORKLOADS_MAX - 1], turned_away[0 .. SL_WORKLOADS_MAX - 1]; */
void sl_outsiders_set(sl_workload_id id, bool outsider)
{
    if (id < SL_WORKLOADS_MAX) {
        is_outsider[id] = outsider;
        turned_away[id] = outsider && turned_away[id];
    }
}

bool sl_outsiders_is(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && is_outsider[id];
}

/*@ terminates \true; exits \false; assigns turned_away[0 .. SL_WORKLOADS_MAX - 1]; */
void sl_outsiders_turn_away(sl_workload_id id)
{
    if (id < SL_WORKLOADS_MAX) {
        turned_away[id] = is_outsider[id];
    }
}

/*@ terminates \true; exits \false; assigns turned_away[0 .. SL_WORKLOADS_MAX - 1]; */
void sl_outsiders_forget(sl_workload_id id)
{
    if (id < SL_WORKLOADS_MAX) {
        turned_away[id] = false;
    }
}

bool sl_outsiders_turned_away(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && turned_away[id];
}
