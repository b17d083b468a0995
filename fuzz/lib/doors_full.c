/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is full: each of the core's pools is filled to the last place, is asked for one more, and is emptied again; and
 * cycles, in the midst of which a pool is found full. */
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/doors.h"
#include "fuzz/lib/world.h"
#include "kernel/ledger/cells.h"
#include "kernel/ledger/ledger.h"
#include "kernel/preempt/preempt.h"
#include "kernel/ledger/trail.h"
#include "policy/topology/assumed.h"
#include "policy/cycle/cycle.h"
#include "policy/entries/entries.h"
#include "policy/entries/entry_places.h"
#include "policy/flavors/flavors.h"
#include "policy/topology/masks.h"
#include "policy/common/sort.h"
#include "policy/preemption/tentative.h"
#include "policy/requests/slices.h"
#include "policy/requests/topology_request.h"
#include "policy/fair/usage.h"

enum { FIRST_FREE = SLOTS };

/* In a trial, back and forth until nothing more can be noted; all of it is taken back. */
static void fill_trail(const struct door *d)
{
    sl_cell_id cell = d->fit % sl_cell_limit;
    uint32_t mark = sl_trail_begin();
    uint32_t steps = 0;
    while (sl_ledger_charge(cell, 1) == SL_OK && sl_ledger_release(cell, 1) == SL_OK) {
        steps++;
        CHECK(steps < SL_TRAIL_MAX);
    }
    CHECK(sl_ledger_charge(cell, 1) != SL_OK && sl_ledger_reserve(cell, 0) != SL_OK);
    sl_trail_rollback(mark);
}

static void fill_promises(const struct door *d)
{
    sl_cell_id cell = sl_ledger_find_cell(COHORTS + d->fit % (NODES - COHORTS), PLAIN, CPU);
    while (sl_promise_add(cell, d->other % 2) == SL_OK) {
    }
    CHECK(sl_promise_count() == SL_PROMISES_MAX);
    CHECK(sl_preempt_check() != SL_OK);
    (void)sl_promise_at(d->other);
    CHECK(!sl_tentative_promise(0, cell, 1, true));
    sl_promise_clear();
    while (sl_tentative_promise(d->other % COHORTS, cell, 1, false)) {
    }
    (void)sl_tentative_take_promised(NODES);
    sl_tentative_clear();
}

/* Of workloads that nobody knows yet. */
static void fill_demands(const struct door *d)
{
    sl_workload_id id = FIRST_FREE;
    uint32_t sets = 0;
    for (; id < SL_WORKLOADS_MAX && sl_requests_add_pod_set(id, 1) == SL_OK; id++) {
        for (sets = 1; sets < SL_POD_SETS_MAX && sl_requests_add_pod_set(id, 1) == SL_OK; sets++) {
            for (uint32_t r = 0; d->other % 2 != 0 && r <= SL_REQUESTS_MAX; r++) {
                (void)!sl_requests_add(id, r, 1);
            }
            for (uint32_t f = 0; d->other % 2 == 0 && f < 4; f++) {
                (void)!sl_requests_add_exclusion(id, f, SL_EXCLUDED_TAINT);
            }
        }
        CHECK(sets < SL_POD_SETS_MAX || sl_requests_add_pod_set(id, 1) != SL_OK);
    }
    CHECK(id < SL_WORKLOADS_MAX);
    for (; id >= FIRST_FREE; id--) {
        sl_requests_clear(id);
    }
}

static void fill_masks(const struct door *d)
{
    sl_mask_id last = 8 + SL_SCORED_MASKS_MAX;
    bool full = false;
    for (sl_mask_id m = 8; m <= last; m++) {
        full = sl_masks_prefer(m, d->fit % HOSTS, 1 + d->other) != SL_OK;
    }
    CHECK(full && sl_masks_prefers(8) && !sl_masks_prefers(last));
    for (sl_mask_id m = 8; m <= last; m++) {
        CHECK(sl_masks_clear(m) == SL_OK);
    }
}

