/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* FNV-1a: the test vectors of RFC 9923, and hashing in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/fnv1a.h"

static void test_fnv1a_of_no_bytes_is_the_offset_basis(void **state)
{
    (void)state;
    assert_true(sl_fnv1a(SL_FNV1A_BASIS, "", 0) == 14695981039346656037u);
    assert_true(sl_fnv1a(7, NULL, 0) == 7);
}

static void test_fnv1a_gives_the_published_values(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        uint64_t hash;
    } vectors[] = {
        {"", 0, 0xcbf29ce484222325u},
        {"a", 1, 0xaf63dc4c8601ec8cu},
        {"foobar", 6, 0x85944171f73967e8u},
        {"Hello!\x01\xff\xed", 9, 0xbd51ea7094ee6fa1u}, /* bytes that are negative as char */
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        assert_true(sl_fnv1a(SL_FNV1A_BASIS, vectors[i].bytes, vectors[i].len) == vectors[i].hash);
    }
}

static void test_fnv1a_goes_on_where_it_was(void **state)
{
    (void)state;
    uint64_t whole = sl_fnv1a(SL_FNV1A_BASIS, "foobar", 6);
    assert_true(sl_fnv1a(sl_fnv1a(SL_FNV1A_BASIS, "foo", 3), "bar", 3) == whole);
}

static void test_fnv1a_takes_zero_bytes_as_bytes(void **state)
{
    (void)state;
    assert_true(sl_fnv1a(SL_FNV1A_BASIS, "a\0b", 3) != sl_fnv1a(SL_FNV1A_BASIS, "ab", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fnv1a_of_no_bytes_is_the_offset_basis),
        cmocka_unit_test(test_fnv1a_gives_the_published_values),
        cmocka_unit_test(test_fnv1a_goes_on_where_it_was),
        cmocka_unit_test(test_fnv1a_takes_zero_bytes_as_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
