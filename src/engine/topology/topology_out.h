/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The topology assignment of a workload, as its object has it: status.admission's
 * topologyAssignment and delayedTopologyRequest, and status.unhealthyNodes. An assignment is
 * written as text once, when it is decided, and kept in the admission: names may change afterwards, the
 * assignment does not. */
#ifndef SL_ENGINE_TOPOLOGY_OUT_H
#define SL_ENGINE_TOPOLOGY_OUT_H
#include "engine/state.h"

/* Write the current assignment of the workload's pod sets as text. It has an admission. */
void sl_topology_out_note(struct sl_engine *g, sl_workload_id id);
/* Complete the assignment of a pod set. */
void sl_topology_out_write(const struct sl_engine *g, sl_workload_id id, uint32_t pod_set,
                           struct sl_json *assignment);
/* status.unhealthyNodes as the record has it; absent when no node has failed. */
void sl_topology_out_write_failed(const struct sl_engine *g, const struct sl_workload *record,
                                  struct sl_json *status);
/* The names of the record's failed nodes: "n1, n2", for people. */
void sl_topology_out_list_failed(const struct sl_engine *g, sl_workload_id id, size_t size,
                                 char *out);
#endif
