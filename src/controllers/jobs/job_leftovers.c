/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The end of Workloads that no job runs by. */
#include "controllers/jobs/job_leftovers.h"
#include "base/check.h"
#include "controllers/jobs/job_steps.h"
#include <string.h>

#define OWNERS_ASKED 8u

/* One that never had a job is its maker's: when it is evicted, it holds its quota until the maker has stopped what
 * runs, and takes the reservation back. */
void sl_leftover_tidy_up(struct sl_reconciler *r, struct sl_json *wl, bool job_gone)
{
    SL_PRE(wl != NULL);
    bool finished = sl_condition_true(wl, "Finished");
    if (sl_object_deleting(wl) || (finished && job_gone)) {
        if (sl_workload_has_finalizer(wl)) {
            sl_job_release_workload(r, wl);
        }
    } else if (!finished && job_gone) {
        sl_job_finish_workload(r, wl, "OwnerNotFound",
                               "The Job of this Workload does not exist any more", NULL);
    }
}

/* A member that is not known any more, or what has made all of them, is it certain to be deleted? Kinds that are not known
 * here own it for reasons of their own. */
static bool owner_deleted(const struct sl_jobs_of *of, struct sl_reconciler *r,
                          const struct sl_json *wl, const struct sl_json *owner)
{
    bool absent = true;
    const char *ns = sl_object_namespace(wl);
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(owner, "apiVersion", ""),
                                            sl_json_path_text(owner, "kind", ""));
    if (kind == SL_KIND_COUNT) {
        return true;
    }
    if (kind != of->f->kind) {
        struct sl_json *o =
            sl_reconciler_get(r, kind, ns, sl_json_path_text(owner, "name", ""), &absent);
        bool same = o != NULL && strcmp(sl_object_uid(o), sl_json_path_text(owner, "uid", "")) == 0;
        sl_json_free(o);
        if (same || (o == NULL && !absent)) {
            return false;
        }
    }
    return sl_reconciler_confirm_gone(r, kind, ns, owner);
}

/* Are the members that own the Workload of a composed job certain to be deleted? A cache that lacks them all by mistake
 * is found out by asking about the first few. One that is being deleted itself waits for members only. */
static bool members_gone(const struct sl_jobs_of *of, struct sl_reconciler *r,
                         const struct sl_json *wl)
{
    const struct sl_json *owners = sl_json_path(wl, "metadata.ownerReferences");
    bool gone = sl_job_children_count(of->members, r->current) == 0;
    for (size_t i = 0; i < sl_json_len(owners) && i < OWNERS_ASKED && gone; i++) {
        const struct sl_json *owner = sl_json_at(owners, i);
        bool member = sl_object_ref_is(owner, of->f->kind);
        gone = (!member && sl_object_deleting(wl)) || owner_deleted(of, r, wl, owner);
    }
    return gone;
}

/* --- spares -------------------------------------------------------------------------------------------- */

bool sl_leftover_spare_named(const struct sl_framework *f, const struct sl_json *wl)
{
    SL_PRE(f != NULL);
    char name[254];
    const struct sl_json *owner = sl_object_controller_ref(wl);
    sl_framework_workload_name(f, sl_json_path_text(owner, "name", ""),
                               sl_json_path_text(owner, "uid", ""), name);
    return strcmp(name, sl_object_name(wl)) != 0 && !sl_is_elastic(wl);
}

static bool has_another(const struct sl_jobs_of *of, struct sl_reconciler *r,
                        const struct sl_json *job, const struct sl_json *wl)
{
    char own[254];
    const struct sl_job_rules *rules = &of->all->rules;
    if (!sl_job_owns(job, wl) || sl_object_deleting(job) ||
        (!rules->manage_all && sl_job_queue(job) == NULL) ||
        !sl_jobs_namespace_managed(rules, r, sl_object_namespace(job))) {
        return false;
    }
    sl_job_workload_name(of->f, job, own);
    return strcmp(own, sl_object_name(wl)) != 0 && !sl_is_elastic(wl);
}

/* Nothing runs by a spare Workload, and it would hold quota for nothing. One that has finished holds none, and stays. */
static void drop_spare(const struct sl_jobs_of *of, struct sl_reconciler *r, struct sl_json *job,
                       const struct sl_json *wl)
{
    if (sl_condition_true(wl, "Finished") || !has_another(of, r, job, wl)) {
        return;
    }
    if (!sl_object_deleting(wl)) {
        sl_job_delete_workload(r, of->f->kind, job, wl);
    } else if (sl_workload_has_finalizer(wl)) {
        sl_job_release_workload(r, wl);
    }
}

/* --- the look ------------------------------------------------------------------------------------------ */

/* Its job was deleted, or there is another in its place. What follows is the end of the Workload, with its quota: that a
 * cache lacks the job is not enough. */
static bool job_gone(const struct sl_jobs_of *of, struct sl_reconciler *r,
                     const struct sl_json *job, const struct sl_json *wl, bool absent)
{
    return job == NULL
               ? absent && sl_reconciler_confirm_gone(r, of->f->kind, sl_object_namespace(wl),
                                                      sl_object_controller_ref(wl))
               : !sl_job_owns(job, wl);
}

static void act(const struct sl_jobs_of *of, const char *name, struct sl_reconciler *r,
                struct sl_json *wl)
{
    bool absent;
    struct sl_json *job = sl_reconciler_get(r, of->f->kind, sl_object_namespace(wl), name, &absent);
    if (job_gone(of, r, job, wl, absent)) {
        sl_leftover_tidy_up(r, wl, true);
    } else if (job != NULL) {
        drop_spare(of, r, job, wl);
    }
    sl_json_free(job);
}

/* Nothing controlled it, and it is not finished; its owners take it along. */
static void act_composed(const struct sl_jobs_of *of, struct sl_reconciler *r,
                         const struct sl_json *wl)
{
    if (sl_workload_has_finalizer(wl) && members_gone(of, r, wl)) {
        sl_job_release_workload(r, wl);
    }
}

/* Members of kinds that are not enabled own theirs without controlling it. */
static bool has_owner(const struct sl_json *wl)
{
    return sl_json_len(sl_json_path(wl, "metadata.ownerReferences")) > 0;
}

void sl_leftover_reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key,
                           int64_t now_ms)
{
    (void)now_ms;
    bool absent;
    const char *job = "";
    struct sl_json *wl = sl_reconciler_get(r, SL_KIND_WORKLOAD, key->ns, key->name, &absent);
    const struct sl_jobs_of *of = wl == NULL ? NULL : sl_jobs_of_workload(self, wl, &job);
    if (of != NULL && of->f->composition != NULL) {
        act_composed(of, r, wl);
    } else if (of != NULL) {
        act(of, job, r, wl);
    } else if (wl != NULL && !has_owner(wl)) {
        sl_leftover_tidy_up(r, wl, sl_object_label(wl, SL_LABEL_JOB_UID) != NULL);
    }
    sl_json_free(wl);
}
