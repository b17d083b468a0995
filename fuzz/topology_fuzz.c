/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: domains that open and close, capacities that change, plans of quota and rooms, second passes, promises and
 * events, on six workloads and eight nodes in four racks.
 * Oracle: the checkers after each step; what is used of each room against a sum over all that stand; a refusal
 * changes no room; a plan that was asked for room leaves none overfull that was not; who has no job left to stop has
 * booked nothing; a second pass moves nobody from a node that has not failed; at the end everything is given back.
 * Input: events of an operation byte and its own fields. */
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/producer.h"
#include "fuzz/lib/state.h"
#include "kernel/commit/placement.h"
#include "policy/flavors/open_cell.h"

enum { SLOTS = 6, NODES = 8, RACKS = 4, TREE = 1, RACK = 10, NODE = 20, CPU = 1, QUOTA = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sl_cell_id cell;
static int64_t before_used[NODES][2];

static enum sl_status tell(sl_workload_id id, enum sl_event_kind kind, uint32_t index,
                           uint32_t reason)
{
    struct sl_event ev = {kind, id, sl_workloads[id].generation, index, reason, 0, 1000};
    return sl_placement_event(ev);
}

static void note_rooms(void)
{
    for (uint32_t n = 0; n < NODES; n++) {
        before_used[n][0] = sl_site_used_of(n, SL_MEASURE_PODS);
        before_used[n][1] = sl_site_used_of(n, CPU);
    }
}

/* After a plan: nothing changed when it was refused; none is overfull that was not when room was asked for. */
static void check_rooms(enum sl_status status, bool asked)
{
    for (uint32_t n = 0; n < NODES; n++) {
        for (uint32_t m = 0; m < 2; m++) {
            int64_t used = sl_site_used_of(n, m);
            CHECK(status == SL_OK || used == before_used[n][m]);
            CHECK(!asked || used <= before_used[n][m] ||
                  used + sl_site_promised_of(n, m) <= sl_site_capacity_of(n, m));
        }
    }
}

/* The checkers, and pods on each node against a sum over all rows. */
static void check_world(void)
{
    int64_t pods[NODES] = {0};
    fuzz_guarantees_kernel(SLOTS);
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        for (uint32_t i = 0; i < sl_topology_assignment_count(id); i++) {
            struct sl_domain_assignment assignment = sl_topology_assignment_at(id, i);
            CHECK(sl_domain_is_open(assignment.domain));
            pods[sl_domain_site(assignment.domain)] += assignment.count;
        }
    }
    for (uint32_t n = 0; n < NODES; n++) {
        CHECK(sl_site_used_of(n, SL_MEASURE_PODS) == pods[n]);
    }
}

static void fill_set(struct producer *p, uint32_t pod_set)
{
    struct sl_topology_plan *plan = &sl_topology_plan;
    struct sl_topology_set *set = &plan->sets[plan->set_count++];
    uint32_t shape = producer_byte(p);
    memset(set, 0, sizeof *set);
    set->pod_set = pod_set;
    set->tree = TREE;
    set->within = shape % 4 == 0 ? RACK + shape / 4 % RACKS : SL_NO_ID;
    set->first_row = plan->row_count;
    set->row_count = 1 + producer_below(p, 3);
    if (shape % 8 == 1) {
        set->layer_count = 1;
        set->layers[0] = (struct sl_topology_layer){shape / 8 % 2, 2};
    }
    for (uint32_t i = 0; i < set->row_count; i++) {
        uint32_t count = producer_below(p, 4);
        set->count += count;
        plan->rows[plan->row_count++] =
            (struct sl_topology_row){NODE + producer_below(p, NODES), count};
    }
    set->request_count = 1;
    set->requests[0] = (struct sl_measure_amount){CPU, producer_below(p, 4)};
}

static void fill_plans(struct producer *p, sl_workload_id id)
{
    uint32_t sets = producer_below(p, 3);
    sl_topology_plan.workload = id;
    sl_topology_plan.set_count = sl_topology_plan.row_count = 0;
    for (uint32_t s = 0; s < sets; s++) {
        fill_set(p, s);
    }
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = 0;
    sl_plan.usage_count = 1;
    sl_plan.usage[0] = (struct sl_cell_amount){cell, producer_below(p, 16)};
    sl_plan.topology_pending = producer_below(p, 4) == 0;
    sl_plan.now_ms = 1000;
}

static void step_plan(struct producer *p, sl_workload_id id)
{
    bool restore = producer_below(p, 4) == 0;
    fill_plans(p, id);
    if (!restore && sl_places[id] == SL_PLACE_ORPHANED) {
        (void)!sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP);
        (void)!sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT);
    }
    note_rooms();
    fuzz_guarantees_step(SLOTS, false);
    enum sl_status status = restore ? sl_placement_restore() : sl_placement_commit();
    fuzz_guarantees_step(SLOTS, !restore);
    check_rooms(status, !restore);
    CHECK(status == SL_OK || sl_booking_count(id) == 0 || sl_lifecycle_holds_capacity(id));
    CHECK(status != SL_OK || sl_topology_assignment_count(id) == sl_topology_plan.row_count);
}

