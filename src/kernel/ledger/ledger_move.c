/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Moving a qnode: its cells are taken off their parents, levels below it are set anew, and the cells are hung
 * under those of the new parent. All that could refuse is found out first. */
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_chain.h"
#include "kernel/ledger/ledger_tree.h"

bool sl_scratch_moves[SL_QNODES_MAX];
sl_cell_id sl_scratch_target[SL_CELLS_MAX];

/* Under a qnode without children is nothing but the qnode. */
/*@ ghost
  /@ requires forest:    QnodesLinked && ChildrenCounted;
     requires qnode:      qnode < SL_QNODES_MAX;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  leaf:      sl_qnode_children[qnode] == 0 ==> \forall integer i; 0 <= i < SL_QNODES_MAX ==>
                         (Under(i, qnode) <==> i == qnode);
  @/
  static void lemma_leaf(uint32_t qnode)
  {
    lemma_children(qnode);
    /@ loop invariant 0 <= l <= SL_LEVELS_MAX;
       loop invariant sl_qnode_children[qnode] == 0 ==> \forall integer i; 0 <= i < SL_QNODES_MAX &&
           sl_qnode_level[i] < l ==> (Under(i, qnode) <==> i == qnode);
       loop assigns l;
       loop variant SL_LEVELS_MAX - l; @/
    for (uint32_t l = 0; l < SL_LEVELS_MAX; l++) ;
  }
*/

/* What is under a qnode is not above it. */
/*@ ghost
  /@ requires linked:    QnodesLinked;
     requires top:       top < SL_QNODES_MAX;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  deeper:    \forall integer i; 0 <= i < SL_QNODES_MAX && Under(i, top) ==>
                         sl_qnode_level[top] <= sl_qnode_level[i];
  @/
  static void lemma_deeper(uint32_t top)
  {
    /@ loop invariant 0 <= l <= SL_LEVELS_MAX;
       loop invariant \forall integer i; 0 <= i < SL_QNODES_MAX && sl_qnode_level[i] < l && Under(i, top) ==>
           sl_qnode_level[top] <= sl_qnode_level[i];
       loop assigns l;
       loop variant SL_LEVELS_MAX - l; @/
    for (uint32_t l = 0; l < SL_LEVELS_MAX; l++) ;
  }
*/

/* Does `qnode` lie under `top`, or is it that one? */
/*@
  requires linked:     QnodesLinked;
  requires qnode:       qnode < SL_QNODES_MAX && top < SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> Under(qnode, top);
  ensures  deeper:     \result ==> sl_qnode_level[top] <= sl_qnode_level[qnode];
*/
static bool is_under(sl_qnode_id qnode, sl_qnode_id top)
{
    sl_qnode_id at = qnode;
    /*@
      loop invariant at:     at < SL_QNODES_MAX && sl_qnode_level[at] <= sl_qnode_level[qnode];
      loop invariant stop:   stop_at(at, top) == stop_at(qnode, top);
      loop assigns at;
      loop variant sl_qnode_level[at];
    */
    while (at != top && sl_qnode_up[at] != 0) {
        at = sl_qnode_up[at] - 1;
    }
    return at == top;
}

/* Find out which qnodes move along, and whether one of them would lie too deep. */
/*@
  requires linked:     QnodesLinked;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_used[qnode] && level <= SL_LEVELS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_scratch_moves[0 .. SL_QNODES_MAX - 1];
  ensures  fit:        \result <==> LevelsFit(qnode, level);
  ensures  moves:      \result ==> \forall integer i; 0 <= i < sl_qnode_limit ==> (sl_scratch_moves[i] <==> Under(i, qnode));
*/
static bool plan_levels(sl_qnode_id qnode, uint32_t level)
{
    /*@
      loop invariant other:  0 <= other <= sl_qnode_limit;
      loop invariant moves:  \forall integer i; 0 <= i < other ==> (sl_scratch_moves[i] <==> Under(i, qnode));
      loop invariant fit:    \forall integer i; 0 <= i < other && Under(i, qnode) ==>
                             sl_qnode_level[qnode] <= sl_qnode_level[i] &&
                             sl_qnode_level[i] - sl_qnode_level[qnode] + level < SL_LEVELS_MAX;
      loop assigns other, sl_scratch_moves[0 .. SL_QNODES_MAX - 1];
      loop variant sl_qnode_limit - other;
    */
    for (sl_qnode_id other = 0; other < sl_qnode_limit; other++) {
        sl_scratch_moves[other] = is_under(other, qnode);
        if (sl_scratch_moves[other] &&
            sl_qnode_level[other] - sl_qnode_level[qnode] + level >= SL_LEVELS_MAX) {
            return false;
        }
    }
    return true;
}

