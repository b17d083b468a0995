/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Back from the cycle. Kueue tries whatever it puts back into a heap again at once, and slows down
 * when that leads nowhere; here such a head is held: it takes part again as soon as anything in
 * its tree is tried or has changed. Only where flavors are left to try is the next cycle due. */
#include "policy/cycle/cycle_steps.h"

#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/place.h"
#include "kernel/commit/placement.h"
#include "policy/queues/heads.h"
#include "policy/queues/holders.h"
#include "policy/common/settings.h"
#include "policy/queues/turns.h"

/*@ terminates \true; exits \false; assigns \nothing; */
static enum sl_put strict_back_to(enum sl_back why)
{
    return why == SL_BACK_INVALID || why == SL_BACK_NO_FIT ? SL_PUT_BLOCKED : SL_PUT_HELD;
}

enum sl_put sl_cycle_back_to(enum sl_strategy strategy, enum sl_back why, bool left)
{
    if (why == SL_BACK_OUTSIDER) {
        return SL_PUT_ASIDE;
    }
    if (left) {
        /* without fungibility the scan starts over each time, and flavors are always left */
        return sl_settings.flavor_fungibility ? SL_PUT_HEAP : SL_PUT_HELD;
    }
    if (strategy == SL_STRICT_FIFO) {
        return strict_back_to(why);
    }
    switch (why) {
    case SL_BACK_INVALID:
    case SL_BACK_GATED:
        return SL_PUT_ALONE;
    case SL_BACK_NO_FIT:
    case SL_BACK_NO_VICTIMS:
        return SL_PUT_PARKED;
    default:
        return SL_PUT_HELD;
    }
}

/* When the scan of each workload's flavors began at the first one. */
static uint64_t scan_began[SL_WORKLOADS_MAX];
static bool scan_resumed[SL_WORKLOADS_MAX];
/* After which change of holders, plus one, a fresh scan was owed to it last, in which incarnation of its slot. */
static uint64_t fresh_scan[SL_WORKLOADS_MAX];
static uint32_t fresh_generation[SL_WORKLOADS_MAX];

/* How often each was put back to the heap, one time after the other, in which incarnation of its slot. */
#define RETURNS_MAX 256u
static uint32_t returns[SL_WORKLOADS_MAX];
static uint32_t returned_generation[SL_WORKLOADS_MAX];

/* clang-format off */
#define FRESH fresh_scan[0 .. SL_WORKLOADS_MAX - 1], fresh_generation[0 .. SL_WORKLOADS_MAX - 1]
#define RETURNS returns[0 .. SL_WORKLOADS_MAX - 1], returned_generation[0 .. SL_WORKLOADS_MAX - 1]
/* clang-format on */

/*@ terminates \true; exits \false;
    assigns scan_began[0 .. SL_WORKLOADS_MAX - 1], scan_resumed[0 .. SL_WORKLOADS_MAX - 1]; */
void sl_cycle_note_scan(sl_workload_id id)
{
    scan_resumed[id] = sl_settings.flavor_fungibility && sl_flavors_left_to_try(id);
    if (!scan_resumed[id]) {
        scan_began[id] = sl_turns_wake_number();
    }
}

/* The flavors that an earlier cycle tried may have become free while the scan was under way. Kueue
 * parks the workload all the same, and it waits for the next wake-up. */
/*@ requires qnodes: QnodesLinked && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns \nothing; */
static bool scan_is_outdated(sl_workload_id id, sl_qnode_id queue)
{
    return scan_resumed[id] && sl_turns_woken_since(queue, scan_began[id]);
}

/* It ended a scan that an earlier cycle began: from the first flavor on it may fit. Its pod sets, each of which went on
 * where it was, may also have passed by the only flavors that fit them together. Nothing that happens tells of that,
 * so it is tried again: once, until somebody else begins or ends to hold quota. Two who outdo each other come to rest. */
