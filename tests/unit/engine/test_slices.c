/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workload slices: the new one is reserved for what it needs beyond the old one, whose end is written after that;
 * whatever fails or is lost in between, both objects agree with the core at the end. */
#include "engine/decisions/slices.h"
#include "engine/state.h"
#include "kernel/commit/commit.h"
#include "scene.h"

static sl_workload_id id_of(const char *name)
{
    char key[100];
    (void)snprintf(key, sizeof key, "team/%s", name);
    return sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, key);
}

static void add_slice_of(const char *name, const char *old, int count, const char *cpu)
{
    struct sl_json *o = world_new_workload("team", name, "lq", count, cpu);
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), SL_SLICE_ANNOTATION, old);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
}

static void add_slice(const char *name, int count)
{
    add_slice_of(name, "team/old", count, "1");
}

/* "old" runs with 6 of 10 CPUs. */
static void run_old(void)
{
    world_add_basics(&w);
    world_add_workload(&w, "old", "lq", 6, "1");
    world_settle(&w);
    world_expect(&w, "old", "Admitted", "True", "Admitted");
}

static void restart(void)
{
    static const enum sl_kind order[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    world_restart(&w, order, 4);
}

static void read_again_if_wanted(void)
{
    struct sl_error e = {0};
    assert_true(sl_engine_wants_workloads(w.engine));
    (void)world_observe(&w, SL_KIND_WORKLOAD, world_workload(&w, "old"), &e);
}

static int64_t held(const char *name)
{
    return id_of(name) == SL_NO_ID ? 0 : sl_commit_usage(id_of(name), 0).amount;
}

static void expect_replaced(void)
{
    world_expect(&w, "new", "Admitted", "True", "Admitted");
    world_expect(&w, "old", "Finished", "True", "WorkloadSliceReplaced");
    world_expect(&w, "old", "QuotaReserved", "True", "QuotaReserved");
    assert_int_equal(sl_workloads[id_of("old")].phase, SL_PHASE_FINISHED);
    assert_int_equal(sl_workloads[id_of("old")].finished, SL_FINISH_SLICE_REPLACED);
    assert_int_equal(held("old"), 0);
}

static void test_slices_a_new_one_needs_only_what_it_adds(void **state)
{
    (void)state;
    run_old();
    add_slice("new", 10); /* 6 + 10 would be too much */
    world_settle(&w);
    expect_replaced();
    assert_int_equal(held("new"), 10000);
    assert_int_equal(w.last_kind, SL_DECIDE_FINISH);
    assert_string_equal(w.last_reason, "WorkloadSliceReplaced");
    const struct sl_json *c = sl_condition_find(world_workload(&w, "old"), "Finished");
    char text[300];
    (void)snprintf(text, sizeof text,
                   "Replaced to accommodate a workload (UID: %s, JobUID: ) due to workload slice "
                   "aggregation",
                   sl_object_uid(world_workload(&w, "new")));
    assert_string_equal(sl_json_path_text(c, "message", ""), text);
}

static void test_slices_what_is_added_has_to_be_there(void **state)
{
    (void)state;
    run_old();
    world_add_workload(&w, "other", "lq", 2, "1");
    world_settle(&w);
    add_slice("new", 9);
    world_settle(&w);
    world_expect(&w, "new", "QuotaReserved", "False", "WaitingForQuota");
    assert_string_equal(w.last_message,
                        "couldn't assign flavors to pod set main: insufficient unused quota for "
                        "cpu in flavor spot, 1 more needed");
    world_expect(&w, "old", "Admitted", "True", "Admitted");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "other",
                      "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                      "\"reason\":\"Succeeded\"}]}}");
    world_settle(&w);
    expect_replaced();
}

static void give_back(const char *name, int pods)
{
    char patch[120];
    (void)snprintf(patch, sizeof patch,
                   "{\"status\":{\"reclaimablePods\":[{\"name\":\"main\",\"count\":%d}]}}", pods);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", name, patch);
    world_settle(&w);
}

