/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* School multiplication, in halves of 32 bits. */
#include "policy/common/wide.h"

#define HALF 4294967296ULL /* 2^32 */

struct sl_wide sl_wide_multiply(uint64_t a, uint64_t b)
{
    uint64_t a_high = a / HALF;
    uint64_t a_low = a % HALF;
    uint64_t b_high = b / HALF;
    uint64_t b_low = b % HALF;
    /*@ assert bounds: a_high < HALF && a_low < HALF && b_high < HALF && b_low < HALF; */
    /*@ assert ll: 0 <= a_low * b_low <= (HALF - 1) * (HALF - 1); */
    /*@ assert lh: 0 <= a_low * b_high <= (HALF - 1) * (HALF - 1); */
    /*@ assert hl: 0 <= a_high * b_low <= (HALF - 1) * (HALF - 1); */
    /*@ assert hh: 0 <= a_high * b_high <= (HALF - 1) * (HALF - 1); */
    uint64_t low_low = a_low * b_low;
    uint64_t low_high = a_low * b_high;
    uint64_t high_low = a_high * b_low;
    uint64_t high_high = a_high * b_high;
    uint64_t middle = low_low / HALF + low_high % HALF + high_low % HALF;
    /*@ assert split: a * b == high_high * HALF * HALF + (low_high + high_low) * HALF + low_low; */
    /*@ assert carry: high_high + low_high / HALF + high_low / HALF + middle / HALF < HALF * HALF; */
    struct sl_wide product;
    product.high = high_high + low_high / HALF + high_low / HALF + middle / HALF;
    product.low = middle % HALF * HALF + low_low % HALF;
    return product;
}

struct sl_wide sl_wide_add(struct sl_wide a, struct sl_wide b)
{
    struct sl_wide sum = {UINT64_MAX, UINT64_MAX};
    uint64_t carry = a.low > UINT64_MAX - b.low ? 1 : 0;
    if (a.high > UINT64_MAX - b.high || a.high + b.high > UINT64_MAX - carry) {
        return sum;
    }
    sum.high = a.high + b.high + carry;
    sum.low = carry != 0 ? a.low - (UINT64_MAX - b.low) - 1 : a.low + b.low;
    return sum;
}

struct sl_wide3 sl_wide_scale(struct sl_wide a, uint64_t b)
{
    struct sl_wide low = sl_wide_multiply(a.low, b);
    struct sl_wide high = sl_wide_multiply(a.high, b);
    struct sl_wide carried = {0, low.high};
    /*@ assert capacity: a.high * b <= (limb - 1) * (limb - 1); */
    high = sl_wide_add(high, carried);
    struct sl_wide3 product = {high.high, high.low, low.low};
    return product;
}

struct sl_wide3 sl_wide_carry(struct sl_wide3 a, uint64_t b)
{
    struct sl_wide3 largest = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    if (a.low <= UINT64_MAX - b) {
        a.low += b;
        return a;
    }
    a.low -= UINT64_MAX - b + 1;
    if (a.middle < UINT64_MAX) {
        a.middle++;
        return a;
    }
    if (a.high == UINT64_MAX) {
        return largest;
    }
    a.middle = 0;
    a.high++;
    return a;
}

int sl_wide_compare(struct sl_wide3 a, struct sl_wide3 b)
{
    if (a.high != b.high) {
        return a.high < b.high ? -1 : 1;
    }
    if (a.middle != b.middle) {
        return a.middle < b.middle ? -1 : 1;
    }
    return a.low == b.low ? 0 : a.low < b.low ? -1 : 1;
}
