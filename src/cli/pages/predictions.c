/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/pages/predictions.h"
#include "base/check.h"
#include "base/mem.h"
#include "cli/pages/metrics.h"
#include <stdio.h>
#include <string.h>

#define NAME "sluice_foresight_error_seconds"

struct prediction {
    int64_t asked_ms, start_ms;
    char certainty[16];
};

void sl_predictions_init(struct sl_predictions *p)
{
    SL_PRE(p != NULL);
    *p = (struct sl_predictions){.open = sl_map_new()};
    sl_meters_init(&p->meters);
}

void sl_predictions_fini(struct sl_predictions *p)
{
    SL_PRE(p != NULL);
    sl_map_free_with(p->open, sl_mem_free);
    sl_meters_fini(&p->meters);
}

/* The newest prediction of a workload counts. */
static void take_line(struct sl_predictions *p, const char *line, int64_t now_ms)
{
    char key[600];
    long long start_ms = 0;
    struct prediction *one = sl_mem_new(1, sizeof *one);
    union sl_map_value old = {0};
    if (sscanf(line, "%599s %lld %15s", key, &start_ms, one->certainty) != 3) {
        sl_mem_free(one);
        return;
    }
    one->asked_ms = now_ms;
    one->start_ms = start_ms;
    if (sl_map_remove(p->open, key, &old)) {
        sl_mem_free(old.pointer);
    }
    if (sl_map_count(p->open) < SL_PREDICTIONS_MAX) {
        sl_map_put(p->open, key, (union sl_map_value){.pointer = one});
    } else {
        sl_mem_free(one);
    }
}

void sl_predictions_take(struct sl_predictions *p, const char *lines, size_t len, int64_t now_ms)
{
    SL_PRE(p != NULL);
    char *text = sl_mem_text_n(lines, len);
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        take_line(p, line, now_ms);
    }
    sl_mem_free(text);
}

static void count(struct sl_predictions *p, const struct prediction *one, int64_t admitted_ms)
{
    char labels[64];
    int64_t off_ms = admitted_ms - one->start_ms;
    (void)snprintf(labels, sizeof labels, "certainty=\"%s\"", one->certainty);
    const struct sl_series series = {.name = NAME, .owner = "", .labels = labels};
    sl_meters_time(&p->meters, &series, SL_METER_WAITS, (off_ms < 0 ? -off_ms : off_ms) * 1000);
}

void sl_predictions_settle(struct sl_predictions *p, const struct sl_engine *engine)
{
    SL_PRE(p != NULL && engine != NULL);
    for (struct sl_map_item e = {0}; sl_map_each(p->open, &e);) {
        struct prediction *one = e.value.pointer;
        int64_t admitted_ms;
        bool known = sl_engine_admitted(engine, e.key, &admitted_ms);
        bool started = known && admitted_ms != SL_NEVER && admitted_ms >= one->asked_ms;
        if (started) {
            count(p, one, admitted_ms);
        }
        if (started || !known) {
            sl_map_remove(p->open, e.key, NULL);
            sl_mem_free(one);
        }
    }
}

void sl_predictions_print(const struct sl_predictions *p, const char *role, struct sl_buf *out)
{
    SL_PRE(p != NULL);
    sl_metrics_help(out, NAME, "histogram",
                    "How far the start of a workload was from what had been answered last");
    sl_meters_print(&p->meters, NAME, role, out);
}
