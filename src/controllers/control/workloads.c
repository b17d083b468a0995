/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Decision -> patch -> write -> answer, Event and one line in the log. */
#include "controllers/control/workloads.h"
#include "api/objects/topology_assignment.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdio.h>
#include <string.h>

struct carried {
    struct sl_workloads *c;
    struct sl_decision d; /* ns, name, uid and reason point to the copies below */
    char *ns, *name, *uid, *reason, *by_ns, *by_name;
    struct sl_json *preemptor; /* as much of it as an Event needs; NULL = none */
    struct carried *next;      /* of the same Workload, to be carried out afterwards */
    unsigned tries;
    bool answered; /* the engine does not wait for this one */
    bool recovers; /* its pods had been ready once when the decision was written */
};

#define PLACES_SIZE 300 /* of a line in the log, for where pods stand */
static const char deactivated[] = "DeactivatedDueTo";
static const char *const decision_names[] = {
    [SL_DECIDE_RESERVE] = "reserve", [SL_DECIDE_ADMIT] = "admit",
    [SL_DECIDE_PENDING] = "pending", [SL_DECIDE_EVICT] = "evict",
    [SL_DECIDE_RELEASE] = "release", [SL_DECIDE_DEACTIVATE] = "deactivate",
    [SL_DECIDE_REQUEUE] = "requeue", [SL_DECIDE_DELETE] = "delete",
    [SL_DECIDE_PLACE] = "place",     [SL_DECIDE_UNPLACED] = "unplaced",
    [SL_DECIDE_LATE] = "late"};

void sl_workloads_init(struct sl_workloads *c, const struct sl_client *client,
                       struct sl_recorder *events, struct sl_engine *engine)
{
    *c = (struct sl_workloads){.client = client, .events = events, .engine = engine};
    sl_workload_meters_init(&c->meters, (struct sl_metered){0});
    c->last = sl_map_new();
    c->untold = sl_work_new();
    c->untold_why = sl_map_new();
}

