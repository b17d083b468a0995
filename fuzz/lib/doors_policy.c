/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Policy's doors, asked for what is not there. */
#include "fuzz/lib/check.h"
#include "fuzz/lib/doors.h"
#include "fuzz/lib/world.h"
#include "policy/requests/preemption_gate.h"
#include "policy/topology/assumed.h"
#include "policy/fair/branches.h"
#include "policy/preemption/candidates.h"
#include "policy/cycle/cycle_steps.h"
#include "policy/entries/entries.h"
#include "policy/entries/entry_places.h"
#include "policy/queues/fronts.h"
#include "policy/queues/heads.h"
#include "policy/queues/holders.h"
#include "policy/queues/lanes.h"
#include "policy/queues/line.h"
#include "policy/queues/outsiders.h"
#include "policy/queues/passes.h"
#include "policy/queues/readiness.h"
#include "policy/preemption/restraint.h"
#include "policy/requests/shape.h"
#include "policy/requests/slices.h"
#include "policy/fair/shares.h"
#include "policy/common/sort.h"
#include "policy/preemption/targets.h"
#include "policy/preemption/tentative.h"
#include "policy/topology/tolerances.h"
#include "policy/requests/topology_request.h"
#include "policy/entries/tournament.h"
#include "policy/queues/turns.h"
#include "policy/fair/usage.h"

#define REFUSED(call) CHECK((call) != SL_OK)

static void pod_sets(const struct door *d)
{
    uint32_t set = door_beyond(d, SL_REQUESTS_POD_SETS), request = door_beyond(d, SL_REQUESTS_ROWS);
    CHECK(sl_requests_next_pod_set(set) == SL_NO_ID && sl_requests_first(set) == SL_NO_ID);
    CHECK(sl_requests_next(request) == SL_NO_ID && sl_requests_resource(request) == SL_NO_ID);
    CHECK(sl_requests_pod_count(set) == 0 && sl_requests_min_count(set) == 0);
    (void)sl_requests_group(set);
    CHECK(sl_requests_amount(request) == 0 && sl_requests_per_pod(request) == 0);
    (void)sl_requests_excludes(set, PLAIN);
    (void)sl_requests_same_exclusions(set, 0);
    (void)sl_requests_same_exclusions(0, set);
    sl_topology_request_drop(set);
    (void)sl_topology_request_of(set);
    REFUSED(sl_topology_request_set_mask(set, 0));
    REFUSED(sl_topology_request_set_mask(0, SL_MASKS_MAX + d->how));
}

static void slices(sl_workload_id id, sl_workload_id fit)
{
    sl_slices_set(id, fit, 0);
    REFUSED(sl_slices_keep(id, 0, PLAIN));
    sl_slices_forget(id);
    CHECK(!sl_slices_is(id) && sl_slices_old(id, COHORTS) == SL_NO_ID);
    CHECK(sl_slices_may_have(id, 0, PLAIN) && sl_slices_held(id, 0) == 0);
}

