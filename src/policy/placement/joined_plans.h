/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Two plans for one workload become one: that of the pod sets with an assignment, and that of those
 * that come later. Owns the one that was set aside. */
#ifndef SL_POLICY_JOINED_PLANS_H
#define SL_POLICY_JOINED_PLANS_H
#include "kernel/topology/topology.h"
#include "specs/hidden.acsl"

/* Put sl_topology_plan aside. */
/*@ requires plan: PlanBounded; terminates \true; exits \false; assigns sl_hidden; */
void sl_joined_plans_hold(void);
/* Add what was put aside to sl_topology_plan, set by set in their order. No set is in both. False =
 * together they are too large, and the plan is of no use. */
/*@ requires plan: PlanBounded; terminates \true; exits \false;
    assigns sl_hidden, sl_topology_plan; ensures plan: PlanBounded; */
bool sl_joined_plans_join(void);
#endif
