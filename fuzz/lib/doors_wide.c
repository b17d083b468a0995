/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is larger than the little cluster: a queue of so many flavors or resources that an answer about it is cut off, a
 * chain of Cohorts so deep that the undo trail ends in the midst of a trial, more cells than there are. All of it is
 * gone afterwards. */
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/doors.h"
#include "fuzz/lib/world.h"
#include "kernel/ledger/ledger_view.h"
#include "kernel/base/order.h"
#include "kernel/commit/placement.h"
#include "kernel/preempt/preempt.h"
#include "policy/fair/branches.h"
#include "policy/cycle/cycle.h"
#include "policy/requests/requests.h"
#include "policy/requests/offers.h"
#include "policy/flavors/open_cell.h"
#include "policy/queues/queues.h"
#include "policy/requests/slices.h"

enum { WIDE = 100, FIRST_FLAVOR = 10, FIRST_RESOURCE = 100, ALONE = 200, DEEP = 110 };
enum { WIDE_ID = SLOTS + 8, PREEMPTOR = SLOTS + 9, FIRST_VICTIM = SLOTS + 10 };

#define REFUSED(call) CHECK((call) != SL_OK)

static const struct sl_rules plain_rules = {SL_BEST_EFFORT_FIFO, SL_TRY_NEXT_FLAVOR,
                                            SL_TRY_NEXT_FLAVOR, SL_BORROWING_OVER_PREEMPTION,
                                            false};

/* --- wide --------------------------------------------------------------------------------------- */

static const struct {
    uint32_t flavors, resources, sets, requests, quota;
} shapes[] = {{1, 144, 9, 16, 100}, /* more claims than a workload may have */
              {34, 16, 1, 16, 0},   /* more reasons than are told */
              {34, 1, 18, 1, 0},    /* more attempts than are told */
              {2, 48, 3, 16, 0}};

static void open_wide(uint32_t shape)
{
    CHECK(sl_ledger_open_qnode(WIDE) == SL_OK);
    sl_branches_follow(WIDE);
    CHECK(sl_queues_configure(WIDE, plain_rules, true) == SL_OK);
    for (uint32_t f = 0; f < shapes[shape].flavors; f++) {
        for (uint32_t r = 0; r < shapes[shape].resources; r++) {
            sl_cell_id cell = SL_NO_ID;
            CHECK(sl_ledger_open_cell(WIDE, FIRST_FLAVOR + f, FIRST_RESOURCE + r, &cell) == SL_OK);
            CHECK(sl_ledger_set_quota(cell, shapes[shape].quota, SL_AMOUNT_UNLIMITED,
                                      SL_AMOUNT_UNLIMITED) == SL_OK);
            CHECK(sl_offers_add(WIDE, 0, cell) == SL_OK);
        }
    }
}

static void ask_wide(uint32_t shape, bool grouped)
{
    CHECK(world_tell(WIDE_ID, SL_EV_CREATE, 0, 0, 0) == SL_OK);
    for (uint32_t s = 0; s < shapes[shape].sets; s++) {
        CHECK(sl_requests_add_pod_set(WIDE_ID, 1) == SL_OK);
        CHECK(sl_requests_set_group(WIDE_ID, grouped ? 1 : SL_NO_ID) == SL_OK);
        for (uint32_t i = 0; i < shapes[shape].requests; i++) {
            uint32_t r = (s * shapes[shape].requests + i) % shapes[shape].resources;
            CHECK(sl_requests_add(WIDE_ID, FIRST_RESOURCE + r, 1) == SL_OK);
        }
    }
    struct sl_order_key key = {1, 1000, 0, WIDE_ID};
    CHECK(sl_queues_attach(WIDE_ID, WIDE, key) == SL_OK);
    sl_queues_settle(WIDE_ID, world_now_ms);
}

static void tell(sl_workload_id id, enum sl_event_kind kind, uint32_t reason)
{
    struct sl_event ev = {.kind = kind,
                          .workload = id,
                          .generation = sl_workloads[id].generation,
                          .reason = reason,
                          .now_ms = world_now_ms};
    CHECK(sl_placement_event(ev) == SL_OK);
}

/* Somebody has all of the first resource. */
static void hold_wide(uint32_t quota)
{
    tell(FIRST_VICTIM, SL_EV_CREATE, 0);
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = FIRST_VICTIM;
    sl_plan.generation = sl_workloads[FIRST_VICTIM].generation;
    sl_plan.cluster_queue = WIDE;
    sl_plan.now_ms = world_now_ms;
    sl_plan.usage_count = 1;
    sl_plan.usage[0] =
        (struct sl_cell_amount){sl_ledger_find_cell(WIDE, FIRST_FLAVOR, FIRST_RESOURCE), quota};
    CHECK(sl_commit_restore() == SL_OK);
}

