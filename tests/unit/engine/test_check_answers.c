/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Several admission checks of one workload that answer at once: which of them counts does not depend on their names,
 * and whatever an eviction ends is asked anew. world.h compares every object that is written with its record. */
#include "engine/conditions/mirror.h"
#include "scene.h"
#include "engine/decisions/decision_out.h"

static struct sl_engine_settings settings;

static int setup_check_answers(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    world_open_with(&w, NULL, &settings);
    return 0;
}

#define CHECKS                                                                                     \
    ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"a\"},{\"name\":\"b\"},"        \
    "{\"name\":\"c\"}]},\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}"

/* One workload of 4 cpu, whose checks a, b, c answer to these letters: Pending, Ready, reTry, reJected. */
static void begin(void)
{
    static const char *const names[] = {"a", "b", "c"};
    world_add_flavor(&w, "spot", "{}");
    for (int i = 0; i < 3; i++) {
        world_add_check(&w, names[i]);
    }
    world_add_cluster_queue(&w, "cq", "spot", "4", CHECKS);
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    world_add_workload(&w, "wl", "lq", 4, "1");
    world_settle(&w);
    world_expect(&w, "wl", "QuotaReserved", "True", "QuotaReserved");
}

static const char *state_of_letter(char letter)
{
    return letter == 'R'   ? "Ready"
           : letter == 'T' ? "Retry"
           : letter == 'J' ? "Rejected"
                           : "Pending";
}

/* One letter for each check; "says c" is the message of check c. */
static struct sl_json *answered(const char *letters)
{
    struct sl_json *o = sl_json_clone(world_workload(&w, "wl"));
    struct sl_json *list = sl_json_path(o, "status.admissionChecks");
    assert_int_equal(sl_json_len(list), 3);
    for (size_t i = 0; i < 3; i++) {
        struct sl_json *item = sl_json_at(list, i);
        char text[32];
        char time[32];
        const char *name = sl_json_path_text(item, "name", "");
        (void)snprintf(text, sizeof text, "says %s", name);
        sl_clock_format(w.now_ms, time);
        sl_json_set_text(item, "state", state_of_letter(letters[name[0] - 'a']));
        sl_json_set_text(item, "message", text);
        sl_json_set_text(item, "lastTransitionTime", time);
    }
    return o;
}

static void answer(const char *letters)
{
    (void)world_put(&w, SL_KIND_WORKLOAD, answered(letters), NULL);
    world_settle(&w);
}

static void expect_states(const char *letters)
{
    const struct sl_json *list = sl_json_path(world_workload(&w, "wl"), "status.admissionChecks");
    assert_int_equal(sl_json_len(list), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(sl_json_path_text(sl_json_at(list, i), "state", ""),
                            state_of_letter(letters[i]));
    }
}

static const char *why_evicted(void)
{
    return sl_json_path_text(sl_condition_find(world_workload(&w, "wl"), "Evicted"), "message", "");
}

/* --- one that asks to retry ------------------------------------------------------------------- */

static void test_answers_retry_resets_all_checks_whatever_their_names(void **state)
{
    static const char *const answers[] = {"TRR", "RTR", "RRT", "TRP", "PRT", "TPR"};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        if (i > 0) {
            world_close(&w);
            (void)setup(state);
        }
        begin();
        answer(answers[i]);
        world_expect(&w, "wl", "Evicted", "True", "AdmissionCheck");
        expect_states("PPP");
    }
}

static void test_answers_eviction_is_told_in_the_words_of_who_asked_for_it(void **state)
{
    (void)state;
    begin();
    answer("RTR");
    assert_string_equal(why_evicted(),
                        "Evicted due to AdmissionCheck in Retry state: \"b\" (says b)");
}

static void test_answers_all_who_ask_to_retry_are_named(void **state)
{
    (void)state;
    begin();
    answer("TRT");
    assert_string_equal(
        why_evicted(),
        "Evicted due to AdmissionChecks in Retry state: \"a\" (says a); \"c\" (says c)");
    expect_states("PPP");
    const struct sl_json *list = sl_json_path(world_workload(&w, "wl"), "status.admissionChecks");
    assert_int_equal(sl_json_path_int(sl_json_at(list, 0), "retryCount", 0), 1);
    assert_int_equal(sl_json_path_int(sl_json_at(list, 2), "retryCount", 0), 1);
}

