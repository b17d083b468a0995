/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reclaimable pods of holders: what they held is free, counted so everywhere, also after a restart. */
#include "engine/state.h"
#include "kernel/commit/commit.h"
#include "scene.h"

static void reclaim(const char *name, const char *pod_set, int count)
{
    char patch[200];
    (void)snprintf(patch, sizeof patch,
                   "{\"status\":{\"reclaimablePods\":[{\"name\":\"%s\",\"count\":%d}]}}", pod_set,
                   count);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", name, patch);
    world_settle(&w);
}

static void expect_total(enum sl_kind kind, const char *ns, const char *name, const char *member,
                         const char *total)
{
    char path[64];
    struct sl_json *status = sl_engine_queue_status(w.engine, kind, ns, name);
    (void)snprintf(path, sizeof path, "%s.0.resources.0.total", member);
    assert_string_equal(sl_json_path_text(status, path, ""), total);
    sl_json_free(status);
}

/* Both queues say that so much is used, and as much reserved. */
static void expect_used(const char *total)
{
    expect_total(SL_KIND_CLUSTER_QUEUE, "", "cq", "flavorsUsage", total);
    expect_total(SL_KIND_CLUSTER_QUEUE, "", "cq", "flavorsReservation", total);
    expect_total(SL_KIND_LOCAL_QUEUE, "team", "lq", "flavorsUsage", total);
    expect_total(SL_KIND_LOCAL_QUEUE, "team", "lq", "flavorsReservation", total);
}

static void expect_held(const char *name, int64_t amount)
{
    char key[100];
    (void)snprintf(key, sizeof key, "team/%s", name);
    sl_workload_id id = sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, key);
    assert_int_not_equal(id, SL_NO_ID);
    assert_int_equal(sl_commit_usage(id, 0).amount, amount);
}

static void restart(void)
{
    static const enum sl_kind order[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    world_restart(&w, order, 4);
    world_settle(&w);
}

/* Four pods of 2 cpu run, of 10. */
static void run_four(void)
{
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 4, "2");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    expect_used("8");
}

static void test_reclaim_lets_in_who_waited_for_it(void **state)
{
    (void)state;
    run_four();
    world_add_workload(&w, "b", "lq", 1, "5");
    world_settle(&w);
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
    reclaim("a", "main", 1);
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
    reclaim("a", "main", 2);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    expect_used("9");
    expect_held("a", 4000);
}

static void test_reclaim_lets_in_who_waited_in_the_cohort(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "4", ",\"cohortName\":\"all\"");
    world_add_cluster_queue(&w, "lender", "spot", "4", ",\"cohortName\":\"all\"");
    world_add_local_queue(&w, "team", "lq", "cq");
    world_add_local_queue(&w, "team", "lq2", "lender");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 3, "2");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_add_workload(&w, "b", "lq2", 1, "4");
    world_settle(&w);
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
    reclaim("a", "main", 1);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

static void test_reclaim_leaves_the_admission_as_it_was(void **state)
{
    (void)state;
    run_four();
    struct sl_json *before =
        sl_json_clone(sl_json_path(world_workload(&w, "a"), "status.admission"));
    reclaim("a", "main", 3);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "Deactivated"); /* written after the reduction */
    assert_true(sl_json_equal(before, sl_json_path(world_workload(&w, "a"), "status.admission")));
    sl_json_free(before);
}

static void test_reclaim_never_grows_back_while_quota_is_held(void **state)
{
    (void)state;
    run_four();
    reclaim("a", "main", 2);
    reclaim("a", "main", 1);
    expect_held("a", 4000);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"status\":{\"reclaimablePods\":null}}");
    world_settle(&w);
    expect_held("a", 4000);
    expect_used("4");
}

