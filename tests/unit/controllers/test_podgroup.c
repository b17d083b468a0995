/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pods and groups of them as jobs, over an in-memory client: what is written, one look after the other. */
#include "t.h"
#include "base/clock.h"
#include "engine/parents.h"
#include "controllers/jobs/jobs.h"
#include "controllers/jobs/podjob.h"
#include "fake_client.h"

#define T0 1700000000000

static struct {
    unsigned stopped;
    bool reclaims, waits;
} stub;

bool sl_engine_is_parent(const struct sl_engine *g, const struct sl_json *workload)
{
    (void)g;
    (void)workload;
    return false;
}

void sl_engine_job_stopped(struct sl_engine *g, const struct sl_json *workload, int64_t now_ms)
{
    (void)g;
    (void)workload;
    (void)now_ms;
    stub.stopped++;
}

bool sl_engine_reclaims(const struct sl_engine *g)
{
    (void)g;
    return stub.reclaims;
}

bool sl_engine_waits_for_pods(const struct sl_engine *g)
{
    (void)g;
    return stub.waits;
}

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_jobs pods;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    stub.stopped = 0;
    stub.reclaims = true;
    stub.waits = false;
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_jobs_init(&f->pods, &f->fake.client, f->recorder, NULL, NULL);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_jobs_fini(&f->pods);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

static void show(struct fixture *f, enum sl_kind kind, const char *name)
{
    struct sl_json *o = fake_find(&f->fake, kind, "ns", name);
    if (o != NULL) {
        struct sl_json *copy = sl_json_clone(o);
        sl_jobs_observe(&f->pods, kind, copy, false, T0);
        sl_json_free(copy);
    }
}

static void step(struct fixture *f)
{
    (void)sl_jobs_step(&f->pods, T0, 16);
    fake_flush(&f->fake);
}

static void put_pod(struct fixture *f, const char *name, const char *group, const char *more,
                    const char *status)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"ns\","
                   "\"name\":\"%s\","
                   "\"uid\":\"uid-%s\",\"labels\":{\"kueue.x-k8s.io/"
                   "managed\":\"true\",\"kueue.x-k8s.io/queue-name\":"
                   "\"lq\"%s%s%s},\"annotations\":{\"kueue.x-k8s.io/"
                   "pod-group-total-count\":\"2\"},\"finalizers\":["
                   "\"kueue.x-k8s.io/managed\"]%s},\"spec\":{\"schedulingGates\":[{\"name\":"
                   "\"kueue.x-k8s.io/"
                   "admission\"}],\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},"
                   "\"status\":{%s}}",
                   name, name, group == NULL ? "" : ",\"kueue.x-k8s.io/pod-group-name\":\"",
                   group == NULL ? "" : group, group == NULL ? "" : "\"", more, status);
    fake_put(&f->fake, SL_KIND_POD, parse(text));
    show(f, SL_KIND_POD, name);
}

static const char *only_workload(struct fixture *f)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    char prefix[16];
    (void)snprintf(prefix, sizeof prefix, "%d/", (int)SL_KIND_WORKLOAD);
    while (sl_map_next(f->fake.objects, &cursor, &key, &value)) {
        if (strncmp(key, prefix, strlen(prefix)) == 0) {
            return sl_object_name(value.pointer);
        }
    }
    return "";
}

static struct sl_json *workload(struct fixture *f, const char *name)
{
    return fake_find(&f->fake, SL_KIND_WORKLOAD, "ns", name);
}

static struct sl_json *pod(struct fixture *f, const char *name)
{
    return fake_find(&f->fake, SL_KIND_POD, "ns", name);
}

static bool has_event(struct fixture *f, const char *reason, const char *message)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    bool found = false;
    while (sl_map_next(f->fake.objects, &cursor, &key, &value)) {
        found = found || (strcmp(sl_json_path_text(value.pointer, "reason", ""), reason) == 0 &&
                          strcmp(sl_json_path_text(value.pointer, "message", ""), message) == 0);
    }
    return found;
}

/* Write the condition into the Workload, as the engine's decisions would. */
static void say(struct fixture *f, const char *name, const char *type, bool on)
{
    struct sl_json *wl = workload(f, name);
    sl_condition_set(sl_json_path_make(wl, "status"), type, on, "Because", "because", 1, T0);
    show(f, SL_KIND_WORKLOAD, name);
}

static void admit(struct fixture *f, const char *name)
{
    say(f, name, "QuotaReserved", true);
    say(f, name, "Admitted", true);
}

/* The pod "a", which is in no group; `name` gets that of its Workload. */
static void admit_alone(struct fixture *f, char name[static 254])
{
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    step(f);
    (void)snprintf(name, 254, "%s", only_workload(f));
    admit(f, name);
}

static void gone(struct fixture *f, const char *name)
{
    struct sl_json *o = sl_json_clone(pod(f, name));
    fake_remove(&f->fake, SL_KIND_POD, "ns", name);
    sl_jobs_observe(&f->pods, SL_KIND_POD, o, true, T0);
    sl_json_free(o);
}

static void annotate(struct fixture *f, const char *name, const char *key, const char *value)
{
    sl_json_set_text(sl_json_path_make(pod(f, name), "metadata.annotations"), key, value);
    show(f, SL_KIND_POD, name);
}

static void test_podgroups_pod_gets_a_workload_and_starts_with_it(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    step(f);
    const char *name = only_workload(f);
    assert_int_equal(strncmp(name, "pod-a-", 6), 0);
    assert_string_equal(sl_json_path_text(workload(f, name), "spec.queueName", ""), "lq");
    assert_string_equal(sl_json_path_text(workload(f, name), "metadata.ownerReferences.0.uid", ""),
                        "uid-a");
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_true(sl_podjob_gated(pod(f, "a"))); /* not admitted yet */
    admit(f, name);
    step(f);
    assert_false(sl_podjob_gated(pod(f, "a")));
}

