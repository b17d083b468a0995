/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Offers: per queue a singly linked list of cells. A link is an id plus one; 0 says "none". */
#include "policy/requests/offers.h"

#include "kernel/ledger/ledger.h"

static struct sl_rules queue_rules[SL_QNODES_MAX];
static bool rules_set[SL_QNODES_MAX];
static uint32_t offer_first[SL_QNODES_MAX];
static uint32_t offer_last[SL_QNODES_MAX];

static uint32_t offer_owner[SL_CELLS_MAX]; /* link to the queue that offers the cell */
static uint32_t offer_next[SL_CELLS_MAX];
static uint32_t offer_group[SL_CELLS_MAX];
static bool offer_delayed[SL_CELLS_MAX];

/* The offers of each flavor, linked both ways. */
static uint32_t flavor_first[SL_USED_FLAVORS_MAX];
static uint32_t flavor_next[SL_CELLS_MAX];
static uint32_t flavor_before[SL_CELLS_MAX];
static uint32_t flavor_link[SL_CELLS_MAX]; /* link to the flavor in whose list the cell is */

static uint32_t pods_link; /* link to the resource that counts pods */
static uint64_t resource_order[SL_RESOURCES_MAX];
static uint32_t measure_link[SL_RESOURCES_MAX]; /* link to the resource's measure */

/* clang-format off */
#define OFFERS                                                                                     \
    offer_first[0 .. SL_QNODES_MAX - 1], offer_last[0 .. SL_QNODES_MAX - 1],                         \
        offer_owner[0 .. SL_CELLS_MAX - 1], offer_next[0 .. SL_CELLS_MAX - 1],                     \
        offer_group[0 .. SL_CELLS_MAX - 1], offer_delayed[0 .. SL_CELLS_MAX - 1], FLAVORS
#define FLAVORS                                                                                    \
    flavor_first[0 .. SL_USED_FLAVORS_MAX - 1], flavor_next[0 .. SL_CELLS_MAX - 1],                \
        flavor_before[0 .. SL_CELLS_MAX - 1], flavor_link[0 .. SL_CELLS_MAX - 1]
/* clang-format on */

/*@
  // Every link is none or names a cell, so that following it is safe.
  predicate OfferLinks{L} =
    (\forall integer n; 0 <= n < SL_QNODES_MAX ==>
       offer_first[n] <= SL_CELLS_MAX && offer_last[n] <= SL_CELLS_MAX) &&
    (\forall integer c; 0 <= c < SL_CELLS_MAX ==>
       offer_next[c] <= SL_CELLS_MAX && offer_group[c] < SL_GROUPS_MAX &&
       flavor_next[c] <= SL_CELLS_MAX && flavor_before[c] <= SL_CELLS_MAX &&
       flavor_link[c] <= SL_USED_FLAVORS_MAX) &&
    (\forall integer f; 0 <= f < SL_USED_FLAVORS_MAX ==> flavor_first[f] <= SL_CELLS_MAX);
*/

/* --- by flavor ------------------------------------------------------------------------------- */

/*@ requires links: OfferLinks && cell < SL_CELLS_MAX; terminates \true; exits \false;
    assigns FLAVORS; ensures links: OfferLinks; */
static void join_flavor(sl_cell_id cell)
{
    sl_flavor_id flavor = sl_ledger_flavor_of(cell);
    if (flavor >= SL_USED_FLAVORS_MAX) {
        return;
    }
    uint32_t next = flavor_first[flavor];
    flavor_next[cell] = next;
    flavor_before[cell] = 0;
    flavor_link[cell] = flavor + 1;
    if (next != 0) {
        flavor_before[next - 1] = cell + 1;
    }
    flavor_first[flavor] = cell + 1;
}

/*@ requires links: OfferLinks && cell < SL_CELLS_MAX; terminates \true; exits \false;
    assigns FLAVORS; ensures links: OfferLinks; */
