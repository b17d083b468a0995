/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Elastic jobs, step by step, over a fake client; the test does what the engine would. */
#include "t.h"
#include "base/clock.h"
#include "engine/parents.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/job_slices.h"
#include "controllers/jobs/jobs.h"
#include "fake_client.h"

#define T0 1700000000000
#define REPLACED "kueue.x-k8s.io/workload-slice-replacement-for"
#define SLICE "kueue.x-k8s.io/workload-slice-name"

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_jobs jobs;
    unsigned made; /* Workloads that have got their uid */
};

static unsigned stopped_calls;

bool sl_engine_reclaims(const struct sl_engine *g)
{
    (void)g;
    return true;
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
    (void)workload;
    (void)now_ms;
    stopped_calls++;
}

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    static const struct sl_job_rules rules = {.elastic = true};
    sl_clock_set_virtual(T0);
    stopped_calls = 0;
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_jobs_init(&f->jobs, &f->fake.client, f->recorder, NULL, &rules);
    fake_put(&f->fake, SL_KIND_RESOURCE_FLAVOR,
             parse("{\"metadata\":{\"name\":\"spot\"},\"spec\":{\"nodeLabels\":{\"m\":\"s\"}}}"));
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

/* The Workload with that number, in the order in which they were made; NULL: there is none. */
static struct sl_json *workload(struct fixture *f, unsigned number)
{
    char uid[16];
    char prefix[16];
    struct sl_json *found = NULL;
    snprintf(uid, sizeof uid, "w%u", number);
    snprintf(prefix, sizeof prefix, "%d/", (int)SL_KIND_WORKLOAD);
    for (struct sl_map_item e = {0}; sl_map_each(f->fake.objects, &e);) {
        if (strncmp(e.key, prefix, strlen(prefix)) == 0 &&
            strcmp(sl_object_uid(e.value.pointer), uid) == 0) {
            found = e.value.pointer;
        }
    }
    return found;
}

/* What the API server gives a new object. */
static void complete(struct fixture *f)
{
    char prefix[16];
    snprintf(prefix, sizeof prefix, "%d/", (int)SL_KIND_WORKLOAD);
    for (struct sl_map_item e = {0}; sl_map_each(f->fake.objects, &e);) {
        struct sl_json *o = e.value.pointer;
        if (strncmp(e.key, prefix, strlen(prefix)) == 0 && sl_object_uid(o)[0] == '\0') {
            char text[32];
            snprintf(text, sizeof text, "w%u", ++f->made);
            sl_json_set_text(sl_json_get(o, "metadata"), "uid", text);
            sl_clock_format(T0 + 1000 * (int64_t)f->made, text);
            sl_json_set_text(sl_json_get(o, "metadata"), "creationTimestamp", text);
        }
    }
}

static void see(struct fixture *f, enum sl_kind kind, struct sl_json *o, bool deleted,
                int64_t at_ms)
{
    struct sl_json *seen = sl_json_clone(o);
    sl_jobs_observe(&f->jobs, kind, seen, deleted, at_ms);
    sl_json_free(seen);
}

/* Let the controller look until it has nothing more to write. */
static void settle_at(struct fixture *f, int64_t at_ms)
{
    unsigned before, rounds = 0;
    sl_clock_set_virtual(at_ms);
    do {
        before = f->fake.change_count;
        complete(f);
        if (job(f) != NULL) {
            see(f, SL_KIND_JOB, job(f), false, at_ms);
        }
        for (unsigned i = 1; i <= f->made; i++) {
            if (workload(f, i) != NULL) {
                see(f, SL_KIND_WORKLOAD, workload(f, i), false, at_ms);
            }
        }
        sl_jobs_step(&f->jobs, at_ms, 16);
        fake_flush(&f->fake);
        assert_true(++rounds < 40);
    } while (f->fake.change_count != before);
    complete(f);
}

static void settle(struct fixture *f)
{
    settle_at(f, T0);
}

static void put_job(struct fixture *f, bool elastic)
{
    char text[900];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"j\",\"namespace\":\"n\",\"uid\":\"u\",\"generation\":1,"
             "\"annotations\":{\"kueue.x-k8s.io/elastic-job\":\"%s\"},"
             "\"labels\":{\"kueue.x-k8s.io/queue-name\":\"q\"}},"
             "\"spec\":{\"suspend\":true,\"parallelism\":2,\"completions\":9,\"template\":{"
             "\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}}",
             elastic ? "true" : "false");
    fake_put(&f->fake, SL_KIND_JOB, parse(text));
}

