/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Checkers, for tests, fuzzers and the simulator. They rely on nothing that they check. */
#include "kernel/topology.h"

/*@
  requires ids:        domain < SL_DOMAINS_MAX && k < SL_DEPTHS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> AncestorValid(domain, k);
*/
static bool ancestor_valid(sl_domain_id domain, uint32_t k)
{
    sl_domain_id up = sl_domain_up[domain][k];
    return up < SL_DOMAINS_MAX && sl_domain_trees[up] == sl_domain_trees[domain] &&
           sl_domain_depths[up] == k && sl_domain_sites[up] == 0;
}

/* Does it know itself and its parent? */
/*@
  requires ids:        domain < SL_DOMAINS_MAX && sl_domain_depths[domain] < SL_DEPTHS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result ==> sl_domain_up[domain][sl_domain_depths[domain]] == domain &&
                         sl_domain_sites[domain] <= SL_SITES_MAX && sl_domain_parents[domain] ==
                           (sl_domain_depths[domain] == 0 ? 0
                              : sl_domain_up[domain][sl_domain_depths[domain] - 1] + 1);
*/
static bool links_valid(sl_domain_id domain)
{
    uint32_t depth = sl_domain_depths[domain];
    if (sl_domain_up[domain][depth] != domain || sl_domain_sites[domain] > SL_SITES_MAX) {
        return false;
    }
    return depth == 0 ? sl_domain_parents[domain] == 0
                      : sl_domain_up[domain][depth - 1] < SL_DOMAINS_MAX &&
                            sl_domain_parents[domain] == sl_domain_up[domain][depth - 1] + 1;
}

/*@
  requires id:         domain < SL_DOMAINS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result ==> DomainValid(domain);
*/
static bool domain_valid(sl_domain_id domain)
{
    if (sl_domain_depths[domain] >= SL_DEPTHS_MAX || !links_valid(domain)) {
        return false;
    }
    /*@
      loop invariant index: 0 <= k <= sl_domain_depths[domain];
      loop invariant valid: \forall integer j; 0 <= j < k ==> AncestorValid(domain, j);
      loop assigns          k;
      loop variant          sl_domain_depths[domain] - k;
    */
    for (uint32_t k = 0; k < sl_domain_depths[domain]; k++) {
        if (!ancestor_valid(domain, k)) {
            return false;
        }
    }
    return true;
}

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result ==> DomainsValid && sl_domain_site_limit <= SL_SITES_MAX;
*/
static bool domains_valid(void)
{
    if (sl_domain_limit > SL_DOMAINS_MAX || sl_domain_site_limit > SL_SITES_MAX) {
        return false;
    }
    /*@
      loop invariant index: 0 <= d <= sl_domain_limit;
      loop invariant valid: \forall integer e; 0 <= e < d && DomainOpen(e) ==> DomainValid(e);
      loop assigns          d;
      loop variant          sl_domain_limit - d;
    */
    for (sl_domain_id d = 0; d < sl_domain_limit; d++) {
        bool good = sl_domain_trees[d] != 0
                        ? domain_valid(d)
                        : sl_domain_stands[d] == 0 && sl_domain_children[d] == 0;
        if (!good) {
            return false;
        }
    }
    return true;
}

