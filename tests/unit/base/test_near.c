/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which name was meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/near.h"

static const char *const names[] = {"research", "training", "nightly", "lab"};

static const char *meant(const char *word)
{
    struct sl_near near;
    sl_near_start(&near, word);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        sl_near_try(&near, names[i]);
    }
    return near.best;
}

static void test_near_finds_each_slip(void **state)
{
    (void)state;
    static const char *const slips[][2] = {{"reserch", "research"},  {"reesearch", "research"},
                                           {"rezearch", "research"}, {"erseach", "research"},
                                           {"Research", "research"}, {"trianing", "training"},
                                           {"nightlies", "nightly"}, {"lba", "lab"},
                                           {"lab", "lab"},           {"researches", "research"}};
    for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++) {
        assert_string_equal(meant(slips[i][0]), slips[i][1]);
    }
}

static void test_near_does_not_guess(void **state)
{
    (void)state;
    static const char *const strange[] = {"", "x", "la", "gpu", "production", "rsrch", "bal"};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        assert_null(meant(strange[i]));
    }
}

static void test_near_the_first_of_equals_is_taken_and_a_nearer_one_instead(void **state)
{
    (void)state;
    struct sl_near near;
    sl_near_start(&near, "team-a");
    sl_near_try(&near, "team-bb");
    sl_near_try(&near, "team-b");
    sl_near_try(&near, "team-c");
    assert_string_equal(near.best, "team-b");
    assert_int_equal(near.distance, 1);
}

static void test_near_long_names_are_left_alone(void **state)
{
    (void)state;
    struct sl_near near;
    char word[65], other[65];
    memset(word, 'a', 64);
    memset(other, 'a', 64);
    word[64] = other[64] = '\0';
    sl_near_start(&near, word);
    sl_near_try(&near, other);
    assert_null(near.best);
    word[63] = other[63] = '\0';
    sl_near_start(&near, word);
    sl_near_try(&near, "a");
    assert_null(near.best);
    sl_near_try(&near, other);
    assert_string_equal(near.best, other);
}

static void test_near_prints_a_question_or_nothing(void **state)
{
    (void)state;
    struct sl_near near;
    struct sl_buf text = {0};
    sl_near_start(&near, "reserch");
    sl_near_print(&near, &text);
    assert_int_equal(text.len, 0);
    sl_near_try(&near, "research");
    sl_near_print(&near, &text);
    assert_string_equal(text.data, "; did you mean research?");
    sl_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_finds_each_slip),
        cmocka_unit_test(test_near_does_not_guess),
        cmocka_unit_test(test_near_the_first_of_equals_is_taken_and_a_nearer_one_instead),
        cmocka_unit_test(test_near_long_names_are_left_alone),
        cmocka_unit_test(test_near_prints_a_question_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
