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
/* Workloads counted by a number that each was given, which means nothing to the engine. They are walked through in steps,
 * as they are by then: there may be very many. */
struct sl_marked {
    uint32_t active, inadmissible,
        admitted; /* as in sl_queue_figures; of a LocalQueue only the last */
};
void sl_engine_mark(struct sl_engine *g, const struct sl_json *workload, uint8_t mark);
struct sl_marks;
struct sl_marks *sl_marks_new(const struct sl_engine *g, uint32_t mark_count);
void sl_marks_free(struct sl_marks *m);
bool sl_marks_go_on(struct sl_marks *m); /* false: that was all of them */
/* Of a ClusterQueue or LocalQueue, by mark; NULL: there are none. */
const struct sl_marked *sl_marks_of(const struct sl_marks *m, enum sl_kind kind, const char *ns,
                                    const char *name);
/* Is there a Cohort of that name, with an object or named by others? */
bool sl_engine_has_cohort(const struct sl_engine *g, const char *name);
/* The Cohorts above a ClusterQueue, from below. */
void sl_engine_cohorts_above(const struct sl_engine *g, const char *cluster_queue,
                             sl_qnode_fn *visit, void *context);
#endif
