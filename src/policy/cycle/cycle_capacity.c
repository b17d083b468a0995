/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The capacities of a cycle. Nodes are shared by all cohort trees: whom anybody in the cycle evicts
 * leaves room for everybody; a head that is held with capacities promised takes part whenever
 * somebody is tried who could take them; and one that came too late for its capacities is tried
 * again, as Kueue does, once what was in its way has come to an end. Owns the lists of these. */
#include "policy/cycle/cycle_steps.h"

#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/place.h"
#include "kernel/topology/topology.h"
#include "policy/topology/assumed.h"
#include "policy/entries/entries.h"
#include "policy/placement/placement_holds.h"
#include "policy/queues/heads.h"
#include "policy/preemption/tentative.h"
#include "policy/queues/turns.h"

static sl_workload_id gone[SL_WORKLOADS_MAX];
static uint32_t gone_count;

static bool promised; /* by the entry at hand */

/* Heads that are held with capacities promised, a row for each tree. */
struct waiter {
    sl_workload_id workload;
    sl_qnode_id queue;
    sl_tree_id tree;
};
static struct waiter waiters[SL_QNODES_MAX];
static uint32_t waiter_count;

static sl_qnode_id late[SL_QNODES_MAX]; /* roots of their cohort trees */
static uint32_t late_count;
static bool is_late[SL_QNODES_MAX];
static bool
    moved; /* capacities were taken for good, or will be free again when the cycle is over */

/* How often capacities were taken, plus one; how often when each was owed another try, and how many it
 * has been owed since; in which incarnation of its slot. */
#define TRIES_MAX 4u
static uint64_t takings = 1;
struct tries {
    uint64_t at;
    uint32_t count;
    uint32_t generation;
};
static struct tries owed_tries[SL_WORKLOADS_MAX];

/* clang-format off */
#define GONE gone[0 .. SL_WORKLOADS_MAX - 1], gone_count
#define WAITERS waiters[0 .. SL_QNODES_MAX - 1], waiter_count
#define LATE late[0 .. SL_QNODES_MAX - 1], late_count, is_late[0 .. SL_QNODES_MAX - 1]
#define TRIES owed_tries[0 .. SL_WORKLOADS_MAX - 1]
/* clang-format on */

/*@
  // The lists are within their arrays, and those who came late are qnodes.
  predicate GoneListed{L} = gone_count <= SL_WORKLOADS_MAX;
  predicate WaitersListed{L} = waiter_count <= SL_QNODES_MAX;
  predicate LateListed{L} = late_count <= SL_QNODES_MAX &&
    \forall integer i; 0 <= i < SL_QNODES_MAX ==> late[i] < SL_QNODES_MAX;
  // Capacities can be assumed to be free, or taken.
  predicate CapacityAsked{L} = AssumedInRange && TopologyInv;
*/

/* Nothing is assumed between cycles. */
/*@ requires capacities: CapacityAsked && PromisesListed; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED, SL_CAPACITY_PROMISED, gone_count; ensures none: GoneListed; */
void sl_cycle_clear_capacity(void)
{
    gone_count = 0;
    sl_topology_promise_clear();
    sl_assumed_back(0);
}

/*@ requires gone: GoneListed; terminates \true; exits \false; assigns GONE;
    ensures gone: GoneListed; */
void sl_cycle_evict_capacity(sl_workload_id id)
{
    if (gone_count < SL_WORKLOADS_MAX && !sl_tentative_is_gone(id) && sl_booking_count(id) != 0) {
        gone[gone_count] = id;
        gone_count++;
    }
}

/*@ requires gone: GoneListed; terminates \true; exits \false; assigns sl_hidden, SL_ASSUMED; */
bool sl_cycle_free_capacity(void)
{
    bool done = true;
    /*@ loop invariant capacities: CapacityAsked; loop assigns i, done, sl_hidden, SL_ASSUMED;
        loop variant gone_count - i; */
    for (uint32_t i = 0; i < gone_count && done; i++) {
        done = sl_assumed_free(gone[i]);
    }
    return done;
}

