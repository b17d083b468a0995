/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Doubling stops at the cap, so that nothing can overflow and the loop is short whatever n is. */
#include "kernel/lifecycle/requeue.h"

struct sl_requeue_rules sl_requeue_rules;

/* Backoff never shrinks: a theorem for the prover, no code. */
/*@
  ghost
  /@
    requires base:      0 <= base <= cap;
    requires n:         1 <= n < UINT32_MAX;
    terminates          \true;
    exits               \false;
    assigns             \nothing;
    ensures  grows:     Doubled(base, cap, n) <= Doubled(base, cap, n + 1) <= cap;
    ensures  positive:  1 <= Pow2(n - 1);
  @/
  static void doubled_grows(int64_t base, int64_t cap, uint32_t n)
  {
      /@
        loop invariant range:    1 <= i <= n;
        loop invariant positive: 1 <= Pow2(i - 1);
        loop assigns   i;
        loop variant   n - i;
      @/
      for (uint32_t i = 1; i < n; i++) {
      }
  }
*/

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
    /*@
      loop invariant range: 1 <= i <= n;
      loop invariant power: delay == base * Pow2(i - 1);
      loop invariant below: i > 1 ==> delay <= cap;
      loop invariant grown: delay >= base;
      loop assigns   i, delay;
      loop variant   n - i;
    */
    for (uint32_t i = 1; i < n; i++) {
        if (delay >= cap - delay) {
            /*@
              ghost
              /@
                loop invariant range: i <= j <= n - 1;
                loop invariant above: base * Pow2(j) >= cap;
                loop assigns   j;
                loop variant   n - j;
              @/
              for (uint32_t j = i; j < n - 1; j++) {
              }
            */
            return cap;
        }
        delay += delay;
    }
    return delay;
}

/* ppm millionths of an amount, rounded down, without the overflow of multiplying first. */
/*@
  requires amount:    0 <= amount <= SL_TIME_MAX;
  requires ppm:       0 <= ppm <= SL_JITTER_PPM_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == amount * ppm / 1000000;
  ensures  range:     0 <= \result <= amount;
*/
static int64_t share(int64_t amount, uint32_t ppm)
{
    int64_t whole = amount / 1000000;
    int64_t part = amount % 1000000;
    int64_t whole_share = whole * ppm;
    int64_t part_share = part * ppm;
    /*@ assert parts: amount == 1000000 * whole + part && 0 <= part < 1000000; */
    /*@ assert split: amount * ppm == 1000000 * whole_share + part_share; */
    /*@ assert signs: 0 <= whole_share && 0 <= part_share; */
    return whole_share + part_share / 1000000;
}

int64_t sl_requeue_delay_ms(int64_t base_ms, int64_t max_ms, uint32_t n, uint32_t jitter_ppm)
{
    int64_t delay_ms = doubled(base_ms, max_ms, n);
    int64_t jitter_ms = share(delay_ms, jitter_ppm);
    return delay_ms > SL_TIME_MAX - jitter_ms ? SL_TIME_MAX : delay_ms + jitter_ms;
}

int64_t sl_requeue_check_delay_s(int64_t base_s, int64_t max_s, uint32_t retry_count)
{
    return doubled(base_s, max_s, retry_count < UINT32_MAX ? retry_count + 1 : UINT32_MAX);
}

void sl_requeue_configure(struct sl_requeue_rules rules)
{
    sl_requeue_rules = rules;
}

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == BoundedMs(ms);
*/
static int64_t bounded(int64_t ms)
{
    return ms >= 0 && ms <= SL_TIME_MAX ? ms : 0;
}

int64_t sl_requeue_ruled_delay_ms(uint32_t count, uint32_t jitter_ppm)
{
    uint32_t times = count < UINT32_MAX ? count + 1 : UINT32_MAX;
    return sl_requeue_delay_ms(bounded(sl_requeue_rules.base_ms), bounded(sl_requeue_rules.ms_max),
                               times, jitter_ppm);
}

bool sl_requeue_ruled_out(uint32_t count)
{
    return sl_requeue_rules.limited && count >= sl_requeue_rules.count_max;
}
