/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From the chosen domains down to the lowest level, in as few domains of each as will do. Above the
 * level of slices all domains share the pods; from there on each gives its own to its children. */
#include "policy/search/placement_pick.h"

#define PODS_MAX INT32_MAX /* of one pod set (sl_placement_set_count) */

static struct sl_spot_list lower;

/* clang-format off */
#define TAKEN                                                                                      \
    sl_fit_pods[0 .. SL_SPOTS_MAX - 1], sl_fit_slices[0 .. SL_SPOTS_MAX - 1],                      \
        sl_fit_leaders[0 .. SL_SPOTS_MAX - 1]
#define SLICES sl_fit_slices[0 .. SL_SPOTS_MAX - 1], sl_fit_slices_led[0 .. SL_SPOTS_MAX - 1]
#define DOWN sl_hidden, SL_FITS, lower
/* clang-format on */
/*@
  predicate LowerSound{L} = lower.count <= SL_DOMAINS_MAX &&
    \forall integer i; 0 <= i < lower.count ==> lower.spots[i] < SL_SPOTS_MAX;
*/

/*@ terminates \true; exits \false; assigns \nothing;
    ensures smaller: \result == (a < b ? a : b); */
static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What the spot gives of what is needed. */
/*@ requires fits: FitsInRange && spot < SL_SPOTS_MAX && need.amount >= 0; terminates \true;
    exits \false; assigns \nothing; ensures part: 0 <= \result <= need.amount; */
static int64_t share(uint32_t spot, struct sl_pick_need need)
{
    int64_t amount = smaller(sl_pick_capacity(spot, need), need.amount);
    return amount > 0 ? amount : 0;
}

/* So many of its pods are there. */
/*@ requires fits: FitsInRange && spot < SL_SPOTS_MAX && 0 <= amount <= SL_AMOUNT_MAX;
    terminates \true; exits \false; assigns TAKEN; ensures fits: FitsInRange; */
static void settle(uint32_t spot, int64_t amount, uint32_t leaders, uint32_t size)
{
    sl_fit_pods[spot] = sl_counts_bounded(smaller(amount, PODS_MAX) * size);
    sl_fit_slices[spot] = amount;
    sl_fit_leaders[spot] = leaders;
}

/* Domains that were looked at and got nothing count only for the leader, which may still go below
 * them. */
/*@ requires lower: LowerSound && spot < SL_SPOTS_MAX; terminates \true; exits \false;
    assigns lower; ensures lower: LowerSound; */
static void add_lower(uint32_t spot)
{
    if (lower.count < SL_DOMAINS_MAX && (sl_fit_pods[spot] > 0 || sl_placing.leaders > 0)) {
        lower.spots[lower.count] = spot;
        lower.count++;
    }
}

/* Pods, and perhaps a leader, on the next domains of the list, until all have one. False = there is
 * not enough capacity for them. */
/*@ requires ready: FitsInRange && LowerSound && 0 <= need.amount <= SL_AMOUNT_MAX;
    terminates \true; exits \false; assigns sl_hidden, TAKEN, lower;
    ensures kept: FitsInRange && LowerSound; */
static bool take(struct sl_pick_need need, uint32_t size)
{
    /*@
      loop invariant kept: FitsInRange && LowerSound && steps <= SL_DOMAINS_MAX;
      loop invariant amount: 0 <= need.amount <= SL_AMOUNT_MAX;
      loop assigns steps, need.amount, need.leaders, sl_hidden, TAKEN, lower;
      loop variant SL_DOMAINS_MAX - steps;
    */
    for (uint32_t steps = 0; need.amount > 0 || need.leaders > 0; steps++) {
        uint32_t spot = sl_pick_next();
        if (spot == SL_NO_ID || steps == SL_DOMAINS_MAX) {
            return false;
        }
        if (!sl_placing.least_free && sl_pick_capacity(spot, need) >= need.amount &&
            sl_pick_leaders(spot) >= need.leaders) {
            spot = sl_pick_tightest(spot, need);
        }
        int64_t amount = share(spot, need);
        uint32_t leaders = need.leaders > 0 ? sl_pick_leaders(spot) : 0;
        settle(spot, amount, leaders, need.slices ? size : 1);
        add_lower(spot);
        need.amount -= amount;
        need.leaders -= leaders;
    }
    return true;
}

