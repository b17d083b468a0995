/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The doors say what they did: from which phase to which, and what of the record is news. */
#include "topology_fixture.h"

#include "kernel/commit/transition.h"
#include "kernel/ledger/ledger.h"
#include "policy/flavors/open_cell.h"

enum { FLAVOR = 3, CHECK = 9, NOW = 5000 };

static sl_qnode_id next_queue = 10;
static sl_workload_id next_id = 100;
static sl_qnode_id queue;
static sl_cell_id cell;

static struct sl_transition tell(sl_workload_id id, enum sl_event_kind kind, uint32_t index,
                                 uint32_t reason)
{
    struct sl_event ev = {kind, id, sl_workloads[id].generation, index, reason, 0, NOW};
    return sl_transition_event(ev);
}

/* It went that way, and of the record just these are news: a set of bits. */
static void assert_did(struct sl_transition t, enum sl_phase from, enum sl_phase to, uint32_t news)
{
    assert_int_equal(t.status, SL_OK);
    assert_int_equal(t.from, from);
    assert_int_equal(t.to, to);
    for (uint32_t i = 0; i < SL_CHANGED_COUNT; i++) {
        assert_int_equal(t.news[i], (news >> i) & 1u);
    }
}

#define NEWS(name) (1u << (unsigned)SL_CHANGED_##name)

static sl_workload_id pending(void)
{
    sl_workload_id id = next_id++;
    struct sl_transition t = tell(id, SL_EV_CREATE, 0, 0);
    assert_int_equal(t.from, SL_PHASE_ABSENT);
    assert_int_equal(t.to, SL_PHASE_PENDING);
    return id;
}

static struct sl_transition commit(sl_workload_id id, bool delayed)
{
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = queue;
    sl_plan.topology_pending = delayed;
    sl_plan.usage_count = 1;
    sl_plan.usage[0] = (struct sl_cell_amount){cell, 120};
    sl_plan.now_ms = NOW;
    plan_for(id);
    return sl_transition_commit();
}

/* Two pods of 40 cpu on that node. */
static void plan_place(sl_workload_id id, sl_domain_id domain)
{
    plan_for(id);
    plan_row(plan_set(0, 40), domain, 2);
}

