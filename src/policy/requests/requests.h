/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What each workload asks for: its pod sets, what one pod of each requests, and the flavors each
 * must not be given. The shell has evaluated taints, node selectors and affinity into these
 * exclusions. Owns the requests; their records come from pools, so a workload costs what it asks
 * for. */
#ifndef SL_POLICY_REQUESTS_H
#define SL_POLICY_REQUESTS_H
#include "kernel/base/status.h"
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

#define SL_POD_SETS_MAX 18u           /* of one workload (as the API's limit) */
#define SL_REQUESTS_MAX 16u           /* resources that one pod set may ask for */
#define SL_REQUESTS_POD_SETS 2097152u /* pod sets of all workloads together */
#define SL_REQUESTS_ROWS 4194304u
#define SL_REQUESTS_EXCLUSIONS 4194304u

enum sl_exclusion {
    SL_EXCLUDED_NOT,
    SL_EXCLUDED_TAINT,    /* a taint of the flavor is not tolerated */
    SL_EXCLUDED_AFFINITY, /* its node labels do not match the node selector or affinity */
    SL_EXCLUDED_MISSING,  /* there is no such ResourceFlavor */
    SL_EXCLUDED_UNNAMED /* the workload names the flavors that it may be given, and not this one */
};

/* Build the requests of a workload: clear, then pod set by pod set; requests and exclusions go to the pod set
 * added last. Refused, with the requests as they were: UNKNOWN_WORKLOAD; BAD_ARGUMENT (negative
 * count, 19th pod set, 17th resource, the same resource twice, no pod set yet); AMOUNT (amount
 * negative, or amount times count beyond SL_AMOUNT_MAX); FULL_WORKLOADS (a pool is used up). Of
 * two exclusions of a flavor the first counts. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_requests_clear(sl_workload_id id);
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_requests_add_pod_set(sl_workload_id id, uint32_t count) SL_MUST_CHECK;
/* Of the pod set added last: how few of its pods would do (partial admission; at first all), and
 * the pod sets that must get the same flavors (equal groups; SL_NO_ID, at first = none).
 * Refused: BAD_ARGUMENT (more than its count, no pod set yet). */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_requests_set_min_count(sl_workload_id id, uint32_t min_count) SL_MUST_CHECK;
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_requests_set_group(sl_workload_id id, uint32_t group) SL_MUST_CHECK;
/* Of the pod set added last: a number for what else the shell knows of it (at first 0). Nothing is
 * decided by it: pod sets with different ones have different shapes (shape.h). Refused:
 * BAD_ARGUMENT (no pod set yet). */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_requests_set_fingerprint(sl_workload_id id, uint64_t fingerprint) SL_MUST_CHECK;
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_requests_add(sl_workload_id id, sl_resource_id resource,
                               int64_t per_pod) SL_MUST_CHECK;
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_requests_add_exclusion(sl_workload_id id, sl_flavor_id flavor,
                                         enum sl_exclusion why) SL_MUST_CHECK;

/* The workload belongs to a single Pod, which cannot be created again: where a node of it fails
 * nothing is replaced. At first it does not. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_requests_set_single_pod(sl_workload_id id, bool single);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_requests_is_single_pod(sl_workload_id id);

/* --- questions ---
 * A pod set and a request are named by their record; SL_NO_ID = no (more). */
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_REQUESTS_POD_SETS || \result == SL_NO_ID;
*/
uint32_t sl_requests_first_pod_set(sl_workload_id id);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_REQUESTS_POD_SETS || \result == SL_NO_ID;
*/
uint32_t sl_requests_next_pod_set(uint32_t pod_set);
/*@ terminates \true; exits \false; assigns \nothing; ensures count: \result <= INT32_MAX; */
uint32_t sl_requests_pod_count(uint32_t pod_set);
/*@ terminates \true; exits \false; assigns \nothing; ensures count: \result <= INT32_MAX; */
uint32_t sl_requests_min_count(uint32_t pod_set);
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_requests_group(uint32_t pod_set);
/*@ terminates \true; exits \false; assigns \nothing; */
uint64_t sl_requests_fingerprint(uint32_t pod_set);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_REQUESTS_ROWS || \result == SL_NO_ID;
*/
uint32_t sl_requests_first(uint32_t pod_set);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_REQUESTS_ROWS || \result == SL_NO_ID;
*/
uint32_t sl_requests_next(uint32_t request);
/*@ terminates \true; exits \false; assigns \nothing; */
sl_resource_id sl_requests_resource(uint32_t request);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures amount: 0 <= \result <= SL_AMOUNT_MAX;
*/
int64_t sl_requests_amount(uint32_t request); /* of all pods of the set together */
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures amount: 0 <= \result <= SL_AMOUNT_MAX;
*/
int64_t sl_requests_per_pod(uint32_t request); /* of one */
/*@ terminates \true; exits \false; assigns \nothing; */
enum sl_exclusion sl_requests_excludes(uint32_t pod_set, sl_flavor_id flavor);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_requests_same_exclusions(uint32_t a, uint32_t b);

/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_requests_set_count(sl_workload_id id);
/* How many records of each pool are in use, for figures. */
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_requests_sets_used(void);
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_requests_rows_used(void);
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_requests_exclusions_used(void);
#endif
