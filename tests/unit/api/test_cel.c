/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Selectors of devices: what they say of one device, what is no CEL, and what is CEL but not evaluated. Last, random
 * expressions against the logic of four values that they are made with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "api/cel/cel.h"

static struct sl_json *attributes, *capacity;
static struct sl_cel_device device;

static struct sl_json *parse(const char *text)
{
    struct sl_json *v = sl_json_parse(text, strlen(text), NULL);
    assert_non_null(v);
    return v;
}

static int setup(void **state)
{
    (void)state;
    attributes = parse(
        "{\"type\":{\"string\":\"mig\"},\"gpu.example.com/profile\":{\"string\":\"1g.5gb\"},"
        "\"index\":{\"int\":3},\"healthy\":{\"bool\":true},\"version\":{\"version\":\"12.4.1\"},"
        "\"odd\":{\"version\":\"12\"},\"many\":{\"strings\":[\"a\"]},"
        "\"other.example.com/model\":{\"string\":\"Größe A100\"}}");
    capacity = parse("{\"memory\":{\"value\":\"40Gi\"},\"broken\":{\"value\":\"x\"},"
                     "\"other.example.com/slots\":{\"value\":\"7\"}}");
    device = (struct sl_cel_device){
        .driver = "gpu.example.com", .attributes = attributes, .capacity = capacity};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sl_json_free(attributes);
    sl_json_free(capacity);
    return 0;
}

static enum sl_cel_answer answer_of(const char *text, struct sl_buf *why)
{
    struct sl_error e = {0};
    struct sl_cel *c = sl_cel_parse_new(text, &e);
    if (c == NULL) {
        fail_msg("%s: %s", text, e.text);
    }
    enum sl_cel_answer answer = sl_cel_select(c, &device, why);
    sl_cel_free(c);
    return answer;
}

struct expression {
    const char *text, *why;
};

static void expect(const struct expression *all, size_t count, enum sl_cel_answer expected)
{
    for (size_t i = 0; i < count; i++) {
        struct sl_buf why = {0};
        enum sl_cel_answer answer = answer_of(all[i].text, &why);
        if (answer != expected ||
            strcmp(why.data == NULL ? "" : why.data, all[i].why == NULL ? "" : all[i].why) != 0) {
            fail_msg("%s: %d, %s", all[i].text, (int)answer, why.data);
        }
        sl_buf_fini(&why);
        assert_int_equal(answer_of(all[i].text, NULL), expected);
    }
}
#define EXPECT(all, answer) expect(all, sizeof(all) / sizeof((all)[0]), answer)

#define GPU "device.attributes['gpu.example.com']"

static void test_cel_selects_what_fits(void **state)
{
    (void)state;
    static const struct expression all[] = {
        {"true", NULL},
        {"device.driver == 'gpu.example.com'", NULL},
        {"device.driver != \"\"\"x\"\"\" // what follows is a comment", NULL},
        {GPU ".type == 'mig' && " GPU ".profile == \"1g.5gb\"", NULL},
        {GPU "['type'] == r'mig'", NULL},
        {GPU ".profile == '3g.20gb' || " GPU ".profile == '1g.5gb'", NULL},
        {"device.attributes['other.example.com'].model.lowerAscii().contains('a100')", NULL},
        {"device.attributes['other.example.com'].model.startsWith('Gr\\u00f6\\u00dfe')", NULL},
        {GPU ".profile.endsWith('5gb')", NULL},
        {GPU ".type.size() == 3 && size(device.attributes['other.example.com'].model) == 10", NULL},
        {"size(['a', 'b',]) == 2", NULL},
        {GPU ".index >= 3 && " GPU ".index < 4 && " GPU ".index > -1 && 0x3 <= " GPU ".index",
         NULL},
        {GPU ".index in [1, 2, 3]", NULL},
        {GPU ".healthy", NULL},
        {"!(" GPU ".index == 4)", NULL},
        {"!!true && - -1 == 1", NULL},
        {GPU ".healthy ? " GPU ".index == 3 : false", NULL},
        {"device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0", NULL},
        {"device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('39.5Gi'))", NULL},
        {"device.capacity['gpu.example.com'].memory == quantity('40960Mi')", NULL},
        {"quantity('1').isLessThan(device.capacity['other.example.com'].slots)", NULL},
        {GPU ".version.isGreaterThan(semver('12.4.1-rc.1'))", NULL},
        {GPU ".version == semver('12.4.1+build.5')", NULL},
        {"semver('1.0.0-alpha.2').isLessThan(semver('1.0.0-alpha.11'))", NULL},
        {"semver('1.0.0-alpha').isLessThan(semver('1.0.0-alpha.1'))", NULL},
        {"semver('1.0.0-1').isLessThan(semver('1.0.0-a'))", NULL},
        {"has(" GPU ".type) && !has(" GPU ".model)", NULL},
        {"'type' in " GPU " && !('model' in " GPU ")", NULL},
        {"'other.example.com' in device.attributes && !('x' in device.attributes)", NULL},
        {"cel.bind(d, " GPU ", d.healthy && d.index == 3)", NULL},
        {"cel.bind(device, 1, device == 1)", NULL},
        {GPU ".index != 'three'", NULL}, /* of another type: not equal, and no error */
        {"null == null && null != 0", NULL},
        {"true || " GPU ".model == 'x'", NULL},
        {GPU ".model == 'x' || true", NULL},
        {"true || device.driver.matches('x')", NULL},
        {"'\\x41\\101\\n' == 'AA\\u000A'", NULL},
        {"-9223372036854775808 < 9223372036854775807", NULL},
        {".device.driver == 'gpu.example.com'", NULL}};
    EXPECT(all, SL_CEL_YES);
}

