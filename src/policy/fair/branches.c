/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Branches: a doubly linked list of children per qnode, the newest first. Links are ids plus one.
 * A qnode is in the list of listed_at, which is its parent as soon as follow was called. */
#include "policy/fair/branches.h"

#include "kernel/ledger/ledger.h"

static uint32_t first_child[SL_QNODES_MAX];
static uint32_t next_sibling[SL_QNODES_MAX];
static uint32_t prev_sibling[SL_QNODES_MAX];
static uint32_t listed_at[SL_QNODES_MAX];
static uint32_t qnode_limit; /* no qnode from here on was ever listed or a parent */

/* clang-format off */
#define BRANCHES                                                                                   \
    first_child[0 .. SL_QNODES_MAX - 1], next_sibling[0 .. SL_QNODES_MAX - 1],                       \
        prev_sibling[0 .. SL_QNODES_MAX - 1], listed_at[0 .. SL_QNODES_MAX - 1]
/* clang-format on */

/*@
  // Every link is none or names a qnode, so that following it is safe.
  predicate BranchLinks{L} = qnode_limit <= SL_QNODES_MAX && \forall integer i;
    0 <= i < SL_QNODES_MAX ==> first_child[i] <= SL_QNODES_MAX && next_sibling[i] <= SL_QNODES_MAX &&
      prev_sibling[i] <= SL_QNODES_MAX && listed_at[i] <= SL_QNODES_MAX;
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
  requires links: BranchLinks && qnode < SL_QNODES_MAX && listed_at[qnode] != 0;
  terminates \true; exits \false;
  assigns BRANCHES;
  ensures links: BranchLinks;
*/
static void leave(sl_qnode_id qnode)
{
    if (prev_sibling[qnode] != 0) {
        next_sibling[prev_sibling[qnode] - 1] = next_sibling[qnode];
    } else {
        first_child[listed_at[qnode] - 1] = next_sibling[qnode];
    }
    if (next_sibling[qnode] != 0) {
        prev_sibling[next_sibling[qnode] - 1] = prev_sibling[qnode];
    }
    next_sibling[qnode] = 0;
    prev_sibling[qnode] = 0;
    listed_at[qnode] = 0;
}

/*@
  requires links: BranchLinks && qnode < SL_QNODES_MAX && parent < SL_QNODES_MAX;
  terminates \true; exits \false;
  assigns BRANCHES;
  ensures links: BranchLinks;
*/
static void join(sl_qnode_id qnode, sl_qnode_id parent)
{
    listed_at[qnode] = parent + 1;
    next_sibling[qnode] = first_child[parent];
    if (first_child[parent] != 0) {
        prev_sibling[first_child[parent] - 1] = qnode + 1;
    }
    first_child[parent] = qnode + 1;
}

/*@
  requires known: qnode < SL_QNODES_MAX;
  terminates \true; exits \false;
  assigns qnode_limit;
  ensures limit: qnode_limit <= \max(\old(qnode_limit), SL_QNODES_MAX);
*/
static void raise_limit(sl_qnode_id qnode)
{
    qnode_limit = qnode >= qnode_limit ? qnode + 1 : qnode_limit;
}

/*@
  requires links: BranchLinks;
  terminates \true; exits \false;
  assigns BRANCHES, qnode_limit;
  ensures links: BranchLinks;
*/
void sl_branches_follow(sl_qnode_id qnode)
{
    if (qnode >= SL_QNODES_MAX) {
        return;
    }
    sl_qnode_id parent = sl_ledger_parent_qnode(qnode);
    if (id_of(listed_at[qnode]) == parent) {
        return;
    }
    if (listed_at[qnode] != 0) {
        leave(qnode);
    }
    if (parent < SL_QNODES_MAX) {
        raise_limit(qnode);
        raise_limit(parent);
        join(qnode, parent);
    }
}

/*@ requires links: BranchLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_branches_first(sl_qnode_id qnode)
{
    return qnode < SL_QNODES_MAX ? id_of(first_child[qnode]) : SL_NO_ID;
}

/*@ requires links: BranchLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_branches_next(sl_qnode_id child)
{
    return child < SL_QNODES_MAX ? id_of(next_sibling[child]) : SL_NO_ID;
}

/*@ requires links: BranchLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_branches_walk(sl_qnode_id root, sl_qnode_id qnode, bool skip)
{
    if (qnode >= SL_QNODES_MAX) {
        return SL_NO_ID;
    }
    if (!skip && first_child[qnode] != 0) {
        return first_child[qnode] - 1;
    }
    /*@
      loop invariant known: qnode < SL_QNODES_MAX;
      loop assigns steps, qnode;
      loop variant SL_QNODES_MAX - steps;
    */
    for (uint32_t steps = 0; qnode != root && next_sibling[qnode] == 0 && listed_at[qnode] != 0 &&
                             steps < SL_QNODES_MAX;
         steps++) {
        qnode = listed_at[qnode] - 1;
    }
    return qnode != root ? id_of(next_sibling[qnode]) : SL_NO_ID;
}

/*@
  requires links: BranchLinks && qnode < SL_QNODES_MAX;
  terminates \true; exits \false; assigns \nothing;
*/
static uint32_t list_length(sl_qnode_id qnode)
{
    uint32_t steps = 0;
    uint32_t before = 0;
    /*@
      loop invariant link: link <= SL_QNODES_MAX && steps <= qnode_limit;
      loop assigns steps, before, link;
      loop variant qnode_limit - steps;
    */
    for (uint32_t link = first_child[qnode]; link != 0; link = next_sibling[link - 1]) {
        if (steps == qnode_limit || listed_at[link - 1] != qnode + 1 ||
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
    /*@ loop assigns qnode, listed, in_lists; loop variant SL_QNODES_MAX - qnode; */
    for (sl_qnode_id qnode = 0; qnode < SL_QNODES_MAX; qnode++) {
        if (id_of(listed_at[qnode]) != sl_ledger_parent_qnode(qnode)) {
            return false;
        }
        uint32_t length = list_length(qnode);
        if (length == SL_NO_ID) {
            return false;
        }
        in_lists += length;
        listed += listed_at[qnode] != 0 ? 1u : 0u;
    }
    return listed == in_lists;
}
