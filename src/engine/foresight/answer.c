/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rows of an answer, and what differs between two runs. */
#include "engine/foresight/answer.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/conditions/conditions.h"
#include "kernel/commit/place.h"
#include <string.h>

struct writing {
    const struct sl_forward *f;
    enum sl_forward_end end;
    struct sl_map *before, *evicted_before; /* "namespace/name" -> a row; NULL: no comparison */
    struct sl_json *answer;
};

/* --- lists that are cut ----------------------------------------------------------------------- */

/* Takes the row, and counts it. */
static void add_row(const struct writing *w, const char *list, struct sl_json *row)
{
    struct sl_json *counts = sl_json_path_make(w->answer, "counts");
    struct sl_json *rows = sl_json_get(w->answer, list);
    if (rows == NULL) {
        rows = sl_json_new_list();
        sl_json_set(w->answer, list, rows);
    }
    sl_json_set_int(counts, list, sl_json_path_int(counts, list, 0) + 1);
    if (sl_json_len(rows) < w->f->options->rows_max) {
        sl_json_append(rows, row);
    } else {
        sl_json_free(row);
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

static void set_time(struct sl_json *o, const char *key, int64_t ms)
{
    char text[32];
    sl_clock_format(ms, text);
    sl_json_set_text(o, key, text);
}

static struct sl_json *named_new(const struct sl_engine *g, sl_workload_id id)
{
    const char *key = sl_intern_name(g->names, SL_INTERN_WORKLOAD, id);
    const struct sl_workload_entry *e = &g->workloads[id];
    struct sl_json *row = sl_json_new_map();
    sl_json_set_text(row, "namespace", e->queue->ns);
    sl_json_set_text(row, "name", key + strlen(e->queue->ns) + 1);
    return row;
}

#define ESTIMATES (SL_RESTS_ON(SL_RUN_OBSERVED) | SL_RESTS_ON_CHECKS)
#define LIMITS                                                                                     \
    (SL_RESTS_ON(SL_RUN_LIMIT) | SL_RESTS_ON(SL_RUN_DEADLINE) | SL_RESTS_ON(SL_RUN_UNKNOWN))

static const char *certainty(unsigned rests_on)
{
    return (rests_on & ESTIMATES) != 0 ? "Estimate" : (rests_on & LIMITS) != 0 ? "Latest" : "Exact";
}

static void set_rests_on(struct sl_json *row, unsigned rests_on)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{SL_RESTS_ON(SL_RUN_FOR), "runFor"},
                 {SL_RESTS_ON(SL_RUN_LIMIT), "maximumExecutionTime"},
                 {SL_RESTS_ON(SL_RUN_DEADLINE), "activeDeadline"},
                 {SL_RESTS_ON(SL_RUN_OBSERVED), "observed"},
                 {SL_RESTS_ON_CHECKS, "admissionChecksReady"},
                 {SL_RESTS_ON(SL_RUN_UNKNOWN), "unknownRunTimes"}};
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((rests_on & names[i].bit) != 0) {
            sl_json_append(list, sl_json_new_text(names[i].name));
        }
    }
    sl_json_set_filled(row, "basis", list);
}

/* Why no start is known. */
static const char *why_not(const struct writing *w, sl_workload_id id)
{
    const struct sl_forward *f = w->f;
    const struct sl_fate *fate = sl_forward_fate(f, id);
    enum sl_place place = sl_place_of(id);
    if (fate != NULL && fate->job_ended) {
        return "JobEnds";
    }
    if (place != SL_PLACE_HEAP && place != SL_PLACE_INADMISSIBLE && place != SL_PLACE_HOLDING) {
        return "NotQueued";
    }
    if (sl_condition_preemption_gated(&sl_workloads[id])) {
        return "PreemptionGated";
    }
    switch (w->end) {
    case SL_FORWARD_HORIZON:
    case SL_FORWARD_ENOUGH:
        return sl_forward_end_names[w->end];
    case SL_FORWARD_DONE:
    case SL_FORWARD_QUIET:
        break;
    }
    return (sl_forward_rests_on(f, id) & SL_RESTS_ON(SL_RUN_UNKNOWN)) != 0 ? "RunTimesUnknown"
                                                                           : "DoesNotFit";
}

static void set_start(const struct writing *w, struct sl_json *row, sl_workload_id id,
                      const struct sl_fate *fate)
{
    if (fate->start_ms != SL_NEVER) {
        set_time(row, "start", fate->start_ms);
        sl_json_set_int(row, "waitMilliseconds", fate->start_ms - w->f->options->now_ms);
        sl_json_set_text(row, "certainty", certainty(fate->rests_on));
        set_rests_on(row, fate->rests_on);
        return;
    }
    sl_json_set_text(row, "certainty", "Unknown");
    sl_json_set_text(row, "reason", why_not(w, id));
    if (w->end == SL_FORWARD_HORIZON || w->end == SL_FORWARD_ENOUGH) {
        set_time(row, "notBefore", w->f->now_ms);
    }
}

static struct sl_json *row_new(const struct writing *w, sl_workload_id id,
                               const struct sl_fate *fate)
{
    struct sl_json *row = named_new(w->f->g, id);
    sl_json_set_text(row, "localQueue", w->f->g->workloads[id].queue->name);
    sl_json_set_text(row, "clusterQueue", sl_engine_queue_of(w->f->g, id));
    if (w->f->g->workloads[id].variant_flavor != NULL) {
        sl_json_set_text(row, "flavor", w->f->g->workloads[id].variant_flavor);
    }
    set_start(w, row, id, fate);
    return row;
}

