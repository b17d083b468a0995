/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Apart from sim.h: what the engine keeps and what controllers keep of pod sets have one name. */
#include "wake.h"
#include "engine/calls/call.h"
#include "engine/state.h"

void sim_wake_all(struct sl_engine *g, int64_t now_ms)
{
    for (sl_qnode_id qnode = 0; qnode < g->qnode_cap; qnode++) {
        if (g->qnodes[qnode] != NULL) {
            sl_tell(g, now_ms, wake_tree, .qnode = qnode);
        }
    }
}
