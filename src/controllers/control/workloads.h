/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The workload controller: carries the engine's decisions out on the live Workloads and reports to
 * the engine how each write ended. It judges nothing: what to write comes from the engine, and so
 * does what follows from a conflict. At most SL_DECISIONS_IN_FLIGHT writes are under way at a time,
 * one of each Workload: the next one is made from what the one before has left. Why a Workload
 * waits is written within a budget, and what has been overtaken by then is not: reservations are
 * never behind it. */
#ifndef SL_CONTROLLERS_WORKLOADS_H
#define SL_CONTROLLERS_WORKLOADS_H
#include "base/map.h"
#include "controllers/work/budget.h"
#include "controllers/work/recorder.h"
#include "controllers/work/work.h"
#include "controllers/work/workload_meters.h"
#include "engine/engine.h"

#define SL_DECISIONS_IN_FLIGHT 1024u
#define SL_CONFLICT_TRIES                                                                          \
    5u /* looks at the live object before a conflict is handed to the engine */

struct sl_workload_counters {
    uint64_t conflicts, failed;
};
struct sl_carried;
struct sl_workloads {
    const struct sl_client *client;
    struct sl_recorder *events;
    struct sl_engine *engine;
    unsigned in_flight;
    struct sl_workload_counters counters;
    struct sl_workload_meters meters; /* metered: set by the owner, before the start */
    struct sl_carried *aside,
        *aside_last;         /* they wait for what others give back, the first was decided first */
    bool aside_is_old;       /* there are newer decisions about one of their Workloads, perhaps */
    struct sl_map *last;     /* "namespace/name" -> the last decision that is not written */
    struct sl_budget budget; /* for PENDING; no limit, unless one is set */
    struct sl_work *untold;  /* Workloads whose PENDING waits for it, and */
    struct sl_map *untold_why; /* the decision */
    /* Called for an eviction that the Workload shows already, from one before: no watch event will
     * follow, and its job has to be reconciled. May be NULL. */
    sl_visit_fn *evicted_already;
    void *context; /* of evicted_already */
};
void sl_workloads_init(struct sl_workloads *c, const struct sl_client *client,
                       struct sl_recorder *events, struct sl_engine *engine);
void sl_workloads_fini(struct sl_workloads *c);
/* Take decisions and start writing them; true when more wait that could be taken at once. */
bool sl_workloads_step(struct sl_workloads *c, int64_t now_ms, unsigned limit);
/* A Workload was deleted, by whomever: one line in the log. */
void sl_workloads_log_gone(const struct sl_json *wl);
/* The engine has just seen this Workload: counts what it was the first to say (sl_engine_news). */
void sl_workloads_count_news(struct sl_workloads *c, const struct sl_json *wl);
int64_t sl_workloads_due_ms(const struct sl_workloads *c);
#endif