/* As Kueue has it: no sooner than any of them wants. */
static void test_answers_longest_wait_counts(void **state)
{
    for (int longest = 0; longest < 2; longest++) {
        char due[32];
        if (longest > 0) {
            world_close(&w);
            (void)setup(state);
        }
        begin();
        struct sl_json *o = answered("TTP");
        struct sl_json *list = sl_json_path(o, "status.admissionChecks");
        sl_json_set_int(sl_json_at(list, 0), "requeueAfterSeconds", longest == 0 ? 600 : 60);
        sl_json_set_int(sl_json_at(list, 1), "requeueAfterSeconds", longest == 1 ? 600 : 60);
        (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
        world_settle(&w);
        sl_clock_format(w.now_ms + 600000, due);
        assert_string_equal(
            sl_json_path_text(world_workload(&w, "wl"), "status.requeueState.requeueAt", ""), due);
    }
}

/* While the workload waits it asks again and again: the latest time counts, as Kueue has it. */
static void ask_to_retry(int seconds)
{
    struct sl_json *o = answered("TPP");
    sl_json_set_int(sl_json_at(sl_json_path(o, "status.admissionChecks"), 0), "requeueAfterSeconds",
                    seconds);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
}

static void expect_requeue_at(int64_t at_ms)
{
    char due[32];
    sl_clock_format(at_ms, due);
    assert_string_equal(
        sl_json_path_text(world_workload(&w, "wl"), "status.requeueState.requeueAt", ""), due);
}

static void test_answers_repeated_retry_moves_the_time_forward(void **state)
{
    (void)state;
    begin();
    ask_to_retry(60);
    sl_engine_job_stopped(w.engine, world_workload(&w, "wl"), w.now_ms);
    world_settle(&w);
    ask_to_retry(300);
    expect_requeue_at(w.now_ms + 300000);
    ask_to_retry(600);
    expect_requeue_at(w.now_ms + 600000);
    ask_to_retry(30);
    expect_requeue_at(w.now_ms + 600000);
}

/* --- one that rejects ------------------------------------------------------------------------- */

#define DUE_TO "The workload is deactivated due to "

static void expect_deactivated(const char *why)
{
    assert_false(sl_json_path_bool(world_workload(&w, "wl"), "spec.active", true));
    world_expect(&w, "wl", "Evicted", "True", "DeactivatedDueToAdmissionCheck");
    assert_string_equal(why_evicted(), why);
    expect_states("PPP");
}

static void test_answers_rejection_goes_before_retry_whatever_their_names(void **state)
{
    static const struct {
        const char *letters;
        const char *why;
    } cases[] = {
        {"TJR", DUE_TO "AdmissionCheck in Rejected state: \"b\" (says b)"},
        {"JTR", DUE_TO "AdmissionCheck in Rejected state: \"a\" (says a)"},
        {"TRJ", DUE_TO "AdmissionCheck in Rejected state: \"c\" (says c)"},
        {"JTJ", DUE_TO "AdmissionChecks in Rejected state: \"a\" (says a); \"c\" (says c)"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (i > 0) {
            world_close(&w);
            (void)setup(state);
        }
        begin();
        answer(cases[i].letters);
        expect_deactivated(cases[i].why);
    }
}

/* The rejection is in the object and the deactivation is not yet: another check answers in between. */
static void test_answers_retry_after_a_rejection_evicts_for_the_rejection(void **state)
{
    (void)state;
    begin();
    w.fail_next = SL_CODE_CONFLICT;
    (void)world_put(&w, SL_KIND_WORKLOAD, answered("JPP"), NULL);
    world_settle(&w); /* the write of the target fails */
    (void)world_put(&w, SL_KIND_WORKLOAD, answered("JTP"), NULL);
    world_settle(&w);
    expect_deactivated(DUE_TO "AdmissionCheck in Rejected state: \"a\" (says a)");
}

/* --- other evictions -------------------------------------------------------------------------- */

static void admit(void)
{
    begin();
    answer("RRR");
    world_expect(&w, "wl", "Admitted", "True", "Admitted");
}

static void test_answers_preemption_resets_them(void **state)
{
    (void)state;
    admit();
    struct sl_json *o = world_new_workload("team", "high", "lq", 4, "1");
    sl_json_set_int(sl_json_get(o, "spec"), "priority", 10);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "wl", "Evicted", "True", "Preempted");
    expect_states("PPP");
}

static void test_answers_stopped_queue_resets_them(void **state)
{
    (void)state;
    admit();
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}");
    world_settle(&w);
    world_expect(&w, "wl", "Evicted", "True", "ClusterQueueStopped");
    expect_states("PPP");
}

