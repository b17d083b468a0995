/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What belongs to which: the jobs that an object controls, by its uid, and the objects that a composed job consists of. A
 * child has to be reconciled when the Workload of its owner changes, and no event of its own says so. */
#ifndef SL_CONTROLLERS_JOB_CHILDREN_H
#define SL_CONTROLLERS_JOB_CHILDREN_H
#include <stdbool.h>
#include <stddef.h>

struct sl_job_children;
struct sl_job_children *sl_job_children_new(void);
void sl_job_children_free(struct sl_job_children *c);
/* `child` ("NUMBER/NAMESPACE/NAME", whatever the number means) with that uid is controlled by `owner`, or is no more.
 * Told again, nothing changes. */
void sl_job_children_put(struct sl_job_children *c, const char *owner, const char *uid,
                         const char *child, bool there);
size_t sl_job_children_count(const struct sl_job_children *c, const char *owner);
/* The next child of the owner; *cursor starts at 0, and the texts are lent until something changes. False: no more. */
bool sl_job_children_next(const struct sl_job_children *c, const char *owner, size_t *cursor,
                          const char **uid, const char **child);
#endif
