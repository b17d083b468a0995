/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Queues: who is in line where after whatever happened, wake-ups, lanes, and nobody lost. */
#include "fixture.h"

#include "policy/queues/heads.h"
#include "policy/common/settings.h"
#include "policy/queues/turns.h"

static void assert_listed(sl_qnode_id queue, const sl_workload_id *ids, uint32_t count)
{
    assert_int_equal(sl_queues_list(queue), count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(sl_queues_listed(i), ids[i]);
    }
    assert_int_equal(sl_queues_listed(count), SL_NO_ID);
}

static void test_queues_attached_workload_goes_into_the_heap(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_create();
    fx_assert_place(id, SL_PLACE_ORPHANED);
    fx_attach(id, queue, 0, 1);
    fx_assert_place(id, SL_PLACE_HEAP);
    assert_int_equal(sl_queues_queue_of(id), queue);
    assert_int_equal(sl_queues_heap_count(queue), 1);
    sl_queues_settle(id, fx_now);
    assert_int_equal(sl_queues_heap_count(queue), 1);
}

static void test_queues_attach_refuses_free_slots_and_unknown_nodes(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    struct sl_order_key key = fx_key(0, 1, 1);
    assert_int_equal(sl_queues_attach(fx_next_id, 1, key), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_queues_attach(SL_NO_ID, 1, key), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_queues_attach(id, SL_QNODES_MAX, key), SL_REFUSED_NO_QNODE);
    assert_int_equal(sl_queues_queue_of(id), SL_NO_ID);
}

static void test_queues_detached_workload_is_an_orphan_and_can_come_back(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_workload(queue, 0, 1, 1);
    sl_queues_detach(id);
    fx_assert_place(id, SL_PLACE_ORPHANED);
    assert_int_equal(sl_queues_heap_count(queue), 0);
    assert_int_equal(fx_rest(), 0);
    fx_attach(id, queue, 0, 1);
    assert_int_equal(fx_rest(), 1);
}

static void test_queues_attached_elsewhere_moves(void **state)
{
    (void)state;
    sl_qnode_id one = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_qnode_id two = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 9);
    sl_workload_id id = fx_workload(one, 0, 1, 9);
    assert_int_equal(fx_rest(), 0);
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
    fx_attach(id, two, 0, 1);
    fx_assert_place(id, SL_PLACE_HEAP);
    assert_int_equal(sl_queues_parked_count(one), 0);
    assert_int_equal(fx_rest(), 1);
    assert_int_equal(sl_ledger_usage(sl_offers_first(two)), 9);
}

static void test_queues_inactive_queue_keeps_its_line_and_waits(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    struct sl_rules rules = sl_offers_rules(queue);
    sl_workload_id id = fx_workload(queue, 0, 1, 1);
    assert_int_equal(sl_queues_configure(queue, rules, false), SL_OK);
    assert_false(sl_turns_is_active(queue));
    assert_int_equal(fx_rest(), 0);
    fx_assert_place(id, SL_PLACE_HEAP);
    assert_int_equal(sl_queues_configure(queue, rules, true), SL_OK);
    assert_int_equal(fx_rest(), 1);
    assert_int_equal(sl_queues_configure(SL_QNODES_MAX, rules, true), SL_REFUSED_NO_QNODE);
}

static void test_queues_dormant_workload_leaves_the_line_and_returns(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_workload(queue, 0, 1, 1);
    assert_int_equal(fx_event(id, SL_EV_GATE, 0, 0, 0), SL_OK);
    fx_assert_place(id, SL_PLACE_DORMANT);
    assert_int_equal(sl_queues_heap_count(queue), 0);
    assert_int_equal(fx_event(id, SL_EV_UNGATE, 0, 0, 0), SL_OK);
    fx_assert_place(id, SL_PLACE_HEAP);
    assert_int_equal(fx_rest(), 1);
}

static void test_queues_parked_ones_are_woken_in_the_whole_tree_and_nowhere_else(void **state)
{
    (void)state;
    sl_qnode_id root = fx_node(SL_NO_ID);
    sl_qnode_id left = fx_node(root);
    sl_qnode_id queue = fx_queue(left, SL_BEST_EFFORT_FIFO, 1);
    sl_qnode_id cousin = fx_queue(fx_node(root), SL_BEST_EFFORT_FIFO, 1);
    sl_qnode_id stranger = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 1);
    sl_workload_id a = fx_workload(queue, 0, 1, 9);
    sl_workload_id b = fx_workload(stranger, 0, 1, 9);
    assert_int_equal(fx_rest(), 0);
    sl_queues_wake_tree(cousin);
    sl_queues_wake_tree(cousin);
    sl_queues_flush();
    fx_assert_place(a, SL_PLACE_HEAP);
    fx_assert_place(b, SL_PLACE_INADMISSIBLE);
    assert_int_equal(fx_rest(), 0);
    sl_queues_wake_queue(cousin);
    sl_queues_flush();
    fx_assert_place(a, SL_PLACE_INADMISSIBLE);
}

