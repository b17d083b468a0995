/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Moving a node: its cells are taken off their parents, levels below it are set anew, and the cells are hung
 * under those of the new parent. All that could refuse is found out first. */
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_chain.h"
#include "kernel/ledger/ledger_tree.h"

bool sl_scratch_moves[SL_NODES_MAX];
sl_cell_id sl_scratch_target[SL_CELLS_MAX];

/* Under a node without children is nothing but the node. */
/*@ ghost
  /@ requires forest:    NodesLinked && ChildrenCounted;
     requires node:      node < SL_NODES_MAX;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  leaf:      sl_node_children[node] == 0 ==> \forall integer i; 0 <= i < SL_NODES_MAX ==>
                         (Under(i, node) <==> i == node);
  @/
  static void lemma_leaf(uint32_t node)
  {
    lemma_children(node);
    /@ loop invariant 0 <= l <= SL_LEVELS_MAX;
       loop invariant sl_node_children[node] == 0 ==> \forall integer i; 0 <= i < SL_NODES_MAX &&
           sl_node_level[i] < l ==> (Under(i, node) <==> i == node);
       loop assigns l;
       loop variant SL_LEVELS_MAX - l; @/
    for (uint32_t l = 0; l < SL_LEVELS_MAX; l++) ;
  }
*/

/* What is under a node is not above it. */
/*@ ghost
  /@ requires linked:    NodesLinked;
     requires top:       top < SL_NODES_MAX;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  deeper:    \forall integer i; 0 <= i < SL_NODES_MAX && Under(i, top) ==>
                         sl_node_level[top] <= sl_node_level[i];
  @/
  static void lemma_deeper(uint32_t top)
  {
    /@ loop invariant 0 <= l <= SL_LEVELS_MAX;
       loop invariant \forall integer i; 0 <= i < SL_NODES_MAX && sl_node_level[i] < l && Under(i, top) ==>
           sl_node_level[top] <= sl_node_level[i];
       loop assigns l;
       loop variant SL_LEVELS_MAX - l; @/
    for (uint32_t l = 0; l < SL_LEVELS_MAX; l++) ;
  }
*/

/* Does `node` lie under `top`, or is it that one? */
/*@
  requires linked:     NodesLinked;
  requires node:       node < SL_NODES_MAX && top < SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> Under(node, top);
  ensures  deeper:     \result ==> sl_node_level[top] <= sl_node_level[node];
*/
static bool is_under(sl_node_id node, sl_node_id top)
{
    sl_node_id at = node;
    /*@
      loop invariant at:     at < SL_NODES_MAX && sl_node_level[at] <= sl_node_level[node];
      loop invariant stop:   stop_at(at, top) == stop_at(node, top);
      loop assigns at;
      loop variant sl_node_level[at];
    */
    while (at != top && sl_node_up[at] != 0) {
        at = sl_node_up[at] - 1;
    }
    return at == top;
}

/* Find out which nodes move along, and whether one of them would lie too deep. */
/*@
  requires linked:     NodesLinked;
  requires node:       node < SL_NODES_MAX && sl_node_used[node] && level <= SL_LEVELS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_scratch_moves[0 .. SL_NODES_MAX - 1];
  ensures  fit:        \result <==> LevelsFit(node, level);
  ensures  moves:      \result ==> \forall integer i; 0 <= i < sl_node_limit ==> (sl_scratch_moves[i] <==> Under(i, node));
*/
static bool plan_levels(sl_node_id node, uint32_t level)
{
    /*@
      loop invariant other:  0 <= other <= sl_node_limit;
      loop invariant moves:  \forall integer i; 0 <= i < other ==> (sl_scratch_moves[i] <==> Under(i, node));
      loop invariant fit:    \forall integer i; 0 <= i < other && Under(i, node) ==>
                             sl_node_level[node] <= sl_node_level[i] &&
                             sl_node_level[i] - sl_node_level[node] + level < SL_LEVELS_MAX;
      loop assigns other, sl_scratch_moves[0 .. SL_NODES_MAX - 1];
      loop variant sl_node_limit - other;
    */
    for (sl_node_id other = 0; other < sl_node_limit; other++) {
        sl_scratch_moves[other] = is_under(other, node);
        if (sl_scratch_moves[other] &&
            sl_node_level[other] - sl_node_level[node] + level >= SL_LEVELS_MAX) {
            return false;
        }
    }
    return true;
}

