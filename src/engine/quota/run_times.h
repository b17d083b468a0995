/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How long workloads run: what jobs say about themselves, and what was seen of queues. For predictions (foresight) alone:
 * nothing is decided by it. */
#ifndef SL_ENGINE_RUN_TIMES_H
#define SL_ENGINE_RUN_TIMES_H
#include "engine/foresight.h"
#include "engine/state.h"

/* What was seen of one queue, for struct sl_run_mean: one more workload ran so long. Constant time. */
void sl_run_mean_add(struct sl_run_mean *m, int64_t ms);
/* When its job began to run: a slice that has taken the place of another goes on with what that one began. It was admitted. */
int64_t sl_run_began_ms(const struct sl_engine *g, sl_workload_id id);
/* The workload has just finished: its queues have seen how long it ran. */
void sl_run_times_note(struct sl_engine *g, sl_workload_id id, int64_t now_ms);

struct sl_run_time {
    int64_t ms; /* since its job began, or with SL_RUN_LIMIT since it was admitted */
    enum sl_run_basis basis;
};
/* Of the first that is known: what its job says; its maximum execution time, as far as earlier admissions have left any; its
 * job's deadline; what was seen in its LocalQueue, or its ClusterQueue. */
struct sl_run_time sl_run_time_of(const struct sl_engine *g, sl_workload_id id);
#endif