static void test_queues_finished_holder_wakes_its_tree_by_itself(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id one = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 2);
    sl_qnode_id two = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 2);
    sl_workload_id holder = fx_workload(one, 0, 1, 4);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id waits = fx_workload(two, 0, 1, 3);
    assert_int_equal(fx_rest(), 0);
    fx_assert_place(waits, SL_PLACE_INADMISSIBLE);
    fx_finish(holder);
    fx_assert_place(holder, SL_PLACE_DONE);
    assert_true(sl_queues_ready());
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(waits, SL_PLACE_HOLDING);
}

static void test_queues_holder_detached_meanwhile_still_wakes_its_tree(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id holder = fx_workload(queue, 0, 1, 4);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id waits = fx_workload(queue, 0, 1, 3);
    assert_int_equal(fx_rest(), 0);
    sl_queues_detach(holder);
    fx_assert_place(holder, SL_PLACE_HOLDING);
    assert_int_equal(fx_event(holder, SL_EV_DELETE, 0, 0, 0), SL_OK);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(waits, SL_PLACE_HOLDING);
}

static void test_queues_restored_holder_wakes_its_tree_when_it_ends(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id holder = fx_create();
    sl_plan.workload = holder;
    sl_plan.generation = sl_workloads[holder].generation;
    sl_plan.cluster_queue = queue;
    sl_plan.topology_pending = false;
    sl_plan.usage_count = 1;
    sl_plan.usage[0].cell = sl_offers_first(queue);
    sl_plan.usage[0].amount = 4;
    sl_plan.now_ms = fx_now;
    assert_int_equal(sl_commit_restore(), SL_OK);
    sl_queues_settle(holder, fx_now);
    sl_workload_id waits = fx_workload(queue, 0, 1, 3);
    assert_int_equal(fx_rest(), 0);
    fx_finish(holder);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(waits, SL_PLACE_HOLDING);
}

static void test_queues_wake_during_a_cycle_is_not_lost(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_workload(queue, 0, 1, 9);
    (void)sl_cycle_begin(fx_now);
    sl_queues_wake_tree(queue);
    assert_true(sl_cycle_next());
    assert_false(sl_cycle_next());
    assert_true(sl_cycle_end());
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
    assert_int_equal(sl_cycle_begin(fx_now), 1);
    while (sl_cycle_next()) {
    }
    assert_false(sl_cycle_end());
}

static sl_workload_id evicted_by_pods_ready(sl_qnode_id queue, int64_t requeue_at_ms)
{
    sl_workload_id id = fx_workload(queue, 0, 1, 4);
    assert_int_equal(fx_rest(), 1);
    assert_int_equal(fx_event(id, SL_EV_PODS_READY_TIMEOUT, 0, 0, requeue_at_ms), SL_OK);
    assert_int_equal(fx_event(id, SL_EV_JOB_STOPPED, 0, 0, 0), SL_OK);
    return id;
}

static void test_queues_backoff_is_not_cut_short_by_a_wake_up(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    int64_t begin = fx_now;
    sl_workload_id id = evicted_by_pods_ready(queue, fx_now + 5000);
    assert_true(sl_queues_in_backoff(id, fx_now));
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
    assert_int_equal(sl_queues_parked_count(queue), 1);
    sl_queues_wake_tree(queue);
    sl_queues_retry(id, fx_now);
    assert_int_equal(fx_rest(), 0);
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
    fx_now += 5000;
    assert_int_equal(fx_event(id, SL_EV_BACKOFF_OVER, 0, 0, 0), SL_OK);
    fx_assert_place(id, SL_PLACE_HEAP);
    assert_int_equal(fx_rest(), 1);
    fx_now = begin;
}

static void test_queues_key_of_one_in_backoff_may_change(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = evicted_by_pods_ready(queue, fx_now + 5000);
    sl_queues_set_key(id, fx_key(3, 1, 1));
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
    assert_int_equal(sl_queues_heap_count(queue), 0);
    assert_int_equal(sl_queues_parked_count(queue), 1);
}

