/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Two passes over at most SL_CHECKS_MAX answers. */
#include "kernel/commit/reports.h"

/*@
  requires count:     count <= SL_CHECKS_MAX;
  requires reports:   \valid_read(reports + (0 .. count - 1));
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  range:     \result <= count;
  ensures  found:     \result < count ==> reports[\result].state == state;
  ensures  absent:    \result == count ==>
                        \forall integer i; 0 <= i < count ==> reports[i].state != state;
*/
static uint32_t find_state(const struct sl_report *reports, uint32_t count,
                           enum sl_check_state state)
{
    uint32_t i = 0;
    /*@
      loop invariant range:  0 <= i <= count;
      loop invariant absent: \forall integer j; 0 <= j < i ==> reports[j].state != state;
      loop assigns   i;
      loop variant   count - i;
    */
    while (i < count && reports[i].state != state) {
        i++;
    }
    return i;
}

uint32_t sl_reports_first(const struct sl_report *reports, uint32_t count)
{
    uint32_t rejected = find_state(reports, count, SL_CHECK_REJECTED);
    if (rejected < count) {
        return rejected;
    }
    uint32_t retrying = find_state(reports, count, SL_CHECK_RETRY);
    return retrying < count ? retrying : 0;
}

int64_t sl_reports_wait_ms(const struct sl_report *reports, uint32_t count)
{
    int64_t wait_ms = 0;
    /*@
      loop invariant range:   0 <= i <= count && 0 <= wait_ms <= SL_TIME_MAX;
      loop invariant longest: \forall integer j; 0 <= j < i && reports[j].state == SL_CHECK_RETRY ==>
        reports[j].after_ms <= wait_ms;
      loop invariant asked:   wait_ms == 0 || (\exists integer j; 0 <= j < i &&
        reports[j].state == SL_CHECK_RETRY && reports[j].after_ms == wait_ms);
      loop assigns   i, wait_ms;
      loop variant   count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        if (reports[i].state == SL_CHECK_RETRY && reports[i].after_ms > wait_ms) {
            wait_ms = reports[i].after_ms;
        }
    }
    return wait_ms;
}
