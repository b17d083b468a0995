/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What an object says at a bad moment: while a decision about it is being written, or after another instance has
 * written one. The models found both (model/second_pass.pml: NO_REREAD; model/leadership.pml: NO_ADOPTION). */
#include "scene.h"
#include "engine/state.h"

#define BEHIND_CHECK ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"prov\"}]}"

static void add_basics(const char *more)
{
    world_add_flavor(&w, "spot", "{}");
    world_add_check(&w, "prov");
    world_add_cluster_queue(&w, "cq", "spot", "1", more);
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
}

static void report_check(const char *check_state)
{
    char text[160];
    (void)snprintf(text, sizeof text,
                   "{\"status\":{\"admissionChecks\":[{\"name\":\"prov\",\"state\":\"%s\","
                   "\"message\":\"\"}]}}",
                   check_state);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", text);
}

static struct sl_decision next_decision(void)
{
    struct sl_decision d = {0};
    (void)sl_engine_cycle(w.engine, w.now_ms);
    assert_true(sl_engine_next_decision(w.engine, &d));
    return d;
}

/* A fast controller has reported before the answer to the reservation came: the cache is ahead of it. */
static void test_reread_check_reported_before_the_answer_still_admits(void **state)
{
    (void)state;
    add_basics(BEHIND_CHECK);
    world_add_workload(&w, "a", "lq", 1, "1");
    struct sl_decision d = next_decision();
    enum sl_code code = world_write(&w, &d, world_workload(&w, "a"));
    report_check("Ready");
    assert_int_equal(world_answer(&w, &d, code), SL_THEN_SHOW);
    sl_engine_show(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static uint64_t workloads_read(void)
{
    struct sl_engine_counters n;
    sl_engine_count(w.engine, &n);
    return n.workloads_read;
}

/* --- what the engine itself has written ------------------------------------------------------- */

static struct sl_json *as_version(const struct sl_json *object, const char *version)
{
    struct sl_json *copy = sl_json_clone(object);
    sl_json_set_text(sl_json_get(copy, "metadata"), "resourceVersion", version);
    return copy;
}

/* The patch of the decision goes to the API: what that makes of the object, which no watch has told yet. */
static struct sl_json *send_upon(const struct sl_decision *d, const struct sl_json *live,
                                 const char *version)
{
    struct sl_json *patch;
    struct sl_json *made = as_version(live, version);
    assert_int_equal(sl_engine_write(w.engine, d, live, &patch), SL_TO_WRITE_STATUS);
    sl_json_remove(patch, "metadata");
    assert_int_equal(sl_patch_merge(&made, patch, NULL), SL_CODE_OK);
    sl_json_free(patch);
    return made;
}

static struct sl_json *send(const struct sl_decision *d, const char *version)
{
    return send_upon(d, world_workload(&w, "a"), version);
}

static enum sl_sight sight_of(const struct sl_json *object)
{
    return sl_engine_recognise(w.engine, object, w.now_ms);
}

static enum sl_then answer_with(const struct sl_decision *d, const struct sl_json *made)
{
    return sl_engine_written(w.engine, d, SL_CODE_OK, made, w.now_ms);
}

static void test_reread_own_write_is_not_read(void **state)
{
    (void)state;
    struct sl_engine_counters n;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    assert_int_equal(workloads_read(), 1);
    struct sl_decision d = next_decision();
    struct sl_json *made = send(&d, "1000");
    assert_int_equal(sight_of(made), SL_SIGHT_UNSURE);
    assert_int_equal(answer_with(&d, made), SL_THEN_NOTHING);
    assert_int_equal(sight_of(made), SL_SIGHT_ECHO);
    assert_int_equal(workloads_read(), 1);
    sl_engine_count(w.engine, &n);
    assert_int_equal(n.echoes, 1);
    assert_null(sl_mirror_settled(w.engine, made));  /* and yet it has been seen */
    assert_int_equal(sight_of(made), SL_SIGHT_NEWS); /* somebody wants it read once more */
    sl_json_free(made);
}

/* Its pods are ready, or anything else, before what the engine has written is told. */
static void test_reread_version_after_ones_own_is_read(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    struct sl_decision d = next_decision();
    struct sl_json *made = send(&d, "1000");
    struct sl_json *later = as_version(made, "1001");
    assert_int_equal(answer_with(&d, made), SL_THEN_NOTHING);
    assert_int_equal(sight_of(later), SL_SIGHT_NEWS);
    assert_int_equal(sl_engine_observe(w.engine, SL_KIND_WORKLOAD, later, w.now_ms, NULL),
                     SL_CODE_OK);
    assert_int_equal(sight_of(made), SL_SIGHT_NEWS); /* late, and no echo any more */
    sl_json_free(later);
    sl_json_free(made);
}

/* The write was made of what somebody else had staged: that was told first, while it was under way, and read in part. */
static void test_reread_own_write_upon_what_was_not_read_is_read(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    struct sl_decision d = next_decision();
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
    struct sl_json *made = send(&d, "1000");
    assert_int_equal(answer_with(&d, made), SL_THEN_SHOW);
    assert_int_equal(sight_of(made), SL_SIGHT_NEWS);
    sl_json_free(made);
}

/* A check has answered just before, and all Workloads are read anew before that is told: the first version that the
 * engine sees is its own, and the answer is in it. */
static void test_reread_answer_in_ones_own_version_is_read(void **state)
{
    (void)state;
    add_basics(BEHIND_CHECK);
    world_add_workload(&w, "a", "lq", 1, "1");
    struct sl_decision d = next_decision();
    struct sl_json *live = as_version(world_workload(&w, "a"), "900");
    sl_json_set(sl_json_path_make(live, "status"), "admissionChecks",
                world_parse("[{\"name\":\"prov\",\"state\":\"Retry\",\"message\":\"\"}]"));
    struct sl_json *made = send_upon(&d, live, "1000");
    assert_int_equal(sl_engine_observe(w.engine, SL_KIND_WORKLOAD, made, w.now_ms, NULL),
                     SL_CODE_OK);
    assert_int_equal(answer_with(&d, made), SL_THEN_SHOW);
    sl_engine_show(w.engine, made, w.now_ms);
    assert_true(sl_engine_next_decision(w.engine, &d));
    assert_int_equal(d.kind, SL_DECIDE_EVICT);
    sl_json_free(live);
    sl_json_free(made);
}

/* Nobody knows whether it was written: what comes is read. */
static void test_reread_write_in_doubt_has_no_echo(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    struct sl_decision d = next_decision();
    struct sl_json *made = send(&d, "1000");
    (void)sl_engine_written(w.engine, &d, SL_CODE_TIMEOUT, NULL, w.now_ms);
    assert_int_equal(sight_of(made), SL_SIGHT_NEWS);
    sl_json_free(made);
}

/* It met a conflict with itself: the first answer was lost. There is nothing left to write, and nothing has been written
 * in part. */
static void test_reread_write_that_is_found_done_is_answered(void **state)
{
    (void)state;
    struct sl_json *patch;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    struct sl_decision d = next_decision();
    struct sl_json *made = send(&d, "1000");
    assert_int_equal(sl_engine_write(w.engine, &d, made, &patch), SL_TO_WRITE_NOTHING);
    assert_int_equal(w.engine->workloads[d.workload].asked, 0);
    assert_int_equal(answer_with(&d, NULL), SL_THEN_NOTHING);
    assert_int_equal(w.engine->workloads[d.workload].unwritten_count, 0);
    assert_int_equal(sight_of(made), SL_SIGHT_NEWS);
    sl_json_free(made);
}

/* When it may be deleted follows from what an eviction writes. */
static void test_reread_eviction_is_read(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    struct sl_decision d = next_decision();
    assert_int_equal(d.kind, SL_DECIDE_EVICT);
    struct sl_json *made = send(&d, "1000");
    assert_int_equal(sight_of(made), SL_SIGHT_NEWS);
    (void)answer_with(&d, made);
    assert_int_equal(sight_of(made), SL_SIGHT_NEWS);
    sl_json_free(made);
}

/* What somebody else has staged since is no news yet: it may be lost. */
static void test_reread_version_that_was_not_told_is_left_to_the_watch(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    struct sl_decision d = next_decision();
    enum sl_code code = world_write(&w, &d, world_workload(&w, "a"));
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
    assert_int_equal(world_answer(&w, &d, code), SL_THEN_SHOW);
    struct sl_json *staged = sl_json_clone(world_workload(&w, "a"));
    sl_json_set_text(sl_json_get(staged, "metadata"), "resourceVersion", "1000000");
    uint64_t before = workloads_read();
    sl_engine_show(w.engine, staged, w.now_ms);
    assert_int_equal(workloads_read(), before);
    sl_engine_show(w.engine, world_workload(&w, "a"), w.now_ms);
    assert_int_equal(workloads_read(), before + 1);
    sl_json_free(staged);
}

static void test_reread_answer_with_nothing_missed_asks_for_nothing(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    struct sl_decision d = next_decision();
    (void)world_answer(&w, &d, world_write(&w, &d, world_workload(&w, "a")));
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(w.writes, 1);
}

/* A reservation of the last leader, on its way when that one ended, appears: it is counted. */
static void test_reread_reservation_of_another_instance_is_taken_over(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    struct sl_json *admission = sl_json_clone(sl_json_get(world_workload(&w, "a"), "status"));
    world_add_workload(&w, "b", "lq", 1, "1");
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "b"), "QuotaReserved"));
    struct sl_json *late = sl_json_clone(world_workload(&w, "b"));
    sl_json_set(late, "status", admission);
    (void)world_put(&w, SL_KIND_WORKLOAD, late, NULL);
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 2);
    world_add_workload(&w, "c", "lq", 1, "1");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "c"), "QuotaReserved"));
    world_delete(&w, SL_KIND_WORKLOAD, "team", "b");
    world_settle(&w);
    world_expect(&w, "c", "Admitted", "True", "Admitted");
}

