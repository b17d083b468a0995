/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Node selectors, affinities and tolerations of pod sets. From them, and from what the flavors say,
 * comes which flavors a workload excludes. */
#ifndef SL_ENGINE_CONSTRAINTS_H
#define SL_ENGINE_CONSTRAINTS_H
#include "engine/records/constraint_table.h"
#include "engine/requests/requests.h"
#include "engine/state.h"

/* What admission checks that are ready have added to the pod sets (podSetUpdates): their pods may
 * go to other nodes from now on. */
void sl_constraints_refine(struct sl_engine *g, sl_workload_id id, const struct sl_json *workload,
                           int64_t now_ms);

/* Take over the pod sets of a Workload object (names and constraints) in place of those known. */
void sl_constraints_take(struct sl_engine *g, struct sl_workload_entry *e,
                         const struct sl_json *workload);
/* Is the object of the same generation as that which they were taken from, and are the same flavors allowed? */
bool sl_constraints_fresh(const struct sl_engine *g, const struct sl_workload_entry *e,
                          const struct sl_json *workload);
void sl_constraints_release(struct sl_engine *g, struct sl_workload_entry *e);

/* Where the core has what that pod set of the workload asks for; SL_NO_ID: nowhere. */
uint32_t sl_constraints_record(sl_workload_id id, uint32_t pod_set);
/* Make the requests in the core again, as one change: counts and requests of `requests` (one per pod set), or,
 * when NULL, those that it has; exclusions from the flavors that the ClusterQueue `qnode`
 * offers now. */
enum sl_status sl_constraints_request(struct sl_engine *g, sl_workload_id id,
                                      const struct sl_requests *requests, sl_qnode_id qnode,
                                      int64_t now_ms);
#endif