void door_demands(const struct door *d)
{
    sl_workload_id id = door_beyond(d, SL_WORKLOADS_MAX), fit = d->fit % SLOTS;
    sl_requests_clear(id);
    sl_requests_set_single_pod(id, true);
    CHECK(!sl_requests_is_single_pod(id) && sl_requests_first_pod_set(id) == SL_NO_ID);
    CHECK(sl_requests_set_count(id) == 0);
    sl_preemption_gate_set(id, true);
    CHECK(!sl_preemption_gate_closed(id));
    sl_preemption_gate_note_tried(id);
    CHECK(!sl_preemption_gate_is_news(id));
    slices(id, fit);
    REFUSED(sl_requests_add_pod_set(id, 1));
    REFUSED(sl_requests_set_min_count(id, 1));
    REFUSED(sl_requests_set_group(id, 1));
    REFUSED(sl_requests_add(id, CPU, 1));
    REFUSED(sl_requests_add_exclusion(id, PLAIN, SL_EXCLUDED_TAINT));
    REFUSED(sl_topology_request_set(id, (struct sl_topology_request){0}));
    REFUSED(sl_requests_add(fit, CPU, -1 - (int64_t)d->how));
    REFUSED(sl_requests_add(fit, CPU, SL_AMOUNT_MAX + 1 + d->how));
    REFUSED(sl_requests_add_exclusion(fit, PLAIN, (enum sl_exclusion)0));
    pod_sets(d);
    door_bad_demands(d);
    sl_passes_settle(id, world_now_ms);
    sl_passes_miss(id, world_now_ms);
    sl_passes_grant(id, 0, PLACED, 1);
    sl_passes_grant(fit, SL_POD_SETS_MAX + d->how, PLACED, 1);
    sl_passes_grant(fit, 0, SL_NO_ID, 1);
    CHECK(sl_passes_tree(id, 0) == SL_NO_ID && sl_passes_pods(id, 0) == 0);
    CHECK(sl_passes_tree(fit, SL_POD_SETS_MAX + d->how) == SL_NO_ID);
    CHECK(sl_passes_taken(SL_WORKLOADS_MAX + d->how) == SL_NO_ID);
    (void)sl_shape_hash(id);
    (void)sl_shape_equal(id, fit);
    (void)sl_shape_equal(fit, id);
}

static void heaps_and_lanes(const struct door *d)
{
    sl_workload_id id = door_beyond(d, SL_WORKLOADS_MAX), fit = d->fit % SLOTS;
    sl_qnode_id node = door_beyond(d, SL_QNODES_MAX);
    sl_heap_id heap = door_beyond(d, SL_HEAPS_MAX);
    sl_lane_id lane = door_beyond(d, SL_LANES_MAX);
    sl_heap_push(heap, fit);
    sl_heap_push(0, id);
    sl_heap_remove(id);
    CHECK(sl_heap_first(heap) == SL_NO_ID && sl_heap_count(heap) == 0);
    CHECK(sl_heap_of(id) == SL_NO_ID && sl_heap_agrees(id));
    CHECK(sl_heap_at(heap, 1) == SL_NO_ID && sl_heap_at(0, 0) == SL_NO_ID);
    CHECK(sl_heap_at(0, SL_WORKLOADS_MAX + d->how) == SL_NO_ID);
    CHECK(sl_lanes_open(node, fit) == SL_NO_ID && sl_lanes_open(COHORTS, id) == SL_NO_ID);
    sl_lanes_close_empty(lane);
    sl_lanes_shut(lane, true);
    sl_lanes_join(lane, fit);
    sl_lanes_leave(id);
    sl_lanes_set_scout(lane, fit);
    sl_lanes_drop_scout(lane);
    CHECK(!sl_lanes_is_shut(lane) && sl_lanes_best(lane) == SL_NO_ID);
    CHECK(sl_lanes_of(id) == SL_NO_ID && sl_lanes_scout(lane) == SL_NO_ID);
    CHECK(sl_lanes_scouted_by(id) == SL_NO_ID && sl_lanes_queue(lane) == SL_NO_ID);
    CHECK(sl_lanes_twin(lane, SL_NO_ID) == SL_NO_ID && sl_lanes_next(lane) == SL_NO_ID);
    CHECK(sl_lanes_first(node, true) == SL_NO_ID && sl_lanes_member_count(node, true) == 0);
}

