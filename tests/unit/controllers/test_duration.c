/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Go-style durations. */
#include "t.h"
#include "base/utf8.h"
#include "controllers/work/duration.h"

static void test_duration_valid_texts_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {{"0", 0},
                 {"1s", 1000},
                 {"500ms", 500},
                 {"2m", 120000},
                 {"1h", 3600000},
                 {"1h2m3s", 3723000},
                 {"1.5s", 1500},
                 {"0.25m", 15000},
                 {"1500us", 1},
                 {"999999ns", 0},
                 {"2m30s500ms", 150500},
                 {"1.s", 1000},
                 {".5s", 500},
                 {"1\xc2\xb5s", 0},
                 {"0s", 0},
                 {"87600h", 315360000000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_error e = {0};
        int64_t ms = -1;
        assert_int_equal(sl_duration_parse(cases[i].text, &ms, &e), SL_CODE_OK);
        assert_true(ms == cases[i].ms);
    }
}

static void test_duration_malformed_texts_are_refused_and_output_is_untouched(void **state)
{
    (void)state;
    static const char *const cases[] = {"",
                                        "1",
                                        "s",
                                        "-1s",
                                        "1x",
                                        "1s ",
                                        "1 s",
                                        "five",
                                        "1ss",
                                        "1s2",
                                        ".",
                                        "..5s",
                                        "+1s",
                                        "1000000000000000000000s",
                                        "999999999999999999h",
                                        "87601h"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_error e = {0};
        int64_t ms = 42;
        assert_int_equal(sl_duration_parse(cases[i], &ms, &e), SL_CODE_BAD_REQUEST);
        assert_true(ms == 42);
        assert_true(e.text[0] != '\0');
    }
}

static void test_duration_refusal_shows_whole_characters(void **state)
{
    (void)state;
    int64_t ms = 0;
    struct sl_error e;
    char text[122] = "x";
    for (size_t i = 1; i < 120; i += 2) {
        memcpy(text + i, "\xc3\xa9", 3);
    }
    assert_int_equal(sl_duration_parse(text, &ms, &e), SL_CODE_BAD_REQUEST);
    assert_true(sl_utf8_valid(e.text, strlen(e.text)));
    assert_non_null(strstr(e.text, "\xc3\xa9\" is not a duration"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duration_valid_texts_are_read),
        cmocka_unit_test(test_duration_malformed_texts_are_refused_and_output_is_untouched),
        cmocka_unit_test(test_duration_refusal_shows_whole_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
