/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The objects that jobs refer to: a TrainJob's runtime says which pods it has. They are read for each look at a job, and a
 * change of one wakes the jobs that refer to it. */
#ifndef SL_CONTROLLERS_JOB_REFS_H
#define SL_CONTROLLERS_JOB_REFS_H
#include "controllers/jobs/jobs.h"

/* A framework that knows what the job refers to; to be ended. Where it refers to nothing it is the framework itself. */
struct sl_bound {
    struct sl_framework f;
    struct sl_json *with, *lacks;
};
const struct sl_framework *sl_job_refs_bind(struct sl_bound *b, const struct sl_framework *f,
                                            const struct sl_client *client,
                                            const struct sl_json *job, bool elastic);
void sl_job_refs_end(struct sl_bound *b);
/* Keep in mind what the job refers to; or no longer. */
void sl_job_refs_keep(struct sl_jobs_of *of, const struct sl_json *job, bool there);
/* An object has changed, and so perhaps which pods the jobs have that refer to it, or the elastic one that has made it. */
void sl_job_refs_wake(struct sl_jobs *j, enum sl_kind kind, const struct sl_json *object);
#endif