void door_wide(struct producer *p)
{
    uint32_t shape = producer_below(p, sizeof shapes / sizeof shapes[0]), bits = producer_byte(p);
    open_wide(shape);
    if (bits & 2) {
        hold_wide(shapes[shape].quota);
    }
    ask_wide(shape, bits & 1);
    if (bits & 4) {
        sl_slices_set(WIDE_ID, FIRST_VICTIM, sl_workloads[FIRST_VICTIM].generation);
    }
    (void)sl_cycle_begin(world_now_ms);
    while (sl_cycle_next()) {
        CHECK(sl_cycle_outcome.workload != WIDE_ID || sl_cycle_outcome.result == SL_CYCLE_PENDING);
    }
    (void)sl_cycle_end();
    CHECK(world_tell(WIDE_ID, SL_EV_DELETE, 0, 0, 0) == SL_OK);
    if (bits & 2) {
        tell(FIRST_VICTIM, SL_EV_DELETE, 0);
    }
    CHECK(sl_queues_configure(WIDE, plain_rules, false) == SL_OK);
    sl_offers_clear(WIDE);
    CHECK(sl_ledger_close_qnode(WIDE) == SL_OK);
    sl_branches_follow(WIDE);
}

/* --- deep --------------------------------------------------------------------------------------- */

static sl_qnode_id deepest(uint32_t depth)
{
    return DEEP + depth - 1;
}

static void open_chain(uint32_t depth)
{
    for (sl_qnode_id node = DEEP; node <= deepest(depth); node++) {
        CHECK(sl_ledger_open_qnode(node) == SL_OK);
        CHECK(node == DEEP || sl_ledger_move_qnode(node, node - 1) == SL_OK);
        sl_branches_follow(node);
    }
}

static void close_chain(uint32_t depth)
{
    for (sl_qnode_id node = deepest(depth); node >= DEEP; node--) {
        CHECK(sl_ledger_close_qnode(node) == SL_OK);
        sl_branches_follow(node);
    }
}

/* A unit of each of so many resources in the deepest queue. */
static void fill_plan(sl_workload_id id, uint32_t depth, uint32_t usage)
{
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = deepest(depth);
    sl_plan.usage_count = usage;
    sl_plan.now_ms = world_now_ms;
    for (uint32_t i = 0; i < usage; i++) {
        sl_cell_id cell = SL_NO_ID;
        CHECK(sl_ledger_open_cell(deepest(depth), PLAIN, FIRST_RESOURCE + i, &cell) == SL_OK);
        sl_plan.usage[i] = (struct sl_cell_amount){cell, 1};
    }
}

static void open_victims(uint32_t depth, uint32_t count, uint32_t gone)
{
    for (sl_workload_id id = FIRST_VICTIM; id < FIRST_VICTIM + count + gone; id++) {
        tell(id, SL_EV_CREATE, 0);
        sl_order_set(id, (struct sl_order_key){0, 1000, 0, id});
        fill_plan(id, depth, SL_USAGE_CELLS_MAX);
        CHECK(sl_commit_restore() == SL_OK);
        if (id >= FIRST_VICTIM + count) {
            tell(id, SL_EV_PREEMPT, SL_PREEMPT_IN_CLUSTER_QUEUE);
        }
    }
    sl_preempt_plan = (struct sl_preempt_plan){.victim_count = count, .gone_count = gone};
    for (uint32_t i = 0; i < count; i++) {
        sl_preempt_plan.victims[i] = FIRST_VICTIM + i;
        sl_preempt_plan.reasons[i] = SL_PREEMPT_IN_CLUSTER_QUEUE;
    }
    for (uint32_t i = 0; i < gone; i++) {
        sl_preempt_plan.gone[i] = FIRST_VICTIM + count + i;
    }
}

static void open_preemptor(uint32_t depth)
{
    struct sl_preempt_policy policy = {SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_NEVER, false, false, 0};
    CHECK(sl_preempt_set_policy(deepest(depth), policy) == SL_OK);
    tell(PREEMPTOR, SL_EV_CREATE, 0);
    sl_order_set(PREEMPTOR, (struct sl_order_key){1, 1000, 0, PREEMPTOR});
    CHECK(sl_place_move(PREEMPTOR, SL_PLACE_ORPHANED, SL_PLACE_HEAP) == SL_OK);
    CHECK(sl_place_move(PREEMPTOR, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT) == SL_OK);
    fill_plan(PREEMPTOR, depth, 1);
}