static void test_cel_leaves_what_does_not_fit(void **state)
{
    (void)state;
    static const struct expression all[] = {
        {"false", NULL},
        {"device.driver == 'other'", NULL},
        {"device.driver == 'other' && " GPU ".model == 'x'", NULL},
        {GPU ".model == 'x' && device.driver == 'other'", NULL},
        {"device.driver == 'other' && device.driver.matches('.*')", NULL},
        {"device.allowMultipleAllocations", NULL},
        {GPU ".index in []", NULL},
        {"has(device.attributes['x'].y)", NULL},
        {"'mig'.contains('migs')", NULL}};
    EXPECT(all, SL_CEL_NO);
    device.shared = true;
    assert_int_equal(answer_of("device.allowMultipleAllocations", NULL), SL_CEL_YES);
}

static void test_cel_errors_are_those_of_cel(void **state)
{
    (void)state;
    static const struct expression all[] = {
        {GPU ".model == 'A100'", "no such key: model"},
        {"device.attributes['none.example.com'].model == 'A100'", "no such key: model"},
        {"device.capacity['gpu.example.com'].slots == quantity('1')", "no such key: slots"},
        {"device.node == 'a'", "undefined field 'node'"},
        {"devic.driver == 'a'", "undeclared reference to 'devic'"},
        {GPU ".type", "the result is not a bool"},
        {"1", "the result is not a bool"},
        {GPU ".index < 'a'", "no such overload"},
        {"quantity('1') < quantity('2')", "no such overload"},
        {GPU ".index.contains('3')", "no such overload"},
        {"'a'.compareTo('b') == 0", "no such overload"},
        {"quantity(1).compareTo(quantity('1')) == 0", "no such overload"},
        {"1 in 1", "no such overload"},
        {"1 in device.attributes", "no such overload"},
        {"device.driver['a'] == 'a'", "no such overload"},
        {"device.driver.a == 'a'", "no such overload"},
        {"!1", "no such overload"},
        {"-'a' == 1", "no such overload"},
        {"1 && true", "no such overload"},
        {"1 ? true : false", "no such overload"},
        {"size(1) == 1", "no such overload"},
        {"1.lowerAscii() == 'a'", "no such overload"},
        {"true < false < 1", "no such overload"},
        {"-(-9223372036854775808) == 1", "integer overflow"},
        {"quantity('x') == quantity('1')", "x is not a quantity"},
        {"semver('1.2') == semver('1.2.0')", "1.2 is not a semantic version"},
        {"semver('1.02.0') == semver('1.2.0')", "1.02.0 is not a semantic version"},
        {"semver('1.2.0-01') == semver('1.2.0')", "1.2.0-01 is not a semantic version"},
        {"semver('1.2.0+') == semver('1.2.0')", "1.2.0+ is not a semantic version"},
        {"semver('99999999999999999999.0.0') == semver('1.2.0')",
         "99999999999999999999.0.0 is not a semantic version"},
        {GPU ".odd == semver('12.0.0')", "attribute odd: 12 is not a semantic version"},
        {"device.capacity['gpu.example.com'].broken == quantity('1')",
         "capacity broken is not a quantity"},
        {"1 in [2, " GPU ".model]", "no such key: model"},
        {"cel.bind(m, " GPU ".model, m == 'x')", "no such key: model"},
        {"has(device.node)", "undefined field 'node'"}};
    EXPECT(all, SL_CEL_FAILED);
}

