/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Demands: lists of records from three pools. A link is an index plus one; 0 says "none". A pool
 * gives out what was given back first, then what was never used. */
#include "policy/demand.h"

static uint32_t first_set[SL_WORKLOADS_MAX];
static uint32_t last_set[SL_WORKLOADS_MAX];
static uint32_t set_counts[SL_WORKLOADS_MAX];

static uint32_t set_next[SL_DEMAND_SETS];
static uint32_t set_pods[SL_DEMAND_SETS];
static uint32_t set_first_request[SL_DEMAND_SETS];
static uint32_t set_last_request[SL_DEMAND_SETS];
static uint32_t set_request_count[SL_DEMAND_SETS];
static uint32_t set_first_exclusion[SL_DEMAND_SETS];
static uint32_t set_free;
static uint32_t set_limit;
static uint32_t set_used;

static uint32_t request_next[SL_DEMAND_REQUESTS];
static sl_resource_id request_resource[SL_DEMAND_REQUESTS];
static int64_t request_amount[SL_DEMAND_REQUESTS];
static uint32_t request_free;
static uint32_t request_limit;
static uint32_t request_used;

static uint32_t exclusion_next[SL_DEMAND_EXCLUSIONS];
static sl_flavor_id exclusion_flavor[SL_DEMAND_EXCLUSIONS];
static enum sl_exclusion exclusion_why[SL_DEMAND_EXCLUSIONS];
static uint32_t exclusion_free;
static uint32_t exclusion_limit;
static uint32_t exclusion_used;

/* --- pools: take gives a link, 0 when the pool is used up ------------------------------------ */

static uint32_t take_set(void)
{
    uint32_t link = set_free;
    if (link != 0) {
        set_free = set_next[link - 1];
    } else if (set_limit < SL_DEMAND_SETS) {
        set_limit++;
        link = set_limit;
    } else {
        return 0;
    }
    set_used++;
    return link;
}

static uint32_t take_request(void)
{
    uint32_t link = request_free;
    if (link != 0) {
        request_free = request_next[link - 1];
    } else if (request_limit < SL_DEMAND_REQUESTS) {
        request_limit++;
        link = request_limit;
    } else {
        return 0;
    }
    request_used++;
    return link;
}

static uint32_t take_exclusion(void)
{
    uint32_t link = exclusion_free;
    if (link != 0) {
        exclusion_free = exclusion_next[link - 1];
    } else if (exclusion_limit < SL_DEMAND_EXCLUSIONS) {
        exclusion_limit++;
        link = exclusion_limit;
    } else {
        return 0;
    }
    exclusion_used++;
    return link;
}

static void give_requests(uint32_t link)
{
    while (link != 0) {
        uint32_t next = request_next[link - 1];
        request_next[link - 1] = request_free;
        request_free = link;
        request_used--;
        link = next;
    }
}

static void give_exclusions(uint32_t link)
{
    while (link != 0) {
        uint32_t next = exclusion_next[link - 1];
        exclusion_next[link - 1] = exclusion_free;
        exclusion_free = link;
        exclusion_used--;
        link = next;
    }
}

/* --- building -------------------------------------------------------------------------------- */

void sl_demand_clear(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    uint32_t link = first_set[id];
    while (link != 0) {
        uint32_t next = set_next[link - 1];
        give_requests(set_first_request[link - 1]);
        give_exclusions(set_first_exclusion[link - 1]);
        set_next[link - 1] = set_free;
        set_free = link;
        set_used--;
        link = next;
    }
    first_set[id] = 0;
    last_set[id] = 0;
    set_counts[id] = 0;
}

