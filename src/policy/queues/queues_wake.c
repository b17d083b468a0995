/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Queues: wake-ups, and what is owed to those who missed one. Owns who missed one, and on which
 * trees somebody found no room. */
#include "policy/queues/queues.h"

#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "policy/requests/flavors_progress.h"
#include "policy/queues/line.h"
#include "policy/queues/turns.h"
#include "policy/topology/trees.h"

static sl_workload_id owed[SL_WORKLOADS_MAX]; /* who missed a wake-up */
static uint32_t owed_count;
static bool is_owed[SL_WORKLOADS_MAX];

static sl_tree_id roomless[SL_USED_FLAVORS_MAX]; /* trees on which a workload found no capacity */
static uint32_t roomless_count;
static bool is_roomless[SL_USED_FLAVORS_MAX];

/* clang-format off */
#define OWED owed[0 .. SL_WORKLOADS_MAX - 1], owed_count, is_owed[0 .. SL_WORKLOADS_MAX - 1]
#define ROOMLESS                                                                                   \
    roomless[0 .. SL_USED_FLAVORS_MAX - 1], roomless_count, is_roomless[0 .. SL_USED_FLAVORS_MAX - 1]
#define PLACES sl_places[0 .. SL_WORKLOADS_MAX - 1]
/* clang-format on */

/*@
  // The list names workloads only.
  predicate OwedSound{L} = owed_count <= SL_WORKLOADS_MAX &&
    \forall integer i; 0 <= i < SL_WORKLOADS_MAX ==> owed[i] < SL_WORKLOADS_MAX;
  // So does the list of trees.
  predicate RoomlessListed{L} = roomless_count <= SL_USED_FLAVORS_MAX &&
    \forall integer i; 0 <= i < SL_USED_FLAVORS_MAX ==> roomless[i] < SL_USED_FLAVORS_MAX;
*/

enum sl_status sl_queues_configure(sl_qnode_id qnode, struct sl_rules rules, bool active)
{
    struct sl_rules before = sl_offers_rules(qnode);
    enum sl_status status = sl_offers_set_rules(qnode, rules);
    if (status != SL_OK) {
        return status;
    }
    if (rules.strategy != before.strategy || rules.by_usage != before.by_usage) {
        sl_line_rebuild(qnode);
    }
    sl_flavors_touch_tree(qnode);
    sl_turns_set_active(qnode, active);
    sl_turns_mark_queue(qnode);
    return SL_OK;
}

void sl_queues_wake_tree(sl_qnode_id qnode)
{
    sl_flavors_touch_tree(qnode);
    sl_turns_mark_tree(qnode);
}

/*@ requires listed: RoomlessListed; terminates \true; exits \false; assigns ROOMLESS;
    ensures listed: RoomlessListed; */
void sl_queues_note_roomless(sl_tree_id tree)
{
    if (tree < SL_USED_FLAVORS_MAX && !is_roomless[tree] && roomless_count < SL_USED_FLAVORS_MAX) {
        is_roomless[tree] = true;
        roomless[roomless_count] = tree;
        roomless_count++;
    }
}

/*@ terminates \true; exits \false; assigns sl_hidden; */
static void wake_later(sl_tree_id tree, bool again)
{
    sl_cell_id cell = sl_offers_first_of(tree);
    /*@ loop assigns steps, cell, sl_hidden; loop variant SL_CELLS_MAX - steps; */
    for (uint32_t steps = 0; cell != SL_NO_ID && steps < SL_CELLS_MAX; steps++) {
        sl_turns_owe_tree(sl_ledger_qnode_of(cell), again);
        cell = sl_offers_next_of(cell);
    }
}

/*@ requires listed: RoomlessListed; terminates \true; exits \false; assigns sl_hidden, ROOMLESS;
    ensures listed: RoomlessListed; */
void sl_queues_note_capacity(sl_tree_id tree, bool anew)
{
    bool shares = sl_trees_shares_sites(tree);
    /*@ loop invariant listed: RoomlessListed && i <= roomless_count;
        loop assigns i, sl_hidden, ROOMLESS; loop variant i; */
    for (uint32_t i = roomless_count; i > 0; i--) {
        sl_tree_id waited_for = roomless[i - 1];
        if (waited_for == tree || (shares && sl_trees_shares_sites(waited_for))) {
            roomless_count--;
            roomless[i - 1] = roomless[roomless_count];
            is_roomless[waited_for] = false;
            wake_later(waited_for, anew);
        }
    }
}

void sl_queues_wake_queue(sl_qnode_id qnode)
{
    sl_turns_mark_queue(qnode);
}

void sl_queues_flush(void)
{
    uint32_t count = sl_turns_resolve();
    /*@ loop invariant places: PlacesAgree && QnodesLinked; loop assigns i, sl_hidden, PLACES;
        loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        sl_qnode_id queue = sl_turns_woken(i);
        sl_line_wake(queue);
        sl_turns_unblock(queue);
    }
}

/*@ requires owed: OwedSound; terminates \true; exits \false; assigns OWED;
    ensures owed: OwedSound; */
void sl_queues_owe(sl_workload_id id)
{
    if (id < SL_WORKLOADS_MAX && !is_owed[id] && owed_count < SL_WORKLOADS_MAX) {
        is_owed[id] = true;
        owed[owed_count] = id;
        owed_count++;
    }
}

/*@ requires owed: OwedSound; requires ledger: QnodesLinked && PlacesAgree; terminates \true;
    exits \false; assigns sl_hidden, PLACES, OWED; ensures owed: OwedSound; */
void sl_queues_pay(void)
{
    /*@ loop invariant owed: OwedSound && PlacesAgree && QnodesLinked;
        loop assigns owed_count, is_owed[0 .. SL_WORKLOADS_MAX - 1], sl_hidden, PLACES;
        loop variant owed_count; */
    while (owed_count != 0) {
        owed_count--;
        sl_workload_id id = owed[owed_count];
        sl_qnode_id queue = sl_queues_queue_of(id);
        is_owed[id] = false;
        if (queue != SL_NO_ID) {
            sl_line_wake_one(queue, id);
            sl_turns_unblock(queue);
        }
    }
    sl_turns_pay();
    sl_queues_flush();
}

bool sl_queues_ready(void)
{
    return sl_turns_first_ready() != SL_NO_ID || sl_turns_marked() || owed_count != 0 ||
           sl_turns_owes();
}