/*@
  requires node:       node < SL_NODES_MAX && sl_node_limit <= SL_NODES_MAX && level <= SL_LEVELS_MAX;
  requires deeper:     \forall integer i; 0 <= i < sl_node_limit && sl_scratch_moves[i] ==>
                       sl_node_level[node] <= sl_node_level[i] < SL_LEVELS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_node_level[0 .. SL_NODES_MAX - 1];
  ensures  moved:      \forall integer i; 0 <= i < SL_NODES_MAX ==> sl_node_level[i] == \old(sl_node_level)[i] +
                       (i < sl_node_limit && sl_scratch_moves[i] ? level - \old(sl_node_level[node]) : 0);
*/
static void set_levels(sl_node_id node, uint32_t level)
{
    uint32_t before = sl_node_level[node];
    /*@
      loop invariant other:  0 <= other <= sl_node_limit;
      loop invariant moved:  \forall integer i; 0 <= i < SL_NODES_MAX ==>
                             sl_node_level[i] == \at(sl_node_level[i], Pre) +
                             (i < other && sl_scratch_moves[i] ? level - before : 0);
      loop assigns other, sl_node_level[0 .. SL_NODES_MAX - 1];
      loop variant sl_node_limit - other;
    */
    for (sl_node_id other = 0; other < sl_node_limit; other++) {
        if (sl_scratch_moves[other]) {
            sl_node_level[other] = sl_node_level[other] - before + level;
        }
    }
}

/* Find, for every cell of the node, the one it will hang under. */
/*@
  predicate TargetFound{L}(integer c, integer parent) = sl_scratch_target[c] < SL_CELLS_MAX &&
      HasName(sl_scratch_target[c], parent, sl_cell_flavor[c], sl_cell_resource[c]);
  predicate TargetsFound{L}(integer node, integer parent) = \forall integer c; 0 <= c < SL_CELLS_MAX &&
      sl_cell_home[c] == node + 1 ==> TargetFound(c, parent);
*/
/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0;
  requires nodes:      node < SL_NODES_MAX && parent < SL_NODES_MAX && sl_node_used[parent];
  requires apart:      !Under(parent, node);
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_scratch_path[0 .. SL_LEVELS_MAX - 1],
                       sl_scratch_target[0 .. SL_CELLS_MAX - 1];
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  targets:    \result ==> TargetsFound(node, parent);
*/
static bool plan_targets(sl_node_id node, sl_node_id parent)
{
    uint32_t link = sl_node_first[node];
    /*@
      loop invariant inv:    LedgerInv && TrailSound;
      loop invariant own:    OwnElsewhere{Pre, Here}(-1);
      loop invariant link:   link <= SL_CELLS_MAX && (link != 0 ==> sl_cell_home[link - 1] == node + 1);
      loop invariant seen:   \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == node + 1 &&
                             (link == 0 || sl_cell_rank[c] > sl_cell_rank[link - 1]) ==> TargetFound(c, parent);
      loop assigns link, SL_ALL_NUMBERS, SL_ALL_NAMES, sl_scratch_path[0 .. SL_LEVELS_MAX - 1],
                   sl_scratch_target[0 .. SL_CELLS_MAX - 1];
      loop variant link == 0 ? 0 : sl_cell_rank[link - 1];
    */
    while (link != 0) {
        sl_cell_id cell = link - 1;
        sl_cell_id target = sl_chain_open(parent, sl_cell_flavor[cell], sl_cell_resource[cell]);
        if (target == SL_NO_ID) {
            return false;
        }
        /*@ assert same: \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == node + 1 ==>
            \at(sl_cell_home[c], LoopCurrent) == node + 1; */
        /*@ assert seen: \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == node + 1 &&
            sl_cell_rank[c] > sl_cell_rank[cell] ==> TargetFound(c, parent); */
        sl_scratch_target[cell] = target;
        //@ assert found: TargetFound(cell, parent);
        link = sl_cell_next[cell];
    }
    return true;
}

/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0;
  requires node:       node < SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS;
  ensures  inv:        LedgerInvBut(node) && TrailSound;
  ensures  off:        CellsOff(node);
  ensures  own:        OwnElsewhere{Old, Post}(-1);
*/
static void unlink_cells(sl_node_id node)
{
    /*@
      loop invariant inv:    LedgerInvBut(node) && TrailSound;
      loop invariant own:    OwnElsewhere{Pre, Here}(-1);
      loop invariant link:   link <= SL_CELLS_MAX && (link != 0 ==> sl_cell_home[link - 1] == node + 1);
      loop invariant seen:   \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == node + 1 &&
                             (link == 0 || sl_cell_rank[c] > sl_cell_rank[link - 1]) ==> sl_cell_up[c] == 0;
      loop assigns link, SL_ALL_NUMBERS;
      loop variant link == 0 ? 0 : sl_cell_rank[link - 1];
    */
    for (uint32_t link = sl_node_first[node]; link != 0; link = sl_cell_next[link - 1]) {
        sl_chain_unlink(link - 1);
    }
}

