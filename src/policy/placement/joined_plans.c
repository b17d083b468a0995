/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Joined plans: both are in the order of their pod sets, and so is what comes of merging them. */
#include "policy/placement/joined_plans.h"

/* What was set aside, and the old plan while it is written again. */
enum aside { HELD, OWN, ASIDES };
static struct sl_topology_plan plans[ASIDES];

/*@
  predicate AsideBounded{L}(integer a) = plans[a].set_count <= SL_TOPOLOGY_SETS_MAX &&
    plans[a].row_count <= SL_TOPOLOGY_ROWS_MAX;
*/

/*@ requires plan: PlanBounded && a < ASIDES; terminates \true; exits \false; assigns plans[a];
    ensures bounded: AsideBounded(a); */
static void put_aside(enum aside a)
{
    plans[a].workload = sl_topology_plan.workload;
    plans[a].set_count = sl_topology_plan.set_count;
    plans[a].row_count = sl_topology_plan.row_count;
    /*@
      loop assigns i, plans[a].sets[0 .. SL_TOPOLOGY_SETS_MAX - 1];
      loop variant sl_topology_plan.set_count - i;
    */
    for (uint32_t i = 0; i < sl_topology_plan.set_count; i++) {
        plans[a].sets[i] = sl_topology_plan.sets[i];
    }
    /*@
      loop assigns i, plans[a].rows[0 .. SL_TOPOLOGY_ROWS_MAX - 1];
      loop variant sl_topology_plan.row_count - i;
    */
    for (uint32_t i = 0; i < sl_topology_plan.row_count; i++) {
        plans[a].rows[i] = sl_topology_plan.rows[i];
    }
}

/*@ requires index: a < ASIDES && index < SL_TOPOLOGY_SETS_MAX &&
      sl_topology_plan.set_count < SL_TOPOLOGY_SETS_MAX &&
      sl_topology_plan.row_count <= SL_TOPOLOGY_ROWS_MAX;
    terminates \true; exits \false; assigns sl_topology_plan;
    ensures bounded: sl_topology_plan.set_count == \old(sl_topology_plan.set_count) + 1 &&
      sl_topology_plan.row_count <= SL_TOPOLOGY_ROWS_MAX; */
static void append(enum aside a, uint32_t index)
{
    uint32_t at = plans[a].sets[index].first_row;
    uint32_t count = plans[a].sets[index].row_count;
    sl_topology_plan.sets[sl_topology_plan.set_count] = plans[a].sets[index];
    sl_topology_plan.sets[sl_topology_plan.set_count].first_row = sl_topology_plan.row_count;
    sl_topology_plan.set_count++;
    /*@
      loop invariant bounded: sl_topology_plan.row_count <= SL_TOPOLOGY_ROWS_MAX;
      loop assigns i, at, sl_topology_plan.row_count,
                   sl_topology_plan.rows[0 .. SL_TOPOLOGY_ROWS_MAX - 1];
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count && at < SL_TOPOLOGY_ROWS_MAX &&
                         sl_topology_plan.row_count < SL_TOPOLOGY_ROWS_MAX;
         i++) {
        sl_topology_plan.rows[sl_topology_plan.row_count] = plans[a].rows[at];
        sl_topology_plan.row_count++;
        at++;
    }
}

/*@ requires plan: PlanBounded; terminates \true; exits \false; assigns plans[HELD];
    ensures held: AsideBounded(HELD); */
void sl_joined_plans_hold(void)
{
    put_aside(HELD);
}

/*@ requires plan: PlanBounded; requires held: AsideBounded(HELD); terminates \true; exits \false;
    assigns plans[OWN], sl_topology_plan; ensures held: AsideBounded(HELD); */
bool sl_joined_plans_join(void)
{
    uint32_t a = 0;
    uint32_t b = 0;
    put_aside(OWN);
    if (plans[OWN].set_count + plans[HELD].set_count > SL_TOPOLOGY_SETS_MAX ||
        plans[OWN].row_count + plans[HELD].row_count > SL_TOPOLOGY_ROWS_MAX) {
        return false;
    }
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
    /*@
      loop invariant counted: a <= plans[OWN].set_count && b <= plans[HELD].set_count &&
        sl_topology_plan.set_count == a + b && sl_topology_plan.row_count <= SL_TOPOLOGY_ROWS_MAX;
      loop assigns a, b, sl_topology_plan;
      loop variant plans[OWN].set_count + plans[HELD].set_count - a - b;
    */
    while (a < plans[OWN].set_count || b < plans[HELD].set_count) {
        if (b == plans[HELD].set_count ||
            (a < plans[OWN].set_count &&
             plans[OWN].sets[a].pod_set < plans[HELD].sets[b].pod_set)) {
            append(OWN, a);
            a++;
        } else {
            append(HELD, b);
            b++;
        }
    }
    return true;
}
