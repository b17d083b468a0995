/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The kernel's doors, asked for what is not there. */
#include "fuzz/lib/check.h"
#include "fuzz/lib/doors.h"
#include "fuzz/lib/world.h"
#include "kernel/ledger/cells.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_view.h"
#include "kernel/base/order.h"
#include "kernel/commit/transition.h"
#include "kernel/preempt/migration.h"
#include "kernel/preempt/preempt.h"
#include "kernel/lifecycle/second_pass.h"
#include "kernel/ledger/trail.h"
#include "policy/requests/migration_limit.h"

#define REFUSED(call) CHECK((call) != SL_OK)

static void ledger_ids(const struct door *d)
{
    sl_qnode_id node = door_beyond(d, SL_QNODES_MAX), free_node = sl_qnode_limit;
    sl_cell_id cell = door_beyond(d, SL_CELLS_MAX);
    REFUSED(sl_ledger_open_qnode(node));
    REFUSED(sl_ledger_open_qnode(d->fit % NODES));
    REFUSED(sl_ledger_close_qnode(node));
    REFUSED(sl_ledger_close_qnode(free_node));
    REFUSED(sl_ledger_move_qnode(node, SL_NO_ID));
    REFUSED(sl_ledger_move_qnode(free_node, SL_NO_ID));
    REFUSED(sl_ledger_move_qnode(d->fit % NODES, free_node));
    REFUSED(sl_ledger_move_qnode(d->fit % NODES, SL_QNODES_MAX + d->how));
    REFUSED(sl_ledger_move_qnode(d->fit % NODES, d->fit % NODES));
    REFUSED(sl_ledger_ensure_cell(node, PLAIN, CPU));
    REFUSED(sl_ledger_ensure_cell(free_node, PLAIN, CPU));
    CHECK(sl_ledger_find_cell(node, PLAIN, CPU) == SL_NO_ID);
    CHECK(sl_ledger_find_cell(d->fit % NODES, PLAIN, 77) == SL_NO_ID);
    CHECK(sl_ledger_parent_qnode(node) == SL_NO_ID && sl_ledger_root_qnode(node) == SL_NO_ID);
    CHECK(sl_ledger_root_qnode(free_node) == SL_NO_ID);
    CHECK(sl_ledger_first_cell(node) == SL_NO_ID && sl_ledger_next_cell(cell) == SL_NO_ID);
    CHECK(sl_ledger_qnode_of(cell) == SL_NO_ID && sl_ledger_parent_cell(cell) == SL_NO_ID);
    (void)sl_ledger_flavor_of(cell);
    (void)sl_ledger_resource_of(cell);
    CHECK(sl_ledger_subtree(cell) == 0 && sl_ledger_kept(cell) == 0);
    CHECK(sl_ledger_available(cell) == 0 && sl_ledger_potential(cell) == 0);
    CHECK(sl_ledger_usage(cell) == 0 && sl_ledger_own(cell) == 0 && sl_ledger_nominal(cell) == 0);
    (void)sl_ledger_borrow_height(cell, d->amount);
    (void)sl_ledger_borrow_height(d->fit % sl_cell_limit, d->amount);
}

void door_ledger(const struct door *d)
{
    sl_cell_id cell = door_beyond(d, SL_CELLS_MAX), fit = d->fit % sl_cell_limit;
    int64_t negative = -1 - (int64_t)d->other, huge = SL_AMOUNT_UNLIMITED + 1 + d->other;
    ledger_ids(d);
    REFUSED(sl_ledger_set_quota(cell, 1, 1, 1));
    REFUSED(sl_ledger_set_quota(sl_cell_limit, 1, 1, 1));
    REFUSED(sl_ledger_set_quota(fit, negative, 0, 0));
    REFUSED(sl_ledger_set_quota(fit, 0, negative, 0));
    REFUSED(sl_ledger_set_quota(fit, 0, 0, negative));
    REFUSED(sl_ledger_set_quota(fit, huge, 0, 0));
    REFUSED(sl_ledger_set_quota(fit, 0, huge, 0));
    REFUSED(sl_ledger_set_quota(fit, 0, 0, huge));
    REFUSED(sl_ledger_reserve(cell, 1));
    REFUSED(sl_ledger_reserve(sl_cell_limit, 1));
    REFUSED(sl_ledger_charge(cell, 1));
    REFUSED(sl_ledger_charge(sl_cell_limit, 1));
    REFUSED(sl_ledger_release(cell, 1));
    REFUSED(sl_ledger_release(sl_cell_limit, 1));
    REFUSED(sl_ledger_reserve(fit, negative));
    REFUSED(sl_ledger_charge(fit, negative));
    REFUSED(sl_ledger_release(fit, negative));
    REFUSED(sl_ledger_charge(fit, SL_AMOUNT_MAX + 1));
    REFUSED(sl_ledger_reserve(fit, SL_AMOUNT_MAX + 1));
    REFUSED(sl_ledger_charge(fit, SL_AMOUNT_MAX - sl_ledger_usage(fit) + 1));
    REFUSED(sl_ledger_release(fit, sl_ledger_own(fit) + 1));
}

