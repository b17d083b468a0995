/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Products of 64-bit numbers, exact: two limbs for two factors, three for three. For comparing
 * fractions without dividing. Owns nothing. */
#ifndef SL_POLICY_WIDE_H
#define SL_POLICY_WIDE_H
#include <stdint.h>

/* high * 2^64 + low */
struct sl_wide {
    uint64_t high;
    uint64_t low;
};

/* high * 2^128 + middle * 2^64 + low */
struct sl_wide3 {
    uint64_t high;
    uint64_t middle;
    uint64_t low;
};

/*@
  logic integer limb = 18446744073709551616;
  logic integer wide_value(struct sl_wide w) = w.high * limb + w.low;
  logic integer wide3_value(struct sl_wide3 w) = w.high * limb * limb + w.middle * limb + w.low;
*/

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  product:   wide_value(\result) == a * b;
*/
struct sl_wide sl_wide_multiply(uint64_t a, uint64_t b);

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  product:   wide3_value(\result) == wide_value(a) * b;
*/
struct sl_wide3 sl_wide_scale(struct sl_wide a, uint64_t b);

/* The sum, or the largest there is. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  sum:       wide_value(a) + wide_value(b) < limb * limb ==>
                        wide_value(\result) == wide_value(a) + wide_value(b);
  ensures  largest:   wide_value(a) + wide_value(b) >= limb * limb ==>
                        wide_value(\result) == limb * limb - 1;
*/
struct sl_wide sl_wide_add(struct sl_wide a, struct sl_wide b);

/* The sum, or the largest there is. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  sum:       wide3_value(a) + b < limb * limb * limb ==>
                        wide3_value(\result) == wide3_value(a) + b;
*/
struct sl_wide3 sl_wide_carry(struct sl_wide3 a, uint64_t b);

/* -1, 0, 1 as a is less than, equal to, or greater than b. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  sign:      -1 <= \result <= 1;
  ensures  less:      \result < 0 <==> wide3_value(a) < wide3_value(b);
  ensures  equal:     \result == 0 <==> wide3_value(a) == wide3_value(b);
*/
int sl_wide_compare(struct sl_wide3 a, struct sl_wide3 b);
#endif
