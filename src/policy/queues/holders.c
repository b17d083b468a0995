/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Holders: a doubly linked list per ClusterQueue, the newest first. Links are ids plus one, so
 * memory that was never touched says "none". */
#include "policy/queues/holders.h"

static uint32_t first_link[SL_QNODES_MAX];
static uint32_t counts[SL_QNODES_MAX];
static uint32_t owner_link[SL_WORKLOADS_MAX]; /* the queue in whose list it is */
static uint32_t next_link[SL_WORKLOADS_MAX];
static uint32_t prev_link[SL_WORKLOADS_MAX];
static uint64_t change_number;

/* clang-format off */
#define HOLDERS                                                                                    \
    first_link[0 .. SL_QNODES_MAX - 1], counts[0 .. SL_QNODES_MAX - 1],                              \
        owner_link[0 .. SL_WORKLOADS_MAX - 1], next_link[0 .. SL_WORKLOADS_MAX - 1],               \
        prev_link[0 .. SL_WORKLOADS_MAX - 1], change_number
/* clang-format on */

/*@
  // Every link is none or names what exists, so that following it is safe.
  predicate HolderLinks{L} =
    (\forall integer q; 0 <= q < SL_QNODES_MAX ==> first_link[q] <= SL_WORKLOADS_MAX) &&
    (\forall integer w; 0 <= w < SL_WORKLOADS_MAX ==> owner_link[w] <= SL_QNODES_MAX &&
       next_link[w] <= SL_WORKLOADS_MAX && prev_link[w] <= SL_WORKLOADS_MAX);
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
  requires links: HolderLinks;
  terminates \true; exits \false;
  assigns HOLDERS;
  ensures links: HolderLinks;
*/
void sl_holders_add(sl_qnode_id queue, sl_workload_id id)
{
    if (queue >= SL_QNODES_MAX || id >= SL_WORKLOADS_MAX || owner_link[id] == queue + 1) {
        return;
    }
    sl_holders_remove(id);
    owner_link[id] = queue + 1;
    next_link[id] = first_link[queue];
    prev_link[id] = 0;
    if (first_link[queue] != 0) {
        prev_link[first_link[queue] - 1] = id + 1;
    }
    first_link[queue] = id + 1;
    counts[queue]++;
    change_number++;
}

/*@
  requires links: HolderLinks;
  terminates \true; exits \false;
  assigns HOLDERS;
  ensures links: HolderLinks;
*/
void sl_holders_remove(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX || owner_link[id] == 0) {
        return;
    }
    sl_qnode_id queue = owner_link[id] - 1;
    if (prev_link[id] != 0) {
        next_link[prev_link[id] - 1] = next_link[id];
    } else {
        first_link[queue] = next_link[id];
    }
    if (next_link[id] != 0) {
        prev_link[next_link[id] - 1] = prev_link[id];
    }
    owner_link[id] = 0;
    next_link[id] = 0;
    prev_link[id] = 0;
    counts[queue]--;
    change_number++;
}

uint64_t sl_holders_change_number(void)
{
    return change_number;
}

/*@ requires links: HolderLinks; terminates \true; exits \false; assigns \nothing; */
sl_workload_id sl_holders_first(sl_qnode_id queue)
{
    return queue < SL_QNODES_MAX ? id_of(first_link[queue]) : SL_NO_ID;
}

/*@ requires links: HolderLinks; terminates \true; exits \false; assigns \nothing; */
sl_workload_id sl_holders_next(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? id_of(next_link[id]) : SL_NO_ID;
}

/*@ requires links: HolderLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_holders_queue_of(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? id_of(owner_link[id]) : SL_NO_ID;
}

uint32_t sl_holders_count(sl_qnode_id queue)
{
    return queue < SL_QNODES_MAX ? counts[queue] : 0;
}

/*@
  requires links: HolderLinks && queue < SL_QNODES_MAX;
  terminates \true; exits \false; assigns \nothing;
*/
static bool list_valid(sl_qnode_id queue)
{
    uint32_t steps = 0;
    uint32_t before = 0;
    /*@
      loop invariant link: link <= SL_WORKLOADS_MAX && steps <= counts[queue];
      loop assigns steps, before, link;
      loop variant counts[queue] - steps;
    */
    for (uint32_t link = first_link[queue]; link != 0; link = next_link[link - 1]) {
        if (steps == counts[queue] || owner_link[link - 1] != queue + 1 ||
            prev_link[link - 1] != before) {
            return false;
        }
        steps++;
        before = link;
    }
    return steps == counts[queue];
}

/*@ requires links: HolderLinks; terminates \true; exits \false; assigns \nothing; */
bool sl_holders_valid(void)
{
    /*@ loop assigns queue; loop variant SL_QNODES_MAX - queue; */
    for (sl_qnode_id queue = 0; queue < SL_QNODES_MAX; queue++) {
        if (!list_valid(queue)) {
            return false;
        }
    }
    return true;
}
