/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Workload that a job would have, and how long it says that it runs. */
#include "t.h"
#include "base/clock.h"
#include "controllers/control/run_times.h"
#include "controllers/jobs/job_wish.h"
#include "controllers/work/job_children.h"
#include "fake_client.h"

#define T0 1700000000000

static struct fake fake;
static struct sl_recorder *recorder;
static struct sl_jobs jobs;
static struct sl_error e;

static int setup(void **state)
{
    (void)state;
    sl_clock_set_virtual(T0);
    sl_error_clear(&e);
    fake_init(&fake);
    recorder = sl_recorder_new(&fake.client);
    sl_jobs_init(&jobs, &fake.client, recorder, NULL, &(struct sl_job_rules){0});
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(fake.write_count, 0); /* asking writes nothing */
    fake_flush(&fake);
    sl_jobs_fini(&jobs);
    fake_fini(&fake);
    sl_recorder_free(recorder);
    return 0;
}

static struct sl_json *yaml(const char *text)
{
    struct sl_json *documents = sl_json_parse_yaml(text, strlen(text), &e);
    if (documents == NULL) {
        fail_msg("%s", e.text);
    }
    struct sl_json *o = sl_json_ref(sl_json_at(documents, 0));
    sl_json_free(documents);
    return o;
}

#define JOB(labels, more)                                                                          \
    "{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: ns, labels: {" labels        \
    "}}, spec: {parallelism: 2" more ", template: {spec: {containers: [{name: c, resources: "      \
    "{requests: {cpu: 1}}}]}}}}"

static enum sl_code wish(const char *text, enum sl_kind kind, struct sl_json **out)
{
    struct sl_json *job = yaml(text);
    *out = NULL;
    enum sl_code code = sl_job_wish_new(&jobs, kind, job, T0, out, &e);
    sl_json_free(job);
    return code;
}

static void test_wish_has_what_an_api_server_adds(void **state)
{
    (void)state;
    struct sl_json *wl;
    fake_put(&fake, SL_KIND_WORKLOAD_PRIORITY_CLASS, yaml("{metadata: {name: high}, value: 7}"));
    assert_int_equal(wish(JOB("kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: high, "
                              "kueue.x-k8s.io/max-exec-time-seconds: '60'",
                              ""),
                          SL_KIND_JOB, &wl),
                     SL_CODE_OK);
    assert_string_equal(sl_json_path_text(wl, "spec.queueName", ""), "q");
    assert_int_equal(sl_json_path_int(wl, "spec.priority", 0), 7);
    assert_int_equal(sl_json_path_int(wl, "spec.maximumExecutionTimeSeconds", 0), 60);
    assert_int_equal(sl_json_path_int(wl, "spec.podSets.0.count", 0), 2);
    assert_int_equal(sl_object_created_ms(wl), T0);
    assert_string_equal(sl_object_resource_version(wl), "1");
    assert_int_equal(strlen(sl_object_uid(wl)), 36);
    assert_non_null(sl_object_label(wl, SL_LABEL_JOB_UID));
    sl_json_free(wl);
}

static void test_wish_without_a_queue_goes_to_the_default_one(void **state)
{
    (void)state;
    struct sl_json *wl;
    assert_int_equal(wish(JOB("", ""), SL_KIND_JOB, &wl), SL_CODE_INVALID);
    assert_non_null(strstr(e.text, "it names no queue"));
    sl_error_clear(&e);
    fake_put(&fake, SL_KIND_LOCAL_QUEUE, yaml("{metadata: {name: default, namespace: ns}}"));
    assert_int_equal(wish(JOB("", ""), SL_KIND_JOB, &wl), SL_CODE_OK);
    assert_string_equal(sl_json_path_text(wl, "spec.queueName", ""), "default");
    sl_json_free(wl);
}

static void test_wish_refuses_what_a_submission_would_wait_for(void **state)
{
    (void)state;
    struct sl_json *wl;
    assert_int_equal(
        wish(JOB("kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: none", ""),
             SL_KIND_JOB, &wl),
        SL_CODE_INVALID);
    assert_string_equal(e.text, "WorkloadPriorityClass \"none\" not found");
    sl_error_clear(&e);
    assert_int_equal(wish("{kind: Pod, metadata: {name: a, namespace: ns, labels: "
                          "{kueue.x-k8s.io/pod-group-name: g}}}",
                          SL_KIND_POD, &wl),
                     SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "a Pod is no job of a kind that is managed"));
}

/* --- of an elastic job that runs -------------------------------------------------------------------- */

#define ELASTIC(count)                                                                             \
    "{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: ns, uid: u-a, generation: "  \
    "3, annotations: {kueue.x-k8s.io/elastic-job: 'true'}, labels: {kueue.x-k8s.io/queue-name: "   \
    "q}}, spec: {parallelism: " count                                                              \
    ", template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}}"
#define SLICE(name, count, more, conditions)                                                       \
    "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: " name                  \
    ", namespace: ns, uid: u-" name ", generation: 1, annotations: {kueue.x-k8s.io/elastic-job: "  \
    "'true', kueue.x-k8s.io/workload-slice-name: one" more                                         \
    "}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: a, uid: u-a, controller: true}]" \
    "}, spec: {queueName: q, podSets: [{name: main, count: " count                                 \
    ", template: {metadata: {labels: {of: " name                                                   \
    "}}, spec: {}}}]}, status: {conditions: [" conditions "]}}"