static void set(struct sl_json *wl, const char *condition, bool value)
{
    sl_condition_set(sl_json_path_make(wl, "status"), condition, value, "Test", "by the test", 0,
                     T0);
}

static int64_t count(const struct sl_json *wl)
{
    return sl_json_path_int(sl_workload_pod_set(wl, 0), "count", -1);
}

/* What the engine decides. */
static void reserve(struct sl_json *wl)
{
    struct sl_json *admission =
        parse("{\"clusterQueue\":\"cq\",\"podSetAssignments\":[{\"name\":\"main\","
              "\"flavors\":{\"cpu\":\"spot\"}}]}");
    sl_json_set_int(sl_json_at(sl_json_get(admission, "podSetAssignments"), 0), "count", count(wl));
    sl_json_set(sl_json_path_make(wl, "status"), "admission", admission);
    set(wl, "QuotaReserved", true);
}

static void admit(struct sl_json *wl)
{
    reserve(wl);
    set(wl, "Admitted", true);
}

static void finish(struct sl_json *wl)
{
    sl_condition_set(sl_json_path_make(wl, "status"), "Finished", true, SL_REASON_REPLACED, "", 0,
                     T0);
}

static void release(struct sl_json *wl)
{
    sl_json_remove(sl_json_get(wl, "status"), "admission");
    set(wl, "QuotaReserved", false);
    set(wl, "Admitted", false);
}

static void run(struct fixture *f, int64_t pods)
{
    struct sl_json *status = sl_json_path_make(job(f), "status");
    sl_json_set_text(status, "startTime", "2023-11-14T22:13:20Z");
    sl_json_set_int(status, "active", pods);
    sl_json_set_int(status, "ready", pods);
}

static void scale(struct fixture *f, int64_t pods)
{
    sl_json_set_int(sl_json_get(job(f), "spec"), "parallelism", pods);
    sl_json_set_int(sl_json_get(job(f), "metadata"), "generation",
                    sl_object_generation(job(f)) + 1);
}

static void start(struct fixture *f)
{
    put_job(f, true);
    settle(f);
    admit(workload(f, 1));
    settle(f);
    run(f, 2);
    settle(f);
}

static const char *note(const struct sl_json *o, const char *key)
{
    const char *text = sl_object_annotation(o, key);
    return text == NULL ? "" : text;
}

static bool runs(struct fixture *f)
{
    return !sl_job_suspended(job(f));
}

static const char *finished(const struct sl_json *wl)
{
    return sl_condition_true(wl, "Finished")
               ? sl_json_path_text(sl_condition_find(wl, "Finished"), "reason", "")
               : "";
}

static void test_slices_first_one_is_named_by_the_generation_of_its_job(void **state)
{
    struct fixture *f = *state;
    char name[254];
    put_job(f, true);
    settle(f);
    sl_slice_print_name(&sl_job_framework, job(f), name);
    assert_string_equal(sl_object_name(workload(f, 1)), name);
    assert_string_equal(note(workload(f, 1), SL_ANNOTATION_ELASTIC), "true");
    assert_string_equal(note(workload(f, 1), SLICE), name);
    assert_string_equal(note(workload(f, 1), REPLACED), "");
    assert_int_equal(f->made, 1);
}

/* Kueue's name for Job "j" with uid "u" at generation 1: the hash of "Job\nbatch\nj\nu\n1". */
static void test_slices_name_is_kueues(void **state)
{
    struct fixture *f = *state;
    char name[254];
    put_job(f, true);
    sl_slice_print_name(&sl_job_framework, job(f), name);
    assert_string_equal(name, "job-j-611ff");
}

static void test_slices_without_the_gate_or_the_mark_are_none(void **state)
{
    struct fixture *f = *state;
    char name[254];
    put_job(f, false);
    settle(f);
    sl_framework_workload_name(&sl_job_framework, "j", "u", name);
    assert_string_equal(sl_object_name(workload(f, 1)), name);
    f->jobs.rules.elastic = false;
    put_job(f, true);
    settle(f);
    assert_int_equal(f->made, 1);
    assert_string_equal(note(workload(f, 1), SLICE), "");
}

