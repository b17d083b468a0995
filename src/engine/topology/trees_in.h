/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Topologies, and the tree that each ResourceFlavor makes of one: its levels, and which nodes are
 * in it. Owns what is known of Topology objects. */
#ifndef SL_ENGINE_TREES_IN_H
#define SL_ENGINE_TREES_IN_H
#include "engine/state.h"

/* The flavor's object (spec NULL: deleted) was seen: its tree is as that says. */
void sl_trees_in_flavor(struct sl_engine *g, sl_flavor_id flavor, const struct sl_json *spec,
                        int64_t now_ms);
/* The tree has other levels now, or a Topology at last, or none any more. */
void sl_trees_in_lay_out(struct sl_engine *g, sl_tree_id tree, int64_t now_ms);
#endif
