/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a workload's queue means for it. Level-triggered: look at the queue as it is now and send
 * the events that the record still lacks; so it does not matter in which order objects come and go.
 * Before everything was seen (sl_engine_synced) nothing is concluded from what is missing (G10). */
#ifndef SL_ENGINE_STANDING_H
#define SL_ENGINE_STANDING_H
#include "engine/state.h"

enum sl_usable {
    SL_USABLE,
    SL_UNUSABLE_STOPPED,   /* the LocalQueue is stopped; the ClusterQueue is, or is being deleted */
    SL_UNUSABLE_GONE,      /* one of them is missing, or the LocalQueue is being deleted */
    SL_UNUSABLE_INACTIVE,  /* the ClusterQueue cannot be used as it is */
    SL_UNUSABLE_CHECK,     /* an admission check asks to retry or has rejected it, before any
                              reservation */
    SL_UNUSABLE_TOO_LARGE, /* it asks for more than any quota can be */
    SL_UNUSABLE_WORKLOAD   /* the workload's own object cannot be used */
};
enum sl_usable sl_standing_judge(const struct sl_engine *g, sl_workload_id id,
                                 char text[static 320]);

/* It cannot be tried because its queues are stopped, missing or unusable, or because it claims devices: no cycle looks
 * at it, and Kueue says Inadmissible. */
bool sl_standing_queue_to_blame(const struct sl_engine *g, sl_workload_id id);

void sl_standing_update(struct sl_engine *g, sl_workload_id id, int64_t now_ms);
void sl_standing_update_queue(struct sl_engine *g, struct sl_local_queue *q, int64_t now_ms);
void sl_standing_update_cluster_queue(struct sl_engine *g, sl_node_id node, int64_t now_ms);
/* Makes the demands of all workloads of the ClusterQueue again: its flavors have changed. */
void sl_standing_redemand(struct sl_engine *g, sl_node_id node, int64_t now_ms);
/* The place in the queue that its object and its record give it. */
struct sl_order_key sl_standing_key(const struct sl_engine *g, sl_workload_id id);
#endif
