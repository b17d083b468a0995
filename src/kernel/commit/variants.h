/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Variants of one workload (Kueue's concurrent admission): workloads that are tried each in a flavor of its own, of which
 * one at most is given quota. A family is a number that the shell gives to all variants of one workload; a rank says which of
 * them comes first. Owns the families. What is restored (commit.h) is not asked: it was given before. */
#ifndef SL_KERNEL_VARIANTS_H
#define SL_KERNEL_VARIANTS_H
#include "kernel/base/status.h"
#include "kernel/base/types.h"
#include "kernel/lifecycle/lifecycle.h"

#define SL_VARIANTS_MAX 16u /* of one workload (as many as a queue may have flavors) */
#define SL_FAMILIES_MAX SL_WORKLOADS_MAX

/* For the kernel: of each workload its family plus one, its index in the list of that family, and its rank; the lists, ids
 * plus one. */
extern uint32_t sl_variant_family[SL_WORKLOADS_MAX];
extern uint32_t sl_variant_index[SL_WORKLOADS_MAX];
extern uint32_t sl_variant_rank[SL_WORKLOADS_MAX];
extern uint32_t sl_family_variants[SL_FAMILIES_MAX][SL_VARIANTS_MAX];

#include "specs/variants.acsl"

/* It is one of this family's variants from now on, with this rank: the lowest comes first. SL_NO_ID: it is no variant, as
 * at first; so has every slot to be left that is given out again. Refused: UNKNOWN_WORKLOAD, BAD_ARGUMENT (no such family),
 * FULL_VARIANTS (17th of a family); then it is as before. */
/*@
  requires inv:        VariantsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_variant_family[id], sl_variant_index[id], sl_variant_rank[id],
                       sl_family_variants[0 .. SL_FAMILIES_MAX - 1][0 .. SL_VARIANTS_MAX - 1];
  ensures  inv:        VariantsInv;
  ensures  joined:     \result == SL_OK && family != SL_NO_ID ==> id < SL_WORKLOADS_MAX &&
                         sl_variant_family[id] == family + 1 && sl_variant_rank[id] == rank;
  ensures  left:       \result == SL_OK && family == SL_NO_ID ==> id < SL_WORKLOADS_MAX &&
                         sl_variant_family[id] == 0;
  ensures  refused:    \result != SL_OK && id < SL_WORKLOADS_MAX ==>
                         sl_variant_family[id] == \old(sl_variant_family[id]) &&
                         sl_variant_rank[id] == \old(sl_variant_rank[id]);
*/
enum sl_status sl_variants_set(sl_workload_id id, uint32_t family, uint32_t rank) SL_MUST_CHECK;

/* Of the other variants of its workload that hold quota, the one with the lowest rank; SL_NO_ID: none does. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  none:       \result == SL_NO_ID && id < SL_WORKLOADS_MAX ==> Alone(id);
  ensures  holder:     \result != SL_NO_ID ==> id < SL_WORKLOADS_MAX && \result < SL_WORKLOADS_MAX &&
                         \result != id && HoldsQuota(\result);
*/
sl_workload_id sl_variants_holder(sl_workload_id id);

/* Does the one hold quota and make way for the other, a variant of the same workload that comes before it? */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> MakesWay(id, other);
*/
bool sl_variants_makes_way(sl_workload_id id, sl_workload_id other);

/* Its family; SL_NO_ID where it is no variant. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (id < SL_WORKLOADS_MAX && sl_variant_family[id] != 0
                                     ? sl_variant_family[id] - 1 : SL_NO_ID);
*/
uint32_t sl_variants_family(sl_workload_id id);

/* Its rank; SL_NO_ID where it is no variant. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (id < SL_WORKLOADS_MAX && sl_variant_family[id] != 0
                                     ? sl_variant_rank[id] : SL_NO_ID);
*/
uint32_t sl_variants_rank(sl_workload_id id);
#endif
