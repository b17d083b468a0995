/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Doubling stops at the cap, so that nothing can overflow and the loop is short whatever n is. */
#include "kernel/requeue.h"

/*@
  requires base:      0 <= base <= SL_TIME_MAX;
  requires cap:       0 <= cap <= SL_TIME_MAX;
  requires n:         1 <= n;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == Doubled(base, cap, n);
  ensures  range:     0 <= \result <= \max(base, cap);
*/
static int64_t doubled(int64_t base, int64_t cap, uint32_t n)
{
    int64_t delay = base;
    if (n == 1) {
        return base;
    }
    if (base == 0) {
        return 0;
    }
    for (uint32_t i = 1; i < n; i++) {
        if (delay >= cap - delay) {
            return cap;
        }
        delay += delay;
    }
    return delay;
}

int64_t sl_requeue_delay_ms(int64_t base_ms, int64_t max_ms, uint32_t n, uint32_t jitter_ppm)
{
    int64_t delay_ms = doubled(base_ms, max_ms, n);
    int64_t jitter_ms = delay_ms / 1000000 * jitter_ppm + delay_ms % 1000000 * jitter_ppm / 1000000;
    return delay_ms > SL_TIME_MAX - jitter_ms ? SL_TIME_MAX : delay_ms + jitter_ms;
}

int64_t sl_requeue_check_delay_s(int64_t base_s, int64_t max_s, uint32_t retry_count)
{
    return doubled(base_s, max_s, retry_count < UINT32_MAX ? retry_count + 1 : UINT32_MAX);
}

bool sl_requeue_limit_reached(uint32_t count, int64_t limit)
{
    return limit >= 0 && count >= limit;
}
