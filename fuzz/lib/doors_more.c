/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is there, asked for once more, or with one thing wrong in it: demands, questions, offers, events, arithmetic at its
 * bounds. */
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/doors.h"
#include "fuzz/lib/world.h"
#include "kernel/ledger/ledger_view.h"
#include "kernel/commit/placement.h"
#include "kernel/topology/topology.h"
#include "policy/cycle/cycle_steps.h"
#include "policy/requests/requests.h"
#include "policy/entries/entries.h"
#include "policy/fair/half_life.h"
#include "policy/queues/heap.h"
#include "policy/queues/holders.h"
#include "policy/queues/lanes.h"
#include "policy/topology/masks.h"
#include "policy/requests/offers.h"
#include "policy/preemption/preemption.h"
#include "policy/placement/placement.h"
#include "policy/requests/shape.h"
#include "policy/requests/slices.h"
#include "policy/preemption/tentative.h"
#include "policy/topology/tolerances.h"
#include "policy/requests/topology_request.h"
#include "policy/queues/turns.h"
#include "policy/fair/usage.h"
#include "policy/common/wide.h"

enum { FIRST_FREE = SLOTS, LEVEL_HOST = 2 };

#define REFUSED(call) CHECK((call) != SL_OK)

/* --- demands ------------------------------------------------------------------------------------ */

static struct sl_topology_request good_demand(void)
{
    return (struct sl_topology_request){.together = SL_TOGETHER_REQUIRED,
                                        .level = LEVEL_HOST,
                                        .asked = true,
                                        .mask = SL_NO_ID,
                                        .rank_group = SL_NO_ID,
                                        .request_count = 2,
                                        .requests = {{MEMORY, 1}, {CPU, 1}}};
}

static void bad_topologies(const struct door *d, sl_workload_id id)
{
    struct sl_topology_request bad[8];
    for (uint32_t i = 0; i < 8; i++) {
        bad[i] = good_demand();
    }
    bad[0].layer_count = SL_LAYERS_MAX + 1 + d->how;
    bad[1].mask = SL_MASKS_MAX + d->how;
    bad[2].request_count = SL_TOPOLOGY_REQUESTS_MAX + 1 + d->how;
    bad[3].together = (enum sl_together)(SL_TOGETHER_UNCONSTRAINED + 1 + d->how);
    bad[4].level = SL_NO_ID;
    bad[5].together = SL_TOGETHER_UNCONSTRAINED;
    bad[6].requests[0].per_pod = -1 - (int64_t)d->how;
    bad[7].requests[0].measure = d->how % 2 ? CPU : SL_MEASURE_PODS;
    for (uint32_t i = 0; i < 8; i++) {
        REFUSED(sl_topology_request_set(id, bad[i]));
    }
    CHECK(sl_topology_request_set(id, good_demand()) == SL_OK);
}

/* Two that ask for the same, but for one thing. */
static void other_topologies(sl_workload_id a, sl_workload_id b)
{
    enum { LAYERS = 2, VARIANTS = 12 };
    struct sl_topology_request good = good_demand();
    good.mask = 1;
    good.layer_count = LAYERS;
    good.layers[0].level = good.layers[1].level = LEVEL_HOST;
    good.layers[0].size = good.layers[1].size = 2;
    CHECK(sl_topology_request_set(a, good) == SL_OK);
    for (uint32_t v = 0; v <= VARIANTS; v++) {
        struct sl_topology_request other = good;
        other.level += v == 1;
        other.mask = v == 2 ? SL_NO_ID : other.mask;
        other.together = v == 3 ? SL_TOGETHER_PREFERRED : other.together;
        other.asked = v != 4;
        other.rank_group = v == 5 ? 1 : SL_NO_ID;
        other.layer_count = v == 6 ? 1 : LAYERS;
        other.layers[1].level += v == 7;
        other.layers[1].size += v == 8;
        other.request_count = v == 9 ? 1 : 2;
        other.requests[0].measure = v == 10 ? UNDECLARED : other.requests[0].measure;
        other.requests[1].per_pod += v == 11;
        other.elastic = v == VARIANTS;
        CHECK(sl_topology_request_set(b, other) == SL_OK);
        CHECK(sl_shape_equal(a, b) == (v == 0) && sl_shape_equal(b, a) == (v == 0));
    }
}

