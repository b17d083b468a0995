/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Backoff: what spreads workloads whose pods did not become ready in time, and when a decision about
 * one that could not be written is tried again. Pure functions; owns nothing. */
#ifndef SL_POLICY_BACKOFF_H
#define SL_POLICY_BACKOFF_H
#include "kernel/lifecycle/requeue.h"
#include "kernel/base/types.h"

/* Spreads those that wait equally long, the same way in every replay: millionths of the delay, by its
 * UID and by how often it was requeued. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  range:     0 <= \result <= SL_JITTER_PPM_MAX;
*/
uint32_t sl_backoff_jitter_ppm(uint64_t uid_high, uint64_t uid_low, uint32_t count);

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
