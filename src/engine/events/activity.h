/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Can a ClusterQueue admit workloads, and if not, why? Its condition Active says so, with Kueue's
 * reasons and sentences, which programs compare. */
#ifndef SL_ENGINE_ACTIVITY_H
#define SL_ENGINE_ACTIVITY_H
#include "engine/state.h"

/* The reason of Active: "Ready" when it can, else the first of what is in the way. The sentence,
 * which names all of it, is added to `text`. */
const char *sl_activity_judge(const struct sl_engine *g, sl_qnode_id qnode, struct sl_buf *text);
/* Is the qnode in a cycle of cohorts, or below one? */
bool sl_qnode_in_loop(const struct sl_engine *g, sl_qnode_id qnode);
#endif
