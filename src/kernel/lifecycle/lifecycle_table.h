/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The transition table as a function: model/lifecycle.def, looked up by phase and step. Owns nothing.
 * Carries the table's half of G1: what it says of any row is proved against specs/lifecycle_table.acsl. */
#ifndef SL_KERNEL_LIFECYCLE_TABLE_H
#define SL_KERNEL_LIFECYCLE_TABLE_H
#include "kernel/base/types.h"

enum sl_step {
#define SL_STEP(constant, text) constant,
#include "model/steps.def"
#undef SL_STEP
    SL_STEP_COUNT
};

enum sl_quota_effect { SL_QUOTA_KEEP, SL_QUOTA_TAKE, SL_QUOTA_DROP };

enum sl_reset {
    SL_RESET_NONE,
    SL_RESET_CREATION,    /* a record as new */
    SL_RESET_RESERVATION, /* earlier eviction and failed nodes are history */
    SL_RESET_EVICTION,    /* row E */
    SL_RESET_RELEASE,     /* the reservation ends, time spent admitted is added up (rule 18) */
    SL_RESET_UNWRITTEN,   /* the reservation never was: nothing to add up (rule 4) */
    SL_RESET_DELETION     /* the incarnation ends */
};

enum sl_requeue_effect {
    SL_REQUEUING_KEEP,
    SL_REQUEUING_BY_REASON,   /* rule 18 */
    SL_REQUEUING_REACTIVATED, /* rule 23 */
    SL_REQUEUING_BACKOFF,     /* rule 24 */
    SL_REQUEUING_RESTARTED    /* rule 25 */
};

struct sl_outcome {
    bool found; /* false: no such row, the step is refused */
    enum sl_phase to;
    enum sl_quota_effect quota;
    enum sl_reset reset;
    enum sl_requeue_effect requeue;
};

#include "specs/lifecycle_table.acsl"

/* The row for `step` in phase `from`. */
/*@
  requires from:      PhaseValid(from);
  requires step:      SL_STEP_CREATE <= step < SL_STEP_COUNT;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  found:     \result.found == 0 || \result.found == 1;
  ensures  needed:    RowNeeded(from, step) ==> \result.found == 1;
  ensures  right:     \result.found == 1 ==> RowRight(from, step, \result);
*/
struct sl_outcome sl_lifecycle_row(enum sl_phase from, enum sl_step step);
#endif
