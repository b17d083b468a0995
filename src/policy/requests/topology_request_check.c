/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whether what a pod set asks of the topology can be kept. */
#include "policy/requests/topology_request.h"

/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_REQUESTS_POD_SETS || \result == SL_NO_ID; */
static uint32_t last_pod_set(sl_workload_id id)
{
    uint32_t pod_set = sl_requests_first_pod_set(id);
    /*@
      loop invariant known: pod_set < SL_REQUESTS_POD_SETS || pod_set == SL_NO_ID;
      loop assigns steps, pod_set;
      loop variant SL_POD_SETS_MAX - steps;
    */
    for (uint32_t steps = 0; pod_set != SL_NO_ID && steps < SL_POD_SETS_MAX; steps++) {
        uint32_t next = sl_requests_next_pod_set(pod_set);
        if (next == SL_NO_ID) {
            break;
        }
        pod_set = next;
    }
    return pod_set;
}

/*@ requires within: request.request_count <= SL_TOPOLOGY_REQUESTS_MAX; terminates \true;
    exits \false; assigns \nothing; */
static enum sl_status check_requests(struct sl_topology_request request)
{
    bool seen[SL_MEASURES_MAX] = {[SL_MEASURE_PODS] = true};
    /*@
      loop assigns i, seen[0 .. SL_MEASURES_MAX - 1];
      loop variant request.request_count - i;
    */
    for (uint32_t i = 0; i < request.request_count; i++) {
        sl_measure_id measure = request.requests[i].measure;
        if (measure >= SL_MEASURES_MAX || seen[measure]) {
            return SL_REFUSED_BAD_ARGUMENT;
        }
        if (request.requests[i].per_pod < 0 || request.requests[i].per_pod > SL_AMOUNT_MAX) {
            return SL_REFUSED_AMOUNT;
        }
        seen[measure] = true;
    }
    return SL_OK;
}

/*@ terminates \true; exits \false; assigns \nothing;
    ensures within: \result == SL_OK ==> request.layer_count <= SL_LAYERS_MAX &&
      request.request_count <= SL_TOPOLOGY_REQUESTS_MAX; */
static enum sl_status check(struct sl_topology_request request)
{
    bool has_level = request.level != SL_NO_ID;
    bool wants_level =
        request.together == SL_TOGETHER_REQUIRED || request.together == SL_TOGETHER_PREFERRED;
    if (request.together > SL_TOGETHER_UNCONSTRAINED || has_level != wants_level ||
        request.layer_count > SL_LAYERS_MAX || request.request_count > SL_TOPOLOGY_REQUESTS_MAX ||
        (request.mask != SL_NO_ID && request.mask >= SL_MASKS_MAX)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    return check_requests(request);
}

enum sl_status sl_topology_request_set(sl_workload_id id, struct sl_topology_request request)
{
    uint32_t pod_set = last_pod_set(id);
    if (pod_set == SL_NO_ID) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    enum sl_status status = check(request);
    return status == SL_OK ? sl_topology_request_keep(pod_set, request) : status;
}
