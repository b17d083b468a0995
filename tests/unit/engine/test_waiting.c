/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Figures of what waits: what it asks for, why it is not admitted, and in how many sorts. */
#include "scene.h"
#include "engine/figures.h"

/* "first" has all quota; two of one sort and one of another wait. */
static void start(void)
{
    world_add_basics(&w);
    world_add_workload(&w, "first", "lq", 1, "10");
    world_settle(&w);
    world_add_workload(&w, "a", "lq", 2, "4");
    world_add_workload(&w, "b", "lq", 2, "4");
    world_add_workload(&w, "c", "lq", 1, "1500m");
    world_settle(&w);
}

static void note_amount(void *context, const char *resource, int64_t amount)
{
    struct sl_buf *text = context;
    sl_buf_print(text, "%s %lld ", resource, (long long)amount);
}

static void expect_pending(const char *wanted)
{
    struct sl_buf text = {0};
    sl_buf_text(&text, "");
    sl_engine_pending_requests(w.engine, "cq", note_amount, &text);
    assert_string_equal(text.data, wanted);
    sl_buf_fini(&text);
}

static void note_reason(void *context, const struct sl_unadmitted *u)
{
    struct sl_buf *text = context;
    sl_buf_print(text, "%s %s/%s %u; ", u->cluster_queue, u->reason, u->cause, u->count);
}

static void expect_unadmitted(const char *wanted)
{
    for (int local = 0; local < 2; local++) {
        struct sl_buf text = {0};
        sl_buf_text(&text, "");
        sl_engine_unadmitted(w.engine, local ? SL_KIND_LOCAL_QUEUE : SL_KIND_CLUSTER_QUEUE, "team",
                             local ? "lq" : "cq", note_reason, &text);
        assert_string_equal(text.data, wanted);
        sl_buf_fini(&text);
    }
}

static void expect_shapes(uint32_t active, uint32_t inadmissible)
{
    struct sl_pending_shapes shapes;
    assert_true(sl_engine_pending_shapes(w.engine, "cq", &shapes));
    assert_int_equal(shapes.active, active);
    assert_int_equal(shapes.inadmissible, inadmissible);
}

static void finish(const char *name)
{
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", name,
                      "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\","
                      "\"reason\":\"Succeeded\",\"message\":\"\","
                      "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
    world_settle(&w);
}

static void test_waiting_requests_are_summed_up_until_they_are_served(void **state)
{
    (void)state;
    start();
    expect_pending("cpu 17500 ");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "b");
    expect_pending("cpu 9500 ");
    finish("first");
    expect_pending("cpu 0 "); /* both fit */
}

static void test_waiting_requests_that_change_count_as_they_are_now(void **state)
{
    (void)state;
    start();
    struct sl_json *o = sl_json_clone(world_workload(&w, "c"));
    sl_json_set_int(sl_json_at(sl_json_path(o, "spec.podSets"), 0), "count", 3);
    sl_json_set_int(sl_json_get(o, "metadata"), "generation", 7);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    expect_pending("cpu 20500 ");
    world_settle(&w);
    expect_pending("cpu 20500 ");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "c");
    expect_pending("cpu 16000 ");
}

static void test_waiting_in_a_queue_without_any_asks_for_nothing(void **state)
{
    (void)state;
    world_add_basics(&w);
    expect_pending("cpu 0 ");
    expect_unadmitted("");
    expect_shapes(0, 0);
    struct sl_pending_shapes shapes;
    assert_false(sl_engine_pending_shapes(w.engine, "none", &shapes));
}

static void test_waiting_reasons_are_those_of_the_conditions(void **state)
{
    (void)state;
    start();
    /* "b" is of the sort of "a", and was not tried by itself. */
    expect_unadmitted("cq NoReservation/PendingEvaluation 1; cq NoReservation/WaitingForQuota 2; ");
    world_add_workload(&w, "large", "lq", 1, "11");
    world_settle(&w);
    expect_unadmitted("cq NoReservation/PendingEvaluation 1; cq NoReservation/ExceedsMaxQuota 1; "
                      "cq NoReservation/WaitingForQuota 2; ");
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    world_settle(&w);
    expect_unadmitted("cq NoReservation/Suspended 4; ");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Deactivated");
    expect_unadmitted("cq NoReservation/Suspended 3; cq NoReservation/Deactivated 1; ");
}

/* Not only once it is written. */
static void test_waiting_reason_is_that_of_the_last_cycle(void **state)
{
    (void)state;
    world_add_basics(&w);
    world_add_workload(&w, "large", "lq", 1, "11");
    expect_unadmitted("cq NoReservation/PendingEvaluation 1; ");
    (void)sl_engine_cycle(w.engine, w.now_ms);
    expect_unadmitted("cq NoReservation/ExceedsMaxQuota 1; ");
    world_settle(&w);
}

static void test_waiting_for_checks_is_a_reason(void **state)
{
    (void)state;
    world_add_check(&w, "gate");
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(
        &w, "cq", "spot", "10",
        ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"gate\"}]}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
    expect_unadmitted("cq UnsatisfiedAdmissionChecks/ 1; ");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    expect_unadmitted("");
}

static void test_waiting_of_a_moved_workload_is_counted_where_it_is(void **state)
{
    (void)state;
    start();
    world_add_cluster_queue(&w, "other", "spot", "0", "");
    world_add_local_queue(&w, "team", "elsewhere", "other");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"spec\":{\"queueName\":\"elsewhere\"}}");
    world_settle(&w);
    expect_unadmitted("cq NoReservation/PendingEvaluation 1; cq NoReservation/WaitingForQuota 1; ");
    expect_pending("cpu 9500 ");
    world_delete(&w, SL_KIND_CLUSTER_QUEUE, "", "cq");
    world_settle(&w);
    struct sl_buf text = {0};
    sl_buf_text(&text, "");
    sl_engine_unadmitted(w.engine, SL_KIND_LOCAL_QUEUE, "team", "lq", note_reason, &text);
    assert_string_equal(text.data, "");
    sl_buf_fini(&text);
}

