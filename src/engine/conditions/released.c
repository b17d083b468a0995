/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A release stays in mind until an object says it, if only for a moment. */
#include "engine/conditions/released.h"
#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include <stdlib.h>

static bool reserves_anew(sl_workload_id id)
{
    enum sl_phase phase = sl_workloads[id].phase;
    return phase == SL_PHASE_QUOTA_RESERVED || phase == SL_PHASE_ADMITTED ||
           phase == SL_PHASE_EVICTED;
}

void sl_released_drop(struct sl_workload_entry *e)
{
    SL_PRE(e != NULL);
    if (e->released != NULL) {
        sl_words_fini(&e->released->words);
        sl_mem_free(e->released);
        e->released = NULL;
    }
}

void sl_released_note(struct sl_engine *g, sl_workload_id id, uint64_t sequence)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    if (reserves_anew(id)) {
        return; /* decided once more, since it could not be written: it is known how it stood */
    }
    sl_released_drop(e);
    e->released = sl_mem_new(1, sizeof *e->released);
    e->released->record = sl_workloads[id];
    e->released->words = sl_words_copy(&e->words);
    e->released->sequence = sequence;
}

const struct sl_released *sl_released_of(const struct sl_engine *g, sl_workload_id id,
                                         uint64_t sequence)
{
    SL_PRE(g != NULL);
    const struct sl_released *r = g->workloads[id].released;
    return r != NULL && sequence <= r->sequence && reserves_anew(id) ? r : NULL;
}

static bool holds(const struct sl_json *workload)
{
    return sl_condition_true(workload, "QuotaReserved") ||
           sl_json_path(workload, "status.admission") != NULL;
}

uint64_t sl_released_version(const struct sl_json *workload)
{
    return strtoull(sl_object_resource_version(workload), NULL, 10);
}

bool sl_released_is_current(const struct sl_engine *g, sl_workload_id id,
                            const struct sl_json *workload)
{
    SL_PRE(g != NULL);
    return sl_released_version(workload) >= g->workloads[id].written_version;
}

bool sl_released_by_others(const struct sl_engine *g, sl_workload_id id,
                           const struct sl_json *workload)
{
    SL_PRE(g != NULL);
    const struct sl_workload_entry *e = &g->workloads[id];
    return sl_workloads[id].has_admission && e->unwritten_count == 0 && !e->rewrite && !e->paused &&
           sl_released_is_current(g, id, workload) &&
           !(sl_condition_true(workload, "QuotaReserved") &&
             sl_json_path(workload, "status.admission") != NULL);
}

static bool found_reserved(const struct sl_engine *g, sl_workload_id id,
                           const struct sl_json *workload)
{
    return sl_workloads[id].phase == SL_PHASE_PENDING && sl_released_is_current(g, id, workload) &&
           sl_condition_true(workload, "QuotaReserved") &&
           sl_json_path(workload, "status.admission") != NULL &&
           !sl_condition_true(workload, "Finished");
}

static bool reserved_by_others(const struct sl_engine *g, sl_workload_id id,
                               const struct sl_json *workload)
{
    SL_PRE(g != NULL);
    const struct sl_workload_entry *e = &g->workloads[id];
    return e->unwritten_count == 0 && !e->rewrite && found_reserved(g, id, workload);
}

static bool eviction_by_others(const struct sl_engine *g, sl_workload_id id,
                               const struct sl_json *workload)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    bool stops = sl_workloads[id].phase == SL_PHASE_EVICTED;
    return sl_workloads[id].has_admission && e->unwritten_count == 0 && !e->rewrite && !e->paused &&
           sl_released_is_current(g, id, workload) &&
           sl_condition_true(workload, "Evicted") != stops &&
           sl_condition_true(workload, "QuotaReserved") &&
           sl_json_path(workload, "status.admission") != NULL &&
           !sl_condition_true(workload, "Finished");
}

bool sl_decided_by_others(const struct sl_engine *g, sl_workload_id id,
                          const struct sl_json *workload)
{
    SL_PRE(g != NULL);
    const char *what = NULL;
    if (reserved_by_others(g, id, workload)) {
        what = "its quota was reserved by another client";
    } else if (eviction_by_others(g, id, workload)) {
        what = sl_condition_true(workload, "Evicted") ? "it was evicted by another client"
                                                      : "its eviction was ended by another client";
    }
    if (what != NULL) {
        sl_log(SL_LOG_WARN, what, "workload", sl_intern_name(g->names, SL_INTERN_WORKLOAD, id),
               NULL);
    }
    return what != NULL;
}

bool sl_reserved_meanwhile(const struct sl_engine *g, const struct sl_decision *d,
                           const struct sl_json *workload)
{
    SL_PRE(g != NULL && d != NULL);
    const struct sl_workload_entry *e = &g->workloads[d->workload];
    return d->kind == SL_DECIDE_PENDING && e->unwritten_count <= 1 && e->released == NULL &&
           !e->rewrite && found_reserved(g, d->workload, workload);
}

const struct sl_released *sl_released_to_write(struct sl_engine *g, const struct sl_decision *d,
                                               const struct sl_json *workload)
{
    SL_PRE(g != NULL && d != NULL);
    struct sl_workload_entry *e = &g->workloads[d->workload];
    const struct sl_released *r = sl_released_of(g, d->workload, d->sequence);
    if (r != NULL || e->released == NULL || !reserves_anew(d->workload)) {
        return r;
    }
    if (!holds(workload)) {
        sl_released_drop(e); /* the object says it, whatever became of that write */
    }
    return e->released;
}

/* An eviction may have carried the release along: it stays in mind for the release itself. */
void sl_released_written(struct sl_engine *g, const struct sl_decision *d)
{
    SL_PRE(g != NULL && d != NULL);
    struct sl_workload_entry *e = &g->workloads[d->workload];
    if (e->released != NULL && d->sequence == e->released->sequence) {
        sl_released_drop(e);
    }
}

bool sl_released_in_part(struct sl_engine *g, const struct sl_decision *d,
                         const struct sl_json *written)
{
    SL_PRE(g != NULL && d != NULL);
    struct sl_workload_entry *e = &g->workloads[d->workload];
    if (d->kind == SL_DECIDE_DEACTIVATE) {
        return sl_json_path_bool(written, "spec.active", true) &&
               sl_condition_true(written, "DeactivationTarget");
    }
    if (e->released == NULL || d->sequence <= e->released->sequence ||
        !reserves_anew(d->workload) || holds(written)) {
        return false;
    }
    sl_released_drop(e);
    return true;
}
