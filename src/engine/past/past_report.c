/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/past/past_report.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/past/past_fates.h"
#include <string.h>

#define SAME_MS 1000 /* a cycle earlier or later is no matter of policy */

/* --- workloads ------------------------------------------------------------------------------------ */

static void set_start(struct sl_json *row, const char *key, const char *wait_key,
                      const struct sl_past_fates *f, size_t i)
{
    char text[32];
    if (f->of[i].start_ms >= 0) {
        sl_clock_format(f->of[i].start_ms, text);
        sl_json_set_text(row, key, text);
        sl_json_set_int(row, wait_key, sl_past_wait_ms(f, i) / 1000);
    }
}

static struct sl_json *row_new(const struct sl_past_fates *before,
                               const struct sl_past_fates *after, size_t i)
{
    const struct sl_json *history = before->of[i].history;
    struct sl_json *row = sl_json_new_map();
    sl_json_set_text(row, "workload", sl_json_path_text(history, "workload", ""));
    sl_json_set_text(row, "clusterQueue", sl_json_path_text(history, "queue", ""));
    sl_json_set_int(row, "priority", sl_json_path_int(history, "priority", 0));
    set_start(row, "startBefore", "waitSecondsBefore", before, i);
    set_start(row, "start", "waitSeconds", after, i);
    sl_json_set_int(row, "evictionsBefore", before->of[i].evictions);
    sl_json_set_int(row, "evictions", after->of[i].evictions);
    return row;
}

static void add_row(struct sl_json *report, const char *list, struct sl_json *row, size_t rows_max)
{
    struct sl_json *counts = sl_json_path_make(report, "counts");
    if (sl_json_get(report, list) == NULL) {
        sl_json_set(report, list, sl_json_new_list());
    }
    sl_json_set_int(counts, list, sl_json_path_int(counts, list, 0) + 1);
    if (sl_json_len(sl_json_get(report, list)) < rows_max) {
        sl_json_append(sl_json_get(report, list), row);
    } else {
        sl_json_free(row);
    }
}

/* Which list a start belongs to; NULL: nothing has changed. */
static const char *start_list(const struct sl_past_fate *before, const struct sl_past_fate *after)
{
    if (before->start_ms < 0 || after->start_ms < 0) {
        return before->start_ms == after->start_ms ? NULL
               : after->start_ms >= 0              ? "started"
                                                   : "unstarted";
    }
    int64_t later_ms = after->start_ms - before->start_ms;
    return later_ms >= SAME_MS ? "later" : later_ms <= -SAME_MS ? "sooner" : NULL;
}

static void add_rows(struct sl_json *report, const struct sl_past_fates *before,
                     const struct sl_past_fates *after, size_t rows_max)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct sl_past_fate *a = &before->of[i], *b = &after->of[i];
        const char *list = start_list(a, b);
        if (list != NULL) {
            add_row(report, list, row_new(before, after, i), rows_max);
        }
        if (a->evictions != b->evictions) {
            add_row(report, a->evictions < b->evictions ? "evictedMore" : "evictedLess",
                    row_new(before, after, i), rows_max);
        }
    }
}

/* --- queues --------------------------------------------------------------------------------------- */

static void add_queues(struct sl_json *report, const struct sl_past_fates *before,
                       const struct sl_past_fates *after)
{
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < before->count; i++) {
        const char *queue = sl_json_path_text(before->of[i].history, "queue", "");
        if (queue[0] != '\0' && sl_json_find_by(list, "clusterQueue", queue) == NULL) {
            struct sl_json *row = sl_json_new_map();
            sl_json_set_text(row, "clusterQueue", queue);
            sl_json_set(row, "before", sl_past_figures_new(before, queue));
            sl_json_set(row, "after", sl_past_figures_new(after, queue));
            sl_json_append(list, row);
        }
    }
    sl_json_set(report, "clusterQueues", list);
}

static bool same_cell(const struct sl_json *a, const struct sl_json *b, bool any_queue)
{
    static const char *const keys[] = {"flavor", "resource", "queue"};
    for (size_t i = 0; i < (any_queue ? 2u : 3u); i++) {
        if (strcmp(sl_json_path_text(a, keys[i], ""), sl_json_path_text(b, keys[i], "")) != 0) {
            return false;
        }
    }
    return true;
}

/* Over all sums of that flavor and resource, in all queues or in this one. */
static int64_t total(const struct sl_json *sums, const struct sl_json *cell, const char *key,
                     bool any_queue)
{
    int64_t sum = 0;
    for (size_t i = 0; i < sl_json_len(sums); i++) {
        if (same_cell(sl_json_at(sums, i), cell, any_queue)) {
            int64_t more = sl_json_path_int(sl_json_at(sums, i), key, 0);
            sum = sum > INT64_MAX - more ? INT64_MAX : sum + more;
        }
    }
    return sum;
}

/* In thousandths; -1: of nothing. */
static int64_t part(int64_t of, int64_t whole)
{
    return whole <= 0 ? -1 : (int64_t)((__int128)of * 1000 / whole);
}

static void set_part(struct sl_json *o, const char *key, int64_t thousandths)
{
    if (thousandths >= 0) {
        sl_json_set_int(o, key, thousandths);
    }
}