/* Others run with so many pods: there is no room for the new one. */
static void wait_behind(int others, int pods)
{
    world_add_workload(&w, "other", "lq", others, "1");
    world_settle(&w);
    add_slice("new", pods);
    world_settle(&w);
    world_expect(&w, "new", "QuotaReserved", "False", "WaitingForQuota");
}

static void test_slices_one_that_waits_may_need_less(void **state)
{
    (void)state;
    run_old();
    wait_behind(2, 9);
    give_back("new", 1);
    expect_replaced();
    assert_int_equal(held("new"), 8000);
}

static void test_slices_one_that_waits_may_need_nothing(void **state)
{
    (void)state;
    run_old();
    wait_behind(4, 9);
    give_back("old", 6);
    assert_int_equal(held("old"), 0);
    give_back("new", 9);
    expect_replaced();
    assert_int_equal(held("new"), 0);
}

static void test_slices_one_that_waits_and_needs_nothing_is_tried(void **state)
{
    (void)state;
    run_old();
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "old",
                      "{\"spec\":{\"podSets\":[{\"name\":\"main\",\"count\":0}]}}");
    world_settle(&w);
    assert_int_equal(held("old"), 0);
    wait_behind(10, 2);
    give_back("new", 2);
    expect_replaced();
}

static void test_slices_one_that_shrinks_gives_back(void **state)
{
    (void)state;
    run_old();
    add_slice("new", 2);
    world_settle(&w);
    expect_replaced();
    world_add_workload(&w, "other", "lq", 8, "1");
    world_settle(&w);
    world_expect(&w, "other", "Admitted", "True", "Admitted");
}

