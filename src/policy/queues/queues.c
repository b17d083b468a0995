/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Queues: who is in line where. HEAP means in the queue's heap; INADMISSIBLE means in a lane, or
 * alone, or in the heap of those that wait for their backoff; IN_FLIGHT means in no heap until the
 * cycle has decided. Wake-ups: queues_wake.c. */
#include "policy/queues/queues.h"

#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/place.h"
#include "policy/requests/requests.h"
#include "policy/requests/flavors_progress.h"
#include "policy/requests/preemption_gate.h"
#include "policy/requests/slices.h"
#include "policy/queues/fronts.h"
#include "policy/queues/heads.h"
#include "policy/queues/heap.h"
#include "policy/queues/holders.h"
#include "policy/queues/lanes.h"
#include "policy/queues/line.h"
#include "policy/queues/objections.h"
#include "policy/queues/outsiders.h"
#include "policy/queues/readiness.h"
#include "policy/queues/turns.h"

static uint32_t queue_link[SL_WORKLOADS_MAX]; /* the queue it belongs to, link */
static uint32_t workload_limit;               /* no workload from here on was ever attached */
static uint32_t counts_on[SL_QNODES_MAX];     /* the head that was held last, link */
static uint32_t keeps[SL_QNODES_MAX];         /* the head that keeps capacity for itself, link */

/* clang-format off */
#define ATTACHED queue_link[0 .. SL_WORKLOADS_MAX - 1], workload_limit
#define COUNTS_ON counts_on[0 .. SL_QNODES_MAX - 1], keeps[0 .. SL_QNODES_MAX - 1]
#define PLACES sl_places[0 .. SL_WORKLOADS_MAX - 1]
/* clang-format on */

/*@
  // Every link is none or names a qnode.
  predicate QueueLinks{L} = workload_limit <= SL_WORKLOADS_MAX &&
    \forall integer w; 0 <= w < SL_WORKLOADS_MAX ==> queue_link[w] <= SL_QNODES_MAX;
  // What every step needs and keeps.
  predicate InOrder{L} = QueueLinks && PlacesAgree && QnodesLinked;
*/

/*@ requires link: link <= SL_QNODES_MAX; terminates \true; exits \false; assigns \nothing;
    ensures known: \result == (link != 0 ? link - 1 : SL_NO_ID); */
static sl_qnode_id qnode_of(uint32_t link)
{
    return link != 0 ? link - 1 : SL_NO_ID;
}

/* --- in line and out ------------------------------------------------------------------------- */

/* Out of every index; it may come back. */
/*@ requires order: InOrder && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_hidden, PLACES; ensures order: InOrder; */
static void leave_line(sl_workload_id id)
{
    if (queue_link[id] != 0) {
        sl_line_leave(id);
        sl_turns_refresh(queue_link[id] - 1);
    }
}

/* What it counted on while it was held, or kept for itself, is free. */
/*@ requires queue: queue < SL_QNODES_MAX; terminates \true; exits \false;
    assigns sl_hidden, COUNTS_ON; */
static void free_usage(sl_qnode_id queue, sl_workload_id id, bool anew)
{
    if (counts_on[queue] == id + 1 || keeps[queue] == id + 1) {
        counts_on[queue] = 0;
        keeps[queue] = 0;
        sl_turns_owe_tree(queue, anew);
    }
}

/* It is served, or belongs to the queue no more: nothing is remembered of its being in line. */
/*@ requires order: InOrder && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_hidden, PLACES, COUNTS_ON; ensures order: InOrder; */
static void leave_for_good(sl_workload_id id)
{
    if (queue_link[id] != 0) {
        sl_heads_forget(queue_link[id] - 1, id);
        sl_flavors_forget(id);
        sl_outsiders_forget(id);
        sl_objections_forget(id);
        free_usage(queue_link[id] - 1, id, true);
        leave_line(id);
    }
}

bool sl_queues_in_backoff(sl_workload_id id, int64_t now_ms)
{
    if (id >= SL_WORKLOADS_MAX) {
        return false;
    }
    return sl_workloads[id].requeued == SL_REQUEUED_FALSE ||
           (sl_workloads[id].requeue_at_ms != SL_NEVER && sl_workloads[id].requeue_at_ms > now_ms);
}

/* Is it not to be tried now, whatever wakes its queue? */
/*@ terminates \true; exits \false; assigns \nothing; */
static bool stands_aside(sl_workload_id id, int64_t now_ms)
{
    return sl_queues_in_backoff(id, now_ms) || sl_outsiders_turned_away(id);
}

