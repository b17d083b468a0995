/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Outsiders: workloads of namespaces that their ClusterQueue does not select. As in Kueue they are
 * in line like any other. A cycle that comes to one turns it away, and then it waits until that
 * changes: wake-ups pass it over. Owns which workloads are outsiders, and which of them were turned
 * away. */
#ifndef SL_POLICY_OUTSIDERS_H
#define SL_POLICY_OUTSIDERS_H
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* It is an outsider from now on, or no more. At first no workload is. One that was turned away
 * stays so for as long as it is an outsider. Then sl_queues_retry. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_outsiders_set(sl_workload_id id, bool outsider);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_outsiders_is(sl_workload_id id);

/* For the queues: a cycle has turned this outsider away; or it has left the line, and is tried
 * again when it comes back. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_outsiders_turn_away(sl_workload_id id);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_outsiders_forget(sl_workload_id id);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_outsiders_turned_away(sl_workload_id id);
#endif