/* Whose place it takes is of its shape. */
static void one_is_a_slice(sl_workload_id a, sl_workload_id b)
{
    uint64_t was = sl_shape_hash(b);
    sl_slices_set(b, SL_NO_ID, 0);
    CHECK(sl_slices_is(b) && sl_shape_hash(b) != was && sl_shape_equal(b, b));
    CHECK(!sl_shape_equal(a, b) && !sl_shape_equal(b, a));
    REFUSED(sl_slices_keep(b, 0, PLAIN));
    sl_slices_set(b, b, sl_workloads[b].generation);
    CHECK(sl_slices_keep(b, 0, PLAIN) == SL_OK && sl_slices_keep(b, 0, PLAIN) == SL_OK);
    CHECK(sl_slices_old(b, COHORTS) == SL_NO_ID); /* its own place */
    CHECK(sl_slices_may_have(b, 0, PLAIN) && !sl_slices_may_have(b, 0, PLACED));
    CHECK(sl_slices_may_have(b, 1, PLACED));
    sl_slices_forget(b);
    sl_slices_forget(b);
    CHECK(sl_shape_hash(b) == was && sl_shape_equal(a, b));
}

/* Of one that nobody knows: two pod sets, the second of which differs in one thing from what it was. */
void door_bad_demands(const struct door *d)
{
    sl_workload_id a = FIRST_FREE, b = FIRST_FREE + 1;
    REFUSED(sl_requests_set_fingerprint(a, d->how));
    CHECK(sl_requests_fingerprint(sl_requests_first_pod_set(a)) == 0);
    for (sl_workload_id id = a; id <= b; id++) {
        bool other = id == b;
        CHECK(sl_requests_add_pod_set(id, 2u + (other && d->other % 8 == 1)) == SL_OK);
        CHECK(sl_requests_set_group(id, other && d->other % 8 == 2 ? 5 : SL_NO_ID) == SL_OK);
        if (other && d->other % 8 == 3) {
            CHECK(sl_requests_set_min_count(id, 1) == SL_OK);
        }
        REFUSED(sl_requests_add(id, SL_NO_ID, 1));
        REFUSED(sl_requests_add(id, CPU, -1 - (int64_t)d->how));
        CHECK(sl_requests_add(id, CPU, 1 + (other && d->other % 8 == 4)) == SL_OK);
        sl_resource_id resource = other && d->other % 8 == 5 ? UNDECLARED : MEMORY;
        if (!other || d->other % 8 != 5 || d->how % 2 == 0) { /* else it lacks one */
            CHECK(sl_requests_add(id, resource, 1) == SL_OK);
        }
        REFUSED(sl_requests_add_exclusion(id, PLAIN, (enum sl_exclusion)(SL_EXCLUDED_UNNAMED + 1)));
        enum sl_exclusion why =
            other && d->other % 8 == 6 ? SL_EXCLUDED_TAINT : SL_EXCLUDED_MISSING;
        CHECK(sl_requests_add_exclusion(id, PLAIN, why) == SL_OK);
        CHECK(sl_requests_add_exclusion(id, PLAIN, why) == SL_OK);
        if (d->other % 8 == 7 && (other || d->how % 2)) {
            bad_topologies(d, id);
        }
    }
    CHECK(sl_shape_equal(a, b) == (d->other % 8 == 0 || (d->other % 8 == 7 && d->how % 2)));
    CHECK(sl_shape_equal(b, a) == sl_shape_equal(a, b));
    if (d->other % 8 == 0) {
        one_is_a_slice(a, b);
        CHECK(sl_requests_set_fingerprint(b, 1 + (uint64_t)d->how) == SL_OK);
        CHECK(!sl_shape_equal(a, b) && !sl_shape_equal(b, a));
        CHECK(sl_requests_set_fingerprint(a, 1 + (uint64_t)d->how) == SL_OK);
        other_topologies(a, b);
    }
    sl_requests_clear(a);
    sl_requests_clear(b);
}

