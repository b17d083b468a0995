/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Demands are built: lists of records from three pools. */
#include "policy/requests/request_pools.h"

#include "policy/requests/topology_request.h"

/*@
  requires links: RequestsLinks;
  terminates \true; exits \false;
  assigns DEMANDS, sl_hidden;
  ensures links: RequestsLinks;
*/
void sl_requests_clear(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    uint32_t link = sl_pool_first_set[id];
    /*@
      loop invariant links: RequestsLinks && link <= SL_REQUESTS_POD_SETS;
      loop assigns steps, link, SETS, SET_POOL, REQUESTS, REQUEST_POOL, EXCLUSIONS, EXCLUSION_POOL,
        sl_hidden;
      loop variant SL_POD_SETS_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_POD_SETS_MAX; steps++) {
        uint32_t next = sl_pool_set_next[link - 1];
        sl_pool_give_requests(sl_pool_set_first_request[link - 1]);
        sl_pool_give_exclusions(sl_pool_set_first_exclusion[link - 1]);
        sl_topology_request_drop(link - 1);
        sl_pool_set_next[link - 1] = sl_pool_set_free;
        sl_pool_set_free = link;
        sl_pool_set_used--;
        link = next;
    }
    sl_pool_first_set[id] = 0;
    sl_pool_last_set[id] = 0;
    sl_pool_set_counts[id] = 0;
    sl_pool_single_pod[id] = false;
}

/*@ terminates \true; exits \false; assigns sl_pool_single_pod[id]; */
void sl_requests_set_single_pod(sl_workload_id id, bool single)
{
    if (id < SL_WORKLOADS_MAX) {
        sl_pool_single_pod[id] = single;
    }
}

/*@
  requires links: RequestsLinks;
  terminates \true; exits \false;
  assigns DEMANDS;
  ensures links: RequestsLinks;
*/
enum sl_status sl_requests_add_pod_set(sl_workload_id id, uint32_t count)
{
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (count > INT32_MAX || sl_pool_set_counts[id] >= SL_POD_SETS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    uint32_t link = sl_pool_take_set();
    if (link == 0) {
        return SL_FULL_WORKLOADS;
    }
    sl_pool_set_next[link - 1] = 0;
    sl_pool_set_pods[link - 1] = count;
    sl_pool_set_min_pods[link - 1] = count;
    sl_pool_set_group[link - 1] = 0;
    sl_pool_set_fingerprint[link - 1] = 0;
    sl_pool_set_first_request[link - 1] = 0;
    sl_pool_set_last_request[link - 1] = 0;
    sl_pool_set_request_count[link - 1] = 0;
    sl_pool_set_first_exclusion[link - 1] = 0;
    if (sl_pool_last_set[id] == 0) {
        sl_pool_first_set[id] = link;
    } else {
        sl_pool_set_next[sl_pool_last_set[id] - 1] = link;
    }
    sl_pool_last_set[id] = link;
    sl_pool_set_counts[id]++;
    return SL_OK;
}

/* The pod set added last, or why there is none. */
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures last: \result == SL_OK ==> id < SL_WORKLOADS_MAX && sl_pool_last_set[id] != 0;
*/
static enum sl_status find_last(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    return sl_pool_last_set[id] != 0 ? SL_OK : SL_REFUSED_BAD_ARGUMENT;
}

/*@
  requires links: RequestsLinks;
  terminates \true; exits \false;
  assigns sl_pool_set_min_pods[sl_pool_last_set[id] - 1];
  ensures links: RequestsLinks;
*/
enum sl_status sl_requests_set_min_count(sl_workload_id id, uint32_t min_count)
{
    enum sl_status status = find_last(id);
    if (status != SL_OK) {
        return status;
    }
    if (min_count > sl_pool_set_pods[sl_pool_last_set[id] - 1]) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    sl_pool_set_min_pods[sl_pool_last_set[id] - 1] = min_count;
    return SL_OK;
}

/*@
  requires links: RequestsLinks;
  terminates \true; exits \false;
  assigns sl_pool_set_group[sl_pool_last_set[id] - 1];
  ensures links: RequestsLinks;
*/
enum sl_status sl_requests_set_group(sl_workload_id id, uint32_t group)
{
    enum sl_status status = find_last(id);
    if (status == SL_OK) {
        sl_pool_set_group[sl_pool_last_set[id] - 1] = group == SL_NO_ID ? 0 : group + 1;
    }
    return status;
}

/*@
  requires links: RequestsLinks;
  terminates \true; exits \false;
  assigns sl_pool_set_fingerprint[sl_pool_last_set[id] - 1];
  ensures links: RequestsLinks;
*/
enum sl_status sl_requests_set_fingerprint(sl_workload_id id, uint64_t fingerprint)
{
    enum sl_status status = find_last(id);
    if (status == SL_OK) {
        sl_pool_set_fingerprint[sl_pool_last_set[id] - 1] = fingerprint;
    }
    return status;
}

/*@
  requires links: RequestsLinks && pod_set < SL_REQUESTS_POD_SETS;
  terminates \true; exits \false; assigns \nothing;
*/
static bool asks_for(uint32_t pod_set, sl_resource_id resource)
{
    uint32_t link = sl_pool_set_first_request[pod_set];
    /*@
      loop invariant link: link <= SL_REQUESTS_ROWS;
      loop assigns steps, link;
      loop variant SL_REQUESTS_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_REQUESTS_MAX; steps++) {
        if (sl_pool_request_resource[link - 1] == resource) {
            return true;
        }
        link = sl_pool_request_next[link - 1];
    }
    return false;
}

/* May this pod set ask for that much of the resource besides what it asks for already? */
/*@
  requires links: RequestsLinks && pod_set < SL_REQUESTS_POD_SETS;
  terminates \true; exits \false; assigns \nothing;
  ensures amount: \result == SL_OK ==> 0 <= per_pod &&
    per_pod * sl_pool_set_pods[pod_set] <= SL_AMOUNT_MAX && per_pod <= SL_AMOUNT_MAX;
*/
static enum sl_status check_request(uint32_t pod_set, sl_resource_id resource, int64_t per_pod)
{
    if (resource == SL_NO_ID || sl_pool_set_request_count[pod_set] >= SL_REQUESTS_MAX ||
        asks_for(pod_set, resource)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (per_pod < 0 || per_pod > SL_AMOUNT_MAX ||
        (sl_pool_set_pods[pod_set] != 0 &&
         per_pod > SL_AMOUNT_MAX / (int64_t)sl_pool_set_pods[pod_set])) {
        return SL_REFUSED_AMOUNT;
    }
    return SL_OK;
}

/*@
  requires links: RequestsLinks;
  terminates \true; exits \false;
  assigns DEMANDS;
  ensures links: RequestsLinks;
*/
enum sl_status sl_requests_add(sl_workload_id id, sl_resource_id resource, int64_t per_pod)
{
    enum sl_status status = find_last(id);
    if (status != SL_OK) {
        return status;
    }
    uint32_t pod_set = sl_pool_last_set[id] - 1;
    status = check_request(pod_set, resource, per_pod);
    if (status != SL_OK) {
        return status;
    }
    uint32_t link = sl_pool_take_request();
    if (link == 0) {
        return SL_FULL_WORKLOADS;
    }
    sl_pool_request_next[link - 1] = 0;
    sl_pool_request_resource[link - 1] = resource;
    sl_pool_request_per_pod[link - 1] = per_pod;
    sl_pool_request_amount[link - 1] = per_pod * (int64_t)sl_pool_set_pods[pod_set];
    if (sl_pool_set_last_request[pod_set] == 0) {
        sl_pool_set_first_request[pod_set] = link;
    } else {
        sl_pool_request_next[sl_pool_set_last_request[pod_set] - 1] = link;
    }
    sl_pool_set_last_request[pod_set] = link;
    sl_pool_set_request_count[pod_set]++;
    return SL_OK;
}

/*@
  requires links: RequestsLinks;
  terminates \true; exits \false;
  assigns DEMANDS;
  ensures links: RequestsLinks;
*/
enum sl_status sl_requests_add_exclusion(sl_workload_id id, sl_flavor_id flavor,
                                         enum sl_exclusion why)
{
    enum sl_status status = find_last(id);
    if (status != SL_OK) {
        return status;
    }
    if (why == SL_EXCLUDED_NOT || why > SL_EXCLUDED_UNNAMED) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_requests_excludes(sl_pool_last_set[id] - 1, flavor) != SL_EXCLUDED_NOT) {
        return SL_OK;
    }
    uint32_t link = sl_pool_take_exclusion();
    if (link == 0) {
        return SL_FULL_WORKLOADS;
    }
    sl_pool_exclusion_flavor[link - 1] = flavor;
    sl_pool_exclusion_why[link - 1] = why;
    sl_pool_exclusion_next[link - 1] = sl_pool_set_first_exclusion[sl_pool_last_set[id] - 1];
    sl_pool_set_first_exclusion[sl_pool_last_set[id] - 1] = link;
    return SL_OK;
}
