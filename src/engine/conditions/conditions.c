/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One function per condition type. Types, reasons and sentences are Kueue's: programs compare them. */
#include "engine/conditions/conditions.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "engine/conditions/message.h"
#include "engine/conditions/words.h"
#include <stdio.h>
#include <string.h>

#define SL_REASON(constant, text) [constant] = text,
static const char *const pending_texts[] = {
#include "model/pending_reasons.def"
};
static const char *const evict_texts[] = {
#include "model/evict_reasons.def"
};
static const char *const cause_texts[] = {
#include "model/deactivation_causes.def"
};
static const char *const preempt_texts[] = {
#include "model/preempt_reasons.def"
};
static const char *const requeue_texts[] = {
#include "model/requeue_reasons.def"
};
#undef SL_REASON
#define SL_REASON(constant, text) [constant] = "DeactivatedDueTo" text,
static const char *const due_texts[] = {
#include "model/deactivation_causes.def"
};
#undef SL_REASON
#define BLOCKED "BlockedOnPreemptionGates"
static const char preempted_sentence[] = "Preempted to accommodate another workload";

const char *sl_condition_pending_reason(const struct sl_workload *record)
{
    SL_PRE(record != NULL);
    return pending_texts[record->pending_reason];
}

const char sl_condition_gate_closed[] = "Workload requires preemption, but it's gated";

bool sl_condition_preemption_gated(const struct sl_workload *record)
{
    SL_PRE(record != NULL);
    return record->phase == SL_PHASE_PENDING && record->pending_reason == SL_PENDING_GATED &&
           !record->gated;
}

const char *sl_condition_legacy_reason(const struct sl_workload *record, bool queue_to_blame)
{
    SL_PRE(record != NULL);
    switch (record->pending_reason) {
    case SL_PENDING_PODS_READY:
        return "Waiting";
    case SL_PENDING_SUSPENDED:
        return "Inadmissible";
    case SL_PENDING_MISCONFIGURED:
        return queue_to_blame ? "Inadmissible" : "Pending";
    case SL_PENDING_GATED:
        return record->gated ? pending_texts[SL_PENDING_GATED] : "Pending";
    case SL_PENDING_ON_HOLD:
        return pending_texts[SL_PENDING_ON_HOLD];
    default:
        return "Pending";
    }
}

const char *sl_condition_evict_reason(const struct sl_workload *record)
{
    SL_PRE(record != NULL);
    bool due = record->evicted == SL_EVICT_DEACTIVATED && record->deactivation != SL_CAUSE_NONE;
    return due ? due_texts[record->deactivation] : evict_texts[record->evicted];
}

const char *sl_condition_requeue_reason(const struct sl_workload *record)
{
    SL_PRE(record != NULL);
    return record->requeued == SL_REQUEUED_TRUE ? requeue_texts[record->requeue_reason]
                                                : sl_condition_evict_reason(record);
}

const char *sl_condition_cause(const struct sl_workload *record)
{
    SL_PRE(record != NULL);
    return cause_texts[record->deactivation];
}

const char *sl_condition_decision_reason(const struct sl_workload *record,
                                         enum sl_decision_kind kind)
{
    switch (kind) {
    case SL_DECIDE_RESERVE:
        return "QuotaReserved";
    case SL_DECIDE_ADMIT:
        return "Admitted";
    case SL_DECIDE_EVICT:
        return sl_condition_evict_reason(record);
    case SL_DECIDE_DEACTIVATE:
        return sl_condition_cause(record);
    case SL_DECIDE_REQUEUE:
        return sl_condition_requeue_reason(record);
    case SL_DECIDE_DELETE:
        return record->phase == SL_PHASE_FINISHED ? "Finished" : "Deactivated";
    case SL_DECIDE_PLACE:
        return record->unhealthy_count > 0 ? "NodeFailures"
               : record->topology_pending  ? "PendingDelayedTopologyRequests"
                                           : "TopologyAssigned";
    case SL_DECIDE_UNPLACED:
        return "SecondPassFailed";
    case SL_DECIDE_LATE:
        return "StillRunning";
    case SL_DECIDE_FINISH:
        return "WorkloadSliceReplaced";
    case SL_DECIDE_PENDING:
    case SL_DECIDE_RELEASE:
        break;
    }
    return NULL;
}