static void test_cel_that_is_not_evaluated_says_what_it_is(void **state)
{
    (void)state;
    static const struct expression all[] = {
        {"device.driver.matches('.*')", "the function matches"},
        {"device.driver.matches('.*') && " GPU ".model == 'x'", "the function matches"},
        {GPU ".model == 'x' && device.driver.matches('.*')", "the function matches"},
        {"[1, 2].exists(x, x == 1)", "the function exists"},
        {"device.driver.size(1) == 1", "the function size"},
        {"int('1') == 1", "the function int"},
        {"1 + 2 * 3 == 7", "arithmetic"},
        {"1.5 < 2e3", "a number with a fraction"},
        {".5 < 2.5E-1", "a number with a fraction"},
        {"1u == 1", "an unsigned number"},
        {"b'a' == br\"a\"", "bytes"},
        {"{'a': 1} == {'b': 2,}", "maps"},
        {"a.b{c: 1} == 1", "messages"},
        {GPU ".?type == 1", "optional values"},
        {"device.attributes[?'a'] == 1", "optional values"},
        {"[1, ?device] == 1", "optional values"},
        {"[1] == [1]", "comparing lists or maps"},
        {"device.attributes == device.attributes", "comparing lists or maps"},
        {"[1, 2][0] == 1", "items of lists"},
        {"size(" GPU ") == 1", "the size of maps"},
        {"cel.bind(l, [1], 1 in l)", "lists with names"},
        {"1 in cel.bind(x, 1, [x])", "lists with names"},
        {GPU ".many == 'a'", "attributes that are lists"}};
    EXPECT(all, SL_CEL_FOREIGN);
}

static void test_cel_knows_before_what_is_not_evaluated(void **state)
{
    (void)state;
    static const char *const all[][2] = {
        {"device.driver == 'a' && device.driver.matches('x') && 1u == 1", "the function matches"},
        {"false && 1.5 > 1.0", "a number with a fraction"},
        {"has(device.?a)", "optional values"},
        {"device.driver == 'a'", NULL}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct sl_cel *c = sl_cel_parse_new(all[i][0], NULL);
        assert_non_null(c);
        if (all[i][1] == NULL) {
            assert_null(sl_cel_foreign(c));
        } else {
            assert_string_equal(sl_cel_foreign(c), all[i][1]);
        }
        sl_cel_free(c);
    }
}

static void test_cel_that_is_none_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct expression all[] = {
        {"", "at character 1: expected an expression"},
        {"device.driver =", "at character 15: a character that CEL does not have"},
        {"device.driver = 'a'", "at character 15: a character that CEL does not have"},
        {"device.driver == ", "at character 18: expected an expression"},
        {"device.driver == 'a", "at character 18: a text that does not end"},
        {"device.driver == 'a\nb'", "at character 18: a text that does not end"},
        {"(true", "at character 6: expected \")\""},
        {"true)", "at character 5: expected an operator"},
        {"true false", "at character 6: expected an operator"},
        {"f(1,)", "at character 5: expected an expression"},
        {"f(1", "at character 4: expected \",\" or a closing bracket"},
        {"[1 2]", "at character 4: expected \",\" or a closing bracket"},
        {"{1}", "at character 3: expected \":\""},
        {"device.", "at character 8: expected a name"},
        {"device[1", "at character 9: expected \"]\""},
        {"true ? 1", "at character 9: expected \":\""},
        {"has(device)", "at character 12: has() takes one member"},
        {"has(a.b, c)", "at character 12: has() takes one member"},
        {"has()", "at character 6: has() takes one member"},
        {"while == 1", "at character 7: a reserved word"},
        {"'\\q' == ''", "at character 1: an escape that CEL does not have"},
        {"'\\u12' == ''", "at character 1: an escape with too few digits"},
        {"'\\ud800' == ''", "at character 1: an escape without a character"},
        {"'\\x00' == ''", "at character 1: an escape without a character"},
        {"'\\U00110000' == ''", "at character 1: an escape without a character"},
        {"12ab == 1", "at character 1: a number that goes on with letters"},
        {"9223372036854775808 == 1", "at character 1: a number of more than 64 bits"},
        {"99999999999999999999 == 1", "at character 1: a number of more than 64 bits"},
        {"a # b", "at character 3: a character that CEL does not have"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct sl_error e = {0};
        struct sl_cel *c = sl_cel_parse_new(all[i].text, &e);
        if (c != NULL || e.code != SL_CODE_INVALID || strcmp(e.text, all[i].why) != 0) {
            fail_msg("%s: %s", all[i].text, e.text);
        }
    }
}

