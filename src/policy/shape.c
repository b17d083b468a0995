/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Shapes: what makes two demands ask for the same. A hash to find them by, and the comparison
 * that decides. */
#include "policy/shape.h"

#include "policy/demand.h"

/* One step of FNV-1a over whole words. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 1099511628211u;
}

static uint64_t mix_requests(uint64_t hash, uint32_t pod_set)
{
    for (uint32_t r = sl_demand_first_request(pod_set); r != SL_NO_ID;
         r = sl_demand_next_request(r)) {
        hash = mix(mix(hash, sl_demand_resource(r)), (uint64_t)sl_demand_amount(r));
    }
    return hash;
}

uint64_t sl_shape_hash(sl_workload_id id)
{
    uint64_t hash = 14695981039346656037u;
    for (uint32_t set = sl_demand_first_pod_set(id); set != SL_NO_ID;
         set = sl_demand_next_pod_set(set)) {
        hash = mix_requests(mix(hash, sl_demand_pod_count(set)), set);
    }
    return hash ^ (hash >> 32); /* the low bits of a product alone depend on low bits only */
}

static bool same_requests(uint32_t set_a, uint32_t set_b)
{
    uint32_t a = sl_demand_first_request(set_a);
    uint32_t b = sl_demand_first_request(set_b);
    while (a != SL_NO_ID && b != SL_NO_ID) {
        if (sl_demand_resource(a) != sl_demand_resource(b) ||
            sl_demand_amount(a) != sl_demand_amount(b)) {
            return false;
        }
        a = sl_demand_next_request(a);
        b = sl_demand_next_request(b);
    }
    return a == b;
}

bool sl_shape_equal(sl_workload_id a, sl_workload_id b)
{
    uint32_t set_a = sl_demand_first_pod_set(a);
    uint32_t set_b = sl_demand_first_pod_set(b);
    while (set_a != SL_NO_ID && set_b != SL_NO_ID) {
        if (sl_demand_pod_count(set_a) != sl_demand_pod_count(set_b) ||
            !same_requests(set_a, set_b) || !sl_demand_same_exclusions(set_a, set_b)) {
            return false;
        }
        set_a = sl_demand_next_pod_set(set_a);
        set_b = sl_demand_next_pod_set(set_b);
    }
    return set_a == set_b;
}