/*@
  requires inv:        LedgerInvBut(node) && TrailSound && sl_trail_depth == 0;
  requires node:       node < SL_NODES_MAX && sl_node_up[node] != 0;
  requires off:        CellsOff(node);
  requires targets:    TargetsFound(node, sl_node_up[node] - 1);
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS;
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
*/
static void link_cells(sl_node_id node)
{
    /*@
      loop invariant inv:    LedgerInvBut(node) && TrailSound;
      loop invariant own:    OwnElsewhere{Pre, Here}(-1);
      loop invariant link:   link <= SL_CELLS_MAX && (link != 0 ==> sl_cell_home[link - 1] == node + 1);
      loop invariant seen:   \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == node + 1 &&
                             (link == 0 || sl_cell_rank[c] > sl_cell_rank[link - 1]) ==> sl_cell_up[c] != 0;
      loop invariant ahead:  \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == node + 1 &&
                             link != 0 && sl_cell_rank[c] <= sl_cell_rank[link - 1] ==> sl_cell_up[c] == 0;
      loop assigns link, SL_ALL_NUMBERS;
      loop variant link == 0 ? 0 : sl_cell_rank[link - 1];
    */
    for (uint32_t link = sl_node_first[node]; link != 0; link = sl_cell_next[link - 1]) {
        sl_chain_link(link - 1, sl_scratch_target[link - 1]);
    }
}

/* A node without children needs no look at the others: the common case, and many nodes are loaded so. */
/*@
  requires forest:     NodesLinked && ChildrenCounted;
  requires node:       node < SL_NODES_MAX && sl_node_used[node] && level <= SL_LEVELS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_scratch_moves[0 .. SL_NODES_MAX - 1];
  ensures  fit:        \result <==> LevelsFit(node, level);
  ensures  moves:      \result && sl_node_children[node] != 0 ==> \forall integer i; 0 <= i < sl_node_limit ==>
                       (sl_scratch_moves[i] <==> Under(i, node));
*/
static bool plan_move(sl_node_id node, uint32_t level)
{
    //@ ghost lemma_leaf(node);
    return sl_node_children[node] == 0 ? level < SL_LEVELS_MAX : plan_levels(node, level);
}

/*@
  requires forest:     NodesLinked && ChildrenCounted;
  requires node:       node < SL_NODES_MAX && sl_node_used[node] && level <= SL_LEVELS_MAX;
  requires fit:        LevelsFit(node, level);
  requires moves:      sl_node_children[node] != 0 ==> \forall integer i; 0 <= i < sl_node_limit ==>
                       (sl_scratch_moves[i] <==> Under(i, node));
  terminates           \true;
  exits                \false;
  assigns              sl_node_level[0 .. SL_NODES_MAX - 1];
  ensures  moved:      \forall integer i; 0 <= i < SL_NODES_MAX ==> sl_node_level[i] == \old(sl_node_level)[i] +
                       (stop_at{Old}(i, node) == node ? level - \old(sl_node_level[node]) : 0);
*/
static void relevel(sl_node_id node, uint32_t level)
{
    //@ ghost lemma_leaf(node);
    if (sl_node_children[node] == 0) {
        sl_node_level[node] = level;
    } else {
        set_levels(node, level);
    }
}

/* Hang a node whose cells are off their parents elsewhere, with all that is under it. */
/*@
  requires inv:        ForestInv && NumbersInv;
  requires node:       node < SL_NODES_MAX && sl_node_used[node] && CellsOff(node);
  requires up:         up <= SL_NODES_MAX && (up == 0 ? level == 0
                       : sl_node_used[up - 1] && level == sl_node_level[up - 1] + 1 && !Under(up - 1, node));
  requires fit:        LevelsFit(node, level);
  requires moves:      sl_node_children[node] != 0 ==> \forall integer i; 0 <= i < sl_node_limit ==>
                       (sl_scratch_moves[i] <==> Under(i, node));
  terminates           \true;
  exits                \false;
  assigns              sl_node_level[0 .. SL_NODES_MAX - 1], sl_node_children[0 .. SL_NODES_MAX - 1],
                       sl_node_up[node], sl_heights_stale;
  ensures  forest:     NodesLinked;
  ensures  counted:    ChildrenCounted;
  ensures  placed:     CellsPlaced;
  ensures  numbers:    NumbersInv;
  ensures  up:         sl_node_up[node] == up && sl_heights_stale;
*/
static void hang(sl_node_id node, uint32_t up, uint32_t level)
{
    relevel(node, level);
    /*@ assert together: \forall integer i; 0 <= i < SL_NODES_MAX && i != node && sl_node_up[i] != 0 ==>
        (Under{Pre}(i, node) <==> Under{Pre}(sl_node_up[i] - 1, node)); */
    sl_tree_set_parent(node, up);
    //@ assert nodes: NodesLinked;
    //@ ghost lemma_cells_linked();
}

