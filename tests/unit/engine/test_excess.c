/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A quota that is lowered below what is held: nothing is evicted, and the status says how much is too much. */
#include "scene.h"

static void expect_excess(const char *queue, const char *wanted)
{
    struct sl_json *status = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", queue);
    const struct sl_json *flavor = sl_json_at(sl_json_get(status, "quotaExcess"), 0);
    const struct sl_json *resource = sl_json_at(sl_json_get(flavor, "resources"), 0);
    assert_string_equal(sl_json_path_text(flavor, "name", ""), "spot");
    assert_string_equal(sl_json_path_text(resource, "name", ""), "cpu");
    assert_string_equal(sl_json_path_text(resource, "total", ""), wanted);
    sl_json_free(status);
}

/* Is it among those whose status is to be written anew? */
static bool is_touched(const char *queue)
{
    enum sl_kind kind;
    const char *ns;
    const char *name;
    bool found = false;
    while (sl_engine_next_touched(w.engine, &kind, &ns, &name)) {
        found = found || (kind == SL_KIND_CLUSTER_QUEUE && strcmp(name, queue) == 0);
    }
    return found;
}

static void test_excess_lasts_until_as_much_has_ended(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "5");
    world_add_workload(&w, "b", "lq", 1, "4");
    world_settle(&w);
    expect_excess("cq", "0");
    (void)is_touched("cq");
    world_add_cluster_queue(&w, "cq", "spot", "4", "");
    world_settle(&w);
    assert_true(is_touched("cq"));
    expect_excess("cq", "5");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_settle(&w);
    assert_true(is_touched("cq"));
    expect_excess("cq", "0");
}

/* What it borrowed was another's, who lends no more. */
static void test_excess_of_a_borrower_whose_lender_has_less(void **state)
{
    (void)state;
    world_add_cluster_queue(&w, "cq", "spot", "10", ",\"cohortName\":\"all\"");
    world_add_cluster_queue(&w, "lender", "spot", "6", ",\"cohortName\":\"all\"");
    world_add_workload(&w, "a", "lq", 1, "14");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    expect_excess("cq", "0");
    (void)is_touched("cq");
    world_add_cluster_queue(&w, "lender", "spot", "1", ",\"cohortName\":\"all\"");
    world_settle(&w);
    assert_true(is_touched("cq"));
    expect_excess("cq", "3");
    expect_excess("lender", "0");
    (void)is_touched("cq");
    world_add_workload(&w, "b", "lq", 1, "1");
    world_settle(&w);
    assert_true(is_touched("cq"));
    world_add_cluster_queue(&w, "third", "spot", "2", ",\"cohortName\":\"all\"");
    world_settle(&w);
    assert_true(is_touched("cq"));
    expect_excess("cq", "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_excess_lasts_until_as_much_has_ended, setup_basics,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_excess_of_a_borrower_whose_lender_has_less,
                                        setup_basics, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
