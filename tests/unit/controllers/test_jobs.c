/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The job controller, step by step, over a fake client. The engine is a stub that counts what it is told. */
#include "t.h"
#include "base/clock.h"
#include "engine/parents.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/jobs.h"
#include "fake_client.h"

#define T0 1700000000000

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_jobs jobs;
};

static unsigned stopped_calls;
static bool reclaims;

bool sl_engine_reclaims(const struct sl_engine *g)
{
    (void)g;
    return reclaims;
}

bool sl_engine_waits_for_pods(const struct sl_engine *g)
{
    (void)g;
    return true;
}

bool sl_engine_is_parent(const struct sl_engine *g, const struct sl_json *workload)
{
    (void)g;
    (void)workload;
    return false;
}

void sl_engine_job_stopped(struct sl_engine *g, const struct sl_json *workload, int64_t now_ms)
{
    (void)g;
    (void)now_ms;
    assert_true(sl_condition_true(workload, "QuotaReserved"));
    stopped_calls++;
}

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    stopped_calls = 0;
    reclaims = true;
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_jobs_init(&f->jobs, &f->fake.client, f->recorder, NULL, NULL);
    fake_put(
        &f->fake, SL_KIND_RESOURCE_FLAVOR,
        parse("{\"metadata\":{\"name\":\"spot\"},\"spec\":{\"nodeLabels\":{\"machine\":\"spot\"},"
              "\"tolerations\":[{\"key\":\"spot\"}]}}"));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_jobs_fini(&f->jobs);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

static struct sl_json *job(struct fixture *f)
{
    return fake_find(&f->fake, SL_KIND_JOB, "n", "j");
}

static struct sl_json *workload(struct fixture *f)
{
    char name[254];
    sl_framework_workload_name(&sl_job_framework, "j", "u", name);
    return fake_find(&f->fake, SL_KIND_WORKLOAD, "n", name);
}

/* Let the controller look until it has nothing more to write. */
static void settle_at(struct fixture *f, int64_t at_ms)
{
    unsigned before;
    sl_clock_set_virtual(at_ms);
    do {
        before = f->fake.write_count;
        if (job(f) != NULL) {
            struct sl_json *seen = sl_json_clone(job(f));
            sl_jobs_observe(&f->jobs, SL_KIND_JOB, seen, false, at_ms);
            sl_json_free(seen);
        }
        if (workload(f) != NULL) {
            struct sl_json *seen = sl_json_clone(workload(f));
            sl_jobs_observe(&f->jobs, SL_KIND_WORKLOAD, seen, false, at_ms);
            sl_json_free(seen);
        }
        sl_jobs_step(&f->jobs, at_ms, 16);
        fake_flush(&f->fake);
    } while (f->fake.write_count != before);
}

static void settle(struct fixture *f)
{
    settle_at(f, T0);
}

static void put_job(struct fixture *f, const char *labels, bool suspend)
{
    char text[800];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"j\",\"namespace\":\"n\",\"uid\":\"u\",\"labels\":{%s}},"
             "\"spec\":{\"suspend\":%s,\"parallelism\":2,\"completions\":2,\"template\":{\"spec\":{"
             "\"containers\":[{\"name\":\"c\"}]}}}}",
             labels, suspend ? "true" : "false");
    fake_put(&f->fake, SL_KIND_JOB, parse(text));
}

static void put_our_job(struct fixture *f)
{
    put_job(f, "\"kueue.x-k8s.io/queue-name\":\"q\"", true);
}

static void set(struct fixture *f, const char *condition, bool value)
{
    sl_condition_set(sl_json_path_make(workload(f), "status"), condition, value, "Test",
                     "by the test", 0, T0);
}

static void admit(struct fixture *f)
{
    sl_json_set(sl_json_path_make(workload(f), "status"), "admission",
                parse("{\"clusterQueue\":\"cq\",\"podSetAssignments\":[{\"name\":\"main\","
                      "\"flavors\":{\"cpu\":\"spot\"}}]}"));
    set(f, "QuotaReserved", true);
    set(f, "Admitted", true);
}

/* What the runner would report. */
static void run(struct fixture *f)
{
    sl_json_set_text(sl_json_path_make(job(f), "status"), "startTime", "2023-11-14T22:13:20Z");
    sl_json_set_int(sl_json_get(job(f), "status"), "active", 2);
    sl_json_set_int(sl_json_get(job(f), "status"), "ready", 2);
}

static void start_running(struct fixture *f)
{
    put_our_job(f);
    settle(f);
    admit(f);
    settle(f);
    run(f);
    settle(f);
}

static const char *selector(struct fixture *f)
{
    return sl_json_path_text(job(f), "spec.template.spec.nodeSelector.machine", "");
}

static void test_jobs_without_queue_name_are_left_alone(void **state)
{
    struct fixture *f = *state;
    put_job(f, "", false);
    settle(f);
    assert_int_equal(f->fake.write_count, 0);
}

/* The list of namespaces may have come without it. */
static void test_jobs_namespace_that_is_not_known_is_looked_for_again(void **state)
{
    struct fixture *f = *state;
    struct sl_selector *namespaces = sl_selector_parse_labels("team=a", NULL);
    f->jobs.rules.namespaces = namespaces;
    put_our_job(f);
    settle(f);
    assert_null(workload(f));
    fake_put(&f->fake, SL_KIND_NAMESPACE,
             parse("{\"metadata\":{\"name\":\"n\",\"labels\":{\"team\":\"a\"}}}"));
    assert_true(sl_jobs_due_ms(&f->jobs) <= T0 + 5000);
    sl_jobs_step(&f->jobs, T0 + 5000, 16);
    fake_flush(&f->fake);
    assert_non_null(workload(f));
    sl_selector_free(namespaces);
    f->jobs.rules.namespaces = NULL;
}

