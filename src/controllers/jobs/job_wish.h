/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Workload that a job would have if it were submitted now. Nothing is written, and no Event. */
#ifndef SL_CONTROLLERS_JOB_WISH_H
#define SL_CONTROLLERS_JOB_WISH_H
#include "controllers/jobs/jobs.h"

/* As an API server would hand it out, with uid and times. `job` gets a uid when it has none. BAD_REQUEST: jobs of this kind
 * are not managed, or consist of several objects. INVALID: what the job asks for cannot be used. */
enum sl_code sl_job_wish_new(struct sl_jobs *j, enum sl_kind kind, struct sl_json *job,
                             int64_t now_ms, struct sl_json **workload, struct sl_error *e);
/* What a Workload that does not exist yet would get from an API server. */
void sl_job_wish_complete(struct sl_json *workload, int64_t now_ms);
#endif
