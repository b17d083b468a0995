/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What jobs belong to. A job whose owner is queued runs with that one, and has no Workload of its own. The owner is of a kind
 * that is managed here and makes such jobs, or of one that a controller elsewhere manages and makes Workloads for
 * (integrations.externalFrameworks), which may own any job and of which only the metadata are read. */
#ifndef SL_CONTROLLERS_JOB_OWNERS_H
#define SL_CONTROLLERS_JOB_OWNERS_H
#include "controllers/jobs/job_steps.h"

#define SL_EXTERNAL_NAME_SIZE 160 /* of "Kind.version.group" */
/* What such a name says; false: it is not of that form, or too long. */
struct sl_external {
    char kind[64], version[21], group[61];
};
bool sl_external_read(const char *name, struct sl_external *out);
bool sl_external_is(const struct sl_job_rules *rules, enum sl_kind kind);
/* They become kinds that can be followed (kinds.h: by_name), before anything is. INVALID, INTERNAL: as sl_kind_name. */
enum sl_code sl_externals_register(const struct sl_job_rules *rules, struct sl_error *e);

/* Does the job, of that kind, say that a job (of whatever kind) controls it that may have made it? */
bool sl_job_is_owned(struct sl_jobs *j, enum sl_kind kind, const struct sl_json *job);
/* Does it belong to another managed job? Then it runs with that one. While that is unknown it stays as it is. */
bool sl_job_is_child(struct sl_job_view *v);

/* One that is owned was seen or deleted. */
void sl_job_owners_keep(struct sl_jobs_of *of, const struct sl_json *job, bool there);
/* Look at the jobs below that owner again. */
void sl_job_owners_wake(struct sl_jobs *j, const char *uid);
/* A Workload was seen or deleted that nothing here has made, and its owner is of an external kind. */
void sl_job_owners_observe(struct sl_jobs *j, const struct sl_json *wl, bool deleted);
#endif
