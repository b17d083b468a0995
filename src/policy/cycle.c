/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The cycle. All heads are nominated while the ledger is as the cycle found it, and then dealt
 * with one by one. Between nomination and commit only reservations happen, so a plan can fail only
 * because others were served first. */
#include "policy/cycle.h"

#include "kernel/ledger.h"
#include "kernel/lifecycle.h"
#include "policy/cycle_steps.h"
#include "policy/entries.h"
#include "policy/entry_places.h"
#include "policy/heads.h"
#include "policy/nominate.h"
#include "policy/outsiders.h"
#include "policy/passes.h"
#include "policy/settings.h"
#include "policy/tentative.h"
#include "policy/trees.h"
#include "policy/turns.h"

struct sl_cycle_outcome sl_cycle_outcome;
struct sl_cycle_evicted sl_cycle_evicted;
uint32_t sl_cycle_skipped_preemptions;
uint32_t sl_cycle_recomputed_victims;
int64_t sl_cycle_now_ms;
uint64_t sl_cycle_number;

static sl_node_id chosen[SL_NODES_MAX]; /* queues whose heads are to be taken */
static uint32_t chosen_count;
static bool is_chosen[SL_NODES_MAX];
static bool is_along[SL_NODES_MAX]; /* its head was held, and takes part because of others */

static sl_workload_id heads[SL_NODES_MAX];
static uint32_t head_count;
static uint32_t head_next;
static uint32_t pass_count; /* second passes that were taken */
static uint32_t pass_next;
static bool sorted;

static sl_node_id progress[SL_NODES_MAX]; /* roots of trees where somebody was served or evicted */
static uint32_t progress_count;
static bool has_progress[SL_NODES_MAX];

/* --- heads ----------------------------------------------------------------------------------- */

static void choose(sl_node_id queue, bool along)
{
    if (!is_chosen[queue]) {
        is_chosen[queue] = true;
        is_along[queue] = along;
        chosen[chosen_count] = queue;
        chosen_count++;
    }
}

/* The held heads of every tree that a ready queue belongs to take part. */
static void choose_ready(void)
{
    for (sl_node_id queue = sl_turns_first_ready(); queue != SL_NO_ID;
         queue = sl_turns_next_ready(queue)) {
        choose(queue, false);
    }
    uint32_t ready_count = chosen_count;
    for (uint32_t i = 0; i < ready_count; i++) {
        sl_node_id queue = sl_turns_first_held(sl_ledger_root_node(chosen[i]));
        while (queue != SL_NO_ID && !is_chosen[queue]) { /* else all of the tree are */
            choose(queue, true);
            queue = sl_turns_next_held(queue);
        }
    }
}

static bool offers_topology(sl_node_id queue)
{
    bool found = false;
    for (sl_cell_id cell = sl_offers_first(queue); cell != SL_NO_ID && !found;
         cell = sl_offers_next(cell)) {
        found = sl_trees_asked(sl_ledger_flavor_of(cell));
    }
    return found;
}

/* Whoever could take the rooms that a held head counts on meets it. */
static void choose_waiters(void)
{
    bool needed = false;
    for (uint32_t i = 0; i < chosen_count && sl_cycle_waiter_count() != 0 && !needed; i++) {
        needed = offers_topology(chosen[i]);
    }
    for (uint32_t i = 0; i < sl_cycle_waiter_count() && needed; i++) {
        sl_node_id queue = sl_cycle_waiter_at(i);
        if (sl_turns_is_active(queue)) {
            choose(queue, true);
        }
    }
}

bool sl_cycle_is_along(sl_node_id queue)
{
    return is_along[queue];
}

static void choose_all(void)
{
    for (sl_node_id queue = 0; queue < sl_turns_queue_limit(); queue++) {
        if (sl_turns_is_active(queue) && sl_heads_first(queue) != SL_NO_ID) {
            choose(queue, false);
        }
    }
}

static void take_chosen(void)
{
    for (uint32_t i = 0; i < chosen_count; i++) {
        sl_workload_id head = sl_queues_take(chosen[i]);
        is_chosen[chosen[i]] = false;
        if (head != SL_NO_ID) {
            heads[head_count] = head;
            head_count++;
        }
    }
    chosen_count = 0;
}

static void prepare(int64_t now_ms)
{
    (void)sl_cycle_end(); /* a cycle that was left early is put back first */
    sl_cycle_now_ms = now_ms;
    sl_cycle_number++;
    sl_cycle_skipped_preemptions = 0;
    sl_cycle_recomputed_victims = 0;
    sl_flavors_set_cycle(sl_cycle_number);
    sl_cycle_check_waiters();
    sl_queues_flush();
    pass_count = sl_passes_take(now_ms);
}

uint32_t sl_cycle_begin(int64_t now_ms)
{
    prepare(now_ms);
    if (sl_turns_first_ready() == SL_NO_ID && pass_count == 0) {
        sl_queues_pay();
    }
    choose_ready();
    choose_waiters();
    take_chosen();
    return pass_count + head_count;
}

