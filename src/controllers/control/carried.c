/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Log lines, Events and figures of a decision: of each when it has been written, once. */
#include "controllers/control/carried.h"
#include "base/check.h"
#include "api/objects/topology_assignment.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "engine/figures.h"
#include "engine/why/why.h"
#include <stdio.h>
#include <string.h>

#define PLACES_SIZE 300 /* of a line in the log, for where pods stand */
static const char deactivated[] = "DeactivatedDueTo";
static const char *const decision_names[] = {
#define SL_DECISION(kind, printed, logged) [kind] = logged,
#include "engine/decision_names.def"
#undef SL_DECISION
};

struct sl_carried *sl_carried_new(struct sl_workloads *c, const struct sl_decision *d)
{
    SL_PRE(d != NULL);
    struct sl_carried *k = sl_mem_new(1, sizeof *k);
    k->c = c;
    k->d = *d;
    k->d.ns = k->ns = sl_mem_text(d->ns);
    k->d.name = k->name = sl_mem_text(d->name);
    k->d.uid = k->uid = sl_mem_text(d->uid);
    k->d.reason = k->reason = sl_mem_text(d->reason == NULL ? "" : d->reason);
    if (d->by_name != NULL) {
        k->d.by_ns = k->by_ns = sl_mem_text(d->by_ns);
        k->d.by_name = k->by_name = sl_mem_text(d->by_name);
        k->preemptor = sl_object_new(SL_KIND_WORKLOAD, d->by_ns, d->by_name);
        sl_json_set_text(sl_json_path_make(k->preemptor, "metadata"), "uid", d->by_uid);
    }
    return k;
}

void sl_carried_free(void *value)
{
    struct sl_carried *k = value;
    sl_mem_free(k->ns);
    sl_mem_free(k->name);
    sl_mem_free(k->uid);
    sl_mem_free(k->reason);
    sl_mem_free(k->held_at);
    sl_mem_free(k->by_ns);
    sl_mem_free(k->by_name);
    sl_json_free(k->preemptor);
    sl_mem_free(k);
}

static const char *queue_of(const struct sl_json *wl)
{
    return sl_json_path_text(wl, "status.admission.clusterQueue", "");
}

void sl_carried_look(struct sl_carried *k, const struct sl_json *live)
{
    SL_PRE(k != NULL);
    const struct sl_json *ready = sl_condition_find(live, "PodsReady");
    const char *queue = queue_of(live);
    k->ready_ms = sl_condition_true(live, "PodsReady")
                      ? sl_clock_parse(sl_json_path_text(ready, "lastTransitionTime", ""))
                      : INT64_MIN;
    if (k->d.kind == SL_DECIDE_RELEASE && queue[0] != '\0') {
        sl_mem_free(k->held_at);
        k->held_at = sl_mem_text(queue);
    }
}

/* Where its pods stand, "n1: 2, n2: 1": as many as there is room for. */
static void list_places(const struct sl_json *wl, char out[static PLACES_SIZE])
{
    const struct sl_json *sets = sl_json_path(wl, "status.admission.podSetAssignments");
    struct sl_assignment_reader r;
    struct sl_error ignored = {0};
    struct sl_buf text = {0};
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const struct sl_json *assignment = sl_json_get(sl_json_at(sets, i), "topologyAssignment");
        if (assignment == NULL ||
            sl_topology_assignment_check(assignment, "", &ignored) != SL_CODE_OK) {
            continue;
        }
        sl_assignment_reader_start(&r, assignment);
        while (text.len < PLACES_SIZE && sl_assignment_reader_next(&r)) {
            sl_buf_print(&text, "%s%s: %u", text.len == 0 ? "" : ", ", r.values[r.level_count - 1],
                         r.count);
        }
    }
    sl_utf8_print(out, PLACES_SIZE, "%s", text.len == 0 ? "" : text.data);
    sl_buf_fini(&text);
}

void sl_carried_log(const struct sl_carried *k, const struct sl_json *wl, const char *outcome)
{
    if (!sl_log_on(SL_LOG_INFO)) {
        return;
    }
    char key[SL_KEY_SIZE];
    char places[PLACES_SIZE] = "";
    sl_key_print(k->ns, k->name, key);
    if (k->d.kind == SL_DECIDE_RESERVE || k->d.kind == SL_DECIDE_ADMIT ||
        k->d.kind == SL_DECIDE_PLACE) {
        list_places(wl, places);
    }
    sl_log(SL_LOG_INFO, decision_names[k->d.kind], "cycle", sl_log_number((long long)k->d.cycle),
           "workload", key, "queue", sl_json_path_text(wl, "spec.queueName", ""), "cluster_queue",
           queue_of(wl), "reason", k->reason, "outcome", outcome, "message", k->d.message,
           places[0] == '\0' ? NULL : "places", places, NULL);
}

