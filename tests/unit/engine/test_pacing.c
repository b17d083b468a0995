/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Cycles that decide nothing, one after the other, come with pauses. */
#include "scene.h"

#include "engine/state.h"

static void test_pacing_counts_cycles_since_something_was_decided_or_changed(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    world_add_workload(&w, "too-large-now", "lq", 1, "8");
    world_settle(&w);
    world_expect(&w, "too-large-now", "QuotaReserved", "False", "WaitingForQuota");
    assert_true(w.engine->idle_cycles > 0);
    (void)world_patch(
        &w, SL_KIND_WORKLOAD, "team", "a",
        "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]}}");
    world_settle(&w);
    world_expect(&w, "too-large-now", "QuotaReserved", "True", "QuotaReserved");
    assert_int_equal(w.engine->idle_cycles, 0);
}

static void test_pacing_waits_when_nothing_comes_of_many_cycles(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    sl_world_flush(w.engine, w.now_ms);
    assert_int_equal(sl_engine_due_ms(w.engine), INT64_MIN);
    w.engine->idle_cycles = 603; /* one pending: 600 + 2, and one more */
    w.engine->cycle_ms = w.now_ms;
    assert_int_equal(sl_engine_due_ms(w.engine), w.now_ms + 100);
    assert_false(sl_engine_cycle(w.engine, w.now_ms + 99));
    assert_int_equal(w.engine->counters.pending, 1);
    (void)sl_engine_cycle(w.engine, w.now_ms + 100);
    assert_int_equal(w.engine->counters.pending, 0);
    assert_int_equal(w.engine->idle_cycles, 0);
}

static void test_pacing_is_over_as_soon_as_anything_changes(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    sl_world_flush(w.engine, w.now_ms);
    w.engine->idle_cycles = 100000;
    w.engine->cycle_ms = w.now_ms;
    world_add_workload(&w, "b", "lq", 1, "1");
    sl_world_flush(w.engine, w.now_ms);
    assert_int_equal(sl_engine_due_ms(w.engine), INT64_MIN);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_basics, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_pacing_counts_cycles_since_something_was_decided_or_changed),
        CASE(test_pacing_waits_when_nothing_comes_of_many_cycles),
        CASE(test_pacing_is_over_as_soon_as_anything_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
