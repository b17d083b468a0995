/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/plans.h"
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/world.h"
#include "kernel/ledger/cells.h"
#include "kernel/commit/transition.h"
#include "kernel/preempt/migration.h"
#include "kernel/preempt/preempt.h"
#include "policy/queues/passes.h"
#include "policy/queues/queues.h"

/* What can be seen of the kernel, to be compared. */
static struct {
    struct sl_workload records[SLOTS];
    enum sl_place places[SLOTS];
    int64_t usage[NODES * NAMES], used[HOSTS][2];
} before, after;

static void look(void)
{
    memset(&after, 0, sizeof after);
    memcpy(after.records, sl_workloads, sizeof after.records);
    memcpy(after.places, sl_places, sizeof after.places);
    for (sl_cell_id c = 0; c < NODES * NAMES; c++) {
        after.usage[c] = sl_ledger_usage(c);
    }
    for (sl_site_id h = 0; h < HOSTS; h++) {
        after.used[h][0] = sl_site_used_of(h, SL_MEASURE_PODS);
        after.used[h][1] = sl_site_used_of(h, CPU);
    }
}

/* --- how it is made ----------------------------------------------------------------------------- */

static void fill_cells(struct producer *p, sl_workload_id id, sl_qnode_id queue)
{
    uint32_t which = producer_byte(p);
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = queue;
    sl_plan.topology_pending = which / 16 % 4 == 3;
    sl_plan.now_ms = world_now_ms;
    sl_plan.usage_count = 0;
    for (uint32_t name = 0; name < NAMES; name++) {
        if (which >> name & 1) {
            sl_cell_id cell = sl_ledger_find_cell(queue, PLAIN + name / 2, CPU + name % 2);
            sl_plan.usage[sl_plan.usage_count++] =
                (struct sl_cell_amount){cell, producer_below(p, 12)};
        }
    }
}

static void fill_layers(struct sl_topology_set *set, uint32_t bits)
{
    set->layer_count = bits % 4;
    for (uint32_t i = 0; i < set->layer_count; i++) {
        set->layers[i] =
            (struct sl_topology_layer){bits >> 2 & i, i == 0 ? 1 + (bits >> 4 & 3) : 1};
    }
}

static void fill_set(struct producer *p, uint32_t index)
{
    struct sl_topology_set *set = &sl_topology_plan.sets[index];
    uint32_t bits = producer_byte(p);
    memset(set, 0, sizeof *set);
    set->pod_set = index;
    set->tree = PLACED;
    set->within = bits & 128 ? RACK + (bits >> 6 & 1) : SL_NO_ID;
    set->first_row = sl_topology_plan.row_count;
    set->row_count = 1 + (bits & 1);
    set->request_count = 1;
    set->requests[0] = (struct sl_measure_amount){CPU, producer_below(p, 4)};
    fill_layers(set, producer_byte(p));
    for (uint32_t i = 0; i < set->row_count; i++) {
        uint32_t row = producer_byte(p);
        set->count += 1 + row / 8 % 4;
        sl_topology_plan.rows[sl_topology_plan.row_count++] =
            (struct sl_topology_row){HOST + row % 4, 1 + row / 8 % 4};
    }
}

static void fill_rooms(struct producer *p, sl_workload_id id)
{
    sl_topology_plan.workload = id;
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
    for (uint32_t sets = producer_below(p, 3); sets > 0; sets--) {
        fill_set(p, sl_topology_plan.set_count);
        sl_topology_plan.set_count++;
    }
}

/* Any, or the n-th that holds quota: of those that are being evicted, or of the others. */
static sl_workload_id pick(uint32_t which, bool evicted)
{
    uint32_t left = which % SLOTS, found = 0;
    for (uint32_t i = 0; which >= 192 && i < 2 * SLOTS; i++) {
        sl_workload_id id = i % SLOTS;
        if (sl_lifecycle_holds_quota(id) &&
            (sl_workloads[id].phase == SL_PHASE_EVICTED) == evicted && found++ == left % 4) {
            return id;
        }
    }
    return which % SLOTS;
}

