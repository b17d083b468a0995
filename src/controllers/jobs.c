/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The job controller: who has to be looked at, and the Workloads that have lost their Job. */
#include "controllers/jobs.h"
#include "base/map.h"
#include "controllers/job.h"
#include "controllers/job_steps.h"
#include <string.h>

#define LEFTOVER_DELAY_MS 1000 /* the garbage collector goes first */

static void reconcile_job(void *self, struct sl_reconciler *r, const struct sl_key *key,
                          int64_t now_ms)
{
    struct sl_job_view v = {.j = self, .r = r, .key = r->current, .now_ms = now_ms};
    bool absent;
    char name[254];
    v.job = sl_reconciler_get(r, SL_KIND_JOB, key->ns, key->name, &absent);
    if (v.job == NULL) {
        return;
    }
    if (sl_job_queue(v.job) != NULL && !sl_object_deleting(v.job)) {
        sl_job_workload_name(key->name, sl_object_uid(v.job), name);
        v.wl = sl_reconciler_get(r, SL_KIND_WORKLOAD, key->ns, name, &absent);
        if (absent || (v.wl != NULL && sl_job_owns(v.job, v.wl))) {
            sl_job_act(&v);
        }
    }
    sl_json_free(v.wl);
    sl_json_free(v.job);
}

/* A Workload whose Job is gone (*job_gone), or that never had one. False: somebody else looks after it. */
static bool abandoned(struct sl_reconciler *r, const struct sl_json *wl, bool *job_gone)
{
    const struct sl_json *owner = sl_object_controller_ref(wl);
    *job_gone = sl_object_label(wl, SL_LABEL_JOB_UID) != NULL;
    if (owner == NULL) {
        return true;
    }
    if (strcmp(sl_json_path_text(owner, "kind", ""), "Job") != 0) {
        return false;
    }
    bool absent;
    struct sl_json *job = sl_reconciler_get(r, SL_KIND_JOB, sl_object_namespace(wl),
                                            sl_json_path_text(owner, "name", ""), &absent);
    *job_gone = absent || (job != NULL && !sl_job_owns(job, wl));
    sl_json_free(job);
    return *job_gone;
}

static void tidy_up(struct sl_jobs *j, struct sl_reconciler *r, struct sl_json *wl, bool job_gone,
                    int64_t now_ms)
{
    bool finished = sl_condition_true(wl, "Finished");
    if (sl_object_deleting(wl) || (finished && job_gone)) {
        if (sl_workload_has_finalizer(wl)) {
            sl_job_release_workload(r, wl);
        }
    } else if (!finished && job_gone) {
        sl_job_finish_workload(r, wl, "OwnerNotFound",
                               "The Job of this Workload does not exist any more", NULL);
    } else if (!finished && sl_condition_true(wl, "Evicted") &&
               sl_condition_true(wl, "QuotaReserved")) {
        sl_engine_job_stopped(j->engine, wl, now_ms); /* it has no Job: nothing runs */
    }
}

static void reconcile_leftover(void *self, struct sl_reconciler *r, const struct sl_key *key,
                               int64_t now_ms)
{
    bool absent;
    bool job_gone;
    struct sl_json *wl = sl_reconciler_get(r, SL_KIND_WORKLOAD, key->ns, key->name, &absent);
    if (wl != NULL && abandoned(r, wl, &job_gone)) {
        tidy_up(self, r, wl, job_gone, now_ms);
    }
    sl_json_free(wl);
}

void sl_jobs_init(struct sl_jobs *j, const struct sl_client *client, struct sl_recorder *events,
                  struct sl_engine *engine)
{
    *j = (struct sl_jobs){
        .engine = engine, .blocked = sl_map_new(), .default_classes = sl_map_new()};
    sl_reconciler_init(&j->jobs, "job", client, events);
    sl_reconciler_init(&j->leftovers, "leftover workload", client, events);
    j->jobs.self = j->leftovers.self = j;
    j->jobs.reconcile = reconcile_job;
    j->leftovers.reconcile = reconcile_leftover;
}