void door_lists(const struct door *d)
{
    sl_workload_id id = door_beyond(d, SL_WORKLOADS_MAX), fit = d->fit % SLOTS;
    sl_qnode_id node = door_beyond(d, SL_QNODES_MAX), queue = COHORTS + d->fit % (NODES - COHORTS);
    heaps_and_lanes(d);
    door_again(d);
    sl_holders_add(node, fit);
    sl_holders_add(queue, id);
    sl_holders_remove(id);
    CHECK(sl_holders_first(node) == SL_NO_ID && sl_holders_next(id) == SL_NO_ID);
    CHECK(sl_holders_queue_of(id) == SL_NO_ID && sl_holders_count(node) == 0);
    sl_branches_follow(node);
    CHECK(sl_branches_first(node) == SL_NO_ID && sl_branches_next(node) == SL_NO_ID);
    sl_qnode_id after = sl_branches_walk(node, 0, true); /* a sibling, if it has one */
    CHECK(after < NODES || after == SL_NO_ID);
    CHECK(sl_branches_walk(0, node, false) == SL_NO_ID);
    sl_fronts_push(node, fit);
    CHECK(sl_fronts_first(node, fit) == SL_NO_ID && sl_fronts_count(node) == 0);
    CHECK(!sl_fronts_stands(node, fit) && !sl_fronts_stands(queue, id));
    (void)sl_fronts_account(node, fit);
    (void)sl_fronts_account(queue, id);
    (void)sl_fronts_next_heap(node, 0);
    sl_heads_set_preemptor(node, fit, true);
    sl_heads_doubt_preemptor(node, fit);
    sl_heads_forget(node, fit);
    sl_heads_forget(node, id);
    sl_heads_count_eviction(id);
    CHECK(sl_heads_first(node) == SL_NO_ID && !sl_heads_is_preemptor(node, fit));
    CHECK(!sl_heads_is_sticky(node, fit));
    CHECK(!sl_line_bring_to(id, SL_PLACE_HEAP));
    sl_line_leave(id);
    sl_line_return(queue, id);
    sl_line_wake_one(queue, id);
    CHECK(!sl_line_park_alone(queue, id) && !sl_line_park_aside(queue, id));
    CHECK(!sl_line_park_shape(queue, id));
    sl_outsiders_set(id, true);
    sl_outsiders_turn_away(id);
    sl_outsiders_forget(id);
    CHECK(!sl_outsiders_is(id) && !sl_outsiders_turned_away(id));
    sl_restraint_set(id, true);
    CHECK(!sl_restraint_holds(id));
}

static void rules_and_offers(const struct door *d)
{
    sl_qnode_id node = door_beyond(d, SL_QNODES_MAX), queue = COHORTS + d->fit % (NODES - COHORTS);
    sl_cell_id cell = door_beyond(d, SL_CELLS_MAX), fit = d->fit % sl_cell_limit;
    struct sl_rules rules = sl_offers_rules(queue);
    REFUSED(sl_queues_configure(node, rules, true));
    (void)sl_offers_rules(node);
    sl_offers_clear(node);
    REFUSED(sl_offers_add(node, 0, fit));
    REFUSED(sl_offers_add(queue, 0, cell));
    REFUSED(sl_offers_add(COHORTS + (d->fit + 1) % (NODES - COHORTS), 0,
                          sl_ledger_find_cell(queue, PLAIN, CPU)));
    REFUSED(sl_offers_add(queue, SL_GROUPS_MAX + d->how, sl_ledger_find_cell(queue, PLAIN, CPU)));
    CHECK(sl_offers_first(node) == SL_NO_ID && sl_offers_next(cell) == SL_NO_ID);
    CHECK(sl_offers_first_of(SL_USED_FLAVORS_MAX + d->how) == SL_NO_ID);
    CHECK(sl_offers_next_of(cell) == SL_NO_ID && !sl_offers_is_delayed(cell));
    (void)sl_offers_group_of(cell);
    sl_offers_set_delayed(cell, true);
    sl_offers_set_order(SL_RESOURCES_MAX + d->how, 1);
    CHECK(sl_offers_order(SL_RESOURCES_MAX + d->how) == 0);
    sl_offers_set_measure(SL_RESOURCES_MAX + d->how, 1);
    (void)sl_offers_measure(SL_RESOURCES_MAX + d->how);
}

