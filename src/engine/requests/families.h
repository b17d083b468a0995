/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Variants of Workloads for the core (feature gate ConcurrentAdmission): those that one Workload owns are a family, and the
 * position of a variant's flavor in its ClusterQueue is its rank. Owns the numbers of families and how many each has. */
#ifndef SL_ENGINE_FAMILIES_H
#define SL_ENGINE_FAMILIES_H
#include "engine/state.h"

/* The Workload that owns this one; NULL: it is no variant. */
const struct sl_json *sl_family_parent(const struct sl_json *workload);

/* What its object says, once the entry knows its queue. */
void sl_family_take(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                    int64_t now_ms);
/* Its queue is another, or has other flavors. */
void sl_family_update(struct sl_engine *g, sl_workload_id id, int64_t now_ms);
/* Its slot is another's next. */
void sl_family_leave(struct sl_engine *g, sl_workload_id id, int64_t now_ms);

/* Which variants may take the place of one that is admitted, as a ClusterQueue's object says; after its quotas. */
void sl_family_limit(struct sl_engine *g, sl_qnode_id qnode, const struct sl_json *object,
                     int64_t now_ms);
#endif
