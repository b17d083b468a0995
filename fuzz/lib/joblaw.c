/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/joblaw.h"
#include "api/kinds/elastic.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/podjob.h"
#include "controllers/work/framework.h"
#include "controllers/work/template.h"
#include "engine/conditions/mirror.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/cluster.h"
#include "fuzz/lib/slicelaw.h"
#include <string.h>

enum { WANTED_MAX = 64 };

static struct {
    char uid[40];
    struct sl_json *template;
} wanted[WANTED_MAX];
static size_t wanted_count;
static unsigned long changes;

static void print(const struct sl_json *object)
{
    struct sl_buf text = {0};
    sl_json_print(object, &text);
    fprintf(stderr, "%s\n", text.data == NULL ? "" : text.data);
    sl_buf_fini(&text);
}

static void broken(const char *rule, const char *more, const struct sl_json *object)
{
    fprintf(stderr, "broken: %s%s\n", rule, more);
    print(object);
    abort();
}

static void demand(bool holds, const char *rule, const struct sl_json *object)
{
    if (!holds) {
        broken(rule, "", object);
    }
}

/* The rule that is broken; NULL: none is. */
static void demand_none(const char *rule, const struct sl_json *object)
{
    demand(rule == NULL, rule == NULL ? "" : rule, object);
}

/* Of two objects that belong together. */
static void demand_of(bool holds, const char *rule, const struct sl_json *job,
                      const struct sl_json *wl)
{
    if (!holds) {
        print(job);
        broken(rule, "", wl);
    }
}

/* --- what users want ---------------------------------------------------------------------------- */

void joblaw_want(const char *job_uid, struct sl_json *template)
{
    size_t i = 0;
    while (i < wanted_count && strcmp(wanted[i].uid, job_uid) != 0) {
        i++;
    }
    CHECK(i < WANTED_MAX);
    if (i == wanted_count) {
        wanted_count++;
        wanted[i].template = NULL;
        (void)snprintf(wanted[i].uid, sizeof wanted[i].uid, "%s", job_uid);
    }
    sl_json_free(wanted[i].template);
    wanted[i].template = template;
}

const struct sl_json *joblaw_wanted(const char *job_uid)
{
    for (size_t i = 0; i < wanted_count; i++) {
        if (strcmp(wanted[i].uid, job_uid) == 0) {
            return wanted[i].template;
        }
    }
    return NULL;
}

void joblaw_forget(void)
{
    for (size_t i = 0; i < wanted_count; i++) {
        sl_json_free(wanted[i].template);
    }
    wanted_count = 0;
    slicelaw_forget();
}

/* --- whose Workload ----------------------------------------------------------------------------- */

static void name_workload(const struct sl_json *job, enum sl_kind kind, char out[static 254])
{
    const char *group = kind == SL_KIND_POD ? sl_podjob_group(job) : NULL;
    const char *named = sl_job_prebuilt(job);
    const struct sl_framework *f = kind == SL_KIND_POD ? &sl_pod_framework : &sl_job_framework;
    if (group != NULL || named != NULL) {
        (void)snprintf(out, 254, "%s", group != NULL ? group : named);
    } else {
        sl_framework_workload_name(f, sl_object_name(job), sl_object_uid(job), out);
    }
}

static const struct sl_json *workload_known(const struct sl_json *job, enum sl_kind kind)
{
    char name[254];
    if (kind == SL_KIND_JOB && slicelaw_is_of(job)) {
        return slicelaw_slice(job);
    }
    name_workload(job, kind, name);
    return shelf_known(SL_KIND_WORKLOAD, sl_object_namespace(job), name);
}

static bool controls(const struct sl_json *job, const struct sl_json *wl)
{
    return strcmp(sl_json_path_text(sl_object_controller_ref(wl), "uid", ""), sl_object_uid(job)) ==
           0;
}

/* Made for a job, and no job itself. */
static bool is_of_job(const struct sl_json *pod)
{
    return sl_object_controller_ref(pod) != NULL;
}