static void test_slices_pods_are_gated_and_named_when_the_job_starts(void **state)
{
    struct fixture *f = *state;
    start(f);
    const struct sl_json *template = sl_json_path(job(f), "spec.template");
    assert_true(runs(f));
    assert_true(sl_template_has_gate(template, SL_GATE_ELASTIC));
    assert_string_equal(note(template, SLICE), sl_object_name(workload(f, 1)));
}

static void test_slices_of_a_job_that_grows_are_two_and_it_runs_on(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    char key[300];
    const char *first = sl_object_name(workload(f, 1));
    struct sl_json *second = workload(f, 2);
    snprintf(key, sizeof key, "n/%s", first);
    assert_non_null(second);
    assert_int_equal(f->made, 2);
    assert_string_equal(note(second, REPLACED), key);
    assert_string_equal(note(second, SLICE), first);
    assert_int_equal(count(second), 5);
    assert_int_equal(count(workload(f, 1)), 2);
    assert_true(runs(f));
    const struct sl_json *template = sl_json_get(sl_workload_pod_set(second, 0), "template");
    assert_null(sl_json_path(template, "spec.nodeSelector")); /* as its user has it */
    assert_string_equal(note(template, SLICE), first);
    assert_string_equal(finished(workload(f, 1)), "");
}

static void test_slices_of_a_job_that_shrinks_stay_and_have_fewer_pods(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 1);
    settle(f);
    assert_int_equal(f->made, 1);
    assert_int_equal(count(workload(f, 1)), 1);
    assert_true(sl_condition_true(workload(f, 1), "Admitted"));
    assert_true(runs(f));
}

static void test_slices_that_wait_are_changed_in_place(void **state)
{
    struct fixture *f = *state;
    put_job(f, true);
    settle(f);
    scale(f, 6);
    settle(f);
    assert_int_equal(f->made, 1);
    assert_int_equal(count(workload(f, 1)), 6);
    admit(workload(f, 1));
    settle(f);
    run(f, 6);
    scale(f, 8);
    settle(f);
    scale(f, 7);
    settle(f);
    assert_int_equal(f->made, 2);
    assert_int_equal(count(workload(f, 2)), 7);
    assert_int_equal(count(workload(f, 1)), 6);
    assert_true(runs(f));
}

/* It may wait for long, and what the job does not need is free at once. */
static void test_slices_that_wait_for_no_more_than_the_job_has_are_ended(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    scale(f, 2);
    settle(f);
    assert_string_equal(finished(workload(f, 2)), "OutOfSync");
    assert_false(sl_workload_has_finalizer(workload(f, 2)));
    assert_int_equal(count(workload(f, 1)), 2);
    scale(f, 6);
    settle_at(f, T0 + 5000);
    assert_int_equal(count(workload(f, 3)), 6);
    scale(f, 1);
    settle_at(f, T0 + 5000);
    assert_string_equal(finished(workload(f, 3)), "OutOfSync");
    assert_int_equal(count(workload(f, 1)), 1);
    assert_true(runs(f));
    assert_int_equal(f->made, 3);
}

/* It is all that the job will have. */
static void test_slices_that_wait_stay_while_the_other_one_is_evicted(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    set(workload(f, 1), "Evicted", true);
    scale(f, 1);
    settle(f);
    assert_string_equal(finished(workload(f, 2)), "");
}

static void test_slices_replaced_one_is_let_go_and_the_job_runs_on(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    admit(workload(f, 2));
    finish(workload(f, 1));
    settle(f);
    assert_true(runs(f));
    assert_false(sl_workload_has_finalizer(workload(f, 1)));
    assert_true(sl_workload_has_finalizer(workload(f, 2)));
    assert_int_equal(f->made, 2);
    scale(f, 9);
    settle_at(f, T0 + 2000); /* two may be made a second */
    assert_int_equal(f->made, 3);
    char key[300];
    snprintf(key, sizeof key, "n/%s", sl_object_name(workload(f, 2)));
    assert_string_equal(note(workload(f, 3), REPLACED), key);
    assert_string_equal(note(workload(f, 3), SLICE), sl_object_name(workload(f, 1)));
}

