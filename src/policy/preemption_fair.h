/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preemption only: preemption by fair sharing. Answers sl_preemption_question in
 * sl_victims. */
#ifndef SL_POLICY_PREEMPTION_FAIR_H
#define SL_POLICY_PREEMPTION_FAIR_H
#include <stdint.h>

uint32_t sl_preemption_find_fair(int64_t now_ms);
#endif
