/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Amounts of usage (usage.h), in billionths of a resource's unit, and scores: what an account has
 * used of all resources, each by its weight. Two scores are compared after each was multiplied by
 * the other's account's weight; parts are carried beside, so that 192 bits are enough and nothing
 * is rounded. Pure functions of their arguments. */
#ifndef SL_POLICY_USAGE_AMOUNT_H
#define SL_POLICY_USAGE_AMOUNT_H
#include "policy/common/wide.h"

#define SL_USAGE_MAX 1152921504606846976LL

/* Thousandths (0 .. SL_USAGE_MAX), and millionths of one of these (below SL_USAGE_PARTS) beside. */
#define SL_USAGE_PARTS 1000000u
struct sl_usage_amount {
    int64_t milli;
    uint32_t parts;
};
/*@
  predicate UsageAmount(struct sl_usage_amount u) =
    0 <= u.milli <= SL_USAGE_MAX && u.parts < SL_USAGE_PARTS;
*/
/* The sum; the largest amount where it is larger. */
/*@
  requires left:      UsageAmount(a);
  requires right:     UsageAmount(b);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  amount:    UsageAmount(\result);
*/
struct sl_usage_amount sl_usage_add(struct sl_usage_amount a, struct sl_usage_amount b);
/* `a` without `b`; nothing where that is more. */
/*@
  requires left:      UsageAmount(a);
  requires right:     UsageAmount(b);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  amount:    UsageAmount(\result);
*/
struct sl_usage_amount sl_usage_without(struct sl_usage_amount a, struct sl_usage_amount b);
/* amount times fraction (0 .. SL_FRACTION_ONE, else nothing), rounded down to a whole part. */
/*@
  requires amount:    UsageAmount(amount);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  amount:    UsageAmount(\result);
*/
struct sl_usage_amount sl_usage_part(struct sl_usage_amount amount, uint64_t fraction);

/* Thousandths, weighed, and parts of one of these beside (below SL_USAGE_PARTS). */
struct sl_usage_score {
    struct sl_wide milli;
    uint64_t parts;
};
/* The score, and the amount by its weight. */
/*@
  requires parts:     score.parts < SL_USAGE_PARTS;
  requires amount:    UsageAmount(amount);
  requires weight:    weight <= INT64_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  parts:     \result.parts < SL_USAGE_PARTS;
*/
struct sl_usage_score sl_usage_weigh(struct sl_usage_score score, struct sl_usage_amount amount,
                                     uint64_t weight);
/* -1, 0, 1 as a times times_a is less than, equal to, or more than b times times_b. */
/*@
  requires left:      a.parts < SL_USAGE_PARTS && times_a <= INT64_MAX;
  requires right:     b.parts < SL_USAGE_PARTS && times_b <= INT64_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  sign:      -1 <= \result <= 1;
*/
int sl_usage_compare_scores(struct sl_usage_score a, uint64_t times_a, struct sl_usage_score b,
                            uint64_t times_b);
#endif
