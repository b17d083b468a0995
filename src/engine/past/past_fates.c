/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/past/past_fates.h"
#include "base/check.h"
#include "base/mem.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ------------------------------------------------------------------------------------- */

static void emit(struct sl_past_fate *fate, const struct sl_json *decision)
{
    const char *what = sl_json_path_text(decision, "do", "");
    int64_t at_ms = sl_json_path_int(decision, "at", 0);
    if (strcmp(what, "admitted") == 0) {
        fate->start_ms = fate->start_ms < 0 ? at_ms : fate->start_ms;
        sl_buf_print(&fate->trace, "admitted %" PRId64 " ", at_ms);
        sl_json_print(sl_json_get(decision, "uses"), &fate->trace);
    } else if (strcmp(what, "evicted") == 0) {
        fate->evictions++;
        sl_buf_print(&fate->trace, "evicted %" PRId64 " %" PRId64 " ", at_ms,
                     sl_json_path_int(decision, "reason", 0));
    } else if (strcmp(what, "finished") == 0) {
        fate->finished = true;
    } else if (strcmp(what, "deleted") == 0) {
        fate->deleted_ms = at_ms;
    }
}

void sl_past_fates_read(struct sl_past_fates *f, const struct sl_past *past,
                        const struct sl_json *decisions)
{
    SL_PRE(f != NULL && past != NULL);
    struct sl_map *by_id = sl_map_new();
    *f = (struct sl_past_fates){.count = sl_json_len(past->workloads), .end_ms = past->end_ms};
    f->of = sl_mem_new(f->count + 1, sizeof *f->of);
    for (size_t i = 0; i < f->count; i++) {
        const struct sl_json *history = sl_json_at(past->workloads, i);
        f->of[i] = (struct sl_past_fate){.history = history, .start_ms = -1, .deleted_ms = -1};
        sl_map_put(by_id, sl_json_path_text(history, "id", ""),
                   (union sl_map_value){.pointer = &f->of[i]});
    }
    for (size_t i = 0; i < sl_json_len(decisions); i++) {
        const struct sl_json *d = sl_json_at(decisions, i);
        struct sl_past_fate *fate = sl_map_find(by_id, sl_json_path_text(d, "history", ""));
        if (fate != NULL) {
            emit(fate, d);
        }
    }
    sl_map_free(by_id);
}

void sl_past_fates_fini(struct sl_past_fates *f)
{
    SL_PRE(f != NULL);
    for (size_t i = 0; i < f->count; i++) {
        sl_buf_fini(&f->of[i].trace);
    }
    sl_mem_free(f->of);
    *f = (struct sl_past_fates){0};
}

/* --- figures -------------------------------------------------------------------------------------- */

int64_t sl_past_wait_ms(const struct sl_past_fates *f, size_t i)
{
    SL_PRE(f != NULL && i < f->count);
    const struct sl_past_fate *fate = &f->of[i];
    int64_t until_ms = fate->start_ms >= 0     ? fate->start_ms
                       : fate->deleted_ms >= 0 ? fate->deleted_ms
                                               : f->end_ms;
    int64_t wait_ms = until_ms - sl_json_path_int(fate->history, "arrived", until_ms);
    return wait_ms > 0 ? wait_ms : 0;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The smallest of which so many hundredths are not larger. */
static int64_t percentile(const int64_t *sorted, size_t count, size_t percent)
{
    return count == 0 ? 0 : sorted[(count * percent + 99) / 100 - 1];
}

static void set_waits(struct sl_json *o, int64_t *waits_ms, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += waits_ms[i] / 1000;
    }
    qsort(waits_ms, count, sizeof *waits_ms, by_size);
    sl_json_set_int(o, "waitMeanSeconds", count == 0 ? 0 : sum / (int64_t)count);
    sl_json_set_int(o, "waitP50Seconds", percentile(waits_ms, count, 50) / 1000);
    sl_json_set_int(o, "waitP95Seconds", percentile(waits_ms, count, 95) / 1000);
    sl_json_set_int(o, "waitMaxSeconds", percentile(waits_ms, count, 100) / 1000);
}

struct sl_json *sl_past_figures_new(const struct sl_past_fates *f, const char *queue)
{
    SL_PRE(f != NULL);
    struct sl_json *o = sl_json_new_map();
    int64_t *waits_ms = sl_mem_new(f->count + 1, sizeof *waits_ms);
    size_t count = 0, workloads = 0, started = 0, waiting = 0, finished = 0, evictions = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct sl_past_fate *fate = &f->of[i];
        if (queue != NULL && strcmp(sl_json_path_text(fate->history, "queue", ""), queue) != 0) {
            continue;
        }
        bool held = sl_json_has(fate->history, "holds"); /* from the beginning: it did not wait */
        workloads++;
        started += fate->start_ms >= 0 && !held;
        waiting += fate->start_ms < 0 && !held && fate->deleted_ms < 0 && !fate->finished;
        finished += fate->finished;
        evictions += fate->evictions;
        if (!held) {
            waits_ms[count++] = sl_past_wait_ms(f, i);
        }
    }
    sl_json_set_int(o, "workloads", (int64_t)workloads);
    sl_json_set_int(o, "started", (int64_t)started);
    sl_json_set_int(o, "waiting", (int64_t)waiting);
    sl_json_set_int(o, "finished", (int64_t)finished);
    sl_json_set_int(o, "evictions", (int64_t)evictions);
    set_waits(o, waits_ms, count);
    sl_mem_free(waits_ms);
    return o;
}
