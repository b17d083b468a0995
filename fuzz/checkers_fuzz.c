/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: the checkers of the guarantees, on cores that are broken on purpose: in the little cluster of
 * fuzz/lib/world.h one value after the other of the kernel's state is overwritten, looked at, and put back.
 * Oracle: what no sound core can have is found; no checker touches what is not there, whatever it is shown; with
 * the value put back all guarantees hold again, so no checker leaves anything behind.
 * Input: events; the first says the settings; of the others every fourth kind breaks, the rest are steps. */
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/play.h"
#include "fuzz/lib/world.h"
#include "kernel/ledger/cells.h"
#include "kernel/commit/workload_usage.h"
#include "kernel/commit/placement.h"
#include "kernel/commit/promise.h"
#include "kernel/lifecycle/second_pass.h"
#include "kernel/ledger/trail.h"
#include "policy/guarantees/guarantees.h"
#include "policy/queues/holders.h"
#include "policy/queues/queues.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is demanded when a value is not what it was. */
enum request {
    NOTHING, /* there are sound cores with other values */
    FOUND,   /* any other value is found */
    BEYOND   /* a value that is larger than any is found */
};
struct field {
    void *base;
    size_t size, stride; /* bytes of one value, and from one to the next */
    uint32_t count;      /* how many are looked at */
    enum request request;
};
static struct field fields[96];
static uint32_t field_count;

static void add(void *base, size_t size, size_t stride, uint32_t count, enum request request)
{
    CHECK(field_count < sizeof fields / sizeof fields[0]);
    if (count > 0) {
        fields[field_count++] = (struct field){base, size, stride, count, request};
    }
}
#define ARRAY(array, count, request) add(array, sizeof array[0], sizeof array[0], count, request)
#define ONE(value, request) add(&(value), sizeof value, sizeof value, 1, request)
#define RECORD(member, request)                                                                    \
    add(&sl_workloads[0].member, sizeof sl_workloads[0].member, sizeof sl_workloads[0], SLOTS,     \
        request)

static void add_ledger(void)
{
    ARRAY(sl_cell_home, sl_cell_limit, FOUND);
    ARRAY(sl_cell_up, sl_cell_limit, FOUND);
    ARRAY(sl_cell_next, sl_cell_limit, sl_cell_spares == 0 ? FOUND : NOTHING);
    ARRAY(sl_cell_rank, sl_cell_limit, sl_cell_spares == 0 ? FOUND : NOTHING);
    ARRAY(sl_cell_flavor, sl_cell_limit, NOTHING);
    ARRAY(sl_cell_resource, sl_cell_limit, NOTHING);
    ARRAY(sl_cell_nominal, sl_cell_limit, BEYOND);
    ARRAY(sl_cell_lending, sl_cell_limit, BEYOND);
    ARRAY(sl_cell_borrowing, sl_cell_limit, BEYOND);
    ARRAY(sl_cell_lent_low, sl_cell_limit, FOUND);
    ARRAY(sl_cell_lent_high, sl_cell_limit, FOUND);
    ARRAY(sl_cell_subtree, sl_cell_limit, FOUND);
    ARRAY(sl_cell_kept, sl_cell_limit, FOUND);
    ARRAY(sl_cell_own, sl_cell_limit, FOUND);
    ARRAY(sl_cell_usage, sl_cell_limit, FOUND);
    ARRAY(sl_total, SL_TOTALS_MAX, FOUND);
    ARRAY(sl_qnode_up, sl_qnode_limit, FOUND);
    ARRAY(sl_qnode_level, sl_qnode_limit, FOUND);
    ARRAY(sl_qnode_children, sl_qnode_limit, FOUND);
    ARRAY(sl_qnode_cells, sl_qnode_limit, FOUND);
    ARRAY(sl_qnode_first, sl_qnode_limit, FOUND);
    ONE(sl_qnode_limit, BEYOND);
    ONE(sl_cell_limit, BEYOND);
    ONE(sl_trail_depth, FOUND);
    ONE(sl_promises, FOUND);
}

