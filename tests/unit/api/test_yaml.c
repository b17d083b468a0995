/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* YAML: typing as Kubernetes tools do it, what is refused and where, printing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "api/json/json.h"

static struct sl_json *parse(const char *text)
{
    struct sl_error e = {0};
    struct sl_json *v = sl_json_parse_yaml(text, strlen(text), &e);
    if (v == NULL) {
        print_error("%s\n", e.text);
    }
    return v;
}

/* The documents as compact JSON. */
static void reads(const char *yaml, const char *expected)
{
    struct sl_json *v = parse(yaml);
    assert_non_null(v);
    struct sl_buf out = {0};
    sl_json_print(v, &out);
    assert_string_equal(out.data, expected);
    sl_buf_fini(&out);
    sl_json_free(v);
}

static void refused(const char *yaml, const char *position, const char *why)
{
    struct sl_error e = {0};
    struct sl_json *v = sl_json_parse_yaml(yaml, strlen(yaml), &e);
    assert_null(v);
    assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
    if (strstr(e.text, position) == NULL || strstr(e.text, why) == NULL) {
        fail_msg("gave '%s', expected '%s' and '%s'", e.text, position, why);
    }
}

static void test_yaml_plain_scalars_are_typed(void **state)
{
    (void)state;
    reads("[1, -2, +3, 0x1F, 0o17, 017, 0b101, 1_000, 9223372036854775807]",
          "[[1,-2,3,31,15,15,5,1000,9223372036854775807]]");
    reads("[true, False, YES, no, on, Off, y, N]",
          "[[true,false,true,false,true,false,true,false]]");
    reads("[null, ~, Null, ]", "[[null,null,null]]");
    reads("a:\nb: ~\n", "[{\"a\":null,\"b\":null}]");
    reads("[1.5, 1e3, .5, 1., 6.02e23, 08]", "[[1.5,1000,0.5,1,6.02e+23,8]]");
    reads("[2026-08-22, 2026-08-22T10:00:00Z, 1.2.3, 10Gi, 500m, 0x, 1e, a-b]",
          "[[\"2026-08-22\",\"2026-08-22T10:00:00Z\",\"1.2.3\",\"10Gi\",\"500m\",\"0x\",\"1e\",\"a-"
          "b\"]]");
}

static void test_yaml_quoted_scalars_stay_texts(void **state)
{
    (void)state;
    reads("['1', \"true\", 'null', \"\", 'it''s', \"tab\\t\"]",
          "[[\"1\",\"true\",\"null\",\"\",\"it's\",\"tab\\t\"]]");
    reads("a: |\n  one\n  two\nb: >-\n  three\n  four\n",
          "[{\"a\":\"one\\ntwo\\n\",\"b\":\"three four\"}]");
}

static void test_yaml_keys_become_texts(void **state)
{
    (void)state;
    reads("1: a\ntrue: b\n0x10: c\n'2': d\n~: e\n",
          "[{\"1\":\"a\",\"true\":\"b\",\"16\":\"c\",\"2\":\"d\",\"null\":\"e\"}]");
}

static void test_yaml_documents_come_in_order_without_empty_ones(void **state)
{
    (void)state;
    reads("---\na: 1\n---\n# only a comment\n---\nb: 2\n...\n---\n- 3\n",
          "[{\"a\":1},{\"b\":2},[3]]");
    reads("", "[]");
    reads("# nothing\n", "[]");
    reads("---\n---\n", "[]");
}

static void test_yaml_json_texts_are_read_too(void **state)
{
    (void)state;
    reads("{\"a\": \"\\ud83d\\ude00\\/\", \"b\": [1, {\"c\": null}]}\n",
          "[{\"a\":\"\xf0\x9f\x98\x80/\",\"b\":[1,{\"c\":null}]}]");
    reads("{a: 1, b: [x, z]}", "[{\"a\":1,\"b\":[\"x\",\"z\"]}]");
}

static void test_yaml_what_hides_meaning_is_refused_with_its_line(void **state)
{
    (void)state;
    refused("a: &x 1\nb: 2\n", "line 1, column 4", "anchors are not supported: x");
    refused("a: &x {c: 1}\n", "line 1", "anchors are not supported: x");
    refused("a: &x [1]\n", "line 1", "anchors are not supported: x");
    refused("b: *x\n", "line 1", "");
    refused("a: !!str 1\n", "line 1", "tags are not supported");
    refused("a:\n  b: !foo {c: 1}\n", "line 2", "tags are not supported");
    refused("a: !foo [c]\n", "line 1", "tags are not supported");
    refused("a:\n  <<: {b: 1}\n", "line 2", "merge keys are not supported");
    refused("a: 1\nb: 2\na: 3\n", "line 3, column 1", "duplicate key: a");
    refused("1: x\n'1': y\n", "line 2", "duplicate key: 1");
    refused("? [a, b]\n: c\n", "line 1", "a key must be a scalar");
    refused("a: .inf\n", "line 1", "no such number");
    refused("a: \"x\\0y\"\n", "line 1", "NUL");
}