#define RESERVED "{type: QuotaReserved, status: 'True'}"

static void put_slice(const char *text)
{
    struct sl_json *wl = yaml(text);
    struct sl_job_children *slices = jobs.slices;
    char key[SL_KEY_SIZE];
    sl_key_print("ns", sl_object_name(wl), key);
    sl_job_children_put(slices, "u-a", sl_object_uid(wl), key, true);
    fake_put(&fake, SL_KIND_WORKLOAD, wl);
}

static struct sl_json *wished_new(const char *job)
{
    struct sl_json *wl;
    assert_int_equal(wish(job, SL_KIND_JOB, &wl), SL_CODE_OK);
    return wl;
}

static void test_wish_of_more_pods_is_a_slice(void **state)
{
    (void)state;
    put_slice(SLICE("one", "2", "", RESERVED));
    struct sl_json *wl = wished_new(ELASTIC("5"));
    assert_int_equal(sl_json_path_int(wl, "spec.podSets.0.count", 0), 5);
    assert_string_equal(sl_object_annotation(wl, "kueue.x-k8s.io/workload-slice-name"), "one");
    assert_string_equal(sl_object_annotation(wl, "kueue.x-k8s.io/workload-slice-replacement-for"),
                        "ns/one");
    assert_string_not_equal(sl_object_name(wl), "one");
    assert_string_not_equal(sl_object_uid(wl), "u-one");
    assert_string_equal(sl_json_path_text(wl, "spec.podSets.0.template.metadata.labels.of", ""),
                        "one");
    sl_json_free(wl);
    put_slice(SLICE("two", "4", ", kueue.x-k8s.io/workload-slice-replacement-for: ns/one", ""));
    wl = wished_new(ELASTIC("5")); /* the one that waits already */
    assert_string_equal(sl_object_uid(wl), "u-two");
    assert_int_equal(sl_json_path_int(wl, "spec.podSets.0.count", 0), 5);
    assert_int_equal(sl_object_generation(wl), 2);
    sl_json_free(wl);
}

static void test_wish_of_fewer_pods_is_its_workload(void **state)
{
    (void)state;
    put_slice(SLICE("one", "4", "", RESERVED));
    struct sl_json *wl = wished_new(ELASTIC("3"));
    assert_string_equal(sl_object_uid(wl), "u-one");
    assert_int_equal(sl_json_path_int(wl, "spec.podSets.0.count", 0), 3);
    assert_int_equal(sl_object_generation(wl), 2);
    assert_true(sl_condition_true(wl, "QuotaReserved"));
    sl_json_free(wl);
}

/* One that waits as a whole is asked about with what it would need. */
static void test_wish_of_an_elastic_job_that_waits(void **state)
{
    (void)state;
    put_slice(SLICE("one", "4", "", ""));
    struct sl_json *wl = wished_new(ELASTIC("6"));
    assert_string_equal(sl_object_uid(wl), "u-one");
    assert_int_equal(sl_json_path_int(wl, "spec.podSets.0.count", 0), 6);
    sl_json_free(wl);
}

static enum sl_run_basis said(enum sl_kind kind, const char *text, bool simulated, int64_t *ms)
{
    struct sl_json *job = yaml(text);
    enum sl_run_basis basis = sl_run_time_said(kind, job, simulated, ms);
    sl_json_free(job);
    return basis;
}

static void test_run_times_as_jobs_say_them(void **state)
{
    (void)state;
    int64_t ms = 0;
    assert_int_equal(said(SL_KIND_JOB, JOB("", ""), true, &ms), SL_RUN_FOR);
    assert_int_equal(ms, 1000);
    assert_int_equal(
        said(SL_KIND_JOB, "{metadata: {annotations: {sluice.dev/run-for: 1m}}}", true, &ms),
        SL_RUN_FOR);
    assert_int_equal(ms, 60000);
    assert_int_equal(
        said(SL_KIND_JOB, "{metadata: {annotations: {sluice.dev/run-for: 1m}}}", false, &ms),
        SL_RUN_UNKNOWN);
    assert_int_equal(said(SL_KIND_JOB, JOB("", ", activeDeadlineSeconds: 90"), false, &ms),
                     SL_RUN_DEADLINE);
    assert_int_equal(ms, 90000);
    assert_int_equal(said(SL_KIND_POD, "{spec: {activeDeadlineSeconds: 5}}", false, &ms),
                     SL_RUN_DEADLINE);
    assert_int_equal(said(SL_KIND_POD, "{spec: {activeDeadlineSeconds: 5}}", true, &ms),
                     SL_RUN_UNKNOWN);
    assert_int_equal(
        said(SL_KIND_JOB,
             "{metadata: {annotations: {sluice.dev/run-for: 10s}}, spec: {parallelism: 2, "
             "completions: 5, template: {spec: {schedulingGates: [{name: "
             "kueue.x-k8s.io/topology}]}}}}",
             true, &ms),
        SL_RUN_FOR);
    assert_int_equal(ms, 30000); /* its pods run in three rounds */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(test_wish_has_what_an_api_server_adds),
                                       TEST(test_wish_without_a_queue_goes_to_the_default_one),
                                       TEST(test_wish_refuses_what_a_submission_would_wait_for),
                                       TEST(test_wish_of_more_pods_is_a_slice),
                                       TEST(test_wish_of_fewer_pods_is_its_workload),
                                       TEST(test_wish_of_an_elastic_job_that_waits),
                                       TEST(test_run_times_as_jobs_say_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
