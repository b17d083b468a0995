/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The answer to the question while it is being found: the rows of each pod set and what is said of
 * it, and at last the plan. Owns these rows and heads. */
#include "policy/search/placement_state.h"

static struct sl_topology_row rows[SL_TOPOLOGY_ROWS_MAX]; /* of the sets in the order of placing */
static uint32_t row_count;
static uint32_t set_first[SL_TOPOLOGY_SETS_MAX]; /* where the rows of a set of the question start */
static uint32_t set_rows[SL_TOPOLOGY_SETS_MAX];
static struct sl_topology_set heads[SL_TOPOLOGY_SETS_MAX];

/* clang-format off */
#define ROWS                                                                                       \
    rows[0 .. SL_TOPOLOGY_ROWS_MAX - 1], row_count, set_first[0 .. SL_TOPOLOGY_SETS_MAX - 1],      \
        set_rows[0 .. SL_TOPOLOGY_SETS_MAX - 1]
/* clang-format on */
/*@
  predicate RowsSound{L} = row_count <= SL_TOPOLOGY_ROWS_MAX &&
    \forall integer s; 0 <= s < SL_TOPOLOGY_SETS_MAX ==> set_first[s] + set_rows[s] <= row_count;
  predicate HeadSound{L}(integer s) = heads[s].layer_count <= SL_LAYERS_MAX &&
    \forall integer i; 0 <= i < heads[s].layer_count ==> 0 < heads[s].layers[i].size;
  predicate HeadsSound{L} = \forall integer s; 0 <= s < SL_TOPOLOGY_SETS_MAX ==> HeadSound(s);
*/

/* --- rows --- */

/*@ terminates \true; exits \false; assigns ROWS; ensures rows: RowsSound; */
void sl_placement_start(void)
{
    row_count = 0;
    /*@
      loop invariant none: \forall integer k; 0 <= k < s ==> set_first[k] == 0 && set_rows[k] == 0;
      loop invariant sets: s <= SL_TOPOLOGY_SETS_MAX;
      loop assigns s, set_first[0 .. SL_TOPOLOGY_SETS_MAX - 1],
                   set_rows[0 .. SL_TOPOLOGY_SETS_MAX - 1];
      loop variant SL_TOPOLOGY_SETS_MAX - s;
    */
    for (uint32_t s = 0; s < SL_TOPOLOGY_SETS_MAX; s++) {
        set_first[s] = 0;
        set_rows[s] = 0;
    }
}

/*@ requires rows: RowsSound; terminates \true; exits \false;
    assigns set_first[set], set_rows[set]; ensures rows: RowsSound; */
void sl_placement_start_set(uint32_t set)
{
    set_first[set] = row_count;
    set_rows[set] = 0;
}

/*@ requires rows: RowsSound; terminates \true; exits \false; assigns ROWS, sl_placement_failure;
    ensures rows: RowsSound; */
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

/* --- what is said of a set --- */

/* The measures that its pods take; the pod itself, which comes first, is understood. */
/*@ requires set: set < SL_TOPOLOGY_SETS_MAX; terminates \true; exits \false;
    assigns heads[set].request_count,
            heads[set].requests[0 .. SL_TOPOLOGY_REQUESTS_MAX - 1]; */
static void head_requests(uint32_t set, bool leader)
{
    uint32_t count = leader ? sl_placing.leader_takes.count : sl_placing.takes.count;
    /*@
      loop invariant one: 1 <= i;
      loop assigns i, heads[set].request_count,
                   heads[set].requests[0 .. SL_TOPOLOGY_REQUESTS_MAX - 1];
      loop variant SL_TAKES_MAX - i;
    */
    for (uint32_t i = 1; i < count && i < SL_TAKES_MAX; i++) {
        heads[set].requests[i - 1] =
            leader ? sl_placing.leader_takes.of[i] : sl_placing.takes.of[i];
        heads[set].request_count = i;
    }
}

/*@ requires ready: set < SL_TOPOLOGY_SETS_MAX && LayersSound && HeadsSound;
    requires none: heads[set].layer_count == 0;
    terminates \true; exits \false;
    assigns heads[set].layer_count, heads[set].layers[0 .. SL_LAYERS_MAX - 1];
    ensures heads: HeadsSound; */
static void head_layers(uint32_t set)
{
    /*@
      loop invariant heads: HeadsSound && heads[set].layer_count == i;
      loop assigns i, heads[set].layer_count, heads[set].layers[0 .. SL_LAYERS_MAX - 1];
      loop variant SL_LAYERS_MAX - i;
    */
    for (uint32_t i = 0; i < sl_placing.layer_count && i < SL_LAYERS_MAX; i++) {
        heads[set].layers[i] = sl_placing.layers[i];
        heads[set].layer_count = i + 1;
    }
}