/*@
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_limit <= SL_QNODES_MAX && level <= SL_LEVELS_MAX;
  requires deeper:     \forall integer i; 0 <= i < sl_qnode_limit && sl_scratch_moves[i] ==>
                       sl_qnode_level[qnode] <= sl_qnode_level[i] < SL_LEVELS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_level[0 .. SL_QNODES_MAX - 1];
  ensures  moved:      \forall integer i; 0 <= i < SL_QNODES_MAX ==> sl_qnode_level[i] == \old(sl_qnode_level)[i] +
                       (i < sl_qnode_limit && sl_scratch_moves[i] ? level - \old(sl_qnode_level[qnode]) : 0);
*/
static void set_levels(sl_qnode_id qnode, uint32_t level)
{
    uint32_t before = sl_qnode_level[qnode];
    /*@
      loop invariant other:  0 <= other <= sl_qnode_limit;
      loop invariant moved:  \forall integer i; 0 <= i < SL_QNODES_MAX ==>
                             sl_qnode_level[i] == \at(sl_qnode_level[i], Pre) +
                             (i < other && sl_scratch_moves[i] ? level - before : 0);
      loop assigns other, sl_qnode_level[0 .. SL_QNODES_MAX - 1];
      loop variant sl_qnode_limit - other;
    */
    for (sl_qnode_id other = 0; other < sl_qnode_limit; other++) {
        if (sl_scratch_moves[other]) {
            sl_qnode_level[other] = sl_qnode_level[other] - before + level;
        }
    }
}

/* Find, for every cell of the qnode, the one it will hang under. */
/*@
  predicate TargetFound{L}(integer c, integer parent) = sl_scratch_target[c] < SL_CELLS_MAX &&
      HasName(sl_scratch_target[c], parent, sl_cell_flavor[c], sl_cell_resource[c]);
  predicate TargetsFound{L}(integer qnode, integer parent) = \forall integer c; 0 <= c < SL_CELLS_MAX &&
      sl_cell_home[c] == qnode + 1 ==> TargetFound(c, parent);
*/
/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0;
  requires qnodes:      qnode < SL_QNODES_MAX && parent < SL_QNODES_MAX && sl_qnode_used[parent];
  requires apart:      !Under(parent, qnode);
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_scratch_path[0 .. SL_LEVELS_MAX - 1],
                       sl_scratch_target[0 .. SL_CELLS_MAX - 1];
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  targets:    \result ==> TargetsFound(qnode, parent);
*/
static bool plan_targets(sl_qnode_id qnode, sl_qnode_id parent)
{
    uint32_t link = sl_qnode_first[qnode];
    /*@
      loop invariant inv:    LedgerInv && TrailSound;
      loop invariant own:    OwnElsewhere{Pre, Here}(-1);
      loop invariant link:   link <= SL_CELLS_MAX && (link != 0 ==> sl_cell_home[link - 1] == qnode + 1);
      loop invariant seen:   \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == qnode + 1 &&
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
        /*@ assert same: \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == qnode + 1 ==>
            \at(sl_cell_home[c], LoopCurrent) == qnode + 1; */
        /*@ assert seen: \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == qnode + 1 &&
            sl_cell_rank[c] > sl_cell_rank[cell] ==> TargetFound(c, parent); */
        sl_scratch_target[cell] = target;
        //@ assert found: TargetFound(cell, parent);
        link = sl_cell_next[cell];
    }
    return true;
}

/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0;
  requires qnode:       qnode < SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS;
  ensures  inv:        LedgerInvBut(qnode) && TrailSound;
  ensures  off:        CellsOff(qnode);
  ensures  own:        OwnElsewhere{Old, Post}(-1);
*/
static void unlink_cells(sl_qnode_id qnode)
{
    /*@
      loop invariant inv:    LedgerInvBut(qnode) && TrailSound;
      loop invariant own:    OwnElsewhere{Pre, Here}(-1);
      loop invariant link:   link <= SL_CELLS_MAX && (link != 0 ==> sl_cell_home[link - 1] == qnode + 1);
      loop invariant seen:   \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == qnode + 1 &&
                             (link == 0 || sl_cell_rank[c] > sl_cell_rank[link - 1]) ==> sl_cell_up[c] == 0;
      loop assigns link, SL_ALL_NUMBERS;
      loop variant link == 0 ? 0 : sl_cell_rank[link - 1];
    */
    for (uint32_t link = sl_qnode_first[qnode]; link != 0; link = sl_cell_next[link - 1]) {
        sl_chain_unlink(link - 1);
    }
}

