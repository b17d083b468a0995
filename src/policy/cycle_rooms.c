/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The rooms of a cycle. Nodes are shared by all cohort trees: whom anybody in the cycle evicts
 * leaves room for everybody; a head that is held with rooms promised takes part whenever
 * somebody is tried who could take them; and one that came too late for its rooms is tried
 * again, as Kueue does, once what was in its way has come to an end. Owns the lists of these. */
#include "policy/cycle_steps.h"

#include "kernel/place.h"
#include "kernel/topology.h"
#include "policy/assumed.h"
#include "policy/entries.h"
#include "policy/heads.h"
#include "policy/tentative.h"
#include "policy/turns.h"

static sl_workload_id gone[SL_WORKLOADS_MAX];
static uint32_t gone_count;

/* Nothing is assumed between cycles. */
void sl_cycle_clear_rooms(void)
{
    gone_count = 0;
    sl_topology_promise_clear();
    sl_assumed_back(0);
}

void sl_cycle_evict_rooms(sl_workload_id id)
{
    if (gone_count < SL_WORKLOADS_MAX && !sl_tentative_is_gone(id) && sl_booking_count(id) != 0) {
        gone[gone_count] = id;
        gone_count++;
    }
}

bool sl_cycle_free_rooms(void)
{
    bool done = true;
    for (uint32_t i = 0; i < gone_count && done; i++) {
        done = sl_assumed_free(gone[i]);
    }
    return done;
}

static bool free_victims(uint32_t entry)
{
    bool done = true;
    for (uint32_t i = 0; i < sl_entries[entry].victims.count && done; i++) {
        sl_workload_id id = sl_entries_victim(entry, i);
        done = sl_tentative_is_gone(id) || sl_assumed_free(id);
    }
    return done;
}

/* Take so much, if it is there. */
static bool take(sl_site_id site, sl_measure_id measure, int64_t amount)
{
    return amount <= SL_AMOUNT_MAX && amount <= sl_assumed_room(site, measure) &&
           sl_assumed_add(site, measure, amount);
}

static bool take_row(const struct sl_topology_set *set, struct sl_topology_row row)
{
    sl_site_id site = sl_domain_site(row.domain);
    int64_t pods = (int64_t)row.count;
    bool done = take(site, SL_MEASURE_PODS, pods);
    for (uint32_t i = 0; i < set->request_count && done; i++) {
        int64_t per_pod = set->requests[i].per_pod;
        done = per_pod <= SL_AMOUNT_MAX / pods &&
               (per_pod == 0 || take(site, set->requests[i].measure, per_pod * pods));
    }
    return done;
}

static bool take_plan(void)
{
    bool done = true;
    for (uint32_t s = 0; s < sl_topology_plan.set_count; s++) {
        const struct sl_topology_set *set = &sl_topology_plan.sets[s];
        for (uint32_t i = 0; i < set->row_count && done; i++) {
            done = take_row(set, sl_topology_plan.rows[set->first_row + i]);
        }
    }
    return done;
}

bool sl_cycle_rooms_fit(uint32_t entry)
{
    if (sl_topology_plan.set_count == 0) {
        return true;
    }
    uint32_t mark = sl_assumed_mark();
    bool fits = sl_cycle_free_rooms() && free_victims(entry) && take_plan();
    sl_assumed_back(mark);
    return fits;
}

static bool promised; /* by the entry at hand */

bool sl_cycle_promise_rooms(void)
{
    bool done = sl_topology_plan.set_count == 0 || sl_topology_promise() == SL_OK;
    promised = done && sl_topology_plan.set_count != 0;
    return done;
}

/* --- who waits for rooms --------------------------------------------------------------------- */

/* Heads that are held with rooms promised, a row for each tree. */
struct waiter {
    sl_workload_id workload;
    sl_node_id queue;
    sl_tree_id tree;
};
static struct waiter waiters[SL_NODES_MAX];
static uint32_t waiter_count;

static void drop_waiter(uint32_t i)
{
    waiter_count--;
    waiters[i] = waiters[waiter_count];
}