static bool may_run(const struct sl_json *wl)
{
    return sl_condition_true(wl, "Admitted") && sl_condition_true(wl, "QuotaReserved") &&
           !sl_condition_true(wl, "Evicted") && !sl_condition_true(wl, "Finished") &&
           !sl_object_deleting(wl);
}

/* --- with each write ---------------------------------------------------------------------------- */

/* Every node label of its flavors is in the selector. */
static void check_injected(const struct sl_json *template, const struct sl_json *wl, size_t set)
{
    const struct sl_json *flavors = sl_json_get(
        sl_json_at(sl_json_path(wl, "status.admission.podSetAssignments"), set), "flavors");
    for (struct sl_json_member m = {0}; sl_json_each(flavors, &m);) {
        const struct sl_json *flavor =
            shelf_known(SL_KIND_RESOURCE_FLAVOR, "", sl_json_text(m.value, ""));
        for (struct sl_json_member l = {0};
             sl_json_each(sl_json_path(flavor, "spec.nodeLabels"), &l);) {
            demand(sl_json_equal(l.value,
                                 sl_json_get(sl_json_path(template, "spec.nodeSelector"), l.key)),
                   "started without the selector of its flavor", template);
        }
    }
}

static void check_start_job(const struct sl_json *before, const struct sl_json *after)
{
    if (!sl_json_path_bool(before, "spec.suspend", false) ||
        sl_json_path_bool(after, "spec.suspend", false)) {
        return;
    }
    const struct sl_json *wl = workload_known(before, SL_KIND_JOB);
    demand(wl != NULL && controls(before, wl), "unsuspended without a Workload of its own", after);
    demand(may_run(wl), "unsuspended, and its Workload does not let it run", wl);
    check_injected(sl_json_path(after, "spec.template"), wl, 0);
}

static void check_start_pod(const struct sl_json *before, const struct sl_json *after)
{
    demand_none(is_of_job(after) ? slicelaw_let_in(before, after) : NULL, after);
    if (!sl_podjob_gated(before) || sl_podjob_gated(after)) {
        return;
    }
    const struct sl_json *wl = workload_known(before, SL_KIND_POD);
    demand(wl != NULL, "let in without a Workload", after);
    demand(may_run(wl), "let in, and its Workload does not let it run", wl);
}

static void check_single(const struct sl_json *made)
{
    size_t cursor = 0;
    if (sl_is_elastic(made)) {
        demand_none(slicelaw_made(made), made);
        return;
    }
    const char *owner = sl_json_path_text(sl_object_controller_ref(made), "uid", "");
    for (const struct sl_json *o; (o = shelf_next(SL_KIND_WORKLOAD, &cursor)) != NULL;) {
        bool other = strcmp(sl_object_uid(o), sl_object_uid(made)) != 0 && owner[0] != '\0' &&
                     strcmp(sl_json_path_text(sl_object_controller_ref(o), "uid", ""), owner) == 0;
        demand(!other || sl_condition_true(o, "Finished") || sl_object_deleting(o),
               "a second Workload of one job", made);
    }
}

/* While quota is held they become no fewer, and there are never more than pods. Of an elastic job that gets fewer pods they
 * do. */
static void check_reclaimable(const struct sl_json *before, const struct sl_json *after)
{
    const struct sl_json *then = sl_json_path(before, "status.reclaimablePods");
    const struct sl_json *now = sl_json_path(after, "status.reclaimablePods");
    const struct sl_json *sets = sl_json_path(after, "spec.podSets");
    bool held = sl_condition_true(before, "QuotaReserved") &&
                sl_condition_true(after, "QuotaReserved") && !sl_is_elastic(after);
    for (size_t i = 0; !sl_json_equal(then, now) && i < sl_json_len(sets); i++) {
        const char *name = sl_json_path_text(sl_json_at(sets, i), "name", "");
        int64_t count = sl_json_path_int(sl_json_find_by(now, "name", name), "count", 0);
        int64_t old = sl_json_path_int(sl_json_find_by(then, "name", name), "count", 0);
        demand(count <= sl_json_path_int(sl_json_at(sets, i), "count", 0),
               "more reclaimable pods than pods", after);
        demand(!held || count >= old, "fewer reclaimable pods while quota is held", after);
    }
}

