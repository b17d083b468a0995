/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pod set after pod set, trees in their order; what earlier ones take counts as taken for later
 * ones. Leader and workers of a group are placed together. */
#include "policy/placement_state.h"

#include "policy/settings.h"

struct sl_placement_question sl_placement_question;

static struct sl_topology_row rows[SL_TOPOLOGY_ROWS_MAX]; /* of the sets in the order of placing */
static uint32_t row_count;
static uint32_t set_first[SL_TOPOLOGY_SETS_MAX]; /* where the rows of a set of the question start */
static uint32_t set_rows[SL_TOPOLOGY_SETS_MAX];
static struct sl_topology_set heads[SL_TOPOLOGY_SETS_MAX];
static bool done[SL_TOPOLOGY_SETS_MAX];

#define OWN_MAX SL_BOOKINGS_MAX /* rooms that one workload takes */

/* --- one set's rows --- */

static void start_rows(uint32_t set)
{
    set_first[set] = row_count;
    set_rows[set] = 0;
    done[set] = true;
}

bool sl_placement_put(uint32_t set, sl_domain_id domain, int64_t count)
{
    if (row_count >= SL_TOPOLOGY_ROWS_MAX || set >= SL_TOPOLOGY_SETS_MAX) {
        return sl_placement_miss(SL_PLACEMENT_FULL);
    }
    rows[row_count] = (struct sl_topology_row){.domain = domain, .count = (uint32_t)count};
    row_count++;
    set_rows[set]++;
    return true;
}

static struct {
    uint32_t count;
    uint32_t rooms[OWN_MAX];
} own;

/* Nobody asks what the last set takes; rooms beyond OWN_MAX are left to the kernel to refuse. */
static void take_own(sl_site_id site, const struct sl_takes *takes, int64_t count)
{
    if (site >= SL_SITES_MAX ||
        (sl_placement_question.set_count < 2 && !sl_placement_question.replaces)) {
        return;
    }
    for (uint32_t i = 0; i < takes->count && i < SL_TAKES_MAX && own.count < OWN_MAX; i++) {
        uint32_t room = takes->of[i].measure * SL_SITES_MAX + site;
        sl_placement_own[room] += takes->of[i].per_pod * count;
        own.rooms[own.count] = room;
        own.count++;
    }
    sl_placement_has_own = true;
}

/* Nothing is taken any more by the sets placed so far. */
static void clear_own(void)
{
    for (uint32_t i = 0; i < own.count; i++) {
        sl_placement_own[own.rooms[i]] = 0;
    }
    own.count = 0;
    sl_placement_has_own = false;
}

void sl_placement_take_own(uint32_t spot, bool leader)
{
    if (leader) {
        take_own(sl_spot_site[spot], &sl_placing.leader_takes, 1);
    } else {
        take_own(sl_spot_site[spot], &sl_placing.takes, sl_fit_pods[spot]);
    }
}

