/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Decision -> patch -> write -> answer, Event and one line in the log. */
#include "controllers/workloads.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

struct carried {
    struct sl_workloads *c;
    struct sl_decision d; /* ns, name, uid and reason point to the copies below */
    char *ns, *name, *uid, *reason;
    unsigned tries;
};

static const char *const decision_names[] = {
    [SL_DECIDE_RESERVE] = "reserve", [SL_DECIDE_ADMIT] = "admit",
    [SL_DECIDE_PENDING] = "pending", [SL_DECIDE_EVICT] = "evict",
    [SL_DECIDE_RELEASE] = "release", [SL_DECIDE_DEACTIVATE] = "deactivate",
    [SL_DECIDE_REQUEUE] = "requeue"};

void sl_workloads_init(struct sl_workloads *c, const struct sl_client *client,
                       struct sl_recorder *events, struct sl_engine *engine)
{
    *c = (struct sl_workloads){.client = client, .events = events, .engine = engine};
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
    c->in_flight++;
    return k;
}

static void carried_end(struct carried *k, enum sl_code code)
{
    sl_engine_answer(k->c->engine, &k->d, code, sl_clock_now_ms());
    SL_PRE(k->c->in_flight > 0);
    k->c->in_flight--;
    sl_mem_free(k->ns);
    sl_mem_free(k->name);
    sl_mem_free(k->uid);
    sl_mem_free(k->reason);
    sl_mem_free(k);
}

static void log_decision(const struct carried *k, const struct sl_json *wl, const char *outcome)
{
    if (!sl_log_on(SL_LOG_INFO)) {
        return;
    }
    char key[400];
    snprintf(key, sizeof key, "%s/%s", k->ns, k->name);
    sl_log(SL_LOG_INFO, decision_names[k->d.kind], "cycle", sl_log_number((long long)k->d.cycle),
           "workload", key, "queue", sl_json_path_text(wl, "spec.queueName", ""), "cluster_queue",
           sl_json_path_text(wl, "status.admission.clusterQueue", ""), "reason", k->reason,
           "outcome", outcome, "message", k->d.message, NULL);
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
    const char *queue = sl_json_path_text(wl, "status.admission.clusterQueue", "?");
    if (k->d.kind == SL_DECIDE_RESERVE) {
        k->c->counters.reserved++;
        snprintf(message, sizeof message, "Quota reserved in ClusterQueue %s", queue);
        tell(k, wl, false, "QuotaReserved", message);
    }
    if (sl_condition_true(wl, "Admitted")) {
        snprintf(message, sizeof message, "Admitted by ClusterQueue %s", queue);
        tell(k, wl, false, "Admitted", message);
    }
}

static void tell_evicted(const struct carried *k, const struct sl_json *wl)
{
    char reason[96];
    k->c->counters.evicted++;
    snprintf(reason, sizeof reason, "EvictedDueTo%s", k->reason);
    tell(k, wl, false, reason, k->d.message);
    const struct sl_json *preempted = sl_condition_find(wl, "Preempted");
    if (strcmp(k->reason, "Preempted") == 0 && preempted != NULL) {
        tell(k, wl, false, "Preempted", sl_json_path_text(preempted, "message", k->d.message));
    }
}

/* After the write is durable: `wl` is the Workload as it is now. */
static void tell_all(const struct carried *k, const struct sl_json *wl)
{
    log_decision(k, wl, "written");
    switch (k->d.kind) {
    case SL_DECIDE_RESERVE:
    case SL_DECIDE_ADMIT:
        tell_reserved(k, wl);
        break;
    case SL_DECIDE_PENDING:
        k->c->counters.pending++;
        tell(k, wl, true, "Pending", k->d.message);
        break;
    case SL_DECIDE_EVICT:
        tell_evicted(k, wl);
        break;
    case SL_DECIDE_RELEASE:
    case SL_DECIDE_DEACTIVATE:
    case SL_DECIDE_REQUEUE:
        break;
    }
}

static void carry_out(struct carried *k);

static void written(void *context, enum sl_code code, const struct sl_error *e,
                    struct sl_json *result)
{
    struct carried *k = context;
    if (code == SL_CODE_CONFLICT && ++k->tries < SL_CONFLICT_TRIES) {
        k->c->counters.conflicts++;
        carry_out(k);
        return;
    }
    if (code == SL_CODE_OK) {
        tell_all(k, result);
    } else {
        k->c->counters.failed++;
        sl_log(SL_LOG_WARN, "decision not written", "decision", decision_names[k->d.kind],
               "namespace", k->ns, "workload", k->name, "error", e->text, NULL);
    }
    carried_end(k, code);
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
    bool status = true;
    struct sl_json *patch = sl_patch_from_decision(k->c->engine, &k->d, live, &status);
    if (patch == NULL) {
        log_decision(k, live, "already so");
        sl_json_free(live);
        carried_end(k, SL_CODE_OK);
        return;
    }
    struct sl_write w = {.verb = status ? SL_VERB_PATCH_STATUS_MERGE : SL_VERB_PATCH_MERGE,
                         .kind = SL_KIND_WORKLOAD,
                         .ns = k->ns,
                         .name = k->name,
                         .body = patch,
                         .uid = k->uid};
    client->write(client->self, &w, written, k);
    sl_json_free(patch);
    sl_json_free(live);
}

bool sl_workloads_step(struct sl_workloads *c, unsigned limit)
{
    struct sl_decision d;
    for (unsigned i = 0; i < limit; i++) {
        if (c->in_flight >= SL_DECISIONS_IN_FLIGHT || !sl_engine_next_decision(c->engine, &d)) {
            return false;
        }
        carry_out(carried_new(c, &d));
    }
    return true;
}