static void check_workload(const struct sl_json *before, const struct sl_json *after)
{
    const char *trouble = sl_mirror_evicted(before, after);
    demand_none(trouble, after);
    demand_none(slicelaw_changed(before, after), after);
    check_reclaimable(before, after);
}

static void check_change(const struct sl_write *w, const struct sl_json *before,
                         const struct sl_json *after)
{
    if (w->kind == SL_KIND_JOB) {
        check_start_job(before, after);
    } else if (w->kind == SL_KIND_POD) {
        check_start_pod(before, after);
    } else if (w->kind == SL_KIND_WORKLOAD) {
        check_workload(before, after);
    }
}

/* A slice that was made and not told yet: the name of the next one depends on its job, so the daemon asks for it again. */
static bool is_untold_slice(const struct sl_write *w, enum sl_code code)
{
    size_t cursor = 0;
    bool told = w->verb != SL_VERB_CREATE || w->kind != SL_KIND_WORKLOAD ||
                code != SL_CODE_ALREADY_EXISTS || !sl_is_elastic(w->body);
    for (const struct sl_json *o;
         !told && (o = shelf_next_known(SL_KIND_WORKLOAD, &cursor)) != NULL;) {
        told = strcmp(sl_object_name(o), w->name) == 0;
    }
    return !told;
}

/* Who reads what there is asks for nothing that cannot be done, and for nothing that is done. */
static void check_sense(const struct sl_write *w, const struct sl_json *before,
                        const struct sl_json *after, enum sl_code code)
{
    bool looks = w->verb == SL_VERB_READ || w->verb == SL_VERB_DELETE;
    if (cluster_reads_all() && !looks && !is_untold_slice(w, code)) {
        demand(code == SL_CODE_OK, "the API refuses what the daemon asks for", w->body);
        demand(!sl_json_equal(before, after), "a write that changes nothing", w->body);
    }
}

/* Why a workload waits, and how long the queues are, depends on who was tried last: all else is the same for a daemon that
 * begins. */
static bool is_of_rest(const struct sl_write *w, const struct sl_json *before,
                       const struct sl_json *after)
{
    bool queue = w->kind == SL_KIND_CLUSTER_QUEUE || w->kind == SL_KIND_LOCAL_QUEUE;
    bool status = w->verb == SL_VERB_UPDATE_STATUS || w->verb == SL_VERB_PATCH_STATUS_MERGE;
    bool waits = w->kind == SL_KIND_WORKLOAD && !sl_condition_true(before, "QuotaReserved") &&
                 !sl_condition_true(after, "QuotaReserved");
    return status && (queue || waits);
}

unsigned long joblaw_changes(void)
{
    return changes;
}

void joblaw_written(const struct sl_write *w, const struct sl_json *before,
                    const struct sl_json *after, enum sl_code code)
{
    check_sense(w, before, after, code);
    changes += !sl_json_equal(before, after) && !is_of_rest(w, before, after);
    if (code == SL_CODE_OK && before == NULL && after != NULL && w->kind == SL_KIND_WORKLOAD) {
        if (cluster_reads_all()) {
            check_single(after);
        }
    } else if (code == SL_CODE_OK && before != NULL && after != NULL) {
        check_change(w, before, after);
    }
}

/* --- at rest ------------------------------------------------------------------------------------ */

static bool same_at(const struct sl_json *a, const struct sl_json *b, const char *path)
{
    const struct sl_json *x = sl_json_path(a, path);
    const struct sl_json *y = sl_json_path(b, path);
    return (sl_json_len(x) == 0 && sl_json_len(y) == 0) || sl_json_equal(x, y);
}

/* Labels and annotations that only users set, and the name of the first slice, which the next start overwrites. A Workload that is made does not follow all changes of these, in Kueue
 * neither, and its job is restored to what it says. */
