/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a workload's queue means for it. Level-triggered: look at the queue as it is now and send
 * the events that the record still lacks; so it does not matter in which order objects come and go.
 * Before everything was seen (sl_engine_synced) nothing is concluded from what is missing (G10). */
#ifndef SL_ENGINE_STANDING_H
#define SL_ENGINE_STANDING_H
#include "engine/state.h"

/* It cannot be tried because its queues are stopped, missing or unusable, or because it claims devices: no cycle looks
 * at it, and Kueue says Inadmissible. */
bool sl_standing_queue_to_blame(const struct sl_engine *g, sl_workload_id id);

void sl_standing_update(struct sl_engine *g, sl_workload_id id, int64_t now_ms);
void sl_standing_update_queue(struct sl_engine *g, struct sl_local_queue *q, int64_t now_ms);
void sl_standing_update_cluster_queue(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms);
/* Makes the requests of all workloads of the ClusterQueue again: its flavors have changed. */
void sl_standing_rerequest(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms);
/* The place in the queue that its object and its record give it. */
struct sl_order_key sl_standing_key(const struct sl_engine *g, sl_workload_id id);
#endif