bool sl_condition_check_objects(const struct sl_workload *record)
{
    SL_PRE(record != NULL);
    for (uint32_t i = 0; i < record->check_count; i++) {
        if (record->checks[i].state >= SL_CHECK_RETRY) {
            return record->phase == SL_PHASE_PENDING;
        }
    }
    return false;
}

/* --- sentences, said when no decision had more to say ------------------------------------------ */

static const char *const pending_sentences[] = {
    [SL_PENDING_EVALUATION] = "Workload is pending evaluation in the scheduling queue",
    [SL_PENDING_SUSPENDED] = "The queue is inactive",
    [SL_PENDING_MISCONFIGURED] = "The LocalQueue or ClusterQueue doesn't exist",
    [SL_PENDING_GATED] = "The workload is held back by its admission gates",
    [SL_PENDING_ON_HOLD] = "Job is on hold",
    [SL_PENDING_DEACTIVATED] = "The workload is deactivated",
    [SL_PENDING_PREEMPTED_WORKLOADS] = "Pending the preemption of other workloads",
    [SL_PENDING_PODS_READY] = "waiting for all admitted workloads to be in PodsReady condition",
};
static const char *const evict_sentences[] = {
    [SL_EVICT_PREEMPTED] = preempted_sentence,
    [SL_EVICT_PODS_READY_TIMEOUT] = "Exceeded the PodsReady timeout",
    [SL_EVICT_ADMISSION_CHECK] = "Evicted due to AdmissionCheck in Retry state",
    [SL_EVICT_CLUSTER_QUEUE_STOPPED] = "The ClusterQueue is stopped",
    [SL_EVICT_LOCAL_QUEUE_STOPPED] = "The LocalQueue is stopped",
    [SL_EVICT_NODE_FAILURES] =
        "Workload was evicted as there was no replacement for unhealthy node(s)",
    [SL_EVICT_DEACTIVATED] = "The workload is deactivated",
    [SL_EVICT_FLAVOR_MIGRATION] = "Evicted due to migration to more favorable resource flavor",
};
static const char *const requeue_sentences[] = {
    [SL_REQUEUE_FLAVOR_MIGRATION] = "The workload made way for another variant",
    [SL_REQUEUE_REACTIVATED] = "The workload was reactivated",
    [SL_REQUEUE_BACKOFF_FINISHED] = "The workload backoff was finished",
    [SL_REQUEUE_CLUSTER_QUEUE_RESTARTED] = "The ClusterQueue was restarted after being stopped",
    [SL_REQUEUE_LOCAL_QUEUE_RESTARTED] = "The LocalQueue was restarted after being stopped",
};
#define CAUSES(before)                                                                             \
    {                                                                                              \
        [SL_CAUSE_ADMISSION_CHECK] = before "AdmissionCheck in Rejected state",                    \
        [SL_CAUSE_REQUEUING_LIMIT] = before "exceeding the maximum number of re-queuing retries",  \
        [SL_CAUSE_EXECUTION_TIME] = before "exceeding the maximum execution time",                 \
    }
static const char *const cause_sentences[] = CAUSES("");
static const char *const deactivated_sentences[] = CAUSES("The workload is deactivated due to ");
#define SENTENCE(table, i, standard)                                                               \
    ((size_t)(i) < sizeof(table) / sizeof *(table) && (table)[i] != NULL ? (table)[i] : (standard))

const char *sl_condition_pending_sentence(const struct sl_workload *record)
{
    SL_PRE(record != NULL);
    if (sl_condition_preemption_gated(record)) {
        return sl_condition_gate_closed;
    }
    return record->pending_reason == SL_PENDING_EVALUATION && sl_condition_check_objects(record)
               ? sl_message_checks
               : SENTENCE(pending_sentences, record->pending_reason,
                          "No quota was found for the workload");
}

