/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* When a node counts as failed for a workload: every row of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/verdicts/node_failure.h"

/* The node is there, is ready, its taints are tolerated, and a pod is under way on it. */
static const struct sl_node_sight fine = {.one = true,
                                          .exists = true,
                                          .ready = SL_READY_YES,
                                          .toleration = SL_TOLERATED,
                                          .under_way = true};

static void assert_verdict(enum sl_ready ready, enum sl_toleration toleration, bool under_way,
                           bool lost, enum sl_node_verdict expected)
{
    struct sl_node_sight s = {true, true, ready, toleration, under_way, lost};
    assert_int_equal(sl_node_failure_judge(s), expected);
}

static void test_node_failure_of_a_node_that_is_gone_or_says_nothing_is_at_once(void **state)
{
    (void)state;
    struct sl_node_sight s = fine;
    s.exists = false;
    assert_int_equal(sl_node_failure_judge(s), SL_NODE_FAILED);
    s = fine;
    s.ready = SL_READY_UNSAID;
    assert_int_equal(sl_node_failure_judge(s), SL_NODE_FAILED);
}

static void test_node_failure_is_none_of_several_nodes_together(void **state)
{
    (void)state;
    struct sl_node_sight s = {.one = false};
    assert_int_equal(sl_node_failure_judge(s), SL_NODE_GOOD);
}

static void test_node_failure_of_a_ready_node_that_is_tolerated_is_none(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        assert_verdict(SL_READY_YES, SL_TOLERATED, i & 1, i & 2, SL_NODE_GOOD);
    }
}

static void test_node_failure_waits_for_pods_that_are_under_way(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 2; lost++) {
        assert_verdict(SL_READY_NOT, SL_TOLERATED, true, lost, SL_NODE_OPEN);
        assert_verdict(SL_READY_NOT, SL_TOLERATED, false, lost, SL_NODE_FAILED);
        assert_verdict(SL_READY_NOT, SL_TOLERATED_FOR_A_TIME, false, lost, SL_NODE_FAILED);
        assert_verdict(SL_READY_YES, SL_TOLERATED_NOT, true, lost, SL_NODE_OPEN);
        assert_verdict(SL_READY_YES, SL_TOLERATED_NOT, false, lost, SL_NODE_FAILED);
        assert_verdict(SL_READY_YES, SL_TOLERATED_FOR_A_TIME, true, lost, SL_NODE_OPEN);
    }
}

static void test_node_failure_of_taints_tolerated_for_a_time_needs_a_loss(void **state)
{
    (void)state;
    assert_verdict(SL_READY_YES, SL_TOLERATED_FOR_A_TIME, false, false, SL_NODE_OPEN);
    assert_verdict(SL_READY_YES, SL_TOLERATED_FOR_A_TIME, false, true, SL_NODE_FAILED);
}

/* An admitted workload of several pods; failed nodes are replaced. */
static struct sl_node_case admitted(enum sl_node_verdict verdict, bool marked)
{
    return (struct sl_node_case){
        .verdict = verdict, .admitted = true, .marked = marked, .replaces = true};
}

static void test_node_failure_is_marked_once_and_unmarked_when_good(void **state)
{
    (void)state;
    const enum sl_node_step steps[2][3] = {
        {SL_NODE_STEP_NONE, SL_NODE_STEP_NONE, SL_NODE_STEP_MARK},
        {SL_NODE_STEP_UNMARK, SL_NODE_STEP_NONE, SL_NODE_STEP_NONE}};
    for (unsigned marked = 0; marked < 2; marked++) {
        for (enum sl_node_verdict v = SL_NODE_GOOD; v <= SL_NODE_FAILED; v++) {
            assert_int_equal(sl_node_failure_step(admitted(v, marked)), steps[marked][v]);
        }
    }
}

static void test_node_failure_concerns_admitted_workloads_where_nodes_are_replaced(void **state)
{
    (void)state;
    struct sl_node_case c = admitted(SL_NODE_FAILED, false);
    c.admitted = false;
    assert_int_equal(sl_node_failure_step(c), SL_NODE_STEP_NONE);
    c = admitted(SL_NODE_GOOD, true);
    c.replaces = false;
    assert_int_equal(sl_node_failure_step(c), SL_NODE_STEP_NONE);
}

static void test_node_failure_of_a_single_pod_is_left_alone_where_asked_for(void **state)
{
    (void)state;
    struct sl_node_case c = admitted(SL_NODE_FAILED, false);
    c.single = true;
    assert_int_equal(sl_node_failure_step(c), SL_NODE_STEP_MARK);
    c.skip_single = true;
    assert_int_equal(sl_node_failure_step(c), SL_NODE_STEP_NONE);
    c.single = false;
    assert_int_equal(sl_node_failure_step(c), SL_NODE_STEP_MARK);
    c = admitted(SL_NODE_GOOD, true);
    c.single = c.skip_single = true;
    assert_int_equal(sl_node_failure_step(c), SL_NODE_STEP_UNMARK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_failure_of_a_node_that_is_gone_or_says_nothing_is_at_once),
        cmocka_unit_test(test_node_failure_is_none_of_several_nodes_together),
        cmocka_unit_test(test_node_failure_of_a_ready_node_that_is_tolerated_is_none),
        cmocka_unit_test(test_node_failure_waits_for_pods_that_are_under_way),
        cmocka_unit_test(test_node_failure_of_taints_tolerated_for_a_time_needs_a_loss),
        cmocka_unit_test(test_node_failure_is_marked_once_and_unmarked_when_good),
        cmocka_unit_test(test_node_failure_concerns_admitted_workloads_where_nodes_are_replaced),
        cmocka_unit_test(test_node_failure_of_a_single_pod_is_left_alone_where_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
