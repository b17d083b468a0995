/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rounds, level by level. An entry's branch at step s of its way up is the node s steps above its
 * queue, which competes under the node one step further up. An entry's shares are computed once
 * for all steps, and again when usage has changed in one of its branches. */
#include "policy/tournament.h"

#include "kernel/ledger.h"
#include "kernel/ledger_view.h"
#include "kernel/order.h"
#include "kernel/trail.h"
#include "policy/entries.h"
#include "policy/settings.h"
#include "policy/shares.h"
#include "policy/tentative.h"

static sl_node_id roots[SL_ENTRIES_MAX]; /* trees that have entries, in order of their first */
static uint32_t root_count;
static uint32_t root_next;
static uint32_t first_entry[SL_NODES_MAX]; /* by root, link */
static uint32_t last_entry[SL_NODES_MAX];

/* The entries of the tree at hand that are left. */
static uint32_t players[SL_ENTRIES_MAX];
static uint32_t player_count;

/* Changes of usage are numbered: the last in or under each node, and up to which one an entry's
 * shares have been computed (0 = not at all). */
static uint64_t changes = 1;
static uint64_t changed_at[SL_NODES_MAX];
static uint64_t computed_at[SL_ENTRIES_MAX];

static uint32_t step_count[SL_ENTRIES_MAX];              /* cohorts above the entry's queue */
static sl_node_id cohort[SL_ENTRIES_MAX][SL_LEVELS_MAX]; /* above step s */
static struct sl_share share[SL_ENTRIES_MAX][SL_LEVELS_MAX];
static bool borrows[SL_ENTRIES_MAX][SL_LEVELS_MAX];

static bool out[SL_ENTRIES_MAX];    /* beaten in the round at hand */
static uint32_t best[SL_NODES_MAX]; /* of a cohort, link to an entry */

void sl_tournament_begin(void)
{
    root_count = 0;
    root_next = 0;
    player_count = 0;
    for (uint32_t i = 0; i < sl_entries_count(); i++) {
        sl_node_id root = sl_entries[i].root;
        sl_entries[i].next = 0;
        if (sl_entries[i].holds) {
            continue; /* it has no share to win */
        }
        if (first_entry[root] == 0) {
            first_entry[root] = i + 1;
            roots[root_count] = root;
            root_count++;
        } else {
            sl_entries[last_entry[root] - 1].next = i + 1;
        }
        last_entry[root] = i + 1;
    }
}

void sl_tournament_changed(sl_node_id queue)
{
    changes++;
    for (sl_node_id node = queue; node < SL_NODES_MAX; node = sl_ledger_parent_node(node)) {
        changed_at[node] = changes;
    }
}

static bool next_tree(void)
{
    if (root_next >= root_count) {
        return false;
    }
    sl_node_id root = roots[root_next];
    root_next++;
    for (uint32_t link = first_entry[root]; link != 0; link = sl_entries[link - 1].next) {
        players[player_count] = link - 1;
        player_count++;
        computed_at[link - 1] = 0;
    }
    first_entry[root] = 0;
    return true;
}

/* --- shares ---------------------------------------------------------------------------------- */

/* Does the branch use more than its quota of anything that the entry asks for? */
static bool branch_borrows(uint32_t entry, uint32_t step)
{
    for (uint32_t i = 0; i < sl_entries[entry].needs.count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        sl_cell_id cell = need.cell;
        for (uint32_t s = 0; s < step && cell != SL_NO_ID; s++) {
            cell = sl_ledger_parent_cell(cell);
        }
        if (need.amount > 0 && cell != SL_NO_ID && sl_shares_borrows(cell)) {
            return true;
        }
    }
    return false;
}

/* What cannot be charged (beyond any amount that may be in use) does not raise the share. */
static void charge_needs(uint32_t entry)
{
    bool charged = true;
    for (uint32_t i = 0; i < sl_entries[entry].needs.count && charged; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        charged = sl_ledger_charge(need.cell, need.amount) == SL_OK;
    }
}

