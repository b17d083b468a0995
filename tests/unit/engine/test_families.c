/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Variants of Workloads, as the engine reads them: who belongs together and in which order, which of them may move, and that
 * those which stand for others are not known. */
#include "base/aside.h"
#include "engine/figures.h"
#include "engine/foresight.h"
#include "engine/parents.h"
#include "engine/requests/families.h"
#include "engine/why/why.h"
#include "kernel/commit/variants.h"
#include "policy/queues/queues.h"
#include "scene.h"

static void queue(const char *policy)
{
    char text[900];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},%s"
        "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":["
        "{\"name\":\"first\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"10\"}]},"
        "{\"name\":\"second\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"10\"}]}]}]}}",
        policy);
    world_add(&w, SL_KIND_CLUSTER_QUEUE, text);
}

static int set_up(bool gate)
{
    static struct sl_engine_settings s;
    s = sl_engine_settings_default();
    s.concurrent_admission = gate;
    world_open_with(&w, NULL, &s);
    world_add_flavor(&w, "first", "{}");
    world_add_flavor(&w, "second", "{}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    return 0;
}

static int setup_families(void **state)
{
    (void)state;
    return set_up(true);
}

static int setup_without_gate(void **state)
{
    (void)state;
    return set_up(false);
}

static void add(const char *name, const char *flavor, const char *parent)
{
    struct sl_json *o = world_new_workload("team", name, "lq", 1, "8");
    char text[300];
    if (flavor != NULL) {
        sl_json_set_text(sl_json_path_make(o, "metadata.annotations"),
                         "kueue.x-k8s.io/workload-allowed-resource-flavors", flavor);
    }
    if (parent != NULL) {
        (void)snprintf(text, sizeof text,
                       "[{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\","
                       "\"name\":\"%s\",\"uid\":\"%s\",\"controller\":true}]",
                       parent, parent);
        sl_json_set(sl_json_path_make(o, "metadata"), "ownerReferences", world_parse(text));
    }
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
}

static void test_families_move_to_better_flavors(void **state)
{
    (void)state;
    queue("");
    add("b", "second", "p");
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    add("a", "first", "p");
    world_expect(&w, "b", "Evicted", "True", "FlavorMigration");
    world_expect(&w, "a", "QuotaReserved", "False", "WaitingForPreemptedWorkloads");
    assert_null(sl_condition_find(world_workload(&w, "b"), "Preempted"));
    sl_engine_job_stopped(w.engine, world_workload(&w, "b"), w.now_ms);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_expect(&w, "b", "QuotaReserved", "False", "PendingEvaluation");
    world_check(&w);
}

static void test_families_are_of_one_parent(void **state)
{
    (void)state;
    queue("");
    add("b", "second", "p");
    add("a", "first", "q");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a"); /* numbers are given out again */
    world_delete(&w, SL_KIND_WORKLOAD, "team", "b");
    add("d", "first", "r");
    add("e", "second", "r");
    world_expect(&w, "d", "Admitted", "True", "Admitted");
    world_expect(&w, "e", "QuotaReserved", "False", "PendingEvaluation");
}

static void test_families_stay_where_the_first_admission_is_kept(void **state)
{
    (void)state;
    queue("\"concurrentAdmissionPolicy\":{\"migration\":{\"mode\":\"RetainFirstAdmission\"}},");
    add("b", "second", "p");
    add("a", "first", "p");
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    world_expect(&w, "a", "QuotaReserved", "False", "PendingEvaluation");
}

static void test_families_move_down_to_the_last_acceptable_flavor(void **state)
{
    (void)state;
    queue("\"concurrentAdmissionPolicy\":{\"migration\":{\"mode\":\"TryPreferredFlavors\","
          "\"constraints\":{\"lastAcceptableFlavorName\":\"first\"}}},");
    add("b", "second", "p");
    add("a", "first", "p");
    world_expect(&w, "b", "Evicted", "True", "FlavorMigration");
}

static void test_families_have_parents_that_are_not_known(void **state)
{
    (void)state;
    queue("\"concurrentAdmissionPolicy\":{\"migration\":{\"mode\":\"TryPreferredFlavors\"}},");
    add("p", NULL, NULL);
    assert_true(sl_engine_is_parent(w.engine, world_workload(&w, "p")));
    assert_int_equal(sl_workload_find(w.engine, world_workload(&w, "p")), SL_NO_ID);
    assert_null(sl_condition_find(world_workload(&w, "p"), "QuotaReserved"));
    add("a", "first", "p");
    assert_false(sl_engine_is_parent(w.engine, world_workload(&w, "a")));
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(world_count_cq(&w, "pendingWorkloads"), 0);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
}

static void test_families_label_makes_a_parent_of_what_is_known(void **state)
{
    (void)state;
    queue("");
    add("p", NULL, NULL);
    world_expect(&w, "p", "Admitted", "True", "Admitted");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "p",
                      "{\"metadata\":{\"labels\":{"
                      "\"kueue.x-k8s.io/concurrent-admission-parent\":\"true\"}}}");
    world_settle(&w);
    assert_int_equal(sl_workload_find(w.engine, world_workload(&w, "p")), SL_NO_ID);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
}