void sl_jobs_fini(struct sl_jobs *j)
{
    sl_reconciler_fini(&j->jobs);
    sl_reconciler_fini(&j->leftovers);
    sl_map_free(j->blocked);
    sl_map_free(j->default_classes);
}

static void observe_job(struct sl_jobs *j, const struct sl_json *job, bool deleted, int64_t now_ms)
{
    char key[SL_KEY_SIZE];
    if (sl_job_queue(job) == NULL) {
        return;
    }
    if (!deleted) {
        sl_key_print(sl_object_namespace(job), sl_object_name(job), key);
        sl_work_add(j->jobs.work, key, SL_WORK_NOW);
        return;
    }
    char name[254];
    sl_job_workload_name(sl_object_name(job), sl_object_uid(job), name);
    sl_key_print(sl_object_namespace(job), name, key);
    sl_work_add(j->leftovers.work, key, now_ms + LEFTOVER_DELAY_MS);
}

/* May its Job have to do something now? What a Job needs to know without this comes with the Job's own events. */
static bool concerns_job(const struct sl_json *wl)
{
    if (sl_condition_true(wl, "Finished")) {
        return sl_workload_has_finalizer(wl);
    }
    if (sl_object_deleting(wl) || sl_condition_true(wl, "Evicted")) {
        return true;
    }
    if (sl_condition_true(wl, "Admitted")) {
        return !sl_condition_true(wl, "PodsReady");
    }
    return sl_object_generation(wl) > 1 && !sl_condition_true(wl, "QuotaReserved");
}

static void observe_workload(struct sl_jobs *j, const struct sl_json *wl, bool deleted)
{
    char key[SL_KEY_SIZE];
    const struct sl_json *owner = sl_object_controller_ref(wl);
    if (owner != NULL && strcmp(sl_json_path_text(owner, "kind", ""), "Job") == 0 &&
        (deleted || concerns_job(wl))) {
        sl_key_print(sl_object_namespace(wl), sl_json_path_text(owner, "name", ""), key);
        sl_work_add(j->jobs.work, key, SL_WORK_NOW);
    }
    bool lonely = owner == NULL && (sl_condition_true(wl, "Evicted") ||
                                    sl_object_label(wl, SL_LABEL_JOB_UID) != NULL);
    if (!deleted && (lonely || sl_object_deleting(wl))) {
        sl_key_print(sl_object_namespace(wl), sl_object_name(wl), key);
        sl_work_add(j->leftovers.work, key, SL_WORK_NOW);
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
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (!deleted && sl_map_next(j->blocked, &cursor, &key, &value)) {
        sl_work_add(j->jobs.work, key, SL_WORK_NOW);
        sl_map_remove(j->blocked, key, NULL);
    }
}

void sl_jobs_observe(struct sl_jobs *j, enum sl_kind kind, const struct sl_json *object,
                     bool deleted, int64_t now_ms)
{
    switch (kind) {
    case SL_KIND_JOB:
        observe_job(j, object, deleted, now_ms);
        break;
    case SL_KIND_WORKLOAD:
        observe_workload(j, object, deleted);
        break;
    case SL_KIND_PRIORITY_CLASS:
    case SL_KIND_WORKLOAD_PRIORITY_CLASS:
        observe_class(j, kind, object, deleted);
        break;
    default:
        break;
    }
}

bool sl_jobs_step(struct sl_jobs *j, int64_t now_ms, unsigned limit)
{
    bool more_jobs = sl_reconciler_step(&j->jobs, now_ms, limit);
    bool more_leftovers = sl_reconciler_step(&j->leftovers, now_ms, limit);
    return more_jobs || more_leftovers;
}

int64_t sl_jobs_due_ms(const struct sl_jobs *j)
{
    int64_t a = sl_work_due_ms(j->jobs.work);
    int64_t b = sl_work_due_ms(j->leftovers.work);
    return a < b ? a : b;
}