static void leave_flavor(sl_cell_id cell)
{
    if (flavor_link[cell] == 0) {
        return;
    }
    uint32_t next = flavor_next[cell];
    uint32_t before = flavor_before[cell];
    if (next != 0) {
        flavor_before[next - 1] = before;
    }
    if (before != 0) {
        flavor_next[before - 1] = next;
    } else {
        flavor_first[flavor_link[cell] - 1] = next;
    }
    flavor_next[cell] = 0;
    flavor_before[cell] = 0;
    flavor_link[cell] = 0;
}

/*@ requires links: OfferLinks; terminates \true; exits \false; assigns \nothing; */
sl_cell_id sl_offers_first_of(sl_flavor_id flavor)
{
    return flavor < SL_USED_FLAVORS_MAX && flavor_first[flavor] != 0 ? flavor_first[flavor] - 1
                                                                     : SL_NO_ID;
}

/*@ requires links: OfferLinks; terminates \true; exits \false; assigns \nothing; */
sl_cell_id sl_offers_next_of(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX && flavor_next[cell] != 0 ? flavor_next[cell] - 1 : SL_NO_ID;
}

/* --- by queue -------------------------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns queue_rules[qnode], rules_set[qnode]; */
enum sl_status sl_offers_set_rules(sl_qnode_id qnode, struct sl_rules rules)
{
    if (qnode >= SL_QNODES_MAX) {
        return SL_REFUSED_NO_QNODE;
    }
    queue_rules[qnode] = rules;
    rules_set[qnode] = true;
    return SL_OK;
}

struct sl_rules sl_offers_rules(sl_qnode_id qnode)
{
    struct sl_rules unset = {SL_BEST_EFFORT_FIFO, SL_MAY_STOP_SEARCH, SL_TRY_NEXT_FLAVOR,
                             SL_BORROWING_OVER_PREEMPTION, false};
    return qnode < SL_QNODES_MAX && rules_set[qnode] ? queue_rules[qnode] : unset;
}