/*@
  requires id:         id < SL_WORKLOADS_MAX;
  requires block:      sl_booking_firsts[id] + sl_booking_counts[id] <= SL_BOOKINGS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> \forall integer b; sl_booking_firsts[id] <= b <
                         sl_booking_firsts[id] + sl_booking_counts[id] ==> RowValid(id, b);
*/
static bool rows_valid(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    /*@
      loop invariant index: 0 <= i <= sl_booking_counts[id];
      loop invariant valid: \forall integer b; first <= b < first + i ==> RowValid(id, b);
      loop assigns          i;
      loop variant          sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        if (sl_booking_owners[first + i] != id + 1 || sl_booking_rooms[first + i] >= SL_ROOMS_MAX ||
            sl_booking_amounts[first + i] < 0 || sl_booking_amounts[first + i] > SL_AMOUNT_MAX) {
            return false;
        }
    }
    return true;
}

/*@
  requires id:         id < SL_WORKLOADS_MAX;
  requires block:      sl_booking_firsts[id] + sl_stand_counts[id] <= SL_BOOKINGS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> \forall integer b; sl_booking_firsts[id] <= b <
                         sl_booking_firsts[id] + sl_stand_counts[id] ==> StandValid(b);
*/
static bool stands_valid(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    /*@
      loop invariant index: 0 <= i <= sl_stand_counts[id];
      loop invariant valid: \forall integer b; first <= b < first + i ==> StandValid(b);
      loop assigns          i;
      loop variant          sl_stand_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_stand_counts[id]; i++) {
        if (!sl_domain_is_open(sl_stand_domains[first + i]) || sl_stand_pods[first + i] == 0) {
            return false;
        }
    }
    return true;
}

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result ==> sl_booking_workload_limit <= SL_WORKLOADS_MAX &&
                         BlocksValid(sl_booking_workload_limit);
*/
static bool blocks_valid(void)
{
    if (sl_booking_workload_limit > SL_WORKLOADS_MAX) {
        return false;
    }
    /*@
      loop invariant index: 0 <= id <= sl_booking_workload_limit;
      loop invariant valid: BlocksValid(id);
      loop assigns          id;
      loop variant          sl_booking_workload_limit - id;
    */
    for (sl_workload_id id = 0; id < sl_booking_workload_limit; id++) {
        if (sl_booking_firsts[id] > SL_BOOKINGS_MAX ||
            sl_booking_counts[id] > SL_BOOKINGS_MAX - sl_booking_firsts[id] ||
            sl_stand_counts[id] > sl_booking_counts[id] || !rows_valid(id) || !stands_valid(id)) {
            return false;
        }
    }
    return true;
}

/* Add what the workload has booked to the scratch array; false when there is more of a room than may be. */
/*@
  requires block:      id < SL_WORKLOADS_MAX && BlockValid(id);
  terminates           \true;
  exits                \false;
  assigns              sl_room_change[0 .. SL_ROOMS_MAX - 1];
*/
static bool add_up(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    /*@
      loop invariant index: 0 <= i <= sl_booking_counts[id];
      loop assigns          i, sl_room_change[0 .. SL_ROOMS_MAX - 1];
      loop variant          sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        uint32_t room = sl_booking_rooms[first + i];
        //@ assert row: RowValid(id, first + i);
        if (sl_room_change[room] > SL_AMOUNT_MAX - sl_booking_amounts[first + i]) {
            return false;
        }
        sl_room_change[room] += sl_booking_amounts[first + i];
    }
    return true;
}

/* Make the scratch array zero again wherever the workload has booked something. */
/*@
  requires block:      id < SL_WORKLOADS_MAX && BlockValid(id);
  terminates           \true;
  exits                \false;
  assigns              sl_room_change[0 .. SL_ROOMS_MAX - 1];
*/
static void clear(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    /*@
      loop invariant index: 0 <= i <= sl_booking_counts[id];
      loop assigns          i, sl_room_change[0 .. SL_ROOMS_MAX - 1];
      loop variant          sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        //@ assert row: RowValid(id, first + i);
        sl_room_change[sl_booking_rooms[first + i]] = 0;
    }
}

/* Is what is used of the measure on each site what was added up? */
/*@
  requires measure:    measure < SL_MEASURES_MAX && sl_domain_site_limit <= SL_SITES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
*/
static bool used_valid(sl_measure_id measure)
{
    /*@
      loop invariant index: 0 <= i <= sl_domain_site_limit;
      loop assigns          i;
      loop variant          sl_domain_site_limit - i;
    */
    for (uint32_t i = 0; i < sl_domain_site_limit; i++) {
        uint32_t room = measure * SL_SITES_MAX + i;
        if (sl_room_used[room] != sl_room_change[room]) {
            return false;
        }
    }
    return true;
}

bool sl_topology_valid(void)
{
    if (!domains_valid() || !blocks_valid()) {
        return false;
    }
    bool good = true;
    /*@
      loop invariant index: 0 <= id <= sl_booking_workload_limit;
      loop assigns          id, good, sl_room_change[0 .. SL_ROOMS_MAX - 1];
      loop variant          sl_booking_workload_limit - id;
    */
    for (sl_workload_id id = 0; id < sl_booking_workload_limit; id++) {
        good = add_up(id) && good;
    }
    /*@
      loop invariant index: 0 <= m <= SL_MEASURES_MAX;
      loop assigns          m, good;
      loop variant          SL_MEASURES_MAX - m;
    */
    for (sl_measure_id m = 0; m < SL_MEASURES_MAX; m++) {
        good = good && used_valid(m);
    }
    /*@
      loop invariant index: 0 <= id <= sl_booking_workload_limit;
      loop assigns          id, sl_room_change[0 .. SL_ROOMS_MAX - 1];
      loop variant          sl_booking_workload_limit - id;
    */
    for (sl_workload_id id = 0; id < sl_booking_workload_limit; id++) {
        clear(id);
    }
    return good;
}
