/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What holds of jobs and their Workloads, whatever happens: with each write of the daemon, and at rest. Written from what
 * people expect of the objects; each broken rule is named, and ends the process. */
#ifndef SL_FUZZ_JOBLAW_H
#define SL_FUZZ_JOBLAW_H
#include "api/objects/client.h"

void joblaw_written(const struct sl_write *w, const struct sl_json *before,
                    const struct sl_json *after, enum sl_code code);
void joblaw_at_rest(void);
/* Writes that have changed something, but for why something waits. */
unsigned long joblaw_changes(void);

/* The pod template of a job, as its user wants it: what it has to have whenever it does not run. Takes it; NULL: the user
 * knows of no such job (any more). */
void joblaw_want(const char *job_uid, struct sl_json *template);
const struct sl_json *joblaw_wanted(const char *job_uid);
void joblaw_forget(void);
#endif