static bool is_of_users(const char *key)
{
    static const char *const keys[] = {
        "more", SL_ANNOTATION_SLICE, "kueue.x-k8s.io/podset-required-topology",
        "kueue.x-k8s.io/podset-preferred-topology", "kueue.x-k8s.io/podset-unconstrained-topology"};
    bool found = false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !found; i++) {
        found = strcmp(keys[i], key) == 0;
    }
    return found;
}

/* All else is as its user wants it. */
static bool same_marks(const struct sl_json *wanted, const struct sl_json *now)
{
    bool same = true;
    for (struct sl_json_member m = {0}; sl_json_each(now, &m);) {
        same = same && (is_of_users(m.key) || sl_json_equal(m.value, sl_json_get(wanted, m.key)));
    }
    for (struct sl_json_member m = {0}; sl_json_each(wanted, &m);) {
        same = same && (is_of_users(m.key) || sl_json_has(now, m.key));
    }
    return same;
}

/* The places that admission changes are as its user wants them. */
static void check_restored(const struct sl_json *job)
{
    static const char *const marks[] = {"metadata.labels", "metadata.annotations"};
    static const char *const places[] = {"spec.nodeSelector", "spec.tolerations",
                                         "spec.schedulingGates"};
    const struct sl_json *template = joblaw_wanted(sl_object_uid(job));
    const struct sl_json *now = sl_json_path(job, "spec.template");
    for (size_t i = 0; template != NULL && i < sizeof marks / sizeof marks[0]; i++) {
        if (!same_marks(sl_json_path(template, marks[i]), sl_json_path(now, marks[i]))) {
            broken("suspended, and not restored: ", marks[i], job);
        }
    }
    for (size_t i = 0; template != NULL && i < sizeof places / sizeof places[0]; i++) {
        if (!same_at(template, now, places[i])) {
            broken("suspended, and not restored: ", places[i], job);
        }
    }
}

static void check_suspended(const struct sl_json *job, const struct sl_json *wl)
{
    demand(sl_json_path_int(job, "status.active", 0) == 0, "suspended, and pods run", job);
    demand(sl_object_annotation(job, "kueue.x-k8s.io/stopping") == NULL,
           "at rest while it is being stopped", job);
    demand(wl == NULL || !may_run(wl), "suspended, and its Workload lets it run", job);
    if (wl == NULL || !sl_condition_true(wl, "Finished")) {
        check_restored(job);
    }
    demand(wl == NULL || !sl_condition_true(wl, "Evicted") ||
               !sl_condition_true(wl, "QuotaReserved") || sl_condition_true(wl, "Finished") ||
               sl_object_deleting(wl), /* then its quota goes with it */
           "stopped, and its quota was not given back", wl);
}

/* One that names a class that does not exist waits for it, with its Workload as it is. */
static bool waits_for_class(const struct sl_json *job)
{
    const char *class = sl_object_label(job, SL_LABEL_PRIORITY_CLASS);
    return class != NULL && shelf_find(SL_KIND_WORKLOAD_PRIORITY_CLASS, "", class) == NULL;
}

static void check_agreement(const struct sl_json *job, const struct sl_json *wl)
{
    const char *queue = sl_job_queue(job);
    bool open = !sl_condition_true(wl, "QuotaReserved") && !sl_condition_true(wl, "Finished") &&
                !sl_object_deleting(wl) && sl_job_prebuilt(job) == NULL && !waits_for_class(job);
    demand_of(!open || strcmp(sl_json_path_text(wl, "spec.queueName", ""),
                              queue == NULL ? "" : queue) == 0,
              "waits in another queue than its job says", job, wl);
    demand_of(!open || sl_json_path_int(wl, "spec.podSets.0.count", -1) == sl_job_pods(job),
              "waits for another number of pods than its job has", job, wl);
    demand_of(!open || sl_json_path_int(wl, "spec.maximumExecutionTimeSeconds", 0) ==
                           sl_job_execution_s_max(job),
              "waits with another limit than its job has", job, wl);
}

