/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The job controller: which jobs are managed, and which have to be reconciled. */
#include "controllers/jobs/jobs.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "controllers/adapters/adapter.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/job_leftovers.h"
#include "controllers/jobs/job_members.h"
#include "controllers/jobs/job_owners.h"
#include "controllers/jobs/job_refs.h"
#include "controllers/jobs/job_slices.h"
#include "controllers/jobs/podjob.h"
#include <stdio.h>
#include <string.h>

#define LEFTOVER_DELAY_MS 1000 /* the garbage collector goes first */
#define QUEUE_DEFAULT "default"

/* --- which jobs are managed ---------------------------------------------------------------------------- */

struct sl_jobs_of *sl_jobs_of_workload(struct sl_jobs *j, const struct sl_json *wl,
                                       const char **job)
{
    SL_PRE(j != NULL);
    const struct sl_json *owner = sl_object_controller_ref(wl);
    for (size_t i = 0; i < j->kind_count; i++) {
        if (sl_framework_composes(j->kinds[i].f, wl)) {
            *job = sl_object_name(wl);
            return &j->kinds[i];
        }
    }
    *job = sl_json_path_text(owner, "name", "");
    return owner == NULL ? NULL : sl_jobs_of_object(j, owner);
}

bool sl_jobs_namespace_managed(const struct sl_job_rules *rules, struct sl_reconciler *r,
                               const char *ns)
{
    SL_PRE(rules != NULL);
    if (rules->namespaces == NULL) {
        return true;
    }
    bool absent;
    struct sl_json *o = sl_reconciler_get(r, SL_KIND_NAMESPACE, "", ns, &absent);
    bool yes = o != NULL && sl_selector_matches(rules->namespaces, o);
    if (absent) { /* what is in it is there: the namespace is not known yet, or not any more */
        sl_work_add(r->work, r->current, sl_clock_now_ms() + SL_RETRY_MS);
    }
    sl_json_free(o);
    return yes;
}

/* One that names no queue goes to the queue "default" where there is one. NULL: that is not known. */
static const char *queue_of(struct sl_job_view *v)
{
    const char *queue = sl_job_queue(v->job);
    if (queue != NULL) {
        return queue;
    }
    bool absent;
    struct sl_json *o = sl_reconciler_get(v->r, SL_KIND_LOCAL_QUEUE, sl_object_namespace(v->job),
                                          QUEUE_DEFAULT, &absent);
    if (o != NULL) {
        sl_json_free(o);
        return QUEUE_DEFAULT;
    }
    return absent ? "" : NULL;
}

/* Without it the job may not start, and while the job runs it holds quota: a job that has one is
 * managed to the end. */
static bool owns_workload(const struct sl_jobs_of *of, const struct sl_json *job)
{
    char name[254];
    struct sl_json *wl = NULL;
    const struct sl_client *client = of->work.client;
    sl_job_workload_name(of->f, job, name);
    enum sl_code code =
        client->get(client->self, SL_KIND_WORKLOAD, sl_object_namespace(job), name, &wl, NULL);
    bool yes = (code == SL_CODE_OK && sl_framework_has(of->f, job, wl)) ||
               sl_job_slices_known(of->all, job);
    sl_json_free(wl);
    return yes;
}

/* The policies that suspend jobs on a cluster know nothing of the configuration of this daemon. */
static void report_unmanaged(const struct sl_job_view *v)
{
    char message[160];
    bool gated = v->f->gated != NULL;
    bool ours = sl_job_queue(v->job) != NULL && sl_object_controller_ref(v->job) == NULL;
    if ((gated || ours) && v->f->suspended(v->f, v->job)) {
        (void)snprintf(message, sizeof message, SL_NAMESPACE_LEFT_OUT ": nothing will %s",
                       sl_object_namespace(v->job),
                       gated ? "let this Pod start" : "start this job");
        sl_recorder_record_once(v->r->events, v->f->kind, v->job, "NamespaceNotManaged", message,
                                v->now_ms);
    }
}

static bool is_managed(struct sl_job_view *v)
{
    bool gated = v->f->gated != NULL;
    if (v->f->skips != NULL && v->f->composition == NULL && v->f->skips(v->f, v->job)) {
        return false; /* members of a composed one were managed when they were seen */
    }
    if (owns_workload(v->of, v->job) || (gated && sl_members_leave(v))) {
        return true; /* and none that is to go is held back */
    }
    if (!sl_jobs_namespace_managed(&v->j->rules, v->r, sl_object_namespace(v->job))) {
        report_unmanaged(v);
        return false;
    }
    if (gated || sl_job_is_child(v)) {
        return gated;
    }
    return v->j->rules.manage_all || sl_job_queue(v->job) != NULL;
}

