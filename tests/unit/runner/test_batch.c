/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Jobs whose pods are run here, from their start to what is left of them. No pod is run: the test says what becomes of it. */
#include "t.h"
#include "../controllers/fake_client.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "runner/batch.h"
#include "runner/runtime.h"

#define T0 1700000000000
#define NODE "here"
#define ONE "\"containers\":[{\"name\":\"c\",\"image\":\"i:1\",\"command\":[\"true\"]}]"

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_podbook *book;
    struct sl_batch batch;
    struct sl_map *known; /* pods that the book has */
    int64_t now_ms;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    sl_log_setup(SL_LOG_ERROR, false);
    fake_init(&f->fake);
    f->now_ms = T0;
    f->recorder = sl_recorder_new(&f->fake.client);
    f->book = sl_podbook_new();
    f->known = sl_map_new();
    f->batch = (struct sl_batch){.book = f->book, .node = NODE};
    sl_batch_init(&f->batch, &f->fake.client, f->recorder);
    *state = f;
    return 0;
}

static void free_pod(void *pod)
{
    sl_json_free(pod);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_batch_fini(&f->batch);
    sl_podbook_free(f->book);
    sl_map_free_with(f->known, free_pod);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

/* --- what a test says ----------------------------------------------------------------------------------- */

static void put_job(struct fixture *f, const char *spec, const char *pod)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"j\",\"namespace\":\"default\",\"uid\":\"u\"},\"spec\":{%s"
             "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",%s}}}}",
             spec, pod);
    struct sl_json *job = json_of(text);
    fake_put(&f->fake, SL_KIND_JOB, job);
    sl_batch_observe_job(&f->batch, job);
}

static struct sl_json *job_of(struct fixture *f)
{
    return fake_find(&f->fake, SL_KIND_JOB, "default", "j");
}

static bool is_pod(const char *key)
{
    return strtol(key, NULL, 10) == SL_KIND_POD && strchr(key, '/') != NULL;
}

static size_t count_pods(const struct fixture *f)
{
    size_t n = 0;
    for (struct sl_map_item i = {0}; sl_map_each(f->fake.objects, &i);) {
        n += is_pod(i.key);
    }
    return n;
}

static struct sl_json *any_pod(const struct fixture *f)
{
    for (struct sl_map_item i = {0}; sl_map_each(f->fake.objects, &i);) {
        if (is_pod(i.key)) {
            return i.value.pointer;
        }
    }
    fail_msg("there is no pod");
    return NULL;
}

/* As a watch would: what was written or removed. */
static void tell(struct fixture *f)
{
    char uid[16];
    for (struct sl_map_item i = {0}; sl_map_each(f->known, &i);) {
        struct sl_json *had = i.value.pointer;
        if (fake_find(&f->fake, SL_KIND_POD, "default", sl_object_name(had)) == NULL) {
            sl_batch_observe_pod(&f->batch, had);
            sl_podbook_forget(f->book, had);
            sl_map_remove(f->known, i.key, NULL);
            sl_json_free(had);
        }
    }
    for (struct sl_map_item i = {0}; sl_map_each(f->fake.objects, &i);) {
        if (!is_pod(i.key)) {
            continue;
        }
        struct sl_json *pod = i.value.pointer;
        union sl_map_value old;
        if (sl_object_uid(pod)[0] == '\0') {
            static unsigned serial;
            snprintf(uid, sizeof uid, "p%u", serial++);
            sl_json_set_text(sl_json_path_make(pod, "metadata"), "uid", uid);
        }
        if (sl_map_get(f->known, sl_object_name(pod), &old)) {
            sl_json_free(old.pointer);
        }
        sl_map_put(f->known, sl_object_name(pod),
                   (union sl_map_value){.pointer = sl_json_clone(pod)});
        (void)sl_podbook_observe(f->book, pod);
        sl_batch_observe_pod(&f->batch, pod);
    }
    sl_batch_observe_job(&f->batch, job_of(f));
}