static bool put_chosen(uint32_t set, bool leader)
{
    start_rows(set);
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

void sl_placement_head(uint32_t set, const struct sl_takes *takes, bool layered)
{
    const struct sl_placement_set *q = &sl_placement_question.sets[set];
    struct sl_topology_set *head = &heads[set];
    *head = (struct sl_topology_set){
        .pod_set = q->pod_set, .count = q->count, .tree = q->tree, .within = SL_NO_ID};
    if (sl_placing.required && set_rows[set] > 0) {
        head->within = sl_domain_above(rows[set_first[set]].domain, sl_placing.depth);
    }
    for (uint32_t i = 0; layered && i < sl_placing.layer_count && i < SL_LAYERS_MAX; i++) {
        head->layers[i] = sl_placing.layers[i];
        head->layer_count = i + 1;
    }
    for (uint32_t i = 1; i < takes->count && i < SL_TAKES_MAX; i++) { /* the pod itself is 0 */
        head->requests[i - 1] = takes->of[i];
        head->request_count = i;
    }
}

/* --- rows that were never as the set asks --- */

static bool all_within(uint32_t set, sl_domain_id within)
{
    uint32_t depth = sl_domain_depth(within);
    for (uint32_t i = 0; i < set_rows[set]; i++) {
        if (sl_domain_above(rows[set_first[set] + i].domain, depth) != within) {
            return false;
        }
    }
    return true;
}

static bool all_whole(uint32_t set, struct sl_topology_layer layer)
{
    uint64_t pods = 0;
    sl_domain_id last = SL_NO_ID;
    for (uint32_t i = 0; i < set_rows[set]; i++) {
        struct sl_topology_row row = rows[set_first[set] + i];
        sl_domain_id domain = sl_domain_above(row.domain, layer.depth);
        if (domain != last && pods % layer.size != 0) {
            return false;
        }
        last = domain;
        pods += row.count;
    }
    return pods % layer.size == 0;
}

/* The answer promises of the set only what is true of it: rows that stay may have been apart
 * before, and the last slice may be short. */
void sl_placement_loosen(uint32_t set)
{
    struct sl_topology_set *head = &heads[set];
    uint32_t kept = 0;
    if (head->within != SL_NO_ID && !all_within(set, head->within)) {
        head->within = SL_NO_ID;
    }
    for (uint32_t i = 0; i < head->layer_count && i < SL_LAYERS_MAX; i++) {
        if (all_whole(set, head->layers[i])) {
            head->layers[kept] = head->layers[i];
            kept++;
        }
    }
    head->layer_count = kept;
}

/* --- one group --- */

/* The last slice is short of what there is not. */
static void leave_out(uint32_t surplus)
{
    for (uint32_t i = sl_chosen.count; i > 0 && surplus > 0; i--) {
        uint32_t last = sl_chosen.spots[i - 1];
        int64_t fewer = sl_fit_pods[last] < surplus ? sl_fit_pods[last] : surplus;
        sl_fit_pods[last] -= fewer;
        surplus -= (uint32_t)fewer;
    }
}

static bool wants_balance(void)
{
    return sl_settings.balanced_placement && !sl_placing.required && !sl_placing.unconstrained;
}

bool sl_placement_one(void)
{
    uint32_t depth = 0;
    bool found = false;
    sl_counts_fill();
    if (wants_balance() && sl_placement_balance(&depth)) {
        found = sl_placement_descend(depth, true);
        if (!found) {
            sl_counts_fill(); /* the way down has overwritten them */
        }
    }
    if (!found) {
        depth = sl_placement_search();
        found = depth != SL_NO_ID && sl_placement_descend(depth, false);
    }
    if (found) {
        sl_placement_sort_chosen();
        leave_out(sl_placing.surplus);
    }
    return found;
}

static bool place(uint32_t workers, uint32_t leader)
{
    const struct sl_placement_set *sets = sl_placement_question.sets;
    if (!sl_placement_ask(&sets[workers], leader == SL_NO_ID ? NULL : &sets[leader]) ||
        !sl_placement_one() || !put_chosen(workers, false)) {
        return false;
    }
    sl_placement_head(workers, &sl_placing.takes, true);
    if (sl_placing.surplus > 0) {
        sl_placement_loosen(workers);
    }
    if (leader != SL_NO_ID) {
        if (!put_chosen(leader, true)) {
            return false;
        }
        sl_placement_head(leader, &sl_placing.leader_takes, false);
    }
    return true;
}

/* The other set of its group in its tree; SL_NO_ID = none. */
static uint32_t find_partner(uint32_t set)
{
    const struct sl_placement_set *sets = sl_placement_question.sets;
    if (sl_placement_question.set_count < 2) {
        return SL_NO_ID;
    }
    uint32_t group = sl_topology_demand_of(sets[set].record).rank_group;
    for (uint32_t i = 0; group != SL_NO_ID && i < sl_placement_question.set_count; i++) {
        if (i != set && !done[i] && sets[i].tree == sets[set].tree &&
            sl_topology_demand_of(sets[i].record).rank_group == group) {
            return i;
        }
    }
    return SL_NO_ID;
}

static bool place_group(uint32_t set)
{
    if (sl_placement_question.replaces) {
        start_rows(set);
        return sl_placement_replace(set);
    }
    uint32_t partner = find_partner(set);
    if (partner != SL_NO_ID &&
        sl_placement_question.sets[partner].count > sl_placement_question.sets[set].count) {
        return place(partner, set);
    }
    return place(set, partner);
}

/* --- all --- */

/* The next set to be placed; SL_NO_ID = all are. */
static uint32_t find_next(void)
{
    const struct sl_placement_set *sets = sl_placement_question.sets;
    uint32_t next = SL_NO_ID;
    for (uint32_t i = 0; i < sl_placement_question.set_count; i++) {
        if (!done[i] &&
            (next == SL_NO_ID || sl_trees_rank(sets[i].tree) < sl_trees_rank(sets[next].tree))) {
            next = i;
        }
    }
    return next;
}

static bool place_all(void)
{
    sl_tree_id tree = SL_NO_ID;
    uint32_t set = find_next();
    for (uint32_t steps = 0; set != SL_NO_ID && steps < SL_TOPOLOGY_SETS_MAX; steps++) {
        if (tree != sl_placement_question.sets[set].tree && !sl_settings.overlapping_flavors) {
            clear_own();
        }
        tree = sl_placement_question.sets[set].tree;
        if (!place_group(set)) {
            return false;
        }
        set = find_next();
    }
    return true;
}

/* The rows of all sets, in the order of the question. A set that stood nowhere has none to
 * replace. */
static void write_plan(void)
{
    for (uint32_t i = 0; i < sl_placement_question.set_count; i++) {
        uint32_t first = sl_topology_plan.row_count;
        struct sl_topology_set *set = &sl_topology_plan.sets[sl_topology_plan.set_count];
        if (set_rows[i] == 0) {
            continue;
        }
        for (uint32_t r = 0; r < set_rows[i]; r++) {
            sl_topology_plan.rows[first + r] = rows[set_first[i] + r];
        }
        *set = heads[i];
        set->first_row = first;
        set->row_count = set_rows[i];
        sl_topology_plan.set_count++;
        sl_topology_plan.row_count = first + set_rows[i];
    }
}

bool sl_placement_find(void)
{
    sl_topology_plan.workload = sl_placement_question.workload;
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
    sl_placement_failure = (struct sl_placement_failure){.domain = SL_NO_ID};
    if (sl_placement_question.set_count > SL_TOPOLOGY_SETS_MAX) {
        return sl_placement_miss(SL_PLACEMENT_FULL);
    }
    row_count = 0;
    for (uint32_t i = 0; i < SL_TOPOLOGY_SETS_MAX; i++) {
        done[i] = false;
    }
    bool found = place_all();
    clear_own();
    if (found) {
        sl_placement_failure = (struct sl_placement_failure){.domain = SL_NO_ID};
        write_plan();
    }
    return found;
}
