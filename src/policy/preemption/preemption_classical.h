/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preemption only: classical preemption, by priority and by place in the quota forest. Answers
 * sl_preemption_question in sl_victims. */
#ifndef SL_POLICY_PREEMPTION_CLASSICAL_H
#define SL_POLICY_PREEMPTION_CLASSICAL_H
#include "policy/preemption/preemption.h"
#include "specs/victims.acsl"

/*@ requires ready: PreemptionReady && QuestionAsked; terminates \true; exits \false;
    assigns sl_hidden, SL_SOUGHT;
    ensures ready: PreemptionReady;
    ensures back: TakenBack{Pre, Post};
    ensures victims: VictimsSound && \result == sl_victims.count; */
uint32_t sl_preemption_find_classical(int64_t now_ms);
#endif
