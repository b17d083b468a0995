/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Elastic Jobs when nothing happens any more. First while those that run for ever do: each has the size that it asks for,
 * or waits for that with one slice, which finds no quota; what a queue says is in use is what the pods of its Workloads
 * ask for; no pod waits that may run. Then, when all have ended: nothing is left of their slices. */
#include "admin.h"
#include "api/objects/quantity.h"
#include "controllers/jobs/job.h"
#include "controllers/work/slices.h"
#include "elastic.h"
#include <string.h>

#define ROUND_MS 1200000
#define ROUNDS_MAX 20u
#define QUIET_ROUNDS 3u

/* --- what the slices of a Job are ----------------------------------------------------------------- */

static bool owns(const struct sl_json *job, const struct sl_json *w)
{
    const struct sl_json *owner = sl_object_controller_ref(w);
    return owner != NULL && strcmp(sl_json_path_text(owner, "uid", ""), sl_object_uid(job)) == 0;
}

struct slices {
    const struct sl_json *holder, *waiting; /* of those that have not finished; NULL = none */
    unsigned holders, waiters, evicted;
};

static struct slices slices_of(const struct sl_json *workloads, const struct sl_json *job)
{
    struct slices s = {0};
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *w = sl_json_at(workloads, i);
        if (!owns(job, w) || sl_condition_true(w, "Finished")) {
            continue;
        }
        if (!sl_condition_true(w, "QuotaReserved")) {
            s.waiting = w;
            s.waiters++;
        } else if (sl_condition_true(w, "Evicted")) {
            s.evicted++;
        } else {
            s.holder = w;
            s.holders++;
        }
    }
    return s;
}

static int64_t count_of(const struct sl_json *w)
{
    return sl_json_path_int(sl_json_at(sl_json_path(w, "spec.podSets"), 0), "count", 0);
}

static void complain(const struct sl_json *job, const struct sl_json *workloads, const char *what)
{
    struct sl_buf text = {0};
    sl_json_print(job, &text);
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        if (owns(job, sl_json_at(workloads, i))) {
            sl_buf_text(&text, "\n    ");
            sl_json_print(sl_json_at(workloads, i), &text);
        }
    }
    sim_story_tell("rest", "%s", text.data);
    sl_buf_fini(&text);
    sim_story_violation("elastic job %s/%s %s at rest", sl_object_namespace(job),
                        sl_object_name(job), what);
}

/* --- one Job -------------------------------------------------------------------------------------- */

static bool is_live(const struct sl_json *pod)
{
    const char *phase = sl_json_path_text(pod, "status.phase", "Pending");
    return strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0 &&
           !sl_object_deleting(pod);
}

/* As many pods have passed the gate as have quota. */
static void check_pods(struct sim *s, const struct sl_json *workloads, const struct sl_json *job,
                       const struct slices *is)
{
    int64_t live = 0, gated = 0;
    int64_t granted = sl_slice_granted(is->holder, "main");
    struct sl_json *pods = sim_list(s, SL_KIND_POD);
    for (size_t i = 0; i < sl_json_len(pods); i++) {
        const struct sl_json *pod = sl_json_at(pods, i);
        if (owns(job, pod) && is_live(pod)) {
            live++;
            gated += sl_template_has_gate(pod, SL_GATE_ELASTIC);
        }
    }
    sl_json_free(pods);
    if (live - gated > granted) {
        complain(job, workloads, "has more pods that passed their gate than have quota");
    }
    if (gated > 0 && live - gated < granted) {
        complain(job, workloads, "has pods at their gate that have quota");
    }
    if (gated > 0) {
        sim_tally(SIM_TALLY_PODS_AT_GATES);
    }
}

static bool is_active(const struct sl_json *w)
{
    return w == NULL || sl_json_path_bool(w, "spec.active", true);
}

