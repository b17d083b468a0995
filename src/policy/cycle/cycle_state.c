/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The state that the parts of a cycle share; its headers say what it means. */
#include "policy/cycle/cycle_steps.h"

struct sl_cycle_outcome sl_cycle_outcome;
struct sl_cycle_evicted sl_cycle_evicted;
uint32_t sl_cycle_skipped_preemptions;
uint32_t sl_cycle_recomputed_victims;
int64_t sl_cycle_now_ms;
uint64_t sl_cycle_number;