enum sl_status sl_demand_add_pod_set(sl_workload_id id, uint32_t count)
{
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (count > INT32_MAX || set_counts[id] >= SL_POD_SETS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    uint32_t link = take_set();
    if (link == 0) {
        return SL_FULL_WORKLOADS;
    }
    set_next[link - 1] = 0;
    set_pods[link - 1] = count;
    set_first_request[link - 1] = 0;
    set_last_request[link - 1] = 0;
    set_request_count[link - 1] = 0;
    set_first_exclusion[link - 1] = 0;
    if (last_set[id] == 0) {
        first_set[id] = link;
    } else {
        set_next[last_set[id] - 1] = link;
    }
    last_set[id] = link;
    set_counts[id]++;
    return SL_OK;
}

static bool asks_for(uint32_t pod_set, sl_resource_id resource)
{
    for (uint32_t link = set_first_request[pod_set]; link != 0; link = request_next[link - 1]) {
        if (request_resource[link - 1] == resource) {
            return true;
        }
    }
    return false;
}

/* May this pod set ask for that much of the resource besides what it asks for already? */
static enum sl_status check_request(uint32_t pod_set, sl_resource_id resource, int64_t per_pod)
{
    if (resource == SL_NO_ID || set_request_count[pod_set] >= SL_REQUESTS_MAX ||
        asks_for(pod_set, resource)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (per_pod < 0 || per_pod > SL_AMOUNT_MAX ||
        (set_pods[pod_set] != 0 && per_pod > SL_AMOUNT_MAX / (int64_t)set_pods[pod_set])) {
        return SL_REFUSED_AMOUNT;
    }
    return SL_OK;
}

enum sl_status sl_demand_add_request(sl_workload_id id, sl_resource_id resource, int64_t per_pod)
{
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (last_set[id] == 0) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    uint32_t pod_set = last_set[id] - 1;
    enum sl_status status = check_request(pod_set, resource, per_pod);
    if (status != SL_OK) {
        return status;
    }
    uint32_t link = take_request();
    if (link == 0) {
        return SL_FULL_WORKLOADS;
    }
    request_next[link - 1] = 0;
    request_resource[link - 1] = resource;
    request_amount[link - 1] = per_pod * (int64_t)set_pods[pod_set];
    if (set_last_request[pod_set] == 0) {
        set_first_request[pod_set] = link;
    } else {
        request_next[set_last_request[pod_set] - 1] = link;
    }
    set_last_request[pod_set] = link;
    set_request_count[pod_set]++;
    return SL_OK;
}

enum sl_status sl_demand_add_exclusion(sl_workload_id id, sl_flavor_id flavor,
                                       enum sl_exclusion why)
{
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (last_set[id] == 0 || why == SL_EXCLUDED_NOT || why > SL_EXCLUDED_MISSING) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_demand_excludes(last_set[id] - 1, flavor) != SL_EXCLUDED_NOT) {
        return SL_OK;
    }
    uint32_t link = take_exclusion();
    if (link == 0) {
        return SL_FULL_WORKLOADS;
    }
    exclusion_flavor[link - 1] = flavor;
    exclusion_why[link - 1] = why;
    exclusion_next[link - 1] = set_first_exclusion[last_set[id] - 1];
    set_first_exclusion[last_set[id] - 1] = link;
    return SL_OK;
}

/* --- questions ------------------------------------------------------------------------------- */

static uint32_t index_of(uint32_t link)
{
    return link != 0 ? link - 1 : SL_NO_ID;
}

uint32_t sl_demand_first_pod_set(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? index_of(first_set[id]) : SL_NO_ID;
}

uint32_t sl_demand_next_pod_set(uint32_t pod_set)
{
    return pod_set < SL_DEMAND_SETS ? index_of(set_next[pod_set]) : SL_NO_ID;
}

uint32_t sl_demand_pod_count(uint32_t pod_set)
{
    return pod_set < SL_DEMAND_SETS ? set_pods[pod_set] : 0;
}

uint32_t sl_demand_first_request(uint32_t pod_set)
{
    return pod_set < SL_DEMAND_SETS ? index_of(set_first_request[pod_set]) : SL_NO_ID;
}

uint32_t sl_demand_next_request(uint32_t request)
{
    return request < SL_DEMAND_REQUESTS ? index_of(request_next[request]) : SL_NO_ID;
}

sl_resource_id sl_demand_resource(uint32_t request)
{
    return request < SL_DEMAND_REQUESTS ? request_resource[request] : SL_NO_ID;
}

int64_t sl_demand_amount(uint32_t request)
{
    return request < SL_DEMAND_REQUESTS ? request_amount[request] : 0;
}

enum sl_exclusion sl_demand_excludes(uint32_t pod_set, sl_flavor_id flavor)
{
    if (pod_set >= SL_DEMAND_SETS) {
        return SL_EXCLUDED_NOT;
    }
    for (uint32_t link = set_first_exclusion[pod_set]; link != 0; link = exclusion_next[link - 1]) {
        if (exclusion_flavor[link - 1] == flavor) {
            return exclusion_why[link - 1];
        }
    }
    return SL_EXCLUDED_NOT;
}

/* Is everything that one excludes excluded for the same reason by the other? */
static bool excludes_all(uint32_t pod_set, uint32_t other)
{
    for (uint32_t link = set_first_exclusion[other]; link != 0; link = exclusion_next[link - 1]) {
        if (sl_demand_excludes(pod_set, exclusion_flavor[link - 1]) != exclusion_why[link - 1]) {
            return false;
        }
    }
    return true;
}

bool sl_demand_same_exclusions(uint32_t a, uint32_t b)
{
    return a < SL_DEMAND_SETS && b < SL_DEMAND_SETS && excludes_all(a, b) && excludes_all(b, a);
}

uint32_t sl_demand_set_count(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? set_counts[id] : 0;
}

uint32_t sl_demand_sets_used(void)
{
    return set_used;
}

uint32_t sl_demand_requests_used(void)
{
    return request_used;
}

uint32_t sl_demand_exclusions_used(void)
{
    return exclusion_used;
}
