/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cluster.h"
#include "scene.h"
#include "policy/requests/offers.h"

static void add_check(const char *name, const char *controller, const char *active)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"controllerName\":\"%s\"},"
                   "\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"%s\"}]}}",
                   name, controller, active);
    world_add(&w, SL_KIND_ADMISSION_CHECK, text);
}

static bool delayed(const char *flavor)
{
    sl_qnode_id node = sl_intern_find(w.engine->names, SL_INTERN_QNODE, "cq/cq");
    for (sl_cell_id c = sl_offers_first(node); c != SL_NO_ID; c = sl_offers_next(c)) {
        if (sl_ledger_flavor_of(c) == cluster_tree(&w, flavor)) {
            return sl_offers_is_delayed(c);
        }
    }
    fail_msg("%s is not offered", flavor);
    return false;
}

static void add_queue(const char *checks)
{
    char text[1024];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{"
        "\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"tas\",\"resources\":[{\"name\":"
        "\"cpu\",\"nominalQuota\":\"1\"}]},{\"name\":\"too\",\"resources\":[{\"name\":\"cpu\","
        "\"nominalQuota\":\"1\"}]}]}],\"admissionChecksStrategy\":{\"admissionChecks\":[%s]}}}",
        checks);
    world_add(&w, SL_KIND_CLUSTER_QUEUE, text);
}

static const char *reason(void)
{
    static char out[64];
    struct sl_json *status = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq");
    (void)snprintf(out, sizeof out, "%s", sl_json_path_text(status, "active.reason", ""));
    sl_json_free(status);
    return out;
}

static void start(void)
{
    cluster_add_topology(&w, "topo");
    world_add_flavor(&w, "tas", "{\"topologyName\":\"topo\"}");
    world_add_flavor(&w, "too", "{\"topologyName\":\"topo\"}");
}

static void test_checks_in_queue_without_the_check_is_inactive_until_it_comes(void **state)
{
    (void)state;
    start();
    add_queue("{\"name\":\"gate\"}");
    assert_string_equal(reason(), "AdmissionCheckNotFound");
    world_add_check(&w, "gate");
    assert_string_equal(reason(), "Ready");
    world_delete(&w, SL_KIND_ADMISSION_CHECK, "", "gate");
    assert_string_equal(reason(), "AdmissionCheckNotFound");
}

static void test_checks_in_provisioning_delays_the_flavors_it_is_for(void **state)
{
    (void)state;
    start();
    add_queue("{\"name\":\"prov\",\"onFlavors\":[\"too\"]}");
    assert_false(delayed("too"));
    add_check("prov", "kueue.x-k8s.io/provisioning-request", "True");
    assert_true(delayed("too"));
    assert_false(delayed("tas"));
    add_queue("{\"name\":\"prov\"}");
    assert_true(delayed("tas"));
    world_delete(&w, SL_KIND_ADMISSION_CHECK, "", "prov");
    assert_false(delayed("tas"));
}

static void test_checks_in_delay_survives_another_quota(void **state)
{
    (void)state;
    start();
    add_check("prov", "kueue.x-k8s.io/provisioning-request", "True");
    world_add_cluster_queue(
        &w, "cq", "tas", "10",
        ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"prov\"}]}");
    assert_true(delayed("tas"));
    add_queue("{\"name\":\"prov\"}"); /* its cells are offered anew */
    assert_true(delayed("tas"));
    assert_true(delayed("too"));
}

static void test_checks_in_other_cluster_delays_all_and_needs_no_topology(void **state)
{
    (void)state;
    start();
    add_check("mk", "kueue.x-k8s.io/multikueue", "True");
    add_queue("{\"name\":\"mk\"}");
    assert_true(delayed("tas"));
    world_delete(&w, SL_KIND_TOPOLOGY, "", "topo");
    assert_string_equal(reason(), "Ready");
}

static void test_checks_in_checks_of_others_delay_nothing(void **state)
{
    (void)state;
    start();
    add_queue("{\"name\":\"mine\"}");
    add_check("mine", "example.com/check", "True");
    assert_false(delayed("tas"));
    assert_string_equal(reason(), "Ready");
}

static void test_checks_in_check_that_is_not_active_stops_the_queue(void **state)
{
    (void)state;
    start();
    add_queue("{\"name\":\"mine\"}");
    add_check("mine", "example.com/check", "False");
    assert_string_equal(reason(), "AdmissionCheckInactive");
    add_check("mine", "example.com/check", "True");
    assert_string_equal(reason(), "Ready");
}

static const struct sl_json *live_check(void)
{
    return sl_json_path(world_workload(&w, "a"), "status.admissionChecks.0");
}

