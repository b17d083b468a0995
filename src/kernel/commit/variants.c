/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A list a family: a question about all variants of a workload costs as many steps as there may be of them. */
#include "kernel/commit/variants.h"

uint32_t sl_variant_family[SL_WORKLOADS_MAX];
uint32_t sl_variant_index[SL_WORKLOADS_MAX];
uint32_t sl_variant_rank[SL_WORKLOADS_MAX];
uint32_t sl_family_variants[SL_FAMILIES_MAX][SL_VARIANTS_MAX];

/* A free place in the list; SL_VARIANTS_MAX: there is none. */
/*@
  requires known:      family < SL_FAMILIES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  bound:      \result <= SL_VARIANTS_MAX;
  ensures  free:       \result < SL_VARIANTS_MAX ==> sl_family_variants[family][\result] == 0;
*/
static uint32_t free_index(uint32_t family)
{
    uint32_t index = 0;
    /*@
      loop invariant index:  0 <= index <= SL_VARIANTS_MAX;
      loop assigns           index;
      loop variant           SL_VARIANTS_MAX - index;
    */
    while (index < SL_VARIANTS_MAX && sl_family_variants[family][index] != 0) {
        index++;
    }
    return index;
}

/*@
  requires inv:        VariantsInv;
  requires known:      id < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_variant_family[id],
                       sl_family_variants[0 .. SL_FAMILIES_MAX - 1][0 .. SL_VARIANTS_MAX - 1];
  ensures  inv:        VariantsInv;
  ensures  left:       sl_variant_family[id] == 0;
  ensures  free:       \forall integer f, s; 0 <= f < SL_FAMILIES_MAX && 0 <= s < SL_VARIANTS_MAX &&
                         \old(sl_family_variants[f][s]) == 0 ==> sl_family_variants[f][s] == 0;
*/
static void leave(sl_workload_id id)
{
    if (sl_variant_family[id] != 0) {
        sl_family_variants[sl_variant_family[id] - 1][sl_variant_index[id]] = 0;
        sl_variant_family[id] = 0;
    }
}

/*@
  requires inv:        VariantsInv;
  requires known:      id < SL_WORKLOADS_MAX && family < SL_FAMILIES_MAX && index < SL_VARIANTS_MAX;
  requires free:       sl_family_variants[family][index] == 0 && sl_variant_family[id] == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_variant_family[id], sl_variant_index[id], sl_family_variants[family][index];
  ensures  inv:        VariantsInv;
  ensures  joined:     sl_variant_family[id] == family + 1;
*/
static void join(sl_workload_id id, uint32_t family, uint32_t index)
{
    sl_family_variants[family][index] = id + 1;
    sl_variant_index[id] = index;
    sl_variant_family[id] = family + 1;
}

enum sl_status sl_variants_set(sl_workload_id id, uint32_t family, uint32_t rank)
{
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (family == SL_NO_ID) {
        leave(id);
        return SL_OK;
    }
    if (family >= SL_FAMILIES_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_variant_family[id] != family + 1) {
        uint32_t index = free_index(family);
        if (index == SL_VARIANTS_MAX) {
            return SL_FULL_VARIANTS;
        }
        leave(id);
        join(id, family, index);
    }
    sl_variant_rank[id] = rank;
    return SL_OK;
}

/* The holder at this place of the list; SL_NO_ID: no other is there, or holds quota. */
/*@
  requires known:      family < SL_FAMILIES_MAX && index < SL_VARIANTS_MAX && id < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  none:       \result == SL_NO_ID ==> IdleAt(family, index, id);
  ensures  holder:     \result != SL_NO_ID ==> \result < SL_WORKLOADS_MAX && \result != id &&
                         HoldsQuota(\result);
*/
static sl_workload_id holder_at(uint32_t family, uint32_t index, sl_workload_id id)
{
    uint32_t at = sl_family_variants[family][index];
    if (at == 0 || at > SL_WORKLOADS_MAX || at == id + 1 || !sl_lifecycle_holds_quota(at - 1)) {
        return SL_NO_ID;
    }
    return at - 1;
}

sl_workload_id sl_variants_holder(sl_workload_id id)
{
    sl_workload_id found = SL_NO_ID;
    if (id >= SL_WORKLOADS_MAX || sl_variant_family[id] == 0 ||
        sl_variant_family[id] > SL_FAMILIES_MAX) {
        return SL_NO_ID;
    }
    uint32_t family = sl_variant_family[id] - 1;
    /*@
      loop invariant index:  0 <= i <= SL_VARIANTS_MAX;
      loop invariant none:   found == SL_NO_ID ==> \forall integer s; 0 <= s < i ==> IdleAt(family, s, id);
      loop invariant holder: found != SL_NO_ID ==> found < SL_WORKLOADS_MAX && found != id && HoldsQuota(found);
      loop assigns           i, found;
      loop variant           SL_VARIANTS_MAX - i;
    */
    for (uint32_t i = 0; i < SL_VARIANTS_MAX; i++) {
        sl_workload_id at = holder_at(family, i, id);
        if (at != SL_NO_ID && (found == SL_NO_ID || sl_variant_rank[at] < sl_variant_rank[found])) {
            found = at;
        }
    }
    return found;
}

bool sl_variants_makes_way(sl_workload_id id, sl_workload_id other)
{
    return id < SL_WORKLOADS_MAX && other < SL_WORKLOADS_MAX && id != other &&
           sl_variant_family[id] != 0 && sl_variant_family[id] == sl_variant_family[other] &&
           sl_lifecycle_holds_quota(other) && sl_variant_rank[id] < sl_variant_rank[other];
}

uint32_t sl_variants_family(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && sl_variant_family[id] != 0 ? sl_variant_family[id] - 1
                                                               : SL_NO_ID;
}

uint32_t sl_variants_rank(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && sl_variant_family[id] != 0 ? sl_variant_rank[id] : SL_NO_ID;
}
