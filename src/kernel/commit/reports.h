/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Answers of several admission checks of one workload that are known at once: which is the first to be given to the
 * lifecycle. It does not depend on the order in which they come. Pure functions. Source: Kueue's
 * reconcileCheckBasedEviction: a check that rejects goes before all that ask to retry, and these are one eviction. */
#ifndef SL_KERNEL_REPORTS_H
#define SL_KERNEL_REPORTS_H
#include "kernel/base/types.h"

struct sl_report {
    sl_check_id check;
    enum sl_check_state state;
    int64_t after_ms; /* how long it asks to wait, 0 .. SL_TIME_MAX; 0 = not at all */
};

/* The index of the one that counts first: one that rejects; without such one that asks to retry; without such 0. */
/*@
  requires count:     0 < count <= SL_CHECKS_MAX;
  requires reports:   \valid_read(reports + (0 .. count - 1));
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  range:     \result < count;
  ensures  rejects:   (\exists integer i; 0 <= i < count && reports[i].state == SL_CHECK_REJECTED) ==>
                        reports[\result].state == SL_CHECK_REJECTED;
  ensures  retries:   (\forall integer i; 0 <= i < count ==> reports[i].state != SL_CHECK_REJECTED) &&
                      (\exists integer i; 0 <= i < count && reports[i].state == SL_CHECK_RETRY) ==>
                        reports[\result].state == SL_CHECK_RETRY;
*/
uint32_t sl_reports_first(const struct sl_report *reports, uint32_t count);

/* How long to wait: as long as any of those that ask to retry wants; 0 when none asks. */
/*@
  requires count:     count <= SL_CHECKS_MAX;
  requires reports:   \valid_read(reports + (0 .. count - 1));
  requires times:     \forall integer i; 0 <= i < count ==> 0 <= reports[i].after_ms <= SL_TIME_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  range:     0 <= \result <= SL_TIME_MAX;
  ensures  longest:   \forall integer i; 0 <= i < count && reports[i].state == SL_CHECK_RETRY ==>
                        reports[i].after_ms <= \result;
  ensures  asked:     \result == 0 || (\exists integer i; 0 <= i < count &&
                        reports[i].state == SL_CHECK_RETRY && reports[i].after_ms == \result);
*/
int64_t sl_reports_wait_ms(const struct sl_report *reports, uint32_t count);
#endif