/* Where another has admitted it, and said nothing of its pods. */
static void test_podgroups_started_pod_is_waited_for(void **state)
{
    struct fixture *f = *state;
    stub.waits = true;
    char name[254];
    admit_alone(f, name);
    step(f);
    show(f, SL_KIND_POD, "a");
    step(f);
    const struct sl_json *c = sl_condition_find(workload(f, name), "PodsReady");
    assert_string_equal(sl_json_path_text(c, "status", ""), "False");
    assert_string_equal(sl_json_path_text(c, "reason", ""), "WaitForStart");
    assert_string_equal(sl_json_path_text(c, "message", ""), "Not all pods are ready or succeeded");
    unsigned before = f->fake.write_count;
    show(f, SL_KIND_WORKLOAD, name);
    step(f);
    assert_int_equal(f->fake.write_count, before);
}

static void test_podgroups_ended_pod_finishes_its_workload_then_is_let_go(void **state)
{
    struct fixture *f = *state;
    char name[254];
    admit_alone(f, name);
    put_pod(f, "a", NULL, "", "\"phase\":\"Failed\",\"message\":\"out of luck\"");
    step(f);
    const struct sl_json *c = sl_condition_find(workload(f, name), "Finished");
    assert_string_equal(sl_json_path_text(c, "reason", ""), "Failed");
    assert_string_equal(sl_json_path_text(c, "message", ""), "out of luck");
    assert_true(sl_podjob_has_finalizer(pod(f, "a")));
    show(f, SL_KIND_WORKLOAD, name);
    step(f);
    assert_false(sl_podjob_has_finalizer(pod(f, "a")));
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_int_equal(sl_json_len(sl_json_path(workload(f, name), "metadata.finalizers")), 0);
}

static void test_podgroups_deleted_workload_stays_until_its_pods_are_let_go(void **state)
{
    static const char deleted[] = ",\"deletionTimestamp\":\"2024-01-01T00:00:00Z\"";
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    sl_json_set_text(sl_json_path_make(workload(f, "g"), "metadata"), "deletionTimestamp",
                     "2024-01-01T00:00:00Z");
    put_pod(f, "a", "g", deleted, "\"phase\":\"Succeeded\"");
    put_pod(f, "b", "g", deleted, "\"phase\":\"Failed\"");
    f->fake.next_code = SL_CODE_UNAVAILABLE;
    step(f);
    assert_true(sl_podjob_has_finalizer(pod(f, "a")) != sl_podjob_has_finalizer(pod(f, "b")));
    assert_true(sl_workload_has_finalizer(workload(f, "g")));
    for (int i = 0; i < 3; i++) {
        show(f, SL_KIND_WORKLOAD, "g");
        step(f);
    }
    assert_false(sl_podjob_has_finalizer(pod(f, "a")) || sl_podjob_has_finalizer(pod(f, "b")));
    assert_false(sl_workload_has_finalizer(workload(f, "g")));
}

static void test_podgroups_evicted_pod_is_told_why_then_deleted(void **state)
{
    struct fixture *f = *state;
    char name[254];
    admit_alone(f, name);
    step(f);
    say(f, name, "Evicted", true);
    step(f);
    const struct sl_json *c = sl_condition_find(pod(f, "a"), "TerminationTarget");
    assert_string_equal(sl_json_path_text(c, "message", ""), "because");
    assert_string_equal(sl_json_path_text(c, "reason", ""), "WorkloadEvictedDueToBecause");
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_null(pod(f, "a"));
    assert_int_equal(stub.stopped, 0);
}

/* It stays for others, who have a finalizer of theirs on it; it has never run, and does not any more. */
static void test_podgroups_evicted_pod_that_others_hold_frees_the_quota(void **state)
{
    struct fixture *f = *state;
    char name[254];
    admit_alone(f, name);
    step(f);
    say(f, name, "Evicted", true);
    struct sl_json *live = pod(f, "a");
    sl_json_set_text(sl_json_get(live, "metadata"), "deletionTimestamp", "2023-11-14T22:13:20Z");
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_false(sl_podjob_has_finalizer(pod(f, "a")));
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_int_equal(stub.stopped, 1);
}

static void test_podgroups_evicted_pod_behind_its_gate_stays_and_frees_the_quota(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    step(f);
    char name[254];
    (void)snprintf(name, sizeof name, "%s", only_workload(f));
    say(f, name, "QuotaReserved", true);
    say(f, name, "Evicted", true);
    step(f);
    assert_non_null(pod(f, "a"));
    assert_int_equal(stub.stopped, 1);
}

static void test_podgroups_group_waits_for_all_its_pods(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    step(f);
    assert_null(workload(f, "g"));
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    const struct sl_json *wl = workload(f, "g");
    assert_non_null(wl);
    assert_string_equal(sl_json_path_text(wl, "spec.podSets.0.name", ""), "dc85db45");
    assert_true(sl_json_path_int(wl, "spec.podSets.0.count", 0) == 2);
    assert_int_equal(sl_json_len(sl_json_path(wl, "metadata.ownerReferences")), 2);
    assert_null(sl_object_controller_ref(wl));
    assert_null(sl_object_label(wl, SL_LABEL_JOB_UID));
}

static void test_podgroups_excess_pod_is_let_go_then_deleted(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", ",\"creationTimestamp\":\"2024-01-01T00:00:01Z\"",
            "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", ",\"creationTimestamp\":\"2024-01-01T00:00:02Z\"",
            "\"phase\":\"Pending\"");
    step(f);
    put_pod(f, "c", "g", ",\"creationTimestamp\":\"2024-01-01T00:00:00Z\"",
            "\"phase\":\"Pending\"");
    admit(f, "g");
    step(f);
    assert_false(sl_podjob_has_finalizer(pod(f, "b"))); /* the youngest */
    assert_true(sl_podjob_has_finalizer(pod(f, "c")));
    show(f, SL_KIND_POD, "b");
    step(f);
    assert_null(pod(f, "b"));
}

