/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pods by domain, and the list of the domains that have any, by which it is emptied again. */
#include "policy/placement/held_places.h"

static uint32_t pods_on[SL_DOMAINS_MAX];
static struct {
    uint32_t count;
    sl_domain_id domains[SL_DOMAINS_MAX];
} listed;

/* clang-format off */
#define LISTED pods_on[0 .. SL_DOMAINS_MAX - 1], listed
/* clang-format on */
/*@
  predicate HeldListed{L} = listed.count <= SL_DOMAINS_MAX &&
    \forall integer i; 0 <= i < listed.count ==> listed.domains[i] < SL_DOMAINS_MAX;
*/

/*@ requires listed: HeldListed; terminates \true; exits \false; assigns LISTED;
    ensures listed: HeldListed && listed.count == 0; */
static void forget(void)
{
    /*@
      loop invariant listed: HeldListed;
      loop assigns listed.count, pods_on[0 .. SL_DOMAINS_MAX - 1];
      loop variant listed.count;
    */
    while (listed.count > 0) {
        listed.count--;
        pods_on[listed.domains[listed.count]] = 0;
    }
}

/* A domain has one row of each pod set; were it two, the second would count. */
/*@ requires listed: HeldListed; terminates \true; exits \false; assigns LISTED;
    ensures listed: HeldListed; */
static void add(sl_domain_id domain, uint32_t pods)
{
    if (domain < SL_DOMAINS_MAX && listed.count < SL_DOMAINS_MAX) {
        listed.domains[listed.count] = domain;
        listed.count++;
        pods_on[domain] = pods;
    }
}

/*@ requires listed: HeldListed; terminates \true; exits \false; assigns LISTED;
    ensures listed: HeldListed; */
void sl_held_places_list(sl_workload_id id, uint32_t pod_set)
{
    uint32_t count = sl_topology_assignment_count(id);
    forget();
    /*@
      loop invariant listed: HeldListed;
      loop assigns i, LISTED;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_domain_assignment row = sl_topology_assignment_at(id, i);
        if (row.pod_set == pod_set) {
            add(row.domain, row.count);
        }
    }
}

uint32_t sl_held_places_on(sl_domain_id domain)
{
    return domain < SL_DOMAINS_MAX ? pods_on[domain] : 0;
}

/* --- what goes beyond them --------------------------------------------------------------------- */

/* The rows of a set move up to `to`, without the pods that are there. How many rows are left. */
/*@ requires to: to <= first && first + count <= SL_TOPOLOGY_ROWS_MAX; terminates \true;
    exits \false; assigns sl_topology_plan.rows[0 .. SL_TOPOLOGY_ROWS_MAX - 1];
    ensures fewer: \result <= count; */
static uint32_t move_rows(uint32_t to, uint32_t first, uint32_t count)
{
    uint32_t kept = 0;
    /*@
      loop invariant kept: kept <= i <= count;
      loop assigns i, kept, sl_topology_plan.rows[0 .. SL_TOPOLOGY_ROWS_MAX - 1];
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_topology_row row = sl_topology_plan.rows[first + i];
        uint32_t held = sl_held_places_on(row.domain);
        if (row.count > held) {
            row.count -= held;
            sl_topology_plan.rows[to + kept] = row;
            kept++;
        }
    }
    return kept;
}

/* Their pods; more than a plan may have is more than any node has, and refused. */
/*@ requires rows: first + count <= SL_TOPOLOGY_ROWS_MAX; terminates \true; exits \false;
    assigns \nothing; */
static uint32_t pods_in(uint32_t first, uint32_t count)
{
    uint32_t pods = 0;
    /*@ loop assigns i, pods; loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t more = sl_topology_plan.rows[first + i].count;
        pods = more <= UINT32_MAX - pods ? pods + more : UINT32_MAX;
    }
    return pods;
}

/* Set `s` becomes set `to`, whose rows come next; false = nothing is left of it. */
/*@ requires sets: to <= s < SL_TOPOLOGY_SETS_MAX;
    requires rows: sl_topology_plan.row_count <= first && first + count <= SL_TOPOLOGY_ROWS_MAX;
    terminates \true; exits \false;
    assigns sl_topology_plan.sets[0 .. SL_TOPOLOGY_SETS_MAX - 1], sl_topology_plan.row_count,
            sl_topology_plan.rows[0 .. SL_TOPOLOGY_ROWS_MAX - 1];
    ensures rows: sl_topology_plan.row_count <= first + count; */
static bool move_set(uint32_t to, uint32_t s, uint32_t first, uint32_t count)
{
    uint32_t at = sl_topology_plan.row_count;
    uint32_t kept = move_rows(at, first, count);
    if (kept == 0) {
        return false;
    }
    sl_topology_plan.sets[to] = sl_topology_plan.sets[s];
    sl_topology_plan.sets[to].first_row = at;
    sl_topology_plan.sets[to].row_count = kept;
    sl_topology_plan.sets[to].count = pods_in(at, kept);
    sl_topology_plan.sets[to].layer_count = 0;
    sl_topology_plan.row_count = at + kept;
    return true;
}

/*@ requires listed: HeldListed; terminates \true; exits \false; assigns LISTED, sl_topology_plan;
    ensures listed: HeldListed; */
void sl_held_places_leave_out(sl_workload_id old)
{
    uint32_t set_count = sl_topology_plan.set_count;
    uint32_t kept = 0;
    sl_topology_plan.row_count = 0;
    /*@
      loop invariant listed: HeldListed && kept <= s <= set_count <= SL_TOPOLOGY_SETS_MAX;
      loop invariant rows: sl_topology_plan.row_count <= SL_TOPOLOGY_ROWS_MAX;
      loop assigns s, kept, sl_hidden, LISTED, sl_topology_plan;
      loop variant set_count - s;
    */
    for (uint32_t s = 0; s < set_count; s++) {
        uint32_t first = sl_topology_plan.sets[s].first_row;
        uint32_t count = sl_topology_plan.sets[s].row_count;
        sl_held_places_list(old, sl_topology_plan.sets[s].pod_set);
        if (first >= sl_topology_plan.row_count && first <= SL_TOPOLOGY_ROWS_MAX &&
            count <= SL_TOPOLOGY_ROWS_MAX - first && move_set(kept, s, first, count)) {
            kept++;
        }
    }
    sl_topology_plan.set_count = kept;
    forget();
}
