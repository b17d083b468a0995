/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Verdicts are a byte each. Few masks have preferences; those have a row of scores besides. */
#include "policy/topology/masks.h"

static sl_verdict verdicts[SL_MASKS_MAX][SL_SITES_MAX];
static uint32_t touched[SL_MASKS_MAX];   /* sites up to here may have been set */
static uint32_t score_row[SL_MASKS_MAX]; /* plus one; 0 = no preference */
static int32_t scores[SL_SCORED_MASKS_MAX][SL_SITES_MAX];
static uint32_t row_owner[SL_SCORED_MASKS_MAX]; /* mask plus one; 0 = free */

/*@
  // Every row that a mask names exists.
  predicate RowsNamed{L} =
    \forall integer m; 0 <= m < SL_MASKS_MAX ==> score_row[m] <= SL_SCORED_MASKS_MAX;
*/

/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result <==> mask < SL_MASKS_MAX && site < SL_SITES_MAX; */
static bool is_known(sl_mask_id mask, sl_site_id site)
{
    return mask < SL_MASKS_MAX && site < SL_SITES_MAX;
}

/*@ requires rows: RowsNamed; terminates \true; exits \false;
    assigns verdicts[mask][0 .. SL_SITES_MAX - 1],
            scores[0 .. SL_SCORED_MASKS_MAX - 1][0 .. SL_SITES_MAX - 1],
            row_owner[0 .. SL_SCORED_MASKS_MAX - 1], score_row[mask], touched[mask];
    ensures rows: RowsNamed; */
enum sl_status sl_masks_clear(sl_mask_id mask)
{
    if (mask >= SL_MASKS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    uint32_t row = score_row[mask];
    /*@
      loop assigns site, verdicts[mask][0 .. SL_SITES_MAX - 1],
                   scores[0 .. SL_SCORED_MASKS_MAX - 1][0 .. SL_SITES_MAX - 1];
      loop variant SL_SITES_MAX - site;
    */
    for (uint32_t site = 0; site < touched[mask] && site < SL_SITES_MAX; site++) {
        verdicts[mask][site] = SL_VERDICT_MAY;
        if (row != 0) {
            scores[row - 1][site] = 0;
        }
    }
    if (row != 0) {
        row_owner[row - 1] = 0;
    }
    score_row[mask] = 0;
    touched[mask] = 0;
    return SL_OK;
}

/*@ requires known: mask < SL_MASKS_MAX && site < SL_SITES_MAX; terminates \true; exits \false;
    assigns touched[mask]; */
static void touch(sl_mask_id mask, sl_site_id site)
{
    if (touched[mask] <= site) {
        touched[mask] = site + 1;
    }
}

/*@ terminates \true; exits \false; assigns verdicts[mask][site], touched[mask]; */
enum sl_status sl_masks_set(sl_mask_id mask, sl_site_id site, sl_verdict verdict)
{
    if (!is_known(mask, site)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    verdicts[mask][site] = verdict;
    touch(mask, site);
    return SL_OK;
}

/* A free row becomes the mask's; 0 = there is none. */
/*@ requires rows: RowsNamed && mask < SL_MASKS_MAX; terminates \true; exits \false;
    assigns row_owner[0 .. SL_SCORED_MASKS_MAX - 1], score_row[mask];
    ensures rows: RowsNamed; ensures row: \result <= SL_SCORED_MASKS_MAX; */
static uint32_t take_row(sl_mask_id mask)
{
    /*@ loop assigns row; loop variant SL_SCORED_MASKS_MAX - row; */
    for (uint32_t row = 0; row < SL_SCORED_MASKS_MAX; row++) {
        if (row_owner[row] == 0) {
            row_owner[row] = mask + 1;
            score_row[mask] = row + 1;
            return row + 1;
        }
    }
    return 0;
}

/*@ requires rows: RowsNamed; terminates \true; exits \false;
    assigns scores[0 .. SL_SCORED_MASKS_MAX - 1][site], touched[mask],
            row_owner[0 .. SL_SCORED_MASKS_MAX - 1], score_row[mask];
    ensures rows: RowsNamed; */
enum sl_status sl_masks_prefer(sl_mask_id mask, sl_site_id site, int64_t score)
{
    if (!is_known(mask, site) || score < INT32_MIN || score > INT32_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    uint32_t row = score_row[mask];
    if (row == 0 && score == 0) {
        return SL_OK;
    }
    if (row == 0) {
        row = take_row(mask);
    }
    if (row == 0) {
        return SL_FULL_WORKLOADS;
    }
    scores[row - 1][site] = (int32_t)score;
    touch(mask, site);
    return SL_OK;
}

sl_verdict sl_masks_verdict(sl_mask_id mask, sl_site_id site)
{
    return is_known(mask, site) ? verdicts[mask][site] : SL_VERDICT_MAY;
}

/*@ requires rows: RowsNamed; terminates \true; exits \false; assigns \nothing; */
int64_t sl_masks_score(sl_mask_id mask, sl_site_id site)
{
    if (!is_known(mask, site) || score_row[mask] == 0) {
        return 0;
    }
    return scores[score_row[mask] - 1][site];
}

bool sl_masks_prefers(sl_mask_id mask)
{
    return mask < SL_MASKS_MAX && score_row[mask] != 0;
}
