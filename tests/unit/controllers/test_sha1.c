/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* SHA-1, by the standard's examples. */
#include "t.h"
#include "controllers/work/sha1.h"

static void hash(const char *text, size_t size, char out[static 41])
{
    struct sl_sha1 h;
    sl_sha1_init(&h);
    sl_sha1_add(&h, text, size);
    sl_sha1_hex(&h, out);
}

static void test_sha1_examples_of_the_standard_match(void **state)
{
    (void)state;
    char hex[41];
    hash("abc", 3, hex);
    assert_string_equal(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    hash("", 0, hex);
    assert_string_equal(hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex);
    assert_string_equal(hex, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

static void test_sha1_pieces_give_the_same_as_the_whole(void **state)
{
    (void)state;
    char text[1000];
    char whole[41];
    char pieces[41];
    struct sl_sha1 h;
    memset(text, 'a', sizeof text);
    hash(text, sizeof text, whole);
    sl_sha1_init(&h);
    for (size_t at = 0; at < sizeof text; at += 100) {
        sl_sha1_add(&h, text + at, 100);
    }
    sl_sha1_hex(&h, pieces);
    assert_string_equal(pieces, whole);
    assert_string_equal(whole, "291e9a6c66994949b57ba5e650361e98fc36b1ba");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha1_examples_of_the_standard_match),
        cmocka_unit_test(test_sha1_pieces_give_the_same_as_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