static int open_all(void **state)
{
    (void)state;
    open_world();
    queue = next_queue++;
    assert_int_equal(sl_ledger_open_qnode(queue), SL_OK);
    assert_int_equal(sl_ledger_open_cell(queue, FLAVOR, CPU, &cell), SL_OK);
    assert_int_equal(sl_ledger_set_quota(cell, 1000, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
                     SL_OK);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    for (sl_workload_id id = 100; id < next_id; id++) {
        if (sl_workloads[id].phase != SL_PHASE_ABSENT) {
            assert_int_equal(tell(id, SL_EV_DELETE, 0, 0).to, SL_PHASE_ABSENT);
        }
    }
    close_world();
    return 0;
}

static void test_transition_that_is_refused_has_no_news(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    struct sl_transition t = tell(id, SL_EV_JOB_STOPPED, 0, 0);
    assert_int_not_equal(t.status, SL_OK);
    t.status = SL_OK;
    assert_did(t, SL_PHASE_PENDING, SL_PHASE_PENDING, 0);
    struct sl_event nobody = {.kind = SL_EV_HOLD, .workload = SL_NO_ID, .now_ms = NOW};
    assert_int_equal(sl_transition_event(nobody).status, SL_REFUSED_UNKNOWN_WORKLOAD);
}

static void test_transition_to_another_reason_to_wait_is_news_once(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    assert_did(tell(id, SL_EV_REFUSE, 0, SL_PENDING_WAITING_FOR_QUOTA), SL_PHASE_PENDING,
               SL_PHASE_PENDING, NEWS(REASON));
    assert_did(tell(id, SL_EV_REFUSE, 0, SL_PENDING_WAITING_FOR_QUOTA), SL_PHASE_PENDING,
               SL_PHASE_PENDING, 0);
}

static void test_transition_names_checks_and_their_objections(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    assert_did(tell(id, SL_EV_CHECK_ADD, CHECK, 0), SL_PHASE_PENDING, SL_PHASE_PENDING,
               NEWS(CHECKS));
    assert_did(tell(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_RETRY), SL_PHASE_PENDING,
               SL_PHASE_PENDING, NEWS(OBJECTION));
    assert_did(tell(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_READY), SL_PHASE_PENDING,
               SL_PHASE_PENDING, NEWS(OBJECTION));
    (void)tell(id, SL_EV_REFUSE, 0, SL_PENDING_WAITING_FOR_QUOTA);
    assert_did(tell(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_RETRY), SL_PHASE_PENDING,
               SL_PHASE_PENDING, 0);
}

static void test_transition_by_commit_tells_whether_it_is_admitted_at_once(void **state)
{
    (void)state;
    assert_did(commit(pending(), false), SL_PHASE_PENDING, SL_PHASE_ADMITTED, 0);
    sl_workload_id id = pending();
    (void)tell(id, SL_EV_CHECK_ADD, CHECK, 0);
    assert_did(commit(id, false), SL_PHASE_PENDING, SL_PHASE_QUOTA_RESERVED, 0);
    assert_did(tell(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_READY), SL_PHASE_QUOTA_RESERVED,
               SL_PHASE_ADMITTED, 0);
    (void)commit(pending(), false);
    struct sl_transition none = sl_transition_commit(); /* it is not in flight any more */
    assert_int_not_equal(none.status, SL_OK);
    assert_int_equal(none.from, none.to);
}

static void test_transition_by_replacement_tells_of_both(void **state)
{
    (void)state;
    sl_workload_id old = pending(), new = pending();
    (void)commit(old, false);
    uint32_t generation = sl_workloads[old].generation;
    struct sl_replacement none = sl_transition_replace(old, generation); /* by itself */
    assert_int_equal(none.in.status, SL_REFUSED_PLACE);
    assert_int_equal(none.out.status, SL_REFUSED_PLACE);
    assert_int_equal(none.out.to, SL_PHASE_ADMITTED);
    assert_int_equal(sl_place_move(new, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_place_move(new, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
    sl_plan.workload = new;
    sl_plan.generation = sl_workloads[new].generation;
    sl_plan.usage[0].amount = 130;
    plan_for(new);
    struct sl_replacement did = sl_transition_replace(old, generation);
    assert_did(did.in, SL_PHASE_PENDING, SL_PHASE_ADMITTED, 0);
    assert_did(did.out, SL_PHASE_ADMITTED, SL_PHASE_FINISHED, 0);
    assert_int_equal(sl_transition_replace(SL_NO_ID, 0).out.status, SL_REFUSED_PLACE);
}

static void test_transition_by_second_pass_admits_what_waited_for_its_topology(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    (void)tell(id, SL_EV_CHECK_ADD, CHECK, 0);
    assert_did(commit(id, true), SL_PHASE_PENDING, SL_PHASE_QUOTA_RESERVED, 0);
    assert_did(tell(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_READY), SL_PHASE_QUOTA_RESERVED,
               SL_PHASE_QUOTA_RESERVED, NEWS(WAIT));
    plan_place(id, NODE);
    assert_did(sl_transition_second_pass(sl_workloads[id].generation, NOW), SL_PHASE_QUOTA_RESERVED,
               SL_PHASE_ADMITTED, 0);
    assert_int_equal(sl_transition_second_pass(sl_workloads[id].generation, NOW).status,
                     SL_REFUSED_NOT_NEEDED);
}

static void test_transition_names_failed_nodes_and_their_replacement(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    (void)tell(id, SL_EV_CHECK_ADD, CHECK, 0);
    (void)commit(id, true);
    (void)tell(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_READY);
    plan_place(id, NODE);
    assert_int_equal(sl_transition_second_pass(sl_workloads[id].generation, NOW).status, SL_OK);
    assert_did(tell(id, SL_EV_NODE_FAILED, 0, 0), SL_PHASE_ADMITTED, SL_PHASE_ADMITTED,
               NEWS(NODES));
    assert_did(tell(id, SL_EV_NODE_RECOVERED, 0, 0), SL_PHASE_ADMITTED, SL_PHASE_ADMITTED,
               NEWS(NODES));
    (void)tell(id, SL_EV_NODE_FAILED, 0, 0);
    plan_place(id, NODE + 1);
    assert_did(sl_transition_second_pass(sl_workloads[id].generation, NOW), SL_PHASE_ADMITTED,
               SL_PHASE_ADMITTED, NEWS(NODES));
}

static void test_transition_names_eviction_requeue_and_release(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    (void)commit(id, false);
    assert_did(tell(id, SL_EV_PODS_READY, 1, 0), SL_PHASE_ADMITTED, SL_PHASE_ADMITTED, NEWS(START));
    assert_did(tell(id, SL_EV_PODS_READY, 0, 0), SL_PHASE_ADMITTED, SL_PHASE_ADMITTED, 0);
    assert_did(tell(id, SL_EV_PREEMPT, 0, SL_PREEMPT_IN_CLUSTER_QUEUE), SL_PHASE_ADMITTED,
               SL_PHASE_EVICTED, NEWS(EVICTION));
    assert_did(tell(id, SL_EV_JOB_STOPPED, 0, 0), SL_PHASE_EVICTED, SL_PHASE_PENDING,
               NEWS(REQUEUE));
    assert_did(tell(id, SL_EV_FINISH, 0, SL_FINISH_SUCCEEDED), SL_PHASE_PENDING, SL_PHASE_FINISHED,
               0);
    assert_did(tell(pending(), SL_EV_DEACTIVATE, 0, 0), SL_PHASE_PENDING, SL_PHASE_PENDING,
               NEWS(EVICTION) | NEWS(REASON));
}

static void test_transition_names_a_mark_for_deactivation(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    (void)tell(id, SL_EV_CHECK_ADD, CHECK, 0);
    (void)commit(id, false);
    assert_did(tell(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_REJECTED), SL_PHASE_QUOTA_RESERVED,
               SL_PHASE_QUOTA_RESERVED, NEWS(TARGET));
}

static void test_transition_by_restore_ends_where_the_object_was(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = queue;
    sl_plan.usage_count = 1;
    sl_plan.usage[0] =
        (struct sl_cell_amount){cell, 5000}; /* more than there is: it was so already */
    sl_plan.now_ms = NOW;
    plan_for(id);
    assert_did(sl_transition_restore(), SL_PHASE_PENDING, SL_PHASE_ADMITTED, 0);
    assert_int_not_equal(sl_transition_restore().status, SL_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_transition_##name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(that_is_refused_has_no_news),
        TEST(to_another_reason_to_wait_is_news_once),
        TEST(names_checks_and_their_objections),
        TEST(by_commit_tells_whether_it_is_admitted_at_once),
        TEST(by_replacement_tells_of_both),
        TEST(by_second_pass_admits_what_waited_for_its_topology),
        TEST(names_failed_nodes_and_their_replacement),
        TEST(names_eviction_requeue_and_release),
        TEST(names_a_mark_for_deactivation),
        TEST(by_restore_ends_where_the_object_was),
    };
    return cmocka_run_group_tests_name("transition", tests, NULL, NULL);
}
