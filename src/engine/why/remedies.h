/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What would let a workload in, in sentences: what has to be released, raised, created or changed. */
#ifndef SL_ENGINE_WHY_REMEDIES_H
#define SL_ENGINE_WHY_REMEDIES_H
#include "engine/state.h"
#include "engine/why/rights.h"
#include "engine/why/shortage.h"

/* What was found of a workload that waits. */
struct sl_why_findings {
    sl_workload_id id;
    bool tried;   /* sl_assignment is of it */
    bool in_line; /* and `position` is known */
    int64_t position;
    uint32_t count; /* of shortages */
    struct sl_why_shortage shortages[SL_WHY_SHORTAGES_MAX];
    struct sl_why_holders holders; /* of the first shortage that is not for ever */
    struct sl_why_need need;
};
/* A list of sentences; it may be empty. */
struct sl_json *sl_why_remedies_new(const struct sl_engine *g, const struct sl_why_findings *f);
/* The same for a ClusterQueue or LocalQueue that takes no workloads. */
void sl_why_add_queue_remedies(const struct sl_engine *g, const struct sl_local_queue *q,
                               sl_qnode_id qnode, struct sl_json *list);
#endif
