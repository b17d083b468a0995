/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The workload controller: carries the engine's decisions out on the live Workloads and tells the engine how
 * each write ended. It judges nothing: what to write comes from the engine, and so does what follows from a
 * conflict. At most SL_DECISIONS_IN_FLIGHT writes are under way at a time. */
#ifndef SL_CONTROLLERS_WORKLOADS_H
#define SL_CONTROLLERS_WORKLOADS_H
#include "base/map.h"
#include "controllers/recorder.h"
#include "engine/engine.h"

#define SL_DECISIONS_IN_FLIGHT 1024u
#define SL_CONFLICT_TRIES                                                                          \
    5u /* looks at the live object before a conflict is handed to the engine */

struct sl_workload_counters {
    uint64_t reserved, pending, conflicts, failed;
    const struct sl_map *series; /* a metric's name with its labels -> how often */
};
struct sl_workloads {
    const struct sl_client *client;
    struct sl_recorder *events;
    struct sl_engine *engine;
    unsigned in_flight;
    struct sl_workload_counters counters;
    struct sl_map *series;
};
void sl_workloads_init(struct sl_workloads *c, const struct sl_client *client,
                       struct sl_recorder *events, struct sl_engine *engine);
void sl_workloads_fini(struct sl_workloads *c);
/* Take decisions and start writing them; true when more wait that could be taken at once. */
bool sl_workloads_step(struct sl_workloads *c, unsigned limit);
#endif
