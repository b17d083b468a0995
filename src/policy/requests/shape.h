/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* When two workloads of one queue ask for the same: with the same priority, as many pods and as few
 * at least, the same requests, the same flavors excluded, the same asked of the topology, the same
 * pod sets grouped, and the same fingerprint of what the shell alone knows, pod set by pod set.
 * Where one of them finds no place the other finds none either; priority belongs to it because it
 * decides which workloads it may preempt. The fingerprint decides nothing: it sets apart what Kueue
 * sets apart (docs/decisions/0021). A workload whose priority or requests change has to leave its
 * lane, scouts included. Owns nothing. */
#ifndef SL_POLICY_SHAPE_H
#define SL_POLICY_SHAPE_H
#include "kernel/base/types.h"

/*@ terminates \true; exits \false; assigns \nothing; */
uint64_t sl_shape_hash(sl_workload_id id);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_shape_equal(sl_workload_id a, sl_workload_id b);
#endif
