/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Tables by tree and by (base, tolerance); links are mask + 1, so that zero memory means none. */
#include "policy/topology/tolerances.h"

static uint16_t tolerance_of[SL_TOLERANCE_TREES_MAX];
static uint16_t links[SL_MASKS_MAX][SL_TOLERANCES_MAX];

/*@
  predicate TolerancesKnown{L} =
    \forall integer t; 0 <= t < SL_TOLERANCE_TREES_MAX ==> tolerance_of[t] < SL_TOLERANCES_MAX;
*/

/*@ requires known: TolerancesKnown; terminates \true; exits \false;
    assigns tolerance_of[tree]; ensures known: TolerancesKnown; */
enum sl_status sl_tolerances_set(sl_tree_id tree, uint32_t tolerance)
{
    if (tree >= SL_TOLERANCE_TREES_MAX || tolerance >= SL_TOLERANCES_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    tolerance_of[tree] = (uint16_t)tolerance;
    return SL_OK;
}

/*@ terminates \true; exits \false; assigns links[base][tolerance]; */
enum sl_status sl_tolerances_link(sl_mask_id base, uint32_t tolerance, sl_mask_id mask)
{
    if (base >= SL_MASKS_MAX || tolerance == 0 || tolerance >= SL_TOLERANCES_MAX ||
        (mask >= SL_MASKS_MAX && mask != SL_NO_ID)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    links[base][tolerance] = mask == SL_NO_ID ? 0 : (uint16_t)(mask + 1);
    return SL_OK;
}

/*@ requires known: TolerancesKnown; terminates \true; exits \false; assigns \nothing; */
sl_mask_id sl_tolerances_mask(sl_mask_id base, sl_tree_id tree)
{
    if (base >= SL_MASKS_MAX || tree >= SL_TOLERANCE_TREES_MAX) {
        return base;
    }
    uint16_t link = links[base][tolerance_of[tree]];
    return link == 0 ? base : (sl_mask_id)(link - 1);
}
