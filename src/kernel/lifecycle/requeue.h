/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Backoff: its rules, and arithmetic in pure functions of their arguments. Owns the rules. Carries G7. Source:
 * Kueue's requeuing strategy. Bounds: base and maximum 0 .. SL_TIME_MAX in the unit of the function; nothing overflows. */
#ifndef SL_KERNEL_REQUEUE_H
#define SL_KERNEL_REQUEUE_H
#include "kernel/base/types.h"

#define SL_JITTER_PPM_MAX 100u

/* waitForPodsReady.requeuingStrategy, ms. A time out of bounds counts as 0. */
struct sl_requeue_rules {
    bool limited;       /* there is a backoffLimitCount: */
    uint32_t count_max; /* it */
    int64_t base_ms;
    int64_t ms_max;
};
extern struct sl_requeue_rules sl_requeue_rules; /* sl_requeue_configure sets them */
#include "specs/requeue.acsl"

/*@
  terminates          \true;
  exits               \false;
  assigns             sl_requeue_rules;
  ensures  set:       sl_requeue_rules == rules;
*/
void sl_requeue_configure(struct sl_requeue_rules rules);

/* By the rules: how long one whose pods were not ready in time waits after `count` requeues, ms, and whether it may
 * wait once more, or is to be deactivated. */
/*@
  requires jitter:    0 <= jitter_ppm <= SL_JITTER_PPM_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == RuledDelay(count, jitter_ppm);
  ensures  range:     0 <= \result <= SL_TIME_MAX;
*/
int64_t sl_requeue_ruled_delay_ms(uint32_t count, uint32_t jitter_ppm);
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> RuledOut(count);
*/
bool sl_requeue_ruled_out(uint32_t count);

/* PodsReady: min(base * 2^(n-1), max) ms plus jitter_ppm millionths of it (0 .. 100, drawn outside); if
 * base > max the first delay is base. n >= 1. The result may exceed max by the jitter, never SL_TIME_MAX. */
/*@
  requires base:      0 <= base_ms <= SL_TIME_MAX;
  requires cap:       0 <= max_ms <= SL_TIME_MAX;
  requires n:         1 <= n;
  requires jitter:    0 <= jitter_ppm <= SL_JITTER_PPM_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == Jittered(Doubled(base_ms, max_ms, n), jitter_ppm);
  ensures  range:     0 <= \result <= SL_TIME_MAX;
*/
int64_t sl_requeue_delay_ms(int64_t base_ms, int64_t max_ms, uint32_t n, uint32_t jitter_ppm);

/* Admission checks: the same doubling without jitter, in whole seconds; retry_count tries lie behind. */
/*@
  requires base:      0 <= base_s <= SL_TIME_MAX;
  requires cap:       0 <= max_s <= SL_TIME_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == Doubled(base_s, max_s, \min(retry_count + 1, UINT32_MAX));
  ensures  range:     0 <= \result <= \max(base_s, max_s);
*/
int64_t sl_requeue_check_delay_s(int64_t base_s, int64_t max_s, uint32_t retry_count);
#endif
