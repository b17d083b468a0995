/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The groups of one parent: their Workloads and their pods. For parents.c. */
#ifndef SL_CONTROLLERS_SERVING_GROUPS_H
#define SL_CONTROLLERS_SERVING_GROUPS_H
#include "controllers/serving/parents.h"

/* One look at the parent, whose pod sets have been read. */
void sl_groups_look(struct sl_parents_of *p, struct sl_job_view *v);
#endif
