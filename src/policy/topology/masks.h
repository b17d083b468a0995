/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which nodes' sites the pods of a pod set may run on. The shell has evaluated node selectors,
 * affinity and taints; pod sets that ask the same share one mask. Owns the verdicts. */
#ifndef SL_POLICY_MASKS_H
#define SL_POLICY_MASKS_H
#include "kernel/topology/topology.h"
#include "specs/hidden.acsl"

#define SL_MASKS_MAX 1024u
#define SL_SCORED_MASKS_MAX 64u /* of them, with preferences */
#define SL_TAINTS_MAX 250u /* distinct taints that keep pods off nodes, numbered by the shell */

typedef uint32_t sl_mask_id;
typedef uint8_t sl_verdict; /* 0 = it may; else why not: */
#define SL_VERDICT_MAY 0u
#define SL_VERDICT_SELECTOR 1u /* node selector */
#define SL_VERDICT_AFFINITY 2u /* required node affinity */
#define SL_VERDICT_TAINT 3u    /* SL_VERDICT_TAINT + number of the first taint not tolerated */

/* A mask starts with every site allowed and no preference. Refused: BAD_ARGUMENT. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_masks_clear(sl_mask_id mask) SL_MUST_CHECK;
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_masks_set(sl_mask_id mask, sl_site_id site, sl_verdict verdict) SL_MUST_CHECK;
/* Sum of the weights of the preferred affinity terms that the site matches. Refused: BAD_ARGUMENT
 * (also: beyond 32 bits), FULL_WORKLOADS (too many masks have preferences). */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_masks_prefer(sl_mask_id mask, sl_site_id site, int64_t score) SL_MUST_CHECK;
/*@ terminates \true; exits \false; assigns \nothing; */
sl_verdict sl_masks_verdict(sl_mask_id mask, sl_site_id site); /* MAY for SL_NO_ID */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures range: INT32_MIN <= \result <= INT32_MAX; */
int64_t sl_masks_score(sl_mask_id mask, sl_site_id site);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_masks_prefers(sl_mask_id mask); /* some site has a score */
#endif