static bool in_line(sl_workload_id id)
{
    enum sl_place place = sl_place_of(id);
    return place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE || place == SL_PLACE_IN_FLIGHT;
}

/* What it counted on is free. One that is still in line may be woken by this very news, and would
 * wake itself and others for ever, did it count each time. */
static void release_waiter(uint32_t i)
{
    sl_queues_note_room(waiters[i].tree, !in_line(waiters[i].workload));
    drop_waiter(i);
}

static void replace_waiter(sl_workload_id id, sl_node_id queue)
{
    for (uint32_t i = waiter_count; i > 0; i--) {
        if (waiters[i - 1].workload == id) {
            drop_waiter(i - 1);
        }
    }
    for (uint32_t s = 0; s < sl_topology_plan.set_count && waiter_count < SL_NODES_MAX; s++) {
        waiters[waiter_count] = (struct waiter){id, queue, sl_topology_plan.sets[s].tree};
        waiter_count++;
    }
}

/* One that goes on with its scan of flavors in the next cycle has given nothing up yet. Else it
 * would wake itself for ever: no room on another flavor, and back to this one. */
void sl_cycle_settle_waiter(uint32_t entry)
{
    sl_workload_id id = sl_entries[entry].workload;
    sl_node_id queue = sl_entries[entry].queue;
    bool held = sl_cycle_outcome.place == SL_PLACE_HEAP && sl_turns_is_held(queue);
    bool goes_on = held || (sl_cycle_outcome.place == SL_PLACE_HEAP && sl_flavors_left_to_try(id));
    if (held && promised) {
        replace_waiter(id, queue);
    }
    for (uint32_t i = waiter_count; i > 0 && !goes_on; i--) {
        if (waiters[i - 1].workload == id) {
            release_waiter(i - 1);
        }
    }
}

void sl_cycle_check_waiters(void)
{
    for (uint32_t i = waiter_count; i > 0; i--) {
        if (sl_heads_first(waiters[i - 1].queue) != waiters[i - 1].workload) {
            release_waiter(i - 1);
        }
    }
}

uint32_t sl_cycle_waiter_count(void)
{
    return waiter_count;
}

sl_node_id sl_cycle_waiter_at(uint32_t index)
{
    return index < waiter_count ? waiters[index].queue : SL_NO_ID;
}

/* --- who came too late ----------------------------------------------------------------------- */

static sl_node_id late[SL_NODES_MAX]; /* roots of their cohort trees */
static uint32_t late_count;
static bool is_late[SL_NODES_MAX];
static bool moved; /* rooms were taken for good, or will be free again when the cycle is over */

/* How often rooms were taken, plus one; how often when each was owed another try, and how many it
 * has been owed since. */
#define TRIES_MAX 4u
static uint64_t takings = 1;
static uint64_t owed_at[SL_WORKLOADS_MAX];
static uint32_t owed_tries[SL_WORKLOADS_MAX];

void sl_cycle_note_taken(void)
{
    if (sl_topology_plan.set_count != 0) {
        moved = true;
        takings++;
    }
}

void sl_cycle_note_given_up(void)
{
    moved = moved || sl_topology_plan.set_count != 0;
}

void sl_cycle_begin_rooms(void)
{
    promised = false;
}

/* So many until rooms are taken: two who outdo each other would never come to rest. */
void sl_cycle_note_outdone(sl_workload_id id)
{
    if (owed_at[id] != takings) {
        owed_at[id] = takings;
        owed_tries[id] = 0;
    }
    if (owed_tries[id] < TRIES_MAX) {
        owed_tries[id]++;
        sl_queues_owe(id);
    }
}

void sl_cycle_note_late(uint32_t entry)
{
    sl_node_id root = sl_entries[entry].root;
    sl_cycle_note_outdone(sl_entries[entry].workload);
    if (!is_late[root]) {
        is_late[root] = true;
        late[late_count] = root;
        late_count++;
    }
}

void sl_cycle_rouse_late(void)
{
    while (late_count != 0) {
        late_count--;
        is_late[late[late_count]] = false;
        if (moved) {
            sl_cycle_progress(late[late_count]);
        }
    }
    moved = false;
}