/*@
  requires links: OfferLinks;
  terminates \true; exits \false;
  assigns OFFERS;
  ensures links: OfferLinks;
*/
void sl_offers_clear(sl_qnode_id qnode)
{
    if (qnode >= SL_QNODES_MAX) {
        return;
    }
    uint32_t link = offer_first[qnode];
    /*@
      loop invariant links: OfferLinks && link <= SL_CELLS_MAX;
      loop assigns steps, link, FLAVORS, offer_owner[0 .. SL_CELLS_MAX - 1],
                   offer_next[0 .. SL_CELLS_MAX - 1];
      loop variant SL_CELLS_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_CELLS_MAX; steps++) {
        uint32_t next = offer_next[link - 1];
        leave_flavor(link - 1);
        offer_owner[link - 1] = 0;
        offer_next[link - 1] = 0;
        link = next;
    }
    offer_first[qnode] = 0;
    offer_last[qnode] = 0;
}

/*@
  requires links: OfferLinks;
  terminates \true; exits \false;
  assigns OFFERS;
  ensures links: OfferLinks;
*/
enum sl_status sl_offers_add(sl_qnode_id qnode, uint32_t group, sl_cell_id cell)
{
    if (qnode >= SL_QNODES_MAX) {
        return SL_REFUSED_NO_QNODE;
    }
    if (cell >= SL_CELLS_MAX || sl_ledger_qnode_of(cell) != qnode) {
        return SL_REFUSED_PLAN_USAGE;
    }
    if (group >= SL_GROUPS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (offer_owner[cell] != 0) {
        return SL_REFUSED_IN_USE;
    }
    offer_owner[cell] = qnode + 1;
    offer_group[cell] = group;
    offer_delayed[cell] = false;
    join_flavor(cell);
    if (offer_last[qnode] == 0) {
        offer_first[qnode] = cell + 1;
    } else {
        offer_next[offer_last[qnode] - 1] = cell + 1;
    }
    offer_last[qnode] = cell + 1;
    return SL_OK;
}

/*@ requires links: OfferLinks; terminates \true; exits \false; assigns \nothing; */
sl_cell_id sl_offers_first(sl_qnode_id qnode)
{
    return qnode < SL_QNODES_MAX && offer_first[qnode] != 0 ? offer_first[qnode] - 1 : SL_NO_ID;
}

/*@ requires links: OfferLinks; terminates \true; exits \false; assigns \nothing; */
sl_cell_id sl_offers_next(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX && offer_next[cell] != 0 ? offer_next[cell] - 1 : SL_NO_ID;
}

/*@ requires links: OfferLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_offers_group_of(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX && offer_owner[cell] != 0 ? offer_group[cell] : SL_NO_ID;
}

/*@ terminates \true; exits \false; assigns offer_delayed[cell]; */
void sl_offers_set_delayed(sl_cell_id cell, bool delayed)
{
    if (cell < SL_CELLS_MAX && offer_owner[cell] != 0) {
        offer_delayed[cell] = delayed;
    }
}

bool sl_offers_is_delayed(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX && offer_owner[cell] != 0 && offer_delayed[cell];
}

/*@ terminates \true; exits \false; assigns pods_link; */
void sl_offers_set_pods_resource(sl_resource_id resource)
{
    pods_link = resource == SL_NO_ID ? 0 : resource + 1;
}

sl_resource_id sl_offers_pods_resource(void)
{
    return pods_link != 0 ? pods_link - 1 : SL_NO_ID;
}

/*@ terminates \true; exits \false; assigns resource_order[resource]; */
void sl_offers_set_order(sl_resource_id resource, uint64_t key)
{
    if (resource < SL_RESOURCES_MAX) {
        resource_order[resource] = key;
    }
}

uint64_t sl_offers_order(sl_resource_id resource)
{
    return resource < SL_RESOURCES_MAX ? resource_order[resource] : 0;
}

/*@ terminates \true; exits \false; assigns measure_link[resource]; */
void sl_offers_set_measure(sl_resource_id resource, uint32_t measure)
{
    if (resource < SL_RESOURCES_MAX) {
        measure_link[resource] = measure == SL_NO_ID ? 0 : measure + 1;
    }
}

uint32_t sl_offers_measure(sl_resource_id resource)
{
    return resource < SL_RESOURCES_MAX && measure_link[resource] != 0 ? measure_link[resource] - 1
                                                                      : SL_NO_ID;
}

/* A cell has one successor and one owner, so a list that stays with its owner for no more steps
 * than there are cells, and ends at its last, holds none twice. */
/*@
  requires links: OfferLinks && qnode < SL_QNODES_MAX;
  terminates \true; exits \false; assigns \nothing;
*/
static bool list_valid(sl_qnode_id qnode)
{
    uint32_t last = 0;
    uint32_t steps = 0;
    /*@
      loop invariant link: link <= SL_CELLS_MAX && steps <= SL_CELLS_MAX;
      loop assigns link, steps, last;
      loop variant SL_CELLS_MAX - steps;
    */
    for (uint32_t link = offer_first[qnode]; link != 0; link = offer_next[link - 1]) {
        if (offer_owner[link - 1] != qnode + 1 || sl_ledger_qnode_of(link - 1) != qnode ||
            steps == SL_CELLS_MAX) {
            return false;
        }
        steps++;
        last = link;
    }
    return last == offer_last[qnode];
}

/*@ requires links: OfferLinks; terminates \true; exits \false; assigns \nothing; */
bool sl_offers_valid(void)
{
    /*@ loop assigns qnode; loop variant SL_QNODES_MAX - qnode; */
    for (sl_qnode_id qnode = 0; qnode < SL_QNODES_MAX; qnode++) {
        if (offer_first[qnode] != 0 && !list_valid(qnode)) {
            return false;
        }
    }
    return true;
}
