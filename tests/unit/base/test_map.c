/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The map: look-up, order of iteration, removal while iterating, growth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/fnv1a.h"
#include "base/map.h"

static void put(struct sl_map *m, const char *key, uint64_t n)
{
    sl_map_put(m, key, (union sl_map_value){.number = n});
}

static void test_map_empty_has_nothing(void **state)
{
    (void)state;
    struct sl_map *m = sl_map_new();
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    assert_false(sl_map_get(m, "x", &value));
    assert_false(sl_map_remove(m, "x", NULL));
    assert_false(sl_map_next(m, &cursor, &key, &value));
    assert_int_equal(sl_map_count(m), 0);
    sl_map_free(m);
    sl_map_free(NULL);
}

static void test_map_find_gives_the_pointer_or_none(void **state)
{
    (void)state;
    int x = 1;
    struct sl_map *m = sl_map_new();
    assert_null(sl_map_find(m, "x"));
    sl_map_put(m, "x", (union sl_map_value){.pointer = &x});
    assert_ptr_equal(sl_map_find(m, "x"), &x);
    assert_null(sl_map_find(m, "y"));
    sl_map_free(m);
}

static void test_map_put_replaces_and_copies_the_key(void **state)
{
    (void)state;
    struct sl_map *m = sl_map_new();
    char key[] = "key";
    put(m, key, 1);
    key[0] = 'K';
    put(m, "key", 2);
    union sl_map_value value;
    assert_true(sl_map_get(m, "key", &value));
    assert_int_equal(value.number, 2);
    assert_false(sl_map_get(m, "Key", NULL));
    assert_int_equal(sl_map_count(m), 1);
    sl_map_free(m);
}

static void test_map_iterates_in_insertion_order_past_holes(void **state)
{
    (void)state;
    struct sl_map *m = sl_map_new();
    put(m, "c", 1);
    put(m, "a", 2);
    put(m, "b", 3);
    sl_map_remove(m, "a", NULL);
    put(m, "a", 4);
    char order[8] = "";
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(m, &cursor, &key, &value)) {
        strncat(order, key, 1);
    }
    assert_string_equal(order, "cba");
    sl_map_free(m);
}

static void test_map_removing_the_entry_just_returned_keeps_the_iteration(void **state)
{
    (void)state;
    struct sl_map *m = sl_map_new();
    char key[16];
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "k%d", i);
        put(m, key, (uint64_t)i);
    }
    size_t cursor = 0, seen = 0;
    const char *at;
    union sl_map_value value, old;
    while (sl_map_next(m, &cursor, &at, &value)) {
        assert_int_equal(value.number, seen);
        seen++;
        assert_true(sl_map_remove(m, at, &old));
        assert_int_equal(old.number, value.number);
    }
    assert_int_equal(seen, 100);
    assert_int_equal(sl_map_count(m), 0);
    sl_map_free(m);
}

static void test_map_many_puts_and_removes_stay_consistent(void **state)
{
    (void)state;
    struct sl_map *m = sl_map_new();
    char key[32];
    for (uint64_t round = 0; round < 5; round++) {
        for (uint64_t i = 0; i < 20000; i++) {
            snprintf(key, sizeof key, "ns/%llu", (unsigned long long)i);
            put(m, key, round * 1000000 + i);
        }
        for (uint64_t i = 0; i < 20000; i += 2) {
            snprintf(key, sizeof key, "ns/%llu", (unsigned long long)i);
            assert_true(sl_map_remove(m, key, NULL));
        }
    }
    assert_int_equal(sl_map_count(m), 10000);
    union sl_map_value value;
    assert_true(sl_map_get(m, "ns/19999", &value));
    assert_int_equal(value.number, 4019999);
    assert_false(sl_map_get(m, "ns/19998", &value));
    sl_map_free(m);
}

static char handed_over[8];

static void hand_over(void *value)
{
    strcat(handed_over, value);
}

static void test_map_free_with_hands_over_what_is_in_it(void **state)
{
    (void)state;
    char *values[] = {"a", "b", "c"};
    struct sl_map *m = sl_map_new();
    handed_over[0] = '\0';
    for (size_t i = 0; i < 3; i++) {
        sl_map_put(m, values[2 - i], (union sl_map_value){.pointer = values[2 - i]});
    }
    assert_true(sl_map_remove(m, "b", NULL));
    sl_map_free_with(m, hand_over);
    assert_string_equal(handed_over, "ca");
    sl_map_free_with(NULL, hand_over);
    assert_string_equal(handed_over, "ca");
}

/* Texts whose hashes fall together are quickly found where the hash has no secret. This was how maps hashed once. */
static bool falls_together(const char *key)
{
    uint64_t h = sl_fnv1a(SL_FNV1A_BASIS, key, strlen(key));
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    return ((h ^ (h >> 33)) & 0xfff) == 0;
}

static void test_map_stays_quick_with_chosen_keys(void **state)
{
    (void)state;
    struct sl_map *m = sl_map_new();
    char key[24];
    for (unsigned i = 0; sl_map_count(m) < 400; i++) {
        (void)snprintf(key, sizeof key, "example.com/%u", i);
        if (falls_together(key)) {
            put(m, key, i);
        }
    }
    assert_in_range(sl_map_longest(m), 1, 100);
    sl_map_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_empty_has_nothing),
        cmocka_unit_test(test_map_find_gives_the_pointer_or_none),
        cmocka_unit_test(test_map_put_replaces_and_copies_the_key),
        cmocka_unit_test(test_map_iterates_in_insertion_order_past_holes),
        cmocka_unit_test(test_map_removing_the_entry_just_returned_keeps_the_iteration),
        cmocka_unit_test(test_map_many_puts_and_removes_stay_consistent),
        cmocka_unit_test(test_map_free_with_hands_over_what_is_in_it),
        cmocka_unit_test(test_map_stays_quick_with_chosen_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