/* Find out everything before the first change; only cells without quota may have been opened by then. */
/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0;
  requires node:       node < SL_NODES_MAX && sl_node_used[node];
  requires up:         up <= SL_NODES_MAX && (up != 0 ==> sl_node_used[up - 1]);
  requires level:      level == (up == 0 ? 0 : sl_node_level[up - 1] + 1);
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_scratch_path[0 .. SL_LEVELS_MAX - 1],
                       sl_scratch_target[0 .. SL_CELLS_MAX - 1], sl_scratch_moves[0 .. SL_NODES_MAX - 1];
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  cycle:      \result == SL_REFUSED_CYCLE <==> up != 0 && Under(up - 1, node);
  ensures  fit:        \result == SL_OK ==> LevelsFit(node, level);
  ensures  deep:       \result == SL_REFUSED_TOO_DEEP ==> !LevelsFit{Pre}(node, level);
  ensures  moves:      \result == SL_OK && sl_node_children[node] != 0 ==>
                       \forall integer i; 0 <= i < sl_node_limit ==> (sl_scratch_moves[i] <==> Under(i, node));
  ensures  targets:    \result == SL_OK && up != 0 ==> TargetsFound(node, up - 1);
  ensures  result:     \result == SL_OK || \result == SL_REFUSED_CYCLE || \result == SL_REFUSED_TOO_DEEP ||
                       (\result == SL_FULL_CELLS && up != 0);
*/
static enum sl_status plan(sl_node_id node, uint32_t up, uint32_t level)
{
    if (up != 0 && is_under(up - 1, node)) {
        return SL_REFUSED_CYCLE;
    }
    if (!plan_move(node, level)) {
        return SL_REFUSED_TOO_DEEP;
    }
    if (up != 0 && !plan_targets(node, up - 1)) {
        return SL_FULL_CELLS;
    }
    return SL_OK;
}

/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0 && HeightsInv;
  requires node:       node < SL_NODES_MAX && sl_node_used[node];
  requires up:         up <= SL_NODES_MAX && (up != 0 ==> sl_node_used[up - 1]);
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_scratch_path[0 .. SL_LEVELS_MAX - 1],
                       sl_scratch_target[0 .. SL_CELLS_MAX - 1], sl_scratch_moves[0 .. SL_NODES_MAX - 1],
                       sl_node_level[0 .. SL_NODES_MAX - 1], sl_node_children[0 .. SL_NODES_MAX - 1],
                       sl_node_up[node], sl_heights_stale;
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  up:         sl_node_up[node] == (\result == SL_OK ? up : \old(sl_node_up[node]));
  ensures  heights:    HeightsInv;
  ensures  cycle:      \result == SL_REFUSED_CYCLE <==> up != 0 && Under{Old}(up - 1, node);
  ensures  result:     \result == SL_OK || \result == SL_REFUSED_CYCLE || \result == SL_REFUSED_TOO_DEEP ||
                       (\result == SL_FULL_CELLS && up != 0);
*/
static enum sl_status move(sl_node_id node, uint32_t up)
{
    uint32_t level = up != 0 ? sl_node_level[up - 1] + 1 : 0;
    enum sl_status status = plan(node, up, level);
    if (status != SL_OK) {
        return status;
    }
    unlink_cells(node);
    hang(node, up, level);
    //@ assert hung: LedgerInvBut(node) && HeightsInv;
    if (up != 0) {
        link_cells(node);
    }
    return SL_OK;
}

enum sl_status sl_ledger_move_node(sl_node_id node, sl_node_id parent)
{
    enum sl_status status = sl_tree_check(node);
    if (status != SL_OK) {
        return status;
    }
    if (parent == SL_NO_ID) {
        return move(node, 0);
    }
    if (parent >= SL_NODES_MAX || !sl_node_used[parent]) {
        return SL_REFUSED_NO_NODE_ID;
    }
    //@ ghost lemma_deeper(node);
    //@ assert apart: NodeLinked(node) && (sl_node_up[node] == parent + 1 ==> !Under(parent, node));
    if (sl_node_up[node] == parent + 1) {
        return SL_OK;
    }
    return move(node, parent + 1);
}