/* While a trial is open nothing but what it tries may change. */
void door_trial(const struct door *d)
{
    sl_workload_id id = d->fit % SLOTS;
    struct sl_event ev = {.kind = SL_EV_DELETE,
                          .workload = id,
                          .generation = sl_workloads[id].generation,
                          .now_ms = world_now_ms};
    uint32_t mark = sl_trail_begin();
    REFUSED(sl_ledger_open_qnode(sl_qnode_limit));
    REFUSED(sl_ledger_close_qnode(d->fit % NODES));
    REFUSED(sl_ledger_move_qnode(d->fit % NODES, SL_NO_ID));
    REFUSED(sl_ledger_ensure_cell(d->fit % NODES, PLAIN, 78));
    REFUSED(sl_ledger_set_quota(d->fit % sl_cell_limit, 1, 1, 1));
    REFUSED(sl_commit_event(ev));
    REFUSED(sl_placement_event(ev));
    REFUSED(sl_commit_reduce(id, sl_workloads[id].generation, 0, 0));
    REFUSED(sl_commit_check());
    REFUSED(sl_commit_restore());
    REFUSED(sl_commit_replace_check(id, sl_workloads[id].generation));
    REFUSED(sl_commit_replace(id, sl_workloads[id].generation));
    sl_trail_rollback(mark);
}

static void places(const struct door *d)
{
    sl_workload_id id = door_beyond(d, SL_WORKLOADS_MAX), fit = d->fit % SLOTS;
    REFUSED(sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT));
    REFUSED(sl_place_move(fit, (enum sl_place)(SL_PLACE_DONE + 1 + d->how), SL_PLACE_HEAP));
    REFUSED(sl_place_move(fit, sl_place_of(fit), (enum sl_place)(SL_PLACE_DONE + 1 + d->how)));
    REFUSED(sl_place_move(fit, sl_place_of(fit), sl_place_of(fit)));
    CHECK(sl_place_of(id) == SL_PLACE_NONE);
}

/* Also two of whom nobody knows, with names that differ in little. */
static void orders(const struct door *d)
{
    sl_workload_id id = door_beyond(d, SL_WORKLOADS_MAX), fit = d->fit % SLOTS, a = SLOTS;
    struct sl_order_key key = {1, 1000, d->other & 1, d->other >> 1 & 1};
    sl_order_set(id, key);
    CHECK(sl_order_of(id).queued_at_ms == 0);
    CHECK(sl_order_before(fit, id) && !sl_order_before(id, fit));
    CHECK(!sl_order_lower(id, fit) && !sl_order_lower(fit, id));
    CHECK(!sl_order_newer_equal(id, fit) && !sl_order_newer_equal(fit, id));
    CHECK(!sl_order_newer_equal(fit, fit) && !sl_order_before(fit, fit));
    sl_order_set(a, key);
    key.uid_high = d->other >> 2 & 1;
    key.uid_low = d->other >> 3 & 1;
    sl_order_set(a + 1, key);
    CHECK(sl_order_before(a, a + 1) != sl_order_before(a + 1, a));
}