/*@ requires qnodes: QnodesLinked && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_hidden, FRESH; */
static void owe_fresh_scan(sl_workload_id id, sl_qnode_id queue)
{
    uint64_t now = sl_holders_change_number() + 1;
    uint32_t generation = sl_workloads[id].generation;
    bool had_one = fresh_scan[id] == now && fresh_generation[id] == generation;
    if (scan_is_outdated(id, queue)) {
        sl_queues_owe(id);
    } else if (scan_resumed[id] && !had_one) {
        fresh_scan[id] = now;
        fresh_generation[id] = generation;
        sl_queues_owe(id);
    }
}

/* One more return to the heap; false = there were too many. */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns RETURNS; */
static bool may_return(sl_workload_id id)
{
    if (returned_generation[id] != sl_workloads[id].generation) {
        returned_generation[id] = sl_workloads[id].generation;
        returns[id] = 0;
    }
    if (returns[id] >= RETURNS_MAX) {
        return false;
    }
    returns[id]++;
    return true;
}

/* To the heap as long as its scan gets somewhere. Two that take each other along, each to go on with
 * its scan, would never come to rest; nor would one whose pod sets' scans are out of step: one of
 * them always has flavors left (Kueue tries it for ever). */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_hidden, RETURNS; */
static enum sl_put back_to(sl_workload_id id, sl_qnode_id queue, enum sl_back why)
{
    enum sl_strategy strategy = sl_offers_rules(queue).strategy;
    enum sl_put to = sl_cycle_back_to(strategy, why, sl_flavors_left_to_try(id));
    if (to == SL_PUT_HEAP && sl_cycle_is_along(queue)) {
        sl_flavors_forget(id);
        to = SL_PUT_HELD;
    } else if (to == SL_PUT_HEAP && !may_return(id)) {
        sl_flavors_forget(id);
        to = sl_cycle_back_to(strategy, why, false);
    }
    if (to != SL_PUT_HEAP) {
        returns[id] = 0;
    }
    return to;
}

void sl_cycle_begin_outcome(sl_workload_id id)
{
    sl_cycle_evicted.count = 0;
    sl_cycle_outcome = (struct sl_cycle_outcome){
        .workload = id,
        .generation = sl_workloads[id].generation,
        .cluster_queue = sl_queues_queue_of(id),
        .result = SL_CYCLE_PENDING,
        .status = SL_OK,
        .reason = SL_PENDING_WAITING_FOR_QUOTA,
        .replaced = SL_NO_ID,
    };
}

/*@ terminates \true; exits \false;
    assigns RETURNS, FRESH; */
void sl_cycle_put_back(enum sl_back why)
{
    sl_workload_id id = sl_cycle_outcome.workload;
    sl_qnode_id queue = sl_cycle_outcome.cluster_queue;
    enum sl_strategy strategy = sl_offers_rules(queue).strategy;
    struct sl_event ev = {
        SL_EV_REFUSE,   id, sl_cycle_outcome.generation, 0, (uint32_t)sl_cycle_outcome.reason, 0,
        sl_cycle_now_ms};
    sl_cycle_outcome.did = sl_transition_event(ev);
    if (why == SL_BACK_PREEMPTING) {
        sl_flavors_forget(id);
        sl_heads_set_preemptor(queue, id, strategy == SL_BEST_EFFORT_FIFO);
        if (sl_cycle_evicted.count != 0 && sl_cycle_outcome.variant != SL_VARIANT_MIGRATES) {
            sl_heads_count_eviction(id);
        }
    }
    if (why == SL_BACK_SKIPPED && !sl_settings.preserve_scan_progress) {
        sl_flavors_forget(id);
    }
    enum sl_put to = back_to(id, queue, why);
    if (to != SL_PUT_HEAP) {
        owe_fresh_scan(id, queue);
    }
    bool news = sl_cycle_tells_news(id, why) || sl_cycle_outcome.did.news[SL_CHANGED_REASON];
    if (news && !sl_settings.preserve_scan_progress) {
        sl_flavors_forget(id); /* Kueue forgets when it sees its own write */
    }
    sl_queues_put_back(id, to);
    sl_cycle_outcome.place = sl_place_of(id);
}