/* --- questions ---------------------------------------------------------------------------------- */

/* Questions that nobody asks so have no answer. */
void door_bad_questions(const struct door *d)
{
    struct sl_preemption_question good = {
        .preemptor = 0, .cluster_queue = COHORTS, .need_count = 1};
    good.needs[0] = (struct sl_need){0, 1, true};
    for (uint32_t i = 0; i < 6; i++) {
        struct sl_preemption_question *q = &sl_preemption_question;
        *q = good;
        q->preemptor = i == 0 ? SL_WORKLOADS_MAX + d->how : 0;
        q->cluster_queue = i == 1 ? SL_QNODES_MAX + d->how : COHORTS;
        q->need_count = i == 2 ? SL_USAGE_CELLS_MAX + 1 + d->how : 1;
        q->needs[0].cell = i == 3 ? SL_CELLS_MAX + d->how : 0;
        q->needs[0].amount = i == 4 ? -1 - (int64_t)d->how : i == 5 ? SL_AMOUNT_MAX + 1 : 1;
        CHECK(sl_preemption_find(world_now_ms) == 0);
    }
    sl_preemption_question = (struct sl_preemption_question){0};
    sl_placement_question = (struct sl_placement_question){.workload = 0};
    sl_placement_question.set_count = SL_TOPOLOGY_SETS_MAX + 1 + d->how;
    CHECK(!sl_placement_find() && sl_placement_failure.miss == SL_PLACEMENT_FULL);
    sl_placement_question.set_count = 0;
}

/* Of a plan with something wrong in it a cycle takes no room. */
void door_entries(const struct door *d)
{
    (void)sl_entries_need(0, SL_USAGE_CELLS_MAX + d->how);
    (void)sl_entries_victim(0, SL_VICTIMS_MAX + d->how);
    (void)sl_entries_victim_reason(0, SL_VICTIMS_MAX + d->how);
    sl_entries_recall(SL_ENTRIES_MAX);
    CHECK(!sl_entries_renew(SL_ENTRIES_MAX, d->how % 2));
}

/* --- lists -------------------------------------------------------------------------------------- */

/* Twice the same, where once is enough. */
void door_again(const struct door *d)
{
    sl_workload_id id = d->fit % SLOTS, other = d->other % SLOTS;
    sl_qnode_id holds_in = sl_holders_queue_of(id);
    sl_heap_id heap = sl_heap_of(id);
    sl_lane_id lane = sl_lanes_of(id);
    uint32_t count = heap != SL_NO_ID ? sl_heap_count(heap) : 0;
    if (holds_in != SL_NO_ID) {
        sl_holders_add(holds_in, id);
    }
    if (heap != SL_NO_ID) {
        sl_heap_push(heap, id);
        sl_heap_push(heap + 1, id);
        CHECK(sl_heap_of(id) == heap && sl_heap_count(heap) == count);
    }
    if (lane != SL_NO_ID) {
        sl_lanes_shut(lane, sl_lanes_is_shut(lane));
        sl_lanes_join(lane, id);
    }
    sl_turns_owe_tree(d->fit % COHORTS, false);
    sl_turns_mark_tree(d->fit % COHORTS);
    sl_turns_pay();
    sl_lanes_shut(SL_LANES_MAX - 1 - d->how, true);
    sl_tentative_evict(0, other);
    sl_tentative_evict(0, other);
    CHECK(sl_tentative_is_gone(other) && sl_tentative_gone_count(0) == 1);
    sl_tentative_clear();
}

