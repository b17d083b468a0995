/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which nodes have failed, for the workloads with pods on them (Kueue's node_controller.go). A node
 * that was deleted, or says nothing of its readiness, has failed at once. One that is not ready, or
 * has a taint that the workload does not tolerate, has failed for a workload as soon as none of its
 * pods is still under way there; so has one with a taint that is tolerated for a time, once its
 * pods there are deleted. Only nodes count, not domains of several nodes. Owns what was observed of
 * nodes and of workloads' pods for this. What follows goes to the core as SL_EV_NODE_FAILED and
 * SL_EV_NODE_RECOVERED; nothing is concluded before everything was seen. */
#ifndef SL_ENGINE_NODE_HEALTH_H
#define SL_ENGINE_NODE_HEALTH_H
#include "engine/state.h"

struct sl_node_health;
struct sl_node_health *sl_node_health_new(void);
void sl_node_health_free(struct sl_node_health *h);

/* A Node or Pod was added, changed or deleted. Call it after the trees are up to date. Between
 * cycles. */
void sl_node_health_node(struct sl_engine *g, const struct sl_json *node, bool gone,
                         int64_t now_ms);
void sl_node_health_pod(struct sl_engine *g, const struct sl_json *pod, bool gone, int64_t now_ms);

/* The workload's topology assignment has changed. Its nodes are checked with the next settle. */
void sl_node_health_moved(struct sl_engine *g, sl_workload_id id);
bool sl_node_health_waits(const struct sl_engine *g);            /* is there something to settle? */
void sl_node_health_settle(struct sl_engine *g, int64_t now_ms); /* between cycles */

/* The object's status.unhealthyNodes: marks that others have set or removed. */
void sl_node_health_read(struct sl_engine *g, sl_workload_id id, const struct sl_json *workload,
                         int64_t now_ms);
#endif