const char *sl_condition_cause_sentence(enum sl_cause cause)
{
    return SENTENCE(cause_sentences, cause, "");
}

const char *sl_condition_evict_sentence(const struct sl_workload *record)
{
    SL_PRE(record != NULL);
    const char *standard = SENTENCE(evict_sentences, record->evicted, "");
    return record->evicted == SL_EVICT_DEACTIVATED
               ? SENTENCE(deactivated_sentences, record->deactivation, standard)
               : standard;
}

const char *sl_condition_requeue_sentence(const struct sl_workload *record)
{
    SL_PRE(record != NULL);
    return SENTENCE(requeue_sentences, record->requeue_reason,
                    "The workload may be considered again");
}

static void set(struct sl_json *status, const struct sl_condition_view *v, const char *type,
                bool value, const char *reason, const char *message)
{
    (void)sl_condition_set(status, type, value, reason, message, v->generation, v->now_ms);
}

static const struct sl_json *find(const struct sl_json *status, const char *type)
{
    return sl_json_find_by(sl_json_get(status, "conditions"), "type", type);
}

static bool is(const struct sl_json *status, const char *type, const char *value)
{
    const struct sl_json *c = find(status, type);
    return c != NULL && strcmp(sl_json_path_text(c, "status", ""), value) == 0;
}

static bool says(const struct sl_json *status, const char *type, const char *message)
{
    return strcmp(sl_json_path_text(find(status, type), "message", ""), message) == 0;
}

static bool has_reason(const struct sl_json *status, const char *type, const char *reason)
{
    return strcmp(sl_json_path_text(find(status, type), "reason", ""), reason) == 0;
}

/* Condition `type` is true with this reason. One that is so already keeps its sentence and its
 * time. */
static void hold_true(struct sl_json *status, const struct sl_condition_view *v, const char *type,
                      const char *reason, const char *message)
{
    if (!is(status, type, "True") || !has_reason(status, type, reason)) {
        set(status, v, type, true, reason, message);
    }
}

/* One write may carry out several decisions: what the object still says to be true of an earlier time has been false in
 * between. */
static void start_over(struct sl_json *status, const struct sl_condition_view *v, const char *type,
                       int64_t since_ms)
{
    int64_t told_ms =
        sl_clock_parse(sl_json_path_text(find(status, type), "lastTransitionTime", ""));
    if (is(status, type, "True") && told_ms != SL_NEVER && since_ms != SL_NEVER &&
        told_ms / 1000 < since_ms / 1000) {
        set(status, v, type, false, type, "");
    }
}

/* The same for what has been so since then. */
static void hold_since(struct sl_json *status, const struct sl_condition_view *v, const char *type,
                       const char *message, int64_t since_ms)
{
    start_over(status, v, type, since_ms);
    hold_true(status, v, type, type, message);
}

bool sl_condition_evicted_by_others(const struct sl_json *status)
{
    const char *reason = sl_json_path_text(find(status, "Evicted"), "reason", "");
    bool ours = !is(status, "Evicted", "True") || strncmp(reason, "Deactivated", 11) == 0;
    for (size_t i = 0; !ours && i < sizeof evict_texts / sizeof evict_texts[0]; i++) {
        ours = strcmp(reason, evict_texts[i]) == 0;
    }
    return !ours;
}

/* What was true is history now: false, with what it said. */
static void lay_down(struct sl_json *status, const struct sl_condition_view *v, const char *type,
                     const char *reason)
{
    if (is(status, type, "True")) {
        char text[SL_MESSAGE_SIZE];
        sl_utf8_print(text, sizeof text, "Previously: %s",
                      sl_json_path_text(find(status, type), "message", ""));
        set(status, v, type, false, reason, text);
    }
}

static bool reserved(const struct sl_workload *w)
{
    return w->phase == SL_PHASE_QUOTA_RESERVED || w->phase == SL_PHASE_ADMITTED ||
           w->phase == SL_PHASE_EVICTED;
}