static void compute(uint32_t entry)
{
    uint32_t mark = sl_trail_begin();
    sl_node_id branch = sl_entries[entry].queue;
    sl_node_id parent = sl_ledger_parent_node(branch);
    uint32_t step = 0;
    charge_needs(entry);
    while (parent != SL_NO_ID && step < SL_LEVELS_MAX) {
        cohort[entry][step] = parent;
        share[entry][step] = sl_shares_of(branch);
        borrows[entry][step] = branch_borrows(entry, step);
        branch = parent;
        parent = sl_ledger_parent_node(branch);
        step++;
    }
    step_count[entry] = step;
    computed_at[entry] = changes;
    sl_trail_rollback(mark);
}

static bool is_outdated(uint32_t entry)
{
    bool outdated =
        computed_at[entry] == 0 || changed_at[sl_entries[entry].queue] > computed_at[entry];
    for (uint32_t step = 1; step < step_count[entry] && !outdated; step++) {
        outdated = changed_at[cohort[entry][step - 1]] > computed_at[entry];
    }
    return outdated;
}

static void compute_outdated(void)
{
    bool opened = false;
    uint32_t mark = 0;
    for (uint32_t i = 0; i < player_count; i++) {
        if (!is_outdated(players[i])) {
            continue;
        }
        if (!opened) {
            opened = true;
            mark = sl_trail_begin();
            (void)sl_tentative_take_promised(sl_entries[players[i]].root);
        }
        compute(players[i]);
    }
    if (opened) {
        sl_trail_rollback(mark);
    }
}

/* --- the rounds ------------------------------------------------------------------------------ */

static bool earlier(uint32_t a, uint32_t b)
{
    struct sl_order_key key_a = sl_order_of(sl_entries[a].workload);
    struct sl_order_key key_b = sl_order_of(sl_entries[b].workload);
    if (!sl_settings.priority_sorting_within_cohort) {
        if (key_a.queued_at_ms != key_b.queued_at_ms) {
            return key_a.queued_at_ms < key_b.queued_at_ms;
        }
    }
    return sl_order_before(sl_entries[a].workload, sl_entries[b].workload);
}

/* Does a beat b under the cohort that is `depth` steps below the root? */
static bool beats(uint32_t a, uint32_t b, uint32_t depth)
{
    uint32_t step_a = step_count[a] - 1 - depth;
    uint32_t step_b = step_count[b] - 1 - depth;
    if (sl_settings.prioritize_preemptors && sl_entries[a].preemptor != sl_entries[b].preemptor) {
        return sl_entries[a].preemptor;
    }
    if (sl_settings.prioritize_non_borrowing && borrows[a][step_a] != borrows[b][step_b]) {
        return borrows[b][step_b];
    }
    int order = sl_shares_compare(share[a][step_a], share[b][step_b]);
    return order != 0 ? order < 0 : earlier(a, b);
}

/* Everybody under the same cohort at this depth competes; one stays. */
static void play(uint32_t depth)
{
    for (uint32_t i = 0; i < player_count; i++) {
        uint32_t entry = players[i];
        if (out[entry] || step_count[entry] <= depth) {
            continue;
        }
        sl_node_id under = cohort[entry][step_count[entry] - 1 - depth];
        if (best[under] == 0) {
            best[under] = entry + 1;
        } else if (beats(entry, best[under] - 1, depth)) {
            out[best[under] - 1] = true;
            best[under] = entry + 1;
        } else {
            out[entry] = true;
        }
    }
    for (uint32_t i = 0; i < player_count; i++) {
        uint32_t entry = players[i];
        if (step_count[entry] > depth) {
            best[cohort[entry][step_count[entry] - 1 - depth]] = 0;
        }
    }
}

/* Index among the players of the one that nobody has beaten. Entries of a queue without a cohort
 * play no round: the first in the queue's order wins. */
static uint32_t winner(void)
{
    uint32_t depth = 0;
    uint32_t found = 0;
    for (uint32_t i = 0; i < player_count; i++) {
        out[players[i]] = false;
        depth = step_count[players[i]] > depth ? step_count[players[i]] : depth;
    }
    while (depth > 0) {
        depth--;
        play(depth);
    }
    for (uint32_t i = 1; i < player_count; i++) {
        if (out[players[found]] || (!out[players[i]] && earlier(players[i], players[found]))) {
            found = i;
        }
    }
    return found;
}

uint32_t sl_tournament_next(void)
{
    if (player_count == 0 && !next_tree()) {
        return SL_NO_ID;
    }
    compute_outdated();
    uint32_t index = winner();
    uint32_t entry = players[index];
    player_count--;
    players[index] = players[player_count];
    return entry;
}
