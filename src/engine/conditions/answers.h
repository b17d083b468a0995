/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the controllers of admission checks have written into a Workload becomes events. An eviction ends what was
 * answered before it: answers of an object that does not say yet that it was evicted are not given to the record that
 * is. Which of several answers counts is the kernel's to say (kernel/commit/reports.h). */
#ifndef SL_ENGINE_ANSWERS_H
#define SL_ENGINE_ANSWERS_H
#include "engine/state.h"

/* The state of one of status.admissionChecks; what is no state is Pending. */
enum sl_check_state sl_answers_state(const struct sl_json *check);
const char *sl_answers_state_text(enum sl_check_state state);
/* States that differ from the record's, of checks that the record has. Not to be asked while a decision about the
 * workload is unwritten. */
void sl_answers_take(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                     int64_t now_ms);
/* Has a check of that version of the object answered since answers were last read? Then its answer is not the record's to
 * reset, but for an eviction, which ends it. */
bool sl_answers_unread(const struct sl_engine *g, sl_workload_id id, const struct sl_json *object);
/* What the next decision says: which checks have rejected it, and why; nothing when none has. */
void sl_answers_say_rejection(struct sl_engine *g, sl_workload_id id, const struct sl_json *object);
#endif
