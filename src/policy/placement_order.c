/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The chosen domains of the lowest level in the order of the tree: by counting, digit by digit, so
 * that many cost no more than once each. */
#include "policy/placement_state.h"

#define DIGITS 2048u

static uint32_t starts[DIGITS + 1];
static uint32_t other[SL_DOMAINS_MAX];

static uint32_t digit_of(uint32_t spot, uint32_t unit)
{
    return (spot / unit) % DIGITS;
}

/* From one list to another, by one digit. */
static void sort_digit(const uint32_t *from, uint32_t *to, uint32_t unit)
{
    for (uint32_t i = 0; i <= DIGITS; i++) {
        starts[i] = 0;
    }
    for (uint32_t i = 0; i < sl_chosen.count; i++) {
        starts[digit_of(from[i], unit) + 1]++;
    }
    for (uint32_t i = 1; i < DIGITS; i++) {
        starts[i] += starts[i - 1];
    }
    for (uint32_t i = 0; i < sl_chosen.count; i++) {
        uint32_t digit = digit_of(from[i], unit);
        to[starts[digit]] = from[i];
        starts[digit]++;
    }
}

/* A few, by shifting each to its place. */
static void sort_few(void)
{
    for (uint32_t i = 1; i < sl_chosen.count; i++) {
        uint32_t spot = sl_chosen.spots[i];
        uint32_t at = i;
        while (at > 0 && sl_chosen.spots[at - 1] > spot) {
            sl_chosen.spots[at] = sl_chosen.spots[at - 1];
            at--;
        }
        sl_chosen.spots[at] = spot;
    }
}

void sl_placement_sort_chosen(void)
{
    if (sl_chosen.count <= 32) {
        sort_few();
        return;
    }
    sort_digit(sl_chosen.spots, other, 1); /* two digits are more than SL_SPOTS_MAX */
    sort_digit(other, sl_chosen.spots, DIGITS);
}
