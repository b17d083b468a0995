/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A superfluous wake-up, for the question whether one was lost. */
#ifndef SL_TESTS_SIM_WAKE_H
#define SL_TESTS_SIM_WAKE_H
#include "engine/engine.h"

/* Whoever is parked, in any queue, is tried again in the next cycles. */
void sim_wake_all(struct sl_engine *g, int64_t now_ms);
#endif
