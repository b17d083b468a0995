/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The queue status controller: ClusterQueues, LocalQueues and Cohorts show what the engine knows about them.
 * Writes are coalesced: the first change is written at once, later ones of the same object at most once in
 * SL_QUEUE_STATUS_MS, and only when something differs; all of them together within a budget. */
#ifndef SL_CONTROLLERS_QUEUES_H
#define SL_CONTROLLERS_QUEUES_H
#include "controllers/work/budget.h"
#include "controllers/jobs/guards.h"
#include "controllers/work/reconciler.h"
#include "engine/engine.h"

#define SL_QUEUE_STATUS_MS 1000
#define SL_QUEUE_EXCEEDED                                                                          \
    "QuotaExceeded" /* a condition, and the reason of the Event when it begins */

struct sl_queues {
    struct sl_reconciler kinds[3]; /* ClusterQueue, LocalQueue, Cohort */
    struct sl_map *written_ms[3];  /* when each was last written */
    struct sl_budget budget;       /* no limit, unless one is set */
    size_t turn; /* the kind that is looked at first: none is starved by the budget */
    struct sl_engine *engine;
    struct sl_guards *guards; /* called for ClusterQueues that have changed; may be NULL */
};
void sl_queues_init(struct sl_queues *q, const struct sl_client *client, struct sl_recorder *events,
                    struct sl_engine *engine);
void sl_queues_fini(struct sl_queues *q);
/* Note what the engine touched, and write what is due; true when more is due. */
bool sl_queues_step(struct sl_queues *q, int64_t now_ms, unsigned limit);
int64_t sl_queues_due_ms(const struct sl_queues *q);
/* Forget a queue that was deleted. */
void sl_queues_forget(struct sl_queues *q, enum sl_kind kind, const struct sl_json *object);
/* The status that the object should have: `live`'s with what the engine says put over it (a new map). Null where
 * something is to go. */
struct sl_json *sl_queue_status_merge(const struct sl_json *live, const struct sl_json *seen,
                                      int64_t now_ms);
#endif