/* Two trees besides, for a moment: what is of one has no place in the other. */
static void other_trees(const struct door *d)
{
    enum { ONE = 200, TWO = 201, THREE = 202, SITE = 100, TOP = 500 };
    struct sl_tree_levels one = {1, {7}}, two = {2, {8, 7}};
    sl_domain_id host = 20 + d->fit % HOSTS;
    CHECK(sl_trees_configure(ONE, one, true) == SL_OK);
    CHECK(sl_trees_configure(TWO, one, true) == SL_OK);
    CHECK(sl_trees_configure(THREE, two, true) == SL_OK);
    CHECK(sl_trees_open(TOP, ONE, SL_NO_ID, SL_NO_ID, SITE) == SL_OK);
    CHECK(sl_trees_open(TOP + 1, TWO, SL_NO_ID, SL_NO_ID, SITE) == SL_OK);
    CHECK(sl_trees_open(TOP + 2, THREE, SL_NO_ID, SL_NO_ID, SL_NO_ID) == SL_OK);
    CHECK(sl_trees_open(TOP + 3, THREE, TOP + 2, SL_NO_ID, SITE) == SL_OK);
    REFUSED(sl_trees_open(TOP + 4, THREE, TOP, SL_NO_ID, SITE + 1));
    REFUSED(sl_trees_open(TOP + 4, TWO, SL_NO_ID, TOP, SITE + 1));
    REFUSED(sl_trees_open(TOP + 4, THREE, TOP + 3, SL_NO_ID, SL_NO_ID));
    CHECK(sl_trees_next(TOP) == SL_NO_ID && sl_trees_next(TOP + 2) == SL_NO_ID);
    CHECK(sl_trees_domain_on(ONE, SITE) == TOP && sl_trees_domain_on(THREE, SITE) == TOP + 3);
    if (!sl_trees_shows(host) && sl_domain_assigned[host] != 0) { /* it stays what it was */
        REFUSED(sl_trees_open(host, ONE, SL_NO_ID, SL_NO_ID, SITE + 2));
        REFUSED(sl_trees_open(host, PLACED, sl_domain_parent(host), SL_NO_ID, SITE + 2));
    }
    static const sl_domain_id orders[2][4] = {{TOP, TOP + 1, TOP + 3, TOP + 2},
                                              {TOP + 3, TOP + 2, TOP + 1, TOP}};
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(sl_trees_close(orders[d->how % 2][i]) == SL_OK);
    }
    CHECK(sl_trees_forget(ONE) == SL_OK && sl_trees_forget(TWO) == SL_OK);
    CHECK(sl_trees_forget(THREE) == SL_OK);
}

void door_offers(const struct door *d)
{
    sl_qnode_id queue = COHORTS + d->fit % (NODES - COHORTS);
    other_trees(d);
    sl_cell_id offered = sl_offers_first(queue), not_offered = sl_ledger_find_cell(0, PLAIN, CPU);
    if (offered != SL_NO_ID) {
        REFUSED(sl_offers_add(queue, 0, offered));
    }
    CHECK(sl_offers_first_of(500 % SL_USED_FLAVORS_MAX) == SL_NO_ID);
    CHECK(sl_offers_group_of(not_offered) == SL_NO_ID && !sl_offers_is_delayed(not_offered));
    sl_offers_set_measure(500, SL_NO_ID);
    CHECK(sl_offers_measure(500) == SL_NO_ID);
    CHECK(sl_ledger_first_cell(SL_QNODES_MAX - 1) == SL_NO_ID);
    CHECK(sl_masks_score(7, 0) == 0 && sl_masks_prefer(7, 0, 0) == SL_OK);
    CHECK(sl_tolerances_link(7, 1, SL_NO_ID) == SL_OK);
    CHECK(sl_trees_configure(200, (struct sl_tree_levels){0, {0}}, false) == SL_OK);
    CHECK(sl_trees_asked(200) && !sl_trees_known(200));
    CHECK(sl_trees_forget(200) == SL_OK && !sl_trees_asked(200));
}