/* Into the line, or among those that stand aside. It is in no index. */
/*@ requires order: InOrder && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_hidden, PLACES; ensures order: InOrder; */
static void enter_line(sl_workload_id id, int64_t now_ms)
{
    sl_qnode_id queue = qnode_of(queue_link[id]);
    sl_objections_forget(id);
    if (queue == SL_NO_ID) {
        return;
    }
    if (stands_aside(id, now_ms)) {
        sl_line_wait(queue, id);
    } else {
        sl_line_enter(queue, id);
    }
    sl_turns_refresh(queue);
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool in_line(enum sl_place place)
{
    return place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE || place == SL_PLACE_IN_FLIGHT;
}

/* Whoever held quota and does so no more leaves room for others. */
/*@ requires order: InOrder && id < SL_WORKLOADS_MAX; requires usage: UsageCountsValid;
    terminates \true; exits \false; assigns sl_hidden; */
static void watch_holding(sl_workload_id id)
{
    enum sl_place place = sl_place_of(id);
    bool holds = place == SL_PLACE_HOLDING || place == SL_PLACE_SECOND_PASS;
    sl_qnode_id before = sl_holders_queue_of(id);
    sl_readiness_watch(id, holds);
    if (holds && before == SL_NO_ID) {
        sl_qnode_id qnode = sl_ledger_qnode_of(sl_commit_usage(id, 0).cell);
        sl_holders_add(qnode != SL_NO_ID ? qnode : qnode_of(queue_link[id]), id);
    } else if (!holds && before != SL_NO_ID) {
        sl_holders_remove(id);
        sl_turns_mark_tree(before);
    }
    sl_flavors_touch_queue(before != SL_NO_ID ? before : sl_holders_queue_of(id));
    if (!holds) {
        sl_usage_drop(id);
    } else if (sl_workloads[id].was_admitted) {
        sl_usage_settle(id);
    }
}

/* Is it in the heap of those that stand aside if it does, and in another if not? */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing; */
static bool in_right_heap(sl_workload_id id, int64_t now_ms)
{
    sl_heap_id heap = sl_heap_of(id);
    bool waits = heap == SL_HEAP_OF_BACKOFF(queue_link[id] - 1);
    return heap != SL_NO_ID && waits == stands_aside(id, now_ms);
}

/* Does it wait where it should, and for what is still so? */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing; */
static bool waits_rightly(sl_workload_id id, int64_t now_ms)
{
    return in_right_heap(id, now_ms) && !sl_objections_over(id);
}

/* Whoever belongs to no queue and might be in line is an orphan. */
/*@ requires places: PlacesAgree; terminates \true; exits \false; assigns PLACES;
    ensures places: PlacesAgree; */
static void settle_unattached(sl_workload_id id)
{
    if (in_line(sl_place_of(id))) {
        (void)sl_line_bring_to(id, SL_PLACE_ORPHANED);
    }
}

/*@ requires order: InOrder; terminates \true; exits \false;
    assigns sl_hidden, PLACES, ATTACHED, COUNTS_ON; ensures order: InOrder; */
void sl_queues_settle(sl_workload_id id, int64_t now_ms)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    enum sl_place place = sl_place_of(id);
    watch_holding(id);
    if (!in_line(place)) {
        leave_for_good(id);
    }
    if (place == SL_PLACE_NONE) {
        sl_requests_clear(id);
        sl_slices_forget(id);
        sl_outsiders_set(id, false);
        sl_preemption_gate_note_tried(id);
        queue_link[id] = 0;
    }
    if (queue_link[id] == 0) {
        settle_unattached(id);
    } else if (place == SL_PLACE_ORPHANED) {
        enter_line(id, now_ms);
    } else if (in_line(place) && place != SL_PLACE_IN_FLIGHT && !waits_rightly(id, now_ms)) {
        leave_line(id);
        enter_line(id, now_ms);
    }
}

/*@ requires order: InOrder; terminates \true; exits \false;
    assigns sl_hidden, PLACES, ATTACHED, COUNTS_ON; ensures order: InOrder; */
void sl_queues_retry(sl_workload_id id, int64_t now_ms)
{
    sl_queues_settle(id, now_ms);
    if (id >= SL_WORKLOADS_MAX || queue_link[id] == 0) {
        return;
    }
    enum sl_place place = sl_place_of(id);
    if (place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE) {
        sl_heads_doubt_preemptor(queue_link[id] - 1, id);
        sl_flavors_forget(id); /* what did not fit its requests may fit the new ones */
        leave_line(id);
        enter_line(id, now_ms);
    }
}

/*@ requires order: InOrder; terminates \true; exits \false;
    assigns sl_hidden, PLACES, sl_order_keys[0 .. SL_WORKLOADS_MAX - 1],
      ATTACHED, COUNTS_ON; ensures order: InOrder; */
enum sl_status sl_queues_attach(sl_workload_id id, sl_qnode_id qnode, struct sl_order_key key)
{
    if (id >= SL_WORKLOADS_MAX || sl_place_of(id) == SL_PLACE_NONE) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (qnode >= SL_QNODES_MAX) {
        return SL_REFUSED_NO_QNODE;
    }
    if (queue_link[id] != qnode + 1) {
        sl_queues_detach(id);
    }
    if (id >= workload_limit) {
        workload_limit = id + 1;
    }
    queue_link[id] = qnode + 1;
    sl_queues_set_key(id, key);
    return SL_OK;
}

