/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Shapes: what makes two workloads ask for the same. A hash to find them by, and the comparison
 * that decides. */
#include "policy/requests/shape.h"

#include "kernel/base/order.h"
#include "policy/requests/requests.h"
#include "policy/requests/shape_topology.h"
#include "policy/requests/slices.h"

/* One step of FNV-1a over whole words. */
/*@ terminates \true; exits \false; assigns \nothing; */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 1099511628211u;
}

/*@ terminates \true; exits \false; assigns \nothing; */
static uint64_t mix_requests(uint64_t hash, uint32_t pod_set)
{
    uint32_t r = sl_requests_first(pod_set);
    /*@ loop assigns i, r, hash; loop variant SL_REQUESTS_MAX - i; */
    for (uint32_t i = 0; r != SL_NO_ID && i < SL_REQUESTS_MAX; i++) {
        hash = mix(mix(hash, sl_requests_resource(r)), (uint64_t)sl_requests_per_pod(r));
        r = sl_requests_next(r);
    }
    return hash;
}

uint64_t sl_shape_hash(sl_workload_id id)
{
    uint64_t hash = mix(14695981039346656037u, (uint32_t)sl_order_of(id).priority);
    uint32_t set = sl_requests_first_pod_set(id);
    /*@ loop assigns i, set, hash; loop variant SL_POD_SETS_MAX - i; */
    for (uint32_t i = 0; set != SL_NO_ID && i < SL_POD_SETS_MAX; i++) {
        hash = mix(mix(hash, sl_requests_pod_count(set)), sl_requests_min_count(set));
        hash = mix_requests(mix(hash, sl_requests_group(set)), set);
        hash = mix(mix(hash, sl_shape_topology_hash(set)), sl_requests_fingerprint(set));
        set = sl_requests_next_pod_set(set);
    }
    hash = sl_slices_is(id) ? mix(hash, id) : hash;
    return hash ^ (hash >> 32); /* the low bits of a product alone depend on low bits only */
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool same_requests(uint32_t set_a, uint32_t set_b)
{
    uint32_t a = sl_requests_first(set_a);
    uint32_t b = sl_requests_first(set_b);
    /*@ loop assigns i, a, b; loop variant SL_REQUESTS_MAX - i; */
    for (uint32_t i = 0; a != SL_NO_ID && b != SL_NO_ID && i < SL_REQUESTS_MAX; i++) {
        if (sl_requests_resource(a) != sl_requests_resource(b) ||
            sl_requests_per_pod(a) != sl_requests_per_pod(b)) {
            return false;
        }
        a = sl_requests_next(a);
        b = sl_requests_next(b);
    }
    return a == b;
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool same_sets(uint32_t a, uint32_t b)
{
    return sl_requests_pod_count(a) == sl_requests_pod_count(b) &&
           sl_requests_min_count(a) == sl_requests_min_count(b) &&
           sl_requests_group(a) == sl_requests_group(b) &&
           sl_requests_fingerprint(a) == sl_requests_fingerprint(b) && same_requests(a, b) &&
           sl_requests_same_exclusions(a, b) && sl_shape_topology_equal(a, b);
}

bool sl_shape_equal(sl_workload_id a, sl_workload_id b)
{
    if (sl_order_of(a).priority != sl_order_of(b).priority) {
        return false;
    }
    if (a != b && (sl_slices_is(a) || sl_slices_is(b))) {
        return false; /* what it needs depends on whose place it takes */
    }
    uint32_t set_a = sl_requests_first_pod_set(a);
    uint32_t set_b = sl_requests_first_pod_set(b);
    /*@ loop assigns i, set_a, set_b; loop variant SL_POD_SETS_MAX - i; */
    for (uint32_t i = 0; set_a != SL_NO_ID && set_b != SL_NO_ID && i < SL_POD_SETS_MAX; i++) {
        if (!same_sets(set_a, set_b)) {
            return false;
        }
        set_a = sl_requests_next_pod_set(set_a);
        set_b = sl_requests_next_pod_set(set_b);
    }
    return set_a == set_b;
}
