/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Capacities: what a site can hold of a measure, what is booked of it, and what is promised. Owns the capacities. */
#ifndef SL_KERNEL_TOPOLOGY_CAPACITY_H
#define SL_KERNEL_TOPOLOGY_CAPACITY_H
#include "kernel/base/status.h"
#include "kernel/base/topology_plan.h"

/* For reading in long scans; index = measure * SL_SITES_MAX + site. */
extern int64_t sl_site_capacity[SL_CAPACITIES_MAX];
extern int64_t sl_site_used[SL_CAPACITIES_MAX];
extern int64_t sl_site_promised[SL_CAPACITIES_MAX];

/* For the kernel: capacities that were promised something, some of them twice. */
extern uint32_t sl_site_promises;
extern uint32_t sl_site_promise_capacities[SL_BOOKINGS_MAX];

/* What a site can hold of a measure, less what pods that no topology workload owns use. It may sink below what is
 * booked: then nothing more is booked there. Refused: BAD_ARGUMENT, AMOUNT. */
/*@
  terminates           \true;
  exits                \false;
  assigns              sl_site_capacity[0 .. SL_CAPACITIES_MAX - 1];
  ensures  kept:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX &&
                         (r != measure * SL_SITES_MAX + site || \result != SL_OK) ==>
                         sl_site_capacity[r] == \old(sl_site_capacity[r]);
  ensures  range:      \result == SL_OK ==> 0 <= amount <= SL_AMOUNT_MAX &&
                         sl_site_capacity[measure * SL_SITES_MAX + site] == amount;
  behavior done:
    assumes range:     site < SL_SITES_MAX && measure < SL_MEASURES_MAX && 0 <= amount <= SL_AMOUNT_MAX;
    assigns            sl_site_capacity[measure * SL_SITES_MAX + site];
    ensures result:    \result == SL_OK;
    ensures capacity:  sl_site_capacity[measure * SL_SITES_MAX + site] == amount;
  behavior refused:
    assumes beyond:    !(site < SL_SITES_MAX && measure < SL_MEASURES_MAX && 0 <= amount <= SL_AMOUNT_MAX);
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_BAD_ARGUMENT || \result == SL_REFUSED_AMOUNT;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_site_set_capacity(sl_site_id site, sl_measure_id measure,
                                    int64_t amount) SL_MUST_CHECK;

/* 0 when out of bounds. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (site < SL_SITES_MAX && measure < SL_MEASURES_MAX
                                     ? sl_site_capacity[measure * SL_SITES_MAX + site] : 0);
*/
int64_t sl_site_capacity_of(sl_site_id site, sl_measure_id measure);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (site < SL_SITES_MAX && measure < SL_MEASURES_MAX
                                     ? sl_site_used[measure * SL_SITES_MAX + site] : 0);
*/
int64_t sl_site_used_of(sl_site_id site, sl_measure_id measure);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (site < SL_SITES_MAX && measure < SL_MEASURES_MAX
                                     ? sl_site_promised[measure * SL_SITES_MAX + site] : 0);
*/
int64_t sl_site_promised_of(sl_site_id site, sl_measure_id measure);
#endif
