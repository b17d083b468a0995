/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The domains of pods that stay while failed ones are replaced, and which of their slices are
 * broken. */
#include "policy/placement/placement_standing.h"

static struct sl_spot_list standing;
static int64_t standing_pods[SL_SPOTS_MAX]; /* 0 = not in the list */
static int64_t sums[SL_SPOTS_MAX];          /* all 0 between uses */

/* clang-format off */
#define STANDING standing, standing_pods[0 .. SL_SPOTS_MAX - 1]
#define SUMS sums[0 .. SL_SPOTS_MAX - 1]
/* clang-format on */
/*@
  predicate StandingSound{L} = standing.count <= SL_DOMAINS_MAX &&
    (\forall integer i; 0 <= i < standing.count ==> standing.spots[i] < SL_SPOTS_MAX) &&
    (\forall integer s; 0 <= s < SL_SPOTS_MAX ==> IsFit(standing_pods[s]));
  predicate SumsInRange{L} = \forall integer s; 0 <= s < SL_SPOTS_MAX ==> IsFit(sums[s]);
*/

/*@ requires list: StandingSound; terminates \true; exits \false; assigns STANDING;
    ensures list: StandingSound; */
void sl_standing_add(uint32_t spot, int64_t pods)
{
    if (standing_pods[spot] == 0 && standing.count < SL_DOMAINS_MAX) {
        standing.spots[standing.count] = spot;
        standing.count++;
    }
    standing_pods[spot] = sl_counts_bounded(standing_pods[spot] + pods);
}

/*@ requires list: StandingSound; terminates \true; exits \false; assigns STANDING;
    ensures list: StandingSound; */
void sl_standing_clear(void)
{
    /*@
      loop invariant list: StandingSound;
      loop assigns i, standing_pods[0 .. SL_SPOTS_MAX - 1];
      loop variant standing.count - i;
    */
    for (uint32_t i = 0; i < standing.count; i++) {
        standing_pods[standing.spots[i]] = 0;
    }
    standing.count = 0;
}

/*@ requires list: StandingSound; terminates \true; exits \false; assigns \nothing; */
int64_t sl_standing_pods(uint32_t spot)
{
    return standing_pods[spot];
}

/*@ requires list: StandingSound; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_standing_first(void)
{
    return standing.count > 0 ? standing.spots[0] : SL_NO_ID;
}

/*@ requires list: StandingSound; terminates \true; exits \false; assigns sl_hidden, sl_chosen;
    ensures list: StandingSound; */
void sl_standing_choose(void)
{
    sl_chosen.count = standing.count;
    /*@
      loop invariant chosen: i <= sl_chosen.count && \forall integer k; 0 <= k < i ==>
        sl_chosen.spots[k] < SL_SPOTS_MAX;
      loop assigns i, sl_chosen.spots[0 .. SL_DOMAINS_MAX - 1];
      loop variant sl_chosen.count - i;
    */
    for (uint32_t i = 0; i < sl_chosen.count; i++) {
        sl_chosen.spots[i] = standing.spots[i];
    }
    sl_placement_sort_chosen();
}

/* --- what is found for the others ----------------------------------------------------------------- */

/*@ requires list: StandingSound; requires ready: CountsReady && ChosenSound; terminates \true;
    exits \false; assigns sl_hidden, STANDING, SL_OWN;
    ensures list: StandingSound; ensures ready: CountsReady; */
void sl_standing_take_chosen(void)
{
    /*@
      loop invariant ready: CountsReady && StandingSound;
      loop assigns i, sl_hidden, STANDING, SL_OWN;
      loop variant sl_chosen.count - i;
    */
    for (uint32_t i = 0; i < sl_chosen.count; i++) {
        uint32_t spot = sl_chosen.spots[i];
        if (sl_fit_pods[spot] > 0) {
            sl_placement_take_own(spot, false);
            sl_standing_add(spot, sl_fit_pods[spot]);
        }
    }
}

/*@ requires list: StandingSound; requires set: set < SL_TOPOLOGY_SETS_MAX; terminates \true;
    exits \false; assigns sl_hidden, sl_chosen, sl_placement_failure;
    ensures list: StandingSound; */
bool sl_standing_put(uint32_t set)
{
    sl_standing_choose();
    /*@
      loop invariant ready: StandingSound && ChosenSound;
      loop assigns i, sl_hidden, sl_placement_failure;
      loop variant sl_chosen.count - i;
    */
    for (uint32_t i = 0; i < sl_chosen.count; i++) {
        uint32_t spot = sl_chosen.spots[i];
        if (!sl_placement_put(set, sl_spot_domain[spot], sl_standing_pods(spot))) {
            return false;
        }
    }
    return true;
}

/* --- slices ----------------------------------------------------------------------------------- */

/*@ requires spot: spot < SL_SPOTS_MAX; requires placing: PlacingSound; terminates \true;
    exits \false; assigns \nothing; ensures spot: \result < SL_SPOTS_MAX; */
static uint32_t spot_above(uint32_t spot, uint32_t depth)
{
    /*@ loop assigns d, spot; loop variant d; */
    for (uint32_t d = sl_placing.at.depth_count - 1; d > depth && spot < SL_SPOTS_MAX; d--) {
        spot = sl_spot_parent[spot];
    }
    return spot < SL_SPOTS_MAX ? spot : 0; /* what is laid out leads to no other */
}

/* How many pods are in each domain of the level; with `clear` back to zero. */
/*@ requires ready: PlacingSound && StandingSound && SumsInRange; terminates \true; exits \false;
    assigns SUMS; ensures sums: SumsInRange; */
static void sum_up(uint32_t depth, bool clear)
{
    /*@
      loop invariant sums: SumsInRange;
      loop assigns i, SUMS;
      loop variant standing.count - i;
    */
    for (uint32_t i = 0; i < standing.count; i++) {
        uint32_t spot = spot_above(standing.spots[i], depth);
        int64_t sum = sums[spot] + standing_pods[standing.spots[i]];
        sums[spot] = clear ? 0 : sl_counts_bounded(sum);
    }
}

/*@ requires ready: StandingSound && SumsInRange; terminates \true; exits \false; assigns SUMS;
    ensures sums: SumsInRange; */
sl_domain_id sl_standing_broken(struct sl_topology_layer layer, uint32_t more, sl_domain_id own)
{
    uint32_t found = SL_NO_ID;
    sum_up(layer.depth, false);
    /*@
      loop invariant found: found < SL_SPOTS_MAX || found == SL_NO_ID;
      loop assigns i, found;
      loop variant standing.count - i;
    */
    for (uint32_t i = 0; i < standing.count; i++) {
        uint32_t spot = spot_above(standing.spots[i], layer.depth);
        bool broken = sums[spot] % layer.size != 0 && (sums[spot] + more) % layer.size == 0;
        if (broken && (sl_spot_domain[spot] == own || found == SL_NO_ID ||
                       (sl_spot_domain[found] != own && spot < found))) {
            found = spot;
        }
    }
    sum_up(layer.depth, true);
    return found != SL_NO_ID ? sl_spot_domain[found] : SL_NO_ID;
}