static void add_usage_rows(sl_workload_id id)
{
    ARRAY(sl_usage_counts, SLOTS, BEYOND);
    ARRAY(sl_usage_cells[id], sl_usage_counts[id], BEYOND);
    ARRAY(sl_usage_amounts[id], sl_usage_counts[id], FOUND);
    ONE(sl_usage_workload_limit, BEYOND);
    ONE(sl_usage_cell_limit, BEYOND);
    ONE(sl_second_pass_total, BEYOND);
    ARRAY(sl_places, SLOTS, BEYOND);
    add(&sl_second_passes[0].workload, sizeof(sl_workload_id), sizeof sl_second_passes[0],
        sl_second_pass_total, FOUND);
    add(&sl_second_passes[0].due_ms, sizeof(int64_t), sizeof sl_second_passes[0],
        sl_second_pass_total, BEYOND);
    ARRAY(sl_second_pass_index, SLOTS, NOTHING);
}

static void add_records(sl_workload_id id)
{
    struct sl_workload *w = &sl_workloads[id];
    RECORD(phase, NOTHING); /* beyond the last one: as if it held nothing, which may be so */
    RECORD(generation, NOTHING);
    RECORD(pending_reason, NOTHING);
    RECORD(evicted, NOTHING);
    RECORD(preempted, NOTHING);
    RECORD(deactivation, NOTHING);
    RECORD(finished, NOTHING);
    RECORD(requeued, NOTHING);
    RECORD(requeue_reason, NOTHING);
    RECORD(pods_ready, NOTHING);
    RECORD(requeue_count, NOTHING);
    RECORD(requeue_at_ms, NOTHING);
    RECORD(reserved_at_ms, NOTHING);
    RECORD(admitted_at_ms, NOTHING);
    RECORD(evicted_at_ms, NOTHING);
    RECORD(pods_ready_at_ms, NOTHING);
    RECORD(accumulated_ms, NOTHING);
    RECORD(execution_ms_max, NOTHING);
    RECORD(eviction_count, NOTHING);
    RECORD(check_count, NOTHING);
    RECORD(unhealthy_count, NOTHING);
    add(&w->checks[0].check, sizeof(sl_check_id), sizeof w->checks[0], w->check_count, NOTHING);
    add(&w->checks[0].state, sizeof w->checks[0].state, sizeof w->checks[0], w->check_count,
        BEYOND);
    add(&w->checks[0].retry_after_ms, sizeof(int64_t), sizeof w->checks[0], w->check_count, BEYOND);
    RECORD(active, NOTHING);
    RECORD(on_hold, NOTHING);
    RECORD(gated, NOTHING);
    RECORD(has_admission, NOTHING);
    RECORD(was_admitted, NOTHING);
    RECORD(topology_pending, NOTHING);
}

static void add_topology(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    ARRAY(sl_domain_trees, sl_domain_limit, NOTHING);
    ARRAY(sl_domain_parents, sl_domain_limit, NOTHING);
    ARRAY(sl_domain_sites, sl_domain_limit, NOTHING);
    ARRAY(sl_domain_depths, sl_domain_limit, NOTHING);
    ARRAY(sl_domain_up[20], SL_DEPTHS_MAX, NOTHING);
    ARRAY(sl_domain_assigned, sl_domain_limit, NOTHING);
    ARRAY(sl_domain_children, sl_domain_limit, NOTHING);
    ONE(sl_domain_limit, BEYOND);
    ONE(sl_domain_site_limit, BEYOND);
    ONE(sl_booking_workload_limit, BEYOND);
    ARRAY(sl_booking_firsts, sl_booking_workload_limit, BEYOND);
    ARRAY(sl_booking_counts, sl_booking_workload_limit, BEYOND);
    ARRAY(sl_assigned_counts, sl_booking_workload_limit, BEYOND);
    ARRAY((&sl_booking_owners[first]), sl_booking_counts[id], FOUND);
    ARRAY((&sl_booking_capacities[first]), sl_booking_counts[id], BEYOND);
    ARRAY((&sl_booking_amounts[first]), sl_booking_counts[id], FOUND);
    ARRAY((&sl_assigned_domains[first]), sl_assigned_counts[id], BEYOND);
    ARRAY((&sl_assigned_pods[first]), sl_assigned_counts[id], NOTHING);
    ARRAY(sl_site_used, sl_domain_site_limit, FOUND);
}