static void check_slices(const struct sl_json *job)
{
    const struct sl_json *next = slicelaw_next(job);
    if (next != NULL) {
        check_agreement(job, next);
    }
    demand_none(waits_for_class(job) ? NULL : slicelaw_at_rest(job), job);
}

static void check_job(const struct sl_json *job)
{
    bool success;
    const char *message;
    const struct sl_json *wl = workload_known(job, SL_KIND_JOB);
    bool own = wl != NULL && controls(job, wl);
    if (sl_object_deleting(job) || (sl_job_queue(job) == NULL && !own)) {
        return;
    }
    bool elastic = slicelaw_is_of(job);
    if (sl_job_finished(job, &success, &message)) {
        demand_none(elastic ? slicelaw_at_end(job) : NULL, job);
        demand(!own || (sl_condition_true(wl, "Finished") && !sl_workload_has_finalizer(wl)),
               "its job has finished", wl);
        return;
    }
    if (own) {
        check_agreement(job, wl);
    }
    if (own && elastic) {
        check_slices(job);
    }
    if (sl_json_path_bool(job, "spec.suspend", false)) {
        check_suspended(job, own ? wl : NULL);
    } else if (!own || !sl_condition_true(wl, "Finished")) {
        demand(own && (may_run(wl) || (elastic && slicelaw_goes_on(wl))),
               "runs, and no Workload lets it", job);
    }
}

/* --- pods ----------------------------------------------------------------------------------------- */

static void check_pod(const struct sl_json *pod)
{
    if (is_of_job(pod)) {
        return; /* slicelaw.h */
    }
    const struct sl_json *wl = workload_known(pod, SL_KIND_POD);
    bool alone = sl_podjob_group(pod) == NULL;
    bool over = sl_podjob_ended(pod) || sl_object_deleting(pod);
    demand(!alone || !over || !sl_podjob_has_finalizer(pod), "it is over, and held", pod);
    demand(wl == NULL || !sl_condition_true(wl, "Finished") || !sl_podjob_has_finalizer(pod),
           "held, and its Workload has finished", pod);
    if (!over && !sl_podjob_gated(pod) && (wl == NULL || !sl_condition_true(wl, "Finished"))) {
        demand(wl != NULL && may_run(wl), "runs, and no Workload lets it", pod);
    }
    demand(!alone || over || !sl_podjob_gated(pod) || wl == NULL || !may_run(wl),
           "gated, and its Workload lets it run", pod);
}

/* --- Workloads ------------------------------------------------------------------------------------ */

static void check_orphan(const struct sl_json *wl)
{
    const struct sl_json *owner = sl_object_controller_ref(wl);
    if (sl_object_ref_is(owner, SL_KIND_JOB)) {
        const struct sl_json *job =
            shelf_find(SL_KIND_JOB, sl_object_namespace(wl), sl_json_path_text(owner, "name", ""));
        demand((job != NULL && controls(job, wl)) || sl_object_deleting(wl), "its job is gone", wl);
    }
    demand(!sl_object_deleting(wl) || !sl_workload_has_finalizer(wl),
           "being deleted, and held by Sluice", wl);
}

static void check_engine(void)
{
    const char *rule = NULL;
    bool valid = sl_engine_valid(cluster_engine(), &rule);
    demand(valid, rule == NULL ? "" : rule, NULL);
}

typedef void check_fn(const struct sl_json *object);

static void check_workload_at_rest(const struct sl_json *wl)
{
    const char *trouble = sl_mirror_settled(cluster_engine(), wl);
    demand_none(trouble, wl);
    check_orphan(wl);
}

static void check_all(enum sl_kind kind, check_fn *check)
{
    size_t cursor = 0;
    for (const struct sl_json *o; (o = shelf_next(kind, &cursor)) != NULL;) {
        check(o);
    }
}

void joblaw_at_rest(void)
{
    check_engine();
    check_all(SL_KIND_WORKLOAD, check_workload_at_rest);
    check_all(SL_KIND_JOB, check_job);
    check_all(SL_KIND_POD, check_pod);
}
