/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* AdmissionChecks, and what their controllers mean for topology: with a ProvisioningRequest a
 * workload is placed only once its nodes are there, and with MultiKueue the other cluster places
 * it. Owns what is known of AdmissionCheck objects. */
#ifndef SL_ENGINE_CHECKS_IN_H
#define SL_ENGINE_CHECKS_IN_H
#include "engine/state.h"

/* The ClusterQueue's cells, its checks or one of their objects have changed: which of what it
 * offers waits. */
void sl_checks_in_delay(struct sl_engine *g, sl_node_id node, int64_t now_ms);
/* Is another cluster to place what the queue admits? */
bool sl_checks_in_elsewhere(const struct sl_engine *g, const struct sl_node_entry *n);
/* The names of its checks without an object, separated by commas. */
void sl_checks_in_list_missing(const struct sl_engine *g, const struct sl_node_entry *n,
                               struct sl_buf *out);
/* The names of its checks whose objects say that they cannot be used, separated by commas. */
void sl_checks_in_list_inactive(const struct sl_engine *g, const struct sl_node_entry *n,
                                struct sl_buf *out);
#endif
