/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Starting and stopping the job of a look, and telling its Workload how its pods are. For job_steps.c. */
#ifndef SL_CONTROLLERS_JOB_RUN_H
#define SL_CONTROLLERS_JOB_RUN_H
#include "controllers/jobs/job_steps.h"

/* Is it on its way from running to stopped and restored? */
bool sl_job_stopping(const struct sl_job_view *v);
enum sl_stop { SL_STOP_NO_MATCH, SL_STOP_NOT_ADMITTED, SL_STOP_DELETED, SL_STOP_EVICTED };
/* One step towards a stopped, restored job; true when there is nothing left to do. */
bool sl_job_stop(struct sl_job_view *v, enum sl_stop stop, const char *why);
/* Are its pods what the reservation of its Workload has made of them? So they are in one that its user has suspended. */
bool sl_job_as_admitted(struct sl_job_view *v);
/* What admission adds is still in it: its user has suspended it while it ran. */
bool sl_job_has_traces(struct sl_job_view *v);
/* What the pending admission checks of the Workload say, "check: message; ..." (out may be NULL); false: nothing. */
bool sl_job_checks_say(const struct sl_json *wl, struct sl_buf *out);
/* Unsuspend it with what admission adds to its pods, in one write. */
void sl_job_start(struct sl_job_view *v);
/* For job_members.c: what Events say of that, and what is done when it cannot be. */
struct sl_note sl_job_note_start(const struct sl_job_view *v);
void sl_job_cannot_start(struct sl_job_view *v, const struct sl_error *e);
/* Say whether all pods are ready, where that is waited for. */
void sl_job_tell_ready(struct sl_job_view *v);
/* Say how many pods have ended for good; true when that had to be written. While quota is held the
 * count only grows: what was released may be held by another workload now. */
bool sl_job_reclaim(struct sl_job_view *v);
/* Is there something to say of a Workload that is made for it now? */
bool sl_job_has_ended_pods(const struct sl_job_view *v);

/* What the flavors and checks of the admission add to the pods of the set with that number (template.h); NULL: *e says
 * why not. */
struct sl_json *sl_admission_injection_new(struct sl_job_view *v, size_t index, struct sl_error *e);
/* Create or update the object; takes it. */
void sl_job_write(struct sl_reconciler *r, enum sl_verb verb, enum sl_kind kind, struct sl_json *o,
                  const struct sl_note *note);
/* For an Event about the job when the write has succeeded. */
struct sl_note sl_job_note(const struct sl_job_view *v, const char *reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* An Event about the job. */
void sl_job_report(const struct sl_job_view *v, const char *reason, const char *message);
/* Its job has stopped since it was evicted: what it held is given back. */
void sl_job_note_stopped(struct sl_job_view *v);
#endif
