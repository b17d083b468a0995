/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rooms: what a site can hold of a measure, what is booked of it, and what is promised. Owns the rooms. */
#ifndef SL_KERNEL_TOPOLOGY_ROOMS_H
#define SL_KERNEL_TOPOLOGY_ROOMS_H
#include "kernel/base/status.h"
#include "kernel/base/topology_plan.h"

/* For reading in long scans; index = measure * SL_SITES_MAX + site. */
extern int64_t sl_room_capacity[SL_ROOMS_MAX];
extern int64_t sl_room_used[SL_ROOMS_MAX];
extern int64_t sl_room_promised[SL_ROOMS_MAX];

/* For the kernel: rooms that were promised something, some of them twice. */
extern uint32_t sl_room_promises;
extern uint32_t sl_room_promise_rooms[SL_BOOKINGS_MAX];

/* What a site can hold of a measure, less what pods that no topology workload owns use. It may sink below what is
 * booked: then nothing more is booked there. Refused: BAD_ARGUMENT, AMOUNT. */
/*@
  terminates           \true;
  exits                \false;
  assigns              sl_room_capacity[0 .. SL_ROOMS_MAX - 1];
  ensures  kept:       \forall integer r; 0 <= r < SL_ROOMS_MAX &&
                         (r != measure * SL_SITES_MAX + site || \result != SL_OK) ==>
                         sl_room_capacity[r] == \old(sl_room_capacity[r]);
  ensures  range:      \result == SL_OK ==> 0 <= amount <= SL_AMOUNT_MAX &&
                         sl_room_capacity[measure * SL_SITES_MAX + site] == amount;
  behavior done:
    assumes range:     site < SL_SITES_MAX && measure < SL_MEASURES_MAX && 0 <= amount <= SL_AMOUNT_MAX;
    assigns            sl_room_capacity[measure * SL_SITES_MAX + site];
    ensures result:    \result == SL_OK;
    ensures capacity:  sl_room_capacity[measure * SL_SITES_MAX + site] == amount;
  behavior refused:
    assumes beyond:    !(site < SL_SITES_MAX && measure < SL_MEASURES_MAX && 0 <= amount <= SL_AMOUNT_MAX);
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_BAD_ARGUMENT || \result == SL_REFUSED_AMOUNT;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_room_set_capacity(sl_site_id site, sl_measure_id measure,
                                    int64_t amount) SL_MUST_CHECK;

/* 0 when out of bounds. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (site < SL_SITES_MAX && measure < SL_MEASURES_MAX
                                     ? sl_room_capacity[measure * SL_SITES_MAX + site] : 0);
*/
int64_t sl_room_capacity_of(sl_site_id site, sl_measure_id measure);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (site < SL_SITES_MAX && measure < SL_MEASURES_MAX
                                     ? sl_room_used[measure * SL_SITES_MAX + site] : 0);
*/
int64_t sl_room_used_of(sl_site_id site, sl_measure_id measure);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (site < SL_SITES_MAX && measure < SL_MEASURES_MAX
                                     ? sl_room_promised[measure * SL_SITES_MAX + site] : 0);
*/
int64_t sl_room_promised_of(sl_site_id site, sl_measure_id measure);
#endif