static void test_queues_new_priority_reorders_the_heap(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id a = fx_workload(queue, 1, 1, 1);
    sl_workload_id b = fx_workload(queue, 2, 1, 1);
    sl_workload_id c = fx_workload(queue, 3, 1, 1);
    assert_listed(queue, (sl_workload_id[]){c, b, a}, 3);
    sl_queues_set_key(a, fx_key(9, 1, 1));
    sl_queues_set_key(c, fx_key(0, 1, 1));
    assert_listed(queue, (sl_workload_id[]){a, b, c}, 3);
    assert_int_equal(sl_queues_take(queue), a);
    sl_queues_put_back(a, SL_PUT_HEAP);
}

static void test_queues_list_has_parked_ones_in_their_order(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id low = fx_workload(queue, 1, 1, 9);
    sl_workload_id middle = fx_workload(queue, 2, 1, 9);
    sl_workload_id high = fx_workload(queue, 3, 1, 8);
    assert_int_equal(fx_rest(), 0);
    sl_workload_id fresh = fx_workload(queue, 2, 0, 1);
    assert_listed(queue, (sl_workload_id[]){high, fresh, middle, low}, 4);
    assert_int_equal(sl_queues_list(SL_QNODES_MAX), 0);
}

/* Ten that ask for the same wait: a wake-up tries one, and the others only follow where it
 * succeeds. */
static void test_queues_lane_sends_one_scout_and_the_next_after_success(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id holder = fx_workload(queue, 9, 1, 4);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id ids[10];
    for (int i = 0; i < 10; i++) {
        ids[i] = fx_workload(queue, 0, 10 - i, 2);
    }
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_queues_parked_count(queue), 10);
    sl_queues_wake_queue(queue);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(fx_outcome_count, 1);
    assert_int_equal(fx_outcomes[0].workload, ids[9]);
    assert_false(sl_queues_ready());
    fx_finish(holder);
    assert_int_equal(fx_rest(), 2);
    fx_assert_place(ids[9], SL_PLACE_HOLDING);
    fx_assert_place(ids[8], SL_PLACE_HOLDING);
    assert_int_equal(sl_queues_parked_count(queue), 8);
}

static void test_queues_newcomer_of_a_parked_shape_is_parked_with_it(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id a = fx_workload(queue, 0, 1, 9);
    assert_int_equal(fx_rest(), 0);
    sl_workload_id b = fx_workload(queue, 0, 1, 9);
    sl_workload_id urgent = fx_workload(queue, 1, 1, 9);
    fx_assert_place(b, SL_PLACE_INADMISSIBLE);
    assert_false(sl_queues_awaits_turn(b));
    fx_assert_place(urgent, SL_PLACE_HEAP);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[a].pending_reason, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(sl_workloads[b].pending_reason, SL_PENDING_EVALUATION);
    assert_int_equal(sl_workloads[urgent].pending_reason, SL_PENDING_EXCEEDS_MAX_QUOTA);
}

static void test_queues_without_hashing_each_is_tried_and_parked_by_itself(void **state)
{
    (void)state;
    sl_settings.equivalence_hashing = false;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id a = fx_workload(queue, 0, 1, 9);
    sl_workload_id b = fx_workload(queue, 0, 2, 9);
    assert_int_equal(fx_cycle(), 0);
    fx_assert_place(a, SL_PLACE_INADMISSIBLE);
    fx_assert_place(b, SL_PLACE_HEAP);
    assert_int_equal(fx_rest(), 0);
    fx_assert_place(b, SL_PLACE_INADMISSIBLE);
    sl_queues_wake_queue(queue);
    sl_queues_flush();
    fx_assert_place(a, SL_PLACE_HEAP);
    fx_assert_place(b, SL_PLACE_HEAP);
    assert_int_equal(fx_rest(), 0);
}

/* Behind the scout of an open lane one is not parked: it is tried as soon as the scout is served. */
static void test_queues_member_of_an_open_lane_awaits_its_turn(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id first = fx_workload(queue, 0, 1, 2);
    sl_workload_id second = fx_workload(queue, 0, 2, 2);
    sl_workload_id third = fx_workload(queue, 0, 3, 2);
    assert_true(sl_queues_awaits_turn(third));
    assert_int_equal(sl_queues_heap_count(queue), 3);
    assert_int_equal(sl_queues_parked_count(queue), 0);
    assert_int_equal(fx_cycle(), 1);
    fx_assert_place(first, SL_PLACE_HOLDING);
    fx_assert_place(second, SL_PLACE_HEAP);
    assert_int_equal(fx_rest(), 1);
    assert_false(sl_queues_awaits_turn(third));
    assert_int_equal(sl_queues_parked_count(queue), 1);
}

