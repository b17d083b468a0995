/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The table of the lifecycle, row by row, against what its columns mean. That each step is carried out as its row says
 * is proved; nothing that runs reads the column of the quota. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/lifecycle/lifecycle_table.h"

static bool holds(enum sl_phase phase)
{
    return phase == SL_PHASE_QUOTA_RESERVED || phase == SL_PHASE_ADMITTED ||
           phase == SL_PHASE_EVICTED;
}

/* Quota goes with the phase; where a workload that holds some is switched off, before its job has stopped. */
static enum sl_quota_effect expected(enum sl_phase from, enum sl_step step, enum sl_phase to)
{
    if (holds(from) != holds(to)) {
        return holds(to) ? SL_QUOTA_TAKE : SL_QUOTA_DROP;
    }
    bool off = step == SL_STEP_DEACTIVATE || step == SL_STEP_SWITCH_OFF;
    return holds(from) && off ? SL_QUOTA_DROP : SL_QUOTA_KEEP;
}

static void test_lifecycle_table_quota_goes_with_the_phase(void **state)
{
    (void)state;
    unsigned rows = 0;
    for (int from = SL_PHASE_ABSENT; from <= SL_PHASE_FINISHED; from++) {
        for (int step = 0; step < SL_STEP_COUNT; step++) {
            struct sl_outcome row = sl_lifecycle_row((enum sl_phase)from, (enum sl_step)step);
            if (row.found &&
                row.quota != expected((enum sl_phase)from, (enum sl_step)step, row.to)) {
                fail_msg("phase %d, step %d: the effect on quota is %d", from, step, row.quota);
            }
            rows += row.found;
        }
    }
    assert_true(rows > 60);
}

/* What ends a reservation resets the record, so that nothing of it is seen in the next one. */
static void test_lifecycle_table_reservation_that_ends_is_reset(void **state)
{
    (void)state;
    for (int from = SL_PHASE_QUOTA_RESERVED; from <= SL_PHASE_EVICTED; from++) {
        for (int step = 0; step < SL_STEP_COUNT; step++) {
            struct sl_outcome row = sl_lifecycle_row((enum sl_phase)from, (enum sl_step)step);
            if (row.found && holds((enum sl_phase)from) && row.to == SL_PHASE_PENDING &&
                row.reset != SL_RESET_RELEASE && row.reset != SL_RESET_UNWRITTEN) {
                fail_msg("phase %d, step %d: the reset is %d", from, step, row.reset);
            }
        }
    }
}

static void test_lifecycle_table_row_that_is_not_there_changes_nothing(void **state)
{
    (void)state;
    struct sl_outcome row = sl_lifecycle_row(SL_PHASE_FINISHED, SL_STEP_REACTIVATE);
    assert_false(row.found);
    assert_int_equal(row.to, SL_PHASE_FINISHED);
    assert_int_equal(row.quota, SL_QUOTA_KEEP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lifecycle_table_quota_goes_with_the_phase),
        cmocka_unit_test(test_lifecycle_table_reservation_that_ends_is_reset),
        cmocka_unit_test(test_lifecycle_table_row_that_is_not_there_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
