/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The ledger's checker notices each thing that can be wrong with a forest that was right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/ledger/cells.h"
#include "kernel/ledger/ledger.h"
#include "policy/flavors/open_cell.h"

enum { COHORT, QUEUE, OTHER, UNUSED, NODES };
enum { FLAVOR = 7, CPU = 9, MEMORY = 10 };

/* A cohort of two queues; the first has two cells, and so has the cohort. QUEUE borrows one of CPU. */
static sl_cell_id top, cpu, memory;

static int setup(void **state)
{
    (void)state;
    sl_cell_id other;
    for (sl_qnode_id node = 0; node < NODES; node++) {
        assert_int_equal(sl_ledger_open_qnode(node), SL_OK);
    }
    assert_int_equal(sl_ledger_move_qnode(QUEUE, COHORT), SL_OK);
    assert_int_equal(sl_ledger_move_qnode(OTHER, COHORT), SL_OK);
    assert_int_equal(sl_ledger_open_cell(QUEUE, FLAVOR, CPU, &cpu), SL_OK);
    assert_int_equal(sl_ledger_open_cell(QUEUE, FLAVOR, MEMORY, &memory), SL_OK);
    assert_int_equal(sl_ledger_open_cell(OTHER, FLAVOR, CPU, &other), SL_OK);
    assert_int_equal(sl_ledger_open_cell(COHORT, FLAVOR, CPU, &top), SL_OK);
    assert_int_equal(sl_ledger_set_quota(cpu, 4, 0, SL_AMOUNT_UNLIMITED), SL_OK);
    assert_int_equal(sl_ledger_charge(cpu, 5), SL_OK);
    assert_int_equal(sl_ledger_usage(top), 1);
    assert_int_equal(sl_ledger_open_cell(UNUSED, FLAVOR, CPU, &other), SL_OK);
    assert_int_equal(sl_ledger_close_qnode(UNUSED), SL_OK);
    assert_int_equal(sl_cell_spares, 1);
    assert_true(sl_ledger_valid());
    return 0;
}

#define BROKEN(lvalue, value)                                                                      \
    do {                                                                                           \
        __typeof__(lvalue) good = (lvalue);                                                        \
        (lvalue) = (value);                                                                        \
        assert_false(sl_ledger_valid());                                                           \
        (lvalue) = good;                                                                           \
        assert_true(sl_ledger_valid());                                                            \
    } while (0)

static void test_ledger_check_notices_broken_nodes(void **state)
{
    (void)state;
    BROKEN(sl_qnode_limit, SL_QNODES_MAX + 1);
    BROKEN(sl_qnode_up[QUEUE], UNUSED + 1);
    BROKEN(sl_qnode_up[QUEUE], SL_QNODES_MAX);
    BROKEN(sl_qnode_up[UNUSED], COHORT + 1);
    BROKEN(sl_qnode_level[QUEUE], 2);
    BROKEN(sl_qnode_level[QUEUE], SL_LEVELS_MAX);
    BROKEN(sl_qnode_level[COHORT], 1);
    BROKEN(sl_qnode_level[UNUSED], 1);
    BROKEN(sl_qnode_children[COHORT], 1);
    BROKEN(sl_qnode_children[QUEUE], 1);
    BROKEN(sl_qnode_used[COHORT], false);
}

static void test_ledger_check_notices_broken_lists(void **state)
{
    (void)state;
    BROKEN(sl_qnode_first[UNUSED], 1);
    BROKEN(sl_qnode_cells[UNUSED], 1);
    BROKEN(sl_qnode_first[QUEUE], 0);
    BROKEN(sl_qnode_first[QUEUE], cpu + 1);
    BROKEN(sl_qnode_first[QUEUE], sl_cell_limit + 1);
    BROKEN(sl_qnode_cells[QUEUE], 0);
    BROKEN(sl_qnode_cells[QUEUE], 3);
    BROKEN(sl_cell_rank[memory], 1);
    BROKEN(sl_cell_rank[memory], 3);
    BROKEN(sl_cell_rank[cpu], 0);
    BROKEN(sl_cell_rank[cpu], 2);
    BROKEN(sl_cell_next[memory], 0);
    BROKEN(sl_cell_next[memory], top + 1);
    BROKEN(sl_cell_next[memory], sl_cell_limit + 1);
    BROKEN(sl_cell_next[cpu], memory + 1);
}