/*@ requires capacities: CapacityAsked && EntriesSound && entry < SL_ENTRIES_MAX; terminates \true;
    exits \false; assigns sl_hidden, SL_ASSUMED; ensures capacities: CapacityAsked; */
static bool free_victims(uint32_t entry)
{
    bool done = true;
    /*@ loop invariant capacities: CapacityAsked; loop assigns i, done, sl_hidden, SL_ASSUMED;
        loop variant sl_entries[entry].victims.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].victims.count && done; i++) {
        sl_workload_id id = sl_entries_victim(entry, i);
        done = sl_tentative_is_gone(id) || sl_assumed_free(id);
    }
    return done;
}

/*@ requires gone: GoneListed; terminates \true; exits \false; assigns sl_hidden, SL_ASSUMED; */
bool sl_cycle_capacity_fits(uint32_t entry)
{
    if (sl_topology_plan.set_count == 0) {
        return true;
    }
    uint32_t mark = sl_assumed_mark();
    bool fits = sl_cycle_free_capacity() && free_victims(entry) &&
                sl_placement_holds(sl_entries[entry].replaces);
    sl_assumed_back(mark);
    return fits;
}

/*@ requires capacities: TopologyInv && PromisesListed; terminates \true; exits \false;
    assigns SL_NEEDS, SL_CAPACITY_PROMISED, promised; */
bool sl_cycle_promise_capacity(void)
{
    bool done = sl_topology_plan.set_count == 0 || sl_topology_promise() == SL_OK;
    promised = done && sl_topology_plan.set_count != 0;
    return done;
}

/* --- who waits for capacities --------------------------------------------------------------------- */

/*@ requires waiters: WaitersListed && i < waiter_count; terminates \true; exits \false;
    assigns WAITERS; ensures waiters: waiter_count == \old(waiter_count) - 1; */
static void drop_waiter(uint32_t i)
{
    waiter_count--;
    waiters[i] = waiters[waiter_count];
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool in_line(sl_workload_id id)
{
    enum sl_place place = sl_place_of(id);
    return place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE || place == SL_PLACE_IN_FLIGHT;
}

/* What it counted on is free. One that is still in line may be woken by this very news, and would
 * wake itself and others for ever, did it count each time. */
/*@ requires waiters: WaitersListed && i < waiter_count; terminates \true; exits \false;
    assigns sl_hidden, WAITERS; ensures waiters: waiter_count == \old(waiter_count) - 1; */
static void release_waiter(uint32_t i)
{
    sl_queues_note_capacity(waiters[i].tree, !in_line(waiters[i].workload));
    drop_waiter(i);
}

/*@ requires waiters: WaitersListed && PlanBounded; terminates \true; exits \false;
    assigns WAITERS; ensures waiters: WaitersListed; */
static void replace_waiter(sl_workload_id id, sl_qnode_id queue)
{
    /*@ loop invariant waiters: WaitersListed && i <= waiter_count; loop assigns i, WAITERS;
        loop variant i; */
    for (uint32_t i = waiter_count; i > 0; i--) {
        if (waiters[i - 1].workload == id) {
            drop_waiter(i - 1);
        }
    }
    /*@ loop invariant waiters: WaitersListed; loop assigns s, WAITERS;
        loop variant sl_topology_plan.set_count - s; */
    for (uint32_t s = 0; s < sl_topology_plan.set_count && waiter_count < SL_QNODES_MAX; s++) {
        waiters[waiter_count] = (struct waiter){id, queue, sl_topology_plan.sets[s].tree};
        waiter_count++;
    }
}

/* One that goes on with its scan of flavors in the next cycle has given nothing up yet. Else it
 * would wake itself for ever: no room on another flavor, and back to this one. */
/*@ requires waiters: WaitersListed && PlanBounded; requires known: entry < SL_ENTRIES_MAX;
    terminates \true; exits \false; assigns sl_hidden, WAITERS; ensures waiters: WaitersListed; */
void sl_cycle_settle_waiter(uint32_t entry)
{
    sl_workload_id id = sl_entries[entry].workload;
    sl_qnode_id queue = sl_entries[entry].queue;
    bool held = sl_cycle_outcome.place == SL_PLACE_HEAP && sl_turns_is_held(queue);
    bool goes_on = held || (sl_cycle_outcome.place == SL_PLACE_HEAP && sl_flavors_left_to_try(id));
    if (held && promised) {
        replace_waiter(id, queue);
    }
    /*@ loop invariant waiters: WaitersListed && i <= waiter_count;
        loop assigns i, sl_hidden, WAITERS; loop variant i; */
    for (uint32_t i = waiter_count; i > 0 && !goes_on; i--) {
        if (waiters[i - 1].workload == id) {
            release_waiter(i - 1);
        }
    }
}

/*@ requires waiters: WaitersListed; terminates \true; exits \false; assigns sl_hidden, WAITERS;
    ensures waiters: WaitersListed; */
void sl_cycle_check_waiters(void)
{
    /*@ loop invariant waiters: WaitersListed && i <= waiter_count;
        loop assigns i, sl_hidden, WAITERS; loop variant i; */
    for (uint32_t i = waiter_count; i > 0; i--) {
        if (sl_heads_first(waiters[i - 1].queue) != waiters[i - 1].workload) {
            release_waiter(i - 1);
        }
    }
}

/*@ requires waiters: WaitersListed; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_cycle_waiter_count(void)
{
    return waiter_count;
}

/*@ requires waiters: WaitersListed; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_cycle_waiter_at(uint32_t index)
{
    return index < waiter_count ? waiters[index].queue : SL_NO_ID;
}

/* --- who came too late ----------------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns moved, takings; */
void sl_cycle_note_taken(void)
{
    if (sl_topology_plan.set_count != 0) {
        moved = true;
        takings++;
    }
}

/*@ terminates \true; exits \false; assigns moved; */
void sl_cycle_note_given_up(void)
{
    moved = moved || sl_topology_plan.set_count != 0;
}

/*@ terminates \true; exits \false; assigns promised; */
void sl_cycle_begin_capacity(void)
{
    promised = false;
}

/* So many until capacities are taken: two who outdo each other would never come to rest. */
/*@ terminates \true; exits \false; assigns sl_hidden, TRIES; */
void sl_cycle_note_outdone(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    uint32_t generation = sl_workloads[id].generation;
    if (owed_tries[id].at != takings || owed_tries[id].generation != generation) {
        owed_tries[id] = (struct tries){takings, 0, generation};
    }
    if (owed_tries[id].count < TRIES_MAX) {
        owed_tries[id].count++;
        sl_queues_owe(id);
    }
}

/*@ requires late: LateListed; requires known: entry < SL_ENTRIES_MAX; terminates \true;
    exits \false; assigns sl_hidden, TRIES, LATE; ensures late: LateListed; */
void sl_cycle_note_late(uint32_t entry)
{
    sl_qnode_id root = sl_entries[entry].root;
    sl_cycle_note_outdone(sl_entries[entry].workload);
    if (root < SL_QNODES_MAX && !is_late[root] && late_count < SL_QNODES_MAX) {
        is_late[root] = true;
        late[late_count] = root;
        late_count++;
    }
}

/*@ requires late: LateListed; terminates \true; exits \false;
    assigns sl_hidden, LATE, moved; ensures late: LateListed; */
void sl_cycle_rouse_late(void)
{
    /*@ loop invariant late: LateListed;
        loop assigns late_count, is_late[0 .. SL_QNODES_MAX - 1], sl_hidden;
        loop variant late_count; */
    while (late_count != 0) {
        late_count--;
        is_late[late[late_count]] = false;
        if (moved) {
            sl_cycle_progress(late[late_count]);
        }
    }
    moved = false;
}