/* Of 17 the last one is not tried: nobody would ask whether another one holds quota. */
static void test_families_have_at_most_16(void **state)
{
    (void)state;
    queue("");
    char name[8];
    for (int i = 0; i < 17; i++) {
        (void)snprintf(name, sizeof name, "v%02d", i);
        add(name, "first", "p");
    }
    sl_workload_id last = sl_workload_find(w.engine, world_workload(&w, "v16"));
    assert_int_equal(sl_variants_rank(sl_workload_find(w.engine, world_workload(&w, "v15"))), 0);
    assert_int_equal(sl_variants_rank(last), SL_NO_ID);
    assert_int_equal(sl_queues_queue_of(last), SL_NO_ID);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
}

/* Their jobs grow by slices, of which one takes the place of another. */
static void test_families_of_elastic_jobs_do_not_exist(void **state)
{
    (void)state;
    queue("\"concurrentAdmissionPolicy\":{\"migration\":{\"mode\":\"TryPreferredFlavors\"}},");
    struct sl_json *o = world_new_workload("team", "e", "lq", 1, "8");
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), "kueue.x-k8s.io/elastic-job",
                     "true");
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    assert_false(sl_engine_is_parent(w.engine, world_workload(&w, "e")));
    world_expect(&w, "e", "Admitted", "True", "Admitted");
}

static void test_families_that_are_left_behind_without_the_gate_are_not_known(void **state)
{
    (void)state;
    queue("");
    add("a", "first", "p");
    assert_int_equal(sl_workload_find(w.engine, world_workload(&w, "a")), SL_NO_ID);
    add("b", NULL, NULL);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

/* --- what is said of them ------------------------------------------------------------------------ */

#define POLICY "\"concurrentAdmissionPolicy\":{\"migration\":{\"mode\":\"TryPreferredFlavors\"}},"

static void note_reason(void *context, const struct sl_unadmitted *u)
{
    sl_buf_print(context, "%s/%s %u; ", u->reason, u->cause, u->count);
}

static void expect_unadmitted_in(enum sl_kind kind, const char *name, const char *wanted)
{
    struct sl_buf text = {0};
    sl_buf_text(&text, "");
    sl_engine_unadmitted(w.engine, kind, "team", name, note_reason, &text);
    assert_string_equal(text.data, wanted);
    sl_buf_fini(&text);
}

static void expect_unadmitted(const char *wanted)
{
    expect_unadmitted_in(SL_KIND_LOCAL_QUEUE, "lq", wanted);
    expect_unadmitted_in(SL_KIND_CLUSTER_QUEUE, "cq", wanted);
}

static void say(const char *type, const char *status, const char *reason)
{
    char text[300];
    (void)snprintf(
        text, sizeof text,
        "{\"status\":{\"conditions\":[{\"type\":\"%s\",\"status\":\"%s\",\"reason\":\"%s\","
        "\"message\":\"m\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}",
        type, status, reason);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "p", text);
    world_settle(&w);
}

