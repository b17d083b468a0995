/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pools of requests. */
#include "policy/requests/request_pools.h"

uint32_t sl_pool_first_set[SL_WORKLOADS_MAX];
uint32_t sl_pool_last_set[SL_WORKLOADS_MAX];
uint32_t sl_pool_set_counts[SL_WORKLOADS_MAX];
bool sl_pool_single_pod[SL_WORKLOADS_MAX];

uint32_t sl_pool_set_next[SL_REQUESTS_POD_SETS];
uint32_t sl_pool_set_pods[SL_REQUESTS_POD_SETS];
uint32_t sl_pool_set_min_pods[SL_REQUESTS_POD_SETS];
uint32_t sl_pool_set_group[SL_REQUESTS_POD_SETS];
uint64_t sl_pool_set_fingerprint[SL_REQUESTS_POD_SETS];
uint32_t sl_pool_set_first_request[SL_REQUESTS_POD_SETS];
uint32_t sl_pool_set_last_request[SL_REQUESTS_POD_SETS];
uint32_t sl_pool_set_request_count[SL_REQUESTS_POD_SETS];
uint32_t sl_pool_set_first_exclusion[SL_REQUESTS_POD_SETS];
uint32_t sl_pool_set_free;
uint32_t sl_pool_set_limit;
uint32_t sl_pool_set_used;

uint32_t sl_pool_request_next[SL_REQUESTS_ROWS];
sl_resource_id sl_pool_request_resource[SL_REQUESTS_ROWS];
int64_t sl_pool_request_per_pod[SL_REQUESTS_ROWS];
int64_t sl_pool_request_amount[SL_REQUESTS_ROWS];
uint32_t sl_pool_request_free;
uint32_t sl_pool_request_limit;
uint32_t sl_pool_request_used;

uint32_t sl_pool_exclusion_next[SL_REQUESTS_EXCLUSIONS];
sl_flavor_id sl_pool_exclusion_flavor[SL_REQUESTS_EXCLUSIONS];
enum sl_exclusion sl_pool_exclusion_why[SL_REQUESTS_EXCLUSIONS];
uint32_t sl_pool_exclusion_free;
uint32_t sl_pool_exclusion_limit;
uint32_t sl_pool_exclusion_used;

uint32_t sl_pool_take_set(void)
{
    uint32_t link = sl_pool_set_free;
    if (link != 0) {
        sl_pool_set_free = sl_pool_set_next[link - 1];
    } else if (sl_pool_set_limit < SL_REQUESTS_POD_SETS) {
        sl_pool_set_limit++;
        link = sl_pool_set_limit;
    } else {
        return 0;
    }
    sl_pool_set_used++;
    return link;
}

uint32_t sl_pool_take_request(void)
{
    uint32_t link = sl_pool_request_free;
    if (link != 0) {
        sl_pool_request_free = sl_pool_request_next[link - 1];
    } else if (sl_pool_request_limit < SL_REQUESTS_ROWS) {
        sl_pool_request_limit++;
        link = sl_pool_request_limit;
    } else {
        return 0;
    }
    sl_pool_request_used++;
    return link;
}

uint32_t sl_pool_take_exclusion(void)
{
    uint32_t link = sl_pool_exclusion_free;
    if (link != 0) {
        sl_pool_exclusion_free = sl_pool_exclusion_next[link - 1];
    } else if (sl_pool_exclusion_limit < SL_REQUESTS_EXCLUSIONS) {
        sl_pool_exclusion_limit++;
        link = sl_pool_exclusion_limit;
    } else {
        return 0;
    }
    sl_pool_exclusion_used++;
    return link;
}

void sl_pool_give_requests(uint32_t link)
{
    /*@
      loop invariant links: RequestLinks && link <= SL_REQUESTS_ROWS;
      loop assigns steps, link, REQUEST_POOL, sl_pool_request_next[0 .. SL_REQUESTS_ROWS - 1];
      loop variant SL_REQUESTS_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_REQUESTS_MAX; steps++) {
        uint32_t next = sl_pool_request_next[link - 1];
        sl_pool_request_next[link - 1] = sl_pool_request_free;
        sl_pool_request_free = link;
        sl_pool_request_used--;
        link = next;
    }
}

void sl_pool_give_exclusions(uint32_t link)
{
    /*@
      loop invariant links: ExclusionLinks && link <= SL_REQUESTS_EXCLUSIONS;
      loop assigns steps, link, EXCLUSION_POOL,
                   sl_pool_exclusion_next[0 .. SL_REQUESTS_EXCLUSIONS - 1];
      loop variant SL_REQUESTS_EXCLUSIONS - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_REQUESTS_EXCLUSIONS; steps++) {
        uint32_t next = sl_pool_exclusion_next[link - 1];
        sl_pool_exclusion_next[link - 1] = sl_pool_exclusion_free;
        sl_pool_exclusion_free = link;
        sl_pool_exclusion_used--;
        link = next;
    }
}