static void
test_podgroups_excess_pod_of_a_role_that_is_full_up_is_gone_before_the_workload(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "c", "g", "", "\"phase\":\"Pending\"");
    annotate(f, "c", "kueue.x-k8s.io/role-hash", "other");
    step(f);
    assert_false(sl_podjob_has_finalizer(pod(f, "c")));
    for (int i = 0; i < 4; i++) {
        show(f, SL_KIND_POD, "c");
        show(f, SL_KIND_WORKLOAD, "g");
        step(f);
    }
    assert_null(pod(f, "c"));
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_true(sl_json_path_int(workload(f, "g"), "spec.podSets.0.count", 0) == 2);
}

static void test_podgroups_missing_pod_is_waited_for(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    admit(f, "g");
    step(f);
    put_pod(f, "b", "g", "", "\"phase\":\"Failed\"");
    step(f);
    const struct sl_json *c = sl_condition_find(workload(f, "g"), "WaitingForReplacementPods");
    assert_string_equal(sl_json_path_text(c, "reason", ""), "PodsFailed");
    assert_true(sl_podjob_has_finalizer(pod(f, "b"))); /* it is counted until it is replaced */
    put_pod(f, "c", "g", "", "\"phase\":\"Pending\"");
    for (int i = 0; i < 4; i++) {
        show(f, SL_KIND_WORKLOAD, "g");
        step(f);
    }
    assert_false(sl_podjob_has_finalizer(pod(f, "b")));
    assert_false(sl_condition_true(workload(f, "g"), "WaitingForReplacementPods"));
    assert_false(sl_podjob_gated(pod(f, "c")));
    assert_int_equal(sl_json_len(sl_json_path(workload(f, "g"), "metadata.ownerReferences")), 3);
    assert_true(has_event(f, "OwnerReferencesAdded", "Added 1 owner reference(s)"));
}

static void test_podgroups_succeeded_pods_are_reclaimable_and_end_the_group(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    admit(f, "g");
    step(f);
    put_pod(f, "a", "g", "", "\"phase\":\"Succeeded\"");
    step(f);
    assert_json(sl_json_path(workload(f, "g"), "status.reclaimablePods"),
                "[{\"name\":\"dc85db45\",\"count\":1}]");
    put_pod(f, "b", "g", "", "\"phase\":\"Succeeded\"");
    step(f);
    assert_string_equal(
        sl_json_path_text(sl_condition_find(workload(f, "g"), "Finished"), "message", ""),
        "Pods succeeded: 2/2.");
}

/* Only its user knows what it is for: nobody deletes it, also when retention has taken the Workload and users the others. */
static void test_podgroups_pod_that_comes_when_all_is_over_is_let_go_and_stays(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    say(f, "g", "Finished", true);
    put_pod(f, "a", "g", "", "\"phase\":\"Succeeded\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Succeeded\"");
    put_pod(f, "c", "g", "", "\"phase\":\"Pending\"");
    step(f);
    assert_false(sl_podjob_has_finalizer(pod(f, "c")));
    show(f, SL_KIND_POD, "c");
    step(f);
    assert_true(sl_podjob_gated(pod(f, "c")));
    fake_remove(&f->fake, SL_KIND_WORKLOAD, "ns", "g");
    gone(f, "a");
    gone(f, "b");
    show(f, SL_KIND_POD, "c");
    step(f);
    assert_true(sl_podjob_gated(pod(f, "c")));
    assert_null(workload(f, "g"));
    put_pod(f, "d", "g", "", "\"phase\":\"Pending\"");
    step(f);
    assert_true(sl_json_path_int(workload(f, "g"), "spec.podSets.0.count", 0) == 2);
}

static void test_podgroups_workload_of_somebody_else_is_left_alone(void **state)
{
    struct fixture *f = *state;
    fake_put(
        &f->fake, SL_KIND_WORKLOAD,
        parse("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"x\"},\"spec\":{}}"));
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Failed\"");
    unsigned before = f->fake.write_count;
    step(f);
    assert_false(sl_podjob_has_finalizer(pod(f, "b"))); /* else nobody could delete it */
    assert_true(sl_podjob_has_finalizer(pod(f, "a")));
    assert_true(f->fake.write_count >= before + 1);
    assert_null(sl_json_path(workload(f, "g"), "metadata.ownerReferences"));
    assert_true(
        has_event(f, "WorkloadNameConflict",
                  "A Workload named \"g\" already exists but is not a pod group workload; this "
                  "pod group cannot be admitted"));
}

static void test_podgroups_workload_without_pods_is_let_go(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    gone(f, "a");
    step(f);
    assert_int_equal(sl_json_len(sl_json_path(workload(f, "g"), "metadata.finalizers")), 1);
    gone(f, "b");
    step(f);
    assert_int_equal(sl_json_len(sl_json_path(workload(f, "g"), "metadata.finalizers")), 0);
}

static void test_podgroups_unmanaged_pod_is_not_looked_at(void **state)
{
    struct fixture *f = *state;
    fake_put(
        &f->fake, SL_KIND_POD,
        parse("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"free\",\"uid\":\"u\",\"labels\":{"
              "\"kueue.x-k8s.io/queue-name\":\"lq\"}},\"status\":{\"phase\":\"Running\"}}"));
    show(f, SL_KIND_POD, "free");
    step(f);
    assert_int_equal(f->fake.write_count, 0);
    assert_true(sl_jobs_due_ms(&f->pods) == INT64_MAX);
}

/* Only the finalizer says now whose it is. */
static void test_podgroups_pod_without_its_label_is_let_go_at_its_end(void **state)
{
    struct fixture *f = *state;
    char name[254];
    admit_alone(f, name);
    put_pod(f, "a", NULL, "", "\"phase\":\"Succeeded\"");
    sl_json_remove(sl_json_path_make(pod(f, "a"), "metadata.labels"), "kueue.x-k8s.io/managed");
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_true(sl_condition_true(workload(f, name), "Finished"));
    show(f, SL_KIND_WORKLOAD, name);
    step(f);
    assert_false(sl_podjob_has_finalizer(pod(f, "a")));
}

static void put_prebuilt(struct fixture *f, const char *name, const char *more)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"w\"%s},\"spec\":{"
                   "\"podSets\":[{\"name\":\"main\",\"count\":1,\"template\":{\"spec\":{"
                   "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}]}}",
                   name, more);
    fake_put(&f->fake, SL_KIND_WORKLOAD, parse(text));
    show(f, SL_KIND_WORKLOAD, name);
}