static void expect_usage(const char *total)
{
    struct sl_json *status = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq");
    assert_string_equal(sl_json_path_text(status, "flavorsUsage.0.resources.0.total", ""), total);
    sl_json_free(status);
}

static void reserve_by_others(const char *assignment)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "{\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\","
                   "\"reason\":\"QuotaReserved\",\"message\":\"\","
                   "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}],\"admission\":{"
                   "\"clusterQueue\":\"cq\",\"podSetAssignments\":[{\"name\":\"main\"%s}]}}}",
                   assignment);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", text);
}

/* It appears while the daemon was about to write that the workload waits: that must not erase it. */
static void test_reread_reservation_of_another_instance_is_not_written_over(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "nowhere", 1, "1");
    struct sl_decision d = next_decision();
    assert_int_equal(d.kind, SL_DECIDE_PENDING);
    reserve_by_others(
        ",\"count\":1,\"flavors\":{\"cpu\":\"spot\"},\"resourceUsage\":{\"cpu\":\"1\"}");
    enum sl_code code = world_write(&w, &d, world_workload(&w, "a"));
    assert_int_equal(world_answer(&w, &d, code), SL_THEN_SHOW);
    (void)world_observe(&w, SL_KIND_WORKLOAD, world_workload(&w, "a"), &(struct sl_error){0});
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_non_null(sl_json_path(world_workload(&w, "a"), "status.admission"));
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
}

