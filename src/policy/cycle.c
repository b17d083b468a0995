/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The cycle. What finds no place is done with as soon as it was looked at, while the ledger is
 * as the cycle found it; what does is remembered with its choices, sorted, and committed one by
 * one. Between nomination and commit only reservations happen, so a plan can fail only because
 * others were served first. */
#include "policy/cycle.h"

#include "kernel/commit.h"
#include "kernel/lifecycle.h"
#include "kernel/place.h"
#include "policy/queues.h"
#include "policy/sort.h"
#include "policy/turns.h"

#define STORED_CHOICES_MAX 1048576u

struct sl_cycle_outcome sl_cycle_outcome;

/* One that fits, with its choices: `count` of `stored` from `first` on. */
struct entry {
    sl_workload_id workload;
    uint32_t borrow_height;
    uint32_t first;
    uint32_t count;
};

static sl_workload_id heads[SL_NODES_MAX];
static uint32_t head_count;
static uint32_t head_next;

static struct entry entries[SL_NODES_MAX];
static uint32_t entry_count;
static uint32_t order[SL_NODES_MAX]; /* entries as they are to be dealt with */
static uint32_t order_count;
static uint32_t order_next;
static bool sorted;

static struct sl_choice stored[STORED_CHOICES_MAX];
static uint32_t stored_count;

static int64_t cycle_now_ms;
static bool served; /* something was committed in this cycle */

uint32_t sl_cycle_begin(int64_t now_ms)
{
    (void)sl_cycle_end(); /* a cycle that was left early is put back first */
    cycle_now_ms = now_ms;
    served = false;
    sl_queues_flush();
    sl_node_id queue = sl_turns_first_ready();
    while (queue != SL_NO_ID) {
        sl_node_id next = sl_turns_next_ready(queue);
        sl_workload_id head = sl_queues_take(queue);
        if (head != SL_NO_ID && head_count < SL_NODES_MAX) {
            heads[head_count] = head;
            head_count++;
        }
        queue = next;
    }
    return head_count;
}

/* Remember the assignment at hand; false when there is no room, and another cycle has to see to
 * it. */
static bool remember(void)
{
    if (sl_assignment.choice_count > STORED_CHOICES_MAX - stored_count ||
        entry_count >= SL_NODES_MAX) {
        return false;
    }
    entries[entry_count].workload = sl_assignment.workload;
    entries[entry_count].borrow_height = sl_assignment.borrow_height;
    entries[entry_count].first = stored_count;
    entries[entry_count].count = sl_assignment.choice_count;
    entry_count++;
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        stored[stored_count] = sl_assignment.choices[i];
        stored_count++;
    }
    return true;
}

static void recall(struct entry entry)
{
    sl_assignment.workload = entry.workload;
    sl_assignment.fits = true;
    sl_assignment.borrow_height = entry.borrow_height;
    sl_assignment.detail_count = 0;
    sl_assignment.details_left_out = 0;
    sl_assignment.choice_count = entry.count;
    for (uint32_t i = 0; i < entry.count && i < SL_CHOICES_MAX; i++) {
        sl_assignment.choices[i] = stored[entry.first + i];
    }
}

/* --- the plan -------------------------------------------------------------------------------- */

/* One claim per cell, however many pod sets it serves; nothing is claimed of what asks for
 * nothing. */
static bool add_claim(struct sl_choice choice)
{
    if (choice.amount == 0) {
        return true;
    }
    for (uint32_t i = 0; i < sl_plan.claim_count; i++) {
        if (sl_plan.claims[i].cell == choice.cell) {
            sl_plan.claims[i].amount += choice.amount;
            return true;
        }
    }
    if (sl_plan.claim_count >= SL_CLAIMS_MAX) {
        return false;
    }
    sl_plan.claims[sl_plan.claim_count].cell = choice.cell;
    sl_plan.claims[sl_plan.claim_count].amount = choice.amount;
    sl_plan.claim_count++;
    return true;
}

static enum sl_status commit_assignment(sl_workload_id id)
{
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = sl_queues_queue_of(id);
    sl_plan.topology_pending = false;
    sl_plan.now_ms = cycle_now_ms;
    sl_plan.claim_count = 0;
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        if (!add_claim(sl_assignment.choices[i])) {
            return SL_FULL_CLAIMS;
        }
    }
    return sl_commit_apply();
}