void door_queues(const struct door *d)
{
    sl_workload_id id = door_beyond(d, SL_WORKLOADS_MAX), fit = d->fit % SLOTS;
    sl_qnode_id node = door_beyond(d, SL_QNODES_MAX);
    struct sl_order_key key = sl_order_of(fit);
    rules_and_offers(d);
    door_offers(d);
    REFUSED(sl_queues_attach(id, COHORTS, key));
    REFUSED(sl_queues_attach(fit, node, key));
    sl_queues_detach(id);
    sl_queues_set_key(id, key);
    sl_queues_settle(id, world_now_ms);
    sl_queues_retry(id, world_now_ms);
    sl_queues_owe(id);
    sl_queues_put_back(id, SL_PUT_HEAP);
    sl_queues_put_back(fit, SL_PUT_HEAP); /* it is not in flight */
    sl_queues_wake_tree(node);
    sl_queues_wake_queue(node);
    sl_queues_note_roomless(door_beyond(d, SL_TREES_MAX));
    sl_queues_note_capacity(door_beyond(d, SL_TREES_MAX), d->other % 2 != 0);
    CHECK(!sl_queues_in_backoff(id, world_now_ms) && sl_queues_queue_of(id) == SL_NO_ID);
    CHECK(sl_queues_take(node) == SL_NO_ID && !sl_queues_awaits_turn(id));
    CHECK(sl_queues_heap_count(node) == 0 && sl_queues_parked_count(node) == 0);
    CHECK(sl_queues_list(node) == 0);
    CHECK(sl_queues_listed(SL_WORKLOADS_MAX + d->how) == SL_NO_ID);
    sl_turns_set_active(node, true);
    sl_turns_block(node, fit);
    sl_turns_hold(node, fit);
    sl_turns_unblock(node);
    sl_turns_rouse(node);
    sl_turns_refresh(node);
    sl_turns_mark_tree(node);
    sl_turns_mark_queue(node);
    sl_turns_note_free(node);
    sl_turns_owe_tree(node, d->other % 2 != 0);
    sl_turns_renew(node);
    CHECK(!sl_turns_is_active(node) && !sl_turns_is_held(node) && !sl_turns_is_waiting(node));
    CHECK(sl_turns_next_ready(node) == SL_NO_ID && sl_turns_first_held(node) == SL_NO_ID);
    CHECK(sl_turns_next_held(node) == SL_NO_ID && sl_turns_first_waiting(node) == SL_NO_ID);
    CHECK(sl_turns_next_waiting(node) == SL_NO_ID);
    CHECK(sl_turns_woken(SL_QNODES_MAX + d->how) == SL_NO_ID);
    (void)sl_turns_woken_since(node, 0);
    sl_readiness_watch(id, true);
    sl_readiness_wait(node);
}

static void masks(const struct door *d)
{
    sl_mask_id mask = door_beyond(d, SL_MASKS_MAX);
    sl_site_id site = door_beyond(d, SL_SITES_MAX);
    REFUSED(sl_masks_clear(mask));
    REFUSED(sl_masks_set(mask, 0, SL_VERDICT_MAY));
    REFUSED(sl_masks_set(0, site, SL_VERDICT_MAY));
    REFUSED(sl_masks_prefer(mask, 0, 1));
    REFUSED(sl_masks_prefer(0, site, 1));
    REFUSED(sl_masks_prefer(0, 0, (int64_t)INT32_MAX + 1 + d->how));
    REFUSED(sl_masks_prefer(0, 0, (int64_t)INT32_MIN - 1 - d->how));
    CHECK(sl_masks_verdict(mask, 0) == SL_VERDICT_MAY && !sl_masks_prefers(mask));
    CHECK(sl_masks_score(mask, 0) == 0 && sl_masks_score(0, site) == 0);
    REFUSED(sl_tolerances_set(SL_TOLERANCE_TREES_MAX + d->how, 1));
    REFUSED(sl_tolerances_set(PLACED, SL_TOLERANCES_MAX + d->how));
    REFUSED(sl_tolerances_link(mask, 1, 0));
    REFUSED(sl_tolerances_link(0, 0, 0));
    REFUSED(sl_tolerances_link(0, SL_TOLERANCES_MAX + d->how, 0));
    REFUSED(sl_tolerances_link(0, 1, SL_MASKS_MAX + d->how));
    (void)sl_tolerances_mask(mask, PLACED);
    (void)sl_tolerances_mask(0, SL_TOLERANCE_TREES_MAX + d->how);
}

