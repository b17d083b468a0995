/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Parts of balanced placement: pods as evenly as can be on as few domains as will do. */
#ifndef SL_POLICY_PLACEMENT_BALANCE_H
#define SL_POLICY_PLACEMENT_BALANCE_H
#include "policy/search/placement_pick.h"

/* How domains are taken greedily, those that take most first. */
struct sl_greedy {
    bool fits;
    uint32_t count;    /* domains */
    uint32_t last_led; /* the one with the leader; SL_NO_ID = none */
    uint32_t last;     /* the last without; SL_NO_ID = none */
};

/* The domains in question, in the order in which they are tried, and the ones picked of them. */
extern struct sl_spot_list sl_balance_domains;
extern struct sl_spot_list sl_balance_picked;
/*@
  predicate BalanceListed{L} = sl_balance_domains.count <= SL_DOMAINS_MAX &&
    \forall integer i; 0 <= i < sl_balance_domains.count ==>
      sl_balance_domains.spots[i] < SL_SPOTS_MAX;
  predicate BalancePicked{L} = sl_balance_picked.count <= SL_DOMAINS_MAX &&
    \forall integer i; 0 <= i < sl_balance_picked.count ==>
      sl_balance_picked.spots[i] < SL_SPOTS_MAX;
*/

/* Spots first .. end - 1, of one level. */
struct sl_spot_range {
    uint32_t first;
    uint32_t end;
};

/* Their children. */
/*@ requires within: r.end <= SL_SPOTS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures within: \result.end <= SL_SPOTS_MAX; */
struct sl_spot_range sl_balance_below(struct sl_spot_range r);
/* Keeps the figures of a range of the level that is asked for, and of all spots below; one at a
 * time. */
/*@ requires ready: PlacingSound && FitsInRange && r.end <= SL_SPOTS_MAX; terminates \true;
    exits \false; assigns sl_hidden; */
void sl_balance_keep(struct sl_spot_range r);
/* The figures of the range kept last as they were. */
/*@ requires ready: PlacingSound && FitsInRange && r.end <= SL_SPOTS_MAX; terminates \true;
    exits \false; assigns SL_FITS; ensures fits: FitsInRange; */
void sl_balance_put_back(struct sl_spot_range r);
/* A domain of the range, or a child of one, that takes fewer slices than that takes none from now
 * on; one that takes fewer with the leader takes no leader. */
/*@ requires ready: PlacingSound && FitsInRange && r.end <= SL_SPOTS_MAX; terminates \true;
    exits \false; assigns SL_FITS, sl_placing.size_at[0 .. SL_DEPTHS_MAX - 1];
    ensures ready: PlacingSound && FitsInRange; */
void sl_balance_prune(struct sl_spot_range r, int64_t threshold);

/*@ requires ready: PlacingSound && FitsInRange && BalanceListed; terminates \true; exits \false;
    assigns sl_hidden;
    ensures known: (\result.last_led < SL_SPOTS_MAX || \result.last_led == SL_NO_ID) &&
      (\result.last < SL_SPOTS_MAX || \result.last == SL_NO_ID); */
struct sl_greedy sl_balance_greedy(void);

/* As few as the greedy way takes that take all with the least room to spare. They are in
 * sl_balance_picked in that order; false = there are none, or there are too many ways to look
 * at. */
/*@ requires ready: PlacingSound && FitsInRange && BalanceListed; terminates \true; exits \false;
    assigns sl_hidden, sl_balance_picked;
    ensures picked: \result ==> BalancePicked; */
bool sl_balance_subset(void);

/* Orders them by leaders, slices, how evenly the children's pods are spread (most evenly first),
 * and the order of the tree. */
/*@ requires ready: FitsInRange && BalanceListed; terminates \true; exits \false;
    assigns sl_hidden, sl_balance_domains.spots[0 .. SL_DOMAINS_MAX - 1];
    ensures listed: BalanceListed; */
void sl_balance_sort_even(void);
#endif
