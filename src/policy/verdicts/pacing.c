/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The times of cycles: sums saturate, so that no time from outside can overflow. */
#include "policy/verdicts/pacing.h"

/*@
  requires by:        0 <= by_ms;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == LaterBy(at_ms, by_ms);
*/
static int64_t later(int64_t at_ms, int64_t by_ms)
{
    return at_ms > INT64_MAX - by_ms ? INT64_MAX : at_ms + by_ms;
}

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == HeadsDue(p);
*/
static int64_t heads_due_ms(struct sl_pace p)
{
    uint32_t wake_ms = p.pending / SL_PACING_PENDING_PER_MS;
    if (!p.ready) {
        return INT64_MAX;
    }
    if (p.idle_cycles > SL_PACING_IDLE_MAX + 2 * (uint64_t)p.pending) {
        return later(p.cycle_ms, SL_PACING_IDLE_MS);
    }
    if (p.untried) {
        return INT64_MIN;
    }
    return later(p.woken_ms, wake_ms < SL_PACING_WAKE_MS_MAX ? wake_ms : SL_PACING_WAKE_MS_MAX);
}

int64_t sl_pacing_due_ms(struct sl_pace p)
{
    int64_t heads_ms = heads_due_ms(p);
    return p.pass_ms != SL_NEVER && p.pass_ms < heads_ms ? p.pass_ms : heads_ms;
}