static void test_podgroups_pod_waits_for_its_prebuilt_workload_and_runs_with_it(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    annotate(f, "a", SL_LABEL_PREBUILT, "made");
    step(f);
    assert_string_equal(only_workload(f), "");
    assert_true(sl_jobs_due_ms(&f->pods) < INT64_MAX); /* it will look again */
    put_prebuilt(f, "made", "");
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_true(sl_job_owns(pod(f, "a"), workload(f, "made")));
    assert_string_equal(sl_object_label(workload(f, "made"), SL_LABEL_JOB_UID), "uid-a");
    admit(f, "made");
    step(f);
    assert_false(sl_podjob_gated(pod(f, "a")));
}

static void test_podgroups_deleted_pod_goes_without_the_prebuilt_workload_of_its_group(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    annotate(f, "a", SL_LABEL_PREBUILT, "made");
    annotate(f, "b", SL_LABEL_PREBUILT, "made");
    sl_json_set_text(sl_json_get(pod(f, "a"), "metadata"), "deletionTimestamp",
                     "2026-08-22T10:00:00Z");
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_false(sl_podjob_has_finalizer(pod(f, "a")));
    assert_true(sl_podjob_has_finalizer(pod(f, "b")));
}

static void test_podgroups_prebuilt_workload_of_other_pods_is_given_up(void **state)
{
    struct fixture *f = *state;
    put_prebuilt(f, "made", "");
    sl_json_set_int(sl_json_path(workload(f, "made"), "spec.podSets.0"), "count", 3);
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    annotate(f, "a", SL_LABEL_PREBUILT, "made");
    step(f);
    assert_true(sl_job_owns(pod(f, "a"), workload(f, "made"))); /* as Kueue: first its owner */
    show(f, SL_KIND_WORKLOAD, "made");
    step(f);
    assert_string_equal(
        sl_json_path_text(sl_condition_find(workload(f, "made"), "Finished"), "reason", ""),
        "OutOfSync");
    assert_true(sl_podjob_gated(pod(f, "a")));
}

/* Of the group's two pods it knows one, or one role. */
static void expect_out_of_sync(struct fixture *f, int count)
{
    char role[SL_ROLE_SIZE];
    sl_podjob_role(pod(f, "a"), role);
    put_prebuilt(f, "g", "");
    struct sl_json *set = sl_json_path(workload(f, "g"), "spec.podSets.0");
    sl_json_set_text(set, "name", role);
    sl_json_set_int(set, "count", count);
    annotate(f, "a", SL_LABEL_PREBUILT, "g");
    annotate(f, "b", SL_LABEL_PREBUILT, "g");
    step(f);
    show(f, SL_KIND_WORKLOAD, "g");
    step(f);
    assert_string_equal(
        sl_json_path_text(sl_condition_find(workload(f, "g"), "Finished"), "reason", ""),
        "OutOfSync");
    assert_true(sl_podjob_gated(pod(f, "a")));
    assert_true(sl_podjob_gated(pod(f, "b")));
}

static void test_podgroups_prebuilt_workload_of_fewer_pods_is_given_up(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    expect_out_of_sync(f, 1);
}

static void test_podgroups_prebuilt_workload_without_one_of_the_roles_is_given_up(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    sl_json_set_text(sl_json_path_make(sl_json_at(sl_json_path(pod(f, "b"), "spec.containers"), 0),
                                       "resources.requests"),
                     "cpu", "7");
    expect_out_of_sync(f, 2);
}

static void test_podgroups_prebuilt_workload_of_another_owner_is_not_touched(void **state)
{
    struct fixture *f = *state;
    fake_put(&f->fake, SL_KIND_JOB,
             parse("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"b\",\"uid\":\"other\"}}"));
    put_prebuilt(
        f, "made",
        ",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"b\","
        "\"uid\":\"other\",\"controller\":true}]");
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    annotate(f, "a", SL_LABEL_PREBUILT, "made");
    step(f);
    assert_false(sl_job_owns(pod(f, "a"), workload(f, "made")));
    assert_false(sl_condition_true(workload(f, "made"), "Finished"));
    assert_true(sl_podjob_gated(pod(f, "a")));
}

static void test_podgroups_group_owns_its_prebuilt_workload_and_lets_it_go(void **state)
{
    struct fixture *f = *state;
    char role[SL_ROLE_SIZE];
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    sl_podjob_role(pod(f, "a"), role);
    put_prebuilt(f, "g", ",\"finalizers\":[\"" SL_FINALIZER "\"]");
    struct sl_json *set = sl_json_path(workload(f, "g"), "spec.podSets.0");
    sl_json_set_text(set, "name", role);
    sl_json_set_int(set, "count", 2);
    annotate(f, "a", SL_LABEL_PREBUILT, "g");
    annotate(f, "b", SL_LABEL_PREBUILT, "g");
    step(f);
    assert_int_equal(sl_json_len(sl_json_path(workload(f, "g"), "metadata.ownerReferences")), 2);
    admit(f, "g"); /* nothing but the Workload says so */
    step(f);
    assert_false(sl_podjob_gated(pod(f, "a")));
    assert_false(sl_podjob_gated(pod(f, "b")));
    gone(f, "a");
    gone(f, "b");
    step(f);
    assert_false(sl_workload_has_finalizer(workload(f, "g")));
}

static void put_class(struct fixture *f, const char *name, int64_t value)
{
    struct sl_json *class = sl_object_new(SL_KIND_WORKLOAD_PRIORITY_CLASS, "", name);
    sl_json_set_int(class, "value", value);
    fake_put(&f->fake, SL_KIND_WORKLOAD_PRIORITY_CLASS, class);
}

static void label(struct fixture *f, const char *name, const char *key, const char *value)
{
    sl_json_set_text(sl_json_path_make(pod(f, name), "metadata.labels"), key, value);
    show(f, SL_KIND_POD, name);
}

