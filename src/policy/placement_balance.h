/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Parts of balanced placement: pods as evenly as can be on as few domains as will do. */
#ifndef SL_POLICY_PLACEMENT_BALANCE_H
#define SL_POLICY_PLACEMENT_BALANCE_H
#include "policy/placement_pick.h"

/* How domains are taken greedily, those that take most first. */
struct sl_greedy {
    bool fits;
    uint32_t count;    /* domains */
    uint32_t last_led; /* the one with the leader; SL_NO_ID = none */
    uint32_t last;     /* the last without; SL_NO_ID = none */
};
struct sl_greedy sl_balance_greedy(const struct sl_spot_list *domains);

/* Out of `domains`, tried in that order: as few as the greedy way takes that take all with the
 * least room to spare. The result is in `*out` in that order; false = there is none, or there are
 * too many ways to look at. */
bool sl_balance_subset(const struct sl_spot_list *domains, struct sl_spot_list *out);

/* The list by leaders, slices, how evenly the children's pods are spread (most evenly first), and
 * the order of the tree. */
void sl_balance_sort_even(struct sl_spot_list *domains);
#endif
