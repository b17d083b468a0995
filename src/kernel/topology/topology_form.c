/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The form of a plan, set by set and row by row. */
#include "kernel/topology/topology_form.h"

struct sl_topology_plan sl_topology_plan;
uint32_t sl_plan_row_sets[SL_TOPOLOGY_ROWS_MAX];

/*@
  requires ready:      TopologyReady;
  requires domain:     domain < SL_DOMAINS_MAX && DomainOpen(domain);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> LiesInside(domain, within);
*/
static bool lies_inside(sl_domain_id domain, sl_domain_id within)
{
    return within < SL_DOMAINS_MAX && sl_domain_trees[within] != 0 &&
           sl_domain_depths[within] <= sl_domain_depths[domain] &&
           sl_domain_up[domain][sl_domain_depths[within]] == within;
}

/*@
  requires ids:        set < SL_TOPOLOGY_SETS_MAX && row < SL_TOPOLOGY_ROWS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> RowPlaced(set, row);
*/
static bool row_placed(uint32_t set, uint32_t row)
{
    sl_domain_id domain = sl_topology_plan.rows[row].domain;
    uint32_t count = sl_topology_plan.rows[row].count;
    if (count == 0 || count > sl_topology_plan.sets[set].count) {
        return false;
    }
    return domain < SL_DOMAINS_MAX && sl_domain_sites[domain] != 0 &&
           sl_topology_plan.sets[set].tree != SL_NO_ID &&
           sl_domain_trees[domain] == sl_topology_plan.sets[set].tree + 1;
}

/*@
  requires ready:      TopologyReady;
  requires ids:        set < SL_TOPOLOGY_SETS_MAX && row < SL_TOPOLOGY_ROWS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> RowPlaced(set, row) && (whole ==> RowInside(set, row));
*/
static bool row_good(uint32_t set, uint32_t row, bool whole)
{
    if (!row_placed(set, row)) {
        return false;
    }
    return !whole || sl_topology_plan.sets[set].within == SL_NO_ID ||
           lies_inside(sl_topology_plan.rows[row].domain, sl_topology_plan.sets[set].within);
}

/* Also notes which set the rows belong to. */
/*@
  requires ready:      TopologyReady;
  requires set:        set < SL_TOPOLOGY_SETS_MAX && SetBounded(set);
  terminates           \true;
  exits                \false;
  assigns              sl_plan_row_sets[sl_topology_plan.sets[set].first_row ..
                         sl_topology_plan.sets[set].first_row + sl_topology_plan.sets[set].row_count - 1];
  ensures  result:     \result <==> RowsPlaced(set, sl_topology_plan.sets[set].row_count) &&
                         (whole ==> RowsInside(set, sl_topology_plan.sets[set].row_count)) &&
                         PodSum(sl_topology_plan.sets[set].first_row, sl_topology_plan.sets[set].row_count) ==
                           sl_topology_plan.sets[set].count;
  ensures  noted:      \result ==> \forall integer i; sl_topology_plan.sets[set].first_row <= i <
                         sl_topology_plan.sets[set].first_row + sl_topology_plan.sets[set].row_count ==>
                         sl_plan_row_sets[i] == set && RowPlaced(set, i);
*/
static bool rows_good(uint32_t set, bool whole)
{
    uint32_t first = sl_topology_plan.sets[set].first_row;
    int64_t pods = 0;
    /*@
      loop invariant index:  0 <= i <= sl_topology_plan.sets[set].row_count;
      loop invariant pods:   pods == PodSum(first, i) && 0 <= pods <= i * UINT32_MAX;
      loop invariant placed: RowsPlaced(set, i);
      loop invariant inside: whole ==> RowsInside(set, i);
      loop invariant noted:  \forall integer r; first <= r < first + i ==>
                               sl_plan_row_sets[r] == set && RowPlaced(set, r);
      loop assigns           i, pods, sl_plan_row_sets[sl_topology_plan.sets[set].first_row ..
                               sl_topology_plan.sets[set].first_row + sl_topology_plan.sets[set].row_count - 1];
      loop variant           sl_topology_plan.sets[set].row_count - i;
    */
    for (uint32_t i = 0; i < sl_topology_plan.sets[set].row_count; i++) {
        if (!row_good(set, first + i, whole)) {
            return false;
        }
        //@ assert good: RowPlaced(set, first + i) && (whole ==> RowInside(set, first + i));
        sl_plan_row_sets[first + i] = set;
        pods += sl_topology_plan.rows[first + i].count;
    }
    return pods == (int64_t)sl_topology_plan.sets[set].count;
}

/* A quotient asks the same as the product, which may need more than 64 bits. */
/*@ ghost
  /@ requires some:       0 < count;
     terminates           \true;
     exits                \false;
     assigns              \nothing;
     ensures  same:       0 <= per_pod <= SL_AMOUNT_MAX / count <==>
                            0 <= per_pod && per_pod * count <= SL_AMOUNT_MAX;
  @/
  static void lemma_quotient(int64_t per_pod, uint32_t count)
  {
    /@ assert parts: SL_AMOUNT_MAX == (SL_AMOUNT_MAX / count) * count + SL_AMOUNT_MAX % count; @/
    /@ assert rest: 0 <= SL_AMOUNT_MAX % count < count; @/
    /@ assert below: per_pod <= SL_AMOUNT_MAX / count ==> per_pod * count <= (SL_AMOUNT_MAX / count) * count; @/
    /@ assert above: per_pod >= SL_AMOUNT_MAX / count + 1 ==>
         per_pod * count >= (SL_AMOUNT_MAX / count + 1) * count; @/
  }
*/

