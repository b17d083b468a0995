/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preemption only: classical preemption, by priority and by place in the quota forest. Answers
 * sl_preemption_question in sl_victims. */
#ifndef SL_POLICY_PREEMPTION_CLASSICAL_H
#define SL_POLICY_PREEMPTION_CLASSICAL_H
#include <stdint.h>

uint32_t sl_preemption_find_classical(int64_t now_ms);
#endif