static void test_queues_better_newcomer_replaces_the_scout(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id late = fx_workload(queue, 0, 5, 2);
    sl_workload_id early = fx_workload(queue, 0, 1, 2);
    fx_assert_place(late, SL_PLACE_INADMISSIBLE);
    fx_assert_place(early, SL_PLACE_HEAP);
    assert_int_equal(sl_queues_take(queue), early);
    sl_workload_id earliest = fx_workload(queue, 0, 0, 2);
    fx_assert_place(earliest, SL_PLACE_INADMISSIBLE);
    sl_queues_put_back(early, SL_PUT_HEAP);
    fx_assert_place(earliest, SL_PLACE_HEAP);
    fx_assert_place(early, SL_PLACE_INADMISSIBLE);
    assert_true(sl_queues_valid());
}

/* One that waits for its victims stays the head, whoever comes; in a strict queue it does not. */
static void test_queues_preemptor_is_sticky_where_others_could_pass(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id waits = fx_workload(queue, 0, 5, 2);
    sl_queues_flush();
    assert_int_equal(sl_queues_take(queue), waits);
    sl_heads_set_preemptor(queue, waits, true);
    sl_queues_put_back(waits, SL_PUT_HELD);
    sl_workload_id equal = fx_workload(queue, 0, 1, 2);
    sl_workload_id urgent = fx_workload(queue, 9, 1, 1);
    assert_listed(queue, (sl_workload_id[]){waits, urgent, equal}, 3);
    assert_false(sl_queues_ready());
    assert_int_equal(sl_heads_first(queue), waits);
    sl_queues_detach(waits);
    assert_int_equal(sl_heads_first(queue), urgent);
    assert_false(sl_heads_is_sticky(queue, waits));
    assert_false(sl_heads_is_preemptor(queue, waits));
}

static void test_queues_spec_change_makes_a_preemptor_doubtful_but_leaves_it_sticky(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_workload(queue, 0, 5, 2);
    sl_heads_set_preemptor(queue, id, true);
    sl_queues_retry(id, fx_now);
    assert_false(sl_heads_is_preemptor(queue, id));
    assert_true(sl_heads_is_sticky(queue, id));
    sl_heads_set_preemptor(SL_QNODES_MAX, id, true);
    assert_false(sl_heads_is_preemptor(SL_QNODES_MAX, id));
    assert_int_equal(sl_heads_first(SL_QNODES_MAX), SL_NO_ID);
}

static void test_queues_one_parked_alone_leaves_its_lane_open(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id first = fx_workload(queue, 0, 1, 2);
    sl_workload_id second = fx_workload(queue, 0, 2, 2);
    assert_int_equal(sl_queues_take(queue), first);
    sl_queues_put_back(first, SL_PUT_ALONE);
    fx_assert_place(first, SL_PLACE_INADMISSIBLE);
    fx_assert_place(second, SL_PLACE_HEAP);
    assert_int_equal(sl_queues_parked_count(queue), 1);
    sl_queues_wake_queue(queue);
    sl_queues_flush();
    fx_assert_place(first, SL_PLACE_HEAP);
    fx_assert_place(second, SL_PLACE_INADMISSIBLE);
}

/* A held head is passed over until somebody of its tree is tried; a blocked one until woken. */
static void test_queues_held_head_takes_part_in_what_happens_in_its_tree(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id held = fx_queue(cohort, SL_STRICT_FIFO, 0);
    sl_qnode_id blocked = fx_queue(cohort, SL_STRICT_FIFO, 0);
    sl_qnode_id busy = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 4);
    sl_qnode_id stranger = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id h = fx_workload(held, 0, 1, 9);
    sl_workload_id b = fx_workload(blocked, 0, 1, 9);
    sl_queues_flush();
    assert_int_equal(sl_queues_take(held), h);
    sl_queues_put_back(h, SL_PUT_HELD);
    assert_int_equal(sl_queues_take(blocked), b);
    sl_queues_put_back(b, SL_PUT_BLOCKED);
    assert_false(sl_queues_ready());
    (void)fx_workload(stranger, 0, 1, 1);
    assert_int_equal(sl_cycle_begin(fx_now), 1);
    (void)fx_workload(busy, 0, 1, 1);
    assert_int_equal(sl_cycle_begin(fx_now), 3); /* the stranger anew, the busy, the held one */
    fx_assert_place(h, SL_PLACE_IN_FLIGHT);
    fx_assert_place(b, SL_PLACE_HEAP);
    assert_int_equal(sl_cycle_begin_all(fx_now), 4);
    fx_assert_place(b, SL_PLACE_IN_FLIGHT);
    (void)sl_cycle_end();
}