/* It has the quota, and its checks are not through: the pods that run had quota before. */
static void test_slices_that_wait_for_checks_do_not_stop_the_job(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    reserve(workload(f, 2));
    finish(workload(f, 1));
    settle(f);
    assert_true(runs(f));
}

/* Two have quota: the engine ends the old one, or did not come to that before it was restarted. */
static void test_slices_in_whose_place_another_is_are_ended_after_a_while(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    admit(workload(f, 2));
    settle(f);
    assert_string_equal(finished(workload(f, 1)), "");
    settle_at(f, T0 + 2500);
    assert_string_equal(finished(workload(f, 1)), SL_REASON_REPLACED);
    assert_string_equal(finished(workload(f, 2)), "");
    assert_true(runs(f));
}

static void test_slices_all_end_with_the_job(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    sl_condition_set(sl_json_path_make(job(f), "status"), "Complete", true, "Done", "", 0, T0);
    settle(f);
    assert_string_equal(finished(workload(f, 1)), "Succeeded");
    assert_string_equal(finished(workload(f, 2)), "Succeeded");
    assert_false(sl_workload_has_finalizer(workload(f, 1)));
    assert_false(sl_workload_has_finalizer(workload(f, 2)));
    assert_int_equal(f->made, 2);
}

/* Nothing runs without quota: the job stops first, then the slice is ended, and the one that waits is all there is. */
static void test_slices_evicted_one_stops_the_job_and_is_ended(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    set(workload(f, 1), "Evicted", true);
    settle(f);
    assert_false(runs(f));
    assert_int_equal(stopped_calls, 0);
    assert_string_equal(finished(workload(f, 1)), "");
    sl_json_remove(sl_json_get(job(f), "status"), "active");
    settle(f);
    assert_true(stopped_calls > 0);
    release(workload(f, 1));
    settle(f);
    assert_string_equal(finished(workload(f, 1)), SL_REASON_REPLACED);
    assert_int_equal(f->made, 2);
    assert_int_equal(count(workload(f, 2)), 5);
    admit(workload(f, 2));
    settle(f);
    assert_true(runs(f));
    assert_string_equal(note(sl_json_path(job(f), "spec.template"), SLICE),
                        sl_object_name(workload(f, 1)));
}

/* Alone it goes on with the pods that are asked for by now. */
static void test_slices_evicted_one_without_another_waits_again(void **state)
{
    struct fixture *f = *state;
    start(f);
    set(workload(f, 1), "Evicted", true);
    settle(f);
    sl_json_remove(sl_json_get(job(f), "status"), "active");
    scale(f, 6);
    settle(f);
    release(workload(f, 1));
    settle(f);
    assert_int_equal(f->made, 1);
    assert_int_equal(count(workload(f, 1)), 6);
    assert_string_equal(finished(workload(f, 1)), "");
    assert_false(sl_template_has_gate(sl_json_path(job(f), "spec.template"), SL_GATE_ELASTIC));
}

static void test_slices_job_that_runs_without_quota_is_stopped(void **state)
{
    struct fixture *f = *state;
    put_job(f, true);
    settle(f);
    sl_json_set_bool(sl_json_get(job(f), "spec"), "suspend", false);
    settle(f);
    assert_false(runs(f));
}

/* Its user was faster than the controller, and asked for more at the same time: none of its pods would wait at a gate. */
static void test_slices_job_that_others_have_started_may_not_grow(void **state)
{
    struct fixture *f = *state;
    put_job(f, true);
    settle(f);
    admit(workload(f, 1));
    sl_json_set_bool(sl_json_get(job(f), "spec"), "suspend", false);
    scale(f, 5);
    see(f, SL_KIND_JOB, job(f), false, T0);
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_false(runs(f));
}

static void test_slices_that_wait_and_are_deleted_leave_the_job_alone(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    sl_json_set_text(sl_json_get(workload(f, 2), "metadata"), "deletionTimestamp",
                     "2023-11-14T22:13:20Z");
    settle(f);
    assert_true(runs(f));
    assert_false(sl_workload_has_finalizer(workload(f, 2)));
    see(f, SL_KIND_WORKLOAD, workload(f, 2), true, T0);
    fake_remove(&f->fake, SL_KIND_WORKLOAD, "n", sl_object_name(workload(f, 2)));
    settle_at(f, T0 + 2000);
    assert_int_equal(f->made, 3);
    assert_true(runs(f));
}

