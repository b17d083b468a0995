/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which kinds of jobs there are, which of them are managed, and whose turn to be looked at it is. */
#include "base/check.h"
#include "controllers/adapters/adapter.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/jobs.h"
#include "controllers/jobs/podjob.h"
#include <string.h>

static bool is_named(const struct sl_job_rules *rules, const char *name)
{
    bool yes = false;
    for (size_t i = 0; i < rules->framework_count && !yes; i++) {
        yes = strcmp(rules->frameworks[i], name) == 0;
    }
    return yes;
}

/* Frameworks whose pods are the jobs need those. */
static bool needs_pods(const struct sl_job_rules *rules)
{
    bool yes = is_named(rules, SL_FRAMEWORK_DEPLOYMENT);
    for (size_t i = 0; i < sl_adapters_count() && !yes; i++) {
        const struct sl_framework *f = sl_adapters_at(i);
        yes = f->grouping != NULL && is_named(rules, f->name);
    }
    return yes;
}

bool sl_jobs_enabled(const struct sl_job_rules *rules, const struct sl_framework *f)
{
    SL_PRE(rules != NULL);
    bool always = strcmp(f->name, sl_kind_info(f->kind)->kind) == 0; /* its file gives it no name */
    bool yes = rules->framework_count == 0 || always || is_named(rules, f->name);
    return yes || (f->gated != NULL && needs_pods(rules));
}

const struct sl_framework *sl_jobs_framework(size_t index)
{
    static const struct sl_framework *const built_in[] = {&sl_job_framework, &sl_pod_framework,
                                                          &sl_pod_group_framework};
    size_t count = sizeof built_in / sizeof built_in[0];
    if (index < count) {
        return built_in[index];
    }
    return index - count < sl_adapters_count() ? sl_adapters_at(index - count) : NULL;
}

struct sl_jobs_of *sl_jobs_of_object(struct sl_jobs *j, const struct sl_json *o)
{
    SL_PRE(j != NULL);
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(o, "apiVersion", ""),
                                            sl_json_path_text(o, "kind", ""));
    for (size_t i = 0; i < j->kind_count; i++) {
        if (j->kinds[i].f->kind == kind && j->kinds[i].f->composition == NULL) {
            return &j->kinds[i];
        }
    }
    return NULL;
}

/* --- turns ---------------------------------------------------------------------------------------------- */

bool sl_jobs_step(struct sl_jobs *j, int64_t now_ms, unsigned limit)
{
    SL_PRE(j != NULL);
    bool more = false;
    for (size_t i = 0; i < j->kind_count; i++) {
        more = sl_reconciler_step(&j->kinds[i].work, now_ms, limit) || more;
    }
    return sl_reconciler_step(&j->leftovers, now_ms, limit) || more;
}

int64_t sl_jobs_due_ms(const struct sl_jobs *j)
{
    SL_PRE(j != NULL);
    int64_t due = sl_work_due_ms(j->leftovers.work);
    for (size_t i = 0; i < j->kind_count; i++) {
        int64_t next = sl_work_due_ms(j->kinds[i].work.work);
        due = next < due ? next : due;
    }
    return due;
}

size_t sl_jobs_waiting(const struct sl_jobs *j)
{
    SL_PRE(j != NULL);
    size_t count = 0;
    for (size_t i = 0; i < j->kind_count; i++) {
        count += sl_work_count(j->kinds[i].work.work);
    }
    return count;
}