static void test_jobs_suspended_job_gets_a_workload_and_stays_suspended(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    assert_non_null(workload(f));
    assert_true(sl_job_suspended(job(f)));
}

static void test_jobs_unsuspended_job_is_suspended_first(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"kueue.x-k8s.io/queue-name\":\"q\"", false);
    settle(f);
    assert_true(sl_job_suspended(job(f)));
    assert_null(sl_json_path(job(f), "metadata.annotations"));
    assert_non_null(workload(f));
}

static void test_jobs_admitted_job_is_started_with_the_flavors_labels(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    admit(f);
    settle(f);
    assert_false(sl_job_suspended(job(f)));
    assert_string_equal(selector(f), "spot");
    assert_json(sl_json_path(job(f), "spec.template.spec.tolerations"), "[{\"key\":\"spot\"}]");
}

static const char *pod_label(struct fixture *f, const char *key)
{
    return sl_json_text(sl_json_get(sl_json_path(job(f), "spec.template.metadata.labels"), key),
                        "");
}

/* AssignQueueLabelsForPods. */
static void test_jobs_pods_name_their_queues_unless_that_is_turned_off(void **state)
{
    struct fixture *f = *state;
    for (int off = 0; off <= 1; off++) {
        f->jobs.rules.no_queue_labels = off == 1;
        put_our_job(f);
        settle(f);
        admit(f);
        settle(f);
        assert_false(sl_job_suspended(job(f)));
        assert_string_equal(pod_label(f, "kueue.x-k8s.io/cluster-queue-name"), off ? "" : "cq");
        assert_string_equal(pod_label(f, "kueue.x-k8s.io/local-queue-name"), off ? "" : "q");
        assert_string_equal(pod_label(f, "kueue.x-k8s.io/podset"), "main");
    }
}

static void test_jobs_reserved_but_not_admitted_job_waits(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    set(f, "QuotaReserved", true);
    settle(f);
    assert_true(sl_job_suspended(job(f)));
}

static void test_jobs_running_job_makes_pods_ready(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    assert_true(sl_condition_true(workload(f), "PodsReady"));
    sl_json_set_int(sl_json_get(job(f), "status"), "ready", 1);
    settle(f);
    assert_false(sl_condition_true(workload(f), "PodsReady"));
    sl_json_set_int(sl_json_get(job(f), "status"), "ready", 2);
    settle(f);
    assert_string_equal(
        sl_json_text(sl_json_get(sl_condition_find(workload(f), "PodsReady"), "reason"), ""),
        "Recovered");
}

/* Where another has admitted it, and said nothing of its pods. */
static void test_jobs_started_job_waits_for_its_pods(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    admit(f);
    settle(f);
    const struct sl_json *condition = sl_condition_find(workload(f), "PodsReady");
    assert_string_equal(sl_json_path_text(condition, "status", ""), "False");
    assert_string_equal(sl_json_path_text(condition, "reason", ""), "WaitForStart");
    assert_string_equal(sl_json_path_text(condition, "message", ""),
                        "Not all pods are ready or succeeded");
}

/* What says so already is not written again. */
static void test_jobs_start_writes_the_job_alone(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    admit(f);
    sl_condition_set(sl_json_path_make(workload(f), "status"), "PodsReady", false, "WaitForStart",
                     "Not all pods are ready or succeeded", 0, T0);
    unsigned before = f->fake.change_count;
    settle(f);
    assert_false(sl_job_suspended(job(f)));
    assert_int_equal(f->fake.change_count, before + 1);
}

/* With fewer pods than it asked for. */
static void admit_reduced(struct fixture *f, const char *more_annotations)
{
    put_our_job(f);
    sl_json_set(sl_json_path_make(job(f), "metadata"), "annotations", parse(more_annotations));
    sl_json_set_int(sl_json_path_make(job(f), "spec"), "parallelism", 5);
    sl_json_set_int(sl_json_path_make(job(f), "spec"), "completions", 5);
    settle(f);
    admit(f);
    sl_json_set_int(sl_json_path(workload(f), "status.admission.podSetAssignments.0"), "count", 3);
    settle(f);
}

static void test_jobs_admitted_with_fewer_pods_runs_and_stops_with_its_own(void **state)
{
    struct fixture *f = *state;
    admit_reduced(f, "{\"kueue.x-k8s.io/job-min-parallelism\":\"2\"}");
    assert_int_equal(sl_json_path_int(workload(f), "spec.podSets.0.minCount", 0), 2);
    assert_false(sl_job_suspended(job(f)));
    assert_int_equal(sl_json_path_int(job(f), "spec.parallelism", 0), 3);
    assert_int_equal(sl_json_path_int(job(f), "spec.completions", 0), 5);
    run(f);
    settle(f);
    assert_false(sl_job_suspended(job(f))); /* it still matches its Workload */
    set(f, "Evicted", true);
    settle(f);
    sl_json_remove(sl_json_get(job(f), "status"), "active");
    settle(f);
    assert_int_equal(sl_json_path_int(job(f), "spec.parallelism", 0), 5);
    assert_int_equal(sl_json_path_int(job(f), "spec.completions", 0), 5);
    assert_true(stopped_calls > 0);
}

static void suspend_by_hand(struct fixture *f)
{
    sl_json_set_bool(sl_json_get(job(f), "spec"), "suspend", true);
    sl_json_remove(sl_json_get(job(f), "status"), "active");
}

/* As Kueue has it: its Workload keeps its quota, and lets it run. */
static void test_jobs_admitted_job_that_is_suspended_by_hand_is_started_again(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    sl_json_set_text(sl_json_path_make(workload(f), "metadata"), "uid", "first");
    suspend_by_hand(f);
    settle(f);
    assert_false(sl_job_suspended(job(f)));
    assert_string_equal(sl_object_uid(workload(f)), "first");
    assert_string_equal(selector(f), "spot");
}