static struct sl_json *eviction_new(const struct writing *w, sl_workload_id id,
                                    const struct sl_fate *fate)
{
    struct sl_json *row = row_new(w, id, fate);
    set_time(row, "evicted", fate->evicted_ms);
    sl_json_set_text(row, "evictedFor", fate->reason);
    if (fate->by != SL_NO_ID && sl_forward_fate(w->f, fate->by) != NULL) {
        sl_json_set(row, "preemptedBy", named_new(w->f->g, fate->by));
    }
    return row;
}

/* --- what was asked about --------------------------------------------------------------------- */

static struct sl_json *victims_new(const struct writing *w, sl_workload_id by)
{
    struct sl_json *list = sl_json_new_list();
    for (sl_workload_id id = 0; id < w->f->g->workload_cap; id++) {
        const struct sl_fate *fate = sl_forward_fate(w->f, id);
        if (fate != NULL && fate->evicted_ms != SL_NEVER && fate->by == by) {
            sl_json_append(list, eviction_new(w, id, fate));
        }
    }
    return list;
}

static void add_asked(const struct writing *w, sl_workload_id id, const struct sl_fate *fate)
{
    struct sl_json *row = row_new(w, id, fate);
    struct sl_json *victims = victims_new(w, id);
    bool now = fate->start_ms == w->f->options->now_ms;
    const char *when = fate->start_ms == SL_NEVER ? "Unknown"
                       : !now                     ? "Later"
                       : sl_json_len(victims) > 0 ? "AfterPreemption"
                                                  : "Now";
    sl_json_set_text(row, "admitted", fate->holds ? "Already" : when);
    sl_json_set_filled(row, "preempts", victims);
    if (fate->pod_sets != NULL) {
        sl_json_set(row, "podSets", sl_json_ref(fate->pod_sets));
    }
    add_row(w, "asked", row);
}

/* --- what differs ----------------------------------------------------------------------------- */

static int64_t wait_of(const struct sl_json *row)
{
    return sl_json_path_int(row, "waitMilliseconds", -1);
}

/* Which list it belongs to; NULL: nothing differs. */
static const char *difference(int64_t was_ms, int64_t is_ms)
{
    if (was_ms == is_ms) {
        return NULL;
    }
    if (is_ms < 0) {
        return "unstarted";
    }
    return was_ms < 0 ? "started" : is_ms < was_ms ? "sooner" : "later";
}

static void compare_start(const struct writing *w, sl_workload_id id, const struct sl_fate *fate,
                          const char *key)
{
    const struct sl_json *was = sl_map_find(w->before, key);
    struct sl_json *row = row_new(w, id, fate);
    const char *list = was == NULL ? NULL : difference(wait_of(was), wait_of(row));
    if (list == NULL) {
        sl_json_free(row);
        return;
    }
    if (wait_of(was) >= 0) {
        sl_json_set_text(row, "startBefore", sl_json_path_text(was, "start", ""));
        sl_json_set_int(row, "waitMillisecondsBefore", wait_of(was));
    }
    add_row(w, list, row);
}

static void add_one(const struct writing *w, sl_workload_id id)
{
    const struct sl_fate *fate = sl_forward_fate(w->f, id);
    if (fate == NULL) {
        return;
    }
    const char *key = sl_intern_name(w->f->g->names, SL_INTERN_WORKLOAD, id);
    bool compared = w->before != NULL;
    if (fate->asked) {
        add_asked(w, id, fate);
    }
    if (fate->waits && !compared) {
        add_row(w, "workloads", row_new(w, id, fate));
    } else if (fate->waits) {
        compare_start(w, id, fate, key);
    }
    bool evicted = fate->evicted_ms != SL_NEVER && (fate->holds || fate->asked);
    if (evicted && (!compared || sl_map_find(w->evicted_before, key) == NULL)) {
        add_row(w, "evicted", eviction_new(w, id, fate));
    }
}

static struct sl_map *by_key_new(const struct sl_json *rows)
{
    struct sl_map *map = sl_map_new();
    for (size_t i = 0; i < sl_json_len(rows); i++) {
        struct sl_buf key = {0};
        struct sl_json *row = sl_json_at(rows, i);
        sl_buf_print(&key, "%s/%s", sl_json_path_text(row, "namespace", ""),
                     sl_json_path_text(row, "name", ""));
        sl_map_put(map, key.data, (union sl_map_value){.pointer = row});
        sl_buf_fini(&key);
    }
    return map;
}

struct sl_json *sl_forward_answer_new(const struct sl_forward *f, enum sl_forward_end end,
                                      const struct sl_json *before)
{
    SL_PRE(f != NULL);
    struct writing w = {.f = f, .end = end, .answer = sl_json_new_map()};
    if (before != NULL) {
        w.before = by_key_new(sl_json_get(before, "workloads"));
        w.evicted_before = by_key_new(sl_json_get(before, "evicted"));
    }
    sl_json_set_text(w.answer, "apiVersion", "foresight.sluice.dev/v1");
    sl_json_set_text(w.answer, "kind", "Foresight");
    set_time(w.answer, "now", f->options->now_ms);
    set_time(w.answer, "until", f->now_ms);
    sl_json_set_text(w.answer, "ended", sl_forward_end_names[end]);
    for (sl_workload_id id = 0; id < f->g->workload_cap; id++) {
        add_one(&w, id);
    }
    if (before != NULL) {
        sl_map_free(w.before);
        sl_map_free(w.evicted_before);
    }
    return w.answer;
}
