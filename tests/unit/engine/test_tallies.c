/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who is counted where, as Kueue counts: what waits in a stopped ClusterQueue is still there, and inadmissible; a stopped
 * LocalQueue has nobody waiting, nor has its ClusterQueue any of its workloads. */
#include "scene.h"

/* "first" has all quota; "old" and "young" wait, in this order. */
static void start(void)
{
    world_add_basics(&w);
    world_add_workload(&w, "first", "lq", 1, "10");
    world_settle(&w);
    world_add_workload(&w, "old", "lq", 1, "10");
    w.now_ms += 1000;
    world_add_workload(&w, "young", "lq", 1, "9");
    world_settle(&w);
}

static struct sl_queue_figures figures(enum sl_kind kind, const char *name)
{
    struct sl_queue_figures f;
    if (!sl_engine_queue_figures(w.engine, kind, "team", name, &f)) {
        fail_msg("%s is unknown", name);
    }
    return f;
}

static void expect_waiting(enum sl_kind kind, const char *name, uint32_t active,
                           uint32_t inadmissible)
{
    struct sl_queue_figures f = figures(kind, name);
    assert_int_equal(f.active, active);
    assert_int_equal(f.inadmissible, inadmissible);
    assert_int_equal(world_count(&w, kind, "team", name, "pendingWorkloads"),
                     active + inadmissible);
}

static void expect_listed(const char *names)
{
    struct sl_json *list = world_pending(&w, "cq", NULL);
    struct sl_buf text = {0};
    sl_buf_text(&text, "");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        assert_int_equal(sl_json_path_int(sl_json_at(list, i), "positionInClusterQueue", -1), i);
        sl_buf_print(&text, "%s ", sl_json_path_text(sl_json_at(list, i), "name", ""));
    }
    assert_string_equal(text.data, names);
    sl_buf_fini(&text);
    sl_json_free(list);
}

static void stop_policy(enum sl_kind kind, const char *ns, const char *name, const char *policy)
{
    char patch[100];
    (void)snprintf(patch, sizeof patch, "{\"spec\":{\"stopPolicy\":\"%s\"}}", policy);
    (void)world_patch(&w, kind, ns, name, patch);
    world_settle(&w);
}

static void test_tallies_stopped_cluster_queue_counts_what_waits_in_its_order(void **state)
{
    (void)state;
    start();
    expect_waiting(SL_KIND_CLUSTER_QUEUE, "cq", 0, 2);
    stop_policy(SL_KIND_CLUSTER_QUEUE, "", "cq", "Hold");
    struct sl_json *o = world_new_workload("team", "urgent", "lq", 1, "1");
    sl_json_set_int(sl_json_get(o, "spec"), "priority", 5);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    expect_waiting(SL_KIND_CLUSTER_QUEUE, "cq", 0, 3);
    expect_waiting(SL_KIND_LOCAL_QUEUE, "lq", 0, 3);
    expect_listed("urgent old young ");
    assert_false(figures(SL_KIND_CLUSTER_QUEUE, "cq").open);
    stop_policy(SL_KIND_CLUSTER_QUEUE, "", "cq", "None");
    expect_waiting(SL_KIND_CLUSTER_QUEUE, "cq", 0, 3);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "old");
    expect_waiting(SL_KIND_CLUSTER_QUEUE, "cq", 0, 2);
}

static void test_tallies_range_of_a_stopped_cluster_queue_keeps_its_positions(void **state)
{
    (void)state;
    start();
    stop_policy(SL_KIND_CLUSTER_QUEUE, "", "cq", "Hold");
    struct sl_json *list = world_pending(&w, "cq", &(struct sl_pending_range){"team", "lq", 1, 1});
    assert_int_equal(sl_json_len(list), 1);
    assert_string_equal(sl_json_path_text(list, "0.name", ""), "young");
    assert_int_equal(sl_json_path_int(list, "0.positionInLocalQueue", -1), 1);
    sl_json_free(list);
}

static void test_tallies_stopped_local_queue_has_nobody_waiting(void **state)
{
    (void)state;
    start();
    world_add_local_queue(&w, "team", "other", "cq");
    world_add_workload(&w, "else", "other", 1, "10");
    world_settle(&w);
    stop_policy(SL_KIND_LOCAL_QUEUE, "team", "lq", "Hold");
    expect_waiting(SL_KIND_LOCAL_QUEUE, "lq", 0, 0);
    expect_waiting(SL_KIND_LOCAL_QUEUE, "other", 0, 1);
    expect_waiting(SL_KIND_CLUSTER_QUEUE, "cq", 0, 1);
    expect_listed("else ");
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
    stop_policy(SL_KIND_LOCAL_QUEUE, "team", "lq", "None");
    expect_waiting(SL_KIND_LOCAL_QUEUE, "lq", 0, 2);
    expect_waiting(SL_KIND_CLUSTER_QUEUE, "cq", 0, 3);
}

static void test_tallies_cluster_queue_made_again_counts_what_had_waited(void **state)
{
    (void)state;
    start();
    world_delete(&w, SL_KIND_CLUSTER_QUEUE, "", "cq");
    world_settle(&w);
    expect_waiting(SL_KIND_LOCAL_QUEUE, "lq", 0, 2);
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_settle(&w);
    expect_waiting(SL_KIND_CLUSTER_QUEUE, "cq", 0, 2);
    world_delete(&w, SL_KIND_LOCAL_QUEUE, "team", "lq");
    world_settle(&w);
    expect_waiting(SL_KIND_CLUSTER_QUEUE, "cq", 0, 0);
}

