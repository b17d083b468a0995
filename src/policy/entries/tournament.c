/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rounds, level by level. An entry's branch at step s of its way up is the qnode s steps above its
 * queue, which competes under the qnode one step further up. An entry's shares are computed once
 * for all steps, and again when usage has changed in one of its branches. */
#include "policy/entries/tournament.h"

#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_view.h"
#include "kernel/base/order.h"
#include "kernel/ledger/trail.h"
#include "policy/entries/entries.h"
#include "policy/common/settings.h"
#include "policy/fair/shares.h"
#include "policy/preemption/tentative.h"

static sl_qnode_id roots[SL_ENTRIES_MAX]; /* trees that have entries, in order of their first */
static uint32_t root_count;
static uint32_t root_next;
static uint32_t first_entry[SL_QNODES_MAX]; /* by root, link */
static uint32_t last_entry[SL_QNODES_MAX];

/* The entries of the tree at hand that are left. */
static uint32_t players[SL_ENTRIES_MAX];
static uint32_t player_count;

/* Changes of usage are numbered: the last in or under each qnode, and up to which one an entry's
 * shares have been computed (0 = not at all). */
static uint64_t changes = 1;
static uint64_t changed_at[SL_QNODES_MAX];
static uint64_t computed_at[SL_ENTRIES_MAX];

static uint32_t step_count[SL_ENTRIES_MAX];               /* cohorts above the entry's queue */
static sl_qnode_id cohort[SL_ENTRIES_MAX][SL_LEVELS_MAX]; /* above step s */
static struct sl_share share[SL_ENTRIES_MAX][SL_LEVELS_MAX];
static bool borrows[SL_ENTRIES_MAX][SL_LEVELS_MAX];

static bool out[SL_ENTRIES_MAX];     /* beaten in the round at hand */
static uint32_t best[SL_QNODES_MAX]; /* of a cohort, link to an entry */

/* clang-format off */
#define TREES                                                                                      \
    roots[0 .. SL_ENTRIES_MAX - 1], root_count, first_entry[0 .. SL_QNODES_MAX - 1],                \
        last_entry[0 .. SL_QNODES_MAX - 1]
#define PLAYERS players[0 .. SL_ENTRIES_MAX - 1], player_count
#define SHARES                                                                                     \
    computed_at[0 .. SL_ENTRIES_MAX - 1], step_count[0 .. SL_ENTRIES_MAX - 1],                     \
        cohort[0 .. SL_ENTRIES_MAX - 1][0 .. SL_LEVELS_MAX - 1],                                   \
        share[0 .. SL_ENTRIES_MAX - 1][0 .. SL_LEVELS_MAX - 1],                                    \
        borrows[0 .. SL_ENTRIES_MAX - 1][0 .. SL_LEVELS_MAX - 1]
#define ROUNDS out[0 .. SL_ENTRIES_MAX - 1], best[0 .. SL_QNODES_MAX - 1]
/* clang-format on */

/*@
  // Links and lists name trees, entries and cohorts that exist.
  predicate TreesListed{L} = root_next <= root_count <= SL_ENTRIES_MAX &&
    (\forall integer i; 0 <= i < SL_ENTRIES_MAX ==> roots[i] < SL_QNODES_MAX) &&
    (\forall integer n; 0 <= n < SL_QNODES_MAX ==> first_entry[n] <= SL_ENTRIES_MAX &&
       last_entry[n] <= SL_ENTRIES_MAX && (first_entry[n] != 0 ==> last_entry[n] != 0));
  predicate PlayersListed{L} = player_count <= SL_ENTRIES_MAX &&
    (\forall integer i; 0 <= i < SL_ENTRIES_MAX ==> players[i] < SL_ENTRIES_MAX);
  predicate CohortsKnown{L} = \forall integer e, s; 0 <= e < SL_ENTRIES_MAX &&
    0 <= s < SL_LEVELS_MAX ==> cohort[e][s] < SL_QNODES_MAX;
  predicate StepsKnown{L} = CohortsKnown &&
    \forall integer e; 0 <= e < SL_ENTRIES_MAX ==> step_count[e] <= SL_LEVELS_MAX;
  predicate BestKnown{L} =
    \forall integer n; 0 <= n < SL_QNODES_MAX ==> best[n] <= SL_ENTRIES_MAX;
*/

