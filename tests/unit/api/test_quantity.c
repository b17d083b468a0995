/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quantities against what Kubernetes' resource.Quantity does with the same texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "api/objects/quantity.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static struct sl_quantity parse(const char *text)
{
    struct sl_error e = {0};
    struct sl_quantity q = {0};
    if (sl_quantity_parse(text, &q, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return q;
}

static void test_quantity_canonical_form_is_that_of_kubernetes(void **state)
{
    (void)state;
    static const char *const golden[][2] = {
        {"0", "0"},
        {"0.0", "0"},
        {"-0", "0"},
        {"0Ki", "0"},
        {"000", "0"},
        {"+1", "1"},
        {"0.5", "500m"},
        {"0.50", "500m"},
        {".5", "500m"},
        {"1.", "1"},
        {"1.5", "1500m"},
        {"100m", "100m"},
        {"1000m", "1"},
        {"1500m", "1500m"},
        {"1000", "1k"},
        {"1500", "1500"},
        {"100000", "100k"},
        {"1000000", "1M"},
        {"1k", "1k"},
        {"1000k", "1M"},
        {"10P", "10P"},
        {"1024Mi", "1Gi"},
        {"1Gi", "1Gi"},
        {"1.5Gi", "1536Mi"},
        {"1536Mi", "1536Mi"},
        {"1023Ki", "1023Ki"},
        {"1Ki", "1Ki"},
        {"0.5Ki", "512"},
        {"0.5Mi", "512Ki"},
        {"0.001Ki", "1024m"},
        {"1.001Ki", "1025024m"},
        {"0.0001Ki", "102400u"},
        {"2e3", "2e3"},
        {"2E3", "2e3"},
        {"12e4", "120e3"},
        {"1e1", "10"},
        {"5e-1", "500e-3"},
        {"1e-3", "1e-3"},
        {"1E", "1E"},
        {"9E", "9E"},
        {"1000E", "1000E"},
        {"3n", "3n"},
        {"1000n", "1u"},
        {"1u", "1u"},
        {"1000000n", "1m"},
        {"0.1n", "1n"},
        {"1.1n", "2n"},
        {"0.0000000001", "1n"},
        {"1.0000000001", "1000000001n"},
        {"-0.1n", "-1n"},
        {"1e-1000", "1e-9"},
        {"-1.5Gi", "-1536Mi"},
        {"-500m", "-500m"},
        {"007", "7"},
        {"8Ei", "9223372036854775807"},
        {"16Ei", "9223372036854775807"},
        {"7Ei", "7Ei"},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "9223372036854775807"},
        {"99999999999999999999E", "9223372036854775807"},
        {"-99999999999999999999E", "-9223372036854775807"},
        {"1.00000000000000000000000000000000000000001", "1000000001n"},
        {"1e91", "100e27"},
        {"123456789012345678E", "100000000000E"},
        {"1048576Ki", "1Gi"},
        {"64Gi", "64Gi"},
        {"1100Mi", "1100Mi"},
    };
    for (size_t i = 0; i < COUNT(golden); i++) {
        char out[64];
        sl_quantity_print(parse(golden[i][0]), out);
        if (strcmp(out, golden[i][1]) != 0) {
            fail_msg("%s printed as %s, expected %s", golden[i][0], out, golden[i][1]);
        }
    }
}

static void test_quantity_malformed_text_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",   " ",   "abc",   "1 ",    " 1",   "1Kii", "1ki",
                                      "1K", "--1", "+-1",   "1.2.3", ".",    "+",    "-.",
                                      "1e", "1e+", "1mi",   "1e3k",  "0x10", "1,5",  "1Mi ",
                                      "m",  "Ki",  "1e3.5", "NaN",   "1_000"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct sl_quantity q = {.nano = 42};
        struct sl_error e = {0};
        if (sl_quantity_parse(bad[i], &q, &e) != SL_CODE_BAD_REQUEST) {
            fail_msg("'%s' was taken for a quantity", bad[i]);
        }
        assert_true(q.nano == 42);
        assert_non_null(strstr(e.text, "is not a quantity"));
    }
}

static void test_quantity_values_round_away_from_zero(void **state)
{
    (void)state;
    assert_int_equal(sl_quantity_value(parse("1.1")), 2);
    assert_int_equal(sl_quantity_value(parse("-1.1")), -2);
    assert_int_equal(sl_quantity_value(parse("1Gi")), 1073741824);
    assert_int_equal(sl_quantity_milli(parse("0.0001")), 1);
    assert_int_equal(sl_quantity_milli(parse("1.5")), 1500);
    assert_int_equal(sl_quantity_milli(parse("-250m")), -250);
}

static void test_quantity_values_saturate(void **state)
{
    (void)state;
    assert_int_equal(sl_quantity_value(parse("1000E")), INT64_MAX);
    assert_int_equal(sl_quantity_value(parse("-1000E")), INT64_MIN);
    assert_int_equal(sl_quantity_milli(parse("9223372036854775807")), INT64_MAX);
    assert_int_equal(sl_quantity_value(parse("1e999999999999999999999")), INT64_MAX);
}

static void test_quantity_amount_counts_cpu_in_milli(void **state)
{
    (void)state;
    assert_int_equal(sl_quantity_amount(parse("2"), "cpu"), 2000);
    assert_int_equal(sl_quantity_amount(parse("2"), "nvidia.com/gpu"), 2);
    char out[64];
    sl_quantity_print_amount(1500, "cpu", out);
    assert_string_equal(out, "1500m");
    sl_quantity_print_amount(3000, "cpu", out);
    assert_string_equal(out, "3");
    sl_quantity_print_amount(1073741824, "memory", out);
    assert_string_equal(out, "1Gi");
    sl_quantity_print_amount(1000, "nvidia.com/gpu", out);
    assert_string_equal(out, "1k");
    sl_quantity_print_amount(0, "memory", out);
    assert_string_equal(out, "0");
}

static void test_quantity_reads_numbers_of_json_too(void **state)
{
    (void)state;
    const char *text = "[2,1.5,\"3Gi\",true,null]";
    struct sl_json *v = sl_json_parse(text, strlen(text), NULL);
    struct sl_quantity q;
    assert_int_equal(sl_quantity_read(sl_json_at(v, 0), &q, NULL), SL_CODE_OK);
    assert_int_equal(sl_quantity_milli(q), 2000);
    assert_int_equal(sl_quantity_read(sl_json_at(v, 1), &q, NULL), SL_CODE_OK);
    assert_int_equal(sl_quantity_milli(q), 1500);
    assert_int_equal(sl_quantity_read(sl_json_at(v, 2), &q, NULL), SL_CODE_OK);
    assert_int_equal(sl_quantity_value(q), 3221225472);
    assert_int_equal(sl_quantity_read(sl_json_at(v, 3), &q, NULL), SL_CODE_BAD_REQUEST);
    assert_int_equal(sl_quantity_read(sl_json_at(v, 4), &q, NULL), SL_CODE_BAD_REQUEST);
    sl_json_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantity_canonical_form_is_that_of_kubernetes),
        cmocka_unit_test(test_quantity_malformed_text_is_refused),
        cmocka_unit_test(test_quantity_values_round_away_from_zero),
        cmocka_unit_test(test_quantity_values_saturate),
        cmocka_unit_test(test_quantity_amount_counts_cpu_in_milli),
        cmocka_unit_test(test_quantity_reads_numbers_of_json_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
