/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Aligned columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/grid.h"

static void assert_printed(struct sl_grid *g, const char *wanted)
{
    struct sl_buf text = {0};
    sl_grid_print(g, &text);
    assert_string_equal(text.data, wanted);
    sl_buf_fini(&text);
    sl_grid_free(g);
}

static void test_grid_columns_are_as_wide_as_their_longest_text(void **state)
{
    (void)state;
    struct sl_grid *g = sl_grid_new(3);
    sl_grid_add_title(g, "Name");
    sl_grid_add_title(g, "In use");
    sl_grid_add_title(g, "Age");
    sl_grid_add(g, "longer");
    sl_grid_add_number(g, -7);
    sl_grid_add(g, "5s");
    assert_printed(g, "NAME     IN USE   AGE\nlonger   -7       5s\n");
}

static void test_grid_counts_characters_and_takes_first_lines(void **state)
{
    (void)state;
    struct sl_grid *g = sl_grid_new(2);
    sl_grid_add(g, "\xc3\xa9t\xc3\xa9");
    sl_grid_add(g, "one\ntwo");
    sl_grid_add(g, NULL);
    sl_grid_add(g, "x");
    assert_printed(g, "\xc3\xa9t\xc3\xa9   one\n      x\n");
}

static void test_grid_of_many_rows(void **state)
{
    (void)state;
    struct sl_grid *g = sl_grid_new(1);
    struct sl_buf wanted = {0};
    for (int i = 0; i < 1000; i++) {
        sl_grid_add_number(g, i);
        sl_buf_print(&wanted, "%d\n", i);
    }
    assert_printed(g, wanted.data);
    sl_buf_fini(&wanted);
    sl_grid_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_columns_are_as_wide_as_their_longest_text),
        cmocka_unit_test(test_grid_counts_characters_and_takes_first_lines),
        cmocka_unit_test(test_grid_of_many_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