static void fill_victims(struct producer *p)
{
    uint32_t bits = producer_byte(p);
    sl_preempt_plan.may_borrow = bits & 1;
    sl_preempt_plan.after_others = bits & 2;
    sl_preempt_plan.victim_count = bits >> 2 & 3;
    sl_preempt_plan.gone_count = bits >> 4 & 3;
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        sl_preempt_plan.victims[i] = pick(producer_byte(p), false);
        sl_preempt_plan.reasons[i] = SL_PREEMPT_IN_CLUSTER_QUEUE;
    }
    for (uint32_t i = 0; i < sl_preempt_plan.gone_count; i++) {
        sl_preempt_plan.gone[i] = pick(producer_byte(p), true);
    }
}

/* --- what is wrong with it ---------------------------------------------------------------------- */

static void spoil_usage(uint32_t what, uint32_t how)
{
    struct sl_cell_amount *usage =
        &sl_plan.usage[sl_plan.usage_count == 0 ? 0 : sl_plan.usage_count - 1];
    switch (what) {
    case 0:
        sl_plan.workload = how == 0 ? SL_NO_ID : SL_WORKLOADS_MAX + how - 1;
        break;
    case 1:
        sl_plan.generation++;
        break;
    case 2:
        sl_plan.cluster_queue = how == 0 ? SL_NO_ID : how < 4 ? how : SL_QNODES_MAX + how;
        break;
    case 3:
        sl_plan.usage_count = SL_USAGE_CELLS_MAX + 1 + how;
        break;
    case 4:
        sl_plan.usage[sl_plan.usage_count] = *usage;
        sl_plan.usage_count++;
        break;
    case 5:
        usage->amount = how % 2 == 0 ? -1 - (int64_t)how : SL_AMOUNT_MAX + how - 1;
        break;
    case 6:
        usage->cell = how % 2 == 0 ? SL_CELLS_MAX + how : how;
        break;
    default:
        sl_plan.now_ms = how % 2 == 0 ? -1 - (int64_t)how : SL_TIME_MAX + how;
        break;
    }
}

static void spoil_request(struct sl_topology_set *set, uint32_t how)
{
    switch (how % 5) {
    case 0:
        set->request_count = SL_TOPOLOGY_REQUESTS_MAX + 1;
        break;
    case 1:
        set->requests[0].measure = SL_MEASURES_MAX + how;
        break;
    case 2:
        set->requests[set->request_count] = set->requests[0];
        set->request_count++;
        break;
    case 3:
        set->requests[0].per_pod = -1 - (int64_t)how;
        break;
    default: /* too much for all its pods, or for a room */
        set->requests[0].per_pod = how < 128 ? SL_AMOUNT_MAX : SL_AMOUNT_MAX / 8;
        break;
    }
}

static void spoil_layers(struct sl_topology_set *set, uint32_t how)
{
    switch (how % 5) {
    case 0:
        set->layer_count = SL_LAYERS_MAX + 1;
        break;
    case 1:
        set->layers[0].depth = SL_DEPTHS_MAX + how;
        break;
    case 2:
        set->layers[0].size = 0;
        break;
    case 3: /* the outer one is the smaller one, or no multiple */
        set->layers[1].size = set->layers[0].size + 1;
        break;
    default:
        set->layers[0].depth = 2 + how / 5 % 4;
        break;
    }
}

static void spoil_row(struct sl_topology_row *row, struct sl_topology_set *set, uint32_t how)
{
    switch (how % 6) {
    case 0:
        row->count = 0;
        break;
    case 1:
        row->count = set->count + 1;
        break;
    case 2:
        row->domain = how < 128 ? SL_DOMAINS_MAX + how : SL_NO_ID;
        break;
    case 3:
        row->domain = RACK; /* no bottom domain */
        break;
    case 4:
        row->domain = 1000 + how; /* never open */
        break;
    default:
        set->count++;
        break;
    }
}