/* Answers in the very version that deactivates it are of before. */
static void test_answers_deactivation_resets_them(void **state)
{
    (void)state;
    begin();
    struct sl_json *o = answered("RTJ");
    sl_json_set_bool(sl_json_get(o, "spec"), "active", false);
    sl_json_set_int(sl_json_get(o, "metadata"), "generation", sl_object_generation(o) + 1);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    assert_true(sl_condition_true(world_workload(&w, "wl"), "Evicted"));
    expect_states("PPP");
}

static void restart(void)
{
    static const enum sl_kind order[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_ADMISSION_CHECK,
                                         SL_KIND_CLUSTER_QUEUE, SL_KIND_LOCAL_QUEUE,
                                         SL_KIND_WORKLOAD};
    world_restart(&w, order, sizeof order / sizeof order[0]);
    world_settle(&w);
}

/* Changes the object behind the engine's back, as while it is away. */
static void change_unseen(struct sl_json *o)
{
    struct sl_json *live = world_workload(&w, "wl");
    struct sl_json *copy = sl_json_clone(sl_json_get(o, "status"));
    sl_json_set(live, "status", copy);
    copy = sl_json_clone(sl_json_get(o, "spec"));
    sl_json_set(live, "spec", copy);
    sl_json_free(o);
}

static void test_answers_deactivation_while_the_daemon_was_away_resets_them(void **state)
{
    (void)state;
    admit();
    struct sl_json *o = sl_json_clone(world_workload(&w, "wl"));
    sl_json_set_bool(sl_json_get(o, "spec"), "active", false);
    change_unseen(o);
    restart();
    world_expect(&w, "wl", "Evicted", "True", "Deactivated");
    expect_states("PPP");
}

static void test_answers_given_while_the_daemon_was_away_count_as_ever(void **state)
{
    static const char *const answers[] = {"TRR", "RRT", "TJR", "JTR"};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        if (i > 0) {
            world_close(&w);
            (void)setup(state);
        }
        begin();
        change_unseen(answered(answers[i]));
        restart();
        world_expect(&w, "wl", "Evicted", "True",
                     i < 2 ? "AdmissionCheck" : "DeactivatedDueToAdmissionCheck");
        expect_states("PPP");
    }
}

/* What a check says once the eviction is in the object is news, and stays. */
static void test_answers_after_the_eviction_are_kept(void **state)
{
    (void)state;
    begin();
    answer("TRR");
    answer("RPP");
    expect_states("RPP");
    sl_engine_job_stopped(w.engine, world_workload(&w, "wl"), w.now_ms);
    world_settle(&w);
    world_expect(&w, "wl", "QuotaReserved", "True", "QuotaReserved");
    expect_states("RPP");
}

/* --- which checks there are ------------------------------------------------------------------- */

static void ask_for(const char *checks)
{
    char patch[256];
    (void)snprintf(patch, sizeof patch,
                   "{\"spec\":{\"admissionChecksStrategy\":{\"admissionChecks\":[%s]}}}", checks);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", patch);
}

static void read_again(void)
{
    struct sl_error e = {0};
    (void)sl_engine_observe(w.engine, SL_KIND_WORKLOAD, world_workload(&w, "wl"), w.now_ms, &e);
    world_settle(&w);
}

static void offer(const char *cpu)
{
    char patch[256];
    (void)snprintf(
        patch, sizeof patch,
        "{\"spec\":{\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{"
        "\"name\":\"spot\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"%s\"}]}]}]}}",
        cpu);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", patch);
}

/* It waits, and its checks have been reset. */
static void wait_again(void)
{
    begin();
    answer("TPP");
    offer("1");
    sl_engine_job_stopped(w.engine, world_workload(&w, "wl"), w.now_ms);
    world_settle(&w);
    expect_states("PPP");
}

