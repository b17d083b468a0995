/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Fronts: per queue a list of the accounts that ever had somebody in line there. An account moves
 * to another queue's list when somebody of it gets in line there. Links are ids plus one. */
#include "policy/queues/fronts.h"

#include "kernel/base/order.h"
#include "policy/requests/offers.h"

static uint32_t first_account[SL_QNODES_MAX];
static uint32_t next_account[SL_ACCOUNTS_MAX];
static uint32_t listed_at[SL_ACCOUNTS_MAX];

/* clang-format off */
#define FRONTS                                                                                     \
    first_account[0 .. SL_QNODES_MAX - 1], next_account[0 .. SL_ACCOUNTS_MAX - 1],                  \
        listed_at[0 .. SL_ACCOUNTS_MAX - 1]
/* clang-format on */

/*@
  // Every link is none or names what exists, so that following it is safe.
  predicate FrontLinks{L} =
    (\forall integer q; 0 <= q < SL_QNODES_MAX ==> first_account[q] <= SL_ACCOUNTS_MAX) &&
    (\forall integer a; 0 <= a < SL_ACCOUNTS_MAX ==>
       next_account[a] <= SL_ACCOUNTS_MAX && listed_at[a] <= SL_QNODES_MAX);
*/

sl_account_id sl_fronts_account(sl_qnode_id queue, sl_workload_id id)
{
    return sl_offers_rules(queue).by_usage ? sl_usage_account_of(id) : SL_NO_ID;
}

/*@ requires links: FrontLinks && account < SL_ACCOUNTS_MAX && listed_at[account] != 0;
    terminates \true; exits \false; assigns FRONTS; ensures links: FrontLinks; */
static void unlist(sl_account_id account)
{
    sl_qnode_id queue = listed_at[account] - 1;
    uint32_t link = first_account[queue];
    if (link == account + 1) {
        first_account[queue] = next_account[account];
        return;
    }
    /*@
      loop invariant link: link <= SL_ACCOUNTS_MAX;
      loop assigns steps, link;
      loop variant SL_ACCOUNTS_MAX - steps;
    */
    for (uint32_t steps = 0;
         link != 0 && next_account[link - 1] != account + 1 && steps < SL_ACCOUNTS_MAX; steps++) {
        link = next_account[link - 1];
    }
    if (link != 0) {
        next_account[link - 1] = next_account[account];
    }
}

/*@ requires links: FrontLinks && queue < SL_QNODES_MAX && account < SL_ACCOUNTS_MAX;
    terminates \true; exits \false; assigns FRONTS; ensures links: FrontLinks; */
static void enlist(sl_qnode_id queue, sl_account_id account)
{
    if (listed_at[account] == queue + 1) {
        return;
    }
    if (listed_at[account] != 0) {
        unlist(account);
    }
    listed_at[account] = queue + 1;
    next_account[account] = first_account[queue];
    first_account[queue] = account + 1;
}

/*@ requires links: FrontLinks; terminates \true; exits \false; assigns sl_hidden, FRONTS;
    ensures links: FrontLinks; */
void sl_fronts_push(sl_qnode_id queue, sl_workload_id id)
{
    if (queue >= SL_QNODES_MAX) {
        return;
    }
    sl_account_id account = sl_fronts_account(queue, id);
    if (account == SL_NO_ID) {
        sl_heap_push(SL_HEAP_OF_QUEUE(queue), id);
        return;
    }
    enlist(queue, account);
    sl_heap_push(SL_HEAP_OF_ACCOUNT(account), id);
}

/*@ requires links: FrontLinks; terminates \true; exits \false; assigns \nothing; */
sl_heap_id sl_fronts_next_heap(sl_qnode_id queue, sl_heap_id heap)
{
    uint32_t link = 0;
    if (queue < SL_QNODES_MAX && heap == SL_HEAP_OF_QUEUE(queue)) {
        link = first_account[queue];
    } else if (heap >= SL_HEAP_OF_ACCOUNT(0) && heap < SL_HEAP_OF_LANE(0)) {
        link = next_account[heap - SL_HEAP_OF_ACCOUNT(0)];
    }
    return link != 0 ? SL_HEAP_OF_ACCOUNT(link - 1) : SL_NO_ID;
}

/* Is a, at the front of its heap, to be tried before b? Whoever has used less goes first. */
/*@ terminates \true; exits \false; assigns \nothing; */
static bool goes_first(sl_workload_id a, sl_workload_id b, sl_workload_id sticky)
{
    int usage = sl_usage_compare(sl_usage_account_of(a), sl_usage_account_of(b));
    if (usage != 0) {
        return usage < 0;
    }
    return a == sticky || (b != sticky && sl_order_before(a, b));
}

/*@ requires links: FrontLinks; terminates \true; exits \false; assigns \nothing; */
sl_workload_id sl_fronts_first(sl_qnode_id queue, sl_workload_id sticky)
{
    sl_workload_id best = SL_NO_ID;
    if (queue >= SL_QNODES_MAX) {
        return best;
    }
    sl_heap_id sticky_heap = sl_heap_of(sticky);
    sl_heap_id heap = SL_HEAP_OF_QUEUE(queue);
    /*@
      loop invariant best: best < SL_WORKLOADS_MAX || best == SL_NO_ID;
      loop assigns steps, heap, best;
      loop variant SL_ACCOUNTS_MAX + 1 - steps;
    */
    for (uint32_t steps = 0; heap != SL_NO_ID && steps <= SL_ACCOUNTS_MAX; steps++) {
        sl_workload_id first = heap == sticky_heap ? sticky : sl_heap_first(heap);
        if (first != SL_NO_ID && (best == SL_NO_ID || goes_first(first, best, sticky))) {
            best = first;
        }
        heap = sl_fronts_next_heap(queue, heap);
    }
    return best;
}

/*@ requires links: FrontLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_fronts_count(sl_qnode_id queue)
{
    uint32_t count = 0;
    if (queue >= SL_QNODES_MAX) {
        return count;
    }
    sl_heap_id heap = SL_HEAP_OF_QUEUE(queue);
    /*@ loop assigns steps, heap, count; loop variant SL_ACCOUNTS_MAX + 1 - steps; */
    for (uint32_t steps = 0; heap != SL_NO_ID && steps <= SL_ACCOUNTS_MAX; steps++) {
        count += sl_heap_count(heap);
        heap = sl_fronts_next_heap(queue, heap);
    }
    return count;
}

bool sl_fronts_stands(sl_qnode_id queue, sl_workload_id id)
{
    sl_heap_id heap = sl_heap_of(id);
    if (queue >= SL_QNODES_MAX || heap == SL_NO_ID) {
        return false;
    }
    if (heap >= SL_HEAP_OF_ACCOUNT(0) && heap < SL_HEAP_OF_LANE(0)) {
        return listed_at[heap - SL_HEAP_OF_ACCOUNT(0)] == queue + 1;
    }
    return heap == SL_HEAP_OF_QUEUE(queue);
}
