/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Preemption gates: as long as one of a workload's gates is closed it may take what is free, and preempts no workload. The
 * shell reads which gates there are; owns whether one is closed, and who has not been tried since that changed: it is tried once
 * by itself, though others of its shape are parked. They were tried without it, and who opens gates waits for what is said
 * of it. */
#ifndef SL_POLICY_PREEMPTION_GATE_H
#define SL_POLICY_PREEMPTION_GATE_H
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* One of its gates is closed from now on, or none. At first none is. Then sl_queues_retry. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_preemption_gate_set(sl_workload_id id, bool closed);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_preemption_gate_closed(sl_workload_id id);
/* Has it not been tried since its gates were set? */
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_preemption_gate_is_news(sl_workload_id id);
/* It is tried, or not there any more. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_preemption_gate_note_tried(sl_workload_id id);
#endif