static void spoil_rooms(uint32_t what, uint32_t how)
{
    struct sl_topology_set *set = &sl_topology_plan.sets[sl_topology_plan.set_count / 2];
    switch (what) {
    case 0:
        sl_topology_plan.workload = how == 0 ? SL_NO_ID : SL_WORKLOADS_MAX + how - 1;
        break;
    case 1:
        sl_topology_plan.set_count = SL_TOPOLOGY_SETS_MAX + 1 + how;
        break;
    case 2:
        sl_topology_plan.row_count =
            how < 128 ? sl_topology_plan.row_count + 1 : SL_TOPOLOGY_ROWS_MAX + how;
        break;
    case 3:
        set->pod_set = 0;
        break;
    case 4:
        set->tree = how < 64 ? SL_NO_ID : how < 128 ? PLAIN : PLACED + 7;
        break;
    case 5:
        set->within = how < 64 ? SL_DOMAINS_MAX : how < 128 ? 1000 + how : HOST + how % 4;
        break;
    case 6:
        set->first_row += 1 + how;
        break;
    case 7:
        set->row_count += 1 + how;
        break;
    case 8:
        spoil_request(set, how);
        break;
    case 9:
        spoil_layers(set, how);
        break;
    case 10:
        set->count = 0;
        break;
    default:
        spoil_row(&sl_topology_plan.rows[set->first_row], set, how);
        break;
    }
}

static void spoil_victims(uint32_t what, uint32_t how)
{
    struct sl_preempt_plan *plan = &sl_preempt_plan;
    switch (what) {
    case 0:
        plan->victim_count = SL_VICTIMS_MAX + 1 + how;
        break;
    case 1:
        plan->gone_count = SL_VICTIMS_MAX + 1 + how;
        break;
    case 2:
        plan->victims[0] = SL_WORKLOADS_MAX + how;
        break;
    case 3:
        plan->gone[0] = SL_WORKLOADS_MAX + how;
        break;
    case 4:
        plan->reasons[0] = how % 2 == 0 ? SL_PREEMPT_NONE : SL_PREEMPT_REASONS;
        break;
    case 5:
        plan->victims[1] = plan->victims[0];
        plan->victim_count = 2;
        break;
    case 6:
        plan->gone[1] = plan->gone[0];
        plan->gone_count = 2;
        break;
    default:
        plan->gone[0] = plan->victims[0];
        break;
    }
}

static void spoil(struct producer *p)
{
    uint32_t what = producer_byte(p), how = producer_byte(p);
    if (what < 64) {
        spoil_usage(what % 8, how);
    } else if (what < 144) {
        spoil_rooms(what % 12, how);
    } else if (what < 192) {
        spoil_victims(what % 8, how);
    }
}

/* --- what comes of it --------------------------------------------------------------------------- */

static void settle(sl_workload_id id)
{
    sl_queues_settle(id, world_now_ms);
    sl_passes_settle(id, world_now_ms);
}

static void admission(sl_workload_id id)
{
    for (uint32_t s = 0; s < sl_topology_plan.set_count; s++) {
        const struct sl_topology_set *set = &sl_topology_plan.sets[s];
        sl_passes_grant(id, set->pod_set, set->tree, set->count);
    }
}

/* In place of the first victim, of this incarnation or another. */
static enum sl_status replace(uint32_t more)
{
    sl_workload_id old = sl_preempt_plan.victims[0];
    uint32_t generation = old < SL_WORKLOADS_MAX ? sl_workloads[old].generation + more : 0;
    enum sl_status check = sl_commit_replace_check(old, generation);
    struct sl_replacement did = sl_transition_replace(old, generation);
    CHECK(did.in.status == did.out.status && (check == SL_OK || did.in.status != SL_OK));
    if (did.in.status == SL_OK) {
        CHECK(did.out.to == SL_PHASE_FINISHED && sl_commit_usage_count(old) == 0);
        settle(old);
    }
    return did.in.status;
}

