/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Turns, what has changed: lists of marked qnodes, of trees that are owed a wake-up, and when each
 * tree and queue was woken last. */
#include "policy/queues/turns.h"

#include "kernel/ledger/ledger.h"

static sl_qnode_id marked_trees[SL_QNODES_MAX];
static uint32_t marked_tree_count;
static bool tree_marked[SL_QNODES_MAX];
static sl_qnode_id marked_queues[SL_QNODES_MAX];
static uint32_t marked_queue_count;
static bool queue_marked[SL_QNODES_MAX];

static sl_qnode_id woken[SL_QNODES_MAX];
static uint32_t woken_count;
static bool is_woken[SL_QNODES_MAX];

static sl_qnode_id owed_trees[SL_QNODES_MAX];
static uint32_t owed_tree_count;
static bool tree_owed[SL_QNODES_MAX];
static bool owed_anew[SL_QNODES_MAX];   /* something has happened since the tree was paid */
static bool marked_owed[SL_QNODES_MAX]; /* the tree is marked for no other reason */
static bool tree_paid[SL_QNODES_MAX];   /* by root: since anything happened there */

/* Wake-ups are numbered; when was this tree or queue woken last? */
static uint64_t wake_number;
static uint64_t tree_woken_at[SL_QNODES_MAX]; /* by root */
static uint64_t queue_woken_at[SL_QNODES_MAX];

/* clang-format off */
#define MARKS                                                                                      \
    marked_trees[0 .. SL_QNODES_MAX - 1], marked_tree_count, tree_marked[0 .. SL_QNODES_MAX - 1],    \
        marked_queues[0 .. SL_QNODES_MAX - 1], marked_queue_count,                                  \
        queue_marked[0 .. SL_QNODES_MAX - 1], owed_tree_count, tree_owed[0 .. SL_QNODES_MAX - 1],    \
        owed_anew[0 .. SL_QNODES_MAX - 1], marked_owed[0 .. SL_QNODES_MAX - 1],                      \
        tree_paid[0 .. SL_QNODES_MAX - 1], tree_woken_at[0 .. SL_QNODES_MAX - 1],                    \
        queue_woken_at[0 .. SL_QNODES_MAX - 1]
#define WOKEN woken[0 .. SL_QNODES_MAX - 1], woken_count, is_woken[0 .. SL_QNODES_MAX - 1]
/* clang-format on */

/*@
  // The lists name qnodes only.
  predicate Marks{L} = marked_tree_count <= SL_QNODES_MAX && marked_queue_count <= SL_QNODES_MAX &&
    woken_count <= SL_QNODES_MAX && owed_tree_count <= SL_QNODES_MAX && \forall integer i;
      0 <= i < SL_QNODES_MAX ==> marked_trees[i] < SL_QNODES_MAX &&
        marked_queues[i] < SL_QNODES_MAX && woken[i] < SL_QNODES_MAX && owed_trees[i] < SL_QNODES_MAX;
*/

/* A queue that is no qnode of the forest (any more) stands for itself. */
/*@ requires qnodes: QnodesLinked && queue < SL_QNODES_MAX; terminates \true; exits \false;
    assigns \nothing; ensures known: \result < SL_QNODES_MAX; */
static sl_qnode_id root_of(sl_qnode_id queue)
{
    sl_qnode_id root = sl_ledger_root_qnode(queue);
    return root < SL_QNODES_MAX ? root : queue;
}

/*@ requires marks: Marks; terminates \true; exits \false;
    assigns marked_owed[qnode], tree_marked[qnode], marked_trees[0 .. SL_QNODES_MAX - 1],
      marked_tree_count; ensures marks: Marks; */
void sl_turns_mark_tree(sl_qnode_id qnode)
{
    if (qnode >= SL_QNODES_MAX) {
        return;
    }
    marked_owed[qnode] = false;
    if (!tree_marked[qnode] && marked_tree_count < SL_QNODES_MAX) {
        tree_marked[qnode] = true;
        marked_trees[marked_tree_count] = qnode;
        marked_tree_count++;
    }
}

/*@ requires marks: Marks; terminates \true; exits \false;
    assigns queue_marked[queue], marked_queues[0 .. SL_QNODES_MAX - 1], marked_queue_count;
    ensures marks: Marks; */
void sl_turns_mark_queue(sl_qnode_id queue)
{
    if (queue < SL_QNODES_MAX && !queue_marked[queue] && marked_queue_count < SL_QNODES_MAX) {
        queue_marked[queue] = true;
        marked_queues[marked_queue_count] = queue;
        marked_queue_count++;
    }
}

bool sl_turns_marked(void)
{
    return marked_tree_count != 0 || marked_queue_count != 0;
}

/*@ terminates \true; exits \false; assigns tree_paid[root]; */
void sl_turns_renew(sl_qnode_id root)
{
    if (root < SL_QNODES_MAX) {
        tree_paid[root] = false;
    }
}