/*@
  requires inv:        LedgerInvBut(qnode) && TrailSound && sl_trail_depth == 0;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_up[qnode] != 0;
  requires off:        CellsOff(qnode);
  requires targets:    TargetsFound(qnode, sl_qnode_up[qnode] - 1);
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS;
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
*/
static void link_cells(sl_qnode_id qnode)
{
    /*@
      loop invariant inv:    LedgerInvBut(qnode) && TrailSound;
      loop invariant own:    OwnElsewhere{Pre, Here}(-1);
      loop invariant link:   link <= SL_CELLS_MAX && (link != 0 ==> sl_cell_home[link - 1] == qnode + 1);
      loop invariant seen:   \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == qnode + 1 &&
                             (link == 0 || sl_cell_rank[c] > sl_cell_rank[link - 1]) ==> sl_cell_up[c] != 0;
      loop invariant ahead:  \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == qnode + 1 &&
                             link != 0 && sl_cell_rank[c] <= sl_cell_rank[link - 1] ==> sl_cell_up[c] == 0;
      loop assigns link, SL_ALL_NUMBERS;
      loop variant link == 0 ? 0 : sl_cell_rank[link - 1];
    */
    for (uint32_t link = sl_qnode_first[qnode]; link != 0; link = sl_cell_next[link - 1]) {
        sl_chain_link(link - 1, sl_scratch_target[link - 1]);
    }
}

/* A qnode without children needs no look at the others: the common case, and many qnodes are loaded so. */
/*@
  requires forest:     QnodesLinked && ChildrenCounted;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_used[qnode] && level <= SL_LEVELS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_scratch_moves[0 .. SL_QNODES_MAX - 1];
  ensures  fit:        \result <==> LevelsFit(qnode, level);
  ensures  moves:      \result && sl_qnode_children[qnode] != 0 ==> \forall integer i; 0 <= i < sl_qnode_limit ==>
                       (sl_scratch_moves[i] <==> Under(i, qnode));
*/
static bool plan_move(sl_qnode_id qnode, uint32_t level)
{
    //@ ghost lemma_leaf(qnode);
    return sl_qnode_children[qnode] == 0 ? level < SL_LEVELS_MAX : plan_levels(qnode, level);
}

/*@
  requires forest:     QnodesLinked && ChildrenCounted;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_used[qnode] && level <= SL_LEVELS_MAX;
  requires fit:        LevelsFit(qnode, level);
  requires moves:      sl_qnode_children[qnode] != 0 ==> \forall integer i; 0 <= i < sl_qnode_limit ==>
                       (sl_scratch_moves[i] <==> Under(i, qnode));
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_level[0 .. SL_QNODES_MAX - 1];
  ensures  moved:      \forall integer i; 0 <= i < SL_QNODES_MAX ==> sl_qnode_level[i] == \old(sl_qnode_level)[i] +
                       (stop_at{Old}(i, qnode) == qnode ? level - \old(sl_qnode_level[qnode]) : 0);
*/
static void relevel(sl_qnode_id qnode, uint32_t level)
{
    //@ ghost lemma_leaf(qnode);
    if (sl_qnode_children[qnode] == 0) {
        sl_qnode_level[qnode] = level;
    } else {
        set_levels(qnode, level);
    }
}

/* Hang a qnode whose cells are off their parents elsewhere, with all that is under it. */
/*@
  requires inv:        ForestInv && NumbersInv;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_used[qnode] && CellsOff(qnode);
  requires up:         up <= SL_QNODES_MAX && (up == 0 ? level == 0
                       : sl_qnode_used[up - 1] && level == sl_qnode_level[up - 1] + 1 && !Under(up - 1, qnode));
  requires fit:        LevelsFit(qnode, level);
  requires moves:      sl_qnode_children[qnode] != 0 ==> \forall integer i; 0 <= i < sl_qnode_limit ==>
                       (sl_scratch_moves[i] <==> Under(i, qnode));
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_level[0 .. SL_QNODES_MAX - 1], sl_qnode_children[0 .. SL_QNODES_MAX - 1],
                       sl_qnode_up[qnode], sl_heights_stale;
  ensures  forest:     QnodesLinked;
  ensures  counted:    ChildrenCounted;
  ensures  placed:     CellsPlaced;
  ensures  numbers:    NumbersInv;
  ensures  up:         sl_qnode_up[qnode] == up && sl_heights_stale;
*/
static void hang(sl_qnode_id qnode, uint32_t up, uint32_t level)
{
    relevel(qnode, level);
    /*@ assert together: \forall integer i; 0 <= i < SL_QNODES_MAX && i != qnode && sl_qnode_up[i] != 0 ==>
        (Under{Pre}(i, qnode) <==> Under{Pre}(sl_qnode_up[i] - 1, qnode)); */
    sl_tree_set_parent(qnode, up);
    //@ assert qnodes: QnodesLinked;
    //@ ghost lemma_cells_linked();
}

