/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is asked of requests. */
#include "policy/requests/request_pools.h"

/*@
  terminates \true; exits \false; assigns \nothing;
  ensures index: \result == (link != 0 ? (uint32_t)(link - 1) : SL_NO_ID);
*/
static uint32_t index_of(uint32_t link)
{
    return link != 0 ? link - 1 : SL_NO_ID;
}

/*@ requires links: RequestsLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_requests_first_pod_set(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? index_of(sl_pool_first_set[id]) : SL_NO_ID;
}

/*@ requires links: RequestsLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_requests_next_pod_set(uint32_t pod_set)
{
    return pod_set < SL_REQUESTS_POD_SETS ? index_of(sl_pool_set_next[pod_set]) : SL_NO_ID;
}

/*@ requires links: RequestsLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_requests_pod_count(uint32_t pod_set)
{
    return pod_set < SL_REQUESTS_POD_SETS ? sl_pool_set_pods[pod_set] : 0;
}

/*@ requires links: RequestsLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_requests_min_count(uint32_t pod_set)
{
    return pod_set < SL_REQUESTS_POD_SETS ? sl_pool_set_min_pods[pod_set] : 0;
}

uint32_t sl_requests_group(uint32_t pod_set)
{
    return pod_set < SL_REQUESTS_POD_SETS ? index_of(sl_pool_set_group[pod_set]) : SL_NO_ID;
}

uint64_t sl_requests_fingerprint(uint32_t pod_set)
{
    return pod_set < SL_REQUESTS_POD_SETS ? sl_pool_set_fingerprint[pod_set] : 0;
}

/*@ requires links: RequestsLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_requests_first(uint32_t pod_set)
{
    return pod_set < SL_REQUESTS_POD_SETS ? index_of(sl_pool_set_first_request[pod_set]) : SL_NO_ID;
}

/*@ requires links: RequestsLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_requests_next(uint32_t request)
{
    return request < SL_REQUESTS_ROWS ? index_of(sl_pool_request_next[request]) : SL_NO_ID;
}

sl_resource_id sl_requests_resource(uint32_t request)
{
    return request < SL_REQUESTS_ROWS ? sl_pool_request_resource[request] : SL_NO_ID;
}

/*@ requires links: RequestsLinks; terminates \true; exits \false; assigns \nothing; */
int64_t sl_requests_amount(uint32_t request)
{
    return request < SL_REQUESTS_ROWS ? sl_pool_request_amount[request] : 0;
}

/*@ requires links: RequestsLinks; terminates \true; exits \false; assigns \nothing; */
int64_t sl_requests_per_pod(uint32_t request)
{
    return request < SL_REQUESTS_ROWS ? sl_pool_request_per_pod[request] : 0;
}

/*@ requires links: RequestsLinks; terminates \true; exits \false; assigns \nothing; */
enum sl_exclusion sl_requests_excludes(uint32_t pod_set, sl_flavor_id flavor)
{
    if (pod_set >= SL_REQUESTS_POD_SETS) {
        return SL_EXCLUDED_NOT;
    }
    uint32_t link = sl_pool_set_first_exclusion[pod_set];
    /*@
      loop invariant link: link <= SL_REQUESTS_EXCLUSIONS;
      loop assigns steps, link;
      loop variant SL_REQUESTS_EXCLUSIONS - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_REQUESTS_EXCLUSIONS; steps++) {
        if (sl_pool_exclusion_flavor[link - 1] == flavor) {
            return sl_pool_exclusion_why[link - 1];
        }
        link = sl_pool_exclusion_next[link - 1];
    }
    return SL_EXCLUDED_NOT;
}

/* Is everything that one excludes excluded for the same reason by the other? */
/*@
  requires links: RequestsLinks && pod_set < SL_REQUESTS_POD_SETS && other < SL_REQUESTS_POD_SETS;
  terminates \true; exits \false; assigns \nothing;
*/
static bool excludes_all(uint32_t pod_set, uint32_t other)
{
    uint32_t link = sl_pool_set_first_exclusion[other];
    /*@
      loop invariant link: link <= SL_REQUESTS_EXCLUSIONS;
      loop assigns steps, link;
      loop variant SL_REQUESTS_EXCLUSIONS - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_REQUESTS_EXCLUSIONS; steps++) {
        if (sl_requests_excludes(pod_set, sl_pool_exclusion_flavor[link - 1]) !=
            sl_pool_exclusion_why[link - 1]) {
            return false;
        }
        link = sl_pool_exclusion_next[link - 1];
    }
    return true;
}

/*@ requires links: RequestsLinks; terminates \true; exits \false; assigns \nothing; */
bool sl_requests_same_exclusions(uint32_t a, uint32_t b)
{
    return a < SL_REQUESTS_POD_SETS && b < SL_REQUESTS_POD_SETS && excludes_all(a, b) &&
           excludes_all(b, a);
}

uint32_t sl_requests_set_count(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? sl_pool_set_counts[id] : 0;
}

bool sl_requests_is_single_pod(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && sl_pool_single_pod[id];
}

uint32_t sl_requests_sets_used(void)
{
    return sl_pool_set_used;
}

uint32_t sl_requests_rows_used(void)
{
    return sl_pool_request_used;
}

uint32_t sl_requests_exclusions_used(void)
{
    return sl_pool_exclusion_used;
}