static void test_families_count_as_their_parents_where_not_admitted(void **state)
{
    (void)state;
    queue(POLICY);
    world_add_workload(&w, "p", "lq", 3, "8");
    add("a", "first", "p");
    add("b", "second", "p");
    expect_unadmitted("NoReservation/PendingEvaluation 1; ");
    say("QuotaReserved", "False", "Suspended");
    expect_unadmitted("NoReservation/Suspended 1; ");
    say("QuotaReserved", "False", "Other");
    expect_unadmitted("NoReservation/PendingEvaluation 1; ");
    say("QuotaReserved", "True", "QuotaReserved");
    expect_unadmitted("NoReservation/PendingEvaluation 1; "); /* it has no label, so it is none */
}

static void test_families_count_as_labelled_parents_until_these_are_admitted_or_gone(void **state)
{
    (void)state;
    queue(POLICY);
    add("p", NULL, NULL);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "p",
                      "{\"metadata\":{\"labels\":{"
                      "\"kueue.x-k8s.io/concurrent-admission-parent\":\"true\"}}}");
    expect_unadmitted("NoReservation/PendingEvaluation 1; ");
    say("QuotaReserved", "True", "QuotaReserved");
    expect_unadmitted("UnsatisfiedAdmissionChecks/ 1; ");
    say("Admitted", "True", "Admitted");
    expect_unadmitted("");
    say("Admitted", "False", "NoReservation");
    expect_unadmitted("NoReservation/PendingEvaluation 1; ");
    world_add_local_queue(&w, "team", "other", "cq");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "p", "{\"spec\":{\"queueName\":\"other\"}}");
    expect_unadmitted_in(SL_KIND_LOCAL_QUEUE, "lq", "");
    expect_unadmitted_in(SL_KIND_LOCAL_QUEUE, "other", "NoReservation/PendingEvaluation 1; ");
    expect_unadmitted_in(SL_KIND_CLUSTER_QUEUE, "cq", "NoReservation/PendingEvaluation 1; ");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "p");
    expect_unadmitted_in(SL_KIND_CLUSTER_QUEUE, "cq", "");
    add("p", NULL, NULL); /* and one is left for the end */
}

static uint32_t count_finished(enum sl_kind kind, const char *ns, const char *name)
{
    struct sl_queue_figures figures;
    assert_true(sl_engine_queue_figures(w.engine, kind, ns, name, &figures));
    return figures.finished;
}

static void test_families_that_have_finished_count_once(void **state)
{
    (void)state;
    queue(POLICY);
    add("p", NULL, NULL);
    add("a", "first", "p");
    add("b", "second", "p");
    static const char ended[] = "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":"
                                "\"True\",\"reason\":\"Succeeded\",\"message\":\"\","
                                "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}";
    static const char *const names[] = {"a", "b", "p"};
    for (size_t i = 0; i < 3; i++) {
        (void)world_patch(&w, SL_KIND_WORKLOAD, "team", names[i], ended);
        world_settle(&w);
        assert_int_equal(count_finished(SL_KIND_CLUSTER_QUEUE, "", "cq"), i / 2);
        assert_int_equal(count_finished(SL_KIND_LOCAL_QUEUE, "team", "lq"), i / 2);
    }
    expect_unadmitted("");
}

static void test_families_explain_each_variant_in_the_order_of_flavors(void **state)
{
    (void)state;
    queue(POLICY);
    struct sl_json *list = sl_why_variants_new(w.engine, "p", NULL);
    assert_int_equal(sl_json_len(list), 0);
    sl_json_free(list);
    add("big", "first", "q");
    add("b", "second", "p");
    add("a", "first", "p");
    list = sl_why_variants_new(w.engine, "p", "team");
    assert_int_equal(sl_json_len(list), 2);
    assert_string_equal(sl_json_path_text(list, "0.name", ""), "a");
    assert_string_equal(sl_json_path_text(list, "0.flavor", ""), "first");
    assert_string_equal(sl_json_path_text(list, "0.state", ""), "Pending");
    assert_non_null(strstr(sl_json_path_text(list, "0.summary", ""), "team/big"));
    assert_string_equal(sl_json_path_text(list, "1.name", ""), "b");
    assert_string_equal(sl_json_path_text(list, "1.flavor", ""), "second");
    assert_string_equal(sl_json_path_text(list, "1.state", ""), "Admitted");
    sl_json_free(list);
}