static void test_jobs_reduced_job_that_is_suspended_by_hand_keeps_its_workload(void **state)
{
    struct fixture *f = *state;
    admit_reduced(f, "{\"kueue.x-k8s.io/job-min-parallelism\":\"2\"}");
    run(f);
    settle(f);
    suspend_by_hand(f);
    settle(f);
    assert_false(sl_job_suspended(job(f)));
    assert_int_equal(sl_json_path_int(job(f), "spec.parallelism", 0), 3);
    assert_int_equal(sl_json_path_int(workload(f), "spec.podSets.0.count", 0), 5);
}

static void test_jobs_suspended_by_hand_and_evicted_it_is_restored_first(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    suspend_by_hand(f);
    set(f, "Evicted", true);
    settle(f);
    assert_string_equal(selector(f), "");
    assert_true(stopped_calls > 0);
    assert_true(sl_json_path(workload(f), "spec.podSets.0.template.spec.nodeSelector") == NULL);
}

static void change_flavor(struct fixture *f, const char *machine)
{
    const struct sl_json *flavor = fake_find(&f->fake, SL_KIND_RESOURCE_FLAVOR, "", "spot");
    sl_json_set_text(sl_json_path(flavor, "spec.nodeLabels"), "machine", machine);
}

/* Or its Workload would ask for what another flavor had added. */
static void test_jobs_suspended_by_hand_while_its_flavor_changes_it_is_restored_first(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    sl_json_set_text(sl_json_path_make(workload(f), "metadata"), "uid", "first");
    suspend_by_hand(f);
    change_flavor(f, "large");
    settle(f);
    assert_string_equal(sl_object_uid(workload(f)), "first");
    assert_false(sl_job_suspended(job(f)));
    assert_string_equal(selector(f), "large");
}

static void test_jobs_suspended_and_resized_by_hand_it_is_restored_first(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    suspend_by_hand(f);
    sl_json_set_int(sl_json_get(job(f), "spec"), "parallelism", 1);
    settle(f);
    assert_string_equal(selector(f), "");
    assert_null(sl_json_path(job(f), "spec.template.metadata.labels"));
    assert_int_equal(sl_json_path_int(workload(f), "spec.podSets.0.count", 0), 1);
    assert_null(sl_json_path(workload(f), "spec.podSets.0.template.spec.nodeSelector"));
}

/* The number that admission has made of it is taken back, not the one that its user has. */
static void test_jobs_reduced_and_resized_by_hand_it_keeps_its_number(void **state)
{
    struct fixture *f = *state;
    admit_reduced(f, "{\"kueue.x-k8s.io/job-min-parallelism\":\"2\"}");
    run(f);
    settle(f);
    suspend_by_hand(f);
    sl_json_set_int(sl_json_get(job(f), "spec"), "parallelism", 4);
    settle(f);
    assert_int_equal(sl_json_path_int(job(f), "spec.parallelism", 0), 4);
    assert_int_equal(sl_json_path_int(workload(f), "spec.podSets.0.count", 0), 4);
    assert_null(sl_json_path(workload(f), "spec.podSets.0.template.metadata.labels"));
}

static void test_jobs_completions_follow_parallelism_where_asked(void **state)
{
    struct fixture *f = *state;
    admit_reduced(f, "{\"kueue.x-k8s.io/job-min-parallelism\":\"2\","
                     "\"kueue.x-k8s.io/job-completions-equal-parallelism\":\"true\"}");
    assert_int_equal(sl_json_path_int(job(f), "spec.parallelism", 0), 3);
    assert_int_equal(sl_json_path_int(job(f), "spec.completions", 0), 3);
}

static void test_jobs_least_parallelism_that_is_none_is_ignored(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"0", "2", "9", "two", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put_our_job(f);
        sl_json_set_text(sl_json_path_make(job(f), "metadata.annotations"),
                         "kueue.x-k8s.io/job-min-parallelism", bad[i]);
        assert_int_equal(sl_job_min_pods(job(f)), 0);
    }
}

static void test_jobs_evicted_job_stops_is_restored_and_only_then_reported(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    set(f, "Evicted", true);
    settle(f);
    assert_true(sl_job_suspended(job(f)));
    assert_int_equal(stopped_calls, 0);

    sl_json_remove(sl_json_get(job(f), "status"), "active");
    settle(f);

    assert_true(stopped_calls > 0);
    assert_string_equal(selector(f), "");
    assert_null(sl_json_path(job(f), "spec.template.spec.tolerations"));
    assert_null(sl_json_path(job(f), "status.startTime"));
    assert_null(sl_json_path(job(f), "metadata.annotations"));
}

static void succeed(struct fixture *f, int64_t pods)
{
    sl_json_set_int(sl_json_get(job(f), "status"), "succeeded", pods);
    settle(f);
}

/* -1: nothing is said about it. */
static int64_t reclaimable(struct fixture *f)
{
    return sl_json_path_int(workload(f), "status.reclaimablePods.0.count", -1);
}

static void test_jobs_pods_that_ended_for_good_are_reported(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    assert_int_equal(reclaimable(f), -1);
    succeed(f, 1);
    assert_int_equal(reclaimable(f), 1);
    assert_string_equal(sl_json_path_text(workload(f), "status.reclaimablePods.0.name", ""),
                        "main");
    unsigned before = f->fake.write_count;
    settle(f);
    assert_int_equal(f->fake.write_count, before);
    assert_false(sl_job_suspended(job(f)));
}

/* Nothing else happens to one that waits for its checks. */
static void test_jobs_ended_pods_are_reported_of_a_new_workload_at_once(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    sl_json_set_int(sl_json_path_make(job(f), "status"), "succeeded", 1);
    struct sl_json *seen = sl_json_clone(job(f));
    sl_jobs_observe(&f->jobs, SL_KIND_JOB, seen, false, T0);
    sl_json_free(seen);
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    set(f, "QuotaReserved", true);
    seen = sl_json_clone(workload(f));
    sl_jobs_observe(&f->jobs, SL_KIND_WORKLOAD, seen, false, T0);
    sl_json_free(seen);
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_int_equal(reclaimable(f), 1);
}

