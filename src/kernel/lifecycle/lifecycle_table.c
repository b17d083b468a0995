/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* model/lifecycle.def made into a switch: the shape that proves without hypotheses on memory. */
#include "kernel/lifecycle/lifecycle_table.h"

#define PAIR(from, step) ((unsigned)(from) * (unsigned)SL_STEP_COUNT + (unsigned)(step))

struct sl_outcome sl_lifecycle_row(enum sl_phase from, enum sl_step step)
{
    struct sl_outcome row = {false, from, SL_QUOTA_KEEP, SL_RESET_NONE, SL_REQUEUING_KEEP};
    switch (PAIR(from, step)) {
#define SL_ROW(number, f, s, t, quota_effect, reset_effect, requeue_effect)                        \
    case PAIR(f, s):                                                                               \
        row.found = true;                                                                          \
        row.to = t;                                                                                \
        row.quota = quota_effect;                                                                  \
        row.reset = reset_effect;                                                                  \
        row.requeue = requeue_effect;                                                              \
        break;
#include "model/lifecycle.def"
#undef SL_ROW
    default:
        break;
    }
    return row;
}