void door_trees(const struct door *d)
{
    sl_tree_id tree = door_beyond(d, SL_TREES_MAX);
    sl_domain_id domain = door_beyond(d, SL_DOMAINS_MAX), fresh = sl_domain_limit;
    struct sl_tree_levels levels = {SL_DEPTHS_MAX + 1 + d->how, {0}};
    REFUSED(sl_trees_configure(PLAIN, levels, true));
    levels = (struct sl_tree_levels){2, {7, 7}};
    REFUSED(sl_trees_configure(PLAIN, levels, true));
    levels.count = 1;
    REFUSED(sl_trees_configure(tree, levels, true));
    REFUSED(sl_trees_configure(PLACED, levels, true));
    REFUSED(sl_trees_forget(tree));
    REFUSED(sl_trees_forget(PLACED));
    sl_trees_set_rank(tree, 1);
    CHECK(!sl_trees_asked(tree) && !sl_trees_known(tree) && sl_trees_rank(tree) == 0);
    CHECK(sl_trees_depth(tree) == 0 && !sl_trees_ends_at_nodes(tree));
    CHECK(sl_trees_level(tree, 1) == SL_NO_ID && sl_trees_level(PLACED, 77) == SL_NO_ID);
    REFUSED(sl_trees_open(domain, PLACED, SL_NO_ID, SL_NO_ID, SL_NO_ID));
    REFUSED(sl_trees_open(fresh, tree, SL_NO_ID, SL_NO_ID, SL_NO_ID));
    REFUSED(sl_trees_open(fresh, PLAIN, SL_NO_ID, SL_NO_ID, SL_NO_ID));
    REFUSED(sl_trees_open(fresh, PLACED, fresh, SL_NO_ID, SL_NO_ID));
    REFUSED(sl_trees_open(fresh, PLACED, SL_NO_ID, fresh, SL_NO_ID));
    REFUSED(sl_trees_open(fresh, PLACED, 10, 11, 0));
    REFUSED(sl_trees_open(fresh, PLACED, 10, SL_NO_ID, SL_SITES_MAX + d->how));
    REFUSED(sl_trees_open(fresh, PLACED, SL_NO_ID, SL_NO_ID, 0));
    REFUSED(sl_trees_close(domain));
    REFUSED(sl_trees_close(fresh));
    REFUSED(sl_trees_first_child(10) == SL_NO_ID ? SL_REFUSED_IN_USE : sl_trees_close(10));
    CHECK(!sl_trees_shows(domain) && sl_trees_first_top(tree) == SL_NO_ID);
    CHECK(sl_trees_first_child(domain) == SL_NO_ID && sl_trees_next(domain) == SL_NO_ID);
    CHECK(sl_trees_bottom_count(tree) == 0);
    CHECK(sl_trees_domain_on(tree, 0) == SL_NO_ID);
    CHECK(sl_trees_domain_on(PLACED, SL_SITES_MAX + d->how) == SL_NO_ID);
    (void)sl_trees_lay_out(tree);
    (void)sl_trees_spot(domain);
    CHECK(sl_trees_bottom_count(PLACED) <= HOSTS);
    masks(d);
}

void door_usage(const struct door *d)
{
    sl_workload_id id = door_beyond(d, SL_WORKLOADS_MAX), fit = d->fit % SLOTS;
    sl_account_id account = door_beyond(d, SL_ACCOUNTS_MAX);
    sl_qnode_id node = door_beyond(d, SL_QNODES_MAX);
    REFUSED(sl_usage_set_resource(SL_RESOURCES_MAX + d->how, 1, false));
    REFUSED(sl_usage_set_resource(CPU, -1 - (int64_t)d->how, false));
    sl_usage_set_weight(account, 1);
    sl_usage_set_account(id, 0);
    CHECK(sl_usage_account_of(id) == SL_NO_ID);
    sl_usage_close(account);
    sl_usage_sample_begin(account, world_now_ms);
    sl_usage_sample_running(CPU, 1);
    sl_usage_sample_end();
    sl_usage_sample_running(CPU, 1);
    sl_usage_restore(account, CPU, (struct sl_usage_amount){1, 0}, 1);
    sl_usage_restore(0, CPU, (struct sl_usage_amount){-1 - (int64_t)d->how, 0}, 1);
    sl_usage_restore(0, CPU, (struct sl_usage_amount){1, SL_USAGE_PARTS + d->how}, 1);
    sl_usage_charge(id, 0, CPU, 1);
    sl_usage_charge(fit, account, CPU, 1);
    sl_usage_drop(id);
    sl_usage_settle(id);
    CHECK(sl_usage_consumed(account, CPU).milli == 0 && sl_usage_pending(account, CPU).milli == 0);
    CHECK(sl_usage_consumed(0, 77).milli == 0 && sl_usage_pending(0, 77).milli == 0);
    CHECK(sl_usage_compare(account, 0) == 0 && sl_usage_compare(0, account) == 0);
    door_numbers(d);
    REFUSED(sl_shares_set_weight(node, 1));
    REFUSED(sl_shares_set_weight(0, -1 - (int64_t)d->how));
    (void)sl_shares_weight(node);
    CHECK(sl_shares_of(node).borrowed == 0 && !sl_shares_borrows_any(node));
    CHECK(!sl_shares_borrows(door_beyond(d, SL_CELLS_MAX)));
}

