/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pod set after pod set, trees in their order; what earlier ones take counts as taken for later
 * ones. Leader and workers of a group are placed together. */
#include "policy/search/placement_state.h"

#include "policy/common/settings.h"

static bool done[SL_TOPOLOGY_SETS_MAX];
static bool keeps; /* pods of the slice before stay where they are */

/* clang-format off */
#define DONE done[0 .. SL_TOPOLOGY_SETS_MAX - 1]
#define PLACING sl_hidden, sl_placement_failure, sl_placing, sl_chosen, SL_FITS, SL_SPOTS, SL_OWN
/* clang-format on */
/*@
  predicate SetKnown(integer s) = 0 <= s < SL_TOPOLOGY_SETS_MAX;
  predicate Ready{L} = OwnInRange && FitsInRange && TopologyInv && AssumedInRange;
*/

/* --- one group --- */

/*@ requires set: SetKnown(set); terminates \true; exits \false; assigns sl_hidden, DONE; */
static void start(uint32_t set)
{
    sl_placement_start_set(set);
    done[set] = true;
}

/*@ requires set: SetKnown(set);
    requires ready: ChosenSound && FitsInRange && TakesSound && OwnInRange;
    terminates \true; exits \false; assigns sl_hidden, sl_placement_failure, SL_OWN, DONE;
    ensures own: OwnInRange; */
static bool put_chosen(uint32_t set, bool leader)
{
    start(set);
    /*@
      loop invariant own: OwnInRange;
      loop assigns i, sl_hidden, sl_placement_failure, SL_OWN;
      loop variant SL_DOMAINS_MAX - i;
    */
    for (uint32_t i = 0; i < sl_chosen.count && i < SL_DOMAINS_MAX; i++) {
        uint32_t spot = sl_chosen.spots[i];
        int64_t count = leader ? sl_fit_leaders[spot] : sl_fit_pods[spot];
        if (count > 0) {
            if (!sl_placement_put(set, sl_spot_domain[spot], count)) {
                return false;
            }
            sl_placement_take_own(spot, leader);
        }
    }
    return true;
}

/*@ requires sets: SetKnown(workers) && (SetKnown(leader) || leader == SL_NO_ID);
    requires ready: Ready; terminates \true; exits \false; assigns PLACING, DONE;
    ensures ready: Ready; */
static bool place(uint32_t workers, uint32_t leader)
{
    if (!sl_placement_ask(workers, leader) || !sl_placement_one() || !put_chosen(workers, false)) {
        return false;
    }
    sl_placement_head(workers, false);
    if (sl_placing.surplus > 0) {
        sl_placement_loosen(workers);
    }
    if (leader != SL_NO_ID) {
        if (!put_chosen(leader, true)) {
            return false;
        }
        sl_placement_head(leader, true);
    }
    return true;
}

/* The other set of its group in its tree; SL_NO_ID = none. */
/*@ requires set: SetKnown(set) && sl_placement_question.set_count <= SL_TOPOLOGY_SETS_MAX;
    terminates \true; exits \false; assigns \nothing;
    ensures known: SetKnown(\result) || \result == SL_NO_ID; */
static uint32_t find_partner(uint32_t set)
{
    uint32_t group = sl_topology_request_of(sl_placement_question.sets[set].record).rank_group;
    sl_tree_id tree = sl_placement_question.sets[set].tree;
    if (sl_placement_question.set_count < 2 || group == SL_NO_ID) {
        return SL_NO_ID;
    }
    /*@ loop assigns i; loop variant sl_placement_question.set_count - i; */
    for (uint32_t i = 0; i < sl_placement_question.set_count; i++) {
        struct sl_placement_set other = sl_placement_question.sets[i];
        if (i != set && !done[i] && other.tree == tree &&
            sl_topology_request_of(other.record).rank_group == group) {
            return i;
        }
    }
    return SL_NO_ID;
}

/*@ requires set: SetKnown(set) && sl_placement_question.set_count <= SL_TOPOLOGY_SETS_MAX;
    requires ready: Ready; terminates \true; exits \false; assigns PLACING, DONE;
    ensures ready: Ready; */
