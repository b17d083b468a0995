/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Amounts and scores. */
#include "policy/fair/usage_amount.h"

#include "policy/fair/half_life.h"

static const struct sl_usage_amount nothing = {0, 0};

struct sl_usage_amount sl_usage_add(struct sl_usage_amount a, struct sl_usage_amount b)
{
    struct sl_usage_amount sum = {SL_USAGE_MAX, 0};
    uint32_t parts = a.parts + b.parts;
    uint32_t carry = parts >= SL_USAGE_PARTS ? 1 : 0;
    if (a.milli + b.milli + carry < SL_USAGE_MAX) {
        sum.milli = a.milli + b.milli + carry;
        sum.parts = carry != 0 ? parts - SL_USAGE_PARTS : parts;
    }
    return sum;
}

struct sl_usage_amount sl_usage_without(struct sl_usage_amount a, struct sl_usage_amount b)
{
    uint32_t borrowed = a.parts < b.parts ? 1 : 0;
    if (a.milli < b.milli + borrowed) {
        return nothing;
    }
    a.milli -= b.milli + borrowed;
    a.parts = a.parts + borrowed * SL_USAGE_PARTS - b.parts;
    return a;
}

struct sl_usage_amount sl_usage_part(struct sl_usage_amount amount, uint64_t fraction)
{
    struct sl_usage_amount out = {sl_half_life_part(amount.milli, fraction), 0};
    if (fraction > SL_FRACTION_ONE) {
        return nothing;
    }
    uint64_t rest = sl_wide_multiply((uint64_t)amount.milli, fraction).low % SL_FRACTION_ONE;
    struct sl_wide parts = sl_wide_add(sl_wide_multiply(rest, SL_USAGE_PARTS),
                                       sl_wide_multiply(amount.parts, fraction));
    uint64_t whole = parts.high % SL_FRACTION_ONE * 4 + parts.low / SL_FRACTION_ONE;
    if (whole >= SL_USAGE_PARTS && out.milli < SL_USAGE_MAX) {
        out.milli++;
        whole -= SL_USAGE_PARTS;
    }
    out.parts = whole < SL_USAGE_PARTS ? (uint32_t)whole : SL_USAGE_PARTS - 1;
    return out;
}

/* `parts` (below SL_USAGE_PARTS) times weight: thousandths, and the parts that are left. */
/*@ requires parts: parts < SL_USAGE_PARTS; requires weight: weight <= INT64_MAX;
    requires valid: \valid(left); terminates \true; exits \false; assigns *left;
    ensures left: *left < SL_USAGE_PARTS;
    ensures exact: \result * SL_USAGE_PARTS + *left == parts * weight; */
static uint64_t weigh_parts(uint64_t parts, uint64_t weight, uint64_t *left)
{
    uint64_t high = parts * (weight / SL_USAGE_PARTS);
    uint64_t low = parts * (weight % SL_USAGE_PARTS);
    *left = low % SL_USAGE_PARTS;
    return high + low / SL_USAGE_PARTS;
}

struct sl_usage_score sl_usage_weigh(struct sl_usage_score score, struct sl_usage_amount amount,
                                     uint64_t weight)
{
    uint64_t left;
    struct sl_wide more = {0, weigh_parts(amount.parts, weight, &left)};
    struct sl_wide one = {0, 1};
    score.parts += left;
    if (score.parts >= SL_USAGE_PARTS) {
        score.parts -= SL_USAGE_PARTS;
        score.milli = sl_wide_add(score.milli, one);
    }
    score.milli = sl_wide_add(score.milli, more);
    score.milli = sl_wide_add(score.milli, sl_wide_multiply((uint64_t)amount.milli, weight));
    return score;
}

int sl_usage_compare_scores(struct sl_usage_score a, uint64_t times_a, struct sl_usage_score b,
                            uint64_t times_b)
{
    uint64_t left_a, left_b;
    uint64_t more_a = weigh_parts(a.parts, times_a, &left_a);
    uint64_t more_b = weigh_parts(b.parts, times_b, &left_b);
    int sign = sl_wide_compare(sl_wide_carry(sl_wide_scale(a.milli, times_a), more_a),
                               sl_wide_carry(sl_wide_scale(b.milli, times_b), more_b));
    return sign != 0 ? sign : (left_a > left_b ? 1 : 0) - (left_a < left_b ? 1 : 0);
}