static void test_tallies_gated_and_held_workloads_do_not_wait(void **state)
{
    (void)state;
    start();
    (void)world_patch(
        &w, SL_KIND_WORKLOAD, "team", "old",
        "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/admission-gated-by\":\"me\"}}}");
    world_settle(&w);
    expect_waiting(SL_KIND_LOCAL_QUEUE, "lq", 0, 1);
    expect_waiting(SL_KIND_CLUSTER_QUEUE, "cq", 0, 1);
}

/* It stands in no line, but it waits, for somebody to change his mind. */
static void test_tallies_workload_with_a_failed_check_waits_behind_the_others(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_check(&w, "gate");
    world_add_cluster_queue(
        &w, "cq", "spot", "10",
        ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"gate\"}]}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "first", "lq", 1, "10");
    world_settle(&w);
    world_add_workload(&w, "old", "lq", 1, "10");
    w.now_ms += 1000;
    world_add_workload(&w, "young", "lq", 1, "10");
    world_settle(&w);
    (void)world_patch(
        &w, SL_KIND_WORKLOAD, "team", "old",
        "{\"status\":{\"admissionChecks\":[{\"name\":\"gate\",\"state\":\"Rejected\"}]}}");
    world_settle(&w);
    expect_waiting(SL_KIND_CLUSTER_QUEUE, "cq", 0, 2);
    expect_listed("young old ");
}

static void test_tallies_untried_workload_awaits_its_turn_beside_parked_ones(void **state)
{
    (void)state;
    start();
    world_add_local_queue(&w, "team", "other", "cq");
    world_settle(&w);
    world_add_workload(&w, "new", "other", 1, "1");
    expect_waiting(SL_KIND_CLUSTER_QUEUE, "cq", 1, 2);
    expect_waiting(SL_KIND_LOCAL_QUEUE, "other", 1, 0);
    expect_waiting(SL_KIND_LOCAL_QUEUE, "lq", 0, 2);
}

static void finish(const char *name)
{
    char patch[300];
    (void)snprintf(patch, sizeof patch,
                   "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                   "\"reason\":\"Succeeded\"}]}}");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", name, patch);
    world_settle(&w);
}

static void test_tallies_finished_workloads_are_counted_until_they_are_deleted(void **state)
{
    (void)state;
    start();
    finish("first");
    assert_int_equal(figures(SL_KIND_CLUSTER_QUEUE, "cq").finished, 1);
    assert_int_equal(figures(SL_KIND_LOCAL_QUEUE, "lq").finished, 1);
    assert_int_equal(figures(SL_KIND_LOCAL_QUEUE, "lq").admitted, 1); /* the next one */
    assert_int_equal(sl_engine_holders(w.engine, "cq"), 1);
    world_delete(&w, SL_KIND_CLUSTER_QUEUE, "", "cq");
    world_settle(&w);
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_settle(&w);
    assert_int_equal(figures(SL_KIND_CLUSTER_QUEUE, "cq").finished, 1);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "first");
    assert_int_equal(figures(SL_KIND_CLUSTER_QUEUE, "cq").finished, 0);
    assert_int_equal(figures(SL_KIND_LOCAL_QUEUE, "lq").finished, 0);
}

static void test_tallies_restart_counts_the_same(void **state)
{
    (void)state;
    static const enum sl_kind order[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    start();
    finish("first");
    stop_policy(SL_KIND_CLUSTER_QUEUE, "", "cq", "Hold");
    world_restart(&w, order, 4);
    world_settle(&w);
    struct sl_queue_figures f = figures(SL_KIND_CLUSTER_QUEUE, "cq");
    assert_int_equal(f.finished, 1);
    assert_int_equal(f.inadmissible, 1);
    assert_int_equal(f.admitted, 1);
}

struct used {
    unsigned count;
    int64_t reservation, usage;
};

static void note_usage(void *context, const struct sl_queue_usage *usage)
{
    struct used *used = context;
    assert_string_equal(usage->flavor, "spot");
    assert_string_equal(usage->resource, "cpu");
    used->count++;
    used->reservation = usage->reservation;
    used->usage = usage->usage;
}

static void test_tallies_usage_of_a_local_queue_is_told_by_flavor(void **state)
{
    (void)state;
    struct used used = {0};
    start();
    sl_engine_queue_usages(w.engine, "team", "lq", note_usage, &used);
    assert_int_equal(used.count, 1);
    assert_int_equal(used.usage, 10000);
    assert_int_equal(used.reservation, 10000);
    sl_engine_queue_usages(w.engine, "team", "none", note_usage, &used);
    assert_int_equal(used.count, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_tallies_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stopped_cluster_queue_counts_what_waits_in_its_order),
        TEST(range_of_a_stopped_cluster_queue_keeps_its_positions),
        TEST(stopped_local_queue_has_nobody_waiting),
        TEST(cluster_queue_made_again_counts_what_had_waited),
        TEST(gated_and_held_workloads_do_not_wait),
        TEST(workload_with_a_failed_check_waits_behind_the_others),
        TEST(untried_workload_awaits_its_turn_beside_parked_ones),
        TEST(finished_workloads_are_counted_until_they_are_deleted),
        TEST(restart_counts_the_same),
        TEST(usage_of_a_local_queue_is_told_by_flavor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
