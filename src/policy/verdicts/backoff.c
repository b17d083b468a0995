/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The kernel's arithmetic (kernel/requeue.h) with what settings and clocks say brought within its
 * bounds. */
#include "policy/verdicts/backoff.h"

uint32_t sl_backoff_jitter_ppm(uint64_t uid_high, uint64_t uid_low, uint32_t count)
{
    uint64_t mixed = uid_low ^ uid_high * 31u ^ count * 2654435761u;
    return (uint32_t)(mixed % (SL_JITTER_PPM_MAX + 1u));
}

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == (0 <= ms <= SL_TIME_MAX ? ms : 0);
*/
static int64_t bounded(int64_t ms)
{
    return ms >= 0 && ms <= SL_TIME_MAX ? ms : 0;
}

struct sl_backoff sl_backoff_next(struct sl_backoff_rules rules, uint32_t count,
                                  uint32_t jitter_ppm, int64_t now_ms)
{
    struct sl_backoff next;
    uint32_t ppm = jitter_ppm <= SL_JITTER_PPM_MAX ? jitter_ppm : SL_JITTER_PPM_MAX;
    uint32_t times = count < UINT32_MAX ? count + 1 : UINT32_MAX;
    int64_t delay_ms =
        sl_requeue_delay_ms(bounded(rules.base_ms), bounded(rules.ms_max), times, ppm);
    int64_t from_ms = bounded(now_ms);
    next.over = sl_requeue_limit_reached(count, rules.limited ? (int64_t)rules.count_max : -1);
    next.at_ms = delay_ms > SL_TIME_MAX - from_ms ? SL_TIME_MAX : from_ms + delay_ms;
    return next;
}

int64_t sl_backoff_of_write_ms(uint32_t refusals)
{
    return sl_requeue_delay_ms(SL_BACKOFF_WRITE_MS, SL_BACKOFF_WRITE_MS_MAX,
                               refusals > 1 ? refusals : 1, 0);
}
