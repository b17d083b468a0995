/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Turns, what has changed: lists of marked nodes, of trees that are owed a wake-up, and when each
 * tree and queue was woken last. */
#include "policy/queues/turns.h"

#include "kernel/ledger/ledger.h"

static sl_node_id marked_trees[SL_NODES_MAX];
static uint32_t marked_tree_count;
static bool tree_marked[SL_NODES_MAX];
static sl_node_id marked_queues[SL_NODES_MAX];
static uint32_t marked_queue_count;
static bool queue_marked[SL_NODES_MAX];

static sl_node_id woken[SL_NODES_MAX];
static uint32_t woken_count;
static bool is_woken[SL_NODES_MAX];

static sl_node_id owed_trees[SL_NODES_MAX];
static uint32_t owed_tree_count;
static bool tree_owed[SL_NODES_MAX];
static bool owed_anew[SL_NODES_MAX];   /* something has happened since the tree was paid */
static bool marked_owed[SL_NODES_MAX]; /* the tree is marked for no other reason */
static bool tree_paid[SL_NODES_MAX];   /* by root: since anything happened there */

/* Wake-ups are numbered; when was this tree or queue woken last? */
static uint64_t wake_number;
static uint64_t tree_woken_at[SL_NODES_MAX]; /* by root */
static uint64_t queue_woken_at[SL_NODES_MAX];

/* clang-format off */
#define MARKS                                                                                      \
    marked_trees[0 .. SL_NODES_MAX - 1], marked_tree_count, tree_marked[0 .. SL_NODES_MAX - 1],    \
        marked_queues[0 .. SL_NODES_MAX - 1], marked_queue_count,                                  \
        queue_marked[0 .. SL_NODES_MAX - 1], owed_tree_count, tree_owed[0 .. SL_NODES_MAX - 1],    \
        owed_anew[0 .. SL_NODES_MAX - 1], marked_owed[0 .. SL_NODES_MAX - 1],                      \
        tree_paid[0 .. SL_NODES_MAX - 1], tree_woken_at[0 .. SL_NODES_MAX - 1],                    \
        queue_woken_at[0 .. SL_NODES_MAX - 1]
#define WOKEN woken[0 .. SL_NODES_MAX - 1], woken_count, is_woken[0 .. SL_NODES_MAX - 1]
/* clang-format on */

/*@
  // The lists name nodes only.
  predicate Marks{L} = marked_tree_count <= SL_NODES_MAX && marked_queue_count <= SL_NODES_MAX &&
    woken_count <= SL_NODES_MAX && owed_tree_count <= SL_NODES_MAX && \forall integer i;
      0 <= i < SL_NODES_MAX ==> marked_trees[i] < SL_NODES_MAX &&
        marked_queues[i] < SL_NODES_MAX && woken[i] < SL_NODES_MAX && owed_trees[i] < SL_NODES_MAX;
*/

/* A queue that is no node of the forest (any more) stands for itself. */
/*@ requires nodes: NodesLinked && queue < SL_NODES_MAX; terminates \true; exits \false;
    assigns \nothing; ensures known: \result < SL_NODES_MAX; */
static sl_node_id root_of(sl_node_id queue)
{
    sl_node_id root = sl_ledger_root_node(queue);
    return root < SL_NODES_MAX ? root : queue;
}

/*@ requires marks: Marks; terminates \true; exits \false;
    assigns marked_owed[node], tree_marked[node], marked_trees[0 .. SL_NODES_MAX - 1],
      marked_tree_count; ensures marks: Marks; */
void sl_turns_mark_tree(sl_node_id node)
{
    if (node >= SL_NODES_MAX) {
        return;
    }
    marked_owed[node] = false;
    if (!tree_marked[node] && marked_tree_count < SL_NODES_MAX) {
        tree_marked[node] = true;
        marked_trees[marked_tree_count] = node;
        marked_tree_count++;
    }
}

/*@ requires marks: Marks; terminates \true; exits \false;
    assigns queue_marked[queue], marked_queues[0 .. SL_NODES_MAX - 1], marked_queue_count;
    ensures marks: Marks; */