static void test_podgroups_workload_follows_its_pods_to_another_class_when_they_agree(void **state)
{
    struct fixture *f = *state;
    put_class(f, "high", 100);
    put_class(f, "low", 1);
    put_pod(f, "a", "g", ",\"creationTimestamp\":\"2024-01-01T00:00:01Z\"",
            "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", ",\"creationTimestamp\":\"2024-01-01T00:00:02Z\"",
            "\"phase\":\"Pending\"");
    step(f);
    assert_int_equal(sl_json_path_int(workload(f, "g"), "spec.priority", -1), 0);
    label(f, "a", SL_LABEL_PRIORITY_CLASS, "high");
    step(f);
    assert_int_equal(sl_json_path_int(workload(f, "g"), "spec.priority", -1), 0);
    label(f, "b", SL_LABEL_PRIORITY_CLASS, "high");
    step(f);
    assert_int_equal(sl_json_path_int(workload(f, "g"), "spec.priority", -1), 100);
    assert_string_equal(sl_json_path_text(workload(f, "g"), "spec.priorityClassRef.name", ""),
                        "high");
    assert_string_equal(sl_json_path_text(workload(f, "g"), "spec.priorityClassRef.kind", ""),
                        "WorkloadPriorityClass");
    say(f, "g", "QuotaReserved", true); /* it may change while quota is reserved */
    label(f, "a", SL_LABEL_PRIORITY_CLASS, "low");
    label(f, "b", SL_LABEL_PRIORITY_CLASS, "low");
    step(f);
    assert_int_equal(sl_json_path_int(workload(f, "g"), "spec.priority", -1), 1);
}

static int64_t limit_of(struct fixture *f, const char *name)
{
    return sl_json_path_int(workload(f, name), "spec.maximumExecutionTimeSeconds", 0);
}

static void test_podgroups_workload_follows_to_another_limit_when_all_pods_ask_for_it(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    sl_json_set_text(sl_json_path_make(workload(f, "g"), "metadata"), "uid", "first");
    label(f, "a", SL_LABEL_MAX_EXEC_S, "10");
    step(f);
    assert_true(limit_of(f, "g") == 0);
    label(f, "b", SL_LABEL_MAX_EXEC_S, "10");
    step(f);
    assert_true(limit_of(f, "g") == 10);
    assert_string_equal(sl_object_uid(workload(f, "g")), "first");
    assert_true(fake_count(&f->fake, SL_KIND_EVENT) == 2); /* it was made, it was updated */
}

static void test_podgroups_workload_with_quota_is_made_anew_for_another_limit(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    say(f, "g", "QuotaReserved", true);
    label(f, "a", SL_LABEL_MAX_EXEC_S, "10");
    label(f, "b", SL_LABEL_MAX_EXEC_S, "10");
    step(f);
    assert_false(sl_workload_has_finalizer(workload(f, "g"))); /* before it is deleted */
    show(f, SL_KIND_WORKLOAD, "g");
    step(f);
    assert_null(workload(f, "g"));
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_true(limit_of(f, "g") == 10);
    assert_false(sl_condition_true(workload(f, "g"), "QuotaReserved"));
    assert_true(sl_podjob_gated(pod(f, "a")) && sl_podjob_gated(pod(f, "b")));
}

static void test_podgroups_running_pod_of_another_limit_is_stopped(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    step(f);
    admit(f, only_workload(f));
    step(f);
    assert_false(sl_podjob_gated(pod(f, "a")));
    label(f, "a", SL_LABEL_MAX_EXEC_S, "10");
    step(f);
    const struct sl_json *c = sl_condition_find(pod(f, "a"), SL_TERMINATION_TARGET);
    assert_string_equal(sl_json_path_text(c, "reason", ""), "NoMatchingWorkload");
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_null(pod(f, "a"));
}

static void test_podgroups_workload_follows_its_gated_pod_to_other_nodes(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    step(f);
    sl_json_set_text(sl_json_path_make(pod(f, "a"), "spec.nodeSelector"), "zone", "z");
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_string_equal(sl_json_path_text(workload(f, only_workload(f)),
                                          "spec.podSets.0.template.spec.nodeSelector.zone", ""),
                        "z");
}

static void test_podgroups_each_pod_is_told_what_checks_say(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    unsigned before = fake_count(&f->fake, SL_KIND_EVENT);
    sl_json_set(sl_json_path_make(workload(f, "g"), "status"), "admissionChecks",
                parse("[{\"name\":\"one\",\"state\":\"Pending\",\"message\":\"ETA: noon\"},"
                      "{\"name\":\"two\",\"state\":\"Ready\",\"message\":\"yes\"}]"));
    show(f, SL_KIND_WORKLOAD, "g");
    step(f);
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), before); /* it has no quota */
    say(f, "g", "QuotaReserved", true);
    step(f);
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), before + 2);
    say(f, "g", "Admitted", true);
    step(f);
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), before + 4); /* they are started */
}

static void test_podgroups_index_beyond_the_group_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const wrong[] = {"2", "-1", "x", "", "1x"};
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
        label(f, "b", SL_POD_GROUP_INDEX, wrong[i]);
        step(f);
        assert_null(workload(f, "g"));
    }
    assert_true(fake_count(&f->fake, SL_KIND_EVENT) > 0);
    label(f, "b", SL_POD_GROUP_INDEX, "1");
    step(f);
    assert_non_null(workload(f, "g"));
}

static void test_podgroups_pods_of_other_roles_get_another_workload_and_stay(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    annotate(f, "a", SL_POD_ROLE, "other");
    annotate(f, "b", SL_POD_ROLE, "other");
    step(f);
    assert_string_equal(sl_json_path_text(workload(f, "g"), "spec.podSets.0.name", ""), "other");
    assert_non_null(pod(f, "a"));
    assert_non_null(pod(f, "b"));
}