/* A family of one more than it may have; nobody makes way for who is not there, or for no variant of its own. */
static void families(const struct door *d)
{
    sl_workload_id id = door_beyond(d, SL_WORKLOADS_MAX), fit = d->fit % SLOTS, first = SLOTS;
    uint32_t family = SL_FAMILIES_MAX - 1 - d->other % 2;
    REFUSED(sl_variants_set(id, family, 0));
    REFUSED(sl_variants_set(fit, SL_FAMILIES_MAX + d->how, 0));
    CHECK(sl_variants_holder(id) == SL_NO_ID && sl_variants_family(id) == SL_NO_ID);
    CHECK(sl_variants_rank(id) == SL_NO_ID && !sl_variants_makes_way(id, fit));
    CHECK(!sl_variants_makes_way(fit, id) && !sl_variants_makes_way(fit, fit));
    for (uint32_t i = 0; i < SL_VARIANTS_MAX; i++) {
        CHECK(sl_variants_set(first + i, family, d->other) == SL_OK);
        CHECK(!sl_variants_makes_way(first, first + i));
    }
    CHECK(sl_variants_set(first + SL_VARIANTS_MAX, family, 0) == SL_FULL_VARIANTS);
    CHECK(sl_variants_set(first, family, d->how) == SL_OK && sl_variants_rank(first) == d->how);
    CHECK(sl_variants_holder(first) == SL_NO_ID);
    for (uint32_t i = 0; i <= SL_VARIANTS_MAX; i++) {
        CHECK(sl_variants_set(first + i, SL_NO_ID, 0) == SL_OK);
    }
    REFUSED(sl_migration_commit(id));
    sl_migration_limit_set(door_beyond(d, SL_QNODES_MAX), d->other);
    CHECK(sl_migration_limit(door_beyond(d, SL_QNODES_MAX)) == SL_NO_ID);
}

void door_records(const struct door *d)
{
    sl_workload_id id = door_beyond(d, SL_WORKLOADS_MAX), fit = d->fit % SLOTS;
    uint32_t generation = sl_workloads[fit].generation;
    struct sl_event ev = {.kind = SL_EV_DELETE, .workload = id, .now_ms = world_now_ms};
    door_events(d);
    families(d);
    REFUSED(sl_lifecycle_apply(ev));
    REFUSED(sl_transition_event(ev).status);
    ev = (struct sl_event){SL_EV_RESERVE, fit, generation, 0, 0, 0, world_now_ms};
    REFUSED(sl_commit_event(ev));
    ev.kind = (enum sl_event_kind)(SL_EVENT_COUNT + d->how);
    REFUSED(sl_placement_event(ev));
    ev = (struct sl_event){SL_EV_DELETE, fit, generation, 0, 0, 0, -1 - (int64_t)d->how};
    REFUSED(sl_placement_event(ev));
    ev.now_ms = SL_TIME_MAX + 1 + d->how;
    REFUSED(sl_placement_event(ev));
    CHECK(!sl_lifecycle_valid(id) && !sl_lifecycle_holds_quota(id));
    CHECK(!sl_lifecycle_admissible(id) && !sl_lifecycle_needs_pass(id));
    places(d);
    REFUSED(sl_second_pass_arm(id, 0, world_now_ms));
    REFUSED(sl_second_pass_arm(fit, 0, -1 - (int64_t)d->how));
    REFUSED(sl_second_pass_arm(fit, 0, SL_TIME_MAX + 1 + d->how));
    REFUSED(sl_second_pass_take(id, world_now_ms));
    sl_second_pass_cancel(id);
    CHECK(sl_second_pass_due_ms(id) == SL_NEVER && !sl_second_pass_needed(id));
    CHECK(sl_second_pass_at(sl_second_pass_count() + d->how) == SL_NO_ID);
    orders(d);
    REFUSED(sl_commit_reduce(id, 0, 0, 0));
    REFUSED(sl_commit_reduce(fit, generation + 1, 0, 0));
    REFUSED(sl_commit_reduce(fit, generation, sl_commit_usage_count(fit), 0));
    REFUSED(sl_commit_reduce(fit, generation, 0, -1 - (int64_t)d->how));
    REFUSED(sl_commit_reduce(fit, generation, 0, SL_AMOUNT_MAX));
    REFUSED(sl_commit_replace(id, 0));
    REFUSED(sl_placement_take_over(fit, generation + 1));
    REFUSED(sl_transition_replace(sl_plan.workload, sl_plan.generation).in.status);
    CHECK(sl_commit_usage_count(id) == 0 && sl_commit_usage(id, 0).cell == SL_NO_ID);
    CHECK(sl_commit_usage(fit, sl_commit_usage_count(fit)).cell == SL_NO_ID);
}

