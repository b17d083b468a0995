/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The hash under a key, against published values and a key of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/siphash.h"

static const struct sl_siphash_key key = {{0x0706050403020100u, 0x0f0e0d0c0b0a0908u}};

/* Each of 0, 1, 2, ... n-1 bytes of 00 01 02 ...; SipHash-1-3, as in the Rust and OpenBSD test vectors. */
static void test_siphash_is_as_published(void **state)
{
    static const uint64_t wanted[] = {
        0xabac0158050fc4dcu, 0xc9f49bf37d57ca93u, 0x82cb9b024dc7d44du,
        0x8bf80ab8e7ddf7fbu, 0xcf75576088d38328u, 0xdef9d52f49533b67u,
        0xc50d2b50c59f22a7u, 0xd3927d989bb11140u, 0x369095118d299a8eu};
    unsigned char bytes[9];
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        assert_true(sl_siphash(&key, bytes, i) == wanted[i]);
        bytes[i] = (unsigned char)i;
    }
}

static void test_siphash_depends_on_the_key(void **state)
{
    const struct sl_siphash_key other = {{1, 2}};
    (void)state;
    assert_true(sl_siphash(&key, "abc", 3) != sl_siphash(&other, "abc", 3));
    assert_true(sl_siphash_own_key()->word[0] != 0 || sl_siphash_own_key()->word[1] != 0);
    assert_ptr_equal(sl_siphash_own_key(), sl_siphash_own_key());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_siphash_is_as_published),
        cmocka_unit_test(test_siphash_depends_on_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