static void fill_usage(const struct door *d)
{
    sl_account_id account = NODES * ACCOUNTS + d->other % 8;
    sl_usage_set_account(FIRST_FREE, account);
    for (uint32_t i = 0; i < SL_PENALTIES_MAX + 2; i++) {
        sl_usage_charge(FIRST_FREE, account, CPU, 1 + d->other);
    }
    for (sl_resource_id r = 0; r < SL_USAGE_RESOURCES_MAX + 2; r++) {
        sl_usage_charge(FIRST_FREE, account, r, SL_AMOUNT_MAX);
        sl_usage_restore(account, r,
                         (struct sl_usage_amount){INT64_MAX - d->other, d->other % SL_USAGE_PARTS},
                         (int64_t)d->how - 1);
    }
    sl_usage_restore(account, SL_NO_ID, (struct sl_usage_amount){1, 0}, world_now_ms);
    sl_usage_restore(account, SL_RESOURCES_MAX + d->how, (struct sl_usage_amount){1, 0},
                     world_now_ms);
    (void)sl_usage_compare(account, 0);
    if (d->how % 2 == 0) {
        sl_usage_settle(FIRST_FREE);
    }
    sl_usage_drop(FIRST_FREE);
    sl_usage_set_account(FIRST_FREE, SL_NO_ID);
    sl_usage_close(account);
}

static void fill_assumed(const struct door *d)
{
    uint32_t mark = sl_assumed_mark();
    CHECK(!sl_assumed_add(0, CPU, SL_AMOUNT_MAX + 1) &&
          !sl_assumed_add(0, CPU, -SL_AMOUNT_MAX - 1));
    while (sl_assumed_add(d->fit % HOSTS, CPU, d->other % 2 ? SL_AMOUNT_MAX : -SL_AMOUNT_MAX)) {
    }
    while (sl_assumed_add(d->fit % HOSTS, MEMORY, 1)) {
    }
    (void)sl_assumed_free(d->other % SLOTS);
    sl_assumed_back(mark);
    sl_sort_clear();
    for (uint32_t i = 0; i <= SL_WORKLOADS_MAX; i++) {
        sl_sort_add(i % SLOTS, i % 7, i);
    }
    sl_sort_run(d->other % 2 != 0);
    sl_sort_clear();
}

/* An assignment that takes much of one pool. */
static void fill_entries(const struct door *d)
{
    static struct sl_assignment saved;
    saved = sl_assignment;
    sl_entries_clear();
    memset(&sl_assignment, 0, sizeof sl_assignment);
    sl_assignment.workload = SL_NO_ID;
    sl_assignment.cluster_queue = COHORTS;
    sl_assignment.pod_set_count = d->how == 0 ? SL_POD_SETS_MAX : 0;
    sl_assignment.choice_count = d->how == 1 ? SL_CHOICES_MAX : 0;
    sl_assignment.need_count = d->how == 2 ? SL_USAGE_CELLS_MAX : 0;
    sl_assignment.detail_count = d->how == 3 ? SL_DETAILS_MAX : 0;
    sl_assignment.attempt_count = d->how == 4 ? SL_ATTEMPTS_MAX : 0;
    sl_victims.count = d->how == 5 ? SL_VICTIMS_MAX / 2 : 0;
    while (sl_entries_add(d->how == 5) != SL_NO_ID) {
    }
    (void)sl_entries_renew(0, d->how == 5);
    sl_entries_recall(d->other);
    sl_victims.count = 0;
    sl_entries_clear();
    sl_assignment = saved;
}

static void fill_places(const struct door *d)
{
    bool many_sets = d->other % 2 != 0;
    memset(sl_topology_plan.sets, 0, sizeof sl_topology_plan.sets);
    sl_topology_plan.set_count = many_sets ? SL_TOPOLOGY_SETS_MAX : 1;
    sl_topology_plan.row_count = many_sets ? 0 : SL_TOPOLOGY_ROWS_MAX;
    uint32_t entry = 0;
    while (entry < SL_ENTRIES_MAX && sl_entry_places_keep(entry)) {
        entry++;
    }
    CHECK(entry < SL_ENTRIES_MAX);
    sl_entry_places_clear();
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
}

