/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/past/past_teach.h"
#include "base/check.h"
#include "engine/past/past_history.h"
#include "engine/quota/run_times.h"
#include <string.h>

static void teach(struct sl_engine *g, const struct sl_json *history, int64_t ms)
{
    const char *key = sl_json_path_text(history, "workload", "");
    const char *slash = strchr(key, '/');
    struct sl_buf ns = {0};
    sl_buf_add(&ns, key, slash == NULL ? 0 : (size_t)(slash - key));
    struct sl_local_queue *q = sl_local_queue_find(g, ns.data == NULL ? "" : ns.data,
                                                   sl_json_path_text(history, "localQueue", ""));
    sl_qnode_id qnode = sl_qnode_find(g, true, sl_json_path_text(history, "queue", ""));
    if (q != NULL) {
        sl_run_mean_add(&q->tally.run_mean, ms);
    }
    if (qnode != SL_NO_ID) {
        sl_run_mean_add(&g->qnodes[qnode]->tally.run_mean, ms);
    }
    sl_buf_fini(&ns);
}

/* In the order in which they came in, which is about that in which they ended. */
void sl_past_teach(const struct sl_past *past, struct sl_engine *g)
{
    SL_PRE(past != NULL && g != NULL);
    for (size_t i = 0; i < sl_json_len(past->workloads); i++) {
        const struct sl_json *history = sl_json_at(past->workloads, i);
        int64_t ms = sl_past_history_after_ms(history, "finish");
        if (ms >= 0) {
            teach(g, history, ms);
        }
    }
}