static void test_jobs_count_of_ended_pods_shrinks_only_without_quota(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    succeed(f, 1);
    succeed(f, 0);
    assert_int_equal(reclaimable(f), 1);
    set(f, "Evicted", true);
    settle(f);
    sl_json_remove(sl_json_get(job(f), "status"), "active");
    settle(f);
    assert_int_equal(reclaimable(f), 1);
    set(f, "QuotaReserved", false);
    set(f, "Admitted", false);
    settle(f);
    assert_int_equal(reclaimable(f), -1);
}

static void test_jobs_ended_pods_are_not_reported_without_the_gate(void **state)
{
    struct fixture *f = *state;
    reclaims = false;
    start_running(f);
    succeed(f, 1);
    assert_int_equal(reclaimable(f), -1);
}

static void test_jobs_no_more_ended_pods_than_the_workload_has(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    sl_json_set_int(sl_json_get(job(f), "spec"), "parallelism", 6);
    sl_json_set_int(sl_json_get(job(f), "spec"), "completions", 6);
    succeed(f, 5);
    assert_int_equal(reclaimable(f), 2);
}

static void test_jobs_unsuspended_by_hand_is_suspended_again(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    sl_json_set_bool(sl_json_get(job(f), "spec"), "suspend", false);
    settle(f);
    assert_true(sl_job_suspended(job(f)));
    assert_non_null(workload(f));
}

/* It was never started: what its user has made of it since is not what admission has added. */
static void test_jobs_unsuspended_by_hand_and_changed_it_keeps_the_change(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    sl_json_set_bool(sl_json_get(job(f), "spec"), "suspend", false);
    sl_json_set_int(sl_json_path_make(job(f), "status"), "active", 1);
    settle(f);
    assert_true(sl_job_suspended(job(f)));
    sl_json_remove(sl_json_get(job(f), "status"), "active");
    sl_json_set_text(sl_json_path_make(job(f), "spec.template.spec.nodeSelector"), "machine",
                     "own");
    settle(f);
    assert_null(sl_json_path(job(f), "metadata.annotations"));
    assert_string_equal(selector(f), "own");
    assert_string_equal(
        sl_json_path_text(workload(f), "spec.podSets.0.template.spec.nodeSelector.machine", ""),
        "own");
}

/* Its job is gone, so that it is deleted at once, and our watch has not told. */
static void test_jobs_workload_that_vanishes_is_not_made_without_end(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    for (unsigned i = 0; i < 5; i++) {
        settle(f);
        if (workload(f) != NULL) {
            struct sl_json *gone = sl_json_clone(workload(f));
            fake_remove(&f->fake, SL_KIND_WORKLOAD, "n", sl_object_name(gone));
            sl_jobs_observe(&f->jobs, SL_KIND_WORKLOAD, gone, true, T0);
            sl_json_free(gone);
        } else {
            assert_int_equal(i, 2);
            break;
        }
    }
    assert_null(workload(f));
    assert_int_equal(sl_jobs_due_ms(&f->jobs), T0 + 1000);
    settle_at(f, T0 + 999);
    assert_null(workload(f));
    settle_at(f, T0 + 1000);
    assert_non_null(workload(f));
}

static void test_jobs_ended_job_finishes_and_releases_its_workload(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    sl_condition_set(sl_json_get(job(f), "status"), "Failed", true, "R", "it broke", 0, T0);
    settle(f);
    const struct sl_json *finished = sl_condition_find(workload(f), "Finished");
    assert_true(sl_condition_true(workload(f), "Finished"));
    assert_string_equal(sl_json_path_text(finished, "reason", ""), "Failed");
    assert_string_equal(sl_json_path_text(finished, "message", ""), "it broke");
    assert_false(sl_workload_has_finalizer(workload(f)));
}

static void test_jobs_changed_while_suspended_the_workload_follows(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    sl_json_set_int(sl_json_get(job(f), "spec"), "parallelism", 1);
    sl_json_set_text(sl_json_path(job(f), "metadata.labels"), SL_LABEL_QUEUE, "other");
    settle(f);
    assert_true(sl_json_path_int(sl_workload_pod_set(workload(f), 0), "count", 0) == 1);
    assert_string_equal(sl_json_path_text(workload(f), "spec.queueName", ""), "other");
}

static void test_jobs_changed_while_reserved_the_workload_is_made_anew(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    set(f, "QuotaReserved", true);
    sl_json_set_int(sl_json_get(job(f), "spec"), "parallelism", 1);
    settle(f);
    assert_false(sl_condition_true(workload(f), "QuotaReserved"));
    assert_true(sl_json_path_int(sl_workload_pod_set(workload(f), 0), "count", 0) == 1);
}

static void test_jobs_another_limit_while_reserved_the_workload_is_made_anew(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    set(f, "QuotaReserved", true);
    sl_json_set_text(sl_json_path(job(f), "metadata.labels"), SL_LABEL_MAX_EXEC_S, "60");
    settle(f);
    assert_false(sl_condition_true(workload(f), "QuotaReserved"));
    assert_true(sl_json_path_int(workload(f), "spec.maximumExecutionTimeSeconds", 0) == 60);
}

static void test_jobs_missing_class_is_reported_and_waited_for(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"kueue.x-k8s.io/queue-name\":\"q\",\"kueue.x-k8s.io/priority-class\":\"high\"",
            true);
    settle(f);
    assert_null(workload(f));
    assert_true(fake_count(&f->fake, SL_KIND_EVENT) > 0);

    struct sl_json *class = parse("{\"metadata\":{\"name\":\"high\"},\"value\":7}");
    fake_put(&f->fake, SL_KIND_WORKLOAD_PRIORITY_CLASS, sl_json_clone(class));
    sl_jobs_observe(&f->jobs, SL_KIND_WORKLOAD_PRIORITY_CLASS, class, false, T0);
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);

    assert_true(sl_json_path_int(workload(f), "spec.priority", 0) == 7);
    sl_json_free(class);
}

