/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/policies/policy_kinds.h"

#include "base/check.h"
#include <string.h>

static const struct sl_policy_job jobs[] = {
#define JOB(group, kind, plural) {group, kind, plural},
#include "cli/policies/policy_jobs.def"
#undef JOB
};
#define JOB_COUNT (sizeof jobs / sizeof jobs[0])

const struct sl_policy_job *sl_policy_job_of(const char *plural)
{
    for (size_t i = 0; i < JOB_COUNT; i++) {
        if (strcmp(jobs[i].plural, plural) == 0) {
            return &jobs[i];
        }
    }
    return NULL;
}

const struct sl_policy_job *sl_policy_job_called(const char *name, size_t len)
{
    for (size_t i = 0; i < JOB_COUNT; i++) {
        size_t group = strlen(jobs[i].group);
        if (len == group + 1 + strlen(jobs[i].kind) && strncmp(name, jobs[i].group, group) == 0 &&
            name[group] == '/' && strncmp(name + group + 1, jobs[i].kind, len - group - 1) == 0) {
            return &jobs[i];
        }
    }
    return NULL;
}

bool sl_policy_group_of_jobs(const char *group)
{
    for (size_t i = 0; i < JOB_COUNT; i++) {
        if (strcmp(jobs[i].group, group) == 0) {
            return true;
        }
    }
    return false;
}

bool sl_policy_kinds_have(const struct sl_policy_kinds *kinds, const struct sl_policy_job *job)
{
    for (size_t i = 0; i < kinds->count; i++) {
        if (strcmp(kinds->at[i].group, job->group) == 0 &&
            strcmp(kinds->at[i].kind, job->kind) == 0) {
            return true;
        }
    }
    return false;
}

/* Where does it say that a job of the kind is suspended? It is asked to, and looked at. */
static const char *suspend_path(const struct sl_framework *f)
{
    static const char *const paths[] = {"spec.suspend", "spec.runPolicy.suspend",
                                        "spec.rayClusterConfig.suspend"};
    struct sl_json *job = sl_json_new_map();
    const char *found = NULL;
    sl_json_set(job, "spec", sl_json_new_map());
    f->suspend(f, job, true);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        found = sl_json_path_bool(job, paths[i], false) ? paths[i] : found;
    }
    sl_json_free(job);
    return found;
}

void sl_policy_kinds_fill(struct sl_policy_kinds *out, const struct sl_job_rules *rules)
{
    SL_PRE(out != NULL && rules != NULL);
    *out = (struct sl_policy_kinds){.rules = rules};
    const struct sl_framework *f;
    for (size_t i = 0; (f = sl_jobs_framework(i)) != NULL; i++) {
        const struct sl_kind_info *info = sl_kind_info(f->kind);
        if (!sl_jobs_enabled(rules, f)) {
            continue;
        }
        if (f->gated != NULL) {
            out->pods = true;
            continue;
        }
        out->at[out->count++] =
            (struct sl_policy_kind){.group = info->group,
                                    .kind = info->kind,
                                    .plural = info->plural,
                                    .suspend = suspend_path(f),
                                    .gated = f->grouping != NULL,
                                    .named = sl_policy_job_of(info->plural) != NULL};
    }
}
