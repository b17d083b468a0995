/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which workloads hold a quota: the largest of those that hold some of a flavor and resource in a ClusterQueue, or in all
 * of a Cohort. */
#ifndef SL_ENGINE_WHY_HOLDING_H
#define SL_ENGINE_WHY_HOLDING_H
#include "engine/state.h"

#define SL_WHY_HOLDERS_MAX 5u
/* What one question may look at; the answer says when that was not all. */
#define SL_WHY_HOLDERS_SEEN_MAX 16384u
#define SL_WHY_QNODES_SEEN_MAX 1024u

struct sl_why_holder {
    sl_workload_id workload;
    sl_qnode_id queue;
    int64_t amount;
};
struct sl_why_queue_share {
    sl_qnode_id queue;
    int64_t used, nominal;
};
struct sl_why_holders {
    uint32_t count; /* of `at`, the largest first */
    struct sl_why_holder at[SL_WHY_HOLDERS_MAX];
    uint32_t queue_count; /* of `queues`, by what is used of it */
    struct sl_why_queue_share queues[SL_WHY_HOLDERS_MAX];
    uint32_t all; /* how many workloads hold some of it, as far as they were looked at */
    bool cut;     /* not all were */
};
/* Of the qnode's cell and what is below it. */
void sl_why_holders_find(sl_cell_id cell, struct sl_why_holders *out);
/* What the workload holds of a cell. */
int64_t sl_why_held(sl_workload_id id, sl_cell_id cell);
#endif
