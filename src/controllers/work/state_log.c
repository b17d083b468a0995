/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Figures of the engine as lines of the log. */
#include "controllers/work/state_log.h"
#include "base/check.h"
#include "base/log.h"
#include <inttypes.h>
#include <stdio.h>

#define FIGURE_SIZE 24

static const char *print(uint64_t n, char out[static FIGURE_SIZE])
{
    (void)snprintf(out, FIGURE_SIZE, "%" PRIu64, n);
    return out;
}

static void log_queue(void *context, struct sl_json *queue)
{
    const struct sl_engine *engine = context;
    struct sl_queue_figures f;
    char active[FIGURE_SIZE], waiting[FIGURE_SIZE], reserving[FIGURE_SIZE], admitted[FIGURE_SIZE];
    if (!sl_engine_queue_figures(engine, SL_KIND_CLUSTER_QUEUE, "", sl_object_name(queue), &f)) {
        return;
    }
    sl_log(SL_LOG_INFO, "state of a queue", "cluster_queue", sl_object_name(queue), "open",
           f.open ? "yes" : "no", "pending", print(f.active, active), "inadmissible",
           print(f.inadmissible, waiting), "reserving", print(f.reserving, reserving), "admitted",
           print(f.admitted, admitted), NULL);
}

void sl_state_log(const struct sl_engine *engine, const struct sl_client *client)
{
    SL_PRE(client != NULL);
    struct sl_engine_counters n;
    struct sl_error e = {0};
    char workloads[FIGURE_SIZE], pending[FIGURE_SIZE], holding[FIGURE_SIZE], cycles[FIGURE_SIZE];
    char armed[FIGURE_SIZE], refused[FIGURE_SIZE];
    sl_engine_count(engine, &n);
    sl_log(SL_LOG_INFO, "state", "workloads", print(n.workloads, workloads), "pending",
           print(n.pending, pending), "holding", print(n.holding, holding), "cycles",
           print(n.cycles, cycles), "second_passes_armed", print(n.passes_armed, armed),
           "events_refused", print(n.refused, refused), NULL);
    if (client->list(client->self, SL_KIND_CLUSTER_QUEUE, "", log_queue, (void *)(uintptr_t)engine,
                     &e) != SL_CODE_OK) {
        sl_log(SL_LOG_WARN, "ClusterQueues cannot be listed", "error", e.text, NULL);
    }
}