/* False: that cannot be read now. NULL when there is none. */
static bool read_workload(struct sl_job_view *v)
{
    bool absent;
    char name[254];
    v->elastic = sl_job_is_elastic(v->j, v->f, v->job);
    if (v->elastic || sl_job_slices_known(v->j, v->job)) {
        return sl_job_slices_read(v);
    }
    sl_job_workload_name(v->f, v->job, name);
    v->wl = sl_reconciler_get(v->r, SL_KIND_WORKLOAD, sl_object_namespace(v->job), name, &absent);
    return v->wl != NULL || absent;
}

/* Its owner is on the way out, which in the foreground waits for what it owns: the Workload must not wait for the
 * job in turn. */
static void let_go(struct sl_job_view *v)
{
    bool read = read_workload(v);
    for (size_t i = 0; i < v->slices.count; i++) {
        sl_leftover_tidy_up(v->r, v->slices.at[i], true);
    }
    for (size_t i = 0; i < v->slices.ended_count; i++) {
        sl_leftover_tidy_up(v->r, v->slices.ended[i], true);
    }
    bool alone = v->slices.count + v->slices.ended_count == 0;
    if (alone && read && v->wl != NULL && sl_job_owns(v->job, v->wl)) {
        sl_leftover_tidy_up(v->r, v->wl, true);
    }
}

/* Somebody else's of the name that the job's would have. */
static void report_conflict(struct sl_job_view *v)
{
    char text[400];
    char why[64] = "belongs to something else";
    const char *noun = v->f->noun == NULL ? "job" : v->f->noun;
    if (v->f->composition != NULL) {
        (void)snprintf(why, sizeof why, "is not a %s workload", noun);
    }
    (void)snprintf(text, sizeof text,
                   "A Workload named \"%s\" already exists but %s; this %s cannot be admitted",
                   sl_object_name(v->wl), why, noun);
    sl_job_report(v, "WorkloadNameConflict", text);
    sl_members_let_stopped_go(v);
}

static void act_on_workload(struct sl_job_view *v)
{
    if (!read_workload(v)) {
        return;
    }
    bool named = sl_job_prebuilt(v->job) != NULL;
    bool ours = v->wl == NULL || sl_framework_has(v->f, v->job, v->wl) ||
                (named && sl_object_controller_ref(v->wl) == NULL);
    if (!ours && named) {
        sl_json_free(v->wl); /* as if there were none: without one of its own it may not run */
        v->wl = NULL;
    }
    if (v->elastic || v->slices.count > 0) {
        sl_job_slices_act(v);
    } else if (ours || named) {
        sl_job_act(v);
    } else {
        report_conflict(v);
    }
}

static void reconcile_job(void *self, struct sl_reconciler *r, const struct sl_key *key,
                          int64_t now_ms)
{
    struct sl_jobs_of *of = self;
    struct sl_job_view v = {
        .j = of->all, .of = of, .f = of->f, .r = r, .key = r->current, .now_ms = now_ms};
    struct sl_bound bound = {0};
    bool there = sl_members_load(&v, key);
    if (there && of->f->refers != NULL) {
        v.f = sl_job_refs_bind(&bound, of->f, r->client, v.job,
                               sl_job_is_elastic(of->all, of->f, v.job));
    }
    if (there && of->f->gated == NULL && sl_object_deleting(v.job)) {
        let_go(&v);
    } else if (there && is_managed(&v) && (v.queue = queue_of(&v)) != NULL) {
        act_on_workload(&v);
    }
    sl_json_free(v.wl);
    sl_slices_fini(&v.slices);
    sl_members_fini(&v);
    if (of->f->refers != NULL) {
        sl_job_refs_end(&bound);
    }
}

/* --- making and ending --------------------------------------------------------------------------------- */

static void add_kind(struct sl_jobs *j, const struct sl_framework *f,
                     const struct sl_client *client, struct sl_recorder *events)
{
    if (f->grouping != NULL) {
        return; /* its pods are the jobs */
    }
    if (!sl_jobs_enabled(&j->rules, f)) {
        if (f->composition == NULL) { /* those of its kind have one name */
            sl_log(SL_LOG_INFO, "left alone: integrations.frameworks does not name it", "framework",
                   f->name, NULL);
        }
        return;
    }
    struct sl_jobs_of *of = &j->kinds[j->kind_count++];
    of->all = j;
    of->f = f;
    of->blocked = sl_map_new();
    of->members = sl_job_children_new();
    sl_reconciler_init(&of->work, f->noun == NULL ? f->name : f->noun, client, events);
    of->work.self = of;
    of->work.reconcile = reconcile_job;
}

