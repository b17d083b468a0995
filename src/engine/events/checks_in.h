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
void sl_checks_in_delay(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms);
/* Is another cluster to place what the queue admits? */
bool sl_checks_in_elsewhere(const struct sl_engine *g, const struct sl_qnode_entry *n);
/* What may be said of a check that a ClusterQueue names. */
enum sl_check_sort {
    SL_CHECK_MISSING,     /* it has no object */
    SL_CHECK_INACTIVE,    /* its controller has not said that it is active */
    SL_CHECK_PROVISIONED, /* it is of the controller of ProvisioningRequests */
    SL_CHECK_ELSEWHERE,   /* it is of MultiKueue */
    SL_CHECK_PER_FLAVOR   /* it is of MultiKueue, and only some flavors ask for it */
};
/* The names of its checks of that sort, in their order, separated by commas. */
void sl_checks_in_list(const struct sl_engine *g, const struct sl_qnode_entry *n,
                       enum sl_check_sort sort, struct sl_buf *out);
#endif
