/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which of a workload's variants are to be tried, and which may preempt next (Kueue's concurrent admission). Pure functions on
 * what the caller has put into sl_variant_sights, in the order of their flavors. Owns these. */
#ifndef SL_POLICY_VERDICTS_VARIANTS_H
#define SL_POLICY_VERDICTS_VARIANTS_H
#include "kernel/base/types.h"

#define SL_VARIANT_SIGHTS_MAX 16u
#define SL_VARIANT_GATE_MS 300000 /* one variant has so long to preempt before the next may */

struct sl_variant_sight {
    bool active;       /* spec.active */
    bool given_up;     /* a check has rejected it: it is not switched on again */
    bool admitted;     /* the Admitted condition is True */
    bool waits;        /* it is active, holds no quota and is not finished */
    bool tried;        /* a cycle has looked at it */
    bool gated;        /* it would preempt, but for a gate */
    bool open;         /* its gate of concurrent admission is open */
    int64_t opened_ms; /* since then */
};
extern uint32_t sl_variant_sight_count;
extern struct sl_variant_sight sl_variant_sights[SL_VARIANT_SIGHTS_MAX];

/*@
  predicate SightsBounded{L} = sl_variant_sight_count <= SL_VARIANT_SIGHTS_MAX;
  predicate FirstAdmitted{L}(integer i) =
    0 <= i < sl_variant_sight_count && sl_variant_sights[i].admitted != 0 &&
    \forall integer j; 0 <= j < i ==> sl_variant_sights[j].admitted == 0;
  predicate NoneAdmitted{L}(integer count) = \forall integer j; 0 <= j < count ==> sl_variant_sights[j].admitted == 0;

  // It needs its gate open and has it closed; none that comes after it has to wait for it.
  predicate NeedsGate{L}(integer i) =
    sl_variant_sights[i].waits != 0 && sl_variant_sights[i].open == 0 && sl_variant_sights[i].gated != 0;
  predicate LetsPass{L}(integer i) =
    sl_variant_sights[i].waits == 0 || sl_variant_sights[i].open != 0 ||
    (sl_variant_sights[i].gated == 0 && sl_variant_sights[i].tried != 0);
  predicate NextGate{L}(integer i) =
    0 <= i < sl_variant_sight_count && NeedsGate(i) && \forall integer j; 0 <= j < i ==> LetsPass(j);

  // Its gate was opened less than SL_VARIANT_GATE_MS ago, and so much of that is left (all, where it says that it will be).
  predicate HasItsTime{L}(integer i, integer now_ms) =
    0 <= i < sl_variant_sight_count && sl_variant_sights[i].waits != 0 && sl_variant_sights[i].open != 0 &&
    0 <= sl_variant_sights[i].opened_ms && 0 <= now_ms && now_ms - SL_VARIANT_GATE_MS < sl_variant_sights[i].opened_ms;
  logic integer TimeLeft{L}(integer i, integer now_ms) =
    \min(SL_VARIANT_GATE_MS, SL_VARIANT_GATE_MS - (now_ms - sl_variant_sights[i].opened_ms));

  // The longest that one of the first `count` has yet; 0: none has.
  predicate LongestLeft{L}(integer rest, integer count, integer now_ms) =
    (rest == 0 || \exists integer j; 0 <= j < count && HasItsTime(j, now_ms) && rest == TimeLeft(j, now_ms)) &&
    \forall integer j; 0 <= j < count && HasItsTime(j, now_ms) ==> 0 < TimeLeft(j, now_ms) <= rest;
*/

/* The first that is admitted; SL_NO_ID: none is. */
/*@
  requires bound:      SightsBounded;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  first:      \result != SL_NO_ID ==> FirstAdmitted(\result);
  ensures  none:       \result == SL_NO_ID ==> \forall integer j; 0 <= j < sl_variant_sight_count ==>
                         sl_variant_sights[j].admitted == 0;
*/
uint32_t sl_variants_admitted(void);

/* Is the one at `index` to be active? All are until one is admitted; then that one, and those which come before it and may take
 * its place: whose index is less than the limit. None is that was given up, or whose parent is not active. */
/*@
  requires bound:      SightsBounded && index < sl_variant_sight_count;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> parent_active && sl_variant_sights[index].given_up == 0 &&
                         (NoneAdmitted(sl_variant_sight_count) || FirstAdmitted(index) ||
                          (NoneAdmitted(index + 1) && index < limit));
*/
bool sl_variants_is_wanted(uint32_t index, bool parent_active, uint32_t limit);

/* Whose gate is to be opened now; SL_NO_ID: none. One after the other: the first that is known to need it, once all that wait before
 * it with a closed gate have been tried, and SL_VARIANT_GATE_MS after the one before it. */
/*@
  requires bound:      SightsBounded;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  one:        \result != SL_NO_ID ==> NextGate(\result) && LongestLeft(0, sl_variant_sight_count, now_ms);
  ensures  none:       \result == SL_NO_ID ==> (\forall integer i; !NextGate(i)) || (\exists integer i; HasItsTime(i, now_ms));
*/
uint32_t sl_variants_to_open(int64_t now_ms);
/* How long one waits for that yet; 0: none does. */
/*@
  requires bound:      SightsBounded;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  range:      0 <= \result <= SL_VARIANT_GATE_MS;
  ensures  longest:    (\exists integer i; NextGate(i)) ==> LongestLeft(\result, sl_variant_sight_count, now_ms);
  ensures  none:       (\forall integer i; !NextGate(i)) ==> \result == 0;
*/
int64_t sl_variants_gate_wait_ms(int64_t now_ms);
#endif
