/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Admission fair sharing: what each LocalQueue (an account here) has used lately. The past counts
 * less with every half-life; an admission counts at once, by an entry penalty that represents the
 * usage that the next sample will see. Where a ClusterQueue admits by usage, accounts that used
 * less go first. Owns the accounts. All amounts in billionths of the resource's unit, saturating at
 * SL_USAGE_MAX thousandths: with a half-life of days what a single cpu adds in one sampling
 * interval is less than a thousandth. */
#ifndef SL_POLICY_USAGE_H
#define SL_POLICY_USAGE_H
#include "kernel/base/status.h"
#include "kernel/base/types.h"
#include "policy/fair/usage_amount.h"
#include "specs/hidden.acsl"

#define SL_ACCOUNTS_MAX 65536u
#define SL_USAGE_RESOURCES_MAX 16u /* of one account; what else is used does not count */
#define SL_PENALTIES_MAX 1048576u  /* of all workloads together; beyond, none is noted */

typedef uint32_t sl_account_id;

/* How usage is remembered: half-life 0 = it is not. Penalties are the part of its requests that a
 * workload would add within one sampling interval. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_usage_configure(int64_t half_life_ms, int64_t sampling_ms);
/* What one unit of the resource weighs (in 1e-9; at first 1), and how many of the ledger's base
 * units make a thousandth: cpu is counted in thousandths already. Refused: BAD_ARGUMENT (beyond
 * SL_RESOURCES_MAX resources, negative weight). */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_usage_set_resource(sl_resource_id resource, int64_t weight_nano,
                                     bool in_thousandths) SL_MUST_CHECK;

/* The weight of an account in 1e-9 (at first 1); 0: it always comes last. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_usage_set_weight(sl_account_id account, int64_t weight_nano);
/* The workload's account; SL_NO_ID (at first) = none. Not while it is in line. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_usage_set_account(sl_workload_id id, sl_account_id account);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_ACCOUNTS_MAX || \result == SL_NO_ID;
*/
sl_account_id sl_usage_account_of(sl_workload_id id);
/* Forget all about it; by then no workload has a penalty noted on it. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_usage_close(sl_account_id account);

/* Let the past decay up to now, and count what runs at the moment (amounts in the ledger's base
 * units) for the time since the last sample: begin, one call a resource, end. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_usage_sample_begin(sl_account_id account, int64_t now_ms);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_usage_sample_running(sl_resource_id resource, int64_t amount);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_usage_sample_end(void);
/* Take over what was remembered before a restart; nothing where its parts are too many. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_usage_restore(sl_account_id account, sl_resource_id resource, struct sl_usage_amount amount,
                      int64_t sampled_at_ms);

/* A workload got quota for this much (base units), one call a resource; again replaces nothing:
 * drop first. Dropped when the reservation failed; settled, into the past, when it was admitted. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_usage_charge(sl_workload_id id, sl_account_id account, sl_resource_id resource,
                     int64_t amount);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_usage_drop(sl_workload_id id);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_usage_settle(sl_workload_id id);

/* What the account has used of a resource, penalties apart; then these alone. */
/*@ terminates \true; exits \false; assigns \nothing; ensures amount: UsageAmount(\result); */
struct sl_usage_amount sl_usage_consumed(sl_account_id account, sl_resource_id resource);
/*@ terminates \true; exits \false; assigns \nothing; ensures amount: UsageAmount(\result); */
struct sl_usage_amount sl_usage_pending(sl_account_id account, sl_resource_id resource);
/* -1, 0, 1 as account a has used less than, as much as, or more than b, for its weight. */
/*@ terminates \true; exits \false; assigns \nothing; ensures sign: -1 <= \result <= 1; */
int sl_usage_compare(sl_account_id a, sl_account_id b);
#endif