/* Find out everything before the first change; only cells without quota may have been opened by then. */
/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_used[qnode];
  requires up:         up <= SL_QNODES_MAX && (up != 0 ==> sl_qnode_used[up - 1]);
  requires level:      level == (up == 0 ? 0 : sl_qnode_level[up - 1] + 1);
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_scratch_path[0 .. SL_LEVELS_MAX - 1],
                       sl_scratch_target[0 .. SL_CELLS_MAX - 1], sl_scratch_moves[0 .. SL_QNODES_MAX - 1];
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  cycle:      \result == SL_REFUSED_CYCLE <==> up != 0 && Under(up - 1, qnode);
  ensures  fit:        \result == SL_OK ==> LevelsFit(qnode, level);
  ensures  deep:       \result == SL_REFUSED_TOO_DEEP ==> !LevelsFit{Pre}(qnode, level);
  ensures  moves:      \result == SL_OK && sl_qnode_children[qnode] != 0 ==>
                       \forall integer i; 0 <= i < sl_qnode_limit ==> (sl_scratch_moves[i] <==> Under(i, qnode));
  ensures  targets:    \result == SL_OK && up != 0 ==> TargetsFound(qnode, up - 1);
  ensures  result:     \result == SL_OK || \result == SL_REFUSED_CYCLE || \result == SL_REFUSED_TOO_DEEP ||
                       (\result == SL_FULL_CELLS && up != 0);
*/
static enum sl_status plan(sl_qnode_id qnode, uint32_t up, uint32_t level)
{
    if (up != 0 && is_under(up - 1, qnode)) {
        return SL_REFUSED_CYCLE;
    }
    if (!plan_move(qnode, level)) {
        return SL_REFUSED_TOO_DEEP;
    }
    if (up != 0 && !plan_targets(qnode, up - 1)) {
        return SL_FULL_CELLS;
    }
    return SL_OK;
}

/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0 && HeightsInv;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_used[qnode];
  requires up:         up <= SL_QNODES_MAX && (up != 0 ==> sl_qnode_used[up - 1]);
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_scratch_path[0 .. SL_LEVELS_MAX - 1],
                       sl_scratch_target[0 .. SL_CELLS_MAX - 1], sl_scratch_moves[0 .. SL_QNODES_MAX - 1],
                       sl_qnode_level[0 .. SL_QNODES_MAX - 1], sl_qnode_children[0 .. SL_QNODES_MAX - 1],
                       sl_qnode_up[qnode], sl_heights_stale;
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  up:         sl_qnode_up[qnode] == (\result == SL_OK ? up : \old(sl_qnode_up[qnode]));
  ensures  heights:    HeightsInv;
  ensures  cycle:      \result == SL_REFUSED_CYCLE <==> up != 0 && Under{Old}(up - 1, qnode);
  ensures  result:     \result == SL_OK || \result == SL_REFUSED_CYCLE || \result == SL_REFUSED_TOO_DEEP ||
                       (\result == SL_FULL_CELLS && up != 0);
*/
static enum sl_status move(sl_qnode_id qnode, uint32_t up)
{
    uint32_t level = up != 0 ? sl_qnode_level[up - 1] + 1 : 0;
    enum sl_status status = plan(qnode, up, level);
    if (status != SL_OK) {
        return status;
    }
    unlink_cells(qnode);
    hang(qnode, up, level);
    //@ assert hung: LedgerInvBut(qnode) && HeightsInv;
    if (up != 0) {
        link_cells(qnode);
    }
    return SL_OK;
}

enum sl_status sl_ledger_move_qnode(sl_qnode_id qnode, sl_qnode_id parent)
{
    enum sl_status status = sl_tree_check(qnode);
    if (status != SL_OK) {
        return status;
    }
    if (parent == SL_NO_ID) {
        return move(qnode, 0);
    }
    if (parent >= SL_QNODES_MAX || !sl_qnode_used[parent]) {
        return SL_REFUSED_NO_QNODE;
    }
    //@ ghost lemma_deeper(qnode);
    //@ assert apart: QnodeLinked(qnode) && (sl_qnode_up[qnode] == parent + 1 ==> !Under(parent, qnode));
    if (sl_qnode_up[qnode] == parent + 1) {
        return SL_OK;
    }
    return move(qnode, parent + 1);
}