/* Rooms for so many rows that the block for them is the whole pool, or more than that. */
static void fill_bookings(const struct door *d)
{
    struct sl_topology_set *set = &sl_topology_plan.sets[0];
    memset(set, 0, sizeof *set);
    sl_topology_plan.workload = FIRST_FREE;
    sl_topology_plan.set_count = 1;
    sl_topology_plan.row_count = 256 + d->other * 3;
    set->tree = PLACED;
    set->within = SL_NO_ID;
    set->count = set->row_count = sl_topology_plan.row_count;
    for (uint32_t i = 0; i < set->row_count; i++) {
        sl_topology_plan.rows[i] = (struct sl_topology_row){HOST + d->fit % HOSTS, 1};
    }
    set->request_count = 20;
    for (uint32_t k = 0; k < set->request_count; k++) {
        set->requests[k] = (struct sl_measure_amount){k + 1, d->how / 4};
    }
    (void)!sl_site_set_capacity(d->fit % HOSTS, SL_MEASURE_PODS, d->how % 2 ? 2000 : 6);
    (void)!sl_topology_check();
    (void)!sl_topology_promise();
    (void)!sl_topology_promise();
    sl_topology_promise_clear();
    (void)!sl_site_set_capacity(d->fit % HOSTS, SL_MEASURE_PODS, 6);
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
}

/* Each keeps as many flavors as it may, until there are no rows left. */
static void fill_slices(const struct door *d)
{
    enum sl_status status = SL_OK;
    sl_workload_id id = FIRST_FREE;
    for (; status == SL_OK; id++) {
        sl_slices_set(id, d->fit % SLOTS, 0);
        uint32_t kept = 0;
        while ((status = sl_slices_keep(id, kept, PLAIN)) == SL_OK) {
            kept++;
        }
        CHECK(status == SL_FULL_WORKLOADS || kept == SL_SLICE_ROWS_MAX);
        status = status == SL_FULL_WORKLOADS ? status : SL_OK;
    }
    CHECK(sl_slices_may_have(FIRST_FREE, 0, PLAIN) && !sl_slices_may_have(FIRST_FREE, 0, PLACED));
    while (id > FIRST_FREE) {
        id--;
        sl_slices_forget(id);
    }
}

void door_full(const struct door *d)
{
    static void (*const pools[])(const struct door *) = {
        fill_trail,   fill_promises, fill_demands, fill_masks,   fill_usage,
        fill_assumed, fill_entries,  fill_places,  fill_bookings};
    pools[(uint64_t)d->amount % (sizeof pools / sizeof pools[0])](d);
    if (d->other == 255) { /* what is filled besides: the list is as long as seeds know it */
        fill_slices(d);
    }
}

/* --- in the midst of a cycle -------------------------------------------------------------------- */

static void use_up(uint32_t what)
{
    uint32_t count = sl_topology_plan.set_count;
    switch (what % 5) {
    case 0:
        while (sl_tentative_promise(0, 0, 0, false)) {
        }
        break;
    case 1:
        while (sl_promise_add(0, 0) == SL_OK) {
        }
        break;
    case 2:
        while (sl_assumed_add(0, SL_MEASURES_MAX - 1, 0)) {
        }
        break;
    case 3:
        sl_assignment = (struct sl_assignment){.workload = SL_NO_ID, .cluster_queue = COHORTS};
        while (sl_entries_add(false) != SL_NO_ID) {
        }
        break;
    default:
        sl_topology_plan.set_count = 1;
        sl_topology_plan.row_count = 0;
        while (sl_entry_places_keep(SL_ENTRIES_MAX - 1)) {
        }
        sl_topology_plan.set_count = count;
        break;
    }
}

/* Before the cycle's outcome with that number a pool is used up. */
void door_full_cycle(struct producer *p)
{
    uint32_t what = producer_byte(p), left = producer_below(p, 4);
    const struct door none = {0};
    if (what >= 248) {
        what % 2 == 0 ? door_wide(p) : door_deep(p);
        return;
    }
    (void)(what & 64 ? sl_cycle_begin_all(world_now_ms) : sl_cycle_begin(world_now_ms));
    if (left == 0) {
        use_up(what);
    }
    while (sl_cycle_next()) {
        door_entries(&none);
        left = left == 0 ? 0 : left - 1;
        if (left == 0) {
            use_up(what);
        }
    }
    (void)sl_cycle_end();
}
