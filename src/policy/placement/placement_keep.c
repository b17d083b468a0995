/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Places for a slice that takes the place of another (Kueue's handleElasticWorkload): the pods that run stay where they
 * are, so that only what goes beyond them is looked for. Where there are fewer pods now, the last places are given up. */
#include "policy/placement/placement_standing.h"

/* clang-format off */
#define FILLED sl_hidden, sl_placement_failure, sl_placing, sl_chosen, SL_FITS, SL_OWN
/* clang-format on */

/* --- which pods stay -------------------------------------------------------------------------- */

/* Is the row's domain still one where pods of the workload may be? */
/*@ requires sets: sl_placement_question.set_count <= SL_TOPOLOGY_SETS_MAX; terminates \true;
    exits \false; assigns \nothing; */
static bool is_there(struct sl_domain_assignment row)
{
    bool there = sl_trees_shows(row.domain);
    /*@ loop assigns i, there; loop variant sl_placement_question.set_count - i; */
    for (uint32_t i = 0; there && i < sl_placement_question.set_count; i++) {
        there = sl_placement_question.sets[i].pod_set != row.pod_set ||
                sl_placement_question.sets[i].tree == sl_domain_tree(row.domain);
    }
    return there;
}

bool sl_placement_keeps_places(void)
{
    sl_workload_id old = sl_placement_question.old;
    uint32_t count = sl_topology_assignment_count(old);
    bool keeps = sl_placement_question.keeps && count > 0 &&
                 sl_placement_question.set_count <= SL_TOPOLOGY_SETS_MAX;
    /*@
      loop invariant sets: keeps ==> sl_placement_question.set_count <= SL_TOPOLOGY_SETS_MAX;
      loop assigns i, keeps;
      loop variant count - i;
    */
    for (uint32_t i = 0; keeps && i < count; i++) {
        keeps = is_there(sl_topology_assignment_at(old, i));
    }
    return keeps;
}

bool sl_placement_has_kept(uint32_t set)
{
    sl_workload_id old = sl_placement_question.old;
    uint32_t count = sl_topology_assignment_count(old);
    /*@ loop assigns i; loop variant count - i; */
    for (uint32_t i = 0; set < SL_TOPOLOGY_SETS_MAX && i < count; i++) {
        if (sl_topology_assignment_at(old, i).pod_set == sl_placement_question.sets[set].pod_set) {
            return true;
        }
    }
    return false;
}

/* How many pods of the row stay, of `left` that may. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures fewer: \result <= left && \result <= row.count; */
static uint32_t staying(struct sl_domain_assignment row, uint32_t pod_set, uint32_t left)
{
    if (row.pod_set != pod_set) {
        return 0;
    }
    return row.count < left ? row.count : left;
}

/* --- what they take --------------------------------------------------------------------------- */

/*@ requires set: set < SL_TOPOLOGY_SETS_MAX; requires ready: OwnInRange && TopologyInv && TakesSound;
    terminates \true; exits \false; assigns sl_hidden, SL_OWN; ensures own: OwnInRange; */
static void take_set(uint32_t set)
{
    sl_workload_id old = sl_placement_question.old;
    uint32_t count = sl_topology_assignment_count(old);
    uint32_t left = sl_placement_question.sets[set].count;
    /*@
      loop invariant own: OwnInRange;
      loop assigns i, left, sl_hidden, SL_OWN;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_domain_assignment row = sl_topology_assignment_at(old, i);
        uint32_t pods = staying(row, sl_placement_question.sets[set].pod_set, left);
        sl_placement_take_pods(sl_domain_site(row.domain), pods);
        left -= pods;
    }
}

void sl_placement_take_kept(void)
{
    if (!sl_placement_question.empty) {
        sl_placement_free_booked(sl_placement_question.old);
    }
    /*@
      loop invariant own: OwnInRange;
      loop assigns i, sl_hidden, sl_placement_failure, sl_placing, SL_SPOTS, SL_OWN;
      loop variant SL_TOPOLOGY_SETS_MAX - i;
    */
    for (uint32_t i = 0; i < sl_placement_question.set_count && i < SL_TOPOLOGY_SETS_MAX; i++) {
        if (sl_placement_has_kept(i) && sl_placement_ask(i, SL_NO_ID)) {
            take_set(i);
        }
    }
}

/* --- the others ------------------------------------------------------------------------------- */

/* The spots of pods that stay are in the list; how many pods these are. */
/*@ requires set: set < SL_TOPOLOGY_SETS_MAX; requires ready: TopologyInv; terminates \true;
    exits \false; assigns sl_hidden;
    ensures fewer: \result <= sl_placement_question.sets[set].count; */
static uint32_t stand(uint32_t set)
{
    sl_workload_id old = sl_placement_question.old;
    uint32_t count = sl_topology_assignment_count(old);
    uint32_t all = sl_placement_question.sets[set].count;
    uint32_t left = all;
    /*@
      loop invariant left: left <= all;
      loop assigns i, left, sl_hidden;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_domain_assignment row = sl_topology_assignment_at(old, i);
        uint32_t pods = staying(row, sl_placement_question.sets[set].pod_set, left);
        if (pods > 0) {
            sl_standing_add(sl_trees_spot(row.domain), pods);
        }
        left -= pods;
    }
    return all - left;
}

/* So many pods more, as the pod set asks. */
/*@ requires ready: CountsReady; terminates \true; exits \false; assigns FILLED;
    ensures ready: CountsReady; */
static bool place_more(uint32_t count)
{
    if (count == 0) {
        return true;
    }
    if (!sl_placement_set_count(count) || !sl_placement_one()) {
        return false;
    }
    sl_standing_take_chosen();
    return true;
}

bool sl_placement_keep(uint32_t set)
{
    if (!sl_placement_ask(set, SL_NO_ID)) {
        return false;
    }
    uint32_t kept = stand(set);
    bool found = place_more(sl_placement_question.sets[set].count - kept) && sl_standing_put(set);
    if (found) {
        sl_placement_head(set, false);
        sl_placement_loosen(set);
    }
    sl_standing_clear();
    return found;
}