static void tell(const struct sl_carried *k, const struct sl_json *wl, bool warning,
                 const char *reason, const char *message)
{
    sl_recorder_record(k->c->events, SL_KIND_WORKLOAD, wl, warning, reason, message,
                       sl_clock_now_ms());
}

struct admitted {
    struct sl_workload_meters *meters;
    const struct sl_json *wl;
};

static void count_below(void *context, enum sl_kind kind, const char *cohort)
{
    const struct admitted *a = context;
    (void)kind;
    sl_workload_meters_admitted_below(a->meters, a->wl, cohort);
}

static void count_admitted(const struct sl_carried *k, const struct sl_json *wl)
{
    struct admitted a = {&k->c->meters, wl};
    sl_workload_meters_admitted(a.meters, wl, sl_clock_now_ms());
    sl_engine_cohorts_above(k->c->engine, queue_of(wl), count_below, &a);
}

/* As Kueue counts in its Events: whole seconds; what is not known took none. */
static long long seconds_of(int64_t ms)
{
    return ms > 0 ? (long long)((ms + 500) / 1000) : 0;
}

/* Since its quota was reserved; at the same time as that none. */
static int64_t checked_ms(const struct sl_carried *k, const struct sl_json *wl)
{
    const struct sl_json *c = sl_condition_find(wl, "QuotaReserved");
    int64_t since_ms = sl_clock_parse(sl_json_path_text(c, "lastTransitionTime", ""));
    return k->d.kind == SL_DECIDE_RESERVE || since_ms < 0 ? 0 : sl_clock_now_ms() - since_ms;
}

static void tell_reserved(const struct sl_carried *k, const struct sl_json *wl)
{
    char message[400];
    const char *queue = queue_of(wl);
    if (k->d.kind == SL_DECIDE_RESERVE) {
        sl_workload_meters_reserved(&k->c->meters, wl, sl_clock_now_ms());
        snprintf(message, sizeof message,
                 "Quota reserved in ClusterQueue %s, wait time since queued was %llds", queue,
                 seconds_of(sl_workload_queued_ms(wl, sl_clock_now_ms())));
        tell(k, wl, false, "QuotaReserved", message);
    }
    if (sl_condition_true(wl, "Admitted")) {
        count_admitted(k, wl);
        snprintf(message, sizeof message,
                 "Admitted by ClusterQueue %s, wait time since reservation was %llds", queue,
                 seconds_of(checked_ms(k, wl)));
        tell(k, wl, false, "Admitted", message);
    }
}

/* --- preemption ------------------------------------------------------------------------------- */

/* The Workload that preempted it; NULL: it was deleted. The caller frees it. */
static struct sl_json *winner_of(const struct sl_carried *k)
{
    const struct sl_client *client = k->c->client;
    struct sl_json *winner = NULL;
    struct sl_error e = {0};
    (void)client->get(client->self, SL_KIND_WORKLOAD, k->d.by_ns, k->d.by_name, &winner, &e);
    return winner;
}

/* The ClusterQueue for which somebody was preempted: that of the preemptor's LocalQueue. */
static void count_preempted(const struct sl_carried *k, const struct sl_json *winner,
                            const char *reason)
{
    const struct sl_client *client = k->c->client;
    struct sl_json *queue = NULL;
    struct sl_error e = {0};
    if (winner != NULL) {
        const char *name = sl_json_path_text(winner, "spec.queueName", "");
        (void)client->get(client->self, SL_KIND_LOCAL_QUEUE, k->d.by_ns, name, &queue, &e);
    }
    sl_workload_meters_preempted(&k->c->meters, sl_json_path_text(queue, "spec.clusterQueue", ""),
                                 reason);
    sl_json_free(queue);
}

/* What it came to, and of what: what is not the spec's is its boost. Of one that is gone only the sum is known. */
static void add_priority(struct sl_buf *out, const char *whose, int32_t effective,
                         const struct sl_json *wl)
{
    long long base = wl == NULL ? effective : sl_json_path_int(wl, "spec.priority", 0);
    sl_buf_print(out, "; %s effective priority: %d (base: %lld, boost: %lld)", whose, effective,
                 base, effective - base);
}

static void tell_priorities(const struct sl_carried *k, const struct sl_json *wl,
                            const struct sl_json *winner, struct sl_buf *out)
{
    add_priority(out, "preemptor", k->d.by_priority, winner);
    add_priority(out, "preemptee", k->d.priority, wl);
}