static void domains(const struct door *d)
{
    sl_domain_id domain = door_beyond(d, SL_DOMAINS_MAX), fit = 20 + d->fit % HOSTS;
    sl_domain_id fresh = sl_domain_limit;
    REFUSED(sl_domain_open(domain, PLACED, SL_NO_ID, SL_NO_ID));
    /* racks that hid, and could not come back elsewhere as long as somebody stood there, are gone */
    REFUSED(sl_domain_is_open(10) ? sl_domain_open(10, PLACED, SL_NO_ID, SL_NO_ID)
                                  : SL_REFUSED_IN_USE);
    REFUSED(sl_domain_open(fresh, SL_NO_ID, SL_NO_ID, SL_NO_ID));
    REFUSED(sl_domain_open(fresh, PLACED, fresh + 1, SL_NO_ID));
    REFUSED(sl_domain_open(fresh, PLACED, SL_DOMAINS_MAX + d->how, SL_NO_ID));
    REFUSED(sl_domain_open(fresh, PLACED, 10, SL_SITES_MAX + d->how));
    REFUSED(sl_domain_open(fresh, PLACED + 1, 10, SL_NO_ID));
    REFUSED(sl_domain_close(domain));
    REFUSED(sl_domain_close(fresh));
    CHECK(!sl_domain_is_open(domain) && sl_domain_parent(domain) == SL_NO_ID);
    CHECK(sl_domain_site(domain) == SL_NO_ID && sl_domain_tree(domain) == SL_NO_ID);
    (void)sl_domain_depth(domain);
    CHECK(sl_domain_above(domain, 0) == SL_NO_ID && sl_domain_above(fresh, 0) == SL_NO_ID);
    CHECK(sl_domain_above(fit, SL_DEPTHS_MAX + d->how) == SL_NO_ID);
}

void door_topology(const struct door *d)
{
    sl_workload_id id = door_beyond(d, SL_WORKLOADS_MAX), fit = d->fit % SLOTS;
    sl_site_id site = door_beyond(d, SL_SITES_MAX);
    sl_measure_id measure = door_beyond(d, SL_MEASURES_MAX);
    sl_qnode_id node = door_beyond(d, SL_QNODES_MAX);
    struct sl_preempt_policy policy = {SL_WITHIN_NEVER, SL_RECLAIM_NEVER, false, false, 0};
    domains(d);
    REFUSED(sl_site_set_capacity(site, CPU, 1));
    REFUSED(sl_site_set_capacity(d->fit % HOSTS, measure, 1));
    REFUSED(sl_site_set_capacity(d->fit % HOSTS, CPU, -1 - (int64_t)d->how));
    REFUSED(sl_site_set_capacity(d->fit % HOSTS, CPU, SL_AMOUNT_MAX + 1 + d->how));
    CHECK(sl_site_capacity_of(site, CPU) == 0 && sl_site_capacity_of(0, measure) == 0);
    CHECK(sl_site_used_of(site, CPU) == 0 && sl_site_used_of(0, measure) == 0);
    CHECK(sl_site_promised_of(site, CPU) == 0 && sl_site_promised_of(0, measure) == 0);
    CHECK(sl_topology_assignment_count(id) == 0 && sl_booking_count(id) == 0);
    (void)sl_topology_assignment_at(id, 0);
    (void)sl_topology_assignment_at(fit, sl_topology_assignment_count(fit));
    (void)sl_booking_at(id, 0);
    (void)sl_booking_at(fit, sl_booking_count(fit));
    REFUSED(sl_preempt_set_policy(node, policy));
    policy.within = (enum sl_preempt_within)(SL_WITHIN_LOWER_OR_NEWER_EQUAL + 1 + d->how);
    REFUSED(sl_preempt_set_policy(d->fit % NODES, policy));
    policy.within = SL_WITHIN_NEVER;
    policy.reclaim = (enum sl_preempt_reclaim)(SL_RECLAIM_ANY + 1 + d->how);
    REFUSED(sl_preempt_set_policy(d->fit % NODES, policy));
    CHECK(sl_preempt_policy_of(node).within == SL_WITHIN_NEVER);
    REFUSED(sl_promise_add(door_beyond(d, SL_CELLS_MAX), 1));
    REFUSED(sl_promise_add(d->fit % sl_cell_limit, -1 - (int64_t)d->how));
    REFUSED(sl_promise_add(d->fit % sl_cell_limit, SL_AMOUNT_MAX + 1));
    (void)sl_promise_at(sl_promise_count() + d->how);
}
