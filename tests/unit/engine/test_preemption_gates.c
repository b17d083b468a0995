/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Preemption gates as the API sees them. */
#include "engine/why/why.h"
#include "scene.h"

#define SENTENCE "Workload requires preemption, but it's gated"

static int setup_gates_as(bool on, bool granular)
{
    static struct sl_engine_settings s;
    s = sl_engine_settings_default();
    s.preemption_gates = on;
    s.granular_reasons = granular;
    world_open_with(&w, NULL, &s);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10",
                            ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    return 0;
}

static int setup_gates(void **state)
{
    (void)state;
    return setup_gates_as(true, true);
}

static int setup_without(void **state)
{
    (void)state;
    return setup_gates_as(false, true);
}

static int setup_legacy(void **state)
{
    (void)state;
    return setup_gates_as(true, false);
}

static void add(const char *name, int64_t priority, const char *gates)
{
    struct sl_json *o = world_new_workload("team", name, "lq", 1, "8");
    sl_json_set_int(sl_json_get(o, "spec"), "priority", priority);
    if (gates != NULL) {
        sl_json_set(sl_json_get(o, "spec"), "preemptionGates", world_parse(gates));
    }
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
}

/* "low" runs, and "high" would have to preempt it. */
static void add_both(const char *gates)
{
    add("low", 1, NULL);
    add("high", 5, gates);
}

static const char *message(const char *name, const char *type)
{
    return sl_json_path_text(sl_condition_find(world_workload(&w, name), type), "message", "");
}

static void expect_position(const char *name, size_t index, const char *gate, const char *position)
{
    const struct sl_json *states = sl_json_path(world_workload(&w, name), "status.preemptionGates");
    const struct sl_json *state = sl_json_at(states, index);
    assert_string_equal(sl_json_path_text(state, "name", ""), gate);
    assert_string_equal(sl_json_path_text(state, "position", ""), position);
    assert_string_not_equal(sl_json_path_text(state, "lastTransitionTime", ""), "");
}

/* As whoever keeps the gate does it. */
static void move_gates(const char *name, const char *first, const char *second)
{
    char patch[400];
    static const char time[] = "2027-01-15T08:00:00Z";
    (void)snprintf(patch, sizeof patch,
                   "{\"status\":{\"preemptionGates\":[{\"name\":\"a\",\"position\":\"%s\","
                   "\"lastTransitionTime\":\"%s\"},{\"name\":\"b\",\"position\":\"%s\","
                   "\"lastTransitionTime\":\"%s\"}]}}",
                   first, time, second, time);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", name, patch);
    world_settle(&w);
}

static void expect_blocked(const char *name)
{
    world_expect(&w, name, "BlockedOnPreemptionGates", "True", "PreemptionGated");
    assert_string_equal(message(name, "BlockedOnPreemptionGates"), SENTENCE);
    assert_string_equal(message(name, "QuotaReserved"), SENTENCE);
}

static void test_gates_keep_a_workload_from_preempting(void **state)
{
    (void)state;
    add_both("[{\"name\":\"a\"}]");
    world_expect(&w, "low", "Admitted", "True", "Admitted");
    world_expect(&w, "high", "QuotaReserved", "False", "AdmissionGated");
    world_expect(&w, "high", "Admitted", "False", "NoReservation");
    expect_blocked("high");
    expect_position("high", 0, "a", "Closed");
    assert_non_null(sl_json_path(world_workload(&w, "high"), "status.resourceRequests"));
    assert_null(sl_condition_find(world_workload(&w, "low"), "Evicted"));
}

static void test_gates_in_the_words_of_before(void **state)
{
    (void)state;
    add_both("[{\"name\":\"a\"}]");
    world_expect(&w, "high", "QuotaReserved", "False", "Pending");
    expect_blocked("high");
}

static void test_gates_are_open_when_all_of_them_are(void **state)
{
    (void)state;
    add_both("[{\"name\":\"a\"},{\"name\":\"b\"}]");
    expect_blocked("high");
    move_gates("high", "Open", "Closed");
    expect_blocked("high");
    world_expect(&w, "low", "Admitted", "True", "Admitted");
    move_gates("high", "Open", "Open");
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    world_expect(&w, "high", "QuotaReserved", "False", "WaitingForPreemptedWorkloads");
    world_expect(&w, "high", "BlockedOnPreemptionGates", "True", "PreemptionGated");
    sl_engine_job_stopped(w.engine, world_workload(&w, "low"), w.now_ms);
    world_settle(&w);
    world_expect(&w, "high", "Admitted", "True", "Admitted");
    world_expect(&w, "high", "BlockedOnPreemptionGates", "False", "QuotaReserved");
    assert_string_equal(message("high", "BlockedOnPreemptionGates"), "Previously: " SENTENCE);
    expect_position("high", 1, "b", "Open");
}

static void test_gates_that_are_closed_again_count(void **state)
{
    (void)state;
    add("low", 1, NULL);
    add("mid", 1, "[{\"name\":\"a\"},{\"name\":\"b\"}]"); /* finds no victims */
    world_expect(&w, "mid", "QuotaReserved", "False", "WaitingForQuota");
    assert_null(sl_condition_find(world_workload(&w, "mid"), "BlockedOnPreemptionGates"));
    move_gates("mid", "Open", "Open");
    move_gates("mid", "Open", "Closed");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "mid", "{\"spec\":{\"priority\":9}}");
    world_settle(&w);
    expect_blocked("mid");
    world_expect(&w, "low", "Admitted", "True", "Admitted");
}

/* "a" runs with open gates and is evicted; "b" takes its place, and "a" would have to preempt it: it is not written by
 * others in between, but for its gates where `opened`. */
