/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: the little cluster of fuzz/lib/world.h, as `cycle` does.
 * Oracle: after every step each cell's usage, and what is available and could be, by a plain quadratic reference
 * (fuzz/lib/forest.h) from quotas as they were said and from what workloads hold; at the end the same cluster made
 * anew in an empty core, from quotas and holders alone, in another order, says the same of every cell, room, holder
 * and of the order in which workloads are tried. The same program run again gives the same state (G11).
 * Input: events; the first says the settings. */
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/state.h"
#include "fuzz/lib/world.h"
#include "kernel/ledger/ledger.h"
#include "kernel/base/order.h"
#include "kernel/commit/placement.h"
#include "policy/flavors/open_cell.h"
#include "policy/common/settings.h"
#include "policy/queues/queues.h"

enum { CLAIMS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What can be seen of a core, outside of it. */
struct cell_view {
    int64_t usage, available, potential;
};
struct view {
    struct cell_view cells[NODES][NAMES];
    int64_t capacities[HOSTS][2];
    struct sl_workload records[SLOTS];
    enum sl_place places[SLOTS];
};
static struct view first, second;

/* --- against the reference ---------------------------------------------------------------------- */

static void look_at_cells(struct view *v)
{
    for (uint32_t n = 0; n < NODES; n++) {
        for (uint32_t k = 0; k < NAMES; k++) {
            sl_cell_id cell = sl_ledger_find_cell(n, PLAIN + k / 2, CPU + k % 2);
            v->cells[n][k] = (struct cell_view){sl_ledger_usage(cell), sl_ledger_available(cell),
                                                sl_ledger_potential(cell)};
        }
    }
}

static void check_cells(const struct view *v)
{
    world_hold();
    for (uint32_t n = 0; n < NODES; n++) {
        for (uint32_t k = 0; k < NAMES; k++) {
            if (sl_ledger_find_cell(n, PLAIN + k / 2, CPU + k % 2) != SL_NO_ID) {
                CHECK(v->cells[n][k].usage == forest_usage(&world_forest, n, k));
                CHECK(v->cells[n][k].available == forest_available(&world_forest, n, k));
                CHECK(v->cells[n][k].potential == forest_potential(&world_forest, n, k));
            }
        }
    }
}

/* Are a queue's heads given out in the order of keys? */
static void check_order(void)
{
    for (sl_qnode_id q = COHORTS; q < NODES; q++) {
        uint32_t count = sl_queues_list(q);
        CHECK(count == sl_queues_heap_count(q) + sl_queues_parked_count(q));
        bool by_key = !sl_settings.prioritize_preemptors && !sl_settings.admission_fair_sharing;
        for (uint32_t i = 1; i < count && by_key; i++) {
            struct sl_order_key a = sl_order_keys[sl_queues_listed(i - 1)];
            struct sl_order_key b = sl_order_keys[sl_queues_listed(i)];
            bool sticky = i == 1; /* a preemptor goes first, whatever its key */
            CHECK(sticky || a.priority > b.priority ||
                  (a.priority == b.priority && a.queued_at_ms < b.queued_at_ms) ||
                  (a.priority == b.priority && a.queued_at_ms == b.queued_at_ms &&
                   a.uid_low < b.uid_low));
        }
    }
}

static void look(struct view *v)
{
    memset(v, 0, sizeof *v);
    look_at_cells(v);
    for (uint32_t h = 0; h < HOSTS; h++) {
        v->capacities[h][0] = sl_site_used_of(h, SL_MEASURE_PODS);
        v->capacities[h][1] = sl_site_used_of(h, CPU);
    }
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        memcpy(&v->records[id], &sl_workloads[id], sizeof v->records[id]);
        v->places[id] = sl_place_of(id);
    }
}

/* --- made anew ---------------------------------------------------------------------------------- */

struct holder {
    uint32_t queue, usage_count;
    struct {
        uint32_t name;
        int64_t amount;
    } usage[CLAIMS];
};
static struct holder holders[SLOTS];