/* Kueue's TAS aside: what runs stays where it is. */
static void test_slices_keep_the_flavor_of_the_old_one(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_flavor(&w, "fast", "{}");
    world_add(
        &w, SL_KIND_CLUSTER_QUEUE,
        "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},"
        "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":["
        "{\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"6\"}]},"
        "{\"name\":\"fast\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"20\"}]}]}]}}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "old", "lq", 6, "1");
    world_settle(&w);
    add_slice("new", 8);
    world_settle(&w);
    world_expect(&w, "new", "QuotaReserved", "False", "WaitingForQuota");
    assert_non_null(strstr(w.last_message, "could not assign fast flavor since the original "
                                           "workload is assigned: spot"));
    world_expect(&w, "old", "Admitted", "True", "Admitted");
}

static void test_slices_a_restart_finds_the_link(void **state)
{
    (void)state;
    run_old();
    world_add_workload(&w, "other", "lq", 4, "1");
    world_settle(&w);
    add_slice("new", 8);
    world_settle(&w);
    world_expect(&w, "new", "QuotaReserved", "False", "WaitingForQuota");
    restart();
    world_settle(&w);
    world_expect(&w, "new", "QuotaReserved", "False", "WaitingForQuota");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "other");
    world_settle(&w);
    expect_replaced();
}

/* The new one is seen before the old one is. */
static void test_slices_may_be_seen_in_any_order(void **state)
{
    (void)state;
    run_old();
    struct sl_json *old = sl_json_clone(world_workload(&w, "old"));
    world_close(&w);
    world_open(&w, NULL);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_add_local_queue(&w, "team", "lq", "cq");
    add_slice("new", 10);
    (void)world_put(&w, SL_KIND_WORKLOAD, old, NULL);
    sl_engine_synced(w.engine, w.now_ms);
    world_settle(&w);
    expect_replaced();
}

/* It died between both writes: both hold quota by what their objects say. */
static void test_slices_a_restart_ends_what_was_replaced(void **state)
{
    (void)state;
    struct sl_decision d;
    run_old();
    add_slice("new", 10);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    assert_true(sl_engine_next_decision(w.engine, &d));
    assert_int_equal(d.kind, SL_DECIDE_RESERVE);
    (void)world_answer(&w, &d, world_write(&w, &d, world_workload(&w, "new")));
    world_expect(&w, "new", "QuotaReserved", "True", "QuotaReserved");
    assert_false(sl_condition_true(world_workload(&w, "old"), "Finished"));
    restart();
    world_settle(&w);
    expect_replaced();
    assert_int_equal(held("new"), 10000);
}

static void test_slices_the_end_is_written_after_the_reservation(void **state)
{
    (void)state;
    struct sl_decision reserve, finish;
    struct sl_json *patch;
    char name[2][16];
    run_old();
    add_slice("new", 10);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    assert_true(sl_engine_next_decision(w.engine, &reserve));
    (void)snprintf(name[0], sizeof name[0], "%s", reserve.name);
    assert_true(sl_engine_next_decision(w.engine, &finish));
    (void)snprintf(name[1], sizeof name[1], "%s", finish.name);
    assert_string_equal(name[0], "new");
    assert_string_equal(name[1], "old");
    assert_int_equal(finish.kind, SL_DECIDE_FINISH);
    assert_true(sl_engine_waits(w.engine, &finish));
    assert_int_equal(sl_engine_write(w.engine, &finish, world_workload(&w, "old"), &patch),
                     SL_TO_WRITE_AFTER);
    assert_null(patch);
    assert_false(sl_engine_waits(w.engine, &reserve));
    reserve.ns = finish.ns = "team";
    reserve.name = "new";
    finish.name = "old";
    (void)world_answer(&w, &reserve, world_write(&w, &reserve, world_workload(&w, "new")));
    assert_false(sl_engine_waits(w.engine, &finish));
    (void)world_answer(&w, &finish, world_write(&w, &finish, world_workload(&w, "old")));
    world_settle(&w);
    expect_replaced();
}

/* The API refuses the reservation: nothing was lost by that. */
static void test_slices_a_refused_reservation_leaves_the_old_one(void **state)
{
    (void)state;
    run_old();
    add_slice("new", 10);
    w.fail_next = SL_CODE_FORBIDDEN;
    (void)sl_engine_cycle(w.engine, w.now_ms);
    struct sl_decision d;
    assert_true(sl_engine_next_decision(w.engine, &d));
    (void)world_answer(&w, &d, world_write(&w, &d, world_workload(&w, "new")));
    assert_int_equal(id_of("old"), SL_NO_ID);
    read_again_if_wanted();
    assert_int_equal(held("old"), 6000);
    assert_int_equal(held("new"), 0);
    world_settle(&w);
    world_expect(&w, "old", "Admitted", "True", "Admitted");
    assert_false(sl_condition_true(world_workload(&w, "old"), "Finished"));
    world_pass(&w, 60000);
    expect_replaced();
}

/* Its job changes between the decision and the write, down and up again: what was given back by then is not granted. */
static void test_slices_a_reservation_for_other_pods_is_decided_again(void **state)
{
    (void)state;
    static const int counts[] = {7, 9};
    struct sl_json *patch, *o;
    run_old();
    o = world_new_workload("team", "new", "lq", 10, "1");
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), SL_SLICE_ANNOTATION, "team/old");
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), "kueue.x-k8s.io/elastic-job",
                     "true");
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    struct sl_decision d;
    assert_true(sl_engine_next_decision(w.engine, &d));
    d.ns = "team";
    d.name = "new";
    for (size_t i = 0; i < 2; i++) {
        struct sl_error e = {0};
        o = sl_json_clone(world_workload(&w, "new"));
        sl_json_set_int(sl_json_at(sl_json_path(o, "spec.podSets"), 0), "count", counts[i]);
        sl_json_set_int(sl_json_get(o, "metadata"), "generation", sl_object_generation(o) + 1);
        (void)world_put(&w, SL_KIND_WORKLOAD, o, &e);
        assert_int_equal(sl_engine_write(w.engine, &d, world_workload(&w, "new"), &patch),
                         SL_TO_WRITE_STALE);
    }
    (void)world_answer(&w, &d, SL_CODE_CONFLICT);
    read_again_if_wanted();
    assert_int_equal(held("old"), 6000);
    assert_int_equal(held("new"), 0);
    sl_engine_show(w.engine, world_workload(&w, "new"), w.now_ms);
    world_pass(&w, 60000);
    expect_replaced();
    assert_int_equal(held("new"), 9000);
}