static void evict_and_come_back(bool opened)
{
    world_add_local_queue(&w, "team", "own", "cq");
    struct sl_json *o = world_new_workload("team", "a", "own", 1, "8");
    sl_json_set_int(sl_json_get(o, "spec"), "priority", 5);
    sl_json_set(sl_json_get(o, "spec"), "preemptionGates",
                world_parse("[{\"name\":\"a\"},{\"name\":\"b\"}]"));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    move_gates("a", "Open", "Open");
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "own",
                      "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}");
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "LocalQueueStopped");
    expect_position("a", 0, "a", "Closed");
    expect_position("a", 1, "b", "Closed");
    if (opened) {
        move_gates("a", "Open", "Open");
    }
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    add("b", 1, NULL);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "own",
                      "{\"spec\":{\"stopPolicy\":\"None\"}}");
    world_settle(&w);
}

static void test_gates_close_with_an_eviction(void **state)
{
    (void)state;
    evict_and_come_back(false);
    expect_blocked("a");
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

/* What is opened between the eviction and its end stays open. */
static void test_gates_opened_after_an_eviction_are_open(void **state)
{
    (void)state;
    evict_and_come_back(true);
    world_expect(&w, "b", "Evicted", "True", "Preempted");
}

static void test_gates_of_a_deactivated_workload_close(void **state)
{
    (void)state;
    add_both("[{\"name\":\"a\"},{\"name\":\"b\"}]");
    move_gates("high", "Open", "Closed");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "high", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    world_expect(&w, "high", "Evicted", "True", "Deactivated");
    world_expect(&w, "high", "BlockedOnPreemptionGates", "False", "Deactivated");
    assert_string_equal(message("high", "BlockedOnPreemptionGates"), "The workload is deactivated");
    expect_position("high", 0, "a", "Closed");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "high", "{\"spec\":{\"active\":true}}");
    world_settle(&w);
    expect_blocked("high");
}

static void test_gates_that_leave_the_spec_are_forgotten(void **state)
{
    (void)state;
    add_both("[{\"name\":\"a\"},{\"name\":\"b\"}]");
    expect_position("high", 1, "b", "Closed");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "high",
                      "{\"spec\":{\"preemptionGates\":null}}");
    world_settle(&w);
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    assert_null(sl_json_path(world_workload(&w, "high"), "status.preemptionGates"));
}

static void test_gates_survive_a_restart(void **state)
{
    (void)state;
    static const enum sl_kind order[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    add_both("[{\"name\":\"a\"},{\"name\":\"b\"}]");
    world_restart(&w, order, 4);
    unsigned writes = w.writes;
    world_settle(&w);
    expect_blocked("high");
    assert_int_equal(w.writes, writes);
    move_gates("high", "Open", "Open");
    world_expect(&w, "low", "Evicted", "True", "Preempted");
}

/* Its slot is given out again, to one that has no gates. */
static void test_gates_go_with_their_workload(void **state)
{
    (void)state;
    add_both("[{\"name\":\"a\"}]");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "high");
    world_settle(&w);
    add("other", 5, NULL);
    world_expect(&w, "low", "Evicted", "True", "Preempted");
}

static void test_gates_are_told_of_by_why(void **state)
{
    (void)state;
    add_both("[{\"name\":\"a\"}]");
    const struct sl_why_ask ask = {"team", "high", "team"};
    struct sl_json *answer = sl_why_workload_new(w.engine, &ask);
    struct sl_buf text = {0};
    sl_json_print(answer, &text);
    assert_string_equal(sl_json_path_text(answer, "reason", ""), "AdmissionGated");
    assert_string_equal(sl_json_path_text(answer, "message", ""), SENTENCE);
    assert_non_null(strstr(text.data, "Open its preemption gates"));
    sl_buf_fini(&text);
    sl_json_free(answer);
}

/* Both kinds of gates, one after the other. */
static void test_gates_are_not_taken_for_admission_gates(void **state)
{
    (void)state;
    add_both("[{\"name\":\"a\"}]");
    expect_blocked("high");
    (void)world_patch(
        &w, SL_KIND_WORKLOAD, "team", "high",
        "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/admission-gated-by\":\"x\"}}}");
    world_settle(&w);
    world_expect(&w, "high", "QuotaReserved", "False", "AdmissionGated");
    (void)world_patch(
        &w, SL_KIND_WORKLOAD, "team", "high",
        "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/admission-gated-by\":null}}}");
    world_settle(&w);
    expect_blocked("high");
}

static void test_gates_do_not_count_without_the_feature_gate(void **state)
{
    (void)state;
    add_both("[{\"name\":\"a\"}]");
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    assert_null(sl_json_path(world_workload(&w, "high"), "status.preemptionGates"));
    assert_null(sl_condition_find(world_workload(&w, "high"), "BlockedOnPreemptionGates"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_gates, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_gates_keep_a_workload_from_preempting),
        cmocka_unit_test_setup_teardown(test_gates_in_the_words_of_before, setup_legacy, teardown),
        TEST(test_gates_are_open_when_all_of_them_are),
        TEST(test_gates_that_are_closed_again_count),
        TEST(test_gates_close_with_an_eviction),
        TEST(test_gates_opened_after_an_eviction_are_open),
        TEST(test_gates_of_a_deactivated_workload_close),
        TEST(test_gates_that_leave_the_spec_are_forgotten),
        TEST(test_gates_survive_a_restart),
        TEST(test_gates_go_with_their_workload),
        TEST(test_gates_are_told_of_by_why),
        TEST(test_gates_are_not_taken_for_admission_gates),
        cmocka_unit_test_setup_teardown(test_gates_do_not_count_without_the_feature_gate,
                                        setup_without, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
