/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Parents of variants in figures: as in Kueue those that are not admitted count by why, and those that have
 * finished, and their variants do not. They have no record, so it is their objects that say how they are. */
#ifndef SL_ENGINE_PARENT_FIGURES_H
#define SL_ENGINE_PARENT_FIGURES_H
#include "engine/conditions/conditions.h"
#include "engine/engine.h"

/* Behind the reasons for which one is not admitted. */
#define SL_PARENT_FINISHED SL_UNADMITTED_COUNT

struct sl_parent_figures; /* NULL until there is one */
struct sl_local_queue;
/* The object as it is now; `is`: it is a parent. */
void sl_parent_figures_take(struct sl_engine *g, const struct sl_json *object, bool is);
void sl_parent_figures_fini(struct sl_engine *g);
/* How many of a LocalQueue, or of all LocalQueues of a ClusterQueue. */
uint32_t sl_parent_figures_local(const struct sl_engine *g, const struct sl_local_queue *q,
                                 uint32_t how);
uint32_t sl_parent_figures_cluster(const struct sl_engine *g, sl_qnode_id queue, uint32_t how);
#endif