/* The first of the next ones has another name, which a stale mark in the job does not keep from starting. */
static void test_slices_deleted_holder_begins_new_ones(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    admit(workload(f, 2));
    finish(workload(f, 1));
    settle(f);
    sl_json_set_text(sl_json_get(workload(f, 2), "metadata"), "deletionTimestamp",
                     "2023-11-14T22:13:20Z");
    settle(f);
    assert_false(runs(f));
    sl_json_remove(sl_json_get(job(f), "status"), "active");
    scale(f, 5); /* what suspending it has done to its generation */
    settle(f);
    assert_false(sl_workload_has_finalizer(workload(f, 2)));
    see(f, SL_KIND_WORKLOAD, workload(f, 2), true, T0);
    fake_remove(&f->fake, SL_KIND_WORKLOAD, "n", sl_object_name(workload(f, 2)));
    settle_at(f, T0 + 2000);
    assert_int_equal(f->made, 3);
    char third[254];
    snprintf(third, sizeof third, "%s", sl_object_name(workload(f, 3)));
    assert_string_equal(note(workload(f, 3), SLICE), third);
    assert_string_equal(note(workload(f, 3), REPLACED), "");
    assert_string_equal(note(sl_json_path(job(f), "spec.template"), SLICE),
                        sl_object_name(workload(f, 1)));
    admit(workload(f, 3));
    settle(f);
    assert_true(runs(f));
    assert_string_equal(note(sl_json_path(job(f), "spec.template"), SLICE), third);
    assert_string_equal(finished(workload(f, 3)), "");
}

static void test_slices_out_of_sync_are_ended(void **state)
{
    struct fixture *f = *state;
    start(f);
    struct sl_json *stray = sl_json_clone(workload(f, 1));
    sl_json_remove(stray, "status");
    sl_json_set_text(sl_json_get(stray, "metadata"), "name", "stray");
    sl_json_remove(sl_json_get(stray, "metadata"), "uid");
    fake_put(&f->fake, SL_KIND_WORKLOAD, stray);
    settle(f);
    assert_string_equal(finished(workload(f, 2)), "OutOfSync");
    assert_string_equal(finished(workload(f, 1)), "");
    assert_true(runs(f));
}

static void test_slices_of_a_deleted_job_are_ended(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    struct sl_json *gone = sl_json_clone(job(f));
    fake_remove(&f->fake, SL_KIND_JOB, "n", "j");
    sl_jobs_observe(&f->jobs, SL_KIND_JOB, gone, true, T0);
    sl_json_free(gone);
    settle_at(f, T0 + 2000);
    assert_string_equal(finished(workload(f, 1)), "OwnerNotFound");
    assert_string_equal(finished(workload(f, 2)), "OwnerNotFound");
}

static void test_slices_of_a_job_deleted_in_the_foreground_do_not_wait_for_it(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    settle(f);
    sl_json_set_text(sl_json_get(job(f), "metadata"), "deletionTimestamp", "2023-11-14T22:13:20Z");
    settle(f);
    assert_string_equal(finished(workload(f, 1)), "OwnerNotFound");
    assert_string_equal(finished(workload(f, 2)), "OwnerNotFound");
    assert_false(sl_workload_has_finalizer(workload(f, 1)));
}

/* Five of nine are left to do and two may run: none can be given back, whatever it asks for. */
static void test_slices_give_back_what_they_hold_and_the_job_does_not_need(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 6);
    sl_json_set_int(sl_json_get(job(f), "status"), "succeeded", 4);
    settle(f);
    assert_int_equal(sl_json_len(sl_json_path(workload(f, 1), "status.reclaimablePods")), 0);
    sl_json_set_int(sl_json_get(job(f), "status"), "succeeded", 8);
    settle(f);
    const struct sl_json *list = sl_json_path(workload(f, 1), "status.reclaimablePods");
    assert_int_equal(sl_json_path_int(sl_json_at(list, 0), "count", 0), 1);
}

static int64_t given_back(const struct sl_json *wl)
{
    const struct sl_json *list = sl_json_path(wl, "status.reclaimablePods");
    return sl_json_path_int(sl_json_at(list, 0), "count", 0);
}

