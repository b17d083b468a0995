/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reclaimable pods of a holder: status.reclaimablePods says how many pods of a pod set have ended
 * for good. Their part of what was granted is given back, amount by amount, and is not taken again
 * before the next admission: the API refuses to count them back while quota is held. */
#include "base/check.h"
#include "engine/calls/call.h"
#include "engine/records/event_in.h"
#include "engine/quota/tallies.h"
#include "engine/requests/requests.h"
#include "kernel/commit/commit.h"

bool sl_engine_reclaims(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    return g->settings.policy.reclaimable_pods;
}

bool sl_engine_waits_for_pods(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    return g->settings.wait_for_pods_ready;
}

/* Of that cell, for all pod sets. */
static int64_t amount_left(const struct sl_admission *admission, sl_cell_id cell)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < admission->choice_count; i++) {
        sum += admission->choices[i].cell == cell ? sl_admission_amount(admission, i) : 0;
    }
    return sum;
}

static void reduce_usage(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    for (uint32_t i = 0; i < sl_commit_usage_count(id); i++) {
        struct sl_cell_amount usage = sl_commit_usage(id, i);
        int64_t left = amount_left(e->admission, usage.cell);
        if (left < usage.amount) {
            sl_expect(g, now_ms, reduce, .workload = id, .generation = e->generation, .usage = i,
                      .amount = left);
        }
    }
}

/* A pod set that was admitted with fewer pods than it has gives back once fewer than those are
 * left. */
void sl_reclaim_take(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                     int64_t now_ms)
{
    SL_PRE(g != NULL);
    const struct sl_admission *admission = g->workloads[id].admission;
    size_t known = sl_json_len(sl_json_path(object, "spec.podSets"));
    bool fewer = false;
    if (admission == NULL || !sl_lifecycle_holds_quota(id)) {
        return;
    }
    for (uint32_t i = 0; i < admission->pod_set_count && i < known; i++) {
        int64_t gone = admission->counts[i] - sl_requests_pods_left(g, object, i);
        if (gone > admission->reclaimed[i]) {
            sl_tally_reclaim(g, id, i, gone);
            fewer = true;
        }
    }
    if (fewer) {
        reduce_usage(g, id, now_ms);
    }
}