/*@ requires listed: TreesListed && PlayersListed; terminates \true; exits \false;
    assigns TREES, root_next, player_count, sl_entries[0 .. SL_ENTRIES_MAX - 1];
    ensures listed: TreesListed && PlayersListed && player_count == 0; */
void sl_tournament_begin(void)
{
    uint32_t count = sl_entries_count();
    root_count = 0;
    root_next = 0;
    player_count = 0;
    /*@
      loop invariant listed: TreesListed && EntriesSound && root_count <= i && root_next == 0;
      loop assigns i, TREES, sl_entries[0 .. SL_ENTRIES_MAX - 1];
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        sl_qnode_id root = sl_entries[i].root;
        sl_entries[i].next = 0;
        if (sl_entries[i].holds || root >= SL_QNODES_MAX) {
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

/*@ terminates \true; exits \false; assigns changes, changed_at[0 .. SL_QNODES_MAX - 1]; */
void sl_tournament_changed(sl_qnode_id queue)
{
    sl_qnode_id qnode = queue;
    changes++;
    /*@ loop assigns steps, qnode, changed_at[0 .. SL_QNODES_MAX - 1];
        loop variant SL_LEVELS_MAX - steps; */
    for (uint32_t steps = 0; qnode < SL_QNODES_MAX && steps < SL_LEVELS_MAX; steps++) {
        changed_at[qnode] = changes;
        qnode = sl_ledger_parent_qnode(qnode);
    }
}

/* The entries of the next tree are the players; false: there is none. */
/*@ requires listed: TreesListed && PlayersListed && player_count == 0; terminates \true;
    exits \false;
    assigns root_next, first_entry[0 .. SL_QNODES_MAX - 1], PLAYERS,
            computed_at[0 .. SL_ENTRIES_MAX - 1];
    ensures listed: TreesListed && PlayersListed && (\result ==> player_count > 0); */
static bool next_tree(void)
{
    if (root_next >= root_count) {
        return false;
    }
    sl_qnode_id root = roots[root_next];
    uint32_t link = first_entry[root];
    root_next++;
    /*@
      loop invariant listed: PlayersListed;
      loop assigns link, PLAYERS, computed_at[0 .. SL_ENTRIES_MAX - 1];
      loop variant SL_ENTRIES_MAX - player_count;
    */
    while (link != 0 && link <= SL_ENTRIES_MAX && player_count < SL_ENTRIES_MAX) {
        players[player_count] = link - 1;
        player_count++;
        computed_at[link - 1] = 0;
        link = sl_entries[link - 1].next;
    }
    first_entry[root] = 0;
    return player_count != 0;
}

/* --- shares ---------------------------------------------------------------------------------- */

/* Does the branch use more than its quota of anything that the entry asks for? */
/*@ requires entry: EntriesSound && entry < SL_ENTRIES_MAX;
    requires ledger: LimitsInRange && UsageInRange; terminates \true; exits \false;
    assigns \nothing; */
static bool branch_borrows(uint32_t entry, uint32_t step)
{
    /*@ loop assigns i; loop variant sl_entries[entry].needs.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].needs.count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        sl_cell_id cell = need.cell;
        /*@ loop assigns s, cell; loop variant step - s; */
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
/*@ requires entry: EntriesSound && entry < SL_ENTRIES_MAX; requires ledger: LedgerReady;
    terminates \true; exits \false; assigns SL_TRIED;
    ensures ledger: LedgerReady && PastKept{Pre, Post}; */
static void charge_needs(uint32_t entry)
{
    bool charged = true;
    /*@
      loop invariant ledger: LedgerReady && PastKept{Pre, Here};
      loop assigns i, charged, SL_TRIED;
      loop variant sl_entries[entry].needs.count - i;
    */
    for (uint32_t i = 0; i < sl_entries[entry].needs.count && charged; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        charged = sl_ledger_charge(need.cell, need.amount) == SL_OK;
    }
}

/*@ requires entry: EntriesSound && StepsKnown && entry < SL_ENTRIES_MAX;
    requires trial: TrialReady; terminates \true; exits \false;
    assigns sl_hidden, SHARES, SL_TRIED, sl_trail_depth;
    ensures steps: StepsKnown;
    ensures trial: TrialReady && sl_trail_depth == \old(sl_trail_depth);
    ensures past: PastKept{Pre, Post}; */
static void compute(uint32_t entry)
{
    uint32_t mark = sl_trail_begin();
    sl_qnode_id branch = sl_entries[entry].queue;
    sl_qnode_id parent = sl_ledger_parent_qnode(branch);
    uint32_t step = 0;
    charge_needs(entry);
    //@ assert qnodes: QnodesLinked;
    /*@
      loop invariant step: step <= SL_LEVELS_MAX;
      loop invariant parent: parent < SL_QNODES_MAX || parent == SL_NO_ID;
      loop invariant cohorts: CohortsKnown;
      loop assigns step, branch, parent, sl_hidden, cohort[entry][0 .. SL_LEVELS_MAX - 1],
                   share[entry][0 .. SL_LEVELS_MAX - 1], borrows[entry][0 .. SL_LEVELS_MAX - 1];
      loop variant SL_LEVELS_MAX - step;
    */
    while (parent != SL_NO_ID && step < SL_LEVELS_MAX) {
        cohort[entry][step] = parent;
        share[entry][step] = sl_shares_of(branch);
        borrows[entry][step] = branch_borrows(entry, step);
        branch = parent;
        parent = sl_ledger_parent_qnode(branch);
        step++;
    }
    step_count[entry] = step;
    computed_at[entry] = changes;
    sl_trail_rollback(mark);
}

/*@ requires entry: StepsKnown && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns \nothing; */
static bool is_outdated(uint32_t entry)
{
    sl_qnode_id queue = sl_entries[entry].queue;
    bool outdated = computed_at[entry] == 0 ||
                    (queue < SL_QNODES_MAX && changed_at[queue] > computed_at[entry]);
    /*@
      loop invariant step: 1 <= step;
      loop assigns step, outdated;
      loop variant step_count[entry] - step;
    */
    for (uint32_t step = 1; step < step_count[entry] && !outdated; step++) {
        outdated = changed_at[cohort[entry][step - 1]] > computed_at[entry];
    }
    return outdated;
}

/* The first player that is; player_count = none is. */
/*@ requires players: PlayersListed && StepsKnown; terminates \true; exits \false;
    assigns \nothing; ensures known: \result <= player_count; */
static uint32_t first_outdated(void)
{
    uint32_t i = 0;
    /*@ loop invariant index: i <= player_count; loop assigns i; loop variant player_count - i; */
    while (i < player_count && !is_outdated(players[i])) {
        i++;
    }
    return i;
}

/*@ requires players: PlayersListed && StepsKnown && EntriesSound;
    requires trial: TrialReady && sl_trail_depth < INT32_MAX; terminates \true; exits \false;
    assigns sl_hidden, SHARES, SL_TRIED, sl_trail_depth;
    ensures steps: StepsKnown;
    ensures trial: TrialReady;
    ensures back: TakenBack{Pre, Post}; */
static void compute_outdated(void)
{
    uint32_t first = first_outdated();
    if (first == player_count) {
        return;
    }
    uint32_t mark = sl_trail_begin();
    (void)sl_tentative_take_promised(sl_entries[players[first]].root);
    /*@
      loop invariant steps: StepsKnown;
      loop invariant trial: TrialReady && sl_trail_depth == \at(sl_trail_depth, Pre) + 1;
      loop invariant past: mark <= sl_trail_count && SamePast{Pre, Here}(mark);
      loop assigns i, sl_hidden, SHARES, SL_TRIED, sl_trail_depth;
      loop variant player_count - i;
    */
    for (uint32_t i = first; i < player_count; i++) {
        if (is_outdated(players[i])) {
            compute(players[i]);
        }
    }
    sl_trail_rollback(mark);
    //@ assert same: UsageSame{Pre, Here};
}

/* --- the rounds ------------------------------------------------------------------------------ */

/*@ requires entries: a < SL_ENTRIES_MAX && b < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns \nothing; */
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

/* The step at which the entry is a child of its cohort at this depth; 0 if there is none. */
/*@ requires entry: StepsKnown && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns \nothing; ensures known: \result < SL_LEVELS_MAX; */
static uint32_t step_at(uint32_t entry, uint32_t depth)
{
    return step_count[entry] > depth ? step_count[entry] - 1 - depth : 0;
}

/* Does a beat b under the cohort that is `depth` steps below the root? */
/*@ requires entries: StepsKnown && a < SL_ENTRIES_MAX && b < SL_ENTRIES_MAX; terminates \true;
    exits \false; assigns \nothing; */
static bool beats(uint32_t a, uint32_t b, uint32_t depth)
{
    uint32_t step_a = step_at(a, depth);
    uint32_t step_b = step_at(b, depth);
    if (sl_entries[a].goes_first != sl_entries[b].goes_first) {
        return sl_entries[a].goes_first;
    }
    if (sl_settings.prioritize_non_borrowing && borrows[a][step_a] != borrows[b][step_b]) {
        return borrows[b][step_b];
    }
    int order = sl_shares_compare(share[a][step_a], share[b][step_b]);
    return order != 0 ? order < 0 : earlier(a, b);
}

/* Everybody under the same cohort at this depth competes; one stays. */
/*@ requires players: PlayersListed && StepsKnown && BestKnown; terminates \true; exits \false;
    assigns ROUNDS; ensures best: BestKnown; */
static void play(uint32_t depth)
{
    /*@ loop invariant best: BestKnown; loop assigns i, ROUNDS; loop variant player_count - i; */
    for (uint32_t i = 0; i < player_count; i++) {
        uint32_t entry = players[i];
        if (out[entry] || step_count[entry] <= depth) {
            continue;
        }
        sl_qnode_id under = cohort[entry][step_at(entry, depth)];
        if (best[under] == 0) {
            best[under] = entry + 1;
        } else if (beats(entry, best[under] - 1, depth)) {
            out[best[under] - 1] = true;
            best[under] = entry + 1;
        } else {
            out[entry] = true;
        }
    }
    /*@ loop invariant best: BestKnown; loop assigns i, ROUNDS; loop variant player_count - i; */
    for (uint32_t i = 0; i < player_count; i++) {
        uint32_t entry = players[i];
        if (step_count[entry] > depth) {
            best[cohort[entry][step_at(entry, depth)]] = 0;
        }
    }
}

/* Index among the players of the winner. Entries of a queue without a cohort play no round: the
 * first in the queue's order wins. */
/*@ requires players: PlayersListed && StepsKnown && BestKnown && player_count > 0;
    terminates \true; exits \false; assigns ROUNDS;
    ensures best: BestKnown; ensures known: \result < player_count; */
static uint32_t winner(void)
{
    uint32_t depth = 0;
    uint32_t found = 0;
    /*@ loop invariant depth: depth <= SL_LEVELS_MAX && BestKnown; loop assigns i, depth, ROUNDS;
        loop variant player_count - i; */
    for (uint32_t i = 0; i < player_count; i++) {
        out[players[i]] = false;
        depth = step_count[players[i]] > depth ? step_count[players[i]] : depth;
    }
    /*@ loop invariant best: BestKnown; loop assigns depth, ROUNDS; loop variant depth; */
    while (depth > 0) {
        depth--;
        play(depth);
    }
    /*@ loop invariant known: found < player_count && 1 <= i; loop assigns i, found;
        loop variant player_count - i; */
    for (uint32_t i = 1; i < player_count; i++) {
        if (out[players[found]] || (!out[players[i]] && earlier(players[i], players[found]))) {
            found = i;
        }
    }
    return found;
}

/*@ requires listed: TreesListed && PlayersListed && StepsKnown && BestKnown; terminates \true;
    exits \false;
    assigns sl_hidden, root_next, first_entry[0 .. SL_QNODES_MAX - 1], PLAYERS, SHARES, ROUNDS,
            SL_TRIED, sl_trail_depth;
    ensures listed: TreesListed && PlayersListed && StepsKnown && BestKnown; */
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
