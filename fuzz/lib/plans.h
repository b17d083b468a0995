/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Plans out of thin air for the little cluster of world.h: of quota, of rooms and of victims, mostly right but for
 * what an event says is wrong with them. Whatever comes of one, the policy is told. */
#ifndef SL_FUZZ_PLANS_H
#define SL_FUZZ_PLANS_H
#include "fuzz/lib/producer.h"

/* Make a plan for some workload, hand it to one of the doors that take plans, and see that a refusal changes
 * nothing. */
void plans_step(struct producer *p);
#endif
