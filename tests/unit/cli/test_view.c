/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Keys that scroll and filter. */
#include "t.h"
#include <limits.h>
#include "cli/screen/view.h"

static enum sl_view_change press(struct sl_view *v, const char *keys)
{
    enum sl_view_change change = SL_VIEW_SAME;
    for (; *keys != '\0'; keys++) {
        change = sl_view_key(v, *keys);
    }
    return change;
}

static void test_view_scrolls(void **state)
{
    (void)state;
    struct sl_view v = {.page = 10};
    static const struct {
        const char *keys;
        enum sl_view_change change;
        unsigned top;
    } rows[] = {{"j", SL_VIEW_SCROLLED, 1},
                {"\033[B\033OB", SL_VIEW_SCROLLED, 3},
                {"k\033[A\033OA", SL_VIEW_SCROLLED, 0},
                {"k", SL_VIEW_SAME, 0},
                {" \033[6~", SL_VIEW_SCROLLED, 18},
                {"b", SL_VIEW_SCROLLED, 9},
                {"\033[5~", SL_VIEW_SCROLLED, 0},
                {"b", SL_VIEW_SAME, 0},
                {"jjg", SL_VIEW_SCROLLED, 0},
                {"G", SL_VIEW_SCROLLED, UINT_MAX},
                {"j\033[6~", SL_VIEW_SAME, UINT_MAX},
                {"\033[H", SL_VIEW_SCROLLED, 0},
                {"\033[4~", SL_VIEW_SCROLLED, UINT_MAX},
                {"\033[1~", SL_VIEW_SCROLLED, 0},
                {"\033[F", SL_VIEW_SCROLLED, UINT_MAX},
                {"\033[24;5~", SL_VIEW_SAME, UINT_MAX},
                {"\033[2", SL_VIEW_SAME, UINT_MAX},
                {"0000000000000000", SL_VIEW_SAME, UINT_MAX},
                {"x", SL_VIEW_SAME, UINT_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (press(&v, rows[i].keys) != rows[i].change || v.top != rows[i].top) {
            fail_msg("row %zu: top %u", i, v.top);
        }
    }
    v.page = 0;
    v.top = 0;
    assert_int_equal(press(&v, " "), SL_VIEW_SCROLLED);
    assert_int_equal(v.top, 1);
}

static void test_view_filters(void **state)
{
    (void)state;
    struct sl_view v = {.top = 5};
    assert_int_equal(press(&v, "/"), SL_VIEW_SCROLLED);
    assert_true(v.typing);
    assert_int_equal(press(&v, "jq"), SL_VIEW_FILTERED); /* letters now */
    assert_string_equal(v.filter, "jq");
    assert_int_equal(v.top, 0);
    assert_int_equal(press(&v, "\x7f"), SL_VIEW_FILTERED);
    assert_string_equal(v.filter, "j");
    assert_int_equal(press(&v, "\t"), SL_VIEW_SAME);
    assert_int_equal(press(&v, "\n"), SL_VIEW_SCROLLED);
    assert_false(v.typing);
    assert_string_equal(v.filter, "j");
    assert_int_equal(press(&v, "\033"), SL_VIEW_SAME);
    assert_int_equal(sl_view_pause(&v), SL_VIEW_FILTERED); /* Escape takes it back */
    assert_string_equal(v.filter, "");
    assert_int_equal(sl_view_pause(&v), SL_VIEW_SAME);
    assert_int_equal(press(&v, "\033["), SL_VIEW_SAME);
    assert_int_equal(sl_view_pause(&v), SL_VIEW_SAME); /* half of a key */
    assert_int_equal(press(&v, "/a\b\b"), SL_VIEW_FILTERED);
    assert_false(v.typing);
    press(&v, "/");
    for (unsigned i = 0; i < 2 * SL_VIEW_FILTER_SIZE; i++) {
        press(&v, "a");
    }
    assert_int_equal(strlen(v.filter), SL_VIEW_FILTER_SIZE - 1);
    assert_int_equal(press(&v, "\rq"), SL_VIEW_QUIT);
}

static void test_view_matches_whatever_the_case(void **state)
{
    (void)state;
    assert_true(sl_view_matches("", "anything"));
    assert_true(sl_view_matches("LAB", "team/lab-1"));
    assert_false(sl_view_matches("labs", "team/lab-1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view_scrolls),
        cmocka_unit_test(test_view_filters),
        cmocka_unit_test(test_view_matches_whatever_the_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