static void test_podgroups_workload_with_quota_and_no_class_is_given_none(void **state)
{
    struct fixture *f = *state;
    put_class(f, "high", 100);
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    step(f);
    char name[254];
    (void)snprintf(name, sizeof name, "%s", only_workload(f));
    say(f, name, "QuotaReserved", true);
    label(f, "a", SL_LABEL_PRIORITY_CLASS, "high");
    step(f);
    assert_null(sl_json_path(workload(f, name), "spec.priorityClassRef"));
    say(f, name, "QuotaReserved", false);
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_string_equal(sl_json_path_text(workload(f, name), "spec.priorityClassRef.name", ""),
                        "high");
}

static void test_podgroups_admission_gates_of_the_pod_are_its_workloads(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    annotate(f, "a", SL_ANNOTATION_GATED_BY, "a.com/x");
    step(f);
    assert_string_equal(sl_object_annotation(workload(f, only_workload(f)), SL_ANNOTATION_GATED_BY),
                        "a.com/x");
    sl_json_remove(sl_json_path(pod(f, "a"), "metadata.annotations"), SL_ANNOTATION_GATED_BY);
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_null(sl_object_annotation(workload(f, only_workload(f)), SL_ANNOTATION_GATED_BY));
}

static void test_podgroups_labels_are_copied_when_the_pods_agree(void **state)
{
    struct fixture *f = *state;
    static const char *const keys[] = {"team", "tier"};
    f->pods.rules.copied.labels = keys;
    f->pods.rules.copied.label_count = 2;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    sl_json_set_text(sl_json_path(pod(f, "a"), "metadata.labels"), "team", "red");
    sl_json_set_text(sl_json_path(pod(f, "b"), "metadata.labels"), "team", "blue");
    step(f);
    assert_null(workload(f, "g"));
    sl_json_set_text(sl_json_path(pod(f, "b"), "metadata.labels"), "team", "red");
    sl_json_set_text(sl_json_path(pod(f, "b"), "metadata.labels"), "tier", "gold");
    show(f, SL_KIND_POD, "b");
    step(f);
    assert_string_equal(sl_object_label(workload(f, "g"), "team"), "red");
    assert_string_equal(sl_object_label(workload(f, "g"), "tier"), "gold");
}

static void test_podgroups_annotations_are_copied_when_the_pods_agree(void **state)
{
    struct fixture *f = *state;
    static const char *const keys[] = {"team"};
    f->pods.rules.copied = (struct sl_copied_keys){.annotation_count = 1, .annotations = keys};
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    annotate(f, "a", "team", "red");
    annotate(f, "b", "team", "blue");
    step(f);
    assert_null(workload(f, "g"));
    assert_true(has_event(f, "ErrWorkloadCompose",
                          "constructing workload: pods have different annotation values"));
    annotate(f, "b", "team", "red");
    step(f);
    assert_string_equal(sl_object_annotation(workload(f, "g"), "team"), "red");
}

static void test_podgroups_pods_of_other_namespaces_are_left_alone(void **state)
{
    struct fixture *f = *state;
    struct sl_selector *namespaces = sl_selector_parse_labels("team=a", NULL);
    f->pods.rules.namespaces = namespaces;
    fake_put(&f->fake, SL_KIND_NAMESPACE, parse("{\"metadata\":{\"name\":\"ns\"}}"));
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    step(f);
    assert_string_equal(only_workload(f), "");
    assert_true(has_event(f, "NamespaceNotManaged",
                          "managedJobsNamespaceSelector leaves out the namespace ns: nothing will "
                          "let this Pod start"));
    fake_put(&f->fake, SL_KIND_NAMESPACE,
             parse("{\"metadata\":{\"name\":\"ns\",\"labels\":{\"team\":\"a\"}}}"));
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_true(only_workload(f)[0] != '\0');
    sl_selector_free(namespaces);
    f->pods.rules.namespaces = NULL;
}

static void put_running(struct fixture *f, const char *name)
{
    put_pod(f, name, NULL, "", "\"phase\":\"Running\"");
    sl_json_remove(sl_json_get(pod(f, name), "spec"), "schedulingGates");
    show(f, SL_KIND_POD, name);
}

static void test_podgroups_running_pod_without_a_workload_is_stopped_as_kueue_says(void **state)
{
    struct fixture *f = *state;
    put_running(f, "a");
    step(f);
    const struct sl_json *c = sl_condition_find(pod(f, "a"), SL_TERMINATION_TARGET);
    assert_string_equal(sl_json_path_text(c, "reason", ""), "NoMatchingWorkload");
    assert_string_equal(sl_json_path_text(c, "message", ""),
                        "Missing Workload; unable to restore pod templates");
}

/* Else it would run without quota, since what has finished holds none. */
static void test_podgroups_running_pod_of_other_prebuilt_workload_is_stopped_first(void **state)
{
    struct fixture *f = *state;
    put_prebuilt(f, "made", "");
    sl_json_set_int(sl_json_path(workload(f, "made"), "spec.podSets.0"), "count", 3);
    admit(f, "made");
    put_running(f, "a");
    annotate(f, "a", SL_LABEL_PREBUILT, "made");
    for (int i = 0; i < 2; i++) {
        step(f);
        show(f, SL_KIND_WORKLOAD, "made");
    }
    assert_true(sl_condition_true(pod(f, "a"), SL_TERMINATION_TARGET));
    assert_false(sl_condition_true(workload(f, "made"), "Finished"));
}

static void test_podgroups_running_pod_of_anothers_prebuilt_workload_is_stopped(void **state)
{
    struct fixture *f = *state;
    fake_put(&f->fake, SL_KIND_JOB,
             parse("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"b\",\"uid\":\"other\"}}"));
    put_prebuilt(
        f, "made",
        ",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"b\","
        "\"uid\":\"other\",\"controller\":true}]");
    put_running(f, "a");
    annotate(f, "a", SL_LABEL_PREBUILT, "made");
    step(f);
    assert_string_equal(
        sl_json_path_text(sl_condition_find(pod(f, "a"), SL_TERMINATION_TARGET), "message", ""),
        "missing workload");
}