static void tell_preempted(const struct sl_carried *k, const struct sl_json *wl)
{
    const struct sl_json *preempted = sl_condition_find(wl, "Preempted");
    struct sl_json *winner = k->preemptor == NULL ? NULL : winner_of(k);
    struct sl_buf text = {0};
    if (strcmp(k->reason, "Preempted") == 0 && preempted != NULL) {
        sl_buf_print(&text, "%s", sl_json_path_text(preempted, "message", k->d.message));
        if (k->preemptor != NULL) {
            tell_priorities(k, wl, winner, &text);
        }
        tell(k, wl, false, "Preempted", text.data);
    }
    if (k->preemptor != NULL) {
        sl_buf_reset(&text);
        sl_buf_print(&text, "Preempted workload %s/%s (UID: %s) in ClusterQueue %s", k->ns, k->name,
                     k->uid, queue_of(wl));
        tell_priorities(k, wl, winner, &text);
        sl_recorder_record_once(k->c->events, SL_KIND_WORKLOAD, k->preemptor, "PreemptedWorkload",
                                text.data, sl_clock_now_ms());
        count_preempted(k, winner, sl_json_path_text(preempted, "reason", ""));
    }
    sl_buf_fini(&text);
    sl_json_free(winner);
}

/* --- evictions -------------------------------------------------------------------------------- */

static bool is_deactivation(const struct sl_carried *k)
{
    return strncmp(k->reason, deactivated, sizeof deactivated - 1) == 0;
}

/* As in status.schedulingStats: what led to a deactivation is its cause, and what pods that are late had to do. */
static const char *cause_of(const struct sl_carried *k)
{
    if (is_deactivation(k)) {
        return k->reason + sizeof deactivated - 1;
    }
    if (strcmp(k->reason, "PodsReadyTimeout") == 0) {
        return k->recovers ? "WaitForRecovery" : "WaitForStart";
    }
    return "";
}

static void count_evicted(const struct sl_carried *k, const struct sl_json *wl)
{
    sl_workload_meters_evicted(&k->c->meters, wl, is_deactivation(k) ? "Deactivated" : k->reason,
                               cause_of(k), k->ready_ms);
}

static void tell_evicted(const struct sl_carried *k, const struct sl_json *wl)
{
    char reason[96];
    count_evicted(k, wl);
    snprintf(reason, sizeof reason, "EvictedDueTo%s", k->reason);
    tell(k, wl, false, reason, k->d.message);
    tell_preempted(k, wl);
}

/* Its eviction follows, and is told as one. */
static void tell_deactivated(const struct sl_carried *k, const struct sl_json *wl)
{
    char message[1100];
    if (strcmp(k->reason, "AdmissionCheck") == 0) {
        snprintf(message, sizeof message, "Deactivated due to %s", k->d.message);
        tell(k, wl, true, "AdmissionCheckRejected", message);
    } else if (strcmp(k->reason, "MaximumExecutionTimeExceeded") == 0) {
        snprintf(message, sizeof message, "The maximum execution time (%llds) exceeded",
                 (long long)sl_json_path_int(wl, "spec.maximumExecutionTimeSeconds", 0));
        tell(k, wl, true, k->reason, message);
    }
}

/* The job that it is for; NULL: none that controls it, or one of a kind that is not known. The caller frees it. */
static struct sl_json *job_of(const struct sl_json *wl, enum sl_kind *kind)
{
    const struct sl_json *owner = sl_object_controller_ref(wl);
    *kind = owner == NULL ? SL_KIND_COUNT
                          : sl_kind_find_object(sl_json_path_text(owner, "apiVersion", ""),
                                                sl_json_path_text(owner, "kind", ""));
    if (*kind == SL_KIND_COUNT || *kind == SL_KIND_WORKLOAD) { /* that of its variants is no job */
        return NULL;
    }
    struct sl_json *job =
        sl_object_new(*kind, sl_object_namespace(wl), sl_json_path_text(owner, "name", ""));
    sl_json_set_text(sl_json_path_make(job, "metadata"), "uid",
                     sl_json_path_text(owner, "uid", ""));
    return job;
}

/* Its job is what its user has made and looks at: that says why it waits, once, when it is first found to. */
static void tell_waiting(const struct sl_carried *k, const struct sl_json *wl)
{
    enum sl_kind kind = SL_KIND_COUNT;
    struct sl_json *job = k->first ? job_of(wl, &kind) : NULL;
    const struct sl_why_ask ask = {k->ns, k->name, k->ns};
    struct sl_json *why = job == NULL ? NULL : sl_why_workload_new(k->c->engine, &ask);
    if (strcmp(sl_json_path_text(why, "state", ""), "Pending") == 0) {
        sl_recorder_record(k->c->events, kind, job, false, k->reason,
                           sl_json_path_text(why, "summary", ""), sl_clock_now_ms());
    }
    sl_json_free(why);
    sl_json_free(job);
}

/* --- gates ------------------------------------------------------------------------------------ */

