/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The chosen domains of the lowest level in the order of the tree: by counting, digit by digit, so
 * that many cost no more than once each. */
#include "policy/search/placement_state.h"

#define DIGITS 2048u

static uint32_t starts[DIGITS + 1];
static uint32_t other[SL_DOMAINS_MAX];

/* clang-format off */
#define STARTS starts[0 .. DIGITS]
#define OTHER other[0 .. SL_DOMAINS_MAX - 1]
#define SPOTS sl_chosen.spots[0 .. SL_DOMAINS_MAX - 1]
/* clang-format on */

/*@
  predicate OtherSound{L} = \forall integer i; 0 <= i < SL_DOMAINS_MAX ==> other[i] < SL_SPOTS_MAX;
*/

/* --- by one digit, from the chosen to the other list, or `back` by the next one --- */

/*@ requires within: ChosenSound && OtherSound && i < sl_chosen.count; terminates \true;
    exits \false; assigns \nothing; ensures spot: \result < SL_SPOTS_MAX; */
static uint32_t spot_at(uint32_t i, bool back)
{
    return back ? other[i] : sl_chosen.spots[i];
}

/*@ terminates \true; exits \false; assigns \nothing; ensures digit: \result < DIGITS; */
static uint32_t digit_of(uint32_t spot, bool back)
{
    return (back ? spot / DIGITS : spot) % DIGITS;
}

/* Where each digit starts. */
/*@ requires lists: ChosenSound && OtherSound; terminates \true; exits \false; assigns STARTS; */
static void count_digits(bool back)
{
    /*@ loop assigns i, STARTS; loop variant DIGITS + 1 - i; */
    for (uint32_t i = 0; i <= DIGITS; i++) {
        starts[i] = 0;
    }
    /*@ loop assigns i, STARTS; loop variant sl_chosen.count - i; */
    for (uint32_t i = 0; i < sl_chosen.count; i++) {
        starts[digit_of(spot_at(i, back), back) + 1]++;
    }
    /*@ loop invariant one: 1 <= i; loop assigns i, STARTS; loop variant DIGITS - i; */
    for (uint32_t i = 1; i < DIGITS; i++) {
        starts[i] += starts[i - 1];
    }
}

/*@ requires lists: ChosenSound && OtherSound; terminates \true; exits \false;
    assigns STARTS, OTHER, SPOTS; ensures lists: ChosenSound && OtherSound; */
static void sort_digit(bool back)
{
    count_digits(back);
    /*@
      loop invariant lists: ChosenSound && OtherSound;
      loop assigns i, STARTS, OTHER, SPOTS;
      loop variant sl_chosen.count - i;
    */
    for (uint32_t i = 0; i < sl_chosen.count; i++) {
        uint32_t spot = spot_at(i, back);
        uint32_t digit = digit_of(spot, back);
        uint32_t to = starts[digit] < SL_DOMAINS_MAX ? starts[digit] : 0;
        if (back) {
            sl_chosen.spots[to] = spot;
        } else {
            other[to] = spot;
        }
        starts[digit]++;
    }
}

/* A few, by shifting each to its place. */
/*@ requires chosen: ChosenSound; terminates \true; exits \false; assigns SPOTS;
    ensures chosen: ChosenSound; */
static void sort_few(void)
{
    /*@
      loop invariant chosen: ChosenSound && 1 <= i;
      loop assigns i, SPOTS;
      loop variant sl_chosen.count - i;
    */
    for (uint32_t i = 1; i < sl_chosen.count; i++) {
        uint32_t spot = sl_chosen.spots[i];
        uint32_t at = i;
        /*@
          loop invariant chosen: ChosenSound && at <= i;
          loop assigns at, SPOTS;
          loop variant at;
        */
        while (at > 0 && sl_chosen.spots[at - 1] > spot) {
            sl_chosen.spots[at] = sl_chosen.spots[at - 1];
            at--;
        }
        sl_chosen.spots[at] = spot;
    }
}

/*@ requires lists: ChosenSound && OtherSound; terminates \true; exits \false;
    assigns STARTS, OTHER, SPOTS; ensures lists: ChosenSound && OtherSound; */
void sl_placement_sort_chosen(void)
{
    if (sl_chosen.count <= 32) {
        sort_few();
        return;
    }
    sort_digit(false); /* two digits are more than SL_SPOTS_MAX */
    sort_digit(true);
}
