/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The gate of the second pass and its timers. An entry is keyed by (workload, generation); need is judged
 * on the live record when the pass is taken. Owns the second-pass entries. Carries G5. */
#ifndef SL_KERNEL_SECOND_PASS_H
#define SL_KERNEL_SECOND_PASS_H
#include "kernel/status.h"
#include "kernel/types.h"

bool sl_second_pass_needed(sl_workload_id id);

/* Arm the pass: due after min(2^iteration, 30) s. Arming an armed workload never releases anything. */
enum sl_status sl_second_pass_arm(sl_workload_id id, uint32_t iteration, int64_t now_ms) SL_MUST_CHECK;
void sl_second_pass_cancel(sl_workload_id id);

/* Take the pass of `id` if it is due and still needed; a stale or unneeded entry is removed and refused. */
enum sl_status sl_second_pass_take(sl_workload_id id, int64_t now_ms) SL_MUST_CHECK;

/* The armed entries, in no particular order: for finding what is due. */
uint32_t sl_second_pass_count(void);
sl_workload_id sl_second_pass_at(uint32_t index);
int64_t sl_second_pass_due_ms(sl_workload_id id);
bool sl_second_pass_valid(void);
#endif