static void report(const char *state, int requeue_after_s)
{
    char patch[256];
    (void)snprintf(patch, sizeof patch,
                   "{\"status\":{\"admissionChecks\":[{\"name\":\"gate\",\"state\":\"%s\","
                   "\"message\":\"no\",\"requeueAfterSeconds\":%d}]}}",
                   state, requeue_after_s);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", patch);
    world_settle(&w);
}

static void add_reserved(void)
{
    world_add_flavor(&w, "spot", "{}");
    world_add_check(&w, "gate");
    world_add_cluster_queue(
        &w, "cq", "spot", "1",
        ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"gate\"}]}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
}

static void stop(void)
{
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
}

/* A workload that is inactive and has stopped; then its check says so. */
static void fail_while_inactive(const char *state)
{
    add_reserved();
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    stop();
    report(state, 3600);
    assert_string_equal(sl_json_path_text(live_check(), "state", ""), state);
}

static void restart(void)
{
    static const enum sl_kind order[] = {SL_KIND_ADMISSION_CHECK, SL_KIND_RESOURCE_FLAVOR,
                                         SL_KIND_CLUSTER_QUEUE, SL_KIND_LOCAL_QUEUE,
                                         SL_KIND_WORKLOAD};
    world_restart(&w, order, sizeof order / sizeof order[0]);
    world_settle(&w);
}

static void expect_state(const char *state, const char *message)
{
    assert_string_equal(sl_json_path_text(live_check(), "state", ""), state);
    assert_string_equal(sl_json_path_text(live_check(), "message", ""), message);
}

static void expect_asked_anew(const char *message)
{
    world_expect(&w, "a", "Requeued", "True", "Reactivated");
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
    expect_state("Pending", message);
    report("Ready", 0);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_checks_in_rejected_while_inactive_is_asked_anew_at_reactivation(void **state)
{
    (void)state;
    fail_while_inactive("Rejected");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":true}}");
    world_settle(&w);
    expect_asked_anew("Reset to Pending after reactivation. Previously: Rejected");
}

static void test_checks_in_retry_while_inactive_is_asked_anew_at_reactivation(void **state)
{
    (void)state;
    fail_while_inactive("Retry");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":true}}");
    world_settle(&w);
    expect_asked_anew("Reset to Pending after reactivation. Previously: Retry");
}

static void test_checks_in_rejected_and_reactivated_while_away_is_asked_anew(void **state)
{
    (void)state;
    fail_while_inactive("Rejected");
    sl_json_set_bool(sl_json_get(world_workload(&w, "a"), "spec"), "active", true);
    restart();
    expect_asked_anew("Reset to Pending after reactivation. Previously: Rejected");
}

/* Nobody has reactivated it: what the check says stands. */
static void test_checks_in_rejected_while_inactive_stays_rejected_so_long(void **state)
{
    (void)state;
    fail_while_inactive("Rejected");
    world_pass(&w, 7200000);
    assert_string_equal(sl_json_path_text(live_check(), "state", ""), "Rejected");
    assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
}

static const char *why_pending(void)
{
    const struct sl_json *c = sl_condition_find(world_workload(&w, "a"), "QuotaReserved");
    return sl_json_path_text(c, "message", "");
}

/* An answer that crosses an eviction stands until its controller says otherwise, as Kueue's API has it, and whoever
 * looks at the workload sees what it waits for. */
static void keep_out(const char *state)
{
    add_reserved();
    report("Retry", 0);
    world_expect(&w, "a", "Evicted", "True", "AdmissionCheck");
    report(state, 0);
    stop();
    world_pass(&w, 7200000);
    expect_state(state, "no");
    world_expect(&w, "a", "QuotaReserved", "False", "PendingEvaluation");
    assert_string_equal(why_pending(), "The workload has failed admission checks");
    report("Pending", 0);
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
}

static void test_checks_in_retry_after_the_eviction_keeps_out_and_is_told(void **state)
{
    (void)state;
    keep_out("Retry");
}

static void test_checks_in_rejected_after_the_eviction_keeps_out_and_is_told(void **state)
{
    (void)state;
    keep_out("Rejected");
}

static void hold_queue(const char *policy)
{
    char patch[128];
    (void)snprintf(patch, sizeof patch, "{\"spec\":{\"stopPolicy\":\"%s\"}}", policy);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", patch);
    world_settle(&w);
}