static void label_class(struct fixture *f, const char *name)
{
    sl_json_set_text(sl_json_path_make(job(f), "metadata.labels"), SL_LABEL_PRIORITY_CLASS, name);
    settle(f);
}

static void test_jobs_workload_that_runs_follows_to_another_class(void **state)
{
    struct fixture *f = *state;
    fake_put(&f->fake, SL_KIND_WORKLOAD_PRIORITY_CLASS,
             parse("{\"metadata\":{\"name\":\"low\"},\"value\":1}"));
    fake_put(&f->fake, SL_KIND_WORKLOAD_PRIORITY_CLASS,
             parse("{\"metadata\":{\"name\":\"high\"},\"value\":7}"));
    put_our_job(f);
    label_class(f, "low");
    admit(f);
    settle(f);
    run(f);
    label_class(f, "high");
    assert_true(sl_json_path_int(workload(f), "spec.priority", 0) == 7);
    assert_string_equal(sl_json_path_text(workload(f), "spec.priorityClassRef.name", ""), "high");
    assert_false(sl_job_suspended(job(f)));
    label_class(f, "absent");
    assert_true(sl_json_path_int(workload(f), "spec.priority", 0) == 7);
}

static void test_jobs_workload_that_runs_without_a_class_gets_none(void **state)
{
    struct fixture *f = *state;
    fake_put(&f->fake, SL_KIND_WORKLOAD_PRIORITY_CLASS,
             parse("{\"metadata\":{\"name\":\"high\"},\"value\":7}"));
    start_running(f);
    label_class(f, "high"); /* the API would refuse it */
    assert_false(sl_json_has(sl_json_get(workload(f), "spec"), "priorityClassRef"));
}

static const char *told(struct fixture *f, const char *reason)
{
    size_t cursor = 0;
    const char *key;
    const char *last = "";
    union sl_map_value value;
    while (sl_map_next(f->fake.objects, &cursor, &key, &value)) {
        if (strcmp(sl_json_path_text(value.pointer, "reason", ""), reason) == 0) {
            last = sl_json_path_text(value.pointer, "message", "");
        }
    }
    return last;
}

static void test_jobs_deletion_of_its_workload_is_said_also_when_that_was_evicted(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    set(f, "Evicted", true);
    sl_json_set_text(sl_json_get(workload(f), "metadata"), "deletionTimestamp",
                     "2023-11-14T22:13:20Z");
    settle(f);
    assert_string_equal(told(f, "Stopped"), "Workload is deleted");
}

static void test_jobs_another_queue_or_class_while_waiting_is_followed_as_in_kueue(void **state)
{
    struct fixture *f = *state;
    fake_put(&f->fake, SL_KIND_WORKLOAD_PRIORITY_CLASS,
             parse("{\"metadata\":{\"name\":\"high\"},\"value\":7}"));
    put_our_job(f);
    settle(f);
    sl_json_set_text(sl_json_path(job(f), "metadata.labels"), SL_LABEL_QUEUE, "other");
    settle(f);
    assert_string_equal(sl_json_path_text(workload(f), "spec.queueName", ""), "other");
    assert_string_equal(told(f, "UpdatedWorkload"), "");
    label_class(f, "high");
    assert_true(sl_json_path_int(workload(f), "spec.priority", 0) == 7);
    assert_int_equal(strncmp(told(f, "UpdatedWorkload"), "Updated workload priority class: n/", 35),
                     0);
    sl_json_remove(sl_json_path(job(f), "metadata.labels"), SL_LABEL_PRIORITY_CLASS);
    settle(f);
    assert_null(sl_json_path(workload(f), "spec.priorityClassRef"));
}

/* Its label counts for Workloads that have a class of ours, or none. */
static void test_jobs_workload_with_a_class_of_its_pods_keeps_it(void **state)
{
    struct fixture *f = *state;
    fake_put(&f->fake, SL_KIND_WORKLOAD_PRIORITY_CLASS,
             parse("{\"metadata\":{\"name\":\"high\"},\"value\":7}"));
    fake_put(&f->fake, SL_KIND_PRIORITY_CLASS,
             parse("{\"metadata\":{\"name\":\"usual\"},\"value\":3}"));
    put_our_job(f);
    sl_json_set_text(sl_json_path(job(f), "spec.template.spec"), "priorityClassName", "usual");
    settle(f);
    label_class(f, "high");
    assert_true(sl_json_path_int(workload(f), "spec.priority", 0) == 3);
}

/* It was evicted and waits: its quota is free, and its Workload says Evicted until it is reserved again. */
static void test_jobs_changed_while_it_waits_after_an_eviction_the_workload_follows(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    set(f, "Evicted", true);
    set(f, "QuotaReserved", false);
    sl_json_set_int(sl_json_get(job(f), "spec"), "parallelism", 1);
    settle(f);
    assert_true(sl_json_path_int(workload(f), "spec.podSets.0.count", 0) == 1);
    assert_int_equal(stopped_calls, 0);
}

static void test_jobs_default_priority_class_is_used(void **state)
{
    struct fixture *f = *state;
    struct sl_json *class =
        parse("{\"metadata\":{\"name\":\"usual\"},\"value\":3,\"globalDefault\":true}");
    fake_put(&f->fake, SL_KIND_PRIORITY_CLASS, sl_json_clone(class));
    sl_jobs_observe(&f->jobs, SL_KIND_PRIORITY_CLASS, class, false, T0);
    put_our_job(f);
    settle(f);
    assert_true(sl_json_path_int(workload(f), "spec.priority", 0) == 3);
    assert_string_equal(sl_json_path_text(workload(f), "spec.priorityClassRef.kind", ""),
                        "PriorityClass");
    sl_json_free(class);
}