/* What a pod set has no quota of is not in the object at all: to add it would be to own a part of the admission. */
static void test_reread_admission_that_was_taken_over_is_not_added_to(void **state)
{
    (void)state;
    static const char path[] = "status.admission.podSetAssignments.0";
    add_basics("");
    world_add_workload(&w, "a", "nowhere", 1, "1");
    world_settle(&w);
    reserve_by_others(",\"count\":1");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(sl_json_len(sl_json_path(world_workload(&w, "a"), path)), 2);
}

/* Nobody may change an admission: a write that says how many pods it is for would be refused for ever. */
static void test_reread_admission_without_counts_is_for_all_pods_and_stays_so(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "nowhere", 3, "1");
    world_settle(&w);
    reserve_by_others(",\"flavors\":{\"cpu\":\"spot\"},\"resourceUsage\":{\"cpu\":\"3\"}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    const struct sl_json *assignment =
        sl_json_path(world_workload(&w, "a"), "status.admission.podSetAssignments.0");
    assert_false(sl_json_has(assignment, "count"));
    /* and what ends of it is given back, which is counted by pods */
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"status\":{\"reclaimablePods\":[{\"name\":\"main\",\"count\":2}]}}");
    world_settle(&w);
    expect_usage("1");
}

/* Others may name flavors and leave out how much is used of them: it counts as much as the pods ask for. */
static void test_reread_admission_without_usage_counts_what_the_pods_ask_for(void **state)
{
    (void)state;
    static const char path[] = "status.admission.podSetAssignments.0";
    add_basics("");
    world_add_workload(&w, "a", "nowhere", 3, "1");
    world_settle(&w);
    reserve_by_others(",\"flavors\":{\"cpu\":\"spot\"}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_false(sl_json_has(sl_json_path(world_workload(&w, "a"), path), "resourceUsage"));
    expect_usage("3");
}

/* A flavor of a resource that no pod asks for uses nothing of it. */
static void test_reread_admission_without_usage_of_what_nobody_asks_for(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "nowhere", 3, "1");
    world_settle(&w);
    reserve_by_others(",\"flavors\":{\"memory\":\"spot\"}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    expect_usage("0");
}

/* Whoever has reserved its quota has not come to say, or does not know, which checks its queue asks for: they are asked
 * all the same. */
static void test_reread_reservation_by_others_waits_for_the_checks_of_its_queue(void **state)
{
    (void)state;
    world_add_check(&w, "budget");
    add_basics(",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"prov\"},{\"name\":"
               "\"budget\"}]}");
    world_add_workload(&w, "a", "lq", 1, "2"); /* more than there is */
    struct sl_decision d = next_decision();
    assert_int_equal(d.kind, SL_DECIDE_PENDING);
    reserve_by_others(
        ",\"count\":1,\"flavors\":{\"cpu\":\"spot\"},\"resourceUsage\":{\"cpu\":\"1\"}");
    enum sl_code code = world_write(&w, &d, world_workload(&w, "a"));
    (void)world_answer(&w, &d, code);
    (void)world_observe(&w, SL_KIND_WORKLOAD, world_workload(&w, "a"), &(struct sl_error){0});
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
    assert_false(sl_condition_true(world_workload(&w, "a"), "Admitted"));
    const struct sl_json *checks = sl_json_path(world_workload(&w, "a"), "status.admissionChecks");
    assert_int_equal(sl_json_len(checks), 2);
}

/* What was reset is not written yet, and the object still says Retry: the next try must not wait for that one. */
static void test_reread_retry_that_is_being_reset_is_not_read_again(void **state)
{
    (void)state;
    add_basics(BEHIND_CHECK);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    report_check("Retry");
    struct sl_decision d = next_decision();
    while (d.kind != SL_DECIDE_EVICT) {
        (void)world_answer(&w, &d, SL_CODE_OK);
        d = next_decision();
    }
    /* It is decided again first. */
    assert_int_equal(world_answer(&w, &d, SL_CODE_TIMEOUT), SL_THEN_NOTHING);
    (void)world_observe(&w, SL_KIND_WORKLOAD, world_workload(&w, "a"), &(struct sl_error){0});
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
    assert_string_equal(
        sl_json_path_text(world_workload(&w, "a"), "status.admissionChecks.0.state", ""),
        "Pending");
}

/* Somebody else had deactivated it when the decision came to be written; that write was staged only, and was lost: the
 * object is told again as it is. */
static void test_reread_deactivation_that_was_lost_is_decided_again(void **state)
{
    (void)state;
    add_basics(BEHIND_CHECK);
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    report_check("Rejected");
    struct sl_decision d = next_decision();
    assert_int_equal(d.kind, SL_DECIDE_DEACTIVATE);
    (void)world_answer(&w, &d, SL_CODE_OK);
    world_settle(&w);
    assert_true(sl_json_path_bool(world_workload(&w, "a"), "spec.active", true));
    (void)world_observe(&w, SL_KIND_WORKLOAD, world_workload(&w, "a"), &(struct sl_error){0});
    world_settle(&w);
    assert_false(sl_json_path_bool(world_workload(&w, "a"), "spec.active", true));
    world_expect(&w, "a", "Evicted", "True", "DeactivatedDueToAdmissionCheck");
}

/* --- what is asked for between a decision and its write --------------------------------------- */

static void carry_out_after(const char *spec)
{
    struct sl_decision d = next_decision();
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", spec);
    (void)world_answer(&w, &d, world_write(&w, &d, world_workload(&w, "a")));
    assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
    world_settle(&w);
    (void)world_observe(&w, SL_KIND_WORKLOAD, world_workload(&w, "a"), &(struct sl_error){0});
    world_settle(&w);
}

/* Or it would hold the quota of a queue that it is not in. */
static void test_reread_queue_changed_before_the_reservation_is_written(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    carry_out_after("{\"spec\":{\"queueName\":\"missing\"}}");
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
}

/* Or it would run without end. */
static void test_reread_limit_changed_before_the_admission_is_written(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    carry_out_after("{\"spec\":{\"maximumExecutionTimeSeconds\":60}}");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_pass(&w, 60000);
    assert_false(sl_json_path_bool(world_workload(&w, "a"), "spec.active", true));
}

/* Its pods may run: what was to be added could not be written, and the reservation is as old as before. */
static void test_reread_checks_that_cannot_be_added_take_no_reservation_back(void **state)
{
    (void)state;
    add_basics("");
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":"
                      "\"prov\"}]}}}");
    w.fail_next = SL_CODE_CONFLICT;
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
    world_pass(&w, 2000);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(
        sl_json_path_text(world_workload(&w, "a"), "status.admissionChecks.0.name", ""), "prov");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reread_own_write_is_not_read, setup,
                                        teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_version_after_ones_own_is_read, setup,
                                        teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_own_write_upon_what_was_not_read_is_read, setup,
                                        teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_answer_in_ones_own_version_is_read, setup,
                                        teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_write_in_doubt_has_no_echo, setup,
                                        teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_eviction_is_read, setup, teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_write_that_is_found_done_is_answered, setup,
                                        teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_check_reported_before_the_answer_still_admits,
                                        setup, teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_version_that_was_not_told_is_left_to_the_watch,
                                        setup, teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_answer_with_nothing_missed_asks_for_nothing,
                                        setup, teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_retry_that_is_being_reset_is_not_read_again,
                                        setup, teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_deactivation_that_was_lost_is_decided_again,
                                        setup, teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_reservation_of_another_instance_is_taken_over,
                                        setup, teardown_unchecked),
        cmocka_unit_test_setup_teardown(
            test_reread_reservation_of_another_instance_is_not_written_over, setup,
            teardown_unchecked),
        cmocka_unit_test_setup_teardown(
            test_reread_admission_without_counts_is_for_all_pods_and_stays_so, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reread_admission_that_was_taken_over_is_not_added_to,
                                        setup, teardown_unchecked),
        cmocka_unit_test_setup_teardown(
            test_reread_admission_without_usage_counts_what_the_pods_ask_for, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reread_admission_without_usage_of_what_nobody_asks_for,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_reread_reservation_by_others_waits_for_the_checks_of_its_queue, setup,
            teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_queue_changed_before_the_reservation_is_written,
                                        setup, teardown_unchecked),
        cmocka_unit_test_setup_teardown(test_reread_limit_changed_before_the_admission_is_written,
                                        setup, teardown_unchecked),
        cmocka_unit_test_setup_teardown(
            test_reread_checks_that_cannot_be_added_take_no_reservation_back, setup,
            teardown_unchecked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