static void note_holders(void)
{
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        struct holder *h = &holders[id];
        uint32_t count = sl_lifecycle_holds_quota(id) ? sl_commit_usage_count(id) : 0;
        h->usage_count = 0;
        CHECK(count <= CLAIMS);
        for (uint32_t i = 0; i < count; i++) {
            struct sl_cell_amount usage = sl_commit_usage(id, i);
            if (usage.amount == 0) { /* its cell may be closed by now */
                continue;
            }
            h->queue = sl_ledger_qnode_of(usage.cell);
            h->usage[h->usage_count].name =
                world_name(sl_ledger_flavor_of(usage.cell), sl_ledger_resource_of(usage.cell));
            h->usage[h->usage_count++].amount = usage.amount;
        }
    }
}

static int64_t limit_of(int64_t v)
{
    return v == FOREST_UNLIMITED ? SL_AMOUNT_UNLIMITED : v;
}

/* Leaves first: the other way round than they came. */
static void make_forest(void)
{
    for (uint32_t i = NODES; i > 0; i--) {
        sl_cell_id cell = SL_NO_ID;
        CHECK(sl_ledger_open_qnode(i - 1) == SL_OK);
        for (uint32_t k = 0; k < NAMES; k++) {
            struct forest_quota q = world_forest.quota[i - 1][k];
            CHECK(sl_ledger_open_cell(i - 1, PLAIN + k / 2, CPU + k % 2, &cell) == SL_OK);
            CHECK(sl_ledger_set_quota(cell, q.nominal, limit_of(q.lending),
                                      limit_of(q.borrowing)) == SL_OK);
        }
    }
    for (sl_qnode_id n = 0; n < NODES; n++) {
        uint32_t parent = world_forest.parent[n];
        CHECK(parent == FOREST_NONE || sl_ledger_move_qnode(n, parent) == SL_OK);
    }
}

static void restore(sl_workload_id id)
{
    const struct holder *h = &holders[id];
    struct sl_event create = {SL_EV_CREATE, id, 0, 0, 0, 0, world_now_ms};
    if (h->usage_count == 0) {
        return;
    }
    CHECK(sl_commit_event(create) == SL_OK);
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = id;
    sl_plan.cluster_queue = h->queue;
    sl_plan.usage_count = h->usage_count;
    sl_plan.now_ms = world_now_ms;
    for (uint32_t i = 0; i < h->usage_count; i++) {
        uint32_t name = h->usage[i].name;
        sl_cell_id cell = sl_ledger_find_cell(h->queue, PLAIN + name / 2, CPU + name % 2);
        sl_plan.usage[i] = (struct sl_cell_amount){cell, h->usage[i].amount};
    }
    CHECK(sl_commit_restore() == SL_OK);
}

static void check_made_anew(void)
{
    note_holders();
    look(&first);
    fuzz_state_reset();
    make_forest();
    for (sl_workload_id id = SLOTS; id > 0; id--) {
        restore(id - 1);
    }
    fuzz_guarantees_kernel(SLOTS);
    look(&second);
    for (uint32_t n = 0; n < NODES; n++) {
        for (uint32_t k = 0; k < NAMES; k++) {
            const struct cell_view *a = &first.cells[n][k], *b = &second.cells[n][k];
            bool had = a->usage != 0 || a->available != 0 || a->potential != 0;
            CHECK(!had || (a->usage == b->usage && a->available == b->available &&
                           a->potential == b->potential));
        }
    }
}

static void run(const uint8_t *data, size_t size, bool checked)
{
    struct producer program = {data, size}, p;
    (void)producer_event(&program, &p);
    world_open(&p);
    while (producer_event(&program, &p)) {
        (void)world_step(&p);
        if (checked) {
            look_at_cells(&first);
            check_cells(&first);
            check_order();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    fuzz_state_reset();
    run(data, size, false);
    look(&first);
    fuzz_state_reset();
    run(data, size, true);
    look(&second);
    CHECK(memcmp(&first, &second, sizeof first) == 0);
    check_made_anew();
    return 0;
}