/* Until nothing is written any more. */
static void settle(struct fixture *f, int64_t later_ms)
{
    f->now_ms += later_ms;
    sl_clock_set_virtual(f->now_ms);
    for (int i = 0; i < 20; i++) {
        unsigned before = f->fake.change_count;
        (void)sl_reconciler_step(&f->batch.jobs, f->now_ms, 8);
        fake_flush(&f->fake);
        if (i > 0 && f->fake.change_count == before) {
            return;
        }
        if (job_of(f) == NULL) {
            return;
        }
        tell(f);
    }
    fail_msg("it does not come to rest");
}

static void pod_ends(struct fixture *f, const char *phase)
{
    struct sl_json *pod = any_pod(f);
    char now[32], text[256];
    sl_clock_format(f->now_ms, now);
    snprintf(text, sizeof text,
             "{\"phase\":\"%s\",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{"
             "\"exitCode\":1,\"finishedAt\":\"%s\"}}}]}",
             phase, now);
    sl_json_set(pod, "status", json_of(text));
    tell(f);
}

static void assert_failed(struct fixture *f, const char *reason, const char *message)
{
    const struct sl_json *failed = sl_condition_find(job_of(f), "Failed");
    assert_non_null(failed);
    assert_string_equal(sl_json_path_text(failed, "reason", ""), reason);
    if (strstr(sl_json_path_text(failed, "message", ""), message) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", message, sl_json_path_text(failed, "message", ""));
    }
}

/* --- tests ---------------------------------------------------------------------------------------------- */

static void test_batch_job_runs_to_its_end(void **state)
{
    struct fixture *f = *state;
    put_job(f, "", ONE);
    settle(f, 0);
    assert_int_equal(count_pods(f), 1);
    assert_int_equal(sl_json_path_int(job_of(f), "status.active", 0), 1);
    assert_non_null(sl_json_path(job_of(f), "status.startTime"));
    const struct sl_json *pod = any_pod(f);
    assert_string_equal(sl_json_path_text(pod, "spec.nodeName", ""), NODE);
    assert_true(sl_object_has_finalizer(pod, SL_FINALIZER_JOB_TRACKING));
    pod_ends(f, "Succeeded");
    settle(f, 10);
    assert_true(sl_condition_true(job_of(f), "Complete"));
    assert_int_equal(sl_json_path_int(job_of(f), "status.succeeded", 0), 1);
    assert_false(sl_object_has_finalizer(any_pod(f), SL_FINALIZER_JOB_TRACKING));
}

static void test_batch_pod_that_failed_is_replaced_after_a_pause(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"backoffLimit\":1,", ONE);
    settle(f, 0);
    pod_ends(f, "Failed");
    settle(f, 10);
    assert_int_equal(count_pods(f), 1);
    settle(f, 1500);
    assert_int_equal(count_pods(f), 2);
    for (struct sl_map_item i = {0}; sl_map_each(f->fake.objects, &i);) {
        if (is_pod(i.key)) {
            sl_json_set_text(sl_json_path_make(i.value.pointer, "status"), "phase", "Failed");
        }
    }
    tell(f);
    settle(f, 10);
    assert_failed(f, "BackoffLimitExceeded", "backoff limit");
    settle(f, 5000);
    assert_int_equal(count_pods(f), 2);
}

static void test_batch_job_that_ran_too_long_fails_when_its_pods_have_ended(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"activeDeadlineSeconds\":5,", ONE);
    settle(f, 0);
    assert_int_equal(count_pods(f), 1);
    settle(f, 6000);
    assert_int_equal(count_pods(f), 0);
    assert_failed(f, "DeadlineExceeded", "longer than specified deadline");
}

static void test_batch_suspended_job_has_no_pods_and_goes_on(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"parallelism\":2,\"completions\":4,", ONE);
    settle(f, 0);
    assert_int_equal(count_pods(f), 2);
    sl_json_set_bool(sl_json_path_make(job_of(f), "spec"), "suspend", true);
    settle(f, 10);
    assert_int_equal(count_pods(f), 0);
    assert_true(sl_condition_true(job_of(f), "Suspended"));
    assert_int_equal(sl_json_path_int(job_of(f), "status.active", 0), 0);
    sl_json_set_bool(sl_json_path_make(job_of(f), "spec"), "suspend", false);
    tell(f);
    settle(f, 10);
    assert_int_equal(count_pods(f), 2);
    assert_false(sl_condition_true(job_of(f), "Suspended"));
    sl_json_set_int(sl_json_path_make(job_of(f), "spec"), "parallelism", 1);
    tell(f);
    settle(f, 10);
    assert_int_equal(count_pods(f), 1);
}