void door_search(const struct door *d)
{
    sl_workload_id id = door_beyond(d, SL_WORKLOADS_MAX), fit = d->fit % SLOTS;
    sl_qnode_id node = door_beyond(d, SL_QNODES_MAX);
    uint32_t entry = door_beyond(d, SL_ENTRIES_MAX);
    sl_site_id site = door_beyond(d, SL_SITES_MAX);
    sl_measure_id measure = door_beyond(d, SL_MEASURES_MAX);
    door_bad_questions(d);
    door_entries(d);
    (void)sl_assumed_add(site, CPU, 1);
    (void)sl_assumed_add(0, measure, 1);
    CHECK(sl_assumed_capacity(site, CPU) == 0 && sl_assumed_capacity(0, measure) == 0);
    sl_assumed_back(sl_assumed_mark());
    (void)sl_assumed_free(id);
    (void)sl_candidates_at(SL_WORKLOADS_MAX + d->how);
    (void)sl_candidates_before(id, fit, world_now_ms);
    (void)sl_candidates_before(fit, id, world_now_ms);
    CHECK(sl_cycle_chosen(SL_QNODES_MAX + d->how) == SL_NO_ID && !sl_cycle_is_along(node));
    CHECK(sl_cycle_waiter_at(SL_QNODES_MAX + d->how) == SL_NO_ID);
    sl_cycle_evict_capacity(id);
    sl_cycle_note_outdone(id);
    sl_cycle_progress(node);
    sl_cycle_give_up(node);
    (void)sl_entries_need(entry, 0);
    (void)sl_entries_victim(entry, 0);
    (void)sl_entries_victim_reason(entry, 0);
    CHECK(!sl_entry_places_keep(entry));
    (void)sl_sort_at(SL_ENTRIES_MAX + d->how);
    (void)sl_sort_tag(SL_ENTRIES_MAX + d->how);
    sl_flavors_forget(id);
    (void)sl_flavors_left_to_try(id);
    sl_flavors_touch_tree(node);
    sl_flavors_touch_queue(node);
    CHECK(sl_targets_pop(node) == SL_NO_ID);
    sl_targets_keep(node, fit);
    sl_targets_drop(node);
    sl_targets_changed(node);
    (void)sl_targets_share(node);
    (void)sl_targets_share_without(node, fit);
    (void)sl_targets_preemptor_share(node);
    CHECK(!sl_tentative_promise(node, 0, 1, false) && !sl_tentative_is_gone(id));
    sl_tentative_evict(node, fit);
    sl_tentative_evict(0, id);
    CHECK(sl_tentative_gone_count(node) == 0 && sl_tentative_first_gone(node) == SL_NO_ID);
    CHECK(sl_tentative_next_gone(id) == SL_NO_ID && sl_tentative_take_promised(node));
    CHECK(sl_tentative_free_gone(node) && sl_tentative_free(id));
    sl_preemption_pass_over(id);
    sl_preemption_pass_over_none();
    sl_placement_rank_measure(measure, 1);
    sl_tournament_changed(node);
}
