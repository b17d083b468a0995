/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "policy/verdicts/variants.h"

uint32_t sl_variant_sight_count;
struct sl_variant_sight sl_variant_sights[SL_VARIANT_SIGHTS_MAX];

uint32_t sl_variants_admitted(void)
{
    /*@
      loop invariant index:  0 <= i <= sl_variant_sight_count;
      loop invariant none:   \forall integer j; 0 <= j < i ==> sl_variant_sights[j].admitted == 0;
      loop assigns           i;
      loop variant           sl_variant_sight_count - i;
    */
    for (uint32_t i = 0; i < sl_variant_sight_count; i++) {
        if (sl_variant_sights[i].admitted) {
            return i;
        }
    }
    return SL_NO_ID;
}

bool sl_variants_is_wanted(uint32_t index, bool parent_active, uint32_t limit)
{
    uint32_t admitted = sl_variants_admitted();
    if (!parent_active || sl_variant_sights[index].given_up) {
        return false;
    }
    return admitted == SL_NO_ID || index == admitted || (index < admitted && index < limit);
}

/* The first that needs its gate open and has it closed. */
/*@
  requires bound:      SightsBounded;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  one:        \result != SL_NO_ID ==> NextGate(\result);
  ensures  none:       \result == SL_NO_ID ==> \forall integer i; !NextGate(i);
*/
static uint32_t candidate(void)
{
    /*@
      loop invariant index:  0 <= i <= sl_variant_sight_count;
      loop invariant passed: \forall integer j; 0 <= j < i ==> LetsPass(j);
      loop assigns           i;
      loop variant           sl_variant_sight_count - i;
    */
    for (uint32_t i = 0; i < sl_variant_sight_count; i++) {
        if (!sl_variant_sights[i].waits || sl_variant_sights[i].open) {
            continue;
        }
        if (sl_variant_sights[i].gated) {
            return i;
        }
        if (!sl_variant_sights[i].tried) {
            return SL_NO_ID; /* it comes first, and may need it */
        }
    }
    return SL_NO_ID;
}

/* How long the one that was opened last has yet. */
/*@
  requires bound:      SightsBounded;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  range:      0 <= \result <= SL_VARIANT_GATE_MS;
  ensures  longest:    LongestLeft(\result, sl_variant_sight_count, now_ms);
*/
static int64_t rest_of_last(int64_t now_ms)
{
    int64_t rest = 0;
    /*@
      loop invariant index:  0 <= i <= sl_variant_sight_count;
      loop invariant range:  0 <= rest <= SL_VARIANT_GATE_MS;
      loop invariant last:   LongestLeft(rest, i, now_ms);
      loop assigns           i, rest;
      loop variant           sl_variant_sight_count - i;
    */
    for (uint32_t i = 0; i < sl_variant_sight_count; i++) {
        int64_t opened = sl_variant_sights[i].opened_ms;
        if (!sl_variant_sights[i].waits || !sl_variant_sights[i].open || opened < 0 || now_ms < 0 ||
            opened <= now_ms - SL_VARIANT_GATE_MS) {
            continue;
        }
        int64_t left =
            opened >= now_ms ? SL_VARIANT_GATE_MS : SL_VARIANT_GATE_MS - (now_ms - opened);
        rest = left > rest ? left : rest;
    }
    return rest;
}

uint32_t sl_variants_to_open(int64_t now_ms)
{
    return rest_of_last(now_ms) == 0 ? candidate() : SL_NO_ID;
}

int64_t sl_variants_gate_wait_ms(int64_t now_ms)
{
    return candidate() == SL_NO_ID ? 0 : rest_of_last(now_ms);
}
