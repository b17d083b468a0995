/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "policy/requests/shape_topology.h"

#include "policy/requests/topology_request.h"

/* A hash that sees what differs as a rule; equality decides. */
uint64_t sl_shape_topology_hash(uint32_t pod_set)
{
    struct sl_topology_request request = sl_topology_request_of(pod_set);
    uint64_t hash = (uint64_t)request.together * 31 + request.level;
    hash = hash * 31 + request.mask;
    /*@ loop assigns i, hash; loop variant request.layer_count - i; */
    for (uint32_t i = 0; i < request.layer_count; i++) {
        hash = (hash * 31 + request.layers[i].level) * 31 + request.layers[i].size;
    }
    return hash;
}

/*@ requires within: a.layer_count <= SL_LAYERS_MAX && b.layer_count <= SL_LAYERS_MAX;
    terminates \true; exits \false; assigns \nothing; */
static bool same_layers(struct sl_topology_request a, struct sl_topology_request b)
{
    bool same = a.layer_count == b.layer_count;
    /*@ loop assigns i, same; loop variant a.layer_count - i; */
    for (uint32_t i = 0; i < a.layer_count && same; i++) {
        same = a.layers[i].level == b.layers[i].level && a.layers[i].size == b.layers[i].size;
    }
    return same;
}

/*@ requires within: a.request_count <= SL_TOPOLOGY_REQUESTS_MAX &&
      b.request_count <= SL_TOPOLOGY_REQUESTS_MAX;
    terminates \true; exits \false; assigns \nothing; */
static bool same_requests(struct sl_topology_request a, struct sl_topology_request b)
{
    bool same = a.request_count == b.request_count;
    /*@ loop assigns i, same; loop variant a.request_count - i; */
    for (uint32_t i = 0; i < a.request_count && same; i++) {
        same = a.requests[i].measure == b.requests[i].measure &&
               a.requests[i].per_pod == b.requests[i].per_pod;
    }
    return same;
}

bool sl_shape_topology_equal(uint32_t set_a, uint32_t set_b)
{
    struct sl_topology_request a = sl_topology_request_of(set_a);
    struct sl_topology_request b = sl_topology_request_of(set_b);
    return a.asked == b.asked && a.elastic == b.elastic && a.together == b.together &&
           a.level == b.level && a.mask == b.mask && a.rank_group == b.rank_group &&
           same_layers(a, b) && same_requests(a, b);
}