/*@ requires ready: PlacingSound; terminates \true; exits \false; assigns \nothing;
    ensures need: 0 <= \result.amount <= UINT32_MAX; */
static struct sl_pick_need all_slices(void)
{
    return (struct sl_pick_need){.amount = sl_placing.count / sl_placing.slice_size,
                                 .leaders = sl_placing.leaders,
                                 .slices = true};
}

/* What search or balance has chosen, in that order, takes no more than is needed. */
/*@ requires ready: PlacingSound && FitsInRange && ChosenSound; terminates \true; exits \false;
    assigns TAKEN, lower; ensures kept: FitsInRange && LowerSound; */
static bool settle_chosen(void)
{
    struct sl_pick_need need = all_slices();
    lower.count = 0;
    /*@
      loop invariant kept: FitsInRange && LowerSound;
      loop invariant amount: 0 <= need.amount <= UINT32_MAX;
      loop assigns i, need.amount, need.leaders, TAKEN, lower;
      loop variant SL_DOMAINS_MAX - i;
    */
    for (uint32_t i = 0; i < sl_chosen.count && i < SL_DOMAINS_MAX; i++) {
        uint32_t spot = sl_chosen.spots[i];
        int64_t amount = share(spot, need);
        uint32_t leaders = need.leaders > 0 ? sl_pick_leaders(spot) : 0;
        settle(spot, amount, leaders, sl_placing.slice_size);
        add_lower(spot);
        need.amount -= amount;
        need.leaders -= leaders;
    }
    return need.amount == 0 && need.leaders == 0;
}

/*@ requires lower: LowerSound; terminates \true; exits \false; assigns sl_chosen;
    ensures chosen: ChosenSound; */
static void use_lower(void)
{
    sl_chosen.count = lower.count;
    /*@
      loop invariant spots: \forall integer k; 0 <= k < i ==> sl_chosen.spots[k] < SL_SPOTS_MAX;
      loop assigns i, sl_chosen.spots[0 .. SL_DOMAINS_MAX - 1];
      loop variant SL_DOMAINS_MAX - i;
    */
    for (uint32_t i = 0; i < lower.count && i < SL_DOMAINS_MAX; i++) {
        sl_chosen.spots[i] = lower.spots[i];
    }
}

/*@ requires known: parent < SL_SPOTS_MAX; terminates \true; exits \false; assigns sl_hidden; */
static void list_children(uint32_t parent)
{
    uint32_t end = sl_spot_child[parent] + sl_spot_children[parent];
    /*@ loop assigns child, sl_hidden; loop variant SL_SPOTS_MAX - child; */
    for (uint32_t child = sl_spot_child[parent]; child < end && child < SL_SPOTS_MAX; child++) {
        if (sl_fit_pods[child] > 0 || sl_pick_leaders(child) > 0) {
            sl_pick_add(child);
        }
    }
}

/* One level down, still above the slices. */
/*@ requires ready: PlacingSound && FitsInRange && ChosenSound && LowerSound; terminates \true;
    exits \false; assigns DOWN, sl_chosen;
    ensures kept: FitsInRange && ChosenSound && LowerSound; */
static bool descend_together(void)
{
    struct sl_pick_need need = all_slices();
    sl_pick_start(false);
    /*@ loop assigns i, sl_hidden; loop variant SL_DOMAINS_MAX - i; */
    for (uint32_t i = 0; i < sl_chosen.count && i < SL_DOMAINS_MAX; i++) {
        list_children(sl_chosen.spots[i]);
    }
    sl_pick_ready(need);
    lower.count = 0;
    if (!take(need, sl_placing.slice_size)) {
        return false;
    }
    use_lower();
    return true;
}

/* The children of that level come in slices of another size than counted. */
/*@ requires ready: FitsInRange && parent < SL_SPOTS_MAX && size > 0; terminates \true;
    exits \false; assigns SLICES; ensures fits: FitsInRange; */