/* Is `per_pod` for all those pods an amount? */
/*@
  requires some:       0 < count;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> 0 <= per_pod <= SL_AMOUNT_MAX / count;
*/
static bool amount_fits(int64_t per_pod, uint32_t count)
{
    return per_pod >= 0 && per_pod <= SL_AMOUNT_MAX / (int64_t)count;
}

/*@
  requires ids:        set < SL_TOPOLOGY_SETS_MAX && k < SL_TOPOLOGY_REQUESTS_MAX;
  requires some:       0 < sl_topology_plan.sets[set].count;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> RequestGood(set, k);
*/
static bool request_good(uint32_t set, uint32_t k)
{
    sl_measure_id measure = sl_topology_plan.sets[set].requests[k].measure;
    if (measure >= SL_MEASURES_MAX ||
        (k > 0 && sl_topology_plan.sets[set].requests[k - 1].measure >= measure)) {
        return false;
    }
    //@ ghost lemma_quotient(sl_topology_plan.sets[set].requests[k].per_pod, sl_topology_plan.sets[set].count);
    return amount_fits(sl_topology_plan.sets[set].requests[k].per_pod,
                       sl_topology_plan.sets[set].count);
}

/*@
  requires set:        set < SL_TOPOLOGY_SETS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> RequestsGood(set);
*/
static bool requests_good(uint32_t set)
{
    if (sl_topology_plan.sets[set].request_count > SL_TOPOLOGY_REQUESTS_MAX ||
        sl_topology_plan.sets[set].count == 0) {
        return false;
    }
    /*@
      loop invariant index: 0 <= k <= sl_topology_plan.sets[set].request_count;
      loop invariant good:  \forall integer j; 0 <= j < k ==> RequestGood(set, j);
      loop assigns          k;
      loop variant          sl_topology_plan.sets[set].request_count - k;
    */
    for (uint32_t k = 0; k < sl_topology_plan.sets[set].request_count; k++) {
        if (!request_good(set, k)) {
            return false;
        }
    }
    return true;
}

/* The set comes after the one before it, and its rows right after that one's. */
/*@
  requires set:        set < SL_TOPOLOGY_SETS_MAX;
  requires first:      first == NextRow(set) && first <= sl_topology_plan.row_count <= SL_TOPOLOGY_ROWS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> SetFollows(set);
*/
static bool set_follows(uint32_t set, uint32_t first)
{
    return sl_topology_plan.sets[set].first_row == first &&
           sl_topology_plan.sets[set].row_count <= sl_topology_plan.row_count - first &&
           (set == 0 ||
            sl_topology_plan.sets[set - 1].pod_set < sl_topology_plan.sets[set].pod_set);
}

/*@
  requires ready:      TopologyReady;
  requires set:        set < SL_TOPOLOGY_SETS_MAX && SetBounded(set);
  terminates           \true;
  exits                \false;
  assigns              sl_plan_row_sets[sl_topology_plan.sets[set].first_row ..
                         sl_topology_plan.sets[set].first_row + sl_topology_plan.sets[set].row_count - 1];
  ensures  result:     \result <==> SetGood(set, whole);
  ensures  noted:      \result ==> \forall integer i; sl_topology_plan.sets[set].first_row <= i <
                         sl_topology_plan.sets[set].first_row + sl_topology_plan.sets[set].row_count ==>
                         sl_plan_row_sets[i] == set && RowPlaced(set, i);
*/
static bool set_good(uint32_t set, bool whole)
{
    return requests_good(set) && rows_good(set, whole) && (!whole || sl_topology_layers_whole(set));
}

enum sl_status sl_topology_form(bool whole)
{
    if (sl_topology_plan.set_count > SL_TOPOLOGY_SETS_MAX ||
        sl_topology_plan.row_count > SL_TOPOLOGY_ROWS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    uint32_t first = 0;
    /*@
      loop invariant index: 0 <= s <= sl_topology_plan.set_count;
      loop invariant first: first == NextRow(s) && first <= sl_topology_plan.row_count;
      loop invariant sets:  \forall integer t; 0 <= t < s ==> SetFollows(t) && SetGood(t, whole);
      loop invariant rows:  \forall integer i; 0 <= i < first ==> RowOfSet(i) && sl_plan_row_sets[i] < s;
      loop assigns          s, first, sl_plan_row_sets[0 .. SL_TOPOLOGY_ROWS_MAX - 1];
      loop variant          sl_topology_plan.set_count - s;
    */
    for (uint32_t s = 0; s < sl_topology_plan.set_count; s++) {
        if (!set_follows(s, first) || !set_good(s, whole)) {
            return SL_REFUSED_BAD_ARGUMENT;
        }
        /*@ assert more: \forall integer i; first <= i < first + sl_topology_plan.sets[s].row_count ==>
              RowOfSet(i); */
        first += sl_topology_plan.sets[s].row_count;
    }
    return first == sl_topology_plan.row_count ? SL_OK : SL_REFUSED_BAD_ARGUMENT;
}
