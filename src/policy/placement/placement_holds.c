/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A plan against capacities: its amounts are assumed to be taken one after the other, as far as they are there. */
#include "policy/placement/placement_holds.h"

#include "policy/placement/held_places.h"

/* Take so much, if it is there. */
/*@ requires capacities: HoldsReady; terminates \true; exits \false; assigns sl_hidden, SL_ASSUMED;
    ensures capacities: HoldsReady; */
static bool take(sl_site_id site, sl_measure_id measure, int64_t amount)
{
    return amount <= SL_AMOUNT_MAX && amount <= sl_assumed_capacity(site, measure) &&
           sl_assumed_add(site, measure, amount);
}

/* Is the product an amount? Asked here alone, where no other hypotheses are in the provers' way. */
/*@ requires some: 1 <= pods <= UINT32_MAX; terminates \true; exits \false; assigns \nothing;
    ensures product: \result ==> 0 <= per_pod * pods <= SL_AMOUNT_MAX; */
static bool is_amount(int64_t per_pod, int64_t pods)
{
    return per_pod >= 0 && per_pod <= SL_AMOUNT_MAX / pods;
}

/* What one row of a set of the plan asks of its site. */
/*@ requires capacities: HoldsReady && s < SL_TOPOLOGY_SETS_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED; ensures capacities: HoldsReady; */
static bool take_row(uint32_t s, struct sl_topology_row row)
{
    sl_site_id site = sl_domain_site(row.domain);
    uint32_t held = sl_held_places_on(row.domain);
    uint32_t count = sl_topology_plan.sets[s].request_count;
    if (row.count == 0 || count > SL_TOPOLOGY_REQUESTS_MAX) {
        return false;
    }
    if (row.count <= held) {
        return true;
    }
    int64_t pods = (int64_t)row.count - held;
    bool done = take(site, SL_MEASURE_PODS, pods);
    /*@ loop invariant capacities: HoldsReady; loop assigns i, done, sl_hidden, SL_ASSUMED;
        loop variant count - i; */
    for (uint32_t i = 0; i < count && done; i++) {
        struct sl_measure_amount request = sl_topology_plan.sets[s].requests[i];
        done = is_amount(request.per_pod, pods) &&
               (request.per_pod == 0 || take(site, request.measure, request.per_pod * pods));
    }
    return done;
}

/*@ requires capacities: HoldsReady && s < SL_TOPOLOGY_SETS_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED; ensures capacities: HoldsReady; */
static bool take_set(uint32_t s, sl_workload_id old)
{
    uint32_t first = sl_topology_plan.sets[s].first_row;
    uint32_t count = sl_topology_plan.sets[s].row_count;
    if (first > SL_TOPOLOGY_ROWS_MAX || count > SL_TOPOLOGY_ROWS_MAX - first) {
        return false;
    }
    bool done = true;
    sl_held_places_list(old, sl_topology_plan.sets[s].pod_set);
    /*@ loop invariant capacities: HoldsReady; loop assigns i, done, sl_hidden, SL_ASSUMED;
        loop variant count - i; */
    for (uint32_t i = 0; i < count && done; i++) {
        done = take_row(s, sl_topology_plan.rows[first + i]);
    }
    return done;
}

/*@ requires capacities: HoldsReady && PlanBounded; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED; ensures capacities: HoldsReady; */
static bool take_plan(sl_workload_id old)
{
    bool done = true;
    /*@ loop invariant capacities: HoldsReady; loop assigns s, done, sl_hidden, SL_ASSUMED;
        loop variant sl_topology_plan.set_count - s; */
    for (uint32_t s = 0; s < sl_topology_plan.set_count && done; s++) {
        done = take_set(s, old);
    }
    return done;
}

bool sl_placement_holds(sl_workload_id old)
{
    uint32_t mark = sl_assumed_mark();
    bool holds = take_plan(old);
    sl_assumed_back(mark);
    return holds;
}
