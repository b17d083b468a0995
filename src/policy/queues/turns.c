/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Turns: three kinds of doubly linked lists of queues. There is one list of ready queues; those of
 * held and of waiting ones are one per root. Links are ids plus one. (Marks: turns_wake.c.) */
#include "policy/queues/turns.h"

#include "kernel/ledger/ledger.h"
#include "policy/queues/fronts.h"
#include "policy/queues/heads.h"
#include "policy/queues/heap.h"
#include "policy/queues/lanes.h"

enum list { READY, HELD, WAITING, LISTS };

static bool active_queues[SL_QNODES_MAX];
static uint32_t blocked_head[SL_QNODES_MAX];
static bool block_is_hold[SL_QNODES_MAX];
static uint32_t queue_limit; /* no queue from here on was ever refreshed */
static uint32_t root_limit;  /* no root from here on ever had a list */

static uint32_t list_first[LISTS][SL_QNODES_MAX]; /* by root; READY has one only, at 0 */
static uint32_t list_next[LISTS][SL_QNODES_MAX];
static uint32_t list_prev[LISTS][SL_QNODES_MAX];
static uint32_t listed_at[LISTS][SL_QNODES_MAX]; /* link to the root in whose list it is */

/* clang-format off */
#define LINKS                                                                                      \
    list_first[0 .. LISTS - 1][0 .. SL_QNODES_MAX - 1],                                             \
        list_next[0 .. LISTS - 1][0 .. SL_QNODES_MAX - 1],                                          \
        list_prev[0 .. LISTS - 1][0 .. SL_QNODES_MAX - 1],                                          \
        listed_at[0 .. LISTS - 1][0 .. SL_QNODES_MAX - 1]
#define TURNS                                                                                      \
    LINKS, queue_limit, root_limit, blocked_head[0 .. SL_QNODES_MAX - 1],                           \
        block_is_hold[0 .. SL_QNODES_MAX - 1]
/* clang-format on */

/*@
  // Every link is none or names a qnode, so that following it is safe.
  predicate TurnLinks{L} = queue_limit <= SL_QNODES_MAX && root_limit <= SL_QNODES_MAX &&
    \forall integer l, i; 0 <= l < LISTS && 0 <= i < SL_QNODES_MAX ==>
      list_first[l][i] <= SL_QNODES_MAX && list_next[l][i] <= SL_QNODES_MAX &&
      list_prev[l][i] <= SL_QNODES_MAX && listed_at[l][i] <= SL_QNODES_MAX;
*/

/* --- which lists ----------------------------------------------------------------------------- */

/*@ requires queue: queue < SL_QNODES_MAX; terminates \true; exits \false; assigns \nothing; */
static bool head_blocked(sl_qnode_id queue)
{
    return blocked_head[queue] != 0 && sl_heads_first(queue) == blocked_head[queue] - 1;
}

/*@ requires queue: queue < SL_QNODES_MAX; terminates \true; exits \false; assigns \nothing; */
static bool belongs_on(enum list list, sl_qnode_id queue)
{
    bool blocked = head_blocked(queue);
    if (list == READY) {
        return active_queues[queue] && !blocked && sl_heads_first(queue) != SL_NO_ID;
    }
    if (list == HELD) {
        return active_queues[queue] && blocked && block_is_hold[queue];
    }
    return blocked || sl_lanes_first(queue, true) != SL_NO_ID ||
           sl_heap_count(SL_HEAP_OF_ALONE(queue)) != 0;
}

/* A queue that is no qnode of the forest (any more) stands for itself. */
/*@ requires qnodes: QnodesLinked && queue < SL_QNODES_MAX; terminates \true; exits \false;
    assigns \nothing; ensures known: \result < SL_QNODES_MAX; */
static sl_qnode_id root_of(sl_qnode_id queue)
{
    sl_qnode_id root = sl_ledger_root_qnode(queue);
    return root < SL_QNODES_MAX ? root : queue;
}

/*@ requires links: TurnLinks && QnodesLinked && list < LISTS && queue < SL_QNODES_MAX;
    terminates \true; exits \false; assigns LINKS, root_limit; ensures links: TurnLinks; */
static void join(enum list list, sl_qnode_id queue)
{
    sl_qnode_id root = list == READY ? 0 : root_of(queue);
    uint32_t first = list_first[list][root];
    if (root >= root_limit) {
        root_limit = root + 1;
    }
    listed_at[list][queue] = root + 1;
    list_prev[list][queue] = 0;
    list_next[list][queue] = first;
    if (first != 0) {
        list_prev[list][first - 1] = queue + 1;
    }
    list_first[list][root] = queue + 1;
}