/* It runs by the slice that has quota: with all that it asks for, or one slice asks for the rest. */
static void check_running(struct sim *s, const struct sl_json *workloads, const struct sl_json *job,
                          const struct slices *is)
{
    int64_t has = count_of(is->holder), wants = sl_job_pods(job);
    if (has > wants) {
        complain(job, workloads, "holds quota for more pods than it has");
    }
    if (has < wants && (is->waiting == NULL || count_of(is->waiting) != wants)) {
        complain(job, workloads, "has grown, and no slice asks for that");
    }
    if (is->waiting != NULL && !sl_slice_replaces(is->waiting, is->holder)) {
        complain(job, workloads, "has a slice that is to replace another one");
    }
    if (has == wants && is->waiting != NULL) {
        complain(job, workloads, "has a slice that it does not need");
    }
    if (sl_condition_true(is->holder, "Admitted") && sl_job_suspended(job)) {
        complain(job, workloads, "is admitted and does not run");
    }
    if (sl_condition_true(is->holder, "Admitted") && sl_job_has_pods(job)) {
        check_pods(s, workloads, job, is);
    }
    sim_tally(has == wants ? SIM_TALLY_ELASTIC_SETTLED : SIM_TALLY_ELASTIC_WAITING);
}

static void check_job(struct sim *s, const struct sl_json *workloads, const struct sl_json *job)
{
    struct slices is = slices_of(workloads, job);
    if (is.holders > 1 || is.waiters > 1) {
        complain(job, workloads, "has too many slices");
    }
    if (!is_active(is.holder) || !is_active(is.waiting) || is.evicted > 0) {
        return; /* it is being stopped, or was given up */
    }
    if (is.holder != NULL) {
        check_running(s, workloads, job, &is);
    } else if (is.waiting != NULL) {
        if (count_of(is.waiting) != sl_job_pods(job)) {
            complain(job, workloads, "waits with another number of pods than it has");
        }
        if (!sl_job_suspended(job)) {
            complain(job, workloads, "runs without quota");
        }
        sim_story_tell(
            "rest", "%s/%s waits: %s", sl_object_namespace(job), sl_object_name(job),
            sl_json_path_text(sl_condition_find(is.waiting, "QuotaReserved"), "message", "?"));
        sim_tally(SIM_TALLY_ELASTIC_QUEUED);
    }
}

static bool is_ours(const struct sl_json *job)
{
    bool success;
    const char *message;
    return sl_is_elastic(job) && !sl_job_finished(job, &success, &message) &&
           !sl_object_deleting(job);
}

static void check_jobs(struct sim *s)
{
    struct sl_json *jobs = sim_list(s, SL_KIND_JOB);
    struct sl_json *workloads = sim_list(s, SL_KIND_WORKLOAD);
    for (size_t i = 0; i < sl_json_len(jobs); i++) {
        if (is_ours(sl_json_at(jobs, i))) {
            check_job(s, workloads, sl_json_at(jobs, i));
        }
    }
    sl_json_free(workloads);
    sl_json_free(jobs);
}

/* --- all that is in use --------------------------------------------------------------------------- */

static int64_t milli(const struct sl_json *v)
{
    struct sl_quantity q;
    return v != NULL && sl_quantity_read(v, &q, NULL) == SL_CODE_OK ? sl_quantity_milli(q) : 0;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of one pod set: of so many pods as it was admitted with, and still has. */
static int64_t use_of_set(const struct sl_json *w, const struct sl_json *got, const char *flavor,
                          const char *resource)
{
    const char *name = sl_json_path_text(got, "name", "");
    const struct sl_json *set = sl_json_find_by(sl_json_path(w, "spec.podSets"), "name", name);
    const struct sl_json *gone =
        sl_json_find_by(sl_json_path(w, "status.reclaimablePods"), "name", name);
    int64_t admitted = sl_json_path_int(got, "count", 0);
    int64_t left = sl_json_path_int(set, "count", 0) - sl_json_path_int(gone, "count", 0);
    const char *has = sl_json_path_text(sl_json_get(got, "flavors"), resource, "");
    int64_t all = milli(sl_json_get(sl_json_get(got, "resourceUsage"), resource));
    left = left < 0 ? 0 : left;
    return strcmp(has, flavor) != 0 || admitted == 0 ? 0 : all / admitted * earlier(left, admitted);
}

static int64_t use_of(const struct sl_json *workloads, const char *queue, const char *flavor,
                      const char *resource)
{
    int64_t sum = 0;
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *w = sl_json_at(workloads, i);
        const struct sl_json *got = sl_json_path(w, "status.admission.podSetAssignments");
        bool here = sl_condition_true(w, "QuotaReserved") && !sl_condition_true(w, "Finished") &&
                    strcmp(sl_json_path_text(w, "status.admission.clusterQueue", ""), queue) == 0;
        for (size_t k = 0; here && k < sl_json_len(got); k++) {
            sum += use_of_set(w, sl_json_at(got, k), flavor, resource);
        }
    }
    return sum;
}

