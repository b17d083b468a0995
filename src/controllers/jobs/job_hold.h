/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Jobs that are on hold: they have no pods and will get none, and have not ended either. */
#ifndef SL_CONTROLLERS_JOB_HOLD_H
#define SL_CONTROLLERS_JOB_HOLD_H
#include "controllers/jobs/job_steps.h"

/* Its Workload gives its quota back and waits for none, until the job is on hold no longer. True: nothing else is to be done
 * now. */
bool sl_job_hold(struct sl_job_view *v);

/* Write that the Workload is on hold, without quota, or that it waits for quota again; and whether it is said to be. */
void sl_job_put_on_hold(const struct sl_job_view *v, const char *message);
void sl_job_end_hold(const struct sl_job_view *v, const char *message);
bool sl_job_is_held(const struct sl_json *wl);
#endif
