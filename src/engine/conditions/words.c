/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Sentences that were said, and the standard ones for all else. */
#include "engine/conditions/words.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "engine/conditions/conditions.h"
#include "engine/state.h"
#include "engine/topology/topology_out.h"
#include <stdio.h>

static void keep(char **slot, const char *text)
{
    char *kept = text == NULL || text[0] == '\0' ? NULL : sl_mem_text(text);
    sl_mem_free(*slot);
    *slot = kept;
}

void sl_words_say_waiting(struct sl_words *words, enum sl_pending_reason reason, const char *text)
{
    SL_PRE(words != NULL);
    keep(&words->waiting, text);
    words->waits_for = reason;
}

void sl_words_say_stopping(struct sl_words *words, enum sl_evict_reason reason, const char *text)
{
    SL_PRE(words != NULL);
    keep(&words->stopping, text);
    words->stopped_by = reason;
}

void sl_words_fini(struct sl_words *words)
{
    SL_PRE(words != NULL);
    sl_mem_free(words->waiting);
    sl_mem_free(words->stopping);
    *words = (struct sl_words){0};
}

struct sl_words sl_words_copy(const struct sl_words *words)
{
    SL_PRE(words != NULL);
    struct sl_words copy = {0};
    sl_words_say_waiting(&copy, words->waits_for, words->waiting);
    sl_words_say_stopping(&copy, words->stopped_by, words->stopping);
    return copy;
}

/* For the others the standard sentence says all. */
static bool has_details(enum sl_pending_reason reason)
{
    return reason == SL_PENDING_NO_MATCHING_FLAVOR || reason == SL_PENDING_EXCEEDS_MAX_QUOTA ||
           reason == SL_PENDING_WAITING_FOR_QUOTA || reason == SL_PENDING_TOPOLOGY_FAILED ||
           reason == SL_PENDING_MISCONFIGURED || reason == SL_PENDING_SUSPENDED ||
           reason == SL_PENDING_PREEMPTED_WORKLOADS || reason == SL_PENDING_GATED ||
           reason == SL_PENDING_EVALUATION; /* a variant that another keeps waiting */
}

bool sl_words_has_waiting(const struct sl_words *words, const struct sl_workload *record)
{
    SL_PRE(words != NULL && record != NULL);
    return words->waiting != NULL && words->waiting[0] != '\0' &&
           words->waits_for == record->pending_reason && has_details(record->pending_reason);
}

const char *sl_words_waiting(const struct sl_words *words, const struct sl_workload *record)
{
    SL_PRE(words != NULL && record != NULL);
    return sl_words_has_waiting(words, record) ? words->waiting
                                               : sl_condition_pending_sentence(record);
}

/* What is said of an eviction, with more in it than the standard sentence has; NULL = nothing. */
static const char *detail(const struct sl_words *words, enum sl_evict_reason reason)
{
    bool has = reason == SL_EVICT_ADMISSION_CHECK || reason == SL_EVICT_PREEMPTED ||
               reason == SL_EVICT_NODE_FAILURES || reason == SL_EVICT_DEACTIVATED ||
               reason == SL_EVICT_PODS_READY_TIMEOUT || reason == SL_EVICT_FLAVOR_MIGRATION;
    return has && words->stopped_by == reason ? words->stopping : NULL;
}

void sl_words_stopping(const struct sl_words *words, const struct sl_workload *record,
                       char out[static SL_MESSAGE_SIZE])
{
    SL_PRE(record != NULL);
    const char *own = detail(words, record->evicted);
    const char *before = own != NULL && record->evicted == SL_EVICT_DEACTIVATED
                             ? "The workload is deactivated due to "
                             : "";
    sl_utf8_print(out, SL_MESSAGE_SIZE, "%s%s", before,
                  own != NULL ? own : sl_condition_evict_sentence(record));
}

const char *sl_words_target(const struct sl_words *words, const struct sl_workload *record)
{
    SL_PRE(record != NULL);
    const char *own = record->deactivation == SL_CAUSE_ADMISSION_CHECK
                          ? detail(words, SL_EVICT_DEACTIVATED)
                          : NULL;
    return own != NULL ? own : sl_condition_cause_sentence(record->deactivation);
}

/* Which nodes are to be left, or that there is a place, or none yet. */
static void say_place(const struct sl_engine *g, sl_workload_id id,
                      char out[static SL_MESSAGE_SIZE])
{
    const struct sl_workload *w = &sl_workloads[id];
    char failed[400];
    if (w->unhealthy_count > 0) {
        sl_topology_out_list_failed(g, id, sizeof failed, failed);
        (void)snprintf(out, SL_MESSAGE_SIZE, "its pods leave failed node%s %s",
                       w->unhealthy_count == 1 ? "" : "s", failed);
        return;
    }
    (void)snprintf(out, SL_MESSAGE_SIZE, "%s",
                   w->topology_pending ? "the workload waits for its topology assignment"
                                       : "the workload has its topology assignment");
}

const char *sl_engine_queue_of(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    const struct sl_workload_entry *e = &g->workloads[id];
    sl_qnode_id qnode = e->held_at != SL_NO_ID ? e->held_at : e->queue->cluster_queue;
    return qnode == SL_NO_ID ? "" : g->qnodes[qnode]->name;
}

void sl_words_of_decision(struct sl_engine *g, sl_workload_id id, enum sl_decision_kind kind,
                          char out[static SL_MESSAGE_SIZE])
{
    SL_PRE(g != NULL);
    const struct sl_workload *w = &sl_workloads[id];
    const struct sl_words *words = &g->workloads[id].words;
    const char *text = "";
    switch (kind) {
    case SL_DECIDE_RESERVE:
    case SL_DECIDE_ADMIT:
        (void)snprintf(out, SL_MESSAGE_SIZE, "%s ClusterQueue %s",
                       kind == SL_DECIDE_ADMIT ? "Admitted by" : "Quota reserved in",
                       sl_engine_queue_of(g, id));
        return;
    case SL_DECIDE_PENDING:
    case SL_DECIDE_RELEASE:
        text = sl_words_waiting(words, w);
        break;
    case SL_DECIDE_EVICT:
        sl_words_stopping(words, w, out);
        return;
    case SL_DECIDE_DEACTIVATE:
        text = sl_words_target(words, w);
        break;
    case SL_DECIDE_DELETE:
        text = "kept as long as the retention policy asks for";
        break;
    case SL_DECIDE_REQUEUE:
        text = sl_condition_requeue_sentence(w);
        break;
    case SL_DECIDE_PLACE:
        say_place(g, id, out);
        return;
    case SL_DECIDE_LATE:
        text = "evicted, and its job has not stopped for long; its quota is held until it has";
        break;
    case SL_DECIDE_FINISH:
        text = "another slice of its job has taken its place";
        break;
    case SL_DECIDE_UNPLACED:
        text = "no topology assignment was found for the workload";
        break;
    }
    sl_utf8_print(out, SL_MESSAGE_SIZE, "%s", text);
}
