/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Node selectors, affinities and tolerations of pod sets: most workloads share a few, so each
 * distinct one is kept once. From them, and from what the flavors say, comes which flavors a demand
 * excludes. */
#ifndef SL_ENGINE_CONSTRAINTS_H
#define SL_ENGINE_CONSTRAINTS_H
#include "engine/requests.h"
#include "engine/state.h"

struct sl_constraints *sl_constraints_new(void);
void sl_constraints_free(struct sl_constraints *t);

/* The constraint of that number, as sl_pod_constraint_new has it, with `preferred` terms where the
 * settings look at those; NULL for number 0, which asks for nothing. */
const struct sl_json *sl_constraints_value(const struct sl_engine *g, uint32_t number);

/* What admission checks that are ready have added to the pod sets (podSetUpdates): their pods may
 * stand on other nodes from now on. */
void sl_constraints_refine(struct sl_engine *g, sl_workload_id id, const struct sl_json *workload,
                           int64_t now_ms);

/* Take over the pod sets of a Workload object (names and constraints) in place of those known. */
void sl_constraints_take(struct sl_engine *g, struct sl_workload_entry *e,
                         const struct sl_json *workload);
void sl_constraints_release(struct sl_engine *g, struct sl_workload_entry *e);

/* Make the demand anew, as one change: counts and requests of `requests` (one per pod set), or,
 * when NULL, those that the demand has; exclusions from the flavors that the ClusterQueue `node`
 * offers now. */
enum sl_status sl_constraints_demand(struct sl_engine *g, sl_workload_id id,
                                     const struct sl_requests *requests, sl_node_id node,
                                     int64_t now_ms);
#endif