/* Everything but the counts of cells is local: one that nobody's list leads to, in use or spare. */
static void test_ledger_check_notices_a_cell_that_no_list_leads_to(void **state)
{
    (void)state;
    sl_cell_id stray = sl_cell_limit;
    sl_cell_limit++;
    sl_cell_home[stray] = COHORT + 1;
    sl_cell_resource[stray] = MEMORY + 1;
    sl_cell_rank[stray] = 1;
    assert_false(sl_ledger_valid());
    sl_cell_home[stray] = 0;
    sl_cell_spare[sl_cell_spares] = stray;
    sl_cell_spares++;
    assert_true(sl_ledger_valid());
    BROKEN(sl_cell_spare[1], sl_cell_spare[0]);
    BROKEN(sl_cell_spare[0], stray);
    BROKEN(sl_cell_spare[0], cpu);
    BROKEN(sl_cell_spare[0], sl_cell_limit);
    BROKEN(sl_cell_spares, 1);
    BROKEN(sl_cell_spares, sl_cell_limit + 1);
}

static void test_ledger_check_notices_broken_cells(void **state)
{
    (void)state;
    BROKEN(sl_cell_limit, SL_CELLS_MAX + 1);
    BROKEN(sl_cell_home[cpu], 0);
    BROKEN(sl_cell_home[cpu], OTHER + 1);
    BROKEN(sl_cell_home[cpu], UNUSED + 1);
    BROKEN(sl_cell_home[cpu], SL_QNODES_MAX);
    BROKEN(sl_cell_up[cpu], 0);
    BROKEN(sl_cell_up[cpu], memory + 1);
    BROKEN(sl_cell_up[cpu], sl_cell_limit + 1);
    BROKEN(sl_cell_up[top], cpu + 1);
    BROKEN(sl_cell_flavor[cpu], FLAVOR + 1);
    BROKEN(sl_cell_resource[cpu], CPU + 1);
}

static void test_ledger_check_notices_broken_numbers(void **state)
{
    (void)state;
    BROKEN(sl_cell_nominal[cpu], -1);
    BROKEN(sl_cell_lending[cpu], -1);
    BROKEN(sl_cell_borrowing[cpu], SL_AMOUNT_UNLIMITED + 1);
    BROKEN(sl_cell_lent_low[top], 1);
    BROKEN(sl_cell_lent_high[top], 1);
    BROKEN(sl_cell_subtree[cpu], 3);
    BROKEN(sl_cell_kept[cpu], 3);
    BROKEN(sl_cell_own[cpu], 4);
    BROKEN(sl_cell_own[cpu], -1);
    BROKEN(sl_cell_usage[cpu], 6);
    BROKEN(sl_cell_usage[top], 2);
    BROKEN(sl_cell_usage[top], SL_AMOUNT_MAX + 1);
    BROKEN(sl_total[CPU], 6);
    BROKEN(sl_total[0], 1);
}

/* Every cell alone is in range, but not what is charged of the resource. */
static void test_ledger_check_notices_a_total_that_is_too_large(void **state)
{
    (void)state;
    int64_t more = SL_AMOUNT_MAX - 4; /* 5 are charged already */
    sl_cell_own[top] += more;
    sl_cell_usage[top] += more;
    sl_total[CPU] += more;
    assert_false(sl_ledger_valid());
    sl_cell_own[top]--;
    sl_cell_usage[top]--;
    sl_total[CPU]--;
    assert_true(sl_ledger_valid());
    sl_cell_own[memory] = sl_cell_usage[memory] = SL_AMOUNT_MAX;
    sl_cell_usage[sl_cell_up[memory] - 1] = SL_AMOUNT_MAX;
    sl_total[MEMORY] = SL_AMOUNT_MAX;
    assert_true(sl_ledger_valid());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ledger_check_notices_broken_nodes),
        cmocka_unit_test(test_ledger_check_notices_broken_lists),
        cmocka_unit_test(test_ledger_check_notices_a_cell_that_no_list_leads_to),
        cmocka_unit_test(test_ledger_check_notices_broken_cells),
        cmocka_unit_test(test_ledger_check_notices_broken_numbers),
        cmocka_unit_test(test_ledger_check_notices_a_total_that_is_too_large),
    };
    return cmocka_run_group_tests_name("ledger_check", tests, setup, NULL);
}
