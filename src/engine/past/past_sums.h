/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How much of each quota of a ClusterQueue was used, and how much there was of it, over time. */
#ifndef SL_ENGINE_PAST_SUMS_H
#define SL_ENGINE_PAST_SUMS_H
#include "engine/past/past_child.h"
#include "engine/state.h"

struct sl_past_sum {
    sl_qnode_id qnode; /* plus one; 0 = none: whose cell it is */
    char *queue, *flavor, *resource;
    __int128 used, nominal; /* times ms */
};
struct sl_past_sums {
    struct sl_past_sum *of; /* by cell */
    uint32_t cap;
};
/* So much time passes with things as they are. Linear in the cells of ClusterQueues. */
void sl_past_sums_add(struct sl_past_sums *s, const struct sl_engine *g, int64_t ms,
                      struct sl_past_pipe *pipe);
/* Writes all as lines, and ends it. */
void sl_past_sums_fini(struct sl_past_sums *s, struct sl_past_pipe *pipe);
#endif