static bool has_failed(const struct sl_workload *before, sl_site_id site)
{
    bool found = false;
    for (uint32_t i = 0; i < before->unhealthy_count; i++) {
        found = found || before->unhealthy[i] == site;
    }
    return found;
}

/* Pods on nodes that have not failed are where they were, or more of them. */
static void check_kept(sl_workload_id id, const struct sl_workload *before,
                       const struct sl_domain_assignment *old, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool kept = has_failed(before, sl_domain_site(old[i].domain));
        for (uint32_t k = 0; !kept && k < sl_topology_assignment_count(id); k++) {
            struct sl_domain_assignment now = sl_topology_assignment_at(id, k);
            kept = now.pod_set == old[i].pod_set && now.domain == old[i].domain &&
                   now.count >= old[i].count;
        }
        CHECK(kept);
    }
}

static void step_pass(struct producer *p, sl_workload_id id)
{
    struct sl_domain_assignment old[6];
    uint32_t count = sl_topology_assignment_count(id);
    for (uint32_t i = 0; i < count; i++) {
        old[i] = sl_topology_assignment_at(id, i);
    }
    (void)!tell(id, SL_EV_NODE_FAILED, producer_below(p, NODES), 0);
    fill_plans(p, id);
    struct sl_workload before = sl_workloads[id];
    bool needed = sl_second_pass_needed(id);
    int64_t usage = sl_ledger_usage(cell);
    note_rooms();
    enum sl_status status = sl_placement_second_pass(sl_workloads[id].generation, 1000);
    check_rooms(status, true);
    CHECK(sl_ledger_usage(cell) == usage);
    if (status == SL_OK) {
        CHECK(needed && sl_workloads[id].phase == SL_PHASE_ADMITTED);
        check_kept(id, &before, old, count);
    }
}

static void step_world(struct producer *p)
{
    uint32_t node = producer_below(p, NODES);
    switch (producer_below(p, 5)) {
    case 0:
        (void)!sl_domain_close(NODE + node);
        break;
    case 1:
        (void)!sl_domain_open(NODE + node, TREE, RACK + node / 2, node);
        break;
    case 2:
        (void)!sl_site_set_capacity(node, producer_below(p, 2), producer_below(p, 16));
        break;
    case 3:
        fill_plans(p, 0);
        (void)!sl_topology_promise();
        break;
    default:
        sl_topology_promise_clear();
        break;
    }
}

static void open_world(void)
{
    CHECK(sl_ledger_open_qnode(0) == SL_OK && sl_ledger_open_cell(0, 1, CPU, &cell) == SL_OK);
    CHECK(sl_ledger_set_quota(cell, QUOTA, 0, 0) == SL_OK);
    for (uint32_t r = 0; r < RACKS; r++) {
        CHECK(sl_domain_open(RACK + r, TREE, SL_NO_ID, SL_NO_ID) == SL_OK);
    }
    for (uint32_t n = 0; n < NODES; n++) {
        CHECK(sl_domain_open(NODE + n, TREE, RACK + n / 2, n) == SL_OK);
        CHECK(sl_site_set_capacity(n, SL_MEASURE_PODS, 4) == SL_OK);
        CHECK(sl_site_set_capacity(n, CPU, 8) == SL_OK);
    }
}

/* With everybody gone every room is empty, and every domain can close. */
static void close_world(void)
{
    sl_topology_promise_clear();
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        (void)!tell(id, SL_EV_DELETE, 0, 0);
    }
    check_world();
    for (uint32_t n = 0; n < NODES; n++) {
        CHECK(sl_site_used_of(n, SL_MEASURE_PODS) == 0 && sl_site_used_of(n, CPU) == 0);
        CHECK(!sl_domain_is_open(NODE + n) || sl_domain_close(NODE + n) == SL_OK);
    }
    for (uint32_t r = 0; r < RACKS; r++) {
        CHECK(sl_domain_close(RACK + r) == SL_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer program = {data, size}, p;
    fuzz_state_reset();
    open_world();
    while (producer_event(&program, &p)) {
        uint8_t operation = producer_byte(&p);
        sl_workload_id id = operation / 8 % SLOTS;
        switch (operation % 8) {
        case 0:
        case 1:
            (void)!tell(id, SL_EV_CREATE, 0, 0);
            step_plan(&p, id);
            break;
        case 2:
        case 3:
            step_pass(&p, id);
            break;
        case 4:
        case 5:
            (void)!tell(id, producer_below(&p, SL_EVENT_COUNT), producer_below(&p, NODES),
                        producer_below(&p, 8));
            break;
        default:
            step_world(&p);
            break;
        }
        check_world();
    }
    close_world();
    return 0;
}
