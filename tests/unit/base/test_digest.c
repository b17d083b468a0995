/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Against the examples of FIPS 180-4, and lengths around a block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/digest.h"

static void expect(const char *text, const char *hex)
{
    char out[65];
    sl_sha256_hex(text, strlen(text), out);
    assert_string_equal(out, hex);
}

static void test_sha1_examples_of_the_standard(void **state)
{
    (void)state;
    static const char *const examples[][2] = {
        {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "84983e441c3bd26ebaae4aa1f95129e5e54670f1"}};
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        char out[41];
        sl_sha1_hex(examples[i][0], strlen(examples[i][0]), out);
        assert_string_equal(out, examples[i][1]);
    }
}

static void test_sha256_examples_of_the_standard(void **state)
{
    (void)state;
    expect("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_sha256_lengths_around_a_block(void **state)
{
    (void)state;
    char text[129];
    memset(text, 'a', 128);
    static const struct {
        size_t size;
        const char *hex;
    } cases[] = {{55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
                 {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
                 {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
                 {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
                 {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
                 {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[65];
        sl_sha256_hex(text, cases[i].size, out);
        assert_string_equal(out, cases[i].hex);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha1_examples_of_the_standard),
        cmocka_unit_test(test_sha256_examples_of_the_standard),
        cmocka_unit_test(test_sha256_lengths_around_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
