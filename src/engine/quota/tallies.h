/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Tallies: how many workloads of a queue are in which state, and what they use of each flavor; and which queues and
 * qnodes have changed, so that their status is written again. */
#ifndef SL_ENGINE_TALLIES_H
#define SL_ENGINE_TALLIES_H
#include "engine/engine.h"
#include "kernel/base/types.h"

struct sl_tally;
/* How much is used of one flavor and resource; NULL: nothing ever was. */
struct sl_usage *sl_tally_find(const struct sl_tally *t, sl_flavor_id flavor,
                               sl_resource_id resource);
/* The same, made where there is none. */
struct sl_usage *sl_tally_take(struct sl_tally *t, sl_flavor_id flavor, sl_resource_id resource);
/* Is it counted as one that waits? */
bool sl_tally_waits(const struct sl_engine *g, sl_workload_id id);
/* Count the workload where it now belongs, and no longer where it was. */
void sl_tally_update(struct sl_engine *g, sl_workload_id id);
struct sl_local_queue;
/* Let it name another LocalQueue. */
void sl_tally_move(struct sl_engine *g, sl_workload_id id, struct sl_local_queue *to);
/* Count it nowhere, before it ends or its requests change: with the next update it counts again. */
void sl_tally_leave(struct sl_engine *g, sl_workload_id id);
/* So many pods of that pod set of a holder have ended for good. */
void sl_tally_reclaim(struct sl_engine *g, sl_workload_id id, uint32_t pod_set, int64_t gone);
void sl_touch_qnode(struct sl_engine *g, sl_qnode_id qnode);
/* Some quota has changed: each that holds something may hold more than it may now. */
void sl_touch_holders(struct sl_engine *g);
void sl_touch_queue(struct sl_engine *g, struct sl_local_queue *q);
#endif
