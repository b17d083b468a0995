/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preemption only: victims are taken out of the ledger one by one, in a trial, until the
 * preemptor fits; then whoever can be spared is put back. Owns sl_victims. */
#ifndef SL_POLICY_VICTIMS_H
#define SL_POLICY_VICTIMS_H
#include "kernel/types.h"
#include "policy/preemption.h"

/* Open the trial, with no victim; close it with everything as it was before. The list stays. */
void sl_victims_begin(void);
void sl_victims_end(void);

/* One more goes. False: there is no room, in list or trail. */
bool sl_victims_take(sl_workload_id id, enum sl_preempt_reason reason);
/* Would the preemptor fit now, borrowing if it may, and find a place where it asks for one? */
bool sl_victims_suffice(bool may_borrow);
/* Put back whom it does not need, the one taken last but one first. */
void sl_victims_spare(bool may_borrow);
#endif
