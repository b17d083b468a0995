/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Where each workload is: exactly one place, because it is one field. Membership in a queue is kernel state;
 * the policy's heaps are indexes over it. Owns sl_places. Carries the kernel's part of G8 and G9. */
#ifndef SL_KERNEL_PLACE_H
#define SL_KERNEL_PLACE_H
#include "kernel/status.h"
#include "kernel/types.h"

extern enum sl_place sl_places[SL_WORKLOADS_MAX];

/* SL_PLACE_NONE also for an id that is out of range. */
enum sl_place sl_place_of(sl_workload_id id);

/* Move from `from` to `to`; refused when it is not at `from`, the move is not in model/places.def, or the
 * workload's record does not fit the new place. Taking and giving back quota is commit's business. */
enum sl_status sl_place_move(sl_workload_id id, enum sl_place from, enum sl_place to) SL_MUST_CHECK;

/* For commit only. Hold: quota was taken. Settle: after an event, put the workload where its record now
 * belongs; one that stands in a fitting place stays there. */
void sl_place_hold(sl_workload_id id);
void sl_place_settle(sl_workload_id id);

/* Does the place agree with the record (a holder is among the holders, a finished one is done, ...)? */
bool sl_place_agrees(sl_workload_id id);
#endif
