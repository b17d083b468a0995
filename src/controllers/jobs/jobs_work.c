/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Jobs that are to be reconciled: in turns, and when the next one is due. */
#include "base/check.h"
#include "controllers/jobs/jobs.h"

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