/* However an expression is nested, the stack that it takes is bounded. */
static void test_cel_nested_too_deep_is_refused(void **state)
{
    (void)state;
    static const char *const parts[][3] = {{"(", "true", ")"},
                                           {"[", "1", "]"},
                                           {"f(", "1", ")"},
                                           {"a[", "1", "]"},
                                           {"!(", "true", ")"},
                                           {"true ? true : ", "true", ""},
                                           {"{1: ", "1", "}"},
                                           {"", "a", ".a"},
                                           {"", "a", "[1]"},
                                           {"", "1", " == 1"},
                                           {"cel.bind(x, 1, ", "x", ")"}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        for (unsigned depth = 20; depth < 6000; depth *= 10) {
            struct sl_buf text = {0};
            struct sl_error e = {0};
            for (unsigned k = 0; k < depth; k++) {
                sl_buf_text(&text, parts[i][0]);
            }
            sl_buf_text(&text, parts[i][1]);
            for (unsigned k = 0; k < depth; k++) {
                sl_buf_text(&text, parts[i][2]);
            }
            struct sl_cel *c = sl_cel_parse_new(text.data, &e);
            assert_int_equal(c != NULL, depth == 20);
            assert_true(c != NULL || strstr(e.text, "nested too deep") != NULL);
            sl_cel_free(c);
            sl_buf_fini(&text);
        }
    }
    struct sl_buf wide = {0};
    sl_buf_text(&wide, "false");
    for (unsigned k = 0; k < 2000; k++) { /* but not how many there are side by side */
        sl_buf_text(&wide, " || false");
    }
    assert_int_equal(answer_of(wide.data, NULL), SL_CEL_NO);
    sl_buf_fini(&wide);
}

/* --- against the logic that they are made with ------------------------------------------------- */

static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* One side decides; else what is not evaluated might; else an error is one. */
static enum sl_cel_answer join(enum sl_cel_answer a, enum sl_cel_answer b, enum sl_cel_answer by)
{
    enum sl_cel_answer other = by == SL_CEL_YES ? SL_CEL_NO : SL_CEL_YES;
    return a == by || b == by                           ? by
           : a == SL_CEL_FOREIGN || b == SL_CEL_FOREIGN ? SL_CEL_FOREIGN
           : a == SL_CEL_FAILED || b == SL_CEL_FAILED   ? SL_CEL_FAILED
                                                        : other;
}

static enum sl_cel_answer add_leaf(struct sl_buf *out)
{
    static const struct {
        const char *text;
        enum sl_cel_answer is;
    } leaves[] = {{"true", SL_CEL_YES},
                  {"device.driver == 'x'", SL_CEL_NO},
                  {GPU ".index == 3", SL_CEL_YES},
                  {GPU ".healthy", SL_CEL_YES},
                  {GPU ".type in ['gpu', 'tpu']", SL_CEL_NO},
                  {GPU ".model == 'x'", SL_CEL_FAILED},
                  {"1 < 'a'", SL_CEL_FAILED},
                  {"device.driver.matches('x')", SL_CEL_FOREIGN},
                  {"1 + 1 == 2", SL_CEL_FOREIGN}};
    uint32_t i = below(sizeof leaves / sizeof leaves[0]);
    sl_buf_text(out, leaves[i].text);
    return leaves[i].is;
}

static enum sl_cel_answer add_random(struct sl_buf *out, unsigned depth)
{
    uint32_t kind = depth == 0 ? 0 : below(6);
    if (kind < 2) {
        return add_leaf(out);
    }
    if (kind == 2) {
        sl_buf_text(out, "!(");
        enum sl_cel_answer a = add_random(out, depth - 1);
        sl_buf_text(out, ")");
        return a == SL_CEL_YES ? SL_CEL_NO : a == SL_CEL_NO ? SL_CEL_YES : a;
    }
    sl_buf_text(out, "(");
    enum sl_cel_answer a = add_random(out, depth - 1);
    sl_buf_text(out, kind == 3 ? ") && (" : kind == 4 ? ") || (" : ") ? (");
    enum sl_cel_answer b = add_random(out, depth - 1);
    enum sl_cel_answer c = SL_CEL_NO;
    if (kind == 5) {
        sl_buf_text(out, ") : (");
        c = add_random(out, depth - 1);
    }
    sl_buf_text(out, ")");
    return kind == 3         ? join(a, b, SL_CEL_NO)
           : kind == 4       ? join(a, b, SL_CEL_YES)
           : a == SL_CEL_YES ? b
           : a == SL_CEL_NO  ? c
                             : a;
}

static void test_cel_of_random_expressions_follows_the_logic_of_its_parts(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3000; round++) {
        struct sl_buf text = {0};
        seed = round;
        enum sl_cel_answer expected = add_random(&text, 6);
        if (answer_of(text.data, NULL) != expected) {
            fail_msg("%s is not %d", text.data, (int)expected);
        }
        sl_buf_fini(&text);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cel_selects_what_fits),
        TEST(test_cel_leaves_what_does_not_fit),
        TEST(test_cel_errors_are_those_of_cel),
        TEST(test_cel_that_is_not_evaluated_says_what_it_is),
        TEST(test_cel_knows_before_what_is_not_evaluated),
        TEST(test_cel_that_is_none_is_refused_with_its_place),
        TEST(test_cel_nested_too_deep_is_refused),
        TEST(test_cel_of_random_expressions_follows_the_logic_of_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
