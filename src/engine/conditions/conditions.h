/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The status of a Workload object as its record in the core wants it. Level-triggered: whatever the
 * object says now, the result says what the record says, so that a repeated or late write does no
 * harm. */
#ifndef SL_ENGINE_CONDITIONS_H
#define SL_ENGINE_CONDITIONS_H
#include "api/objects/object.h"
#include "engine/engine.h"
#include "kernel/base/types.h"

struct sl_words;
struct sl_condition_view {
    const struct sl_workload *record;
    const char *cluster_queue;    /* "" when there is none */
    const struct sl_words *words; /* said of that record */
    bool granular;                /* the settings' granular_reasons */
    bool waits_for_pods;          /* the settings' wait_for_pods_ready */
    bool queue_to_blame; /* when pending: its queues are missing or stopped, or it claims devices */
    bool other_trouble;  /* the message names what is wrong with its queues now, which may be new
                            though the reason is not */
    bool gate_closed;    /* it waits for a preemption gate */
    int64_t generation;  /* metadata.generation of the object */
    int64_t now_ms;
};

/* The strings that the API uses, from model/. Evict: with DeactivatedDueTo<Cause>. */
const char *sl_condition_pending_reason(const struct sl_workload *record);
/* The same as Kueue said it before it had granular reasons. */
const char *sl_condition_legacy_reason(const struct sl_workload *record, bool queue_to_blame);
/* Is it pending since it would have to preempt, and one of its preemption gates was closed? Not its admission gates, which
 * keep it from being considered at all. */
bool sl_condition_preemption_gated(const struct sl_workload *record);
extern const char sl_condition_gate_closed[]; /* which says that */
const char *sl_condition_evict_reason(const struct sl_workload *record);
/* Does the status say so with a reason that only another client can have written? The record takes it for a preemption. */
bool sl_condition_evicted_by_others(const struct sl_json *status);
const char *sl_condition_requeue_reason(const struct sl_workload *record);
const char *sl_condition_cause(const struct sl_workload *record);
/* Of a decision about it; NULL for those that say why it is pending: pending and release. */
const char *sl_condition_decision_reason(const struct sl_workload *record,
                                         enum sl_decision_kind kind);

/* Why it is not admitted, as its conditions Admitted and QuotaReserved say: 0 = it is, or has finished. */
#define SL_UNADMITTED_COUNT (SL_PENDING_DEACTIVATED + 4u) /* the last of the reasons to wait */
uint32_t sl_condition_unadmitted(const struct sl_workload *record);
/* The same of a Workload that has no record; without a reason that is known nothing was decided yet. */
uint32_t sl_condition_unadmitted_said(const struct sl_json *object);
/* Of one that is not 0; the cause is "" where quota is reserved. */
void sl_condition_unadmitted_texts(uint32_t why, const char **reason, const char **cause);

/* Does a check keep it from being considered at all? */
bool sl_condition_check_objects(const struct sl_workload *record);

/* Said when no decision had more to say. */
const char *sl_condition_pending_sentence(const struct sl_workload *record);
const char *sl_condition_evict_sentence(const struct sl_workload *record);
const char *sl_condition_requeue_sentence(const struct sl_workload *record);
/* What "is deactivated due to" goes on with; "" = nothing. */
const char *sl_condition_cause_sentence(enum sl_cause cause);

/* Bring status.conditions in line with the record. */
void sl_condition_write(struct sl_json *status, const struct sl_condition_view *v);
#endif
