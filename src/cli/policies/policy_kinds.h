/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which kinds of jobs the policies are for. Inside the policies only. */
#ifndef SL_CLI_POLICY_KINDS_H
#define SL_CLI_POLICY_KINDS_H
#include "controllers/jobs/jobs.h"

/* A kind that is managed; texts are lent by the kinds' table. */
struct sl_policy_kind {
    const char *group, *kind, *plural;
    const char *suspend; /* the path of its flag; NULL: another than those that policies know */
    bool gated;          /* its pods are, and it has no flag */
    bool named;          /* by the files, so that it only has to stay there */
};
struct sl_policy_kinds {
    size_t count;
    struct sl_policy_kind at[SL_FRAMEWORKS_MAX];
    bool pods;                        /* by themselves, or in groups */
    const struct sl_job_rules *rules; /* lent; which owners are managed elsewhere */
};

/* A kind that the files name. */
struct sl_policy_job {
    const char *group, *kind, *plural;
};
/* By plural, or by "group/Kind"; NULL: the files do not name it. */
const struct sl_policy_job *sl_policy_job_of(const char *plural);
const struct sl_policy_job *sl_policy_job_called(const char *name, size_t len);
bool sl_policy_group_of_jobs(const char *group);

void sl_policy_kinds_fill(struct sl_policy_kinds *out, const struct sl_job_rules *rules);
bool sl_policy_kinds_have(const struct sl_policy_kinds *kinds, const struct sl_policy_job *job);

/* A rule of what a policy matches, in place. Where it lists several kinds of jobs, those that the files do not name are
 * added, if their flag is at that path (NULL: wherever it is). False: nothing is left of it. */
bool sl_policy_rule_fit(struct sl_json *rule, const struct sl_policy_kinds *kinds, const char *path,
                        bool pods_only_if_managed);
/* A CEL expression in which 'group/Kind' of owners are in lists or as keys of maps. */
void sl_policy_owners_fit(const char *expression, const struct sl_policy_kinds *kinds,
                          struct sl_buf *out);
#endif