/* What has just lost its quota says so with the words of its eviction, until it is tried again (what was deactivated
 * is not, before it is active); what was gated that it is not any more. */
static const char *waiting_sentence(const struct sl_json *status, const struct sl_condition_view *v)
{
    static const char ungated[] = "AdmissionGatedBy cleared, waiting for quota reservation";
    static const char type[] = "QuotaReserved";
    const struct sl_workload *w = v->record;
    const char *evicted = sl_json_path_text(find(status, "Evicted"), "message", "");
    if (w->pending_reason == SL_PENDING_EVALUATION && sl_words_has_waiting(v->words, w)) {
        return sl_words_waiting(v->words, w);
    }
    if (w->pending_reason == SL_PENDING_EVALUATION && !sl_condition_check_objects(w)) {
        if (is(status, "Evicted", "True") && w->evicted != SL_EVICT_DEACTIVATED &&
            (is(status, type, "True") || says(status, type, evicted))) {
            return evicted;
        }
        bool was_gated = has_reason(status, type, "AdmissionGated") &&
                         !is(status, BLOCKED, "True"); /* which is said of other gates */
        if (was_gated || says(status, type, ungated)) {
            return ungated;
        }
    }
    return sl_words_waiting(v->words, w);
}

static void write_quota_reserved(struct sl_json *status, const struct sl_condition_view *v)
{
    if (reserved(v->record)) {
        char text[400];
        (void)snprintf(text, sizeof text, "Quota reserved in ClusterQueue %s", v->cluster_queue);
        hold_since(status, v, "QuotaReserved", text, v->record->reserved_at_ms);
        return;
    }
    enum sl_pending_reason pending = v->record->pending_reason;
    const char *reason = v->granular ? sl_condition_pending_reason(v->record)
                                     : sl_condition_legacy_reason(v->record, v->queue_to_blame);
    if (pending == SL_PENDING_EVALUATION && find(status, "QuotaReserved") == NULL &&
        !sl_words_has_waiting(v->words, v->record)) {
        return; /* nothing was decided yet */
    }
    char message[SL_MESSAGE_SIZE];
    sl_utf8_print(message, sizeof message, "%s", waiting_sentence(status, v));
    bool news = v->other_trouble ||
                (pending == SL_PENDING_EVALUATION && !says(status, "QuotaReserved", message));
    if (!news && is(status, "QuotaReserved", "False") &&
        has_reason(status, "QuotaReserved", reason)) {
        return; /* only the numbers in the sentence would change: not worth a write */
    }
    set(status, v, "QuotaReserved", false, reason, message);
}

static bool checks_ready(const struct sl_workload *w)
{
    for (uint32_t i = 0; i < w->check_count; i++) {
        if (w->checks[i].state != SL_CHECK_READY) {
            return false;
        }
    }
    return true;
}

#define NO_RESERVATION "NoReservation"
#define NO_TOPOLOGY "PendingDelayedTopologyRequests"
#define NO_CHECKS "UnsatisfiedAdmissionChecks"
enum { UNADMITTED_BY_CHECKS = 1, UNADMITTED_BY_TOPOLOGY, UNADMITTED_PENDING };
_Static_assert(sizeof pending_texts / sizeof pending_texts[0] + UNADMITTED_PENDING ==
                   SL_UNADMITTED_COUNT,
               "each reason to wait has a count");

uint32_t sl_condition_unadmitted(const struct sl_workload *record)
{
    SL_PRE(record != NULL);
    if (record->was_admitted || record->phase == SL_PHASE_ABSENT ||
        record->phase == SL_PHASE_FINISHED) {
        return 0;
    }
    if (!reserved(record)) {
        return UNADMITTED_PENDING + (uint32_t)record->pending_reason;
    }
    return record->topology_pending && checks_ready(record) ? UNADMITTED_BY_TOPOLOGY
                                                            : UNADMITTED_BY_CHECKS;
}

