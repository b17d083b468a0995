/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Jobs that are on hold: they have no pods and will get none, and have not ended either. For job_steps.c. */
#ifndef SL_CONTROLLERS_JOB_HOLD_H
#define SL_CONTROLLERS_JOB_HOLD_H
#include "controllers/jobs/job_steps.h"

/* Its Workload gives its quota back and waits for none, until the job is on hold no longer. True: nothing else is to be done
 * now. */
bool sl_job_hold(struct sl_job_view *v);
#endif