/* Of six pods five are left to do, and then one: what waits asks for no more. */
static void test_slices_that_wait_ask_for_no_pods_that_have_ended(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 6);
    settle(f);
    assert_int_equal(given_back(workload(f, 2)), 0);
    sl_json_set_int(sl_json_get(job(f), "status"), "succeeded", 4);
    settle(f);
    assert_int_equal(given_back(workload(f, 2)), 1);
    assert_int_equal(given_back(workload(f, 1)), 0);
    sl_json_set_int(sl_json_get(job(f), "status"), "succeeded", 8);
    settle(f);
    assert_int_equal(given_back(workload(f, 2)), 5);
    assert_int_equal(given_back(workload(f, 1)), 1);
    assert_int_equal(count(workload(f, 2)), 6);
}

/* The job is not running yet: no event of its own tells to look again. */
static void test_slices_that_are_made_when_pods_have_ended_ask_for_the_rest(void **state)
{
    struct fixture *f = *state;
    put_job(f, true);
    settle(f);
    reserve(workload(f, 1));
    settle(f);
    sl_json_set_int(sl_json_path_make(job(f), "status"), "succeeded", 8);
    scale(f, 6);
    see(f, SL_KIND_JOB, job(f), false, T0);
    for (int i = 0; i < 3; i++) {
        sl_jobs_step(&f->jobs, T0, 16);
        fake_flush(&f->fake);
        complete(f);
        see(f, SL_KIND_WORKLOAD, workload(f, 2), false, T0);
    }
    assert_int_equal(count(workload(f, 2)), 6);
    assert_int_equal(given_back(workload(f, 2)), 5);
}

/* Four of six had ended when it got its quota, which is for the two that are left. */
static void test_slices_that_gave_back_before_they_had_quota_need_no_other(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 6);
    settle(f);
    sl_json_set_int(sl_json_get(job(f), "status"), "succeeded", 7);
    settle(f);
    assert_int_equal(given_back(workload(f, 2)), 4);
    admit(workload(f, 2));
    sl_json_set_int(
        sl_json_at(sl_json_path(workload(f, 2), "status.admission.podSetAssignments"), 0), "count",
        2);
    finish(workload(f, 1));
    scale(f, 6); /* its generation grows whatever its user changes */
    settle_at(f, T0 + 60000);
    assert_int_equal(f->made, 2);
    assert_int_equal(count(workload(f, 2)), 6);
}

static void test_slices_that_shrink_give_back_fewer(void **state)
{
    struct fixture *f = *state;
    put_job(f, true);
    scale(f, 8);
    settle(f);
    admit(workload(f, 1));
    settle(f);
    run(f, 8);
    sl_json_set_int(sl_json_get(job(f), "status"), "succeeded", 6); /* three are left */
    settle(f);
    const struct sl_json *list = sl_json_path(workload(f, 1), "status.reclaimablePods");
    assert_int_equal(sl_json_path_int(sl_json_at(list, 0), "count", 0), 5);
    scale(f,
          4); /* first of that many, then so many: else it would say that four of four have ended */
    see(f, SL_KIND_JOB, job(f), false, T0);
    sl_jobs_step(&f->jobs, T0, 16);
    fake_flush(&f->fake);
    assert_int_equal(given_back(workload(f, 1)), 1);
    assert_int_equal(count(workload(f, 1)), 8);
    settle(f);
    assert_int_equal(given_back(workload(f, 1)), 1);
    assert_int_equal(count(workload(f, 1)), 4);
}

/* Pods that wait for quota are not missing ones. */
static void test_slices_pods_that_wait_are_not_waited_for(void **state)
{
    struct fixture *f = *state;
    start(f);
    assert_true(sl_condition_true(workload(f, 1), "PodsReady"));
    scale(f, 5);
    settle(f);
    assert_true(sl_condition_true(workload(f, 1), "PodsReady"));
}

static void test_slices_both_follow_to_another_class(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < 2; i++) {
        fake_put(&f->fake, SL_KIND_WORKLOAD_PRIORITY_CLASS,
                 parse(i == 0 ? "{\"metadata\":{\"name\":\"low\"},\"value\":1}"
                              : "{\"metadata\":{\"name\":\"high\"},\"value\":9}"));
    }
    put_job(f, true);
    sl_json_set_text(sl_json_path(job(f), "metadata.labels"), SL_LABEL_PRIORITY_CLASS, "low");
    settle(f);
    admit(workload(f, 1));
    settle(f);
    run(f, 2);
    scale(f, 5);
    settle(f);
    sl_json_set_text(sl_json_path(job(f), "metadata.labels"), SL_LABEL_PRIORITY_CLASS, "high");
    settle(f);
    assert_int_equal(sl_json_path_int(workload(f, 1), "spec.priority", 0), 9);
    assert_int_equal(sl_json_path_int(workload(f, 2), "spec.priority", 0), 9);
}