/*@ requires links: TurnLinks && list < LISTS && queue < SL_QNODES_MAX &&
      listed_at[list][queue] != 0; terminates \true; exits \false; assigns LINKS;
    ensures links: TurnLinks; */
static void leave(enum list list, sl_qnode_id queue)
{
    uint32_t next = list_next[list][queue];
    uint32_t prev = list_prev[list][queue];
    if (prev != 0) {
        list_next[list][prev - 1] = next;
    } else {
        list_first[list][listed_at[list][queue] - 1] = next;
    }
    if (next != 0) {
        list_prev[list][next - 1] = prev;
    }
    listed_at[list][queue] = 0;
    list_next[list][queue] = 0;
    list_prev[list][queue] = 0;
}

/*@ requires links: TurnLinks && QnodesLinked && queue < SL_QNODES_MAX; terminates \true;
    exits \false; assigns TURNS; ensures links: TurnLinks; */
static void update(sl_qnode_id queue)
{
    uint32_t blocked = blocked_head[queue];
    if (queue >= queue_limit) {
        queue_limit = queue + 1;
    }
    if (blocked != 0 && !sl_fronts_stands(queue, blocked - 1)) {
        blocked_head[queue] = 0; /* it has left, and may come back as another */
    }
    /*@
      loop invariant links: TurnLinks && list <= LISTS;
      loop assigns list, LINKS, root_limit;
      loop variant LISTS - list;
    */
    for (enum list list = READY; list < LISTS; list++) {
        bool listed = listed_at[list][queue] != 0;
        bool belongs = belongs_on(list, queue);
        if (belongs && !listed) {
            join(list, queue);
        } else if (!belongs && listed) {
            leave(list, queue);
        }
    }
}

/*@ requires links: TurnLinks; requires qnodes: QnodesLinked; terminates \true; exits \false;
    assigns sl_hidden, TURNS; ensures links: TurnLinks; */
void sl_turns_refresh(sl_qnode_id queue)
{
    if (queue >= SL_QNODES_MAX) {
        return;
    }
    uint32_t held_at = listed_at[HELD][queue];
    update(queue);
    if (held_at != 0 && listed_at[HELD][queue] == 0) {
        sl_turns_rouse(held_at - 1);
        sl_turns_owe_tree(queue, true);
    }
}

/*@ requires links: TurnLinks; requires qnodes: QnodesLinked; terminates \true; exits \false;
    assigns sl_hidden, TURNS, active_queues[queue]; ensures links: TurnLinks; */
void sl_turns_set_active(sl_qnode_id queue, bool active)
{
    if (queue < SL_QNODES_MAX) {
        active_queues[queue] = active;
        sl_turns_refresh(queue);
    }
}

bool sl_turns_is_active(sl_qnode_id queue)
{
    return queue < SL_QNODES_MAX && active_queues[queue];
}

/*@ requires links: TurnLinks && QnodesLinked; terminates \true; exits \false;
    assigns TURNS; ensures links: TurnLinks; */
static void set_block(sl_qnode_id queue, sl_workload_id head, bool hold)
{
    if (queue < SL_QNODES_MAX && head < SL_WORKLOADS_MAX) {
        blocked_head[queue] = head + 1;
        block_is_hold[queue] = hold;
        update(queue);
    }
}

/*@ requires links: TurnLinks; requires qnodes: QnodesLinked; terminates \true; exits \false;
    assigns TURNS; ensures links: TurnLinks; */
void sl_turns_block(sl_qnode_id queue, sl_workload_id head)
{
    set_block(queue, head, false);
}

/*@ requires links: TurnLinks; requires qnodes: QnodesLinked; terminates \true; exits \false;
    assigns TURNS; ensures links: TurnLinks; */
void sl_turns_hold(sl_qnode_id queue, sl_workload_id head)
{
    set_block(queue, head, true);
}

/*@ requires links: TurnLinks; requires qnodes: QnodesLinked; terminates \true; exits \false;
    assigns TURNS; ensures links: TurnLinks; */
void sl_turns_unblock(sl_qnode_id queue)
{
    if (queue < SL_QNODES_MAX) {
        blocked_head[queue] = 0;
        update(queue);
    }
}

bool sl_turns_is_held(sl_qnode_id queue)
{
    return queue < SL_QNODES_MAX && listed_at[HELD][queue] != 0;
}

