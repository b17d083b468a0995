/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Backoff arithmetic: pure functions of their arguments. Carries G7. Source: Kueue's requeuing strategy.
 * Bounds: base and maximum 0 .. SL_TIME_MAX in the unit of the function; nothing overflows. */
#ifndef SL_KERNEL_REQUEUE_H
#define SL_KERNEL_REQUEUE_H
#include "kernel/base/types.h"
#include "specs/requeue.acsl"

#define SL_JITTER_PPM_MAX 100u

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

/* Would one more requeue exceed the limit? limit < 0 = no limit. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> limit >= 0 && count + 1 > limit;
*/
bool sl_requeue_limit_reached(uint32_t count, int64_t limit);
#endif
