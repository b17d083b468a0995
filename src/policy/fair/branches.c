/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Branches: a doubly linked list of children per node, the newest first. Links are ids plus one.
 * A node is in the list of listed_at, which is its parent as soon as follow was called. */
#include "policy/fair/branches.h"

#include "kernel/ledger/ledger.h"

static uint32_t first_child[SL_NODES_MAX];
static uint32_t next_sibling[SL_NODES_MAX];
static uint32_t prev_sibling[SL_NODES_MAX];
static uint32_t listed_at[SL_NODES_MAX];
static uint32_t node_limit; /* no node from here on was ever listed or a parent */

/* clang-format off */
#define BRANCHES                                                                                   \
    first_child[0 .. SL_NODES_MAX - 1], next_sibling[0 .. SL_NODES_MAX - 1],                       \
        prev_sibling[0 .. SL_NODES_MAX - 1], listed_at[0 .. SL_NODES_MAX - 1]
/* clang-format on */

/*@
  // Every link is none or names a node, so that following it is safe.
  predicate BranchLinks{L} = node_limit <= SL_NODES_MAX && \forall integer i;
    0 <= i < SL_NODES_MAX ==> first_child[i] <= SL_NODES_MAX && next_sibling[i] <= SL_NODES_MAX &&
      prev_sibling[i] <= SL_NODES_MAX && listed_at[i] <= SL_NODES_MAX;
*/

/*@
  terminates \true; exits \false; assigns \nothing;
  ensures id: \result == (link != 0 ? (uint32_t)(link - 1) : SL_NO_ID);
*/
static uint32_t id_of(uint32_t link)
{
    return link != 0 ? link - 1 : SL_NO_ID;
}

/*@
  requires links: BranchLinks && node < SL_NODES_MAX && listed_at[node] != 0;
  terminates \true; exits \false;
  assigns BRANCHES;
  ensures links: BranchLinks;
*/
static void leave(sl_node_id node)
{
    if (prev_sibling[node] != 0) {
        next_sibling[prev_sibling[node] - 1] = next_sibling[node];
    } else {
        first_child[listed_at[node] - 1] = next_sibling[node];
    }
    if (next_sibling[node] != 0) {
        prev_sibling[next_sibling[node] - 1] = prev_sibling[node];
    }
    next_sibling[node] = 0;
    prev_sibling[node] = 0;
    listed_at[node] = 0;
}

/*@
  requires links: BranchLinks && node < SL_NODES_MAX && parent < SL_NODES_MAX;
  terminates \true; exits \false;
  assigns BRANCHES;
  ensures links: BranchLinks;
*/
static void join(sl_node_id node, sl_node_id parent)
{
    listed_at[node] = parent + 1;
    next_sibling[node] = first_child[parent];
    if (first_child[parent] != 0) {
        prev_sibling[first_child[parent] - 1] = node + 1;
    }
    first_child[parent] = node + 1;
}

/*@
  requires known: node < SL_NODES_MAX;
  terminates \true; exits \false;
  assigns node_limit;
  ensures limit: node_limit <= \max(\old(node_limit), SL_NODES_MAX);
*/
static void raise_limit(sl_node_id node)
{
    node_limit = node >= node_limit ? node + 1 : node_limit;
}

/*@
  requires links: BranchLinks;
  terminates \true; exits \false;
  assigns BRANCHES, node_limit;
  ensures links: BranchLinks;
*/
void sl_branches_follow(sl_node_id node)
{
    if (node >= SL_NODES_MAX) {
        return;
    }
    sl_node_id parent = sl_ledger_parent_node(node);
    if (id_of(listed_at[node]) == parent) {
        return;
    }
    if (listed_at[node] != 0) {
        leave(node);
    }
    if (parent < SL_NODES_MAX) {
        raise_limit(node);
        raise_limit(parent);
        join(node, parent);
    }
}

/*@ requires links: BranchLinks; terminates \true; exits \false; assigns \nothing; */
sl_node_id sl_branches_first(sl_node_id node)
{
    return node < SL_NODES_MAX ? id_of(first_child[node]) : SL_NO_ID;
}

/*@ requires links: BranchLinks; terminates \true; exits \false; assigns \nothing; */
sl_node_id sl_branches_next(sl_node_id child)
{
    return child < SL_NODES_MAX ? id_of(next_sibling[child]) : SL_NO_ID;
}

/*@ requires links: BranchLinks; terminates \true; exits \false; assigns \nothing; */
sl_node_id sl_branches_walk(sl_node_id root, sl_node_id node, bool skip)
{
    if (node >= SL_NODES_MAX) {
        return SL_NO_ID;
    }
    if (!skip && first_child[node] != 0) {
        return first_child[node] - 1;
    }
    /*@
      loop invariant known: node < SL_NODES_MAX;
      loop assigns steps, node;
      loop variant SL_NODES_MAX - steps;
    */
    for (uint32_t steps = 0;
         node != root && next_sibling[node] == 0 && listed_at[node] != 0 && steps < SL_NODES_MAX;
         steps++) {
        node = listed_at[node] - 1;
    }
    return node != root ? id_of(next_sibling[node]) : SL_NO_ID;
}

/*@
  requires links: BranchLinks && node < SL_NODES_MAX;
  terminates \true; exits \false; assigns \nothing;
*/
static uint32_t list_length(sl_node_id node)
{
    uint32_t steps = 0;
    uint32_t before = 0;
    /*@
      loop invariant link: link <= SL_NODES_MAX && steps <= node_limit;
      loop assigns steps, before, link;
      loop variant node_limit - steps;
    */
    for (uint32_t link = first_child[node]; link != 0; link = next_sibling[link - 1]) {
        if (steps == node_limit || listed_at[link - 1] != node + 1 ||
            prev_sibling[link - 1] != before) {
            return SL_NO_ID;
        }
        steps++;
        before = link;
    }
    return steps;
}

/*@ requires links: BranchLinks; terminates \true; exits \false; assigns \nothing; */
bool sl_branches_valid(void)
{
    uint32_t listed = 0;
    uint32_t in_lists = 0;
    /*@ loop assigns node, listed, in_lists; loop variant SL_NODES_MAX - node; */
    for (sl_node_id node = 0; node < SL_NODES_MAX; node++) {
        if (id_of(listed_at[node]) != sl_ledger_parent_node(node)) {
            return false;
        }
        uint32_t length = list_length(node);
        if (length == SL_NO_ID) {
            return false;
        }
        in_lists += length;
        listed += listed_at[node] != 0 ? 1u : 0u;
    }
    return listed == in_lists;
}