static void check_flavor(const struct sl_json *workloads, const char *queue,
                         const struct sl_json *flavor)
{
    const struct sl_json *resources = sl_json_get(flavor, "resources");
    const char *name = sl_json_path_text(flavor, "name", "");
    for (size_t i = 0; i < sl_json_len(resources); i++) {
        const struct sl_json *r = sl_json_at(resources, i);
        const char *resource = sl_json_path_text(r, "name", "");
        int64_t said = milli(sl_json_get(r, "total"));
        int64_t sum = use_of(workloads, queue, name, resource);
        if (said != sum) {
            sim_story_violation("queue %s says that %lldm of %s are reserved in flavor %s, its "
                                "Workloads' pods ask for %lldm",
                                queue, (long long)said, resource, name, (long long)sum);
        }
    }
}

static void check_usage(struct sim *s)
{
    struct sl_json *queues = sim_list(s, SL_KIND_CLUSTER_QUEUE);
    struct sl_json *workloads = sim_list(s, SL_KIND_WORKLOAD);
    for (size_t i = 0; i < sl_json_len(queues) && s->engine != NULL; i++) {
        const char *name = sl_object_name(sl_json_at(queues, i));
        struct sl_json *status = sl_engine_queue_status(s->engine, SL_KIND_CLUSTER_QUEUE, "", name);
        const struct sl_json *flavors = sl_json_get(status, "flavorsReservation");
        for (size_t k = 0; k < sl_json_len(flavors); k++) {
            check_flavor(workloads, name, sl_json_at(flavors, k));
        }
        sl_json_free(status);
    }
    sl_json_free(workloads);
    sl_json_free(queues);
}

/* --- both times ----------------------------------------------------------------------------------- */

/* Workloads may take turns for as long as some run; then what is so at rest cannot be asked. */
static bool comes_to_rest(struct sim *s)
{
    unsigned quiet = 0;
    for (unsigned round = 0; quiet < QUIET_ROUNDS && round < ROUNDS_MAX; round++) {
        uint64_t before = sim_fingerprint(s);
        sim_admin_calm(s);
        sim_life_run(s, s->now_ms + ROUND_MS);
        bool changed = sim_admin_answer_all(s);
        quiet = changed || sim_fingerprint(s) != before ? 0 : quiet + 1;
    }
    return quiet == QUIET_ROUNDS;
}

static void end_all(struct sim *s)
{
    struct sl_json *jobs = sim_list(s, SL_KIND_JOB);
    for (size_t i = 0; i < sl_json_len(jobs); i++) {
        if (is_ours(sl_json_at(jobs, i)) && !sl_object_deleting(sl_json_at(jobs, i))) {
            (void)sim_delete(s, SL_KIND_JOB, sl_json_at(jobs, i), "Background");
        }
    }
    sl_json_free(jobs);
}

void sim_elastic_rest(struct sim *s)
{
    if (!s->has_elastic) {
        return;
    }
    if (comes_to_rest(s)) {
        sim_story_tell("rest", "elastic jobs have settled");
        check_jobs(s);
        check_usage(s);
        sim_probe_wake_ups(s);
        sim_tally(SIM_TALLY_ELASTIC_RESTS);
    } else {
        sim_story_tell("rest", "elastic jobs take turns");
    }
    end_all(s);
}

void sim_elastic_check(struct sim *s)
{
    struct sl_json *jobs = sim_list(s, SL_KIND_JOB);
    struct sl_json *workloads = sim_list(s, SL_KIND_WORKLOAD);
    for (size_t i = 0; i < sl_json_len(workloads) && s->has_elastic; i++) {
        const struct sl_json *w = sl_json_at(workloads, i);
        const struct sl_json *owner = sl_object_controller_ref(w);
        bool found = !sl_is_elastic(w) || owner == NULL;
        for (size_t k = 0; k < sl_json_len(jobs) && !found; k++) {
            found = owns(sl_json_at(jobs, k), w);
        }
        if (!found) {
            sim_story_violation("slice %s/%s is left of a job that is gone", sl_object_namespace(w),
                                sl_object_name(w));
        }
        if (sl_is_elastic(w) && sl_condition_true(w, "Finished") && sl_workload_has_finalizer(w)) {
            sim_story_violation("slice %s/%s has finished and is held", sl_object_namespace(w),
                                sl_object_name(w));
        }
    }
    sl_json_free(workloads);
    sl_json_free(jobs);
}
