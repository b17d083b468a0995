/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which queues' heads take part in the cycle: those that are ready, and whoever counts on what they
 * could be given. Owns the list. */
#include "policy/cycle/cycle_steps.h"

#include "kernel/ledger/ledger.h"
#include "policy/queues/heads.h"
#include "policy/topology/trees.h"
#include "policy/queues/turns.h"

static sl_qnode_id chosen[SL_QNODES_MAX];
static uint32_t chosen_count;
static bool is_chosen[SL_QNODES_MAX];
static bool is_along[SL_QNODES_MAX]; /* its head was held, and takes part because of others */

/* clang-format off */
#define CHOSEN                                                                                     \
    chosen[0 .. SL_QNODES_MAX - 1], chosen_count, is_chosen[0 .. SL_QNODES_MAX - 1],                 \
        is_along[0 .. SL_QNODES_MAX - 1]
/* clang-format on */

/*@
  // The list is within its array, and of qnodes.
  predicate ChosenListed{L} = chosen_count <= SL_QNODES_MAX &&
    \forall integer i; 0 <= i < SL_QNODES_MAX ==> chosen[i] < SL_QNODES_MAX;
*/

/*@ requires listed: ChosenListed; terminates \true; exits \false;
    assigns chosen_count, is_chosen[0 .. SL_QNODES_MAX - 1]; ensures listed: ChosenListed; */
static void forget(void)
{
    /*@ loop invariant listed: ChosenListed;
        loop assigns chosen_count, is_chosen[0 .. SL_QNODES_MAX - 1]; loop variant chosen_count; */
    while (chosen_count != 0) {
        chosen_count--;
        is_chosen[chosen[chosen_count]] = false;
    }
}

/*@ requires listed: ChosenListed; terminates \true; exits \false; assigns CHOSEN;
    ensures listed: ChosenListed; */
static void choose(sl_qnode_id queue, bool along)
{
    if (queue < SL_QNODES_MAX && !is_chosen[queue] && chosen_count < SL_QNODES_MAX) {
        is_chosen[queue] = true;
        is_along[queue] = along;
        chosen[chosen_count] = queue;
        chosen_count++;
    }
}

/* The held heads of this queue's tree take part; where one does already, all do. */
/*@ requires listed: ChosenListed && QnodesLinked; terminates \true; exits \false; assigns CHOSEN;
    ensures listed: ChosenListed; */
static void choose_held(sl_qnode_id of)
{
    sl_qnode_id queue = sl_turns_first_held(sl_ledger_root_qnode(of));
    /*@ loop invariant listed: ChosenListed && (queue < SL_QNODES_MAX || queue == SL_NO_ID);
        loop assigns steps, queue, CHOSEN; loop variant SL_QNODES_MAX - steps; */
    for (uint32_t steps = 0; queue != SL_NO_ID && !is_chosen[queue] && steps < SL_QNODES_MAX;
         steps++) {
        choose(queue, true);
        queue = sl_turns_next_held(queue);
    }
}

/* And the held heads of every tree that a ready queue belongs to. */
/*@ requires listed: ChosenListed && QnodesLinked; terminates \true; exits \false; assigns CHOSEN;
    ensures listed: ChosenListed; */
static void choose_ready(void)
{
    sl_qnode_id queue = sl_turns_first_ready();
    /*@ loop invariant listed: ChosenListed;
        loop assigns steps, queue, CHOSEN; loop variant SL_QNODES_MAX - steps; */
    for (uint32_t steps = 0; queue != SL_NO_ID && steps < SL_QNODES_MAX; steps++) {
        choose(queue, false);
        queue = sl_turns_next_ready(queue);
    }
    uint32_t ready_count = chosen_count;
    /*@ loop invariant listed: ChosenListed; loop assigns i, CHOSEN;
        loop variant ready_count - i; */
    for (uint32_t i = 0; i < ready_count; i++) {
        choose_held(chosen[i]);
    }
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool offers_topology(sl_qnode_id queue)
{
    bool found = false;
    sl_cell_id cell = sl_offers_first(queue);
    /*@ loop assigns steps, cell, found; loop variant SL_CELLS_MAX - steps; */
    for (uint32_t steps = 0; cell != SL_NO_ID && !found && steps < SL_CELLS_MAX; steps++) {
        found = sl_trees_asked(sl_ledger_flavor_of(cell));
        cell = sl_offers_next(cell);
    }
    return found;
}

/* Whoever could take the capacities that a held head counts on meets it. */
/*@ requires listed: ChosenListed; terminates \true; exits \false; assigns CHOSEN;
    ensures listed: ChosenListed; */
static void choose_waiters(void)
{
    uint32_t count = sl_cycle_waiter_count();
    bool needed = false;
    /*@ loop assigns i, needed; loop variant chosen_count - i; */
    for (uint32_t i = 0; i < chosen_count && count != 0 && !needed; i++) {
        needed = offers_topology(chosen[i]);
    }
    /*@ loop invariant listed: ChosenListed; loop assigns i, CHOSEN; loop variant count - i; */
    for (uint32_t i = 0; i < count && needed; i++) {
        sl_qnode_id queue = sl_cycle_waiter_at(i);
        if (sl_turns_is_active(queue)) {
            choose(queue, true);
        }
    }
}

/*@ requires listed: ChosenListed; requires qnodes: QnodesLinked; terminates \true; exits \false;
    assigns CHOSEN; ensures listed: ChosenListed; */
uint32_t sl_cycle_choose(void)
{
    forget();
    choose_ready();
    choose_waiters();
    return chosen_count;
}

/*@ requires listed: ChosenListed; terminates \true; exits \false; assigns CHOSEN;
    ensures listed: ChosenListed; */
uint32_t sl_cycle_choose_all(void)
{
    forget();
    uint32_t limit = sl_turns_queue_limit();
    /*@ loop invariant listed: ChosenListed; loop assigns queue, CHOSEN;
        loop variant limit - queue; */
    for (sl_qnode_id queue = 0; queue < limit; queue++) {
        if (sl_turns_is_active(queue) && sl_heads_first(queue) != SL_NO_ID) {
            choose(queue, false);
        }
    }
    return chosen_count;
}

/*@ requires listed: ChosenListed; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_cycle_chosen(uint32_t index)
{
    return index < chosen_count ? chosen[index] : SL_NO_ID;
}

bool sl_cycle_is_along(sl_qnode_id queue)
{
    return queue < SL_QNODES_MAX && is_along[queue];
}