/* What it said before stands in the object, and it would not say it again: a restart would find it there. */
static void test_answers_of_a_check_that_is_asked_for_anew_are_read(void **state)
{
    (void)state;
    wait_again();
    answer("RPP");
    read_again();
    ask_for("{\"name\":\"b\"},{\"name\":\"c\"}");
    assert_false(sl_engine_wants_workloads(w.engine));
    ask_for("{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}");
    assert_true(sl_engine_wants_workloads(w.engine));
    read_again();
    assert_null(sl_mirror_settled(w.engine, world_workload(&w, "wl")));
    offer("4");
    world_settle(&w);
    world_expect(&w, "wl", "QuotaReserved", "True", "QuotaReserved");
    expect_states("RPP");
}

/* --- the oracle ------------------------------------------------------------------------------- */

/* That it was evicted because a check asked to retry, over the very version in which another had rejected. */
static void test_answers_forgotten_rejection_is_told_by_the_oracle(void **state)
{
    (void)state;
    begin();
    (void)world_put(&w, SL_KIND_WORKLOAD, answered("TPP"), NULL);
    struct sl_decision d;
    bool status = true;
    while (sl_engine_next_decision(w.engine, &d) && d.kind != SL_DECIDE_EVICT) {
    }
    struct sl_json *before =
        answered("TJP"); /* it had not been read so, and yet has this version */
    struct sl_json *after = sl_json_clone(before);
    struct sl_json *patch = sl_patch_from_decision(w.engine, &d, before, &status);
    struct sl_error e = {0};
    assert_int_equal(sl_patch_merge(&after, patch, &e), SL_CODE_OK);
    const char *broken = sl_mirror_written(w.engine, &d, before, after);
    assert_non_null(broken);
    assert_non_null(
        strstr(broken, "check b is Rejected, the record says nothing that deactivates it"));
    (void)world_answer(&w, &d, SL_CODE_CONFLICT);
    sl_json_free(patch);
    sl_json_free(before);
    sl_json_free(after);
    read_again();
    world_expect(&w, "wl", "Evicted", "True", "AdmissionCheck");
}

/* --- answers that come while something else is being written ---------------------------------- */

/* The queue asks for one check more, which is decided and taken, and not written yet. */
static struct sl_decision ask_for_another(void)
{
    struct sl_decision d;
    world_add_check(&w, "d");
    (void)world_patch(
        &w, SL_KIND_CLUSTER_QUEUE, "", "cq",
        "{\"spec\":{\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"a\"},"
        "{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"d\"}]}}}");
    (void)sl_engine_cycle(w.engine, w.now_ms);
    assert_true(sl_engine_next_decision(w.engine, &d));
    assert_int_equal(d.kind, SL_DECIDE_RESERVE);
    return d;
}

/* As the controllers do it: what was not read meanwhile is read after the answer. */
static void write_and_read(const struct sl_decision *d)
{
    enum sl_code code = world_write(&w, d, world_workload(&w, "wl"));
    if (world_answer(&w, d, code) == SL_THEN_SHOW) {
        sl_engine_show(w.engine, world_workload(&w, "wl"), w.now_ms);
    }
    world_settle(&w);
}

static const char *state_of(const char *check)
{
    const struct sl_json *list = sl_json_path(world_workload(&w, "wl"), "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(list, i), "name", ""), check) == 0) {
            return sl_json_path_text(sl_json_at(list, i), "state", "");
        }
    }
    return "none";
}

static void test_answers_that_are_unread_outlive_a_write_that_evicts_nobody(void **state)
{
    (void)state;
    begin();
    struct sl_decision d = ask_for_another();
    (void)world_put(&w, SL_KIND_WORKLOAD, answered("RPP"), NULL);
    write_and_read(&d);
    assert_string_equal(state_of("a"), "Ready");
    assert_string_equal(state_of("b"), "Pending");
    assert_string_equal(state_of("d"), "Pending");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "wl",
                      "{\"status\":{\"admissionChecks\":[{\"name\":\"a\",\"state\":\"Ready\"},"
                      "{\"name\":\"b\",\"state\":\"Ready\"},{\"name\":\"c\",\"state\":\"Ready\"},"
                      "{\"name\":\"d\",\"state\":\"Ready\"}]}}");
    world_settle(&w);
    world_expect(&w, "wl", "Admitted", "True", "Admitted"); /* it was read */
}