/*@ requires ready: set < SL_TOPOLOGY_SETS_MAX && LayersSound && DomainsInv;
    requires state: RowsSound && HeadsSound;
    terminates \true; exits \false; assigns heads[set]; ensures heads: HeadsSound; */
void sl_placement_head(uint32_t set, bool leader)
{
    struct sl_placement_set q = sl_placement_question.sets[set];
    heads[set] = (struct sl_topology_set){
        .pod_set = q.pod_set, .count = q.count, .tree = q.tree, .within = SL_NO_ID};
    if (sl_placing.required && set_rows[set] > 0) {
        heads[set].within = sl_domain_above(rows[set_first[set]].domain, sl_placing.depth);
    }
    if (!leader) {
        head_layers(set);
    }
    head_requests(set, leader);
}

/* --- rows that were never as the set asks --- */

/*@ requires ready: set < SL_TOPOLOGY_SETS_MAX && RowsSound && DomainsInv; terminates \true;
    exits \false; assigns \nothing; */
static bool all_within(uint32_t set, sl_domain_id within)
{
    uint32_t depth = sl_domain_depth(within);
    /*@ loop assigns i; loop variant set_rows[set] - i; */
    for (uint32_t i = 0; i < set_rows[set]; i++) {
        if (sl_domain_above(rows[set_first[set] + i].domain, depth) != within) {
            return false;
        }
    }
    return true;
}

/*@ requires ready: set < SL_TOPOLOGY_SETS_MAX && RowsSound && DomainsInv && layer.size > 0;
    terminates \true; exits \false; assigns \nothing; */
static bool all_whole(uint32_t set, struct sl_topology_layer layer)
{
    uint64_t pods = 0;
    sl_domain_id last = SL_NO_ID;
    /*@ loop assigns i, pods, last; loop variant set_rows[set] - i; */
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
/*@ requires ready: set < SL_TOPOLOGY_SETS_MAX && DomainsInv;
    requires state: RowsSound && HeadsSound;
    terminates \true; exits \false; assigns heads[set]; ensures heads: HeadsSound; */
void sl_placement_loosen(uint32_t set)
{
    uint32_t count = heads[set].layer_count;
    uint32_t kept = 0;
    if (heads[set].within != SL_NO_ID && !all_within(set, heads[set].within)) {
        heads[set].within = SL_NO_ID;
    }
    /*@
      loop invariant heads: HeadsSound && heads[set].layer_count == count && kept <= i <= count;
      loop assigns i, kept, heads[set].layers[0 .. SL_LAYERS_MAX - 1];
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        if (all_whole(set, heads[set].layers[i])) {
            heads[set].layers[kept] = heads[set].layers[i];
            kept++;
        }
    }
    heads[set].layer_count = kept;
}

/* --- the plan --- */

/*@ requires plan: PlanBounded && sl_topology_plan.set_count < SL_TOPOLOGY_SETS_MAX;
    requires ready: set < SL_TOPOLOGY_SETS_MAX && RowsSound;
    terminates \true; exits \false; assigns sl_topology_plan;
    ensures plan: PlanBounded;
    ensures more: sl_topology_plan.set_count == \old(sl_topology_plan.set_count) + 1; */
static void write_set(uint32_t set)
{
    uint32_t first = sl_topology_plan.row_count;
    /*@
      loop invariant rows: sl_topology_plan.row_count <= SL_TOPOLOGY_ROWS_MAX;
      loop assigns i, sl_topology_plan.row_count,
                   sl_topology_plan.rows[0 .. SL_TOPOLOGY_ROWS_MAX - 1];
      loop variant set_rows[set] - i;
    */
    for (uint32_t i = 0; i < set_rows[set] && sl_topology_plan.row_count < SL_TOPOLOGY_ROWS_MAX;
         i++) {
        sl_topology_plan.rows[sl_topology_plan.row_count] = rows[set_first[set] + i];
        sl_topology_plan.row_count++;
    }
    sl_topology_plan.sets[sl_topology_plan.set_count] = heads[set];
    sl_topology_plan.sets[sl_topology_plan.set_count].first_row = first;
    sl_topology_plan.sets[sl_topology_plan.set_count].row_count = set_rows[set];
    sl_topology_plan.set_count++;
}

/* A set without an assignment has no rows to replace. */
/*@ requires empty: sl_topology_plan.set_count == 0 && sl_topology_plan.row_count == 0 &&
      sl_placement_question.set_count <= SL_TOPOLOGY_SETS_MAX;
    requires rows: RowsSound;
    terminates \true; exits \false; assigns sl_topology_plan; ensures plan: PlanBounded; */
void sl_placement_write(void)
{
    /*@
      loop invariant plan: PlanBounded && sl_topology_plan.set_count <= s;
      loop assigns s, sl_topology_plan;
      loop variant SL_TOPOLOGY_SETS_MAX - s;
    */
    for (uint32_t s = 0; s < sl_placement_question.set_count; s++) {
        if (set_rows[s] > 0) {
            write_set(s);
        }
    }
}
