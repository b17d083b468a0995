/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Of one workload that waits: the reason as it is now, and its position. Lists and flavors are tried in the core's
 * scratch memory; nothing is decided by that. */
#ifndef SL_ENGINE_QUERY_H
#define SL_ENGINE_QUERY_H
#include "engine/state.h"

/* Sets "reason" and "message" of the item, as sl_engine_pending_next does. True: flavors were tried for that, and
 * sl_assignment has what came of it. */
bool sl_query_reason(struct sl_engine *g, sl_workload_id id, struct sl_json *item);

/* Positions count from 0. */
struct sl_query_position {
    int64_t in_all, in_queue; /* of its ClusterQueue, and of its LocalQueue */
    int64_t count;            /* in the ClusterQueue's order */
};
/* What is looked at for one: workloads of its ClusterQueue's LocalQueues, or, where that admits by usage, a list of those
 * that wait. */
#define SL_QUERY_SEEN_MAX 262144u
#define SL_QUERY_LISTED_MAX 8192u
/* False: it is not in the order of a queue, or that has more than may be looked at. */
bool sl_query_position(const struct sl_engine *g, sl_workload_id id, struct sl_query_position *out);
#endif