static void test_queues_unattached_workload_that_may_be_queued_is_an_orphan(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_workload(queue, 0, 1, 4);
    assert_int_equal(fx_rest(), 1);
    sl_queues_detach(id);
    assert_int_equal(fx_event(id, SL_EV_PREEMPT, 0, 1, 0), SL_OK);
    assert_int_equal(fx_event(id, SL_EV_JOB_STOPPED, 0, 0, 0), SL_OK);
    fx_assert_place(id, SL_PLACE_ORPHANED);
}

/* The slot is given out again: what held up the queue was somebody else. */
static void test_queues_block_ends_with_the_workload_that_blocked(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_STRICT_FIFO, 4);
    sl_workload_id id = fx_workload(queue, 0, 1, 9);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(fx_event(id, SL_EV_DELETE, 0, 0, 0), SL_OK);
    assert_int_equal(fx_event(id, SL_EV_CREATE, 0, 0, 0), SL_OK);
    fx_pod_set(id, 1, CPU, 2);
    fx_attach(id, queue, 0, 1);
    assert_true(sl_queues_ready());
    assert_int_equal(fx_rest(), 1);
}

static void test_queues_scout_that_goes_away_is_replaced(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id best = fx_workload(queue, 1, 1, 9);
    sl_workload_id next = fx_workload(queue, 1, 2, 9);
    assert_int_equal(fx_rest(), 0);
    sl_queues_wake_queue(queue);
    sl_queues_flush();
    fx_assert_place(best, SL_PLACE_HEAP);
    fx_assert_place(next, SL_PLACE_INADMISSIBLE);
    assert_int_equal(fx_event(best, SL_EV_DELETE, 0, 0, 0), SL_OK);
    fx_assert_place(next, SL_PLACE_HEAP);
    assert_true(sl_queues_valid());
    sl_queues_set_key(next, fx_key(0, 1, 1));
    assert_int_equal(fx_rest(), 0);
    fx_assert_place(next, SL_PLACE_INADMISSIBLE);
}

static void test_queues_lane_member_that_goes_away_leaves_the_others(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id a = fx_workload(queue, 1, 1, 9);
    sl_workload_id b = fx_workload(queue, 1, 2, 9);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(fx_event(a, SL_EV_DELETE, 0, 0, 0), SL_OK);
    assert_int_equal(sl_queues_parked_count(queue), 1);
    fx_assert_place(b, SL_PLACE_INADMISSIBLE);
    assert_int_equal(fx_event(b, SL_EV_DELETE, 0, 0, 0), SL_OK);
    assert_int_equal(sl_lanes_first(queue, true), SL_NO_ID);
    assert_int_equal(sl_lanes_first(queue, false), SL_NO_ID);
}

static void test_queues_higher_priority_takes_a_member_out_of_its_lane(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id a = fx_workload(queue, 1, 1, 9);
    sl_workload_id b = fx_workload(queue, 1, 2, 9);
    assert_int_equal(fx_rest(), 0);
    sl_queues_set_key(b, fx_key(7, 1, 1));
    fx_assert_place(b, SL_PLACE_HEAP);
    fx_assert_place(a, SL_PLACE_INADMISSIBLE);
    assert_int_equal(fx_rest(), 0);
    assert_listed(queue, (sl_workload_id[]){b, a}, 2);
}

static void test_queues_retry_after_a_new_demand_leaves_the_lane(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id a = fx_workload(queue, 1, 1, 9);
    sl_workload_id b = fx_workload(queue, 1, 2, 9);
    assert_int_equal(fx_rest(), 0);
    sl_requests_clear(b);
    fx_pod_set(b, 1, CPU, 4);
    sl_queues_retry(b, fx_now);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(b, SL_PLACE_HOLDING);
    fx_assert_place(a, SL_PLACE_INADMISSIBLE);
}