/*@ requires links: TurnLinks; requires qnodes: QnodesLinked; terminates \true; exits \false;
    assigns sl_hidden, TURNS; ensures links: TurnLinks; */
void sl_turns_rouse(sl_qnode_id root)
{
    /*@
      loop invariant links: TurnLinks;
      loop assigns steps, sl_hidden, TURNS;
      loop variant SL_QNODES_MAX - steps;
    */
    for (uint32_t steps = 0;
         root < SL_QNODES_MAX && list_first[HELD][root] != 0 && steps < SL_QNODES_MAX; steps++) {
        sl_turns_unblock(list_first[HELD][root] - 1);
    }
}

/*@ terminates \true; exits \false; assigns \nothing;
    ensures id: \result == (link != 0 ? (uint32_t)(link - 1) : SL_NO_ID); */
static sl_qnode_id qnode_of(uint32_t link)
{
    return link != 0 ? link - 1 : SL_NO_ID;
}

/*@ requires links: TurnLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_turns_first_ready(void)
{
    return qnode_of(list_first[READY][0]);
}

/*@ requires links: TurnLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_turns_next_ready(sl_qnode_id queue)
{
    return queue < SL_QNODES_MAX ? qnode_of(list_next[READY][queue]) : SL_NO_ID;
}

/*@ requires links: TurnLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_turns_first_held(sl_qnode_id root)
{
    return root < SL_QNODES_MAX ? qnode_of(list_first[HELD][root]) : SL_NO_ID;
}

/*@ requires links: TurnLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_turns_next_held(sl_qnode_id queue)
{
    return queue < SL_QNODES_MAX ? qnode_of(list_next[HELD][queue]) : SL_NO_ID;
}

/*@ requires links: TurnLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_turns_first_waiting(sl_qnode_id root)
{
    return root < SL_QNODES_MAX ? qnode_of(list_first[WAITING][root]) : SL_NO_ID;
}

/*@ requires links: TurnLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_turns_next_waiting(sl_qnode_id queue)
{
    return queue < SL_QNODES_MAX ? qnode_of(list_next[WAITING][queue]) : SL_NO_ID;
}

bool sl_turns_is_waiting(sl_qnode_id queue)
{
    return queue < SL_QNODES_MAX && listed_at[WAITING][queue] != 0;
}

/*@ requires links: TurnLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_turns_queue_limit(void)
{
    return queue_limit;
}

/* --- checking -------------------------------------------------------------------------------- */

/* How long a list is; one longer than there are queues goes in circles. */
/*@ requires links: TurnLinks && list < LISTS && root < SL_QNODES_MAX; terminates \true;
    exits \false; assigns \nothing; */
static uint32_t length(enum list list, sl_qnode_id root)
{
    uint32_t count = 0;
    /*@
      loop invariant link: link <= SL_QNODES_MAX && count <= SL_QNODES_MAX + 1;
      loop assigns link, count;
      loop variant SL_QNODES_MAX + 1 - count;
    */
    for (uint32_t link = list_first[list][root]; link != 0 && count <= SL_QNODES_MAX; count++) {
        link = list_next[list][link - 1];
    }
    return count;
}

/*@ requires links: TurnLinks && QnodesLinked && list < LISTS && queue < SL_QNODES_MAX;
    terminates \true; exits \false; assigns \nothing; */
static bool listed_rightly(enum list list, sl_qnode_id queue)
{
    uint32_t at = listed_at[list][queue];
    if ((at != 0) != belongs_on(list, queue)) {
        return false;
    }
    return at == 0 || at == (list == READY ? 0 : root_of(queue)) + 1;
}

/*@ requires links: TurnLinks; requires qnodes: QnodesLinked; terminates \true; exits \false;
    assigns \nothing; */
bool sl_turns_valid(void)
{
    /*@ loop invariant list: list <= LISTS; loop assigns list; loop variant LISTS - list; */
    for (enum list list = READY; list < LISTS; list++) {
        uint32_t listed = 0;
        uint32_t counted = 0;
        /*@ loop assigns queue, listed; loop variant queue_limit - queue; */
        for (sl_qnode_id queue = 0; queue < queue_limit; queue++) {
            if (!listed_rightly(list, queue)) {
                return false;
            }
            listed += listed_at[list][queue] != 0 ? 1u : 0u;
        }
        /*@ loop assigns root, counted; loop variant root_limit - root; */
        for (sl_qnode_id root = 0; root < root_limit; root++) {
            counted += length(list, root);
        }
        if (listed != counted) {
            return false;
        }
    }
    return true;
}
