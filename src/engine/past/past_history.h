/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is known of one workload of a past: {"id", "workload", "uid", "queue", "priority", "arrived", "deleted", "ran",
 * "anchors": {EVENT: [MS...]}, "after": {EVENT: MS}}. Times are ms since 1970. */
#ifndef SL_ENGINE_PAST_HISTORY_H
#define SL_ENGINE_PAST_HISTORY_H
#include "api/json/json.h"
#include <stdbool.h>
#include <stdint.h>

/* Times within this are one: objects say them in seconds. */
#define SL_PAST_SAME_MS 1000

struct sl_json *sl_past_history_new(const char *key, const struct sl_json *object,
                                    int64_t arrived_ms);
/* An event of it came from outside. */
void sl_past_history_note(struct sl_json *history, const struct sl_json *event);
/* The slices of an elastic job are one run of it: with `history` it has just finished, which went on with what `first` began. */
void sl_past_history_one_run(struct sl_json *history, struct sl_json *first);
/* A decision about it; false: it is known already, and was only found again by another run. */
bool sl_past_history_decide(struct sl_json *history, const struct sl_json *decision);
/* Has that event followed on what happened at that time, in the past? Then it comes by itself. */
bool sl_past_history_had(const struct sl_json *history, const char *event, int64_t since_ms);
/* How long after what it follows on the event came last; -1: it never came. */
int64_t sl_past_history_after_ms(const struct sl_json *history, const char *event);
/* The median of these of all that have one; 0: none has. */
int64_t sl_past_history_median_ms(const struct sl_json *histories, const char *event);
#endif
