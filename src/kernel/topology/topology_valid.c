/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Checkers, for tests, fuzzers and the simulator. They rely on nothing that they check. */
#include "kernel/topology/topology.h"
#include "kernel/topology/topology_valid.h"

/* Is the domain's ancestor at depth k one of the same tree, with the same ancestors up to there? */
/*@
  requires ids:        domain < SL_DOMAINS_MAX && k < SL_DEPTHS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> AncestorSound(domain, k);
*/
static bool ancestor_sound(sl_domain_id domain, uint32_t k)
{
    sl_domain_id up = sl_domain_up[domain][k];
    if (up >= SL_DOMAINS_MAX || sl_domain_trees[up] != sl_domain_trees[domain] ||
        sl_domain_depths[up] != k || sl_domain_sites[up] != 0) {
        return false;
    }
    /*@
      loop invariant index: 0 <= j <= k + 1;
      loop invariant same:  \forall integer i; 0 <= i < j ==> sl_domain_up[up][i] == sl_domain_up[domain][i];
      loop assigns          j;
      loop variant          k + 1 - j;
    */
    for (uint32_t j = 0; j <= k; j++) {
        if (sl_domain_up[up][j] != sl_domain_up[domain][j]) {
            return false;
        }
    }
    return true;
}

/* Does it know itself and its parent? */
/*@
  requires ids:        domain < SL_DOMAINS_MAX && sl_domain_depths[domain] < SL_DEPTHS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> sl_domain_up[domain][sl_domain_depths[domain]] == domain &&
                         sl_domain_sites[domain] <= SL_SITES_MAX &&
                         (sl_domain_depths[domain] > 0 ==>
                            sl_domain_up[domain][sl_domain_depths[domain] - 1] < SL_DOMAINS_MAX) &&
                         sl_domain_parents[domain] ==
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
  ensures  result:     \result <==> DomainSound(domain);
*/
static bool domain_sound(sl_domain_id domain)
{
    if (sl_domain_depths[domain] >= SL_DEPTHS_MAX || !links_valid(domain)) {
        //@ assert parent: sl_domain_depths[domain] > 0 && DomainSound(domain) ==> AncestorSound(domain, sl_domain_depths[domain] - 1);
        return false;
    }
    /*@
      loop invariant index: 0 <= k <= sl_domain_depths[domain];
      loop invariant sound: \forall integer j; 0 <= j < k ==> AncestorSound(domain, j);
      loop assigns          k;
      loop variant          sl_domain_depths[domain] - k;
    */
    for (uint32_t k = 0; k < sl_domain_depths[domain]; k++) {
        if (!ancestor_sound(domain, k)) {
            return false;
        }
    }
    return true;
}

/*@
  requires id:         domain < SL_DOMAINS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> DomainShut(domain);
*/
static bool domain_shut(sl_domain_id domain)
{
    return sl_domain_assigned[domain] == 0 && sl_domain_children[domain] == 0 &&
           sl_domain_parents[domain] == 0 && sl_domain_sites[domain] == 0;
}

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> sl_domain_limit <= SL_DOMAINS_MAX && sl_domain_site_limit <= SL_SITES_MAX &&
                         DomainsValid && DomainsShut;
*/
static bool domains_valid(void)
{
    if (sl_domain_limit > SL_DOMAINS_MAX || sl_domain_site_limit > SL_SITES_MAX) {
        return false;
    }
    /*@
      loop invariant index: 0 <= d <= sl_domain_limit;
      loop invariant valid: \forall integer e; 0 <= e < d && DomainOpen(e) ==> DomainSound(e);
      loop invariant shut:  \forall integer e; 0 <= e < d && !DomainOpen(e) ==> DomainShut(e);
      loop assigns          d;
      loop variant          sl_domain_limit - d;
    */
    for (sl_domain_id d = 0; d < sl_domain_limit; d++) {
        bool good = sl_domain_trees[d] != 0 ? domain_sound(d) : domain_shut(d);
        if (!good) {
            return false;
        }
    }
    return true;
}

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> CapacityKnown(capacity);
*/
static bool capacity_known(uint32_t capacity)
{
    return capacity < SL_CAPACITIES_MAX && capacity % SL_SITES_MAX < sl_domain_site_limit;
}

/*@
  requires id:         id < SL_WORKLOADS_MAX && row < SL_BOOKINGS_MAX;
  requires assignments:     sl_booking_firsts[id] + sl_assigned_counts[id] <= SL_BOOKINGS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> RowValid(id, row);
*/
static bool row_valid(sl_workload_id id, uint32_t row)
{
    bool assignments = row < sl_booking_firsts[id] + sl_assigned_counts[id];
    return sl_booking_owners[row] == id + 1 && capacity_known(sl_booking_capacities[row]) &&
           sl_booking_amounts[row] >= 0 && sl_booking_amounts[row] <= SL_AMOUNT_MAX &&
           (sl_assigned_pods[row] > 0) == assignments;
}

/*@
  requires row:        row < SL_BOOKINGS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> AssignmentValid(row);
*/
static bool assignment_valid(uint32_t row)
{
    return sl_domain_is_open(sl_assigned_domains[row]) &&
           sl_domain_sites[sl_assigned_domains[row]] != 0;
}

/*@
  requires id:         id < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> BlockValid(id);
*/
static bool block_valid(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    uint32_t assignments = sl_assigned_counts[id];
    if (first > SL_BOOKINGS_MAX || sl_booking_counts[id] > SL_BOOKINGS_MAX - first ||
        assignments > sl_booking_counts[id]) {
        return false;
    }
    /*@
      loop invariant index:  0 <= i <= sl_booking_counts[id];
      loop invariant valid:  \forall integer b; first <= b < first + i ==> RowValid(id, b);
      loop invariant assignments: \forall integer b; first <= b < first + i && b < first + assignments ==> AssignmentValid(b);
      loop assigns           i;
      loop variant           sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        if (!row_valid(id, first + i) || (i < assignments && !assignment_valid(first + i))) {
            return false;
        }
    }
    return true;
}

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> sl_booking_workload_limit <= SL_WORKLOADS_MAX &&
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
        if (!block_valid(id)) {
            return false;
        }
    }
    return true;
}

bool sl_topology_valid(void)
{
    return domains_valid() && blocks_valid() && sl_topology_capacity_valid();
}
