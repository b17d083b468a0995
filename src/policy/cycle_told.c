/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a workload was told last, as a number: it differs when Kueue's words would. Kueue writes its
 * words to the Workload, and what it sees written it takes for news. */
#include "policy/cycle_steps.h"

#include "policy/flavors.h"

static uint64_t told[SL_WORKLOADS_MAX];

/*@ terminates \true; exits \false; assigns \nothing; */
static uint64_t mixed(uint64_t sum, uint64_t value)
{
    uint64_t product = (sum ^ value) * 0x9e3779b97f4a7c15u;
    return product ^ (product >> 29);
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
    return mixed(mixed(sum, sl_assignment.topology_failure.fit), sl_assignment.topology_failure.of);
}

/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns told[id]; */
bool sl_cycle_tells_news(sl_workload_id id, enum sl_back why)
{
    uint64_t sum = mixed((uint64_t)why + 1u, sl_cycle_outcome.victim_count);
    if (why == SL_BACK_SKIPPED ||
        (why == SL_BACK_PREEMPTING && sl_cycle_outcome.victim_count == 0)) {
        sum = mixed(sum, sl_cycle_outcome.overlaps ? 1u : 0u);
    } else if (why == SL_BACK_NO_FIT || why == SL_BACK_NO_VICTIMS || why == SL_BACK_PREEMPTING) {
        sum = mixed(sum, sum_of_details());
    }
    bool news = told[id] != sum;
    told[id] = sum;
    return news;
}