static void test_reclaim_of_more_than_there_are_leaves_nothing(void **state)
{
    (void)state;
    run_four();
    reclaim("a", "main", 9);
    expect_held("a", 0);
    expect_used("0");
    restart();
    expect_used("0");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_add_workload(&w, "b", "lq", 1, "10");
    world_settle(&w);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

static void test_reclaim_of_unknown_pod_set_is_no_matter(void **state)
{
    (void)state;
    run_four();
    reclaim("a", "other", 2);
    expect_held("a", 8000);
    expect_used("8");
}

static void test_reclaim_is_off_with_its_gate(void **state)
{
    (void)state;
    static struct sl_engine_settings settings;
    world_close(&w);
    settings = sl_engine_settings_default();
    settings.policy.reclaimable_pods = false;
    world_open_with(&w, NULL, &settings);
    run_four();
    reclaim("a", "main", 2);
    expect_held("a", 8000);
    expect_used("8");
    assert_false(sl_engine_reclaims(w.engine));
}

static void test_reclaim_after_partial_admission_counts_from_what_was_admitted(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_json *o = world_new_workload("team", "a", "lq", 8, "2");
    sl_json_set_int(sl_json_path(o, "spec.podSets.0"), "minCount", 2);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    expect_held("a", 10000);
    reclaim("a", "main", 3); /* five are left, and five were admitted */
    expect_held("a", 10000);
    reclaim("a", "main", 4);
    expect_held("a", 8000);
    expect_used("8");
}

static void test_reclaim_of_one_pod_set_leaves_the_other(void **state)
{
    (void)state;
    world_add_basics(&w);
    struct sl_json *o = world_new_workload("team", "a", "lq", 2, "2");
    struct sl_json *second = sl_json_clone(sl_json_path(o, "spec.podSets.0"));
    sl_json_set_text(second, "name", "second");
    sl_json_append(sl_json_path(o, "spec.podSets"), second);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    expect_held("a", 8000);
    reclaim("a", "second", 1);
    expect_held("a", 6000);
    reclaim("a", "second", 2);
    expect_held("a", 4000);
    expect_used("4");
    restart();
    expect_held("a", 4000);
    expect_used("4");
}

static void test_reclaim_is_restored_after_a_restart(void **state)
{
    (void)state;
    run_four();
    reclaim("a", "main", 3);
    restart();
    expect_held("a", 2000);
    expect_used("2");
    world_add_workload(&w, "b", "lq", 1, "9");
    world_settle(&w);
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
    world_add_workload(&w, "c", "lq", 1, "8");
    world_settle(&w);
    world_expect(&w, "c", "Admitted", "True", "Admitted");
    reclaim("a", "main", 4);
    expect_used("8");
}

static void test_reclaim_then_finish_gives_back_the_rest(void **state)
{
    (void)state;
    run_four();
    reclaim("a", "main", 3);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                      "\"reason\":\"Succeeded\",\"message\":\"\",\"lastTransitionTime\":"
                      "\"2027-01-15T08:00:00Z\"}]}}");
    world_settle(&w);
    expect_used("0");
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
}

/* Its job starts over: all pods are to run again. */
static void test_reclaim_taken_back_while_pending_asks_for_all_pods_again(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "first", "lq", 1, "9");
    world_settle(&w);
    world_add_workload(&w, "a", "lq", 4, "2");
    world_settle(&w);
    reclaim("a", "main", 3);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"status\":{\"reclaimablePods\":null}}");
    world_settle(&w);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "first");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    expect_held("a", 8000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_reclaim_lets_in_who_waited_for_it),
        TEST(test_reclaim_lets_in_who_waited_in_the_cohort),
        TEST(test_reclaim_leaves_the_admission_as_it_was),
        TEST(test_reclaim_never_grows_back_while_quota_is_held),
        TEST(test_reclaim_of_more_than_there_are_leaves_nothing),
        TEST(test_reclaim_of_unknown_pod_set_is_no_matter),
        TEST(test_reclaim_is_off_with_its_gate),
        TEST(test_reclaim_after_partial_admission_counts_from_what_was_admitted),
        TEST(test_reclaim_of_one_pod_set_leaves_the_other),
        TEST(test_reclaim_is_restored_after_a_restart),
        TEST(test_reclaim_then_finish_gives_back_the_rest),
        TEST(test_reclaim_taken_back_while_pending_asks_for_all_pods_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
