/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What each pod set asks of the topology: at which level its pods must stay together, in slices of
 * what size, on which nodes, and what one pod takes of a node. Kept by pod set record of requests.h,
 * and void when that is cleared. What a pod takes here comes from its spec alone; what it takes of
 * quota (requests.h) may be transformed or left out. */
#ifndef SL_POLICY_TOPOLOGY_REQUEST_H
#define SL_POLICY_TOPOLOGY_REQUEST_H
#include "kernel/topology/topology.h"
#include "kernel/base/types.h"
#include "policy/requests/requests.h"
#include "policy/topology/masks.h"
#include "policy/topology/trees.h"

enum sl_together {
    /* no topology is asked for; where a queue has only flavors with topology it is placed as
       UNCONSTRAINED at the lowest level */
    SL_TOGETHER_UNASKED,
    SL_TOGETHER_REQUIRED,
    SL_TOGETHER_PREFERRED,
    SL_TOGETHER_UNCONSTRAINED
};

struct sl_topology_request {
    enum sl_together together;
    sl_level_id level;    /* with REQUIRED and PREFERRED; else SL_NO_ID */
    bool asked;           /* the spec asks for topology in some way (also: for slices alone) */
    bool elastic;         /* of an elastic job, whose pods may be more while they run */
    uint32_t layer_count; /* slices, outermost first */
    struct {
        sl_level_id level;
        uint32_t size; /* 0: the spec names a level but no size */
    } layers[SL_LAYERS_MAX];
    sl_mask_id mask; /* SL_NO_ID: any node; in a tree, sl_tolerances_mask of it counts */
    uint32_t
        rank_group; /* pod sets placed together, leader and workers (equal numbers); SL_NO_ID */
    uint32_t request_count;
    struct sl_measure_amount requests[SL_TOPOLOGY_REQUESTS_MAX]; /* without the pod itself */
};

/* For the pod set added last (sl_requests_add_pod_set). Requests may come in any order. Refused:
 * BAD_ARGUMENT, AMOUNT, FULL_WORKLOADS (a pool is used up). */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_topology_request_set(sl_workload_id id,
                                       struct sl_topology_request request) SL_MUST_CHECK;
/* For topology_request_check.c only: keep it for this record, what was kept before is forgotten. */
/*@ requires within: pod_set < SL_REQUESTS_POD_SETS && request.layer_count <= SL_LAYERS_MAX &&
      request.request_count <= SL_TOPOLOGY_REQUESTS_MAX;
    terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_topology_request_keep(uint32_t pod_set,
                                        struct sl_topology_request request) SL_MUST_CHECK;
/* Whoever gives up a pod set record (requests.c) says so here. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_topology_request_drop(uint32_t pod_set);
/* What a pod set record (sl_requests_first_pod_set) asks; UNASKED without anything when never set. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures within: \result.layer_count <= SL_LAYERS_MAX &&
      \result.request_count <= SL_TOPOLOGY_REQUESTS_MAX; */
struct sl_topology_request sl_topology_request_of(uint32_t pod_set);
/* Its nodes may be others from now on: a check's podSetUpdates arrived. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_topology_request_set_mask(uint32_t pod_set, sl_mask_id mask) SL_MUST_CHECK;
#endif
