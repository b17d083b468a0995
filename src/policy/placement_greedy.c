/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The greedy way: first a domain for the leader, then those that take most. */
#include "policy/placement_balance.h"

static void list_but(const struct sl_spot_list *domains, uint32_t spot, bool leaders_first)
{
    sl_pick_start(leaders_first);
    for (uint32_t i = 0; i < domains->count && i < SL_DOMAINS_MAX; i++) {
        if (domains->spots[i] != spot) {
            sl_pick_add(domains->spots[i]);
        }
    }
    sl_pick_ready((struct sl_pick_need){.slices = true});
}

struct sl_greedy sl_balance_greedy(const struct sl_spot_list *domains)
{
    struct sl_greedy greedy = {.last_led = SL_NO_ID, .last = SL_NO_ID};
    int64_t left = sl_placing.count / sl_placing.slice_size;
    if (sl_placing.leaders > 0) {
        list_but(domains, SL_NO_ID, true);
        uint32_t spot = sl_pick_next();
        if (spot == SL_NO_ID || sl_pick_leaders(spot) == 0) {
            return greedy;
        }
        greedy.last_led = spot;
        greedy.count = 1;
        left -= sl_fit_slices_led[spot];
    }
    list_but(domains, greedy.last_led, false);
    while (left > 0) {
        uint32_t spot = sl_pick_next();
        if (spot == SL_NO_ID || sl_fit_slices[spot] == 0) {
            return greedy;
        }
        greedy.last = spot;
        greedy.count++;
        left -= sl_fit_slices[spot];
    }
    greedy.fits = true;
    return greedy;
}
