/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pacing: when the next cycle is due. Pure functions of what the caller has seen; owns nothing. */
#ifndef SL_POLICY_PACING_H
#define SL_POLICY_PACING_H
#include "kernel/base/types.h"

/* Cycles in a row that decide nothing, until every head has been tried, and tried again: heads that
 * only take each other's reservations and scans along would go on for ever. Kueue waits after any
 * cycle that admits nothing. */
#define SL_PACING_IDLE_MAX 600u
#define SL_PACING_IDLE_MS 100
/* After a cycle for wake-ups alone: 1 ms for so many pending workloads, up to the maximum. */
#define SL_PACING_PENDING_PER_MS 500u
#define SL_PACING_WAKE_MS_MAX 100

struct sl_pace {
    bool ready;           /* a queue has a head to be tried, or is to be woken */
    bool untried;         /* a head is to be tried */
    uint32_t pending;     /* workloads */
    uint64_t idle_cycles; /* since something was decided or changed */
    int64_t cycle_ms;     /* when the last cycle ran */
    int64_t woken_ms;     /* when the last cycle for wake-ups alone ran */
    int64_t pass_ms;      /* when the next second pass is due; SL_NEVER = none */
};

/*@
  logic integer LaterBy(integer at, integer by) = \min(at + by, INT64_MAX);
  logic integer HeadsDue(struct sl_pace p) = !p.ready ? INT64_MAX
      : p.idle_cycles > SL_PACING_IDLE_MAX + 2 * p.pending ? LaterBy(p.cycle_ms, SL_PACING_IDLE_MS)
      : p.untried ? INT64_MIN
      : LaterBy(p.woken_ms, \min(p.pending / SL_PACING_PENDING_PER_MS, SL_PACING_WAKE_MS_MAX));
*/

/* When the next cycle is due, in the units of the arguments; INT64_MIN = at once, INT64_MAX = not
 * until something happens. Heads that were not tried do not wait, unless the cycles go in circles;
 * wake-ups alone are worth a cycle at once, and then none for a while; second passes have times of
 * their own. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  passes:    p.pass_ms != SL_NEVER ==> \result == \min(p.pass_ms, HeadsDue(p));
  ensures  heads:     p.pass_ms == SL_NEVER ==> \result == HeadsDue(p);
*/
int64_t sl_pacing_due_ms(struct sl_pace p);
#endif