uint32_t sl_cycle_begin_all(int64_t now_ms)
{
    prepare(now_ms);
    choose_all();
    take_chosen();
    return pass_count + head_count;
}

/* --- nomination ------------------------------------------------------------------------------ */

bool sl_cycle_checks_failed(sl_workload_id id)
{
    const struct sl_workload *w = &sl_workloads[id];
    for (uint32_t i = 0; i < w->check_count && i < SL_CHECKS_MAX; i++) {
        if (w->checks[i].state == SL_CHECK_RETRY || w->checks[i].state == SL_CHECK_REJECTED) {
            return true;
        }
    }
    return false;
}

static void add_entry(sl_workload_id id, sl_node_id queue, bool victims)
{
    uint32_t entry = sl_entry_places_keep(sl_entries_count()) ? sl_entries_add(victims) : SL_NO_ID;
    if (entry == SL_NO_ID) {
        sl_queues_put_back(id, SL_PUT_HEAP); /* no room in this cycle */
        return;
    }
    sl_node_id root = sl_ledger_root_node(queue);
    sl_entries[entry].root = root != SL_NO_ID ? root : queue;
    sl_entries[entry].preemptor = sl_heads_is_preemptor(queue, id);
}

static void turn_away(sl_workload_id id, enum sl_pending_reason reason, enum sl_back why)
{
    sl_cycle_begin_outcome(id);
    sl_assignment = (struct sl_assignment){.workload = id, .cluster_queue = sl_queues_queue_of(id)};
    sl_cycle_outcome.reason = reason;
    sl_cycle_outcome.outsider = why == SL_BACK_OUTSIDER;
    sl_cycle_put_back(why);
}

/* True when that was the end of it for this cycle. Under fair sharing even one that finds no place
 * competes with the others, and so delays those that it beats. */
static bool nominate(sl_workload_id id)
{
    sl_node_id queue = sl_queues_queue_of(id);
    if (sl_cycle_checks_failed(id)) {
        turn_away(id, SL_PENDING_EVALUATION, SL_BACK_INVALID);
        return true;
    }
    if (sl_outsiders_is(id)) {
        sl_outsiders_turn_away(id);
        turn_away(id, SL_PENDING_MISCONFIGURED, SL_BACK_OUTSIDER);
        return true;
    }
    sl_cycle_note_scan(id);
    bool victims = sl_nominate(id, queue, sl_cycle_number, sl_cycle_now_ms);
    bool too_many = sl_assignment.need_count > SL_CLAIMS_MAX;
    if (sl_assignment.mode == SL_MODE_NO_FIT && (too_many || !sl_settings.fair_sharing)) {
        sl_cycle_begin_outcome(id);
        sl_cycle_outcome.status = too_many ? SL_FULL_CLAIMS : SL_OK;
        sl_cycle_outcome.reason = sl_assignment.reason;
        if (sl_assignment.topology_failure.miss != SL_PLACEMENT_OK) {
            sl_queues_note_roomless(sl_assignment.topology_failure.tree);
        }
        sl_cycle_put_back(SL_BACK_NO_FIT);
        return true;
    }
    add_entry(id, queue, victims);
    return false;
}

bool sl_cycle_next(void)
{
    while (pass_next < pass_count) {
        pass_next++;
        if (sl_cycle_nominate_pass(sl_passes_taken(pass_next - 1))) {
            return true;
        }
    }
    while (head_next < head_count) {
        head_next++;
        if (nominate(heads[head_next - 1])) {
            return true;
        }
    }
    if (!sorted) {
        sl_cycle_sort();
        sorted = true;
    }
    uint32_t entry = sl_cycle_next_entry();
    if (entry == SL_NO_ID) {
        return false;
    }
    sl_cycle_process(entry);
    return true;
}

/* --- the end --------------------------------------------------------------------------------- */

static void note_progress(sl_node_id root)
{
    if (!has_progress[root]) {
        has_progress[root] = true;
        progress[progress_count] = root;
        progress_count++;
    }
}

void sl_cycle_progress(sl_node_id root)
{
    sl_turns_renew(root);
    note_progress(root);
}

void sl_cycle_give_up(sl_node_id root)
{
    sl_turns_note_free(root);
    note_progress(root);
}

bool sl_cycle_end(void)
{
    for (uint32_t i = 0; i < head_count; i++) {
        sl_queues_put_back(heads[i], SL_PUT_HEAP); /* only what is in flight still */
    }
    sl_cycle_rouse_late();
    while (progress_count != 0) {
        progress_count--;
        has_progress[progress[progress_count]] = false;
        sl_turns_rouse(progress[progress_count]);
    }
    for (uint32_t i = 0; i < pass_count; i++) {
        sl_passes_settle(sl_passes_taken(i), sl_cycle_now_ms); /* one that nobody dealt with */
    }
    sl_entries_clear();
    sl_entry_places_clear();
    sl_tentative_clear();
    sl_cycle_clear_rooms();
    pass_count = 0;
    pass_next = 0;
    head_count = 0;
    head_next = 0;
    sorted = false;
    return sl_queues_ready();
}