static void test_slices_that_cannot_be_read_are_looked_at_later(void **state)
{
    struct fixture *f = *state;
    start(f);
    scale(f, 5);
    f->fake.unread_one = true;
    f->fake.unread = SL_KIND_WORKLOAD;
    f->fake.read_code = SL_CODE_UNAVAILABLE;
    settle(f);
    assert_int_equal(f->made, 1);
    assert_true(runs(f));
    f->fake.read_code = SL_CODE_OK;
    settle_at(f, T0 + 3000);
    assert_int_equal(f->made, 2);
}

/* The gate was closed: the job is one like all others, with one Workload. */
static void test_slices_without_the_gate_are_given_up_when_the_job_changes(void **state)
{
    struct fixture *f = *state;
    start(f);
    f->jobs.rules.elastic = false;
    settle(f);
    assert_true(runs(f));
    scale(f, 5);
    settle(f);
    assert_false(runs(f));
}

/* A start that fails is not tried again and again. */
static void test_slices_ended_one_is_not_made_again(void **state)
{
    struct fixture *f = *state;
    put_job(f, true);
    settle(f);
    sl_condition_set(sl_json_path_make(workload(f, 1), "status"), "Finished", true, "FailedToStart",
                     "", 0, T0);
    settle(f);
    assert_int_equal(f->made, 1);
    assert_false(sl_workload_has_finalizer(workload(f, 1)));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    static const struct CMUnitTest tests[] = {
        TEST(test_slices_first_one_is_named_by_the_generation_of_its_job),
        TEST(test_slices_name_is_kueues),
        TEST(test_slices_without_the_gate_or_the_mark_are_none),
        TEST(test_slices_pods_are_gated_and_named_when_the_job_starts),
        TEST(test_slices_of_a_job_that_grows_are_two_and_it_runs_on),
        TEST(test_slices_of_a_job_that_shrinks_stay_and_have_fewer_pods),
        TEST(test_slices_that_wait_are_changed_in_place),
        TEST(test_slices_that_wait_for_no_more_than_the_job_has_are_ended),
        TEST(test_slices_that_wait_stay_while_the_other_one_is_evicted),
        TEST(test_slices_replaced_one_is_let_go_and_the_job_runs_on),
        TEST(test_slices_that_wait_for_checks_do_not_stop_the_job),
        TEST(test_slices_in_whose_place_another_is_are_ended_after_a_while),
        TEST(test_slices_all_end_with_the_job),
        TEST(test_slices_evicted_one_stops_the_job_and_is_ended),
        TEST(test_slices_evicted_one_without_another_waits_again),
        TEST(test_slices_job_that_runs_without_quota_is_stopped),
        TEST(test_slices_job_that_others_have_started_may_not_grow),
        TEST(test_slices_that_wait_and_are_deleted_leave_the_job_alone),
        TEST(test_slices_deleted_holder_begins_new_ones),
        TEST(test_slices_out_of_sync_are_ended),
        TEST(test_slices_of_a_deleted_job_are_ended),
        TEST(test_slices_of_a_job_deleted_in_the_foreground_do_not_wait_for_it),
        TEST(test_slices_give_back_what_they_hold_and_the_job_does_not_need),
        TEST(test_slices_that_wait_ask_for_no_pods_that_have_ended),
        TEST(test_slices_that_are_made_when_pods_have_ended_ask_for_the_rest),
        TEST(test_slices_that_gave_back_before_they_had_quota_need_no_other),
        TEST(test_slices_that_shrink_give_back_fewer),
        TEST(test_slices_pods_that_wait_are_not_waited_for),
        TEST(test_slices_both_follow_to_another_class),
        TEST(test_slices_that_cannot_be_read_are_looked_at_later),
        TEST(test_slices_without_the_gate_are_given_up_when_the_job_changes),
        TEST(test_slices_ended_one_is_not_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