static void test_waiting_sorts_are_what_is_tried_as_one(void **state)
{
    (void)state;
    start();
    expect_shapes(0, 2);
    finish("first");
    world_add_workload(&w, "d", "lq", 1, "3");
    expect_shapes(1, 1); /* not tried yet; and "b", which does not fit beside "a" */
}

static void test_waiting_sorts_in_a_strict_queue_are_told_apart(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", ",\"queueingStrategy\":\"StrictFIFO\"");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "first", "lq", 1, "10");
    world_settle(&w);
    world_add_workload(&w, "a", "lq", 1, "4");
    world_add_workload(&w, "b", "lq", 1, "4");
    world_add_workload(&w, "c", "lq", 1, "1");
    world_settle(&w);
    expect_shapes(2, 0);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    world_settle(&w);
    expect_shapes(0, 2);
}

static void test_waiting_of_more_than_are_compared_each_is_a_sort(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", ",\"queueingStrategy\":\"StrictFIFO\"");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    for (unsigned i = 0; i < 1030; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "w%u", i);
        world_add_workload(&w, name, "lq", 1, "11");
    }
    expect_shapes(1 + 6, 0);
}

static void test_waiting_victims_of_others_are_looked_for_again(void **state)
{
    (void)state;
    static const char reclaims[] =
        ",\"cohortName\":\"all\",\"preemption\":{\"reclaimWithinCohort\":\"Any\"}";
    struct sl_queue_figures f;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "loan", "spot", "0", ",\"cohortName\":\"all\"");
    world_add_cluster_queue(&w, "left", "spot", "5", reclaims);
    world_add_cluster_queue(&w, "cq", "spot", "5", reclaims);
    world_add_local_queue(&w, "team", "loan", "loan");
    world_add_local_queue(&w, "team", "left", "left");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "victim", "loan", 1, "10");
    world_settle(&w);
    world_add_workload(&w, "a", "left", 1, "5");
    world_add_workload(&w, "b", "lq", 1, "5");
    world_settle(&w);
    uint64_t deferred = 0;
    for (int i = 0; i < 2; i++) {
        assert_true(
            sl_engine_queue_figures(w.engine, SL_KIND_CLUSTER_QUEUE, "", i ? "left" : "cq", &f));
        deferred += f.deferred_fits;
        assert_int_equal(f.preemption_skips + f.new_targets + f.skipped_targets, 0);
    }
    assert_true(deferred > 0); /* once in each cycle until the victim has stopped */
}

static void mark_as(const char *name, uint8_t mark)
{
    sl_engine_mark(w.engine, world_get(&w, SL_KIND_WORKLOAD, "team", name), mark);
}

static void expect_marked(const char *wanted)
{
    struct sl_buf text = {0};
    struct sl_marks *m = sl_marks_new(w.engine, 3);
    while (sl_marks_go_on(m)) {
    }
    const struct sl_marked *cq = sl_marks_of(m, SL_KIND_CLUSTER_QUEUE, "", "cq");
    const struct sl_marked *lq = sl_marks_of(m, SL_KIND_LOCAL_QUEUE, "team", "lq");
    for (size_t i = 0; i < 3; i++) {
        sl_buf_print(&text, "%u+%u/%u/%u ", cq[i].active, cq[i].inadmissible, cq[i].admitted,
                     lq[i].admitted);
    }
    assert_null(sl_marks_of(m, SL_KIND_CLUSTER_QUEUE, "", "other"));
    assert_string_equal(text.data, wanted);
    sl_buf_fini(&text);
    sl_marks_free(m);
}

/* Each is in one of the figures of its queue, and these are their sums. */
static void test_waiting_and_admitted_are_counted_by_their_marks(void **state)
{
    (void)state;
    start();
    mark_as("first", 2);
    mark_as("a", 1);
    mark_as("c", 1);
    expect_marked("0+1/0/0 0+2/0/0 0+0/1/1 ");
    mark_as("a", 2);
    expect_marked("0+1/0/0 0+1/0/0 0+1/1/1 ");
    world_add_workload(&w, "d", "lq", 1, "11");
    mark_as("d", 1);
    expect_marked("0+1/0/0 1+1/0/0 0+1/1/1 ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_waiting_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(requests_are_summed_up_until_they_are_served),
        TEST(requests_that_change_count_as_they_are_now),
        TEST(in_a_queue_without_any_asks_for_nothing),
        TEST(reasons_are_those_of_the_conditions),
        TEST(reason_is_that_of_the_last_cycle),
        TEST(for_checks_is_a_reason),
        TEST(of_a_moved_workload_is_counted_where_it_is),
        TEST(sorts_are_what_is_tried_as_one),
        TEST(sorts_in_a_strict_queue_are_told_apart),
        TEST(of_more_than_are_compared_each_is_a_sort),
        TEST(and_admitted_are_counted_by_their_marks),
        TEST(victims_of_others_are_looked_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
