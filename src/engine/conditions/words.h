/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The message beside a reason. A text belongs to the reason that it was written for: where the
 * record has another one by now, a standard sentence is used instead. So a reason and its message
 * always come from the same attempt. */
#ifndef SL_ENGINE_WORDS_H
#define SL_ENGINE_WORDS_H
#include "engine/engine.h"
#include "engine/conditions/message.h"

/* Said last, of why it waits and of why it was stopped. Texts are owned; NULL = nothing but the standard sentence. */
struct sl_words {
    char *waiting;
    enum sl_pending_reason waits_for;
    char *stopping;
    enum sl_evict_reason stopped_by;
};

/* "" = the standard sentence. */
void sl_words_say_waiting(struct sl_words *words, enum sl_pending_reason reason, const char *text);
void sl_words_say_stopping(struct sl_words *words, enum sl_evict_reason reason, const char *text);
void sl_words_fini(struct sl_words *words); /* nothing is said any more */
struct sl_words sl_words_copy(const struct sl_words *words);

/* What is said of that record. Waiting: it is pending. Stopping: it was evicted, or will be deactivated. */
/* Has waiting: more than the standard sentence. */
bool sl_words_has_waiting(const struct sl_words *words, const struct sl_workload *record);
const char *sl_words_waiting(const struct sl_words *words, const struct sl_workload *record);
void sl_words_stopping(const struct sl_words *words, const struct sl_workload *record,
                       char out[static SL_MESSAGE_SIZE]);
const char *sl_words_target(const struct sl_words *words, const struct sl_workload *record);
/* Of a decision that is being made about it just now. */
void sl_words_of_decision(struct sl_engine *g, sl_workload_id id, enum sl_decision_kind kind,
                          char out[static SL_MESSAGE_SIZE]);
#endif
