/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The part of valid.h about time: a workload that waits for a time has an armed timer of its own
 * generation, at that time or before. A timer that fired while it could not be used, and was not
 * armed again, is found here. Second passes have the core's own rule (SL_RULE_PASS_LOST). */
#ifndef SL_ENGINE_VALID_TIMERS_H
#define SL_ENGINE_VALID_TIMERS_H
#include "engine/state.h"

/* A message about a workload that waits for ever (valid until the next question); NULL = none.
 * Linear time. */
const char *sl_valid_timers(const struct sl_engine *g);
#endif