/* --- ahead of time ------------------------------------------------------------------------------- */

static struct sl_json *foreseen_new(void)
{
    struct sl_question q = {
        .engine = w.engine, .now_ms = w.now_ms, .until_ms = w.now_ms + 1000000, .rows_max = 100};
    struct sl_buf text = {0};
    struct sl_error e = {0};
    const struct sl_aside_work work = sl_question_work(&q, sl_question_answer);
    assert_int_equal(sl_aside_run(&work, &text, &e), SL_CODE_OK);
    size_t at = sl_question_body(&text);
    struct sl_json *answer = sl_json_parse(text.data + at, text.len - at, &e);
    assert_non_null(answer);
    sl_buf_fini(&text);
    return answer;
}

/* They were tried for one job: that is not run once for each. */
static void test_families_are_foreseen_to_end_together(void **state)
{
    (void)state;
    queue("\"concurrentAdmissionPolicy\":{\"migration\":{\"mode\":\"RetainFirstAdmission\"}},");
    add("a", "first", "p");
    sl_engine_say_run_time(w.engine, sl_object_uid(world_workload(&w, "a")), SL_RUN_FOR, 5000);
    add("b", "second", "p");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    struct sl_json *answer = foreseen_new();
    const struct sl_json *row = sl_json_find_by(sl_json_get(answer, "workloads"), "name", "b");
    assert_string_equal(sl_json_path_text(row, "reason", ""), "JobEnds");
    assert_string_equal(sl_json_path_text(row, "flavor", ""), "second");
    assert_string_equal(sl_json_path_text(answer, "ended", ""), "NothingWaits");
    sl_json_free(answer);
}

/* Nobody opens it in a run ahead of time. */
static void test_families_are_foreseen_to_wait_for_their_preemption_gate(void **state)
{
    (void)state;
    queue("\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"},");
    add("low", "first", NULL);
    world_expect(&w, "low", "Admitted", "True", "Admitted");
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "8");
    sl_json_set_text(sl_json_path_make(o, "metadata.annotations"),
                     "kueue.x-k8s.io/workload-allowed-resource-flavors", "first");
    sl_json_set(sl_json_path_make(o, "spec"), "preemptionGates",
                world_parse("[{\"name\":\"kueue.x-k8s.io/concurrent-admission\"}]"));
    sl_json_set_int(sl_json_get(o, "spec"), "priority", 5);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    struct sl_json *answer = foreseen_new();
    const struct sl_json *row = sl_json_find_by(sl_json_get(answer, "workloads"), "name", "a");
    assert_string_equal(sl_json_path_text(row, "reason", ""), "PreemptionGated");
    sl_json_free(answer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_families, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_families_move_to_better_flavors),
        TEST(test_families_are_of_one_parent),
        TEST(test_families_stay_where_the_first_admission_is_kept),
        TEST(test_families_move_down_to_the_last_acceptable_flavor),
        TEST(test_families_have_parents_that_are_not_known),
        TEST(test_families_label_makes_a_parent_of_what_is_known),
        TEST(test_families_have_at_most_16),
        TEST(test_families_of_elastic_jobs_do_not_exist),
        cmocka_unit_test_setup_teardown(
            test_families_that_are_left_behind_without_the_gate_are_not_known, setup_without_gate,
            teardown),
        TEST(test_families_count_as_their_parents_where_not_admitted),
        TEST(test_families_count_as_labelled_parents_until_these_are_admitted_or_gone),
        TEST(test_families_that_have_finished_count_once),
        TEST(test_families_are_foreseen_to_end_together),
        TEST(test_families_are_foreseen_to_wait_for_their_preemption_gate),
        TEST(test_families_explain_each_variant_in_the_order_of_flavors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