/* --- looking ------------------------------------------------------------------------------------ */

/* Each of the kernel's own, also where another one would have spoken first. */
static void ask_all(void)
{
    (void)sl_commit_valid();
    (void)sl_second_pass_valid();
    (void)sl_topology_valid();
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        (void)sl_lifecycle_valid(id);
        (void)sl_place_agrees(id);
    }
}

static bool speaks(void)
{
    struct sl_finding f = sl_guarantees_kernel(SLOTS);
    if (f.rule == SL_RULE_NONE) {
        f = sl_guarantees_policy(SLOTS);
    }
    if (f.rule == SL_RULE_NONE) {
        f = sl_guarantees_step(SLOTS, true);
    }
    return f.rule != SL_RULE_NONE;
}

static void overwrite(struct field f, unsigned char *at, uint32_t how, uint64_t value)
{
    uint64_t old = 0;
    memcpy(&old, at, f.size); /* little endian */
    uint64_t choice[] = {old + 1, old - 1, old + (1u << how / 8), ~UINT64_C(0) >> 1,
                         0,       value,   ~UINT64_C(0),          old ^ 1};
    uint64_t now = f.request == BEYOND && how >= 128 ? ~UINT64_C(0) >> (how % 2) : choice[how % 8];
    now = f.size == 1 ? old ^ 1 : now; /* a truth */
    memcpy(at, &now, f.size);
}

static void break_one(struct field f, uint32_t index, uint32_t how, uint64_t value)
{
    unsigned char *at = (unsigned char *)f.base + f.stride * (index % f.count);
    unsigned char old[8];
    bool beyond = f.request == BEYOND && how >= 128 && (f.size != 4 || how % 2 == 0);
    memcpy(old, at, f.size);
    overwrite(f, at, how, value);
    bool changed = memcmp(old, at, f.size) != 0;
    ask_all();
    bool found = speaks();
    if (changed && (f.request == FOUND || beyond) && !found) {
        fprintf(stderr, "the value at %p, of %zu bytes: not found\n", (void *)at, f.size);
    }
    memcpy(at, old, f.size);
    CHECK(!changed || found || (f.request != FOUND && !beyond));
    (void)sl_guarantees_step(SLOTS, false); /* forget what it saw */
}

static void break_all(struct producer *p)
{
    uint32_t index = producer_byte(p), how = producer_byte(p);
    uint64_t value = (uint64_t)producer_int64(p);
    sl_workload_id id = producer_below(p, SLOTS);
    field_count = 0;
    add_ledger();
    add_usage_rows(id);
    add_records(id);
    add_topology(id);
    for (uint32_t i = 0; i < field_count; i++) {
        break_one(fields[i], index, how, value);
    }
}

/* Of no queue: it may be listed, and need not be. */
static bool holds_nothing(sl_workload_id id)
{
    return sl_commit_usage_count(id) == 0 && sl_queues_queue_of(id) == SL_NO_ID;
}

/* What was not told to the indexes, or was and is not so. */
static void keep_from_indexes(struct producer *p)
{
    sl_workload_id id = producer_below(p, SLOTS);
    sl_qnode_id queue = sl_holders_queue_of(id);
    if (queue == SL_NO_ID) {
        sl_holders_add(COHORTS, id);
        CHECK(speaks() || holds_nothing(id));
        sl_holders_remove(id);
    } else {
        sl_holders_remove(id);
        CHECK(speaks() || holds_nothing(id));
        sl_holders_add(COHORTS + (queue + 1 - COHORTS) % (NODES - COHORTS), id);
        (void)speaks();
        sl_holders_add(queue, id);
    }
}

static bool step(struct producer *p)
{
    switch (producer_byte(p) % 8) {
    case 0:
        break_all(p);
        return false;
    case 1:
        keep_from_indexes(p);
        return false;
    default:
        return world_step(p);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)world_play(data, size, step);
    return 0;
}
