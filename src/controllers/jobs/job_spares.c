/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which Workloads are spares, and their end. One that has finished holds no quota, and stays. */
#include "controllers/jobs/job_spares.h"
#include "base/check.h"
#include "controllers/jobs/job_steps.h"
#include <string.h>

bool sl_job_spare_named(const struct sl_framework *f, const struct sl_json *wl)
{
    SL_PRE(f != NULL);
    char name[254];
    const struct sl_json *owner = sl_object_controller_ref(wl);
    sl_framework_workload_name(f, sl_json_path_text(owner, "name", ""),
                               sl_json_path_text(owner, "uid", ""), name);
    return strcmp(name, sl_object_name(wl)) != 0;
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
    return strcmp(own, sl_object_name(wl)) != 0;
}

static void drop(const struct sl_jobs_of *of, struct sl_reconciler *r, struct sl_json *job,
                 const struct sl_json *wl)
{
    if (!sl_object_deleting(wl)) {
        sl_job_delete_workload(r, of->f->kind, job, wl);
    } else if (sl_workload_has_finalizer(wl)) {
        sl_job_release_workload(r, wl);
    }
}

void sl_job_spare_drop(const struct sl_jobs_of *of, struct sl_reconciler *r,
                       const struct sl_json *wl)
{
    SL_PRE(of != NULL);
    if (sl_condition_true(wl, "Finished")) {
        return;
    }
    bool absent;
    const char *name = sl_json_path_text(sl_object_controller_ref(wl), "name", "");
    struct sl_json *job = sl_reconciler_get(r, of->f->kind, sl_object_namespace(wl), name, &absent);
    if (job != NULL && has_another(of, r, job, wl)) {
        drop(of, r, job, wl);
    }
    sl_json_free(job);
}