static void test_batch_finished_job_goes_when_its_time_is_over(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"ttlSecondsAfterFinished\":3,", ONE);
    settle(f, 0);
    pod_ends(f, "Succeeded");
    settle(f, 10);
    assert_non_null(job_of(f));
    settle(f, 4000);
    assert_null(job_of(f));
}

static void test_batch_refuses_what_would_be_run_otherwise(void **state)
{
    static const char *const all[][3] = {
        {"\"podFailurePolicy\":{},", ONE, "spec.podFailurePolicy: is not known here"},
        {"\"successPolicy\":{},", ONE, "spec.successPolicy: is not known here"},
        {"", "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]",
         "spec.template.spec.containers[0].command: is needed"}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        put_job(f, all[i][0], all[i][1]);
        settle(f, 10);
        assert_failed(f, "UnsupportedSpec", all[i][2]);
        assert_int_equal(count_pods(f), 0);
    }
}

static void test_batch_of_containers_needs_an_image(void **state)
{
    struct fixture *f = *state;
    char path[] = "/usr/bin/podman";
    const struct sl_runtime runtime = {.path = path, .podman = true};
    f->batch.runtime = &runtime;
    put_job(f, "", "\"containers\":[{\"name\":\"c\",\"image\":\"--privileged\"}]");
    settle(f, 0);
    assert_failed(f, "UnsupportedSpec", "spec.template.spec.containers[0].image: is not the name");
    put_job(f, "", "\"containers\":[{\"name\":\"c\",\"image\":\"i:1\"}]");
    settle(f, 10);
    assert_int_equal(count_pods(f), 1);
}

static void test_batch_pod_is_whose_the_job_is(void **state)
{
    struct fixture *f = *state;
    put_job(f, "", ONE);
    sl_json_set_text(sl_json_path_make(job_of(f), "metadata.annotations"), SL_ANNOTATION_SUBMITTER,
                     "ann");
    struct sl_json *claims = sl_json_path_make(job_of(f), "spec.template.metadata.annotations");
    sl_json_set_text(claims, SL_ANNOTATION_SUBMITTER, "ben");
    sl_json_set_text(claims, SL_ANNOTATION_RUN_AS, "root");
    settle(f, 0);
    assert_string_equal(sl_object_annotation(any_pod(f), SL_ANNOTATION_SUBMITTER), "ann");
    assert_null(sl_object_annotation(any_pod(f), SL_ANNOTATION_RUN_AS));
}

static void test_batch_leaves_jobs_of_others_alone(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"managedBy\":\"example.com/other\",", ONE);
    settle(f, 0);
    assert_int_equal(count_pods(f), 0);
    assert_null(sl_json_path(job_of(f), "status"));
}

static void test_batch_deleted_job_lets_its_pods_go(void **state)
{
    struct fixture *f = *state;
    put_job(f, "", ONE);
    settle(f, 0);
    pod_ends(f, "Succeeded");
    sl_json_set_text(sl_json_path_make(job_of(f), "metadata"), "deletionTimestamp",
                     "2023-11-14T22:13:20Z");
    settle(f, 10);
    assert_false(sl_object_has_finalizer(any_pod(f), SL_FINALIZER_JOB_TRACKING));
    assert_false(sl_condition_true(job_of(f), "Complete"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_batch_job_runs_to_its_end),
        CASE(test_batch_pod_that_failed_is_replaced_after_a_pause),
        CASE(test_batch_job_that_ran_too_long_fails_when_its_pods_have_ended),
        CASE(test_batch_suspended_job_has_no_pods_and_goes_on),
        CASE(test_batch_finished_job_goes_when_its_time_is_over),
        CASE(test_batch_refuses_what_would_be_run_otherwise),
        CASE(test_batch_of_containers_needs_an_image),
        CASE(test_batch_pod_is_whose_the_job_is),
        CASE(test_batch_leaves_jobs_of_others_alone),
        CASE(test_batch_deleted_job_lets_its_pods_go),
    };
    return RUN(tests);
}