/* The first victim makes way, or is no variant that does. */
static enum sl_status migrate(void)
{
    sl_workload_id other = sl_preempt_plan.victims[0], id = sl_plan.workload;
    bool held = sl_lifecycle_holds_quota(other);
    bool before_it = sl_variants_family(id) != SL_NO_ID && id != other &&
                     sl_variants_family(id) == sl_variants_family(other) &&
                     sl_variants_rank(id) < sl_variants_rank(other);
    enum sl_status status = sl_migration_commit(other);
    if (status == SL_OK) {
        CHECK(held && before_it && sl_workloads[other].phase == SL_PHASE_EVICTED);
        settle(other);
    }
    CHECK(status != SL_REFUSED_NO_MIGRATION || !held || !before_it);
    sl_promise_clear();
    return status;
}

static enum sl_status hand_in(uint32_t door, sl_workload_id id)
{
    enum sl_status status = SL_OK;
    switch (door % 4) {
    case 0:
        status = door / 8 == 28 ? replace(door / 4 % 2) : sl_transition_commit().status;
        break;
    case 1:
        status = sl_transition_restore().status;
        break;
    case 2:
        status = sl_transition_second_pass(sl_plan.generation, sl_plan.now_ms).status;
        break;
    default:
        if (door / 16 == 14) {
            return migrate();
        }
        status = sl_preempt_commit();
        for (uint32_t i = 0; status == SL_OK && i < sl_preempt_plan.victim_count; i++) {
            settle(sl_preempt_plan.victims[i]);
        }
        sl_promise_clear();
        return status;
    }
    if (status == SL_OK) {
        admission(id);
    }
    return status;
}

/* Earlier plans of the cycle were promised something of the queue: nothing, a little, or more than there can be. */
static void promise(uint32_t door, sl_qnode_id queue)
{
    sl_cell_id cell = sl_ledger_find_cell(queue, PLAIN, CPU);
    for (uint32_t i = 0; door >= 232 && i < door / 4 % 4; i++) {
        (void)!sl_promise_add(cell, door % 16 < 8 ? i : SL_AMOUNT_MAX);
    }
}

/* Questions and promises change nothing that stays. */
static void ask(void)
{
    enum sl_status status = sl_topology_check();
    CHECK(status != SL_OK || sl_topology_plan.set_count != 0 || sl_topology_plan.row_count == 0);
    (void)!sl_topology_promise();
    (void)!sl_preempt_check();
    sl_topology_promise_clear();
}

static void judge(uint32_t door, sl_workload_id id)
{
    look();
    before = after;
    ask();
    look();
    CHECK(memcmp(&before, &after, sizeof before) == 0);
    enum sl_status status = hand_in(door, id);
    if (status != SL_OK) {
        look();
        CHECK(memcmp(&before, &after, sizeof before) == 0);
    }
    settle(id);
}

void plans_step(struct producer *p)
{
    uint32_t door = producer_byte(p);
    sl_qnode_id queue = COHORTS + producer_below(p, NODES - COHORTS);
    sl_workload_id id = producer_below(p, SLOTS), head = SL_NO_ID;
    sl_promise_clear();
    sl_queues_flush();
    if (door % 4 == 0 || door % 4 == 3) {
        head = sl_queues_take(queue);
        id = head != SL_NO_ID ? head : id;
    }
    fill_cells(p, id, queue);
    fill_rooms(p, id);
    fill_victims(p);
    spoil(p);
    promise(door, queue);
    judge(door, id);
    if (head != SL_NO_ID && sl_place_of(head) == SL_PLACE_IN_FLIGHT) {
        sl_queues_put_back(head, SL_PUT_HEAP);
    }
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
    sl_plan.usage_count = 0;
    sl_preempt_plan.victim_count = sl_preempt_plan.gone_count = 0;
    sl_promise_clear();
}