static void count_anew(uint32_t parent, uint32_t size)
{
    uint32_t end = sl_spot_child[parent] + sl_spot_children[parent];
    /*@
      loop invariant fits: FitsInRange;
      loop assigns child, SLICES;
      loop variant SL_SPOTS_MAX - child;
    */
    for (uint32_t child = sl_spot_child[parent]; child < end && child < SL_SPOTS_MAX; child++) {
        sl_fit_slices[child] = sl_fit_pods[child] / size;
        if (sl_placing.leaders > 0) {
            sl_fit_slices_led[child] = sl_fit_pods_led[child] / size;
        }
    }
}

/* The pods of one domain on its children. They are listed as they were counted, and then taken by
 * slices of this level. */
/*@ requires ready: FitsInRange && LowerSound && parent < SL_SPOTS_MAX && size > 0;
    terminates \true; exits \false; assigns DOWN; ensures kept: FitsInRange && LowerSound; */
static bool descend_one(uint32_t parent, uint32_t size)
{
    int64_t pods = sl_fit_pods[parent] > 0 ? sl_fit_pods[parent] : 0;
    struct sl_pick_need need = {
        .amount = pods / size, .leaders = sl_pick_leaders(parent), .slices = size > 1};
    sl_pick_start(false);
    list_children(parent);
    if (size > 1) {
        count_anew(parent, size);
    }
    sl_pick_ready(need);
    return take(need, size);
}

/* Of what size slices are between this level and the next. */
/*@ requires ready: PlacingSound && depth < SL_DEPTHS_MAX; terminates \true; exits \false;
    assigns \nothing; ensures size: \result > 0; */
static uint32_t size_below(uint32_t depth)
{
    if (depth < sl_placing.slice_depth) {
        return sl_placing.slice_size;
    }
    uint32_t size = depth + 1 < SL_DEPTHS_MAX ? sl_placing.size_at[depth + 1] : 0;
    return size > 1 ? size : 1;
}

/*@ requires ready: PlacingSound && FitsInRange && ChosenSound && depth < SL_DEPTHS_MAX;
    terminates \true; exits \false; assigns DOWN, sl_chosen;
    ensures kept: FitsInRange && ChosenSound; */
static bool descend_each(uint32_t depth)
{
    uint32_t size = size_below(depth);
    lower.count = 0;
    /*@
      loop invariant kept: FitsInRange && LowerSound;
      loop assigns i, DOWN;
      loop variant SL_DOMAINS_MAX - i;
    */
    for (uint32_t i = 0; i < sl_chosen.count && i < SL_DOMAINS_MAX; i++) {
        if (!descend_one(sl_chosen.spots[i], size)) {
            return false;
        }
    }
    use_lower();
    return true;
}

/*@ requires ready: CountsReady && ChosenSound && depth < sl_placing.at.depth_count;
    terminates \true; exits \false; assigns DOWN, sl_chosen, sl_placement_failure;
    ensures fits: FitsInRange; ensures chosen: ChosenSound; */
bool sl_placement_descend(uint32_t depth, bool balanced)
{
    uint32_t lowest = sl_placing.at.depth_count - 1;
    bool fits = settle_chosen();
    use_lower();
    /*@
      loop invariant kept: FitsInRange && ChosenSound && LowerSound && depth <= lowest;
      loop assigns fits, depth, DOWN, sl_chosen;
      loop variant lowest - depth;
    */
    while (fits && !balanced && depth < lowest && depth < sl_placing.slice_depth) {
        fits = descend_together();
        depth++;
    }
    /*@
      loop invariant kept: FitsInRange && ChosenSound && depth <= lowest;
      loop assigns fits, depth, DOWN, sl_chosen;
      loop variant lowest - depth;
    */
    while (fits && depth < lowest) {
        fits = descend_each(depth);
        depth++;
    }
    if (!fits) {
        return sl_placement_no_fit(depth, 0, sl_placing.count / sl_placing.slice_size);
    }
    return true;
}
