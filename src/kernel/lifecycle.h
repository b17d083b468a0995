/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workload records and the only way to change them. Owns sl_workloads. Carries G1 and G7's deactivation. */
#ifndef SL_KERNEL_LIFECYCLE_H
#define SL_KERNEL_LIFECYCLE_H
#include "kernel/status.h"
#include "kernel/types.h"

extern struct sl_workload sl_workloads[SL_WORKLOADS_MAX];

/* Apply one event: the whole transition happens, or a refusal leaves the record alone. */
enum sl_status sl_lifecycle_apply(struct sl_event ev) SL_MUST_CHECK;

/* QuotaReserved and not finished and active (FEATURES 2.1): does its usage count? */
bool sl_lifecycle_holds_quota(sl_workload_id id);

/* May it be put into a queue's heap: pending, active, not gated, not on hold? */
bool sl_lifecycle_admissible(sl_workload_id id);

/* Is a second pass owed: quota held, and a topology that only waits for it, or a failed node to replace? */
bool sl_lifecycle_needs_pass(sl_workload_id id);

/* Is the record sound (WorkloadInv)? The checker for fuzzers and the simulator. */
bool sl_lifecycle_valid(sl_workload_id id);
#endif