static struct carried *carried_new(struct sl_workloads *c, const struct sl_decision *d)
{
    struct carried *k = sl_mem_new(1, sizeof *k);
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

static void carried_free(void *value)
{
    struct carried *k = value;
    sl_mem_free(k->ns);
    sl_mem_free(k->name);
    sl_mem_free(k->uid);
    sl_mem_free(k->reason);
    sl_mem_free(k->by_ns);
    sl_mem_free(k->by_name);
    sl_json_free(k->preemptor);
    sl_mem_free(k);
}

void sl_workloads_fini(struct sl_workloads *c)
{
    sl_map_free_with(c->untold_why, carried_free);
    sl_work_free(c->untold);
    sl_map_free(c->last);
    sl_workload_meters_fini(&c->meters);
    *c = (struct sl_workloads){0};
}

static void carry_out(struct carried *k);

/* After the decisions about its Workload that are still to be written. */
static void carry_out_in_turn(struct carried *k)
{
    char key[SL_KEY_SIZE];
    union sl_map_value last = {0};
    sl_key_print(k->ns, k->name, key);
    bool behind = sl_map_get(k->c->last, key, &last);
    k->c->in_flight++;
    sl_map_put(k->c->last, key, (union sl_map_value){.pointer = k});
    if (behind) {
        ((struct carried *)last.pointer)->next = k;
    } else {
        carry_out(k);
    }
}

/* What its object said meanwhile was not read; no watch event will say it again. */
static void answer(struct carried *k, enum sl_code code, int64_t now_ms)
{
    const struct sl_client *client = k->c->client;
    struct sl_json *live = NULL;
    struct sl_error e = {0};
    struct sl_engine_counters before;
    sl_engine_answer(k->c->engine, &k->d, code, now_ms);
    if (sl_engine_unread(k->c->engine, &k->d) &&
        client->get(client->self, SL_KIND_WORKLOAD, k->ns, k->name, &live, &e) == SL_CODE_OK &&
        sl_engine_was_told(k->c->engine, &k->d, live)) {
        sl_engine_count(k->c->engine, &before);
        (void)sl_engine_observe(k->c->engine, SL_KIND_WORKLOAD, live, now_ms, &e);
        sl_workloads_count_news(k->c, &before, live);
    }
    sl_json_free(live);
}

static void carried_end(struct carried *k, enum sl_code code)
{
    char key[SL_KEY_SIZE];
    struct carried *next = k->next;
    SL_PRE(k->c->in_flight > 0);
    k->c->in_flight--;
    if (!k->answered) {
        answer(k, code, sl_clock_now_ms());
    }
    if (next == NULL) {
        sl_key_print(k->ns, k->name, key);
        sl_map_remove(k->c->last, key, NULL);
    }
    carried_free(k);
    if (next != NULL) {
        carry_out(next);
    }
}

static const char *queue_of(const struct sl_json *wl)
{
    return sl_json_path_text(wl, "status.admission.clusterQueue", "");
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

static void log_decision(const struct carried *k, const struct sl_json *wl, const char *outcome)
{
    if (!sl_log_on(SL_LOG_INFO)) {
        return;
    }
    char key[400];
    char places[PLACES_SIZE] = "";
    snprintf(key, sizeof key, "%s/%s", k->ns, k->name);
    if (k->d.kind == SL_DECIDE_RESERVE || k->d.kind == SL_DECIDE_ADMIT ||
        k->d.kind == SL_DECIDE_PLACE) {
        list_places(wl, places);
    }
    sl_log(SL_LOG_INFO, decision_names[k->d.kind], "cycle", sl_log_number((long long)k->d.cycle),
           "workload", key, "queue", sl_json_path_text(wl, "spec.queueName", ""), "cluster_queue",
           queue_of(wl), "reason", k->reason, "outcome", outcome, "message", k->d.message,
           places[0] == '\0' ? NULL : "places", places, NULL);
}

/* Somebody else has ended it: that is no decision, and has a line of its own. */
static void log_end(const char *what, const struct sl_json *wl)
{
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(wl), sl_object_name(wl), key);
    const struct sl_json *c = sl_condition_find(wl, "Finished");
    sl_log(SL_LOG_INFO, what, "workload", key, "uid", sl_object_uid(wl), "queue",
           sl_json_path_text(wl, "spec.queueName", ""), "cluster_queue", queue_of(wl), "reason",
           sl_json_path_text(c, "reason", ""), NULL);
}

void sl_workloads_log_gone(const struct sl_json *wl)
{
    log_end("gone", wl);
}

static void tell(const struct carried *k, const struct sl_json *wl, bool warning,
                 const char *reason, const char *message)
{
    sl_recorder_record(k->c->events, SL_KIND_WORKLOAD, wl, warning, reason, message,
                       sl_clock_now_ms());
}

static void tell_reserved(const struct carried *k, const struct sl_json *wl)
{
    char message[400];
    const char *queue = queue_of(wl);
    if (k->d.kind == SL_DECIDE_RESERVE) {
        sl_workload_meters_reserved(&k->c->meters, wl, sl_clock_now_ms());
        snprintf(message, sizeof message, "Quota reserved in ClusterQueue %s", queue);
        tell(k, wl, false, "QuotaReserved", message);
    }
    if (sl_condition_true(wl, "Admitted")) {
        sl_workload_meters_admitted(&k->c->meters, wl, sl_clock_now_ms());
        snprintf(message, sizeof message, "Admitted by ClusterQueue %s", queue);
        tell(k, wl, false, "Admitted", message);
    }
}

/* The ClusterQueue for which somebody was preempted: that of the preemptor's LocalQueue. */
static void count_preempted(const struct carried *k, const char *reason)
{
    const struct sl_client *client = k->c->client;
    struct sl_json *winner = NULL;
    struct sl_json *queue = NULL;
    struct sl_error e = {0};
    if (client->get(client->self, SL_KIND_WORKLOAD, k->d.by_ns, k->d.by_name, &winner, &e) ==
        SL_CODE_OK) {
        const char *name = sl_json_path_text(winner, "spec.queueName", "");
        (void)client->get(client->self, SL_KIND_LOCAL_QUEUE, k->d.by_ns, name, &queue, &e);
    }
    sl_workload_meters_preempted(&k->c->meters, sl_json_path_text(queue, "spec.clusterQueue", ""),
                                 reason);
    sl_json_free(queue);
    sl_json_free(winner);
}

/* As in status.schedulingStats: what led to a deactivation is its cause, and what pods that are late had to do. */
static const char *cause_of(const struct carried *k)
{
    if (strncmp(k->reason, deactivated, sizeof deactivated - 1) == 0) {
        return k->reason + sizeof deactivated - 1;
    }
    if (strcmp(k->reason, "PodsReadyTimeout") == 0) {
        return k->recovers ? "WaitForRecovery" : "WaitForStart";
    }
    return "";
}

static void count_evicted(const struct carried *k, const struct sl_json *wl)
{
    bool caused = strncmp(k->reason, deactivated, sizeof deactivated - 1) == 0;
    sl_workload_meters_evicted(&k->c->meters, wl, caused ? "Deactivated" : k->reason, cause_of(k));
}

static void tell_evicted(const struct carried *k, const struct sl_json *wl)
{
    char reason[96];
    count_evicted(k, wl);
    snprintf(reason, sizeof reason, "EvictedDueTo%s", k->reason);
    tell(k, wl, false, reason, k->d.message);
    const struct sl_json *preempted = sl_condition_find(wl, "Preempted");
    if (strcmp(k->reason, "Preempted") == 0 && preempted != NULL) {
        tell(k, wl, false, "Preempted", sl_json_path_text(preempted, "message", k->d.message));
    }
    if (k->preemptor != NULL) {
        char message[400];
        snprintf(message, sizeof message, "Preempted workload %s/%s (UID: %s) in ClusterQueue %s",
                 k->ns, k->name, k->uid, queue_of(wl));
        sl_recorder_record_once(k->c->events, SL_KIND_WORKLOAD, k->preemptor, "PreemptedWorkload",
                                message, sl_clock_now_ms());
        count_preempted(k, sl_json_path_text(preempted, "reason", ""));
    }
}

/* Its eviction follows, and is told as one. */
static void tell_deactivated(const struct carried *k, const struct sl_json *wl)
{
    char message[600];
    if (strcmp(k->reason, "AdmissionCheck") == 0) {
        snprintf(message, sizeof message, "Deactivated due to %s", k->d.message);
        tell(k, wl, true, "AdmissionCheckRejected", message);
    } else if (strcmp(k->reason, "MaximumExecutionTimeExceeded") == 0) {
        snprintf(message, sizeof message, "The maximum execution time (%llds) exceeded",
                 (long long)sl_json_path_int(wl, "spec.maximumExecutionTimeSeconds", 0));
        tell(k, wl, true, k->reason, message);
    }
}

/* `wl` is the Workload as it is now. */
static void tell_all(const struct carried *k, const struct sl_json *wl)
{
    switch (k->d.kind) {
    case SL_DECIDE_RESERVE:
    case SL_DECIDE_ADMIT:
        tell_reserved(k, wl);
        break;
    case SL_DECIDE_PENDING:
        tell(k, wl, true, k->reason, k->d.message);
        break;
    case SL_DECIDE_EVICT:
        tell_evicted(k, wl);
        break;
    case SL_DECIDE_UNPLACED:
    case SL_DECIDE_LATE:
        tell(k, wl, true, k->reason, k->d.message);
        break;
    case SL_DECIDE_DEACTIVATE:
        tell_deactivated(k, wl);
        break;
    case SL_DECIDE_PLACE:
    case SL_DECIDE_RELEASE:
    case SL_DECIDE_REQUEUE:
    case SL_DECIDE_DELETE:
        break;
    }
}

static void written(void *context, enum sl_code code, const struct sl_error *e,
                    struct sl_json *result)
{
    struct carried *k = context;
    if (code == SL_CODE_CONFLICT && ++k->tries < SL_CONFLICT_TRIES) {
        k->c->counters.conflicts++;
        carry_out(k);
        return;
    }
    if (code == SL_CODE_OK && k->d.kind != SL_DECIDE_DELETE &&
        sl_engine_wrote_in_part(k->c->engine, &k->d, result)) {
        log_decision(k, result, "written in part");
        carry_out(k);
        return;
    }
    if (code == SL_CODE_OK && k->d.kind == SL_DECIDE_DELETE) {
        log_decision(k, NULL, "deleted");
    } else if (code == SL_CODE_NOT_FOUND && k->d.kind == SL_DECIDE_DELETE) {
        code = SL_CODE_OK; /* gone already */
    } else if (code == SL_CODE_OK) {
        log_decision(k, result, "written");
        tell_all(k, result);
    } else {
        k->c->counters.failed++;
        bool again = sl_engine_refusals(k->c->engine, &k->d) > 0;
        sl_log(again ? SL_LOG_DEBUG : SL_LOG_WARN, "decision not written", "decision",
               decision_names[k->d.kind], "namespace", k->ns, "workload", k->name, "error", e->text,
               NULL);
    }
    carried_end(k, code);
}

/* What has ended goes: the Workload, or the Job of one that was deactivated, which takes it along. Its answer is
 * no answer about the Workload: that one is forgotten when it is seen to be gone. */
static void delete_ended(struct carried *k, const struct sl_json *live)
{
    const struct sl_client *client = k->c->client;
    const struct sl_json *owner = sl_object_controller_ref(live);
    enum sl_kind kind = owner == NULL
                            ? SL_KIND_COUNT
                            : sl_kind_find_object(sl_json_path_text(owner, "apiVersion", ""),
                                                  sl_json_path_text(owner, "kind", ""));
    bool whole_job = !sl_condition_true(live, "Finished") &&
                     (kind == SL_KIND_JOB || (kind >= SL_KIND_CUSTOM && kind < SL_KIND_COUNT));
    struct sl_write w = {
        .verb = SL_VERB_DELETE, .kind = SL_KIND_WORKLOAD, .ns = k->ns, .name = k->name};
    w.uid = k->uid;
    if (whole_job) {
        w.kind = kind;
        w.name = sl_json_path_text(owner, "name", "");
        w.uid = sl_json_path_text(owner, "uid", "");
    }
    tell(k, live, false, "Deleted",
         whole_job ? "Its Job is deleted: deactivated long enough ago"
                   : "Deleted: it ended long enough ago");
    client->write(client->self, &w, written, k);
}

/* A write says all that is known of a workload, so it may have carried this decision out along with the one before:
 * then it is told all the same. */
static bool holds(const struct carried *k, const struct sl_json *live)
{
    switch (k->d.kind) {
    case SL_DECIDE_RESERVE:
        return sl_condition_true(live, "QuotaReserved");
    case SL_DECIDE_ADMIT:
        return sl_condition_true(live, "Admitted");
    case SL_DECIDE_EVICT:
        return sl_condition_true(live, "Evicted");
    case SL_DECIDE_UNPLACED:
    case SL_DECIDE_LATE:
        return true; /* nothing of it is written */
    default:
        return false;
    }
}

static void already_so(struct carried *k, struct sl_json *live)
{
    struct sl_workloads *c = k->c;
    bool evicted = k->d.kind == SL_DECIDE_EVICT && c->evicted_already != NULL;
    log_decision(k, live, "already so");
    if (holds(k, live)) {
        tell_all(k, live);
    }
    carried_end(k, SL_CODE_OK);
    if (evicted) {
        c->evicted_already(c->context, live);
    }
}

/* Look at the live object, ask the engine what to write, write it. */
static void carry_out(struct carried *k)
{
    const struct sl_client *client = k->c->client;
    struct sl_json *live = NULL;
    struct sl_error e = {0};
    enum sl_code code = client->get(client->self, SL_KIND_WORKLOAD, k->ns, k->name, &live, &e);
    if (code == SL_CODE_OK && strcmp(sl_object_uid(live), k->uid) != 0) {
        code = SL_CODE_NOT_FOUND; /* another one of that name */
    }
    if (code != SL_CODE_OK) {
        sl_json_free(live);
        carried_end(k, code);
        return;
    }
    if (k->d.kind == SL_DECIDE_DELETE) {
        delete_ended(k, live);
        sl_json_free(live);
        return;
    }
    const struct sl_json *ready = sl_condition_find(live, "PodsReady");
    k->recovers = strcmp(sl_json_path_text(ready, "reason", ""), "WaitForRecovery") == 0;
    bool status = true;
    struct sl_json *patch = sl_patch_from_decision(k->c->engine, &k->d, live, &status);
    if (patch == NULL) {
        if (sl_engine_end_untold(k->c->engine, &k->d, live)) {
            carried_end(k, SL_CODE_UNAVAILABLE);
        } else {
            already_so(k, live);
        }
        sl_json_free(live);
        return;
    }
    sl_engine_check_patch(k->c->engine, &k->d, live, patch);
    struct sl_write w = {.verb = status ? SL_VERB_PATCH_STATUS_MERGE : SL_VERB_PATCH_MERGE,
                         .kind = SL_KIND_WORKLOAD,
                         .ns = k->ns,
                         .name = k->name,
                         .body = patch,
                         .uid = k->uid};
    if (k->d.kind == SL_DECIDE_PENDING) {
        sl_budget_spend(&k->c->budget, sl_clock_now_ms());
    }
    client->write(client->self, &w, written, k);
    sl_json_free(patch);
    sl_json_free(live);
}

/* Only the last reason counts. The engine takes it for written: nothing depends on it. */
static void put_off(struct sl_workloads *c, const struct sl_decision *d, int64_t now_ms)
{
    char key[SL_KEY_SIZE];
    union sl_map_value before = {0};
    struct carried *k = carried_new(c, d);
    sl_key_print(d->ns, d->name, key);
    if (sl_map_get(c->untold_why, key, &before)) {
        carried_free(before.pointer);
    }
    sl_map_put(c->untold_why, key, (union sl_map_value){.pointer = k});
    sl_work_add(c->untold, key, SL_WORK_NOW);
    k->answered = true;
    answer(k, SL_CODE_OK, now_ms);
}

static bool can_tell(struct sl_workloads *c, int64_t now_ms)
{
    return c->in_flight < SL_DECISIONS_IN_FLIGHT && sl_budget_has(&c->budget, now_ms) &&
           sl_work_due_ms(c->untold) <= now_ms;
}

static void tell_untold(struct sl_workloads *c, int64_t now_ms)
{
    const char *key = sl_work_take(c->untold, now_ms);
    union sl_map_value why = {0};
    bool known = key != NULL && sl_map_remove(c->untold_why, key, &why);
    if (key != NULL) {
        sl_work_done(c->untold, key);
    }
    if (known) {
        carry_out_in_turn(why.pointer);
    }
}

bool sl_workloads_step(struct sl_workloads *c, int64_t now_ms, unsigned limit)
{
    struct sl_decision d;
    for (unsigned i = 0; i < limit; i++) {
        if (c->in_flight >= SL_DECISIONS_IN_FLIGHT) {
            return false;
        }
        if (!sl_engine_next_decision(c->engine, &d)) {
            if (can_tell(c, now_ms)) {
                tell_untold(c, now_ms);
            }
            return can_tell(c, now_ms);
        }
        if (d.kind == SL_DECIDE_PENDING && !sl_budget_has(&c->budget, now_ms)) {
            put_off(c, &d, now_ms);
        } else {
            carry_out_in_turn(carried_new(c, &d));
        }
    }
    return true;
}

void sl_workloads_count_news(struct sl_workloads *c, const struct sl_engine_counters *before,
                             const struct sl_json *wl)
{
    struct sl_engine_counters now;
    sl_engine_count(c->engine, &now);
    if (now.finished > before->finished) {
        log_end("finished", wl);
        sl_workload_meters_finished(&c->meters, wl);
    }
    if (now.started > before->started) {
        sl_workload_meters_ready(&c->meters, wl, sl_clock_now_ms());
    }
}

int64_t sl_workloads_due_ms(const struct sl_workloads *c)
{
    return sl_work_due_ms(c->untold) == SL_WORK_NEVER ? INT64_MAX : sl_budget_due_ms(&c->budget);
}