/* The trail is as long as this many victims' claims from here to the root, about. */
static void end_of_trail(uint32_t depth, uint32_t count, uint32_t gone)
{
    open_chain(depth);
    open_victims(depth, count, gone);
    open_preemptor(depth);
    sl_preempt_plan.may_borrow = true;
    sl_topology_plan.set_count = sl_topology_plan.row_count = 0;
    CHECK(sl_preempt_check() == SL_FULL_TRAIL);
    for (sl_workload_id id = PREEMPTOR; id < FIRST_VICTIM + count + gone; id++) {
        tell(id, SL_EV_DELETE, 0);
    }
    sl_preempt_plan.victim_count = sl_preempt_plan.gone_count = 0;
    sl_plan.usage_count = 0;
    close_chain(depth);
}

/* One node more than may lie under each other; and one whose cells find none above them any more. */
static void end_of_cells(void)
{
    sl_cell_id cell = SL_NO_ID;
    open_chain(SL_LEVELS_MAX);
    CHECK(sl_ledger_open_qnode(ALONE) == SL_OK && sl_ledger_open_qnode(WIDE) == SL_OK);
    REFUSED(sl_ledger_move_qnode(ALONE, deepest(SL_LEVELS_MAX)));
    CHECK(sl_ledger_move_qnode(WIDE, ALONE) == SL_OK); /* it would lie too deep, with that one */
    REFUSED(sl_ledger_move_qnode(ALONE, deepest(SL_LEVELS_MAX - 1)));
    CHECK(sl_ledger_move_qnode(WIDE, SL_NO_ID) == SL_OK);
    CHECK(sl_ledger_open_cell(ALONE, FIRST_FLAVOR, CPU, &cell) == SL_OK);
    for (uint32_t i = 0; sl_ledger_ensure_cell(WIDE, FIRST_FLAVOR, FIRST_RESOURCE + i) == SL_OK;
         i++) {
        CHECK(i < SL_CELLS_MAX);
    }
    CHECK(sl_ledger_ensure_cell(deepest(2), FIRST_FLAVOR, MEMORY) == SL_FULL_CELLS);
    CHECK(sl_ledger_move_qnode(ALONE, DEEP) == SL_FULL_CELLS);
    CHECK(sl_ledger_close_qnode(ALONE) == SL_OK && sl_ledger_close_qnode(WIDE) == SL_OK);
    close_chain(SL_LEVELS_MAX);
}

/* Two that hold as much as may be held, one after the other. */
static void end_of_amounts(void)
{
    open_chain(2);
    for (sl_workload_id id = FIRST_VICTIM; id < FIRST_VICTIM + 2; id++) {
        tell(id, SL_EV_CREATE, 0);
        fill_plan(id, 2, 2);
        sl_plan.usage[1].amount = SL_AMOUNT_MAX;
        CHECK((sl_commit_restore() == SL_OK) == (id == FIRST_VICTIM));
    }
    tell(FIRST_VICTIM, SL_EV_DELETE, 0);
    tell(FIRST_VICTIM + 1, SL_EV_DELETE, 0);
    sl_plan.usage_count = 0;
    close_chain(2);
}

/* A domain below the lowest level that there may be, and one below a node. */
static void end_of_levels(void)
{
    enum { TREE = 203, TOP = 600 };
    for (uint32_t d = 0; d < SL_DEPTHS_MAX; d++) {
        sl_domain_id up = d == 0 ? SL_NO_ID : TOP + d - 1;
        CHECK(sl_domain_open(TOP + d, TREE, up, SL_NO_ID) == SL_OK);
    }
    REFUSED(sl_domain_open(TOP + SL_DEPTHS_MAX, TREE, TOP + SL_DEPTHS_MAX - 1, SL_NO_ID));
    CHECK(sl_domain_open(TOP + SL_DEPTHS_MAX, TREE, TOP, HOSTS + 1) == SL_OK);
    REFUSED(sl_domain_open(TOP + SL_DEPTHS_MAX + 1, TREE, TOP + SL_DEPTHS_MAX, SL_NO_ID));
    for (uint32_t d = SL_DEPTHS_MAX + 1; d > 0; d--) {
        CHECK(sl_domain_close(TOP + d - 1) == SL_OK);
    }
}

void door_deep(struct producer *p)
{
    enum { DEPTH = 15 };
    uint32_t all =
        SL_TRAIL_MAX / (SL_USAGE_CELLS_MAX * DEPTH); /* victims whose release just fits */
    switch (producer_below(p, 6)) {
    case 0:
        end_of_trail(DEPTH, all + 2, 0);
        break;
    case 1:
        end_of_trail(DEPTH, all, 0); /* then one of them does not come back */
        break;
    case 2:
        end_of_trail(DEPTH, 1, all + 2);
        break;
    case 3:
        end_of_amounts();
        break;
    case 4:
        end_of_levels();
        break;
    default:
        end_of_cells();
        break;
    }
}