uint32_t sl_condition_unadmitted_said(const struct sl_json *object)
{
    const char *reason =
        sl_json_path_text(sl_condition_find(object, "QuotaReserved"), "reason", "");
    if (sl_condition_true(object, "Admitted") || sl_condition_true(object, "Finished")) {
        return 0;
    }
    if (sl_condition_true(object, "QuotaReserved")) {
        return UNADMITTED_BY_CHECKS;
    }
    for (uint32_t i = 0; i < sizeof pending_texts / sizeof pending_texts[0]; i++) {
        if (pending_texts[i] != NULL && strcmp(pending_texts[i], reason) == 0) {
            return UNADMITTED_PENDING + i;
        }
    }
    return UNADMITTED_PENDING + SL_PENDING_EVALUATION;
}

void sl_condition_unadmitted_texts(uint32_t why, const char **reason, const char **cause)
{
    SL_PRE(why > 0 && why < SL_UNADMITTED_COUNT);
    *reason = why == UNADMITTED_BY_CHECKS     ? NO_CHECKS
              : why == UNADMITTED_BY_TOPOLOGY ? NO_TOPOLOGY
                                              : NO_RESERVATION;
    *cause = why < UNADMITTED_PENDING ? "" : pending_texts[why - UNADMITTED_PENDING];
}

static const char *not_admitted_reason(const struct sl_condition_view *v)
{
    if (!reserved(v->record)) {
        return NO_RESERVATION;
    }
    if (v->record->topology_pending && checks_ready(v->record)) {
        return NO_TOPOLOGY;
    }
    return v->granular ? NO_CHECKS : "UnsatisfiedChecks";
}

static const char *not_admitted_sentence(const struct sl_condition_view *v)
{
    if (!reserved(v->record)) {
        return "The workload has no reservation";
    }
    return checks_ready(v->record) ? "There are pending delayed topology requests"
                                   : "The workload has not all checks ready";
}

static void write_admitted(struct sl_json *status, const struct sl_condition_view *v)
{
    if (v->record->was_admitted) {
        hold_since(status, v, "Admitted", "The workload is admitted", v->record->admitted_at_ms);
    } else if (find(status, "Admitted") != NULL ||
               (v->granular && find(status, "QuotaReserved") != NULL)) {
        const char *reason = not_admitted_reason(v);
        if (!is(status, "Admitted", "False") || !has_reason(status, "Admitted", reason)) {
            set(status, v, "Admitted", false, reason, not_admitted_sentence(v));
        }
    }
}

static void write_evicted(struct sl_json *status, const struct sl_condition_view *v)
{
    if (v->record->evicted != SL_EVICT_NONE) {
        if (v->record->evicted == SL_EVICT_DEACTIVATED && is(status, "Evicted", "True") &&
            strncmp(sl_json_path_text(find(status, "Evicted"), "reason", ""), "Deactivated", 11) ==
                0) {
            return; /* the cause is in the object, and after a restart only there */
        }
        char text[SL_MESSAGE_SIZE];
        sl_words_stopping(v->words, v->record, text);
        if (v->record->evicted != SL_EVICT_DEACTIVATED) { /* which may follow upon an eviction */
            start_over(status, v, "Evicted", v->record->evicted_at_ms);
        }
        if (v->record->evicted != SL_EVICT_PREEMPTED || !sl_condition_evicted_by_others(status)) {
            hold_true(status, v, "Evicted", sl_condition_evict_reason(v->record), text);
        }
    } else if (reserved(v->record)) {
        lay_down(status, v, "Evicted", "QuotaReserved");
    }
}

/* While it is true Kueue gives it, alone of all conditions, no observedGeneration. */
static void write_preempted(struct sl_json *status, const struct sl_condition_view *v)
{
    if (v->record->preempted != SL_PREEMPT_NONE) {
        struct sl_condition_view plain = *v;
        plain.generation = 0;
        char text[SL_MESSAGE_SIZE];
        sl_words_stopping(v->words, v->record, text);
        hold_true(status, &plain, "Preempted", preempt_texts[v->record->preempted],
                  v->record->evicted == SL_EVICT_PREEMPTED ? text : preempted_sentence);
    } else if (reserved(v->record) && v->record->phase != SL_PHASE_EVICTED) {
        lay_down(status, v, "Preempted", "QuotaReserved");
    }
}