static void test_jobs_flavor_against_own_selector_fails_to_start(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    sl_json_set_text(sl_json_path_make(job(f), "spec.template.spec.nodeSelector"), "machine",
                     "big");
    settle(f);
    admit(f);
    settle(f);
    assert_true(sl_job_suspended(job(f)));
    assert_string_equal(
        sl_json_text(sl_json_get(sl_condition_find(workload(f), "Finished"), "reason"), ""),
        "FailedToStart");
}

static void test_jobs_missing_flavor_is_reported_and_tried_again(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    admit(f);
    struct sl_write w = {
        .verb = SL_VERB_DELETE, .kind = SL_KIND_RESOURCE_FLAVOR, .ns = "", .name = "spot"};
    f->fake.client.write(&f->fake, &w, NULL, NULL);
    settle(f);
    assert_true(sl_job_suspended(job(f)));
    assert_true(sl_jobs_due_ms(&f->jobs) == T0 + SL_RETRY_MS);
}

static void test_jobs_workload_being_deleted_goes_when_the_job_has_stopped(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    sl_json_set_text(sl_json_get(workload(f), "metadata"), "deletionTimestamp",
                     "2023-11-14T22:13:20Z");
    settle(f);
    assert_true(sl_job_suspended(job(f)));
    assert_true(sl_workload_has_finalizer(workload(f)));
    sl_json_remove(sl_json_get(job(f), "status"), "active");
    settle(f);
    assert_false(sl_workload_has_finalizer(workload(f)));
}

static void test_jobs_workload_of_deleted_job_is_finished_as_orphan(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    struct sl_json *gone = sl_json_clone(job(f));
    struct sl_write w = {.verb = SL_VERB_DELETE, .kind = SL_KIND_JOB, .ns = "n", .name = "j"};
    f->fake.client.write(&f->fake, &w, NULL, NULL);
    sl_jobs_observe(&f->jobs, SL_KIND_JOB, gone, true, T0);
    sl_jobs_step(&f->jobs, T0 + 5000, 16);
    fake_flush(&f->fake);
    assert_string_equal(
        sl_json_text(sl_json_get(sl_condition_find(workload(f), "Finished"), "reason"), ""),
        "OwnerNotFound");
    sl_json_free(gone);
}

static bool is_orphan(struct fixture *f, int64_t wait_ms)
{
    for (int i = 0; i < 4; i++) {
        sl_jobs_step(&f->jobs, T0 + wait_ms, 16);
        fake_flush(&f->fake);
    }
    return sl_condition_true(workload(f), "Finished");
}

/* What a cache has lost sight of may run: its quota is given away only when the source says that it is gone. */
static void test_jobs_workload_of_a_job_that_the_cache_lacks_is_kept(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    f->fake.client.cached = f->fake.hides = true;
    f->fake.hidden = SL_KIND_JOB;
    sl_jobs_observe(&f->jobs, SL_KIND_JOB, job(f), true, T0);
    assert_false(is_orphan(f, 5000));
    assert_int_equal(f->fake.last_verb, SL_VERB_READ);
    f->fake.next_code = SL_CODE_UNAVAILABLE; /* nobody can tell */
    sl_jobs_observe(&f->jobs, SL_KIND_JOB, job(f), true, T0);
    assert_false(is_orphan(f, 10000));
    sl_json_set_text(sl_json_get(job(f), "metadata"), "uid", "another");
    assert_true(is_orphan(f, INT64_MAX / 2));
}

static void test_jobs_workload_of_a_job_that_the_source_lacks_is_finished(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    struct sl_json *gone = sl_json_clone(job(f));
    f->fake.client.cached = true;
    fake_remove(&f->fake, SL_KIND_JOB, "n", "j");
    sl_jobs_observe(&f->jobs, SL_KIND_JOB, gone, true, T0);
    assert_true(is_orphan(f, 5000));
    sl_json_free(gone);
}

/* Somebody took its label away, or its namespace's: what has a Workload keeps to it. */
static void test_jobs_running_job_without_its_label_is_managed_to_its_end(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    sl_json_remove(sl_json_get(job(f), "metadata"), "labels");
    settle(f);
    assert_false(sl_job_suspended(job(f)));
    assert_false(sl_condition_true(workload(f), "Finished"));
    sl_condition_set(sl_json_get(job(f), "status"), "Complete", true, "R", "done", 0, T0);
    settle(f);
    assert_true(sl_condition_true(workload(f), "Finished"));
}

static void test_jobs_waiting_job_without_its_label_leaves_its_queue(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    sl_json_remove(sl_json_get(job(f), "metadata"), "labels");
    settle(f);
    assert_string_equal(sl_json_path_text(workload(f), "spec.queueName", ""), "");
    assert_true(sl_job_suspended(job(f)));
}

static void test_jobs_workload_of_deleted_job_without_label_is_finished(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    struct sl_json *gone = sl_json_clone(job(f));
    struct sl_write w = {.verb = SL_VERB_DELETE, .kind = SL_KIND_JOB, .ns = "n", .name = "j"};
    sl_json_remove(sl_json_get(gone, "metadata"), "labels");
    f->fake.client.write(&f->fake, &w, NULL, NULL);
    sl_jobs_observe(&f->jobs, SL_KIND_JOB, gone, true, T0);
    sl_jobs_step(&f->jobs, T0 + 5000, 16);
    fake_flush(&f->fake);
    assert_true(sl_condition_true(workload(f), "Finished"));
    sl_json_free(gone);
}