static void test_yaml_malformed_text_names_the_line(void **state)
{
    (void)state;
    refused("a: 1\nb: [1, 2\nc: 3\n", "line 3", "");
    refused("a:\n  - b\n c: d\n", "line 3", "");
    refused("a: b: c\n", "line 1", "mapping values");
    refused("a: 1\n\tb: 2\n", "line 2", "");
    refused("a: \"x\n", "line", "");
    refused("a: \xff\n", "line 1", "");
    refused("{\"a\": 1,, }", "line 1", "");
}

static void test_yaml_depth_is_bounded(void **state)
{
    (void)state;
    char text[65 * 2 + 1] = {0};
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    struct sl_json *v = parse(text);
    assert_non_null(v);
    sl_json_free(v);
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    refused(text, "line 1", "64 levels");
}

static void prints(const char *json, const char *expected)
{
    struct sl_json *v = sl_json_parse(json, strlen(json), NULL);
    assert_non_null(v);
    struct sl_buf out = {0};
    sl_json_print_yaml(v, &out);
    assert_string_equal(out.data, expected);
    sl_buf_fini(&out);
    sl_json_free(v);
}

static void test_yaml_prints_like_kubectl(void **state)
{
    (void)state;
    prints(
        "{\"spec\":{\"list\":[{\"b\":1,\"a\":\"x\"},2,[3,4]],\"empty\":{},\"none\":[]},"
        "\"apiVersion\":\"v1\"}",
        "apiVersion: v1\nspec:\n  empty: {}\n  list:\n  - a: x\n    b: 1\n  - 2\n  - - 3\n    - 4\n"
        "  none: []\n");
    prints("{\"a\":\"true\",\"b\":\"1\",\"c\":\"\",\"d\":\"x: y\",\"e\":\"- "
           "x\",\"f\":\"2026-08-22T10:00:00Z\","
           "\"g\":\"it's: x\",\"h\":\"plain text\",\"i\":null,\"j\":\"a\\tb\"}",
           "a: \"true\"\nb: \"1\"\nc: \"\"\nd: 'x: y'\ne: '- x'\nf: \"2026-08-22T10:00:00Z\"\ng: "
           "'it''s: x'\n"
           "h: plain text\ni: null\nj: \"a\\tb\"\n");
    prints("{\"a\":\"one\\ntwo\\n\",\"b\":{\"c\":\"one\\n\\ntwo\"},\"d\":\"x\\n\\n\"}",
           "a: |\n  one\n  two\nb:\n  c: |-\n    one\n\n    two\nd: |+\n  x\n\n");
}

/* A document that is nothing but a text, with lines that would be YAML by themselves. */
static void test_yaml_lone_text_of_lines_reads_back(void **state)
{
    (void)state;
    struct sl_json *v = sl_json_new_text("a] -.x -:\"y\"\n3\n---\n- b");
    struct sl_buf out = {0};
    sl_json_print_yaml(v, &out);
    struct sl_json *back = sl_json_parse_yaml(out.data, out.len, NULL);
    assert_int_equal(sl_json_len(back), 1);
    assert_true(sl_json_equal(sl_json_at(back, 0), v));
    sl_buf_fini(&out);
    sl_json_free(back);
    sl_json_free(v);
}

static void test_yaml_what_is_printed_reads_back(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        " ",
                                        "a",
                                        "a ",
                                        "#a",
                                        "a #b",
                                        "a: b",
                                        "a:",
                                        ":a",
                                        "-",
                                        "- a",
                                        "-a",
                                        "?",
                                        "true",
                                        "y",
                                        "1",
                                        "0x1",
                                        "1e3",
                                        ".5",
                                        "~",
                                        "null",
                                        "<<",
                                        "=",
                                        "*a",
                                        "&a",
                                        "!a",
                                        "'a'",
                                        "\"a\"",
                                        "a\nb",
                                        "a\nb\n",
                                        "a\n\n",
                                        "\na",
                                        " a\nb",
                                        "a \nb",
                                        "\xc3\xa4",
                                        "{a}",
                                        "[a]",
                                        "a,b",
                                        "a{b",
                                        "%a",
                                        "@a",
                                        "`a",
                                        "|",
                                        ">",
                                        "---",
                                        "...",
                                        "a\rb",
                                        "a\x7f"
                                        "b",
                                        "2026-08-22",
                                        "\xc2\xa0",
                                        "\xc2\x85",
                                        "\xc2\x80x",
                                        "a\xe2\x80\xa8: b, true",
                                        "\xe2\x80\xa9",
                                        "a: \xef\xbb\xbf b",
                                        "\xef\xbf\xbe",
                                        "\xef\xbf\xbf\nb",
                                        "# x\n- y\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct sl_json *v = sl_json_new_map(), *inner = sl_json_new_map();
        sl_json_set_text(inner, texts[i][0] != '\0' ? texts[i] : "k", texts[i]);
        sl_json_set(v, "outer", inner);
        sl_json_set_text(v, "z", texts[i]);
        struct sl_buf out = {0};
        sl_json_print_yaml(v, &out);
        struct sl_json *back = sl_json_parse_yaml(out.data, out.len, NULL);
        if (!sl_json_equal(sl_json_at(back, 0), v)) {
            fail_msg("text %zu was printed as:\n%s", i, out.data);
        }
        sl_buf_fini(&out);
        sl_json_free(back);
        sl_json_free(v);
    }
}

