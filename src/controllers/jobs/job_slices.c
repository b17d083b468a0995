/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The slices of one elastic job. */
#include "controllers/jobs/job_slices.h"
#include "base/check.h"
#include "base/clock.h"
#include "controllers/jobs/job_run.h"
#include <string.h>

#define REPLACED_MS 2000 /* after that the engine has not ended a slice in whose place another is */

/* --- which ones there are ------------------------------------------------------------------------------ */

bool sl_job_is_elastic(const struct sl_jobs *j, const struct sl_framework *f,
                       const struct sl_json *job)
{
    SL_PRE(j != NULL);
    return j->rules.elastic && f->elastic && sl_is_elastic(job) && sl_job_prebuilt(job) == NULL;
}

void sl_job_slices_observe(struct sl_jobs_of *of, const struct sl_json *wl, bool deleted)
{
    char key[SL_KEY_SIZE];
    const struct sl_json *owner = sl_object_controller_ref(wl);
    if (of != NULL && of->f->elastic && sl_is_elastic(wl)) {
        sl_key_print(sl_object_namespace(wl), sl_object_name(wl), key);
        sl_job_children_put(of->all->slices, sl_json_path_text(owner, "uid", ""), sl_object_uid(wl),
                            key, !deleted);
    }
}

bool sl_job_slices_known(const struct sl_jobs *j, const struct sl_json *job)
{
    SL_PRE(j != NULL);
    return sl_job_children_count(j->slices, sl_object_uid(job)) > 0;
}

void sl_job_slices_leave(struct sl_jobs *j, const struct sl_json *job, int64_t due_ms)
{
    size_t cursor = 0;
    const char *uid, *key;
    while (sl_job_children_next(j->slices, sl_object_uid(job), &cursor, &uid, &key)) {
        sl_work_add(j->leftovers.work, key, due_ms);
    }
}

/* False: it cannot be read now. */
static bool read_one(struct sl_slices *s, struct sl_reconciler *r, const struct sl_json *job,
                     const char *name)
{
    bool absent;
    struct sl_json *wl =
        sl_reconciler_get(r, SL_KIND_WORKLOAD, sl_object_namespace(job), name, &absent);
    if (wl != NULL && sl_job_owns(job, wl)) {
        sl_slices_add(s, wl);
    } else {
        sl_json_free(wl);
    }
    return wl != NULL || absent;
}

/* All that are known; false as above. */
static bool read_known(struct sl_slices *s, const struct sl_jobs *j, struct sl_reconciler *r,
                       const struct sl_json *job)
{
    size_t cursor = 0;
    const char *uid, *key;
    struct sl_key at;
    bool readable = true;
    while (readable && sl_job_children_next(j->slices, sl_object_uid(job), &cursor, &uid, &key)) {
        readable = !sl_key_parse(key, &at) || read_one(s, r, job, at.name);
    }
    return readable;
}

/* It has quota in the place of another, and the checks of the difference are not through: what runs runs on. */
static bool goes_on(const struct sl_json *wl)
{
    return sl_condition_true(wl, "QuotaReserved") && !sl_condition_true(wl, "Evicted") &&
           sl_object_annotation(wl, SL_ANNOTATION_REPLACES) != NULL;
}

bool sl_job_slices_admit(struct sl_jobs *j, struct sl_reconciler *r, const struct sl_json *job,
                         bool *unread)
{
    SL_PRE(j != NULL && unread != NULL);
    struct sl_slices s = {0};
    *unread = !read_known(&s, j, r, job);
    sl_slices_settle(&s);
    bool yes = s.holder != NULL && (sl_condition_true(s.holder, "Admitted") || goes_on(s.holder));
    sl_slices_fini(&s);
    return yes;
}

