/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* When the next cycle is due. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/verdicts/pacing.h"

/* A head to be tried; the last cycle ran at 1000, the last for wake-ups alone at 500; no passes. */
static const struct sl_pace busy = {
    .ready = true, .untried = true, .cycle_ms = 1000, .woken_ms = 500, .pass_ms = SL_NEVER};

static void test_pacing_nothing_to_do_waits_for_ever(void **state)
{
    (void)state;
    struct sl_pace p = busy;
    p.ready = false;
    assert_true(sl_pacing_due_ms(p) == INT64_MAX);
    p.idle_cycles = UINT64_MAX;
    assert_true(sl_pacing_due_ms(p) == INT64_MAX);
}

static void test_pacing_heads_that_were_not_tried_do_not_wait(void **state)
{
    (void)state;
    assert_true(sl_pacing_due_ms(busy) == INT64_MIN);
}

static void test_pacing_wake_ups_wait_longer_the_more_are_pending(void **state)
{
    (void)state;
    const struct {
        uint32_t pending;
        int64_t due_ms;
    } rows[] = {{0, 500}, {499, 500}, {500, 501}, {49999, 599}, {50000, 600}, {UINT32_MAX, 600}};
    struct sl_pace p = busy;
    p.untried = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        p.pending = rows[i].pending;
        assert_true(sl_pacing_due_ms(p) == rows[i].due_ms);
    }
}

static void test_pacing_circles_pause(void **state)
{
    (void)state;
    struct sl_pace p = busy;
    p.pending = 7;
    p.idle_cycles = 614; /* 600 and twice 7 */
    assert_true(sl_pacing_due_ms(p) == INT64_MIN);
    p.idle_cycles = 615;
    assert_true(sl_pacing_due_ms(p) == 1100);
    p.pending = UINT32_MAX;
    p.idle_cycles = 600 + 2ull * UINT32_MAX;
    assert_true(sl_pacing_due_ms(p) == INT64_MIN);
    p.idle_cycles++;
    assert_true(sl_pacing_due_ms(p) == 1100);
}

static void test_pacing_second_passes_come_at_their_own_time(void **state)
{
    (void)state;
    struct sl_pace p = busy;
    p.pass_ms = 300;
    assert_true(sl_pacing_due_ms(p) == INT64_MIN);
    p.untried = false;
    assert_true(sl_pacing_due_ms(p) == 300);
    p.pass_ms = 501;
    assert_true(sl_pacing_due_ms(p) == 500);
    p.ready = false;
    assert_true(sl_pacing_due_ms(p) == 501);
}

static void test_pacing_times_at_the_end_do_not_overflow(void **state)
{
    (void)state;
    struct sl_pace p = busy;
    p.untried = false;
    p.pending = UINT32_MAX;
    p.woken_ms = INT64_MAX - 99;
    assert_true(sl_pacing_due_ms(p) == INT64_MAX);
    p.woken_ms = SL_NEVER;
    assert_true(sl_pacing_due_ms(p) == INT64_MIN + 100);
    p.idle_cycles = UINT64_MAX;
    p.cycle_ms = INT64_MAX;
    assert_true(sl_pacing_due_ms(p) == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pacing_nothing_to_do_waits_for_ever),
        cmocka_unit_test(test_pacing_heads_that_were_not_tried_do_not_wait),
        cmocka_unit_test(test_pacing_wake_ups_wait_longer_the_more_are_pending),
        cmocka_unit_test(test_pacing_circles_pause),
        cmocka_unit_test(test_pacing_second_passes_come_at_their_own_time),
        cmocka_unit_test(test_pacing_times_at_the_end_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
