/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Where each workload is: exactly one place, because it is one field. Membership in a queue is kernel state;
 * the policy's heaps are indexes over it. Owns sl_places. Carries the kernel's part of G8 and G9. */
#ifndef SL_KERNEL_PLACE_H
#define SL_KERNEL_PLACE_H
#include "kernel/status.h"
#include "kernel/types.h"

enum sl_place sl_place_of(sl_workload_id id);

/* Move from `from` to `to`; refused when it is not at `from` or the move is not in model/places.def. */
enum sl_status sl_place_move(sl_workload_id id, enum sl_place from, enum sl_place to) SL_MUST_CHECK;

/* Does the place agree with the record (a holder is among the holders, a finished one is done, ...)? */
bool sl_place_agrees(sl_workload_id id);
#endif