/*@ requires marks: Marks; terminates \true; exits \false;
    assigns owed_anew[qnode], tree_owed[qnode], owed_trees[0 .. SL_QNODES_MAX - 1], owed_tree_count;
    ensures marks: Marks; */
void sl_turns_owe_tree(sl_qnode_id qnode, bool anew)
{
    if (qnode >= SL_QNODES_MAX) {
        return;
    }
    owed_anew[qnode] = owed_anew[qnode] || anew;
    if (!tree_owed[qnode] && owed_tree_count < SL_QNODES_MAX) {
        tree_owed[qnode] = true;
        owed_trees[owed_tree_count] = qnode;
        owed_tree_count++;
    }
}

bool sl_turns_owes(void)
{
    return owed_tree_count != 0;
}

/*@ requires marks: Marks; terminates \true; exits \false; assigns MARKS; ensures marks: Marks; */
void sl_turns_pay(void)
{
    /*@ loop invariant marks: Marks; loop assigns sl_hidden, MARKS;
        loop variant owed_tree_count; */
    while (owed_tree_count != 0) {
        owed_tree_count--;
        sl_qnode_id qnode = owed_trees[owed_tree_count];
        bool marked = tree_marked[qnode];
        tree_owed[qnode] = false;
        sl_turns_mark_tree(qnode);
        marked_owed[qnode] = !marked && !owed_anew[qnode];
        owed_anew[qnode] = false;
    }
}

/*@ requires marks: Marks && queue < SL_QNODES_MAX; terminates \true; exits \false;
    assigns WOKEN; ensures marks: Marks; */
static void wake(sl_qnode_id queue)
{
    if (!is_woken[queue] && woken_count < SL_QNODES_MAX) {
        is_woken[queue] = true;
        woken[woken_count] = queue;
        woken_count++;
    }
}

/*@ requires marks: Marks && root < SL_QNODES_MAX; terminates \true; exits \false;
    assigns WOKEN, tree_paid[root], tree_woken_at[root]; ensures marks: Marks; */
static void wake_tree(sl_qnode_id root, bool owed)
{
    if (owed && tree_paid[root]) {
        return;
    }
    tree_paid[root] = owed;
    tree_woken_at[root] = wake_number;
    sl_qnode_id queue = sl_turns_first_waiting(root);
    /*@
      loop invariant marks: Marks && (queue < SL_QNODES_MAX || queue == SL_NO_ID);
      loop assigns steps, queue, WOKEN;
      loop variant SL_QNODES_MAX - steps;
    */
    for (uint32_t steps = 0; queue != SL_NO_ID && steps < SL_QNODES_MAX; steps++) {
        wake(queue);
        queue = sl_turns_next_waiting(queue);
    }
}

/*@ requires marks: Marks; requires qnodes: QnodesLinked; terminates \true; exits \false;
    assigns MARKS, WOKEN, wake_number; ensures marks: Marks; */
uint32_t sl_turns_resolve(void)
{
    woken_count = 0;
    wake_number++;
    /*@ loop invariant marks: Marks; loop assigns MARKS, WOKEN; loop variant marked_tree_count; */
    while (marked_tree_count != 0) {
        marked_tree_count--;
        sl_qnode_id qnode = marked_trees[marked_tree_count];
        tree_marked[qnode] = false;
        wake_tree(root_of(qnode), marked_owed[qnode]);
    }
    /*@ loop invariant marks: Marks; loop assigns MARKS, WOKEN; loop variant marked_queue_count; */
    while (marked_queue_count != 0) {
        marked_queue_count--;
        sl_qnode_id queue = marked_queues[marked_queue_count];
        queue_marked[queue] = false;
        queue_woken_at[queue] = wake_number;
        tree_paid[root_of(queue)] = false;
        if (sl_turns_is_waiting(queue)) {
            wake(queue);
        }
    }
    /*@
      loop assigns i, is_woken[0 .. SL_QNODES_MAX - 1];
      loop variant woken_count - i;
    */
    for (uint32_t i = 0; i < woken_count; i++) {
        is_woken[woken[i]] = false;
    }
    return woken_count;
}

/*@ requires marks: Marks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_turns_woken(uint32_t index)
{
    return index < woken_count ? woken[index] : SL_NO_ID;
}

uint64_t sl_turns_wake_number(void)
{
    return wake_number;
}

/*@ terminates \true; exits \false; assigns wake_number, tree_woken_at[root]; */
void sl_turns_note_free(sl_qnode_id root)
{
    if (root < SL_QNODES_MAX) {
        wake_number++;
        tree_woken_at[root] = wake_number;
    }
}

bool sl_turns_woken_since(sl_qnode_id queue, uint64_t number)
{
    return queue < SL_QNODES_MAX &&
           (queue_woken_at[queue] > number || tree_woken_at[root_of(queue)] > number);
}