/* --- outcomes -------------------------------------------------------------------------------- */

static void begin_outcome(sl_workload_id id)
{
    sl_cycle_outcome.workload = id;
    sl_cycle_outcome.generation = sl_workloads[id].generation;
    sl_cycle_outcome.cluster_queue = sl_queues_queue_of(id);
    sl_cycle_outcome.result = SL_CYCLE_PENDING;
    sl_cycle_outcome.status = SL_OK;
    sl_cycle_outcome.reason = SL_PENDING_WAITING_FOR_QUOTA;
    sl_cycle_outcome.changed = false;
    sl_cycle_outcome.overtaken = false;
}

/* Note the reason in the record and put it back (FEATURES 3.6): who was overtaken is tried again
 * at once; a StrictFIFO head holds up its queue; the others make way. */
static void put_back(sl_workload_id id)
{
    struct sl_event ev = {
        SL_EV_REFUSE, id, sl_cycle_outcome.generation, 0, (uint32_t)sl_cycle_outcome.reason, 0,
        cycle_now_ms};
    enum sl_pending_reason before = sl_workloads[id].pending_reason;
    enum sl_put how = SL_PUT_PARKED;
    if (sl_cycle_outcome.overtaken) {
        how = SL_PUT_HEAP;
    } else if (sl_offers_rules(sl_cycle_outcome.cluster_queue).strategy == SL_STRICT_FIFO) {
        how = SL_PUT_BLOCKED;
    }
    sl_cycle_outcome.changed =
        sl_commit_event(ev) == SL_OK && sl_workloads[id].pending_reason != before;
    sl_queues_put_back(id, how);
    sl_cycle_outcome.place = sl_place_of(id);
}

/* Look for flavors; true when that is the end of it for this cycle. */
static bool nominate(sl_workload_id id)
{
    sl_flavors_assign(id, sl_queues_queue_of(id));
    if (!sl_assignment.fits) {
        begin_outcome(id);
        sl_cycle_outcome.reason = sl_assignment.reason;
        put_back(id);
        return true;
    }
    if (!remember()) {
        sl_queues_put_back(id, SL_PUT_HEAP);
    }
    return false;
}

static void sort_entries(void)
{
    sl_sort_clear();
    for (uint32_t i = 0; i < entry_count; i++) {
        sl_sort_add(entries[i].workload, entries[i].borrow_height, i);
    }
    sl_sort_run();
    order_count = sl_sort_count();
    for (uint32_t i = 0; i < order_count; i++) {
        order[i] = sl_sort_tag(i);
    }
    sorted = true;
}

static void process(struct entry entry)
{
    begin_outcome(entry.workload);
    recall(entry);
    sl_cycle_outcome.status = commit_assignment(entry.workload);
    if (sl_cycle_outcome.status == SL_OK) {
        served = true;
        sl_cycle_outcome.result = SL_CYCLE_RESERVED;
        sl_queues_settle(entry.workload, cycle_now_ms);
        sl_cycle_outcome.place = sl_place_of(entry.workload);
        return;
    }
    sl_cycle_outcome.overtaken = sl_cycle_outcome.status == SL_REFUSED_QUOTA && served;
    if (sl_cycle_outcome.status == SL_FULL_CLAIMS) {
        sl_cycle_outcome.reason = SL_PENDING_MISCONFIGURED; /* more than any workload may hold */
    }
    put_back(entry.workload);
}

bool sl_cycle_next(void)
{
    while (head_next < head_count) {
        head_next++;
        if (nominate(heads[head_next - 1])) {
            return true;
        }
    }
    if (!sorted) {
        sort_entries();
    }
    if (order_next >= order_count) {
        return false;
    }
    order_next++;
    process(entries[order[order_next - 1]]);
    return true;
}

bool sl_cycle_end(void)
{
    for (uint32_t i = 0; i < head_count; i++) {
        sl_queues_put_back(heads[i], SL_PUT_HEAP); /* only what is in flight still */
    }
    head_count = 0;
    head_next = 0;
    entry_count = 0;
    order_count = 0;
    order_next = 0;
    sorted = false;
    stored_count = 0;
    return sl_queues_ready();
}