/* --- events ------------------------------------------------------------------------------------- */

void door_events(const struct door *d)
{
    sl_workload_id id = d->fit % SLOTS;
    struct sl_event ev = {.workload = id,
                          .generation = sl_workloads[id].generation,
                          .index = SL_NO_ID,
                          .now_ms = world_now_ms};
    ev.kind = SL_EV_CHECK_ADD;
    REFUSED(sl_placement_event(ev));
    ev.kind = SL_EV_NODE_FAILED;
    REFUSED(sl_placement_event(ev));
    ev.kind = SL_EV_RESERVE;
    REFUSED(sl_placement_event(ev));
    ev.index = 2;
    REFUSED(sl_lifecycle_apply(ev));
    ev.index = 0;
    if (sl_workloads[id].phase != SL_PHASE_PENDING || !sl_workloads[id].active ||
        !sl_lifecycle_admissible(id)) {
        REFUSED(sl_lifecycle_apply(ev));
    }
    ev.kind = SL_EV_CREATE;
    ev.workload = FIRST_FREE;
    ev.generation = sl_workloads[FIRST_FREE].generation;
    ev.value = -1 - (int64_t)d->how;
    REFUSED(sl_placement_event(ev));
    for (uint32_t place = SL_PLACE_NONE + 1; place <= SL_PLACE_DONE; place++) {
        REFUSED(sl_place_move(FIRST_FREE, SL_PLACE_NONE, (enum sl_place)place));
    }
    REFUSED(sl_placement_second_pass(sl_workloads[id].generation, -1));
    REFUSED(sl_promise_add(SL_CELLS_MAX - 1, 1));
}

/* --- arithmetic --------------------------------------------------------------------------------- */

/* Of an account that was closed while somebody's penalty was pending; another one has less. */
static void penalties(void)
{
    sl_account_id account = NODES * ACCOUNTS + 9;
    sl_usage_restore(account, SL_NO_ID, (struct sl_usage_amount){1, 0}, 1);
    sl_usage_charge(FIRST_FREE, account, CPU, SL_AMOUNT_MAX / 4096);
    sl_usage_close(account);
    sl_usage_charge(FIRST_FREE + 1, account, CPU, 1);
    sl_usage_drop(FIRST_FREE);
    sl_usage_drop(FIRST_FREE + 1);
    sl_usage_set_weight(account, -5);
    (void)sl_usage_compare(account, 0);
    sl_usage_close(account);
}

static int sign(int v)
{
    return v < 0 ? -1 : v > 0;
}

void door_numbers(const struct door *d)
{
    uint64_t word = (uint64_t)d->amount, all = UINT64_MAX;
    struct sl_wide a = {d->how, word}, b = {d->how + d->other % 2, word};
    struct sl_wide most = {all, all}, sum = sl_wide_add(most, a);
    CHECK(sum.high == all && sum.low == all);
    sum = sl_wide_add((struct sl_wide){all, 1}, (struct sl_wide){d->other, all});
    CHECK(sum.high == all && sum.low == all);
    struct sl_wide3 x = sl_wide_scale(a, all - d->fit), y = sl_wide_scale(b, all - d->fit);
    CHECK(sign(sl_wide_compare(x, y)) == -sign(sl_wide_compare(y, x)));
    CHECK(sl_wide_compare(x, x) == 0 && (sl_wide_compare(x, y) == 0) == (d->other % 2 == 0));
    CHECK(sl_half_life_left(INT64_MAX, 1 + d->how) == 0 && sl_half_life_left(1, 0) == 0);
    CHECK(sl_half_life_left(-1, 1) == SL_FRACTION_ONE);
    CHECK(sl_half_life_part(INT64_MAX, SL_FRACTION_ONE) == 0);
    CHECK(sl_half_life_part(1, SL_FRACTION_ONE + 1 + d->how) == 0);
    CHECK(sl_usage_compare(0, 0) == 0);
    penalties();
}
