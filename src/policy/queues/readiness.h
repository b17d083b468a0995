/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whether the pods of all workloads that hold quota are ready, for blockAdmission: while some are
 * not, no other workload is admitted. Owns the count and the list of queues that wait for it. */
#ifndef SL_POLICY_READINESS_H
#define SL_POLICY_READINESS_H
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* Look at the workload's record again: does it hold quota without its pods being ready? When it
 * was the last one, the queues that wait are marked to be looked at (turns.h). */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_readiness_watch(sl_workload_id id, bool holds);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_readiness_all(void);
/* This queue's head was refused because of it. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_readiness_wait(sl_qnode_id queue);
#endif
