/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The workload's own moves, for every model: the rows of lifecycle.def themselves, expanded by the preprocessor. */
#define SL_PHASE_ABSENT 0
#define SL_PHASE_PENDING 1
#define SL_PHASE_QUOTA_RESERVED 2
#define SL_PHASE_ADMITTED 3
#define SL_PHASE_EVICTED 4
#define SL_PHASE_FINISHED 5

#define SL_STEP(constant, text) constant,
mtype = {
#include "model/steps.def"
    SL_STEP_END
};

/* What of a row's other columns the models use: does usage count afterwards, did the eviction reset (row E)? */
#define SL_QUOTA_KEEP 0
#define SL_QUOTA_TAKE 1
#define SL_QUOTA_DROP 2
#define SL_RESET_NONE 0
#define SL_RESET_CREATION 0
#define SL_RESET_RESERVATION 0
#define SL_RESET_RELEASE 0
#define SL_RESET_UNWRITTEN 0
#define SL_RESET_DELETION 0
#define SL_RESET_EVICTION 1
#define SL_REQUEUING_KEEP 0
#define SL_REQUEUING_BY_REASON 1
#define SL_REQUEUING_REACTIVATED 2
#define SL_REQUEUING_BACKOFF 3
#define SL_REQUEUING_RESTARTED 4

#define SL_STEPS_MAX 40
#define SL_ROW(rule, from, on, to, quota, reset, requeuing) \
    sl_table[from * SL_STEPS_MAX + on] = 1 + to + 8 * quota + 32 * reset + 64 * requeuing;
#define SL_ROW_PHASE(row) (((row) - 1) % 8)
#define SL_ROW_QUOTA(row) ((((row) - 1) / 8) % 4)
#define SL_ROW_EVICTS(row) ((((row) - 1) / 32) % 2)
#define SL_ROW_REQUEUING(row) (((row) - 1) / 64)

/* 0 where the table has no row, which is a refusal; else what the row says, packed. Filled once, by init. */
hidden short sl_table[240];
#define sl_row(phase, step) sl_table[(phase) * SL_STEPS_MAX + (step)]

inline sl_fill_table()
{
    assert(SL_STEP_END < SL_STEPS_MAX);
#include "model/lifecycle.def"
}
