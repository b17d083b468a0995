/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The keyed work queue. */
#include "t.h"
#include "controllers/work/work.h"
#include <stdio.h>

static void test_work_same_key_twice_is_handed_out_once(void **state)
{
    (void)state;
    struct sl_work *w = sl_work_new();
    sl_work_add(w, "a/x", SL_WORK_NOW);
    sl_work_add(w, "a/x", SL_WORK_NOW);

    assert_string_equal(sl_work_take(w, 0), "a/x");
    assert_null(sl_work_take(w, 0));
    sl_work_done(w, "a/x");

    assert_int_equal(sl_work_count(w), 0);
    sl_work_free(w);
}

static void test_work_added_while_busy_comes_again_after_done(void **state)
{
    (void)state;
    struct sl_work *w = sl_work_new();
    sl_work_add(w, "a/x", SL_WORK_NOW);
    sl_work_take(w, 0);

    sl_work_add(w, "a/x", SL_WORK_NOW);
    assert_null(sl_work_take(w, 0));
    sl_work_done(w, "a/x");

    assert_string_equal(sl_work_take(w, 0), "a/x");
    sl_work_free(w);
}

static void test_work_order_is_due_time_then_arrival(void **state)
{
    (void)state;
    struct sl_work *w = sl_work_new();
    sl_work_add(w, "/late", 300);
    sl_work_add(w, "/second", SL_WORK_NOW);
    sl_work_add(w, "/early", 200);
    sl_work_add(w, "/third", SL_WORK_NOW);

    assert_string_equal(sl_work_take(w, 1000), "/second");
    assert_string_equal(sl_work_take(w, 1000), "/third");
    assert_string_equal(sl_work_take(w, 1000), "/early");
    assert_string_equal(sl_work_take(w, 1000), "/late");
    sl_work_free(w);
}

static void test_work_not_due_yet_stays(void **state)
{
    (void)state;
    struct sl_work *w = sl_work_new();
    assert_true(sl_work_due_ms(w) == SL_WORK_NEVER);
    sl_work_add(w, "/a", 500);

    assert_null(sl_work_take(w, 499));
    assert_true(sl_work_due_ms(w) == 500);
    assert_string_equal(sl_work_take(w, 500), "/a");
    sl_work_free(w);
}

static void test_work_earlier_time_wins_later_does_not(void **state)
{
    (void)state;
    struct sl_work *w = sl_work_new();
    sl_work_add(w, "/a", 500);
    sl_work_add(w, "/a", 900);
    assert_true(sl_work_due_ms(w) == 500);
    sl_work_add(w, "/a", 100);
    assert_true(sl_work_due_ms(w) == 100);
    sl_work_free(w);
}

/* While busy, the time of the first addition counts, unless a later addition is earlier. */
static void test_work_added_late_while_busy_waits_for_its_time(void **state)
{
    (void)state;
    struct sl_work *w = sl_work_new();
    sl_work_add(w, "/a", SL_WORK_NOW);
    sl_work_take(w, 0);
    sl_work_add(w, "/a", 700);
    sl_work_add(w, "/a", 600);
    sl_work_done(w, "/a");

    assert_null(sl_work_take(w, 599));
    assert_non_null(sl_work_take(w, 600));
    sl_work_free(w);
}

static void test_work_thousand_keys_come_out_sorted(void **state)
{
    (void)state;
    struct sl_work *w = sl_work_new();
    char key[32];
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "/k%u", i);
        sl_work_add(w, key, (int64_t)(i * 7919u % 1000u));
    }
    for (int64_t i = 0; i < 1000; i++) {
        assert_true(sl_work_due_ms(w) == i);
        const char *taken = sl_work_take(w, i);
        assert_non_null(taken);
        snprintf(key, sizeof key, "%s", taken);
        sl_work_done(w, key);
    }
    assert_int_equal(sl_work_count(w), 0);
    sl_work_free(w);
}

static void test_key_parse_splits_at_the_slash(void **state)
{
    (void)state;
    struct sl_key key;
    assert_true(sl_key_parse("lab/job-1", &key));
    assert_string_equal(key.ns, "lab");
    assert_string_equal(key.name, "job-1");
    assert_true(sl_key_parse("/cluster", &key));
    assert_string_equal(key.ns, "");
}

static void test_key_parse_without_slash_or_too_long_is_refused(void **state)
{
    (void)state;
    struct sl_key key;
    char text[400];
    memset(text, 'a', sizeof text);
    text[0] = '/';
    text[sizeof text - 1] = '\0';
    assert_false(sl_key_parse("nothing", &key));
    assert_false(sl_key_parse(text, &key));
    text[0] = 'a';
    text[70] = '/';
    text[80] = '\0';
    assert_false(sl_key_parse(text, &key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_same_key_twice_is_handed_out_once),
        cmocka_unit_test(test_work_added_while_busy_comes_again_after_done),
        cmocka_unit_test(test_work_order_is_due_time_then_arrival),
        cmocka_unit_test(test_work_not_due_yet_stays),
        cmocka_unit_test(test_work_earlier_time_wins_later_does_not),
        cmocka_unit_test(test_work_added_late_while_busy_waits_for_its_time),
        cmocka_unit_test(test_work_thousand_keys_come_out_sorted),
        cmocka_unit_test(test_key_parse_splits_at_the_slash),
        cmocka_unit_test(test_key_parse_without_slash_or_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
