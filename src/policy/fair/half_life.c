/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* 2^-x for x = n + f: n halvings, and for the fraction f one factor for each of its first 62
 * binary digits (2^(-1/2), 2^(-1/4), ...). What is left of f is less than the last digit of the
 * result. */
#include "policy/fair/half_life.h"

#include "policy/common/wide.h"

#define DIGITS 62u

/* roots[k] = 2^(-2^-(k+1)), in units of 2^-62. */
static const uint64_t roots[DIGITS] = {
    3260954456333195553ULL, 3877950241171266237ULL, 4228934724888366668ULL, 4416165660797809419ULL,
    4512867096753504463ULL, 4562008997483360349ULL, 4586780255215411731ULL, 4599216278082138665ULL,
    4605446927862164404ULL, 4608565417332308035ULL, 4610125453837388245ULL, 4610905670110601999ULL,
    4611295827762151833ULL, 4611490918967884501ULL, 4611588467665893036ULL, 4611637242788701951ULL,
    4611661630543559956ULL, 4611673824469352645ULL, 4611679921444339948ULL, 4611682969934856344ULL,
    4611684494180870228ULL, 4611685256304066092ULL, 4611685637365711255ULL, 4611685827896545643ULL,
    4611685923161965790ULL, 4611685970794676601ULL, 4611685994611032191ULL, 4611686006519210032ULL,
    4611686012473298964ULL, 4611686015450343433ULL, 4611686016938865668ULL, 4611686017683126786ULL,
    4611686018055257345ULL, 4611686018241322625ULL, 4611686018334355264ULL, 4611686018380871584ULL,
    4611686018404129744ULL, 4611686018415758824ULL, 4611686018421573364ULL, 4611686018424480634ULL,
    4611686018425934269ULL, 4611686018426661087ULL, 4611686018427024495ULL, 4611686018427206200ULL,
    4611686018427297052ULL, 4611686018427342478ULL, 4611686018427365191ULL, 4611686018427376547ULL,
    4611686018427382226ULL, 4611686018427385065ULL, 4611686018427386484ULL, 4611686018427387194ULL,
    4611686018427387549ULL, 4611686018427387727ULL, 4611686018427387815ULL, 4611686018427387860ULL,
    4611686018427387882ULL, 4611686018427387893ULL, 4611686018427387898ULL, 4611686018427387901ULL,
    4611686018427387903ULL, 4611686018427387903ULL,
};

/*@
  requires fractions: a <= SL_FRACTION_ONE && b <= SL_FRACTION_ONE;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  less:      \result <= a;
*/
static uint64_t times(uint64_t a, uint64_t b)
{
    struct sl_wide product = sl_wide_multiply(a, b);
    /*@ assert bound: a * b <= a * SL_FRACTION_ONE; */
    /*@ assert small: product.high * limb <= a * SL_FRACTION_ONE; */
    return product.high * 4 + product.low / SL_FRACTION_ONE;
}

uint64_t sl_half_life_left(int64_t elapsed_ms, int64_t half_life_ms)
{
    if (half_life_ms <= 0) {
        return 0;
    }
    if (elapsed_ms <= 0) {
        return SL_FRACTION_ONE;
    }
    uint64_t halvings = (uint64_t)(elapsed_ms / half_life_ms);
    if (halvings > 61) {
        return 0;
    }
    uint64_t rest = (uint64_t)(elapsed_ms % half_life_ms);
    uint64_t left = SL_FRACTION_ONE;
    /*@
      loop invariant left: left <= SL_FRACTION_ONE;
      loop assigns halvings, left;
      loop variant halvings;
    */
    for (; halvings > 0; halvings--) {
        left /= 2;
    }
    /*@
      loop invariant digits: k <= DIGITS;
      loop invariant rest:   rest < half_life_ms;
      loop invariant left:   left <= SL_FRACTION_ONE;
      loop assigns k, rest, left;
      loop variant DIGITS - k;
    */
    for (uint32_t k = 0; k < DIGITS; k++) {
        rest *= 2;
        if (rest >= (uint64_t)half_life_ms) {
            rest -= (uint64_t)half_life_ms;
            left = times(left, roots[k]);
        }
    }
    return left;
}

int64_t sl_half_life_part(int64_t amount, uint64_t fraction)
{
    if (amount <= 0 || (uint64_t)amount > SL_FRACTION_ONE || fraction > SL_FRACTION_ONE) {
        return 0;
    }
    return (int64_t)times((uint64_t)amount, fraction);
}
