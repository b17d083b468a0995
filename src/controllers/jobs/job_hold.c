/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "controllers/jobs/job_hold.h"
#include "base/check.h"
#include "controllers/jobs/job_run.h"
#include <string.h>

#define ON_HOLD "OnHold"

bool sl_job_is_held(const struct sl_json *wl)
{
    SL_PRE(wl != NULL);
    const struct sl_json *c = sl_condition_find(wl, "QuotaReserved");
    return !sl_condition_true(wl, "QuotaReserved") &&
           strcmp(sl_json_path_text(c, "reason", ""), ON_HOLD) == 0;
}

/* The engine sees from the condition that the quota is free, and that none is wanted. */
static void set_unreserved(const struct sl_job_view *v, const char *reason, const char *message)
{
    struct sl_json *o = sl_json_clone(v->wl);
    struct sl_json *status = sl_json_path_make(o, "status");
    int64_t generation = sl_object_generation(v->wl);
    if (sl_condition_true(v->wl, "Admitted")) {
        sl_condition_set(status, "Admitted", false, "NoReservation",
                         "The workload has no reservation", generation, v->now_ms);
    }
    sl_json_remove(status, "admission");
    sl_condition_set(status, "QuotaReserved", false, reason, message, generation, v->now_ms);
    sl_job_write(v->r, SL_VERB_UPDATE_STATUS, SL_KIND_WORKLOAD, o, NULL);
}

void sl_job_put_on_hold(const struct sl_job_view *v, const char *message)
{
    SL_PRE(v != NULL && v->wl != NULL && message != NULL);
    set_unreserved(v, ON_HOLD, message);
}

void sl_job_end_hold(const struct sl_job_view *v, const char *message)
{
    SL_PRE(v != NULL && v->wl != NULL && message != NULL);
    set_unreserved(v, "Pending", message);
}

bool sl_job_hold(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    bool holds = v->f->on_hold != NULL && v->f->on_hold(v->f, v->job);
    if (v->wl == NULL) {
        return holds;
    }
    bool held = sl_job_is_held(v->wl);
    bool evicted = sl_condition_true(v->wl, "Evicted") && sl_condition_true(v->wl, "QuotaReserved");
    if (sl_object_deleting(v->wl) || evicted) {
        return false; /* it is on its way out already */
    }
    if (holds && !held) {
        sl_job_put_on_hold(v, "Job is on hold");
    } else if (held && !holds && v->f->on_hold != NULL) {
        sl_job_end_hold(v, "Job is not on hold any more");
        return true; /* the rest when that is seen */
    }
    return holds;
}
