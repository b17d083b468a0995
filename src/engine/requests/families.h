/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Variants of Workloads for the core (feature gate ConcurrentAdmission): those that one Workload owns are a family, and the
 * position of a variant's flavor in its ClusterQueue is its rank. Owns the numbers of families and how many each has. */
#ifndef SL_ENGINE_FAMILIES_H
#define SL_ENGINE_FAMILIES_H
#include "engine/state.h"

/* Is it not the engine's? A parent is not; nor is a variant that was left behind when the feature gate was turned off: its parent
 * says what its job has. */
bool sl_family_stays_out(const struct sl_engine *g, const struct sl_json *object);
/* Does it stand for its variants? Those are tried, and it gets what they get by a controller (controllers/variants): the engine does
 * not know it, and takes no quota for it. One says so by its label, or is no variant in a queue with a
 * concurrentAdmissionPolicy and holds no quota. Those of elastic jobs have no variants: one slice takes the place of another. */
bool sl_family_is_parent(const struct sl_engine *g, const struct sl_json *object);
/* Must one that the engine knows not be tried? It is to become a parent, since its queue got that policy; or it is one variant
 * more than its family may have. */
bool sl_family_keeps_out(const struct sl_engine *g, sl_workload_id id);

/* What its object says, once the entry knows its queue. */
void sl_family_take(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                    int64_t now_ms);
/* Its queue is another, or has other flavors. */
void sl_family_update(struct sl_engine *g, sl_workload_id id, int64_t now_ms);
/* The next of its family, after `last` (SL_NO_ID: the first), but for itself; SL_NO_ID: no more. Looks at all workloads. */
sl_workload_id sl_family_next(const struct sl_engine *g, sl_workload_id id, sl_workload_id last);
/* "namespace/name" of the Workload that its pods name: of its parent, or its own. Lent. */
const char *sl_family_name_in_pods(const struct sl_engine *g, sl_workload_id id);
/* Its slot is another's next. */
void sl_family_leave(struct sl_engine *g, sl_workload_id id, int64_t now_ms);

/* A ClusterQueue's object, after its quotas: has it a concurrentAdmissionPolicy, and which variants may take the place of one
 * that is admitted? True: its workloads are to be looked at. */
bool sl_family_limit(struct sl_engine *g, sl_qnode_id qnode, const struct sl_json *object,
                     int64_t now_ms);
#endif