static bool by_eviction(const struct sl_workload *w)
{
    return w->requeue_reason == SL_REQUEUE_PREEMPTED ||
           w->requeue_reason == SL_REQUEUE_NODE_FAILURES;
}

/* What was evicted goes back in line, or may not, for what the eviction says. */
static void say_eviction(const struct sl_json *status, const char *standard,
                         char out[static SL_MESSAGE_SIZE])
{
    bool said = is(status, "Evicted", "True");
    sl_utf8_print(out, SL_MESSAGE_SIZE, "%s",
                  said ? sl_json_path_text(find(status, "Evicted"), "message", "") : standard);
}

static void write_requeued(struct sl_json *status, const struct sl_condition_view *v)
{
    char text[SL_MESSAGE_SIZE];
    if (v->record->requeued == SL_REQUEUED_TRUE && v->record->requeue_reason != SL_REQUEUE_NONE) {
        const char *standard = sl_condition_requeue_sentence(v->record);
        say_eviction(status, standard, text);
        hold_true(status, v, "Requeued", requeue_texts[v->record->requeue_reason],
                  by_eviction(v->record) ? text : standard);
    } else if (v->record->requeued == SL_REQUEUED_FALSE) {
        const char *reason = sl_condition_evict_reason(v->record);
        if (!is(status, "Requeued", "False") || !has_reason(status, "Requeued", reason)) {
            say_eviction(status, sl_condition_evict_sentence(v->record), text);
            set(status, v, "Requeued", false, reason, text);
        }
    }
}

/* Readiness is the job controller's to report. That it is waited for is said with whatever is written first, which costs
 * no write of its own; what an eviction ended is reset. */
static void write_pods_ready(struct sl_json *status, const struct sl_condition_view *v)
{
    bool present = find(status, "PodsReady") != NULL;
    bool begins = !present && v->waits_for_pods && find(status, "QuotaReserved") != NULL;
    bool waits =
        is(status, "PodsReady", "False") && has_reason(status, "PodsReady", "WaitForStart");
    if (begins || (present && !waits && v->record->phase != SL_PHASE_ADMITTED)) {
        set(status, v, "PodsReady", false, "WaitForStart", "Not all pods are ready or succeeded");
    }
}

static void write_deactivation_target(struct sl_json *status, const struct sl_condition_view *v)
{
    enum sl_cause cause = v->record->deactivation;
    if (v->record->active && cause != SL_CAUSE_NONE && v->record->evicted != SL_EVICT_DEACTIVATED) {
        hold_true(status, v, "DeactivationTarget", cause_texts[cause],
                  sl_words_target(v->words, v->record));
    } else {
        (void)sl_condition_remove(status, "DeactivationTarget");
    }
}

/* True until it has quota, or is evicted: also when it waits for something else by now. */
static void write_blocked(struct sl_json *status, const struct sl_condition_view *v)
{
    const struct sl_workload *w = v->record;
    if (v->gate_closed) {
        hold_true(status, v, BLOCKED, "PreemptionGated", sl_words_waiting(v->words, w));
    } else if (reserved(w)) {
        lay_down(status, v, BLOCKED, "QuotaReserved");
    } else if (w->evicted == SL_EVICT_DEACTIVATED && is(status, BLOCKED, "True")) {
        char text[SL_MESSAGE_SIZE];
        sl_words_stopping(v->words, w, text);
        set(status, v, BLOCKED, false, sl_condition_evict_reason(w), text);
    }
}

void sl_condition_write(struct sl_json *status, const struct sl_condition_view *v)
{
    SL_PRE(v->record->phase != SL_PHASE_ABSENT && v->words != NULL && v->cluster_queue != NULL);
    write_preempted(status, v);
    write_evicted(status, v);
    write_quota_reserved(status, v);
    write_admitted(status, v);
    write_requeued(status, v);
    write_pods_ready(status, v);
    write_deactivation_target(status, v);
    write_blocked(status, v);
}
