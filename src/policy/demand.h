/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What each workload asks for: its pod sets, what one pod of each requests, and the flavors each
 * must not be given. The shell has evaluated taints, node selectors and affinity into these
 * exclusions. Owns the demands; their records come from pools, so a workload costs what it asks
 * for. */
#ifndef SL_POLICY_DEMAND_H
#define SL_POLICY_DEMAND_H
#include "kernel/status.h"
#include "kernel/types.h"

#define SL_POD_SETS_MAX 18u     /* of one workload (as the API's limit) */
#define SL_REQUESTS_MAX 16u     /* resources that one pod set may ask for */
#define SL_DEMAND_SETS 4194304u /* pod sets of all workloads together */
#define SL_DEMAND_REQUESTS 8388608u
#define SL_DEMAND_EXCLUSIONS 8388608u

enum sl_exclusion {
    SL_EXCLUDED_NOT,
    SL_EXCLUDED_TAINT,    /* a taint of the flavor is not tolerated */
    SL_EXCLUDED_AFFINITY, /* its node labels do not match the node selector or affinity */
    SL_EXCLUDED_MISSING   /* there is no such ResourceFlavor */
};

/* Build a demand: clear, then pod set by pod set; requests and exclusions go to the pod set
 * added last. Refused, with the demand as it was: UNKNOWN_WORKLOAD; BAD_ARGUMENT (negative
 * count, 19th pod set, 17th resource, the same resource twice, no pod set yet); AMOUNT (amount
 * negative, or amount times count beyond SL_AMOUNT_MAX); FULL_WORKLOADS (a pool is used up). Of
 * two exclusions of a flavor the first counts. */
void sl_demand_clear(sl_workload_id id);
enum sl_status sl_demand_add_pod_set(sl_workload_id id, uint32_t count) SL_MUST_CHECK;
enum sl_status sl_demand_add_request(sl_workload_id id, sl_resource_id resource,
                                     int64_t per_pod) SL_MUST_CHECK;
enum sl_status sl_demand_add_exclusion(sl_workload_id id, sl_flavor_id flavor,
                                       enum sl_exclusion why) SL_MUST_CHECK;

/* --- questions ---
 * A pod set and a request are named by their record; SL_NO_ID = no (more). */
uint32_t sl_demand_first_pod_set(sl_workload_id id);
uint32_t sl_demand_next_pod_set(uint32_t pod_set);
uint32_t sl_demand_pod_count(uint32_t pod_set);
uint32_t sl_demand_first_request(uint32_t pod_set);
uint32_t sl_demand_next_request(uint32_t request);
sl_resource_id sl_demand_resource(uint32_t request);
int64_t sl_demand_amount(uint32_t request); /* of all pods of the set together */
enum sl_exclusion sl_demand_excludes(uint32_t pod_set, sl_flavor_id flavor);
bool sl_demand_same_exclusions(uint32_t a, uint32_t b);

uint32_t sl_demand_set_count(sl_workload_id id);
/* How many records of each pool are in use, for figures. */
uint32_t sl_demand_sets_used(void);
uint32_t sl_demand_requests_used(void);
uint32_t sl_demand_exclusions_used(void);
#endif