static struct sl_json *use_new(const struct sl_json *sums, const struct sl_json *cell)
{
    struct sl_json *o = sl_json_new_map();
    int64_t used = total(sums, cell, "used", false);
    set_part(o, "usedPermille", part(used, total(sums, cell, "nominal", false)));
    set_part(o, "sharePermille", part(used, total(sums, cell, "used", true)));
    return o;
}

static void add_uses_of(struct sl_json *list, const struct sl_json *from,
                        const struct sl_json *before, const struct sl_json *after)
{
    for (size_t i = 0; i < sl_json_len(from); i++) {
        const struct sl_json *cell = sl_json_at(from, i);
        bool known = false;
        for (size_t k = 0; k < sl_json_len(list) && !known; k++) {
            known = same_cell(sl_json_at(list, k), cell, false);
        }
        if (!known) {
            struct sl_json *row = sl_json_new_map();
            sl_json_set_text(row, "queue", sl_json_path_text(cell, "queue", ""));
            sl_json_set_text(row, "flavor", sl_json_path_text(cell, "flavor", ""));
            sl_json_set_text(row, "resource", sl_json_path_text(cell, "resource", ""));
            sl_json_set(row, "before", use_new(before, cell));
            sl_json_set(row, "after", use_new(after, cell));
            sl_json_append(list, row);
        }
    }
}

static void add_uses(struct sl_json *report, const struct sl_json *before,
                     const struct sl_json *after)
{
    const struct sl_json *was = sl_json_get(before, "sums"), *is = sl_json_get(after, "sums");
    struct sl_json *list = sl_json_new_list();
    add_uses_of(list, was, was, is);
    add_uses_of(list, is, was, is);
    sl_json_set(report, "utilization", list);
}

/* --- what it rests on ------------------------------------------------------------------------------- */

static void assume(struct sl_json *report, const char *text, size_t count)
{
    if (count > 0) {
        struct sl_json *row = sl_json_new_map();
        sl_json_set_text(row, "assumption", text);
        sl_json_set_int(row, "workloads", (int64_t)count);
        sl_json_append(sl_json_get(report, "assumptions"), row);
    }
}

static void add_assumptions(struct sl_json *report, const struct sl_past *past,
                            const struct sl_past_fates *after)
{
    size_t endless = 0, again = 0;
    for (size_t i = 0; i < after->count; i++) {
        const struct sl_past_fate *fate = &after->of[i];
        endless += fate->start_ms >= 0 && sl_json_path(fate->history, "after.finish") == NULL;
        again += fate->evictions > 0 && fate->finished;
    }
    sl_json_set(report, "assumptions", sl_json_new_list());
    assume(report, "submitted, canceled and deactivated when they were, whatever they waited",
           after->count);
    assume(report, "run on to the end, as it is not known how long they run", endless);
    assume(report, "run again in whole after an eviction", again);
    sl_json_set(report, "notes", sl_json_clone(past->notes));
}

/* --- all of it --------------------------------------------------------------------------------------- */

size_t sl_past_differs(const struct sl_past *past, const struct sl_json *played)
{
    SL_PRE(past != NULL && played != NULL);
    struct sl_past_fates was, is;
    size_t count = 0;
    sl_past_fates_read(&was, past, past->decisions);
    sl_past_fates_read(&is, past, sl_json_get(played, "decisions"));
    for (size_t i = 0; i < was.count; i++) {
        const char *a = was.of[i].trace.data, *b = is.of[i].trace.data;
        count += strcmp(a == NULL ? "" : a, b == NULL ? "" : b) != 0;
    }
    sl_past_fates_fini(&was);
    sl_past_fates_fini(&is);
    return count;
}

static void set_time(struct sl_json *o, const char *key, int64_t ms)
{
    char text[32];
    sl_clock_format(ms, text);
    sl_json_set_text(o, key, text);
}

struct sl_json *sl_past_report_new(const struct sl_past *past, const struct sl_json *before,
                                   const struct sl_json *after, size_t rows_max)
{
    SL_PRE(past != NULL && before != NULL && after != NULL);
    struct sl_past_fates was, is;
    struct sl_json *report = sl_json_new_map();
    sl_past_fates_read(&was, past, sl_json_get(before, "decisions"));
    sl_past_fates_read(&is, past, sl_json_get(after, "decisions"));
    sl_json_set_text(report, "apiVersion", "compare.sluice.dev/v1");
    sl_json_set_text(report, "kind", "Comparison");
    set_time(report, "from", past->begin_ms);
    set_time(report, "until", past->end_ms);
    sl_json_set_int(report, "records", (int64_t)past->records);
    sl_json_set_int(report, "playedOtherwise", (int64_t)sl_past_differs(past, before));
    sl_json_set(report, "before", sl_past_figures_new(&was, NULL));
    sl_json_set(report, "after", sl_past_figures_new(&is, NULL));
    add_queues(report, &was, &is);
    add_uses(report, before, after);
    sl_json_path_make(report, "counts");
    add_rows(report, &was, &is, rows_max);
    add_assumptions(report, past, &is);
    sl_past_fates_fini(&was);
    sl_past_fates_fini(&is);
    return report;
}