static bool place_group(uint32_t set)
{
    if (sl_placement_question.replaces) {
        start(set);
        return sl_placement_replace(set);
    }
    if (keeps && sl_placement_has_kept(set)) {
        start(set);
        return sl_placement_keep(set);
    }
    uint32_t partner = keeps ? SL_NO_ID : find_partner(set);
    if (partner != SL_NO_ID &&
        sl_placement_question.sets[partner].count > sl_placement_question.sets[set].count) {
        return place(partner, set);
    }
    return place(set, partner);
}

/* --- all --- */

/* The next set to be placed; SL_NO_ID = all are. */
/*@ requires sets: sl_placement_question.set_count <= SL_TOPOLOGY_SETS_MAX;
    terminates \true; exits \false; assigns \nothing;
    ensures known: SetKnown(\result) || \result == SL_NO_ID; */
static uint32_t find_next(void)
{
    uint32_t next = SL_NO_ID;
    uint32_t rank = 0;
    /*@
      loop invariant known: SetKnown(next) || next == SL_NO_ID;
      loop assigns i, next, rank;
      loop variant sl_placement_question.set_count - i;
    */
    for (uint32_t i = 0; i < sl_placement_question.set_count; i++) {
        uint32_t its = sl_trees_rank(sl_placement_question.sets[i].tree);
        if (!done[i] && (next == SL_NO_ID || its < rank)) {
            next = i;
            rank = its;
        }
    }
    return next;
}

/* Nothing is taken by sets placed so far, but by pods that stay. */
/*@ requires ready: Ready; terminates \true; exits \false;
    assigns sl_hidden, sl_placement_failure, sl_placing, SL_SPOTS, SL_OWN; ensures ready: Ready; */
static void begin_own(void)
{
    sl_placement_clear_own();
    if (keeps) {
        sl_placement_take_kept();
    }
}

/*@ requires sets: sl_placement_question.set_count <= SL_TOPOLOGY_SETS_MAX;
    requires ready: Ready; terminates \true; exits \false; assigns PLACING, DONE;
    ensures ready: Ready; */
static bool place_all(void)
{
    begin_own();
    sl_tree_id tree = SL_NO_ID;
    uint32_t set = find_next();
    /*@
      loop invariant ready: Ready;
      loop invariant known: SetKnown(set) || set == SL_NO_ID;
      loop assigns steps, tree, set, PLACING, DONE;
      loop variant SL_TOPOLOGY_SETS_MAX - steps;
    */
    for (uint32_t steps = 0; set != SL_NO_ID && steps < SL_TOPOLOGY_SETS_MAX; steps++) {
        if (tree != sl_placement_question.sets[set].tree && !sl_settings.overlapping_flavors) {
            begin_own();
        }
        tree = sl_placement_question.sets[set].tree;
        if (!place_group(set)) {
            return false;
        }
        set = find_next();
    }
    return true;
}

/* What the parts of placement keep between two questions: amounts in range. */
/*@ requires ready: PlaceReady; requires state: OwnInRange && FitsInRange;
    terminates \true; exits \false; assigns PLACING, DONE, keeps, sl_topology_plan;
    ensures plan: PlanBounded; ensures state: OwnInRange && FitsInRange; */
bool sl_placement_find(void)
{
    sl_topology_plan.workload = sl_placement_question.workload;
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
    sl_placement_failure = (struct sl_placement_failure){.domain = SL_NO_ID};
    if (sl_placement_question.set_count > SL_TOPOLOGY_SETS_MAX) {
        return sl_placement_miss(SL_PLACEMENT_FULL);
    }
    sl_placement_start();
    /*@ loop assigns i, DONE; loop variant SL_TOPOLOGY_SETS_MAX - i; */
    for (uint32_t i = 0; i < SL_TOPOLOGY_SETS_MAX; i++) {
        done[i] = false;
    }
    keeps = sl_placement_keeps_places();
    bool found = place_all();
    sl_placement_clear_own();
    if (found) {
        sl_placement_failure = (struct sl_placement_failure){.domain = SL_NO_ID};
        sl_placement_write();
    }
    return found;
}
