/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Backoff: whether a workload whose pods did not become ready in time may be requeued once more, and
 * when; and when a decision about one that could not be written is tried again. Pure functions; owns
 * nothing. */
#ifndef SL_POLICY_BACKOFF_H
#define SL_POLICY_BACKOFF_H
#include "kernel/lifecycle/requeue.h"
#include "kernel/base/types.h"

/* waitForPodsReady.requeuingStrategy, ms. */
struct sl_backoff_rules {
    bool limited;       /* there is a backoffLimitCount: */
    uint32_t count_max; /* it */
    int64_t base_ms;    /* 0 .. SL_TIME_MAX, as */
    int64_t ms_max;
};
struct sl_backoff {
    bool over;     /* no more requeues: it is to be deactivated */
    int64_t at_ms; /* else when it may be queued again */
};

/* Spreads those that wait equally long, the same way in every replay: millionths of the delay, by its
 * UID and by how often it was requeued. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  range:     0 <= \result <= SL_JITTER_PPM_MAX;
*/
uint32_t sl_backoff_jitter_ppm(uint64_t uid_high, uint64_t uid_low, uint32_t count);

/* After `count` requeues, at now_ms (0 .. SL_TIME_MAX). Rules or times out of bounds count as 0. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  over:      \result.over <==> rules.limited && count + 1 > rules.count_max;
  ensures  range:     0 <= \result.at_ms <= SL_TIME_MAX;
  ensures  later:     0 <= now_ms <= SL_TIME_MAX ==> \result.at_ms >= now_ms;
  ensures  delay:     0 <= rules.base_ms <= SL_TIME_MAX && 0 <= rules.ms_max <= SL_TIME_MAX &&
                      0 <= now_ms <= SL_TIME_MAX && count < UINT32_MAX && jitter_ppm <= SL_JITTER_PPM_MAX ==>
                      \result.at_ms == \min(SL_TIME_MAX, now_ms +
                          Jittered(Doubled(rules.base_ms, rules.ms_max, count + 1), jitter_ppm));
*/
struct sl_backoff sl_backoff_next(struct sl_backoff_rules rules, uint32_t count,
                                  uint32_t jitter_ppm, int64_t now_ms);

/* Until a decision that could not be written is tried again, ms. What the API refuses for what it says
 * it refuses again until a policy or a right is another: later and later, after so many refusals in a
 * row; 0 = it was not refused for that. */
#define SL_BACKOFF_WRITE_MS 1000
#define SL_BACKOFF_WRITE_MS_MAX 30000
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == Doubled(SL_BACKOFF_WRITE_MS, SL_BACKOFF_WRITE_MS_MAX, \max(1, refusals));
  ensures  range:     0 <= \result <= SL_BACKOFF_WRITE_MS_MAX;
*/
int64_t sl_backoff_of_write_ms(uint32_t refusals);
#endif