static void test_podgroups_workload_of_a_pod_that_is_gone_is_finished_as_orphan(void **state)
{
    struct fixture *f = *state;
    char name[254];
    admit_alone(f, name);
    gone(f, "a");
    (void)sl_jobs_step(&f->pods, T0 + 5000, 16);
    fake_flush(&f->fake);
    assert_string_equal(
        sl_json_path_text(sl_condition_find(workload(f, name), "Finished"), "reason", ""),
        "OwnerNotFound");
    show(f, SL_KIND_WORKLOAD, name);
    step(f);
    assert_false(sl_workload_has_finalizer(workload(f, name)));
}

static void test_podgroups_pods_without_their_label_leave_the_queue(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    assert_string_equal(sl_json_path_text(workload(f, "g"), "spec.queueName", ""), "lq");
    sl_json_remove(sl_json_path(pod(f, "a"), "metadata.labels"), SL_LABEL_QUEUE);
    sl_json_remove(sl_json_path(pod(f, "b"), "metadata.labels"), SL_LABEL_QUEUE);
    show(f, SL_KIND_POD, "a");
    step(f);
    assert_string_equal(sl_json_path_text(workload(f, "g"), "spec.queueName", ""), "");
}

/* The oldest speaks for all, in whatever order they were seen. */
static void test_podgroups_oldest_pod_says_the_queue(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "h"};
    struct fixture *f = *state;
    for (size_t i = 0; i < 6; i++) {
        put_pod(f, names[i], "g", "", "\"phase\":\"Pending\"");
        annotate(f, names[i], "kueue.x-k8s.io/pod-group-total-count", "6");
    }
    for (size_t i = 0; i < 6; i++) {
        show(f, SL_KIND_POD, names[i]);
    }
    step(f);
    for (size_t i = 0; i < 6; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "2026-01-01T00:00:%02zuZ", i == 4 ? 0 : 10 + i);
        sl_json_set_text(sl_json_path(pod(f, names[i]), "metadata"), "creationTimestamp", text);
        label(f, names[i], SL_LABEL_QUEUE, names[i]);
        step(f);
    }
    assert_string_equal(sl_json_path_text(workload(f, "g"), "spec.queueName", ""), "e");
}

static void test_podgroups_group_that_serves_stays_in_its_queue(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    annotate(f, "a", SL_POD_GROUP_SERVING, "true");
    step(f);
    label(f, "a", SL_LABEL_QUEUE, "other");
    label(f, "b", SL_LABEL_QUEUE, "other");
    step(f);
    assert_string_equal(sl_json_path_text(workload(f, "g"), "spec.queueName", ""), "lq");
}

/* While quota is held it must not: what was given back may be another's. */
static void test_podgroups_count_of_succeeded_pods_shrinks_only_without_quota(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g", "", "\"phase\":\"Succeeded\"");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    step(f);
    admit(f, "g");
    step(f);
    assert_int_equal(sl_json_path_int(workload(f, "g"), "status.reclaimablePods.0.count", 0), 1);
    put_pod(f, "a", "g", "", "\"phase\":\"Pending\"");
    step(f);
    assert_int_equal(sl_json_path_int(workload(f, "g"), "status.reclaimablePods.0.count", 0), 1);
    say(f, "g", "Admitted", false);
    say(f, "g", "QuotaReserved", false);
    for (int i = 0; i < 4; i++) {
        show(f, SL_KIND_WORKLOAD, "g");
        step(f);
    }
    assert_null(sl_json_path(workload(f, "g"), "status.reclaimablePods"));
}

static void test_podgroups_missing_class_is_waited_for_by_its_event(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", NULL, ",\"x\":1", "\"phase\":\"Pending\"");
    label(f, "a", SL_LABEL_PRIORITY_CLASS, "high");
    step(f);
    assert_string_equal(only_workload(f), "");
    assert_true(
        has_event(f, "WorkloadPriorityClassNotFound", "WorkloadPriorityClass \"high\" not found"));
    put_class(f, "high", 7);
    sl_jobs_observe(&f->pods, SL_KIND_WORKLOAD_PRIORITY_CLASS,
                    fake_find(&f->fake, SL_KIND_WORKLOAD_PRIORITY_CLASS, "", "high"), false, T0);
    step(f);
    assert_true(sl_json_path_int(workload(f, only_workload(f)), "spec.priority", 0) == 7);
}

static void test_podgroups_pod_without_a_class_gets_the_default_one(void **state)
{
    struct fixture *f = *state;
    struct sl_json *class =
        parse("{\"metadata\":{\"name\":\"usual\"},\"value\":3,\"globalDefault\":true}");
    fake_put(&f->fake, SL_KIND_PRIORITY_CLASS, sl_json_clone(class));
    sl_jobs_observe(&f->pods, SL_KIND_PRIORITY_CLASS, class, false, T0);
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    step(f);
    assert_true(sl_json_path_int(workload(f, only_workload(f)), "spec.priority", 0) == 3);
    sl_json_free(class);
}

/* Those that are being deleted may run as long as their grace lasts. */
static void test_podgroups_group_gets_no_workload_before_its_old_pods_have_stopped(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "a", "g",
            ",\"deletionTimestamp\":\"2023-11-14T22:13:20Z\",\"deletionGracePeriodSeconds\":30",
            "\"phase\":\"Running\"");
    sl_json_set_text(sl_json_get(pod(f, "a"), "spec"), "nodeName", "n");
    sl_json_remove(sl_json_get(pod(f, "a"), "spec"), "schedulingGates");
    put_pod(f, "b", "g", "", "\"phase\":\"Pending\"");
    put_pod(f, "c", "g", "", "\"phase\":\"Pending\"");
    step(f);
    assert_null(workload(f, "g"));
    assert_non_null(pod(f, "c"));
    assert_true(sl_podjob_has_finalizer(pod(f, "c")));
    gone(f, "a");
    show(f, SL_KIND_POD, "b");
    step(f);
    assert_non_null(workload(f, "g"));
}

