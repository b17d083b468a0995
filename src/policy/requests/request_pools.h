/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The records that requests are made of, in three pools: only for the files that make up the
 * requests. A link is an index plus one; 0 says "none". A pool reuses what was returned first, then
 * takes what was never used. */
#ifndef SL_POLICY_REQUEST_POOLS_H
#define SL_POLICY_REQUEST_POOLS_H
#include "policy/requests/requests.h"

extern uint32_t sl_pool_first_set[SL_WORKLOADS_MAX];
extern uint32_t sl_pool_last_set[SL_WORKLOADS_MAX];
extern uint32_t sl_pool_set_counts[SL_WORKLOADS_MAX];
extern bool sl_pool_single_pod[SL_WORKLOADS_MAX];

extern uint32_t sl_pool_set_next[SL_REQUESTS_POD_SETS];
extern uint32_t sl_pool_set_pods[SL_REQUESTS_POD_SETS];
extern uint32_t sl_pool_set_min_pods[SL_REQUESTS_POD_SETS];
extern uint32_t sl_pool_set_group[SL_REQUESTS_POD_SETS]; /* the group plus one, 0 = none */
extern uint64_t sl_pool_set_fingerprint[SL_REQUESTS_POD_SETS];
extern uint32_t sl_pool_set_first_request[SL_REQUESTS_POD_SETS];
extern uint32_t sl_pool_set_last_request[SL_REQUESTS_POD_SETS];
extern uint32_t sl_pool_set_request_count[SL_REQUESTS_POD_SETS];
extern uint32_t sl_pool_set_first_exclusion[SL_REQUESTS_POD_SETS];
extern uint32_t sl_pool_set_free;
extern uint32_t sl_pool_set_limit;
extern uint32_t sl_pool_set_used;

extern uint32_t sl_pool_request_next[SL_REQUESTS_ROWS];
extern sl_resource_id sl_pool_request_resource[SL_REQUESTS_ROWS];
extern int64_t sl_pool_request_per_pod[SL_REQUESTS_ROWS];
extern int64_t sl_pool_request_amount[SL_REQUESTS_ROWS]; /* of all pods of the set */
extern uint32_t sl_pool_request_free;
extern uint32_t sl_pool_request_limit;
extern uint32_t sl_pool_request_used;

extern uint32_t sl_pool_exclusion_next[SL_REQUESTS_EXCLUSIONS];
extern sl_flavor_id sl_pool_exclusion_flavor[SL_REQUESTS_EXCLUSIONS];
extern enum sl_exclusion sl_pool_exclusion_why[SL_REQUESTS_EXCLUSIONS];
extern uint32_t sl_pool_exclusion_free;
extern uint32_t sl_pool_exclusion_limit;
extern uint32_t sl_pool_exclusion_used;

#include "specs/requests.acsl"

/* A link to a record, 0 when the pool is used up. */
/*@
  requires links: SetLinks;
  terminates \true; exits \false;
  assigns SET_POOL;
  ensures links: SetLinks && \result <= SL_REQUESTS_POD_SETS;
*/
uint32_t sl_pool_take_set(void);
/*@
  requires links: RequestLinks;
  terminates \true; exits \false;
  assigns REQUEST_POOL;
  ensures links: RequestLinks && \result <= SL_REQUESTS_ROWS;
*/
uint32_t sl_pool_take_request(void);
/*@
  requires links: ExclusionLinks;
  terminates \true; exits \false;
  assigns EXCLUSION_POOL;
  ensures links: ExclusionLinks && \result <= SL_REQUESTS_EXCLUSIONS;
*/
uint32_t sl_pool_take_exclusion(void);

/* A pod set's whole list goes back. */
/*@
  requires links: RequestLinks && link <= SL_REQUESTS_ROWS;
  terminates \true; exits \false;
  assigns REQUEST_POOL, sl_pool_request_next[0 .. SL_REQUESTS_ROWS - 1];
  ensures links: RequestLinks;
*/
void sl_pool_give_requests(uint32_t link);
/*@
  requires links: ExclusionLinks && link <= SL_REQUESTS_EXCLUSIONS;
  terminates \true; exits \false;
  assigns EXCLUSION_POOL, sl_pool_exclusion_next[0 .. SL_REQUESTS_EXCLUSIONS - 1];
  ensures links: ExclusionLinks;
*/
void sl_pool_give_exclusions(uint32_t link);
#endif