static void test_queues_strategy_change_dissolves_lanes(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    struct sl_rules strict = {.strategy = SL_STRICT_FIFO};
    for (int i = 0; i < 5; i++) {
        (void)fx_workload(queue, i, 1, 9 + i % 2);
    }
    assert_int_equal(fx_rest(), 0);
    sl_queues_wake_queue(queue);
    sl_queues_flush();
    assert_int_equal(sl_queues_configure(queue, strict, true), SL_OK);
    assert_int_equal(sl_queues_heap_count(queue), 5);
    assert_int_equal(sl_queues_parked_count(queue), 0);
    assert_int_equal(sl_lanes_first(queue, false), SL_NO_ID);
    assert_int_equal(sl_lanes_first(queue, true), SL_NO_ID);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_queues_heap_count(queue), 5);
    assert_true(sl_queues_valid());
}

static void test_queues_node_moved_after_a_wake_up_is_flushed_before(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 1);
    (void)fx_queue(cohort, SL_BEST_EFFORT_FIFO, 9);
    sl_workload_id id = fx_workload(queue, 0, 1, 9);
    assert_int_equal(fx_rest(), 0);
    sl_queues_wake_tree(queue);
    sl_queues_flush();
    assert_int_equal(sl_ledger_move_qnode(queue, cohort), SL_OK);
    sl_queues_wake_tree(queue);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
}

static void test_queues_deleted_slot_forgets_everything(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_workload(queue, 0, 1, 1);
    assert_int_equal(fx_event(id, SL_EV_DELETE, 0, 0, 0), SL_OK);
    assert_int_equal(sl_queues_queue_of(id), SL_NO_ID);
    assert_int_equal(sl_requests_set_count(id), 0);
    assert_int_equal(fx_event(id, SL_EV_CREATE, 0, 0, 0), SL_OK);
    fx_assert_place(id, SL_PLACE_ORPHANED);
    assert_int_equal(fx_rest(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_queues_attached_workload_goes_into_the_heap),
        FX_TEST(test_queues_attach_refuses_free_slots_and_unknown_nodes),
        FX_TEST(test_queues_detached_workload_is_an_orphan_and_can_come_back),
        FX_TEST(test_queues_attached_elsewhere_moves),
        FX_TEST(test_queues_inactive_queue_keeps_its_line_and_waits),
        FX_TEST(test_queues_dormant_workload_leaves_the_line_and_returns),
        FX_TEST(test_queues_parked_ones_are_woken_in_the_whole_tree_and_nowhere_else),
        FX_TEST(test_queues_finished_holder_wakes_its_tree_by_itself),
        FX_TEST(test_queues_holder_detached_meanwhile_still_wakes_its_tree),
        FX_TEST(test_queues_restored_holder_wakes_its_tree_when_it_ends),
        FX_TEST(test_queues_wake_during_a_cycle_is_not_lost),
        FX_TEST(test_queues_backoff_is_not_cut_short_by_a_wake_up),
        FX_TEST(test_queues_key_of_one_in_backoff_may_change),
        FX_TEST(test_queues_new_priority_reorders_the_heap),
        FX_TEST(test_queues_list_has_parked_ones_in_their_order),
        FX_TEST(test_queues_lane_sends_one_scout_and_the_next_after_success),
        FX_TEST(test_queues_newcomer_of_a_parked_shape_is_parked_with_it),
        FX_TEST(test_queues_without_hashing_each_is_tried_and_parked_by_itself),
        FX_TEST(test_queues_member_of_an_open_lane_awaits_its_turn),
        FX_TEST(test_queues_better_newcomer_replaces_the_scout),
        FX_TEST(test_queues_preemptor_is_sticky_where_others_could_pass),
        FX_TEST(test_queues_spec_change_makes_a_preemptor_doubtful_but_leaves_it_sticky),
        FX_TEST(test_queues_one_parked_alone_leaves_its_lane_open),
        FX_TEST(test_queues_held_head_takes_part_in_what_happens_in_its_tree),
        FX_TEST(test_queues_unattached_workload_that_may_be_queued_is_an_orphan),
        FX_TEST(test_queues_block_ends_with_the_workload_that_blocked),
        FX_TEST(test_queues_scout_that_goes_away_is_replaced),
        FX_TEST(test_queues_lane_member_that_goes_away_leaves_the_others),
        FX_TEST(test_queues_higher_priority_takes_a_member_out_of_its_lane),
        FX_TEST(test_queues_retry_after_a_new_demand_leaves_the_lane),
        FX_TEST(test_queues_strategy_change_dissolves_lanes),
        FX_TEST(test_queues_node_moved_after_a_wake_up_is_flushed_before),
        FX_TEST(test_queues_deleted_slot_forgets_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