bool sl_carried_gated(const struct sl_json *wl)
{
    const struct sl_json *c = sl_condition_find(wl, "QuotaReserved");
    return strcmp(sl_json_path_text(c, "reason", ""), "AdmissionGated") == 0 &&
           !sl_condition_true(wl, "BlockedOnPreemptionGates");
}

/* That it waits for its gates is nothing to be warned of. */
static void tell_pending(const struct sl_carried *k, const struct sl_json *wl)
{
    static const char gated[] = "Admission is gated by: ";
    char message[1100];
    bool waits_for_gates = strcmp(k->reason, "AdmissionGated") == 0 &&
                           strncmp(k->d.message, gated, sizeof gated - 1) == 0;
    snprintf(message, sizeof message, "%s%s",
             waits_for_gates ? "Workload admission is gated by: " : "",
             k->d.message + (waits_for_gates ? sizeof gated - 1 : 0));
    tell(k, wl, !waits_for_gates, k->reason, message);
    tell_waiting(k, wl);
}

static void note_ungated(const struct sl_carried *k, const struct sl_json *wl)
{
    bool ended = !sl_json_path_bool(wl, "spec.active", true) || sl_condition_true(wl, "Finished");
    if (k->gated && !sl_carried_gated(wl) && !ended) {
        sl_recorder_record(k->c->events, SL_KIND_WORKLOAD, wl, false, "AdmissionGateCleared",
                           "Admission gate cleared, workload is now admissible", sl_clock_now_ms());
    }
}

void sl_carried_tell(const struct sl_carried *k, const struct sl_json *wl)
{
    SL_PRE(k != NULL);
    note_ungated(k, wl);
    switch (k->d.kind) {
    case SL_DECIDE_RESERVE:
    case SL_DECIDE_ADMIT:
        tell_reserved(k, wl);
        break;
    case SL_DECIDE_EVICT:
        tell_evicted(k, wl);
        break;
    case SL_DECIDE_PENDING:
        tell_pending(k, wl);
        break;
    case SL_DECIDE_UNPLACED:
    case SL_DECIDE_LATE:
        tell(k, wl, true, k->reason, k->d.message);
        break;
    case SL_DECIDE_FINISH:
        tell(k, wl, false, k->reason,
             sl_json_path_text(sl_condition_find(wl, "Finished"), "message", k->d.message));
        sl_workload_meters_finished(&k->c->meters, wl);
        break;
    case SL_DECIDE_DEACTIVATE:
        tell_deactivated(k, wl);
        break;
    case SL_DECIDE_RELEASE:
        sl_workload_meters_released(&k->c->meters, wl, k->held_at == NULL ? "" : k->held_at,
                                    sl_clock_now_ms());
        break;
    case SL_DECIDE_PLACE:
    case SL_DECIDE_REQUEUE:
    case SL_DECIDE_DELETE:
        break;
    }
}

/* A write says all that is known of a workload, so it may have carried this decision out along with the one before:
 * then it is told all the same. */
static bool holds(const struct sl_carried *k, const struct sl_json *live)
{
    switch (k->d.kind) {
    case SL_DECIDE_RESERVE:
        return sl_condition_true(live, "QuotaReserved");
    case SL_DECIDE_ADMIT:
        return sl_condition_true(live, "Admitted");
    case SL_DECIDE_EVICT:
        return sl_condition_true(live, "Evicted");
    case SL_DECIDE_FINISH: /* the controller of its job may have been faster */
        return sl_condition_true(live, "Finished");
    case SL_DECIDE_UNPLACED:
    case SL_DECIDE_LATE:
        return true; /* nothing of it is written */
    default:
        return false;
    }
}

void sl_carried_tell_said(const struct sl_carried *k, const struct sl_json *live)
{
    sl_carried_log(k, live, "already so");
    if (holds(k, live)) {
        sl_carried_tell(k, live);
    }
}

void sl_carried_tell_deleted(const struct sl_carried *k, const struct sl_json *live, bool whole_job)
{
    enum sl_kind kind = SL_KIND_COUNT;
    struct sl_json *job = whole_job ? job_of(live, &kind) : NULL;
    if (job != NULL) {
        sl_recorder_record(k->c->events, kind, job, false, "Deleted",
                           "Deleted job: deactivation retention period expired", sl_clock_now_ms());
    }
    tell(k, live, false, "Deleted",
         whole_job ? "Its Job is deleted: its retention time after deactivation has passed"
                   : "Deleted finished workload due to elapsed retention");
    sl_json_free(job);
}

void sl_carried_complain(const struct sl_carried *k, const struct sl_error *e)
{
    SL_PRE(k != NULL);
    sl_log(k->d.refusals > 0 ? SL_LOG_DEBUG : SL_LOG_WARN, "decision not written", "decision",
           decision_names[k->d.kind], "namespace", k->ns, "workload", k->name, "error", e->text,
           NULL);
}