void sl_jobs_init(struct sl_jobs *j, const struct sl_client *client, struct sl_recorder *events,
                  struct sl_engine *engine, const struct sl_job_rules *rules)
{
    *j = (struct sl_jobs){.engine = engine,
                          .children = sl_job_children_new(),
                          .referrers = sl_job_children_new(),
                          .slices = sl_job_children_new(),
                          .elsewhere = sl_job_children_new(),
                          .default_classes = sl_map_new(),
                          .holders = sl_map_new(),
                          .changed = sl_map_new(),
                          .made = sl_map_new()};
    if (rules != NULL) {
        j->rules = *rules;
    }
    for (size_t i = 0; sl_jobs_framework(i) != NULL; i++) {
        add_kind(j, sl_jobs_framework(i), client, events);
    }
    sl_reconciler_init(&j->leftovers, "leftover workload", client, events);
    j->leftovers.self = j;
    j->leftovers.reconcile = sl_leftover_reconcile;
}

void sl_jobs_fini(struct sl_jobs *j)
{
    SL_PRE(j != NULL);
    for (size_t i = 0; i < j->kind_count; i++) {
        sl_reconciler_fini(&j->kinds[i].work);
        sl_map_free(j->kinds[i].blocked);
        sl_job_children_free(j->kinds[i].members);
    }
    sl_reconciler_fini(&j->leftovers);
    sl_job_children_free(j->children);
    sl_job_children_free(j->referrers);
    sl_job_children_free(j->slices);
    sl_job_children_free(j->elsewhere);
    sl_map_free(j->default_classes);
    sl_map_free(j->holders);
    sl_map_free(j->changed);
    sl_map_free(j->made);
}

/* --- what happens -------------------------------------------------------------------------------------- */

static void wake(struct sl_jobs_of *of, const char *ns, const char *name)
{
    char key[SL_KEY_SIZE];
    sl_key_print(ns, name, key);
    sl_work_add(of->work.work, key, SL_WORK_NOW);
}

/* When the last of them is deleted, their Workload is left over. */
static void observe_member(struct sl_jobs_of *of, const struct sl_json *object, bool deleted)
{
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(object), of->f->composition->group(object), key);
    sl_job_children_put(of->members, key, sl_object_name(object), "", !deleted);
    bool empty = sl_job_children_count(of->members, key) == 0;
    sl_work_add(empty ? of->all->leftovers.work : of->work.work, key, SL_WORK_NOW);
}

/* A job that is looked at may turn out not to be managed. */
static bool may_be_managed(struct sl_jobs_of *of, const struct sl_json *job, bool deleted)
{
    if (of->f->gated != NULL) { /* most Pods of a cluster are not */
        return !of->f->skips(of->f, job) || (deleted && owns_workload(of, job));
    }
    bool child = sl_job_is_owned(of->all, of->f->kind, job);
    if (child) {
        sl_job_owners_keep(of, job, !deleted);
    }
    return sl_job_queue(job) != NULL || of->all->rules.manage_all || child ||
           owns_workload(of, job);
}

static void observe_job(struct sl_jobs_of *of, const struct sl_json *job, bool deleted,
                        int64_t now_ms)
{
    bool composed = of->f->composition != NULL;
    bool ours = composed ? of->f->composition->group(job) != NULL
                         : of->f->claims == NULL || of->f->claims(job);
    if (!ours || !((composed && deleted) || may_be_managed(of, job, deleted))) {
        return;
    }
    if (composed) {
        observe_member(of, job, deleted);
        return;
    }
    if (of->f->refers != NULL) {
        sl_job_refs_keep(of, job, !deleted);
    }
    if (!deleted) {
        wake(of, sl_object_namespace(job), sl_object_name(job));
        return;
    }
    char name[254];
    char key[SL_KEY_SIZE];
    sl_job_workload_name(of->f, job, name);
    sl_key_print(sl_object_namespace(job), name, key);
    sl_work_add(of->all->leftovers.work, key, now_ms + LEFTOVER_DELAY_MS);
    sl_job_slices_leave(of->all, job, now_ms + LEFTOVER_DELAY_MS);
}

/* Does the job run, although its Workload may not say that it may (any more)? */
static bool runs(const struct sl_jobs_of *of, const struct sl_json *wl)
{
    struct sl_json *job = NULL;
    const struct sl_client *client = of->work.client;
    enum sl_code code =
        client->get(client->self, of->f->kind, sl_object_namespace(wl),
                    sl_json_path_text(sl_object_controller_ref(wl), "name", ""), &job, NULL);
    bool yes = code == SL_CODE_OK && !of->f->suspended(of->f, job);
    sl_json_free(job);
    return yes;
}

/* Has it just lost the quota that it held? What its job asked for meanwhile is to be followed then. */
static bool lost_quota(struct sl_jobs *j, const char *key, const struct sl_json *wl, bool deleted)
{
    if (!deleted && sl_condition_true(wl, "QuotaReserved")) {
        sl_map_put(j->holders, key, (union sl_map_value){.number = 0});
        return false;
    }
    return sl_map_remove(j->holders, key, NULL);
}

