/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Holders of quota in an answer, with the names that the asker may see. */
#ifndef SL_ENGINE_WHY_PARTS_H
#define SL_ENGINE_WHY_PARTS_H
#include "engine/state.h"
#include "engine/why/holding.h"
#include "engine/why/rights.h"

/* Adds "holders" ({namespace, name, localQueue, clusterQueue, priority, since, amount, mayBePreempted, because}, without
 * names for a workload of another namespace than `names_of`), "holdersInAll" and "queues" to what is short. */
void sl_why_add_holders(const struct sl_engine *g, const struct sl_why_need *need,
                        const struct sl_why_holders *holders, const char *names_of,
                        struct sl_json *out);
/* The same of all ClusterQueues that offer the flavor, by its first resource in each; nothing is said about preemption. */
void sl_why_add_flavor_holders(const struct sl_engine *g, sl_flavor_id flavor, const char *names_of,
                               struct sl_json *out);
/* "lab/job-a with 8 cpu since 2026-08-22T10:00:00Z" */
void sl_why_say_holder(const struct sl_engine *g, const struct sl_why_holder *holder,
                       sl_resource_id resource, const char *names_of, struct sl_buf *out);
#endif
