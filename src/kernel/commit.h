/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The only door through which workload, ledger and places change together. Owns the claims that workloads
 * hold. Carries G1, G2, G3 and G8 across modules. */
#ifndef SL_KERNEL_COMMIT_H
#define SL_KERNEL_COMMIT_H
#include "kernel/plan.h"
#include "kernel/status.h"
#include "kernel/types.h"

/* Would sl_plan be accepted? No effect. */
enum sl_status sl_commit_check(void) SL_MUST_CHECK;

/* Apply all of sl_plan (place IN_FLIGHT -> HOLDING, claims charged, record reserved or admitted), or refuse
 * it whole with every array as it was. */
enum sl_status sl_commit_apply(void) SL_MUST_CHECK;

/* As apply, for what the API says is already reserved (restart): no availability asked; from ORPHANED. */
enum sl_status sl_commit_restore(void) SL_MUST_CHECK;

/* Apply a lifecycle event and all that follows from it: claims released when quota no longer counts, place
 * moved. A workload that becomes pending and may be queued goes to INADMISSIBLE; policy then decides whether
 * it goes on to the heap. A newly created one starts at ORPHANED. */
enum sl_status sl_commit_event(struct sl_event ev) SL_MUST_CHECK;

/* What a workload holds. */
uint32_t sl_commit_claim_count(sl_workload_id id);
struct sl_claim sl_commit_claim(sl_workload_id id, uint32_t index);

bool sl_commit_valid(void); /* every cell's own usage is the sum of the claims on it; linear time */
#endif