/* Its namespace is left out later on. */
static void test_podgroups_pod_with_a_workload_is_managed_to_its_end(void **state)
{
    struct fixture *f = *state;
    char name[254];
    admit_alone(f, name);
    step(f);
    struct sl_selector *namespaces = sl_selector_parse_labels("team=a", NULL);
    f->pods.rules.namespaces = namespaces;
    fake_put(&f->fake, SL_KIND_NAMESPACE, parse("{\"metadata\":{\"name\":\"ns\"}}"));
    say(f, name, "Evicted", true);
    step(f);
    assert_true(sl_condition_true(pod(f, "a"), SL_TERMINATION_TARGET));
    sl_selector_free(namespaces);
    f->pods.rules.namespaces = NULL;
}

/* Annotations can be longer than names. */
static void test_podgroups_group_with_an_endless_name_does_no_harm(void **state)
{
    struct fixture *f = *state;
    char name[1000];
    memset(name, 'g', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    put_pod(f, "a", NULL, "", "\"phase\":\"Pending\"");
    annotate(f, "a", SL_POD_GROUP, name);
    step(f);
    name[255] = '\0'; /* as long as keys can be */
    annotate(f, "a", SL_POD_GROUP, name);
    annotate(f, "a", SL_POD_GROUP_COUNT, "1");
    step(f);
    assert_true(sl_podjob_gated(pod(f, "a")));
    gone(f, "a");
    step(f);
}

static void test_podgroups_are_wanted_when_the_rules_name_pods_or_nothing(void **state)
{
    (void)state;
    static const char *const jobs[] = {"batch/job"};
    static const char *const both[] = {"batch/job", "pod"};
    struct sl_job_rules rules = {.framework_count = 0};
    assert_true(sl_jobs_enabled(&rules, &sl_pod_framework));
    rules.framework_count = 1;
    rules.frameworks = jobs;
    assert_false(sl_jobs_enabled(&rules, &sl_pod_framework));
    rules.framework_count = 2;
    rules.frameworks = both;
    assert_true(sl_jobs_enabled(&rules, &sl_pod_framework));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_podgroups_pod_gets_a_workload_and_starts_with_it),
        TEST(test_podgroups_started_pod_is_waited_for),
        TEST(test_podgroups_ended_pod_finishes_its_workload_then_is_let_go),
        TEST(test_podgroups_deleted_workload_stays_until_its_pods_are_let_go),
        TEST(test_podgroups_evicted_pod_is_told_why_then_deleted),
        TEST(test_podgroups_evicted_pod_that_others_hold_frees_the_quota),
        TEST(test_podgroups_evicted_pod_behind_its_gate_stays_and_frees_the_quota),
        TEST(test_podgroups_group_waits_for_all_its_pods),
        TEST(test_podgroups_excess_pod_is_let_go_then_deleted),
        TEST(test_podgroups_excess_pod_of_a_role_that_is_full_up_is_gone_before_the_workload),
        TEST(test_podgroups_missing_pod_is_waited_for),
        TEST(test_podgroups_succeeded_pods_are_reclaimable_and_end_the_group),
        TEST(test_podgroups_pod_that_comes_when_all_is_over_is_let_go_and_stays),
        TEST(test_podgroups_workload_of_somebody_else_is_left_alone),
        TEST(test_podgroups_workload_without_pods_is_let_go),
        TEST(test_podgroups_unmanaged_pod_is_not_looked_at),
        TEST(test_podgroups_pod_without_its_label_is_let_go_at_its_end),
        TEST(test_podgroups_pod_waits_for_its_prebuilt_workload_and_runs_with_it),
        TEST(test_podgroups_deleted_pod_goes_without_the_prebuilt_workload_of_its_group),
        TEST(test_podgroups_prebuilt_workload_of_other_pods_is_given_up),
        TEST(test_podgroups_prebuilt_workload_of_fewer_pods_is_given_up),
        TEST(test_podgroups_prebuilt_workload_without_one_of_the_roles_is_given_up),
        TEST(test_podgroups_prebuilt_workload_of_another_owner_is_not_touched),
        TEST(test_podgroups_group_owns_its_prebuilt_workload_and_lets_it_go),
        TEST(test_podgroups_workload_follows_its_pods_to_another_class_when_they_agree),
        TEST(test_podgroups_workload_follows_to_another_limit_when_all_pods_ask_for_it),
        TEST(test_podgroups_workload_with_quota_is_made_anew_for_another_limit),
        TEST(test_podgroups_running_pod_of_another_limit_is_stopped),
        TEST(test_podgroups_workload_follows_its_gated_pod_to_other_nodes),
        TEST(test_podgroups_each_pod_is_told_what_checks_say),
        TEST(test_podgroups_index_beyond_the_group_is_refused),
        TEST(test_podgroups_pods_of_other_roles_get_another_workload_and_stay),
        TEST(test_podgroups_workload_with_quota_and_no_class_is_given_none),
        TEST(test_podgroups_admission_gates_of_the_pod_are_its_workloads),
        TEST(test_podgroups_labels_are_copied_when_the_pods_agree),
        TEST(test_podgroups_annotations_are_copied_when_the_pods_agree),
        TEST(test_podgroups_pods_of_other_namespaces_are_left_alone),
        TEST(test_podgroups_running_pod_without_a_workload_is_stopped_as_kueue_says),
        TEST(test_podgroups_running_pod_of_other_prebuilt_workload_is_stopped_first),
        TEST(test_podgroups_running_pod_of_anothers_prebuilt_workload_is_stopped),
        TEST(test_podgroups_workload_of_a_pod_that_is_gone_is_finished_as_orphan),
        TEST(test_podgroups_pods_without_their_label_leave_the_queue),
        TEST(test_podgroups_oldest_pod_says_the_queue),
        TEST(test_podgroups_group_that_serves_stays_in_its_queue),
        TEST(test_podgroups_count_of_succeeded_pods_shrinks_only_without_quota),
        TEST(test_podgroups_missing_class_is_waited_for_by_its_event),
        TEST(test_podgroups_pod_without_a_class_gets_the_default_one),
        TEST(test_podgroups_group_gets_no_workload_before_its_old_pods_have_stopped),
        TEST(test_podgroups_pod_with_a_workload_is_managed_to_its_end),
        TEST(test_podgroups_group_with_an_endless_name_does_no_harm),
        TEST(test_podgroups_are_wanted_when_the_rules_name_pods_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
