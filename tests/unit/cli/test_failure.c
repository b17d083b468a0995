/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A node that is made to fail and to recover. */
#include "t.h"
#include "cli/common/failure.h"

static void assert_json(const struct sl_json *value, const char *expected)
{
    struct sl_json *wanted = parse(expected);
    assert_true(sl_json_equal(value, wanted));
    sl_json_free(wanted);
}

static void test_failure_adds_taints_beside_the_nodes_own_and_takes_them_back(void **state)
{
    (void)state;
    struct sl_json *node =
        parse("{\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}}");
    assert_true(sl_failure_set_taints(node, true));
    assert_false(sl_failure_set_taints(node, true));
    assert_json(sl_json_path(node, "spec.taints"),
                "[{\"key\":\"k\",\"effect\":\"NoSchedule\"},"
                "{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoSchedule\"},"
                "{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoExecute\"}]");
    assert_true(sl_failure_set_taints(node, false));
    assert_json(sl_json_path(node, "spec.taints"), "[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]");
    assert_false(sl_failure_set_taints(node, false));
    sl_json_free(node);
}

static void test_failure_of_an_untainted_node_leaves_no_list_behind(void **state)
{
    (void)state;
    struct sl_json *node = parse("{}");
    assert_true(sl_failure_set_taints(node, true));
    assert_true(sl_failure_set_taints(node, false));
    assert_json(node, "{\"spec\":{}}");
    sl_json_free(node);
}

static void test_failure_sets_ready_and_its_word(void **state)
{
    (void)state;
    struct sl_json *node = parse("{\"spec\":{}}");
    assert_string_equal(sl_failure_word(node), "NotReady");
    assert_true(sl_failure_set_ready(node, false, 1000));
    assert_string_equal(sl_failure_word(node), "Ready");
    assert_false(sl_failure_set_ready(node, false, 2000));
    assert_true(sl_failure_set_ready(node, true, 3000));
    sl_json_set_text(sl_json_path(node, "status.conditions.0"), "reason", "NoNetwork");
    assert_false(sl_failure_set_ready(node, true, 4000));
    assert_string_equal(sl_json_path_text(node, "status.conditions.0.reason", ""), "NoNetwork");
    sl_json_set_bool(sl_json_get(node, "spec"), "unschedulable", true);
    assert_string_equal(sl_failure_word(node), "NotReady,SchedulingDisabled");
    sl_json_free(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failure_adds_taints_beside_the_nodes_own_and_takes_them_back),
        cmocka_unit_test(test_failure_of_an_untainted_node_leaves_no_list_behind),
        cmocka_unit_test(test_failure_sets_ready_and_its_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
