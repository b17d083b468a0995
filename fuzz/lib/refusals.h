/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the kernel refuses of policy's plans is counted, by reason, and said when the process ends. A refusal that
 * refusals.def does not explain ends the process: a head whose plan is refused again and again waits for ever. */
#ifndef SL_FUZZ_REFUSALS_H
#define SL_FUZZ_REFUSALS_H
#include "policy/cycle/cycle.h"

void refusals_begin(void); /* with each cycle */
void refusals_note(const struct sl_cycle_outcome *o);
#endif