void sl_turns_mark_queue(sl_node_id queue)
{
    if (queue < SL_NODES_MAX && !queue_marked[queue] && marked_queue_count < SL_NODES_MAX) {
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
void sl_turns_renew(sl_node_id root)
{
    if (root < SL_NODES_MAX) {
        tree_paid[root] = false;
    }
}

/*@ requires marks: Marks; terminates \true; exits \false;
    assigns owed_anew[node], tree_owed[node], owed_trees[0 .. SL_NODES_MAX - 1], owed_tree_count;
    ensures marks: Marks; */
void sl_turns_owe_tree(sl_node_id node, bool anew)
{
    if (node >= SL_NODES_MAX) {
        return;
    }
    owed_anew[node] = owed_anew[node] || anew;
    if (!tree_owed[node] && owed_tree_count < SL_NODES_MAX) {
        tree_owed[node] = true;
        owed_trees[owed_tree_count] = node;
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
        sl_node_id node = owed_trees[owed_tree_count];
        bool marked = tree_marked[node];
        tree_owed[node] = false;
        sl_turns_mark_tree(node);
        marked_owed[node] = !marked && !owed_anew[node];
        owed_anew[node] = false;
    }
}

/*@ requires marks: Marks && queue < SL_NODES_MAX; terminates \true; exits \false;
    assigns WOKEN; ensures marks: Marks; */
static void wake(sl_node_id queue)
{
    if (!is_woken[queue] && woken_count < SL_NODES_MAX) {
        is_woken[queue] = true;
        woken[woken_count] = queue;
        woken_count++;
    }
}

/*@ requires marks: Marks && root < SL_NODES_MAX; terminates \true; exits \false;
    assigns WOKEN, tree_paid[root], tree_woken_at[root]; ensures marks: Marks; */
static void wake_tree(sl_node_id root, bool owed)
{
    if (owed && tree_paid[root]) {
        return;
    }
    tree_paid[root] = owed;
    tree_woken_at[root] = wake_number;
    sl_node_id queue = sl_turns_first_waiting(root);
    /*@
      loop invariant marks: Marks && (queue < SL_NODES_MAX || queue == SL_NO_ID);
      loop assigns steps, queue, WOKEN;
      loop variant SL_NODES_MAX - steps;
    */
    for (uint32_t steps = 0; queue != SL_NO_ID && steps < SL_NODES_MAX; steps++) {
        wake(queue);
        queue = sl_turns_next_waiting(queue);
    }
}

/*@ requires marks: Marks; requires nodes: NodesLinked; terminates \true; exits \false;
    assigns MARKS, WOKEN, wake_number; ensures marks: Marks; */
uint32_t sl_turns_resolve(void)
{
    woken_count = 0;
    wake_number++;
    /*@ loop invariant marks: Marks; loop assigns MARKS, WOKEN; loop variant marked_tree_count; */
    while (marked_tree_count != 0) {
        marked_tree_count--;
        sl_node_id node = marked_trees[marked_tree_count];
        tree_marked[node] = false;
        wake_tree(root_of(node), marked_owed[node]);
    }
    /*@ loop invariant marks: Marks; loop assigns MARKS, WOKEN; loop variant marked_queue_count; */
    while (marked_queue_count != 0) {
        marked_queue_count--;
        sl_node_id queue = marked_queues[marked_queue_count];
        queue_marked[queue] = false;
        queue_woken_at[queue] = wake_number;
        tree_paid[root_of(queue)] = false;
        if (sl_turns_is_waiting(queue)) {
            wake(queue);
        }
    }
    /*@
      loop assigns i, is_woken[0 .. SL_NODES_MAX - 1];
      loop variant woken_count - i;
    */
    for (uint32_t i = 0; i < woken_count; i++) {
        is_woken[woken[i]] = false;
    }
    return woken_count;
}

/*@ requires marks: Marks; terminates \true; exits \false; assigns \nothing; */
sl_node_id sl_turns_woken(uint32_t index)
{
    return index < woken_count ? woken[index] : SL_NO_ID;
}

uint64_t sl_turns_wake_number(void)
{
    return wake_number;
}

/*@ terminates \true; exits \false; assigns wake_number, tree_woken_at[root]; */
void sl_turns_note_free(sl_node_id root)
{
    if (root < SL_NODES_MAX) {
        wake_number++;
        tree_woken_at[root] = wake_number;
    }
}

bool sl_turns_woken_since(sl_node_id queue, uint64_t number)
{
    return queue < SL_NODES_MAX &&
           (queue_woken_at[queue] > number || tree_woken_at[root_of(queue)] > number);
}
