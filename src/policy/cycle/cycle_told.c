/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What was last said to a workload, as a number: it differs when Kueue's words would. Kueue writes
 * its words to the Workload, and what it sees written it takes for news. */
#include "policy/cycle/cycle_steps.h"

#include "policy/flavors/flavors.h"

static uint64_t told[SL_WORKLOADS_MAX];

/*@ terminates \true; exits \false; assigns \nothing; */
static uint64_t mixed(uint64_t sum, uint64_t value)
{
    uint64_t product = (sum ^ value) * 0x9e3779b97f4a7c15u;
    return product ^ (product >> 29);
}

/* Kueue names the nodes that were left out, too, and counts them by cause. */
/*@ terminates \true; exits \false; assigns \nothing; */
static uint64_t sum_of_nodes_left_out(void)
{
    uint64_t sum = mixed(sl_assignment.topology_failure.total_sites,
                         sl_assignment.topology_failure.by_selector);
    sum = mixed(mixed(sum, sl_assignment.topology_failure.by_affinity),
                sl_assignment.topology_failure.by_domain);
    /*@ loop assigns i, sum; loop variant SL_TAINTS_MAX - i; */
    for (uint32_t i = 0; i < SL_TAINTS_MAX; i++) {
        sum = mixed(sum, sl_assignment.topology_failure.by_taint[i]);
    }
    /*@ loop assigns i, sum; loop variant SL_MEASURES_MAX - i; */
    for (uint32_t i = 0; i < SL_MEASURES_MAX; i++) {
        sum = mixed(sum, sl_assignment.topology_failure.by_measure[i]);
    }
    return sum;
}

/* Why there is no place; without a failure its figures are those of another question. */
/*@ terminates \true; exits \false; assigns \nothing; */
static uint64_t sum_of_failure(void)
{
    const struct sl_placement_failure *failure = &sl_assignment.topology_failure;
    if (failure->miss == SL_PLACEMENT_OK) {
        return 0;
    }
    uint64_t sum = mixed(mixed((uint64_t)failure->miss, failure->pod_set), failure->tree);
    sum = mixed(mixed(sum, failure->fit), failure->of);
    /*@ loop assigns i, sum; loop variant SL_LAYERS_MAX - i; */
    for (uint32_t i = 0; i < SL_LAYERS_MAX; i++) {
        sum = mixed(mixed(sum, failure->levels[i].fit), failure->levels[i].of);
    }
    return mixed(sum, sum_of_nodes_left_out());
}

/* In any order: Kueue sorts its reasons. */
/*@ terminates \true; exits \false; assigns \nothing; */
static uint64_t sum_of_details(void)
{
    uint64_t sum = 0;
    /*@ loop assigns i, sum; loop variant SL_DETAILS_MAX - i; */
    for (uint32_t i = 0; i < sl_assignment.detail_count && i < SL_DETAILS_MAX; i++) {
        const struct sl_detail *detail = &sl_assignment.details[i];
        uint64_t one = mixed(detail->pod_set, (uint64_t)detail->miss);
        sum += mixed(mixed(mixed(one, detail->flavor), detail->resource), (uint64_t)detail->amount);
    }
    return mixed(sum, sum_of_failure());
}

/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns told[id]; */
bool sl_cycle_tells_news(sl_workload_id id, enum sl_back why)
{
    uint64_t sum = mixed((uint64_t)why + 1u, sl_cycle_outcome.victim_count);
    if (why == SL_BACK_SKIPPED ||
        (why == SL_BACK_PREEMPTING && sl_cycle_outcome.victim_count == 0)) {
        sum = mixed(sum, sl_cycle_outcome.overlaps ? 1u : 0u);
        sum = mixed(sum, (uint64_t)sl_cycle_outcome.variant);
    } else if (why == SL_BACK_NO_FIT || why == SL_BACK_NO_VICTIMS || why == SL_BACK_PREEMPTING) {
        sum = mixed(sum, sum_of_details());
    }
    bool news = told[id] != sum;
    told[id] = sum;
    return news;
}
