/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Exponential decay in integers: which part of an amount is left after some time. Owns nothing. */
#ifndef SL_POLICY_HALF_LIFE_H
#define SL_POLICY_HALF_LIFE_H
#include <stdint.h>

#define SL_FRACTION_ONE 4611686018427387904ULL /* 2^62 represents 1 */

/* 2^(-elapsed/half_life) in units of 2^-62, off by less than 2^-55. Nothing is left where there is
 * no half-life (0 or negative); all is left where no time has passed (or it ran backwards). */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  fraction:  \result <= SL_FRACTION_ONE;
*/
uint64_t sl_half_life_left(int64_t elapsed_ms, int64_t half_life_ms);

/* amount (0 .. 2^62) times fraction (0 .. SL_FRACTION_ONE), rounded down. 0 for what is out of
 * these bounds. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  part:      0 <= \result <= SL_FRACTION_ONE && (amount >= 0 ==> \result <= amount);
*/
int64_t sl_half_life_part(int64_t amount, uint64_t fraction);
#endif
