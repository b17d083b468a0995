/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is said of a broken guarantee, and that the paranoid end there, before anything is written. */
#include "scene.h"

#include <sys/wait.h>
#include <unistd.h>

#include "engine/state.h"
#include "engine/turn/valid.h"
#include "kernel/ledger/cells.h"
#include "kernel/commit/workload_usage.h"
#include "policy/guarantees/guarantees.h"

static int setup_valid(void **state)
{
    (void)setup(state);
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    return 0;
}

static void expect_said(const char *text)
{
    const char *broken = NULL;
    assert_false(sl_engine_valid(w.engine, &broken));
    assert_string_equal(broken, text);
}

static void test_valid_says_the_guarantee_and_the_workload(void **state)
{
    (void)state;
    sl_places[0] = SL_PLACE_HEAP;
    expect_said("G8: its place does not fit its record: workload 0, team/a");
    sl_places[0] = SL_PLACE_HOLDING;
    world_check(&w);
}

static void test_valid_says_the_guarantee_alone_where_all_of_the_core_is_meant(void **state)
{
    (void)state;
    sl_usage_amounts[0][0]++;
    expect_said("G2: usage is not the sum of what workloads hold");
    sl_usage_amounts[0][0]--;
    world_check(&w);
}

static void test_valid_says_when_the_engine_counts_otherwise_than_the_core(void **state)
{
    (void)state;
    w.engine->counters.holding++;
    expect_said("G10: the engine's tallies are not what the core says");
    w.engine->counters.holding--;
    world_check(&w);
}

/* How a process ends that does this before and after a cycle. */
static int end_of(void (*before)(void), void (*after)(void))
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        assert_non_null(freopen("/dev/null", "w", stderr));
        before();
        sl_valid_step(w.engine, false);
        after();
        sl_valid_step(w.engine, true);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void nothing(void)
{
}

static void lose_place(void)
{
    sl_places[0] = SL_PLACE_NONE;
}

static void forget_finish(void)
{
    sl_workloads[0].generation--;
}

/* More is charged than there is, and all sums agree. */
static void take_too_much(void)
{
    sl_cell_id cell = sl_usage_cells[0][0];
    int64_t more = sl_ledger_available(cell) + 1;
    sl_cell_own[cell] += more;
    sl_cell_usage[cell] += more;
}

static void test_valid_paranoid_ends_with_its_own_code(void **state)
{
    (void)state;
    assert_int_equal(end_of(nothing, nothing), 0);
    assert_int_equal(end_of(lose_place, nothing), SL_EXIT_BROKEN);
    assert_int_equal(end_of(nothing, lose_place), SL_EXIT_BROKEN);
    assert_int_equal(end_of(forget_finish, nothing), SL_EXIT_BROKEN);
    assert_int_equal(end_of(nothing, take_too_much), SL_EXIT_BROKEN);
}

static void test_valid_others_go_on(void **state)
{
    (void)state;
    w.engine->settings.paranoid = false;
    assert_int_equal(end_of(lose_place, nothing), 0);
    w.engine->settings.paranoid = true;
}

#define VALID_TEST(name) cmocka_unit_test_setup_teardown(name, setup_valid, teardown_unchecked)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VALID_TEST(test_valid_says_the_guarantee_and_the_workload),
        VALID_TEST(test_valid_says_the_guarantee_alone_where_all_of_the_core_is_meant),
        VALID_TEST(test_valid_says_when_the_engine_counts_otherwise_than_the_core),
        VALID_TEST(test_valid_paranoid_ends_with_its_own_code),
        VALID_TEST(test_valid_others_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
