/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Why pods have no place in a topology, in Kueue's words; what Sluice knows beside them follows behind. Owns nothing. */
#ifndef SL_ENGINE_UNPLACED_H
#define SL_ENGINE_UNPLACED_H
#include "engine/conditions/clauses.h"

/* From sl_assignment.topology_failure, of a pod set of that workload. True: it is an error that ends the search, and no
 * clause among others. */
bool sl_clause_of_placement(const struct sl_engine *g, sl_workload_id id,
                            char out[static SL_CLAUSE_SIZE]);
#endif
