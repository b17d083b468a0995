/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The records that demands are made of, in three pools: only for the files that make up the
 * demands. A link is an index plus one; 0 says "none". A pool reuses what was returned first, then
 * takes what was never used. */
#ifndef SL_POLICY_DEMAND_POOLS_H
#define SL_POLICY_DEMAND_POOLS_H
#include "policy/demand/demand.h"

extern uint32_t sl_pool_first_set[SL_WORKLOADS_MAX];
extern uint32_t sl_pool_last_set[SL_WORKLOADS_MAX];
extern uint32_t sl_pool_set_counts[SL_WORKLOADS_MAX];
extern bool sl_pool_single_pod[SL_WORKLOADS_MAX];

extern uint32_t sl_pool_set_next[SL_DEMAND_SETS];
extern uint32_t sl_pool_set_pods[SL_DEMAND_SETS];
extern uint32_t sl_pool_set_min_pods[SL_DEMAND_SETS];
extern uint32_t sl_pool_set_group[SL_DEMAND_SETS]; /* the group plus one, 0 = none */
extern uint64_t sl_pool_set_fingerprint[SL_DEMAND_SETS];
extern uint32_t sl_pool_set_first_request[SL_DEMAND_SETS];
extern uint32_t sl_pool_set_last_request[SL_DEMAND_SETS];
extern uint32_t sl_pool_set_request_count[SL_DEMAND_SETS];
extern uint32_t sl_pool_set_first_exclusion[SL_DEMAND_SETS];
extern uint32_t sl_pool_set_free;
extern uint32_t sl_pool_set_limit;
extern uint32_t sl_pool_set_used;

extern uint32_t sl_pool_request_next[SL_DEMAND_REQUESTS];
extern sl_resource_id sl_pool_request_resource[SL_DEMAND_REQUESTS];
extern int64_t sl_pool_request_per_pod[SL_DEMAND_REQUESTS];
extern int64_t sl_pool_request_amount[SL_DEMAND_REQUESTS]; /* of all pods of the set */
extern uint32_t sl_pool_request_free;
extern uint32_t sl_pool_request_limit;
extern uint32_t sl_pool_request_used;

extern uint32_t sl_pool_exclusion_next[SL_DEMAND_EXCLUSIONS];
extern sl_flavor_id sl_pool_exclusion_flavor[SL_DEMAND_EXCLUSIONS];
extern enum sl_exclusion sl_pool_exclusion_why[SL_DEMAND_EXCLUSIONS];
extern uint32_t sl_pool_exclusion_free;
extern uint32_t sl_pool_exclusion_limit;
extern uint32_t sl_pool_exclusion_used;

#include "specs/demand.acsl"

/* A link to a record, 0 when the pool is used up. */
/*@
  requires links: SetLinks;
  terminates \true; exits \false;
  assigns SET_POOL;
  ensures links: SetLinks && \result <= SL_DEMAND_SETS;
*/
uint32_t sl_pool_take_set(void);
/*@
  requires links: RequestLinks;
  terminates \true; exits \false;
  assigns REQUEST_POOL;
  ensures links: RequestLinks && \result <= SL_DEMAND_REQUESTS;
*/
uint32_t sl_pool_take_request(void);
/*@
  requires links: ExclusionLinks;
  terminates \true; exits \false;
  assigns EXCLUSION_POOL;
  ensures links: ExclusionLinks && \result <= SL_DEMAND_EXCLUSIONS;
*/
uint32_t sl_pool_take_exclusion(void);

/* A pod set's whole list goes back. */
/*@
  requires links: RequestLinks && link <= SL_DEMAND_REQUESTS;
  terminates \true; exits \false;
  assigns REQUEST_POOL, sl_pool_request_next[0 .. SL_DEMAND_REQUESTS - 1];
  ensures links: RequestLinks;
*/
void sl_pool_give_requests(uint32_t link);
/*@
  requires links: ExclusionLinks && link <= SL_DEMAND_EXCLUSIONS;
  terminates \true; exits \false;
  assigns EXCLUSION_POOL, sl_pool_exclusion_next[0 .. SL_DEMAND_EXCLUSIONS - 1];
  ensures links: ExclusionLinks;
*/
void sl_pool_give_exclusions(uint32_t link);
#endif