/* It was told something else before; and is, when the check has nothing against it any more. */
static void test_checks_in_retry_while_pending_is_told_instead_of_what_was(void **state)
{
    (void)state;
    add_reserved();
    hold_queue("Hold");
    world_expect(&w, "a", "QuotaReserved", "False", "Suspended");
    report("Retry", 3600);
    world_expect(&w, "a", "QuotaReserved", "False", "Suspended");
    hold_queue("None");
    world_expect(&w, "a", "QuotaReserved", "False", "PendingEvaluation");
    assert_string_equal(why_pending(), "The workload has failed admission checks");
    report("Pending", 0); /* it may be considered then, in its time */
    assert_string_equal(why_pending(), "Workload is pending evaluation in the scheduling queue");
    world_pass(&w, 3600000);
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
}

/* Its object says when it was evicted to the second, and who else came in that second stands before or behind it. */
static void test_checks_in_evicted_stands_after_a_restart_where_it_stood(void **state)
{
    (void)state;
    add_reserved();
    w.now_ms += 737 - w.now_ms % 1000;
    report("Retry", 3600);
    stop();
    world_expect(&w, "a", "Evicted", "True", "AdmissionCheck");
    sl_workload_id id = sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, "team/a");
    struct sl_order_key before = sl_order_of(id);
    restart();
    struct sl_order_key after =
        sl_order_of(sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, "team/a"));
    assert_true(before.queued_at_ms >= w.now_ms - 737);
    assert_int_equal(after.queued_at_ms, before.queued_at_ms);
}

/* What its check says after three tries. */
static void report_fourth(const char *state)
{
    struct sl_json *o = sl_json_clone(world_workload(&w, "a"));
    struct sl_json *check = sl_json_path(o, "status.admissionChecks.0");
    sl_json_set_int(check, "retryCount", 3);
    sl_json_set_text(check, "state", state);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
}

/* As Kueue counts: in the object, which a restart leaves alone. */
static void test_checks_in_tries_are_counted_on_after_a_restart(void **state)
{
    (void)state;
    add_reserved();
    restart();
    report_fourth("Retry");
    expect_state("Pending", "Reset to Pending after eviction. Previously: Retry");
    assert_int_equal(sl_json_path_int(live_check(), "retryCount", 0), 4);
}

static void test_checks_in_tries_are_forgotten_after_another_answer(void **state)
{
    (void)state;
    add_reserved();
    report_fourth("Ready");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    expect_state("Pending", "Reset to Pending after eviction. Previously: Ready");
    assert_false(sl_json_has(live_check(), "retryCount"));
}

/* The answer is a minute and a half old when it is read. */
static void test_checks_in_time_to_retry_counts_from_the_answer(void **state)
{
    (void)state;
    static const int waits[] = {300, 60};
    char at[32], due[32];
    for (int i = 0; i < 2; i++) {
        char patch[256];
        if (i > 0) {
            world_close(&w);
            (void)setup(state);
        }
        add_reserved();
        sl_clock_format(w.now_ms - 90000, at);
        sl_clock_format(w.now_ms + 210000, due);
        (void)snprintf(patch, sizeof patch,
                       "{\"status\":{\"admissionChecks\":[{\"name\":\"gate\",\"state\":\"Retry\","
                       "\"message\":\"no\",\"lastTransitionTime\":\"%s\","
                       "\"requeueAfterSeconds\":%d}]}}",
                       at, waits[i]);
        (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", patch);
        world_settle(&w);
        world_expect(&w, "a", "Evicted", "True", "AdmissionCheck");
        assert_string_equal(
            sl_json_path_text(world_workload(&w, "a"), "status.requeueState.requeueAt", ""),
            i == 0 ? due : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_checks_in_rejected_while_inactive_is_asked_anew_at_reactivation, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_checks_in_retry_while_inactive_is_asked_anew_at_reactivation, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_checks_in_rejected_and_reactivated_while_away_is_asked_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_checks_in_rejected_while_inactive_stays_rejected_so_long, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_checks_in_evicted_stands_after_a_restart_where_it_stood, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_checks_in_retry_after_the_eviction_keeps_out_and_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_checks_in_rejected_after_the_eviction_keeps_out_and_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_checks_in_retry_while_pending_is_told_instead_of_what_was, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_checks_in_queue_without_the_check_is_inactive_until_it_comes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_checks_in_provisioning_delays_the_flavors_it_is_for,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_checks_in_delay_survives_another_quota, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_checks_in_other_cluster_delays_all_and_needs_no_topology, setup, teardown),
        cmocka_unit_test_setup_teardown(test_checks_in_checks_of_others_delay_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_checks_in_check_that_is_not_active_stops_the_queue,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_checks_in_tries_are_counted_on_after_a_restart, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_checks_in_tries_are_forgotten_after_another_answer,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_checks_in_time_to_retry_counts_from_the_answer, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
