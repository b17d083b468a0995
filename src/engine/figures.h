/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* More of what is going on, for metrics: of what waits, and what is above a ClusterQueue. */
#ifndef SL_ENGINE_FIGURES_H
#define SL_ENGINE_FIGURES_H
#include "engine/engine.h"

/* What the workloads that wait in a ClusterQueue ask for, as amounts: each resource of its quotas, and what else there
 * is. */
typedef void sl_amount_fn(void *context, const char *resource, int64_t amount);
void sl_engine_pending_requests(const struct sl_engine *g, const char *cluster_queue,
                                sl_amount_fn *visit, void *context);
/* Why workloads of a ClusterQueue or LocalQueue are not admitted: the reasons of their conditions Admitted and
 * QuotaReserved (NoReservation and PendingEvaluation where nothing is written yet), and how many. */
struct sl_unadmitted {
    const char *cluster_queue;
    const char *reason, *cause; /* cause "": quota is reserved */
    uint32_t count;
};
typedef void sl_unadmitted_fn(void *context, const struct sl_unadmitted *unadmitted);
void sl_engine_unadmitted(const struct sl_engine *g, enum sl_kind kind, const char *ns,
                          const char *name, sl_unadmitted_fn *visit, void *context);
/* How many sorts of workloads, by what they ask for, wait in a ClusterQueue. Of very many that are tried, or wait, by
 * themselves, each is taken for a sort of its own. False: they are not told apart (equivalence_hashing). */
struct sl_pending_shapes {
    uint32_t active, inadmissible;
};
bool sl_engine_pending_shapes(const struct sl_engine *g, const char *cluster_queue,
                              struct sl_pending_shapes *out);
/* Is there a Cohort of that name, with an object or named by others? */
bool sl_engine_has_cohort(const struct sl_engine *g, const char *name);
/* The Cohorts above a ClusterQueue, from below. */
void sl_engine_cohorts_above(const struct sl_engine *g, const char *cluster_queue,
                             sl_qnode_fn *visit, void *context);
#endif