static void test_slices_one_that_is_gone_leaves_the_old_one(void **state)
{
    (void)state;
    run_old();
    add_slice("new", 10);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "new");
    read_again_if_wanted();
    world_settle(&w);
    assert_int_equal(held("old"), 6000);
    world_expect(&w, "old", "Admitted", "True", "Admitted");
    assert_false(sl_condition_true(world_workload(&w, "old"), "Finished"));
}

/* It is deactivated before its reservation is written. */
static void test_slices_one_that_gives_up_leaves_the_old_one(void **state)
{
    (void)state;
    struct sl_decision d;
    run_old();
    add_slice("new", 10);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "new", "{\"spec\":{\"active\":false}}");
    sl_engine_job_stopped(w.engine, world_workload(&w, "new"), w.now_ms);
    assert_false(sl_workloads[id_of("new")].has_admission);
    while (sl_engine_next_decision(w.engine, &d)) {
        struct sl_json *live = world_get(&w, SL_KIND_WORKLOAD, d.ns, d.name);
        (void)world_answer(&w, &d, world_write(&w, &d, live));
    }
    read_again_if_wanted();
    world_settle(&w);
    assert_int_equal(held("old"), 6000);
    assert_false(sl_condition_true(world_workload(&w, "old"), "Finished"));
}

/* Its job needs no more pods than before, and so it is ended before its reservation is written. */
static void test_slices_one_that_ends_leaves_the_old_one(void **state)
{
    (void)state;
    struct sl_decision d;
    run_old();
    add_slice("new", 10);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "new",
                      "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                      "\"reason\":\"OutOfSync\",\"message\":\"\"}]}}");
    assert_int_equal(sl_workloads[id_of("new")].phase, SL_PHASE_FINISHED);
    while (sl_engine_next_decision(w.engine, &d)) {
        struct sl_json *live = world_get(&w, SL_KIND_WORKLOAD, d.ns, d.name);
        assert_false(sl_engine_waits(w.engine, &d));
        (void)world_answer(&w, &d, world_write(&w, &d, live));
    }
    read_again_if_wanted();
    world_settle(&w);
    assert_int_equal(held("old"), 6000);
    world_expect(&w, "old", "Admitted", "True", "Admitted");
    assert_false(sl_condition_true(world_workload(&w, "old"), "Finished"));
}

static void test_slices_without_an_old_one_are_like_any_other(void **state)
{
    (void)state;
    run_old();
    add_slice_of("a", "team/nobody", 1, "1");
    add_slice_of("b", "other/old", 1, "1");
    add_slice_of("c", "team/c", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    world_expect(&w, "c", "Admitted", "True", "Admitted");
    world_expect(&w, "old", "Admitted", "True", "Admitted");
    assert_false(sl_condition_true(world_workload(&w, "old"), "Finished"));
}

static void test_slices_with_the_gate_off_are_like_any_other(void **state)
{
    (void)state;
    struct sl_engine_settings settings = sl_engine_settings_default();
    settings.elastic_jobs = false;
    world_close(&w);
    world_open_with(&w, NULL, &settings);
    run_old();
    add_slice("new", 10);
    world_settle(&w);
    world_expect(&w, "new", "QuotaReserved", "False", "WaitingForQuota");
    world_expect(&w, "old", "Admitted", "True", "Admitted");
}

/* It is no victim of the new one, which has a higher priority. */
static void test_slices_do_not_preempt_whom_they_replace(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10",
                            ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "old", "lq", 6, "1");
    world_add_workload(&w, "low", "lq", 4, "1");
    world_settle(&w);
    struct sl_json *o = world_new_workload("team", "new", "lq", 8, "1");
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), SL_SLICE_ANNOTATION, "team/old");
    sl_json_set_int(sl_json_get(o, "spec"), "priority", 5);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    assert_false(sl_condition_true(world_workload(&w, "old"), "Evicted"));
    sl_engine_job_stopped(w.engine, world_workload(&w, "low"), w.now_ms);
    world_settle(&w);
    expect_replaced();
}