/* One that was made for its state of now, and has ended: it is not made again. */
static struct sl_json *ended_now(const struct sl_job_view *v)
{
    char name[254];
    sl_slice_print_name(v->f, v->job, name);
    for (size_t i = 0; i < v->slices.ended_count; i++) {
        if (strcmp(sl_object_name(v->slices.ended[i]), name) == 0) {
            return v->slices.ended[i];
        }
    }
    return NULL;
}

/* What was made for it before it was elastic has the name that Workloads of other jobs have. */
bool sl_job_slices_read(struct sl_job_view *v)
{
    SL_PRE(v->job != NULL);
    char name[254];
    bool readable = read_known(&v->slices, v->j, v->r, v->job);
    sl_job_workload_name(v->f, v->job, name);
    readable = readable && read_one(&v->slices, v->r, v->job, name);
    sl_slices_settle(&v->slices);
    struct sl_json *wl = v->slices.holder != NULL ? v->slices.holder : ended_now(v);
    v->wl = wl == NULL ? NULL : sl_json_ref(wl);
    return readable;
}

/* --- those that are not needed ------------------------------------------------------------------------- */

/* Since when the slice by which the job runs has had its quota. */
static int64_t held_since_ms(const struct sl_job_view *v)
{
    const struct sl_json *c = sl_condition_find(v->slices.holder, "QuotaReserved");
    return sl_clock_parse(sl_json_path_text(c, "lastTransitionTime", ""));
}

static void end_one(struct sl_job_view *v, const struct sl_json *wl)
{
    bool replaced = sl_slices_has_successor(&v->slices, wl);
    int64_t due_ms = held_since_ms(v) + REPLACED_MS;
    if (replaced && sl_condition_true(wl, "QuotaReserved") && due_ms > v->now_ms) {
        sl_work_add(v->r->work, v->key,
                    due_ms); /* the engine ends it after it has written the other */
    } else if (replaced) {
        sl_job_finish_workload(v->r, wl, SL_REASON_REPLACED,
                               "Replaced to accommodate a new workload slice", NULL);
    } else {
        sl_job_finish_workload(v->r, wl, "OutOfSync",
                               "The workload slice is out of sync with its parent job", NULL);
    }
}

/* A slice that waits and is deleted has nothing that runs by it. */
static void end_spares(struct sl_job_view *v)
{
    for (size_t i = 0; i < v->slices.count; i++) {
        struct sl_json *wl = v->slices.at[i];
        bool needed = wl == v->slices.holder || (v->elastic && wl == v->slices.next);
        if (wl != v->slices.holder && sl_object_deleting(wl)) {
            if (sl_workload_has_finalizer(wl)) {
                sl_job_release_workload(v->r, wl);
            }
        } else if (!needed) {
            end_one(v, wl);
        }
    }
}

/* With the job all of them end; the one that it ran by is ended where others are, too. */
static bool end_with_job(struct sl_job_view *v)
{
    bool success;
    const char *message = "";
    if (!v->f->finished(v->f, v->job, &success, &message)) {
        return false;
    }
    for (size_t i = 0; i < v->slices.count; i++) {
        if (v->slices.at[i] != v->slices.holder) {
            sl_job_finish_workload(v->r, v->slices.at[i], success ? "Succeeded" : "Failed",
                                   message[0] != '\0' ? message : "Job finished", NULL);
        }
    }
    return true;
}

void sl_job_slices_act(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    for (size_t i = 0; i < v->slices.ended_count; i++) {
        struct sl_json *wl = v->slices.ended[i];
        if (wl != v->wl && sl_workload_has_finalizer(wl)) {
            sl_job_release_workload(v->r, wl);
        }
    }
    if (!end_with_job(v)) {
        end_spares(v);
    }
    sl_job_act(v);
}

/* --- numbers of pods ----------------------------------------------------------------------------------- */