static void test_yaml_numbers_of_many_digits_stay_numbers(void **state)
{
    (void)state;
    char text[400];
    memset(text, '1', sizeof text);
    memcpy(text, "- 1_", 4);
    static const size_t lengths[] = {60, 70, 300};
    for (size_t i = 0; i < 3; i++) {
        struct sl_json *v = sl_json_parse_yaml(text, lengths[i], NULL);
        assert_int_equal(sl_json_type(sl_json_at(sl_json_at(v, 0), 0)), SL_JSON_DOUBLE);
        sl_json_free(v);
    }
    struct sl_error e;
    assert_null(sl_json_parse_yaml(text, sizeof text, &e)); /* greater than any double */
    assert_non_null(strstr(e.text, "line 1"));
}

/* A reader gives up a key that has no colon within 1024 characters. */
static void test_yaml_long_keys_read_back(void **state)
{
    (void)state;
    static const size_t lengths[] = {128, 129, 1023, 1024, 4000};
    static const char *const values[] = {"0", "\"a\"", "{\"b\":{\"c\":1}}", "[1,{\"d\":2}]", "{}"};
    char key[4001];
    for (size_t i = 0; i < 5; i++) {
        struct sl_json *v = sl_json_new_map(), *inner = sl_json_new_map();
        for (size_t k = 0; k < 5; k++) {
            memset(key, (int)('k' + k), lengths[i]);
            key[lengths[i]] = '\0';
            sl_json_set(inner, key, sl_json_parse(values[k], strlen(values[k]), NULL));
        }
        sl_json_set(v, "outer", inner);
        struct sl_buf out = {0};
        sl_json_print_yaml(v, &out);
        struct sl_json *back = sl_json_parse_yaml(out.data, out.len, NULL);
        assert_true(sl_json_equal(sl_json_at(back, 0), v));
        sl_buf_fini(&out);
        sl_json_free(back);
        sl_json_free(v);
    }
}

static void test_yaml_weight_has_a_limit(void **state)
{
    static const char *const texts[] = {"a: [1, 2]\n", "{\"a\": [1, 2]}", "a: [1, 2,]\n---\n"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct sl_error e = {0};
        const char *text = texts[i];
        assert_null(sl_json_parse_yaml_within(text, strlen(text), 7, &e));
        assert_int_equal(e.code, SL_CODE_TOO_LARGE);
        struct sl_json *v = sl_json_parse_yaml_within(text, strlen(text), 9, &e);
        assert_non_null(v);
        sl_json_free(v);
    }
}

static void test_yaml_own_texts_may_have_anchors(void **state)
{
    (void)state;
    struct sl_error e = {0};
    const char good[] = "a: &x {c: [1]}\nb: *x\nd: [*x, &y [2], *y]\n";
    struct sl_json *all = sl_json_parse_yaml_own(good, strlen(good), &e);
    struct sl_buf text = {0};
    sl_json_print(all, &text);
    assert_string_equal(text.data,
                        "[{\"a\":{\"c\":[1]},\"b\":{\"c\":[1]},\"d\":[{\"c\":[1]},[2],[2]]}]");
    sl_buf_fini(&text);
    sl_json_free(all);
    const char *const bad[] = {"a: *x\n", "a: &x 1\n", "a: &x {c: 1}\n*x: 2\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_null(sl_json_parse_yaml_own(bad[i], strlen(bad[i]), &e));
        assert_non_null(strstr(e.text, "line"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml_plain_scalars_are_typed),
        cmocka_unit_test(test_yaml_quoted_scalars_stay_texts),
        cmocka_unit_test(test_yaml_keys_become_texts),
        cmocka_unit_test(test_yaml_documents_come_in_order_without_empty_ones),
        cmocka_unit_test(test_yaml_json_texts_are_read_too),
        cmocka_unit_test(test_yaml_what_hides_meaning_is_refused_with_its_line),
        cmocka_unit_test(test_yaml_malformed_text_names_the_line),
        cmocka_unit_test(test_yaml_depth_is_bounded),
        cmocka_unit_test(test_yaml_prints_like_kubectl),
        cmocka_unit_test(test_yaml_lone_text_of_lines_reads_back),
        cmocka_unit_test(test_yaml_what_is_printed_reads_back),
        cmocka_unit_test(test_yaml_numbers_of_many_digits_stay_numbers),
        cmocka_unit_test(test_yaml_long_keys_read_back),
        cmocka_unit_test(test_yaml_own_texts_may_have_anchors),
        cmocka_unit_test(test_yaml_weight_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