/* Its dependents go first then, and the Workload is one: neither may wait for the other. */
static void test_jobs_workload_of_a_job_deleted_in_the_foreground_does_not_wait_for_it(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    sl_json_set_text(sl_json_get(job(f), "metadata"), "deletionTimestamp", "2023-11-14T22:13:20Z");
    settle(f);
    assert_string_equal(
        sl_json_text(sl_json_get(sl_condition_find(workload(f), "Finished"), "reason"), ""),
        "OwnerNotFound");
    assert_false(sl_workload_has_finalizer(workload(f)));
}

static void test_jobs_evicted_workload_without_a_job_is_left_to_its_maker(void **state)
{
    struct fixture *f = *state;
    struct sl_json *wl = parse("{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"x\"},"
                               "\"status\":{\"conditions\":["
                               "{\"type\":\"Evicted\",\"status\":\"True\"},{\"type\":"
                               "\"QuotaReserved\",\"status\":\"True\"}]}}");
    fake_put(&f->fake, SL_KIND_WORKLOAD, sl_json_clone(wl));
    sl_jobs_observe(&f->jobs, SL_KIND_WORKLOAD, wl, false, T0);
    sl_jobs_step(&f->jobs, T0, 16);
    assert_int_equal(stopped_calls, 0); /* pods of its maker may still run */
    assert_int_equal(f->fake.write_count, 0);
    sl_json_free(wl);
}

/* Nothing but what the Workload says: its job has no news. */
static void show(struct fixture *f, const struct sl_json *wl)
{
    struct sl_json *seen = sl_json_clone(wl);
    sl_jobs_observe(&f->jobs, SL_KIND_WORKLOAD, seen, false, T0);
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    sl_json_free(seen);
}

static void test_jobs_running_job_whose_reservation_another_takes_back_is_stopped(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    sl_json_remove(sl_json_get(workload(f), "status"), "admission");
    set(f, "QuotaReserved", false);
    set(f, "Admitted", false);
    show(f, workload(f));
    assert_true(sl_job_suspended(job(f)));
}

static void test_jobs_running_job_whose_admission_alone_is_taken_back_is_stopped(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    set(f, "Admitted", false);
    show(f, workload(f));
    assert_true(sl_job_suspended(job(f)));
}

/* Pending Workloads change often, and their jobs need not be looked at each time. */
static void test_jobs_suspended_job_is_not_looked_at_for_the_reason_of_its_workload(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    set(f, "QuotaReserved", false);
    sl_jobs_observe(&f->jobs, SL_KIND_WORKLOAD, workload(f), false, T0);
    assert_int_equal(sl_jobs_waiting(&f->jobs), 0);
}

/* What has become its own is compared with it then, and not only when something else happens. */
static void test_jobs_adopted_workload_of_other_pods_is_given_up(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    sl_json_set_text(sl_json_path(job(f), "metadata.labels"), SL_LABEL_PREBUILT, "made");
    fake_put(
        &f->fake, SL_KIND_WORKLOAD,
        parse("{\"metadata\":{\"name\":\"made\",\"namespace\":\"n\",\"uid\":\"m\",\"generation\":"
              "1},\"spec\":{\"podSets\":[{\"name\":\"main\",\"count\":3,\"template\":{\"spec\":{"
              "\"containers\":[{\"name\":\"c\"}]}}}]}}"));
    sl_jobs_observe(&f->jobs, SL_KIND_JOB, job(f), false, T0);
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    struct sl_json *made = fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "made");
    assert_true(sl_job_owns(job(f), made));
    show(f, made);
    made = fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "made");
    assert_string_equal(sl_json_path_text(sl_condition_find(made, "Finished"), "reason", ""),
                        "OutOfSync");
}

/* With quota its Workload keeps its queue: the job's is followed once the quota is taken back. */
static void test_jobs_another_queue_while_reserved_is_followed_when_the_quota_goes(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    settle(f);
    set(f, "QuotaReserved", true);
    sl_json_set_text(sl_json_path(job(f), "metadata.labels"), SL_LABEL_QUEUE, "other");
    settle(f);
    assert_string_equal(sl_json_path_text(workload(f), "spec.queueName", ""), "q");
    set(f, "QuotaReserved", false);
    show(f, workload(f));
    assert_string_equal(sl_json_path_text(workload(f), "spec.queueName", ""), "other");
}

/* A Workload that somebody has made for the job beside its own. */
static struct sl_json *put_spare(struct fixture *f, const char *status)
{
    char text[600];
    snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"spare\",\"namespace\":\"n\",\"uid\":\"s\",\"finalizers\":["
        "\"kueue.x-k8s.io/resource-in-use\"],\"ownerReferences\":[{\"apiVersion\":\"batch/v1\","
        "\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"u\",\"controller\":true}]},\"spec\":{"
        "\"podSets\":[{\"name\":\"main\",\"count\":3}]},\"status\":{%s}}",
        status);
    fake_put(&f->fake, SL_KIND_WORKLOAD, parse(text));
    return fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "spare");
}

static void test_jobs_second_workload_of_a_job_is_deleted(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    struct sl_json *spare = put_spare(f, "");
    unsigned events = fake_count(&f->fake, SL_KIND_EVENT);
    show(f, spare);
    assert_null(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "spare"));
    assert_true(fake_count(&f->fake, SL_KIND_EVENT) > events);
    assert_non_null(workload(f));
    assert_false(sl_job_suspended(job(f)));
}

static void test_jobs_second_workload_that_is_being_deleted_is_let_go(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    struct sl_json *spare = put_spare(f, "");
    sl_json_set_text(sl_json_get(spare, "metadata"), "deletionTimestamp", "2023-11-14T22:13:20Z");
    show(f, spare);
    spare = fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "spare");
    assert_false(sl_workload_has_finalizer(spare));
    unsigned before = f->fake.write_count;
    show(f, spare);
    assert_int_equal(f->fake.write_count, before);
}

static void test_jobs_second_workload_that_has_finished_stays(void **state)
{
    struct fixture *f = *state;
    start_running(f);
    struct sl_json *spare =
        put_spare(f, "\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]");
    show(f, spare);
    assert_false(sl_object_deleting(fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "spare")));
}