/* The view is about the pods that it may have now. One pod set may wait for more while another has fewer already. */
static void settle_sets(struct sl_job_view *v)
{
    for (size_t i = 0; i < v->sets.count; i++) {
        const struct sl_json *set = sl_workload_pod_set(v->wl, i);
        int64_t waiting = v->sets.at[i].count - sl_slice_holds(v->wl, i);
        v->waiting_pods += waiting > 0 ? waiting : 0;
        v->sets.at[i].count = sl_json_path_int(set, "count", v->sets.at[i].count);
    }
}

static void rescale(struct sl_job_view *v, const struct sl_json *wl)
{
    struct sl_json *o = sl_workload_scaled_new(wl, &v->sets);
    struct sl_note note = sl_job_note(v, "UpdatedWorkload", "Updated pod counts of Workload: %s/%s",
                                      sl_object_namespace(o), sl_object_name(o));
    sl_job_look_on(v, wl);
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
}

/* Pods that have ended are given back of fewer from now on. That is said first: with the count of now and the pods of
 * before, more would be free than is, and what is given back is not taken again. */
static void shrink(struct sl_job_view *v, bool reserved)
{
    if (reserved && sl_job_reclaim(v)) {
        sl_job_look_on(v, v->wl);
    } else {
        rescale(v, v->wl);
    }
}

/* It goes on with the pods that it has. */
static void grow(struct sl_job_view *v)
{
    struct sl_json *wl = sl_job_workload_new(v);
    if (wl != NULL) {
        sl_slice_take_templates(wl, v->wl);
        sl_job_make(v, wl);
    }
}

/* The one that waits has the marks of its job, too, and asks for no pods that have ended for good. */
static void update_next(struct sl_job_view *v)
{
    struct sl_json *holder = v->wl;
    v->wl = v->slices.next;
    if (sl_job_update_marks(v) || sl_job_reclaim(v)) {
        sl_job_look_on(v, v->wl);
    }
    v->wl = holder;
}

/* The one that the job runs by has enough for it: for how long another one may yet wait is all the same. */
static bool end_needless(struct sl_job_view *v)
{
    enum sl_scale scale = sl_scale_of(&v->sets, v->wl);
    bool needless = scale == SL_SCALE_SAME || scale == SL_SCALE_DOWN;
    if (needless) {
        end_one(v, v->slices.next);
    }
    return needless;
}

/* It was started by another than us: its pods pass no gate, and more than are granted would run. */
static bool runs_ungated(const struct sl_job_view *v)
{
    bool ungated = false;
    for (size_t i = 0; i < v->sets.count && !ungated; i++) {
        ungated = v->sets.at[i].count > sl_slice_holds(v->wl, i) &&
                  !sl_template_has_gate(v->sets.at[i].template, SL_GATE_ELASTIC);
    }
    return ungated && !v->f->suspended(v->f, v->job);
}

bool sl_job_slices_scale(struct sl_job_view *v)
{
    SL_PRE(v->wl != NULL);
    if (runs_ungated(v)) {
        return false; /* as of any job that is not as its Workload says */
    }
    struct sl_json *next = v->slices.next;
    bool reserved = sl_condition_true(v->wl, "QuotaReserved");
    bool leaving = sl_object_deleting(v->wl) || (reserved && sl_condition_true(v->wl, "Evicted"));
    bool waits = next != NULL && !sl_object_deleting(next);
    waits = waits && (leaving || !reserved || !end_needless(v));
    enum sl_scale scale = sl_scale_of(&v->sets, waits ? next : v->wl);
    if (scale == SL_SCALE_OTHER) {
        return false; /* as of any job */
    }
    bool done = leaving || scale == SL_SCALE_SAME;
    if (!done && waits) {
        rescale(v, next);
    } else if (!done && (!reserved || scale == SL_SCALE_DOWN)) {
        shrink(v, reserved);
        return true;
    } else if (!done && next == NULL) {
        grow(v);
    } else if (waits) {
        update_next(v);
    }
    settle_sets(v);
    return false;
}

bool sl_job_slices_go_on(const struct sl_job_view *v)
{
    SL_PRE(v->wl != NULL);
    return goes_on(v->wl);
}