/* Twice in a row: what was kept by the first write is still unread at the second. */
static void test_answers_that_are_unread_outlive_two_writes(void **state)
{
    (void)state;
    begin();
    struct sl_decision first = ask_for_another();
    struct sl_decision second;
    world_add_check(&w, "e");
    (void)world_patch(
        &w, SL_KIND_CLUSTER_QUEUE, "", "cq",
        "{\"spec\":{\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"a\"},"
        "{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"d\"},{\"name\":\"e\"}]}}}");
    (void)sl_engine_cycle(w.engine, w.now_ms);
    assert_true(sl_engine_next_decision(w.engine, &second));
    (void)world_put(&w, SL_KIND_WORKLOAD, answered("RPP"), NULL);
    (void)world_write(&w, &first, world_workload(&w, "wl"));
    (void)world_answer(&w, &first, SL_CODE_OK);
    assert_string_equal(state_of("a"), "Ready");
    write_and_read(&second);
    assert_string_equal(state_of("a"), "Ready");
    assert_string_equal(state_of("e"), "Pending");
}

/* It waits again, a check answers, and the reservation is written over that: it ends the eviction. */
static void test_answers_that_are_unread_outlive_a_reservation(void **state)
{
    (void)state;
    struct sl_decision d;
    wait_again();
    offer("4");
    (void)sl_engine_cycle(w.engine, w.now_ms);
    while (sl_engine_next_decision(w.engine, &d) && d.kind != SL_DECIDE_RESERVE) {
        (void)world_answer(&w, &d, SL_CODE_OK);
    }
    assert_int_equal(d.kind, SL_DECIDE_RESERVE);
    (void)world_put(&w, SL_KIND_WORKLOAD, answered("RPP"), NULL);
    write_and_read(&d);
    world_expect(&w, "wl", "QuotaReserved", "True", "QuotaReserved");
    assert_string_equal(state_of("a"), "Ready");
}

/* A better one takes its quota at that moment: what it was answered before is asked anew. */
static void test_answers_that_are_unread_do_not_outlive_an_eviction(void **state)
{
    (void)state;
    struct sl_decision d;
    begin();
    struct sl_json *high = world_new_workload("team", "high", "lq", 4, "1");
    sl_json_set_int(sl_json_get(high, "spec"), "priority", 5);
    (void)world_put(&w, SL_KIND_WORKLOAD, high, NULL);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    while (sl_engine_next_decision(w.engine, &d) && d.kind != SL_DECIDE_EVICT) {
        (void)world_answer(&w, &d, SL_CODE_OK);
    }
    assert_int_equal(d.kind, SL_DECIDE_EVICT);
    (void)world_put(&w, SL_KIND_WORKLOAD, answered("RPP"), NULL);
    write_and_read(&d);
    expect_states("PPP");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_check_answers, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_answers_retry_resets_all_checks_whatever_their_names),
        TEST(test_answers_eviction_is_told_in_the_words_of_who_asked_for_it),
        TEST(test_answers_all_who_ask_to_retry_are_named),
        TEST(test_answers_longest_wait_counts),
        TEST(test_answers_repeated_retry_moves_the_time_forward),
        TEST(test_answers_rejection_goes_before_retry_whatever_their_names),
        TEST(test_answers_retry_after_a_rejection_evicts_for_the_rejection),
        TEST(test_answers_preemption_resets_them),
        TEST(test_answers_stopped_queue_resets_them),
        TEST(test_answers_deactivation_resets_them),
        TEST(test_answers_deactivation_while_the_daemon_was_away_resets_them),
        TEST(test_answers_given_while_the_daemon_was_away_count_as_ever),
        TEST(test_answers_after_the_eviction_are_kept),
        TEST(test_answers_that_are_unread_outlive_a_write_that_evicts_nobody),
        TEST(test_answers_that_are_unread_outlive_two_writes),
        TEST(test_answers_that_are_unread_do_not_outlive_an_eviction),
        TEST(test_answers_that_are_unread_outlive_a_reservation),
        TEST(test_answers_of_a_check_that_is_asked_for_anew_are_read),
        TEST(test_answers_forgotten_rejection_is_told_by_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
