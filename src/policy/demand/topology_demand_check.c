/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whether what a pod set asks of the topology can be kept. */
#include "policy/demand/topology_demand.h"

/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_DEMAND_SETS || \result == SL_NO_ID; */
static uint32_t last_pod_set(sl_workload_id id)
{
    uint32_t pod_set = sl_demand_first_pod_set(id);
    /*@
      loop invariant known: pod_set < SL_DEMAND_SETS || pod_set == SL_NO_ID;
      loop assigns steps, pod_set;
      loop variant SL_POD_SETS_MAX - steps;
    */
    for (uint32_t steps = 0; pod_set != SL_NO_ID && steps < SL_POD_SETS_MAX; steps++) {
        uint32_t next = sl_demand_next_pod_set(pod_set);
        if (next == SL_NO_ID) {
            break;
        }
        pod_set = next;
    }
    return pod_set;
}

/*@ requires within: demand.request_count <= SL_TOPOLOGY_REQUESTS_MAX; terminates \true;
    exits \false; assigns \nothing; */
static enum sl_status check_requests(struct sl_topology_demand demand)
{
    bool seen[SL_MEASURES_MAX] = {[SL_MEASURE_PODS] = true};
    /*@
      loop assigns i, seen[0 .. SL_MEASURES_MAX - 1];
      loop variant demand.request_count - i;
    */
    for (uint32_t i = 0; i < demand.request_count; i++) {
        sl_measure_id measure = demand.requests[i].measure;
        if (measure >= SL_MEASURES_MAX || seen[measure]) {
            return SL_REFUSED_BAD_ARGUMENT;
        }
        if (demand.requests[i].per_pod < 0 || demand.requests[i].per_pod > SL_AMOUNT_MAX) {
            return SL_REFUSED_AMOUNT;
        }
        seen[measure] = true;
    }
    return SL_OK;
}

/*@ terminates \true; exits \false; assigns \nothing;
    ensures within: \result == SL_OK ==> demand.layer_count <= SL_LAYERS_MAX &&
      demand.request_count <= SL_TOPOLOGY_REQUESTS_MAX; */
static enum sl_status check(struct sl_topology_demand demand)
{
    bool has_level = demand.level != SL_NO_ID;
    bool wants_level =
        demand.together == SL_TOGETHER_REQUIRED || demand.together == SL_TOGETHER_PREFERRED;
    if (demand.together > SL_TOGETHER_UNCONSTRAINED || has_level != wants_level ||
        demand.layer_count > SL_LAYERS_MAX || demand.request_count > SL_TOPOLOGY_REQUESTS_MAX ||
        (demand.mask != SL_NO_ID && demand.mask >= SL_MASKS_MAX)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    return check_requests(demand);
}

enum sl_status sl_topology_demand_set(sl_workload_id id, struct sl_topology_demand demand)
{
    uint32_t pod_set = last_pod_set(id);
    if (pod_set == SL_NO_ID) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    enum sl_status status = check(demand);
    return status == SL_OK ? sl_topology_demand_keep(pod_set, demand) : status;
}