/* Is that what a look at its job has waited for? A version that is no job's yet is not. */
static bool is_awaited(struct sl_jobs *j, const struct sl_json *wl, bool owned, bool deleted)
{
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(wl), sl_object_name(wl), key);
    bool changed = (owned || deleted) && sl_map_remove(j->changed, key, NULL);
    return lost_quota(j, key, wl, deleted) || changed || deleted;
}

/* May its job have to do something now? What a job needs to know without this comes with its own events. */
static bool concerns_job(const struct sl_jobs_of *of, const struct sl_json *wl)
{
    if (of->f->gated != NULL) { /* it may be that one of its objects missed something */
        return true;
    }
    if (sl_condition_true(wl, "Finished")) {
        return sl_workload_has_finalizer(wl);
    }
    if (sl_object_deleting(wl) || sl_condition_true(wl, "Evicted")) {
        return true;
    }
    if (sl_condition_true(wl, "Admitted")) {
        return !sl_condition_true(wl, "PodsReady");
    }
    bool reserved = sl_condition_true(wl, "QuotaReserved");
    return (reserved ? sl_job_checks_say(wl, NULL) : sl_object_generation(wl) > 1) || runs(of, wl);
}

/* May jobs below its job not run (any more)? */
static bool concerns_children(const struct sl_json *wl, bool deleted)
{
    return deleted || sl_object_deleting(wl) || sl_condition_true(wl, "Evicted") ||
           !sl_condition_true(wl, "Admitted");
}

static void observe_workload(struct sl_jobs *j, const struct sl_json *wl, bool deleted)
{
    char key[SL_KEY_SIZE];
    const char *job;
    const struct sl_json *owner = sl_object_controller_ref(wl);
    struct sl_jobs_of *of = sl_jobs_of_workload(j, wl, &job);
    bool awaited = is_awaited(j, wl, of != NULL, deleted);
    sl_job_slices_observe(of, wl, deleted);
    sl_job_owners_observe(j, wl, deleted);
    if (of != NULL && (awaited || concerns_job(of, wl))) {
        wake(of, sl_object_namespace(wl), job);
    }
    if (of != NULL && concerns_children(wl, deleted)) {
        sl_job_owners_wake(j, sl_json_path_text(owner, "uid", ""));
    }
    bool lonely = owner == NULL && (sl_condition_true(wl, "Evicted") ||
                                    sl_object_label(wl, SL_LABEL_JOB_UID) != NULL);
    bool spare = of != NULL && (of->f->gated != NULL || sl_leftover_spare_named(of->f, wl));
    if (!deleted && (lonely || spare || sl_object_deleting(wl))) {
        sl_key_print(sl_object_namespace(wl), sl_object_name(wl), key);
        sl_work_add(j->leftovers.work, key, SL_WORK_NOW);
    }
}

static void unblock(struct sl_jobs_of *of)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(of->blocked, &cursor, &key, &value)) {
        sl_work_add(of->work.work, key, SL_WORK_NOW);
        sl_map_remove(of->blocked, key, NULL);
    }
}

static void observe_class(struct sl_jobs *j, enum sl_kind kind, const struct sl_json *class,
                          bool deleted)
{
    if (kind == SL_KIND_PRIORITY_CLASS) {
        if (!deleted && sl_json_path_bool(class, "globalDefault", false)) {
            sl_map_put(j->default_classes, sl_object_name(class),
                       (union sl_map_value){.number = 0});
        } else {
            sl_map_remove(j->default_classes, sl_object_name(class), NULL);
        }
    }
    for (size_t i = 0; !deleted && i < j->kind_count; i++) {
        unblock(&j->kinds[i]);
    }
}

void sl_jobs_observe(struct sl_jobs *j, enum sl_kind kind, const struct sl_json *object,
                     bool deleted, int64_t now_ms)
{
    if (kind == SL_KIND_WORKLOAD) {
        observe_workload(j, object, deleted);
    } else if (kind == SL_KIND_PRIORITY_CLASS || kind == SL_KIND_WORKLOAD_PRIORITY_CLASS) {
        observe_class(j, kind, object, deleted);
    }
    if (kind >= SL_KIND_CUSTOM) {
        sl_job_refs_wake(j, kind, object);
    }
    if (sl_external_is(&j->rules, kind)) { /* it may have got a queue */
        sl_job_owners_wake(j, sl_object_uid(object));
    }
    for (size_t i = 0; i < j->kind_count; i++) {
        if (j->kinds[i].f->kind == kind) {
            observe_job(&j->kinds[i], object, deleted, now_ms);
        }
    }
}