/* One that is being evicted is on its way out already, for the sake of somebody else. */
static void test_slices_do_not_take_the_place_of_who_is_evicted(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10",
                            ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "old", "lq", 6, "1");
    world_settle(&w);
    struct sl_json *o = world_new_workload("team", "high", "lq", 8, "1");
    sl_json_set_int(sl_json_get(o, "spec"), "priority", 5);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "old", "Evicted", "True", "Preempted");
    add_slice("new", 9);
    world_settle(&w);
    sl_engine_job_stopped(w.engine, world_workload(&w, "old"), w.now_ms);
    world_settle(&w);
    world_expect(&w, "high", "Admitted", "True", "Admitted");
    world_expect(&w, "new", "QuotaReserved", "False", "WaitingForQuota");
    assert_false(sl_condition_true(world_workload(&w, "old"), "Finished"));
}

/* What it held was another queue's: both would run. */
static void test_slices_of_another_queue_end_the_old_one(void **state)
{
    (void)state;
    run_old();
    world_add_cluster_queue(&w, "cq2", "spot", "10", "");
    world_add_local_queue(&w, "team", "lq2", "cq2");
    struct sl_json *o = world_new_workload("team", "new", "lq2", 9, "1");
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), SL_SLICE_ANNOTATION, "team/old");
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    expect_replaced();
    assert_int_equal(held("new"), 9000);
}

/* The old one was waiting when the new one was made. */
static void test_slices_learn_of_flavors_later(void **state)
{
    (void)state;
    world_add_basics(&w);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    world_add_workload(&w, "old", "lq", 6, "1");
    add_slice("new", 10);
    (void)world_patch(
        &w, SL_KIND_WORKLOAD, "team", "new",
        "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/admission-gated-by\":\"a.b/c\"}}}");
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"None\"}}");
    world_settle(&w);
    world_expect(&w, "old", "Admitted", "True", "Admitted");
    (void)world_patch(
        &w, SL_KIND_WORKLOAD, "team", "new",
        "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/admission-gated-by\":null}}}");
    world_settle(&w);
    expect_replaced();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_slices_a_new_one_needs_only_what_it_adds),
        TEST(test_slices_what_is_added_has_to_be_there),
        TEST(test_slices_one_that_waits_may_need_less),
        TEST(test_slices_one_that_waits_may_need_nothing),
        TEST(test_slices_one_that_waits_and_needs_nothing_is_tried),
        TEST(test_slices_one_that_shrinks_gives_back),
        TEST(test_slices_keep_the_flavor_of_the_old_one),
        TEST(test_slices_a_restart_finds_the_link),
        TEST(test_slices_may_be_seen_in_any_order),
        TEST(test_slices_a_restart_ends_what_was_replaced),
        TEST(test_slices_the_end_is_written_after_the_reservation),
        TEST(test_slices_a_refused_reservation_leaves_the_old_one),
        TEST(test_slices_a_reservation_for_other_pods_is_decided_again),
        TEST(test_slices_one_that_is_gone_leaves_the_old_one),
        TEST(test_slices_one_that_gives_up_leaves_the_old_one),
        TEST(test_slices_one_that_ends_leaves_the_old_one),
        TEST(test_slices_without_an_old_one_are_like_any_other),
        TEST(test_slices_with_the_gate_off_are_like_any_other),
        TEST(test_slices_do_not_preempt_whom_they_replace),
        TEST(test_slices_do_not_take_the_place_of_who_is_evicted),
        TEST(test_slices_of_another_queue_end_the_old_one),
        TEST(test_slices_learn_of_flavors_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