static void test_jobs_workload_made_for_a_job_without_a_queue_is_its_makers(void **state)
{
    struct fixture *f = *state;
    put_job(f, "", false);
    show(f, put_spare(f, ""));
    assert_int_equal(f->fake.write_count, 0);
}

static void test_jobs_refused_workload_is_reported_on_the_job(void **state)
{
    struct fixture *f = *state;
    put_our_job(f);
    f->fake.next_code = SL_CODE_INVALID;
    struct sl_json *seen = sl_json_clone(job(f));
    sl_jobs_observe(&f->jobs, SL_KIND_JOB, seen, false, T0);
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_null(workload(f));
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 1);
    assert_true(sl_jobs_due_ms(&f->jobs) == INT64_MAX);
    sl_json_free(seen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_jobs_without_queue_name_are_left_alone),
        TEST(test_jobs_namespace_that_is_not_known_is_looked_for_again),
        TEST(test_jobs_suspended_job_gets_a_workload_and_stays_suspended),
        TEST(test_jobs_unsuspended_job_is_suspended_first),
        TEST(test_jobs_admitted_job_is_started_with_the_flavors_labels),
        TEST(test_jobs_pods_name_their_queues_unless_that_is_turned_off),
        TEST(test_jobs_reserved_but_not_admitted_job_waits),
        TEST(test_jobs_running_job_makes_pods_ready),
        TEST(test_jobs_started_job_waits_for_its_pods),
        TEST(test_jobs_start_writes_the_job_alone),
        TEST(test_jobs_admitted_with_fewer_pods_runs_and_stops_with_its_own),
        TEST(test_jobs_admitted_job_that_is_suspended_by_hand_is_started_again),
        TEST(test_jobs_reduced_job_that_is_suspended_by_hand_keeps_its_workload),
        TEST(test_jobs_suspended_by_hand_and_evicted_it_is_restored_first),
        TEST(test_jobs_suspended_by_hand_while_its_flavor_changes_it_is_restored_first),
        TEST(test_jobs_suspended_and_resized_by_hand_it_is_restored_first),
        TEST(test_jobs_reduced_and_resized_by_hand_it_keeps_its_number),
        TEST(test_jobs_completions_follow_parallelism_where_asked),
        TEST(test_jobs_least_parallelism_that_is_none_is_ignored),
        TEST(test_jobs_evicted_job_stops_is_restored_and_only_then_reported),
        TEST(test_jobs_pods_that_ended_for_good_are_reported),
        TEST(test_jobs_count_of_ended_pods_shrinks_only_without_quota),
        TEST(test_jobs_ended_pods_are_not_reported_without_the_gate),
        TEST(test_jobs_no_more_ended_pods_than_the_workload_has),
        TEST(test_jobs_unsuspended_by_hand_is_suspended_again),
        TEST(test_jobs_unsuspended_by_hand_and_changed_it_keeps_the_change),
        TEST(test_jobs_ended_pods_are_reported_of_a_new_workload_at_once),
        TEST(test_jobs_workload_that_vanishes_is_not_made_without_end),
        TEST(test_jobs_ended_job_finishes_and_releases_its_workload),
        TEST(test_jobs_changed_while_suspended_the_workload_follows),
        TEST(test_jobs_changed_while_reserved_the_workload_is_made_anew),
        TEST(test_jobs_another_limit_while_reserved_the_workload_is_made_anew),
        TEST(test_jobs_missing_class_is_reported_and_waited_for),
        TEST(test_jobs_workload_that_runs_follows_to_another_class),
        TEST(test_jobs_workload_that_runs_without_a_class_gets_none),
        TEST(test_jobs_deletion_of_its_workload_is_said_also_when_that_was_evicted),
        TEST(test_jobs_another_queue_or_class_while_waiting_is_followed_as_in_kueue),
        TEST(test_jobs_workload_with_a_class_of_its_pods_keeps_it),
        TEST(test_jobs_changed_while_it_waits_after_an_eviction_the_workload_follows),
        TEST(test_jobs_default_priority_class_is_used),
        TEST(test_jobs_flavor_against_own_selector_fails_to_start),
        TEST(test_jobs_missing_flavor_is_reported_and_tried_again),
        TEST(test_jobs_workload_being_deleted_goes_when_the_job_has_stopped),
        TEST(test_jobs_workload_of_deleted_job_is_finished_as_orphan),
        TEST(test_jobs_workload_of_a_job_that_the_cache_lacks_is_kept),
        TEST(test_jobs_workload_of_a_job_that_the_source_lacks_is_finished),
        TEST(test_jobs_running_job_without_its_label_is_managed_to_its_end),
        TEST(test_jobs_waiting_job_without_its_label_leaves_its_queue),
        TEST(test_jobs_workload_of_deleted_job_without_label_is_finished),
        TEST(test_jobs_workload_of_a_job_deleted_in_the_foreground_does_not_wait_for_it),
        TEST(test_jobs_evicted_workload_without_a_job_is_left_to_its_maker),
        TEST(test_jobs_running_job_whose_reservation_another_takes_back_is_stopped),
        TEST(test_jobs_running_job_whose_admission_alone_is_taken_back_is_stopped),
        TEST(test_jobs_suspended_job_is_not_looked_at_for_the_reason_of_its_workload),
        TEST(test_jobs_adopted_workload_of_other_pods_is_given_up),
        TEST(test_jobs_another_queue_while_reserved_is_followed_when_the_quota_goes),
        TEST(test_jobs_second_workload_of_a_job_is_deleted),
        TEST(test_jobs_second_workload_that_is_being_deleted_is_let_go),
        TEST(test_jobs_second_workload_that_has_finished_stays),
        TEST(test_jobs_workload_made_for_a_job_without_a_queue_is_its_makers),
        TEST(test_jobs_refused_workload_is_reported_on_the_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