/*@ requires order: InOrder; terminates \true; exits \false;
    assigns sl_hidden, PLACES, ATTACHED, COUNTS_ON; ensures order: InOrder; */
void sl_queues_detach(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX || queue_link[id] == 0) {
        return;
    }
    leave_for_good(id);
    sl_outsiders_set(id, false);
    settle_unattached(id);
    queue_link[id] = 0;
}

/*@ requires order: InOrder; terminates \true; exits \false;
    assigns sl_hidden, PLACES, sl_order_keys[0 .. SL_WORKLOADS_MAX - 1]; ensures order: InOrder; */
void sl_queues_set_key(sl_workload_id id, struct sl_order_key key)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    sl_heap_id heap = sl_heap_of(id);
    if (heap == SL_NO_ID) {
        sl_order_set(id, key);
        return;
    }
    sl_qnode_id queue = queue_link[id] - 1;
    leave_line(id);
    sl_order_set(id, key);
    if (heap == SL_HEAP_OF_BACKOFF(queue)) {
        sl_line_wait(queue, id);
    } else {
        sl_line_enter(queue, id);
    }
    sl_turns_refresh(queue);
}

/*@ requires links: QueueLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_queues_queue_of(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? qnode_of(queue_link[id]) : SL_NO_ID;
}

/*@ requires links: QueueLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_queues_workload_limit(void)
{
    return workload_limit;
}

/* --- for the cycle --------------------------------------------------------------------------- */

/*@ requires order: InOrder; terminates \true; exits \false;
    assigns sl_hidden, PLACES, COUNTS_ON; ensures order: InOrder; */
sl_workload_id sl_queues_take(sl_qnode_id qnode)
{
    sl_workload_id id = sl_heads_first(qnode);
    if (qnode >= SL_QNODES_MAX || id == SL_NO_ID ||
        sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT) != SL_OK) {
        return SL_NO_ID;
    }
    if (sl_turns_is_held(qnode)) {
        counts_on[qnode] = id + 1;
    }
    sl_preemption_gate_note_tried(id);
    sl_turns_unblock(qnode); /* it is taken, not gone: nobody is roused */
    sl_heap_remove(id);
    sl_turns_refresh(qnode);
    return id;
}

/*@ requires order: InOrder; terminates \true; exits \false;
    assigns sl_hidden, PLACES, COUNTS_ON; ensures order: InOrder; */
void sl_queues_put_back(sl_workload_id id, enum sl_put how)
{
    if (id >= SL_WORKLOADS_MAX || queue_link[id] == 0 || sl_place_of(id) != SL_PLACE_IN_FLIGHT) {
        return;
    }
    sl_qnode_id queue = queue_link[id] - 1;
    keeps[queue] = 0;
    bool parked = (how == SL_PUT_PARKED && sl_line_park_shape(queue, id)) ||
                  (how == SL_PUT_ALONE && sl_line_park_alone(queue, id)) ||
                  (how == SL_PUT_ASIDE && sl_line_park_aside(queue, id));
    if (!parked) {
        sl_line_return(queue, id);
    }
    sl_turns_refresh(queue);
    if (how == SL_PUT_HELD) {
        sl_turns_hold(queue, id);
        return;
    }
    if (how == SL_PUT_BLOCKED) {
        sl_turns_block(queue, id);
    }
    if (how != SL_PUT_HEAP) {
        free_usage(queue, id, false);
    }
}

/*@ requires links: QueueLinks; terminates \true; exits \false; assigns COUNTS_ON; */
void sl_queues_note_keeping(sl_workload_id id)
{
    if (id < SL_WORKLOADS_MAX && queue_link[id] != 0) {
        keeps[queue_link[id] - 1] = id + 1;
    }
}

bool sl_queues_awaits_turn(sl_workload_id id)
{
    sl_lane_id lane = sl_lanes_of(id);
    return sl_place_of(id) == SL_PLACE_HEAP || (lane != SL_NO_ID && !sl_lanes_is_shut(lane));
}

uint32_t sl_queues_heap_count(sl_qnode_id qnode)
{
    return qnode < SL_QNODES_MAX ? sl_fronts_count(qnode) + sl_lanes_member_count(qnode, false) : 0;
}

uint32_t sl_queues_parked_count(sl_qnode_id qnode)
{
    return qnode < SL_QNODES_MAX
               ? sl_lanes_member_count(qnode, true) + sl_heap_count(SL_HEAP_OF_ALONE(qnode)) +
                     sl_heap_count(SL_HEAP_OF_BACKOFF(qnode))
               : 0;
}
