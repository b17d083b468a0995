/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of schemas in CEL: what they say of values, which are refused, what is said of objects, and that none of them takes long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "api/cel/cel_rule.h"
#include "api/defined/validations.h"
#include "api/defined/structural.h"
#include "api/defined/value.h"
#include "fixture.h"

#define PLENTY 1000000u

/* What rules are about here. */
static const char schema_text[] =
    "{type: object, properties: {\"n\": {type: integer}, m: {type: integer}, x: {type: number}, "
    "s: {type: string}, b: {type: boolean}, either: {x-kubernetes-int-or-string: true}, "
    "nul: {type: string, nullable: true}, when: {type: string, format: date-time}, "
    "a-b.c/d: {type: integer}, namespace: {type: string}, under__score: {type: integer}, "
    "list: {type: array, items: {type: string}}, numbers: {type: array, items: {type: integer}}, "
    "reals: {type: array, items: {type: number}}, "
    "set: {type: array, x-kubernetes-list-type: set, items: {type: string}}, "
    "parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: "
    "{type: object, properties: {name: {type: string}, \"n\": {type: integer}}}}, "
    "map: {type: object, additionalProperties: {type: string}}, "
    "o: {type: object, properties: {\"n\": {type: integer}}}, "
    "open: {type: object, x-kubernetes-preserve-unknown-fields: true}, "
    "any: {x-kubernetes-preserve-unknown-fields: true}}}";
static const char value_text[] =
    "{\"n\": 3, m: -7, x: 2, s: Größe-A, b: true, either: 50%, nul: null, "
    "when: \"2026-01-01T00:00:00Z\", a-b.c/d: 4, namespace: ns, under__score: 5, "
    "list: [a, bb, ccc], numbers: [1, 2, 3], reals: [1, 2.5], set: [p, q], parts: [{name: u, "
    "\"n\": "
    "1}, {name: v}], "
    "map: {k: v, \"l.m\": w}, o: {\"n\": 1}, open: {q: 1}}";

static struct sl_json *schema, *value;

static int setup(void **state)
{
    (void)state;
    schema = yaml(schema_text);
    value = yaml(value_text);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sl_json_free(schema);
    sl_json_free(value);
    return 0;
}

static void assert_answer(const char *rule, const struct sl_json *old, enum sl_cel_answer expected,
                          const char *why)
{
    struct sl_error e = {0};
    struct sl_buf said = {0};
    uint64_t left = PLENTY;
    struct sl_cel *c = sl_cel_rule_new(rule, schema, false, &e);
    if (c == NULL) {
        fail_msg("%s: %s", rule, e.text);
    }
    enum sl_cel_answer answer = sl_cel_rule_ask(c, schema, value, old, &left, &said);
    if (answer != expected || (why != NULL && (said.data == NULL || strcmp(said.data, why) != 0))) {
        fail_msg("%s: %d %s", rule, (int)answer, said.data != NULL ? said.data : "");
    }
    assert_true(left < PLENTY);
    sl_cel_free(c);
    sl_buf_fini(&said);
}

static void test_rules_that_hold(void **state)
{
    static const char *const rules[] = {
        /* operators */
        "self.n > 2 && self.n >= 3 && self.n < 4 && self.n <= 3 && self.n == 3 && self.n != 4",
        "self.n + 1 == 4",
        "self.n - 5 == -2",
        "self.n * self.m == -21",
        "self.m / 2 == -3",
        "self.m % 3 == -1",
        "2 + 3 * 4 - 1 == 13",
        "(2 + 3) * 4 == 20",
        "10 - 3 - 2 == 5",
        "-self.n == -3",
        "self.x == 2.0",
        "self.x > 1",
        "self.x + 0.5 == 2.5",
        "1.5 * 2.0 == 3.0",
        "self.x / 4.0 == 0.5",
        "self.x - 3.0 == -1.0",
        "-self.x == -2.0",
        "1e3 == 1000.0",
        "self.n < 3.5",
        "'a' + 'b' == 'ab'",
        "self.s < 'H'",
        "!(self.b ? self.n > 5 : true)",
        "self.n > 5 ? false : true",
        "true || 1 / 0 == 1",
        "!(false && 1 / 0 == 1)",
        /* members */
        "has(self.n)",
        "!has(self.nul)",
        "self.o.n == 1",
        "self.a__dash__b__dot__c__slash__d == 4",
        "self.__namespace__ == 'ns'",
        "self.under__underscores__score == 5",
        "self.map.k == 'v'",
        "self.map['l.m'] == 'w'",
        "has(self.map.k)",
        "!has(self.map.z)",
        "'k' in self.map",
        "!('z' in self.map)",
        "self.list[2] == 'ccc'",
        "self.parts[0].n == 1",
        "!has(self.parts[1].n)",
        "type(self.either) == string ? self.either.endsWith('%') : self.either > 0",
        "type(self.n) == int && type(self.x) == double && type(self.list) == list",
        "type(self.b) == bool && type(self.map) == map",
        "type(type(1)) == type",
        /* lists and maps */
        "size(self.list) == 3 && self.list.size() == 3 && size(self.map) == 2 && size('ß') == 1",
        "self.list == ['a', 'bb', 'ccc']",
        "self.list != ['a']",
        "self.list != ['a', 'bb', 'c']",
        "self.set == ['q', 'p']",
        "self.set != ['q', 'r']",
        "self.map == {'l.m': 'w', 'k': 'v'}",
        "self.map != {'k': 'v', 'z': 'w'}",
        "{'a': 1}['a'] == 1",
        "{'a': 1}.a == 1",
        "size({}) == 0",
        "[] == []",
        "'bb' in self.list",
        "!('z' in self.list)",
        "self.n in [1, 2, 3]",
        "self.list + ['d'] == ['a', 'bb', 'ccc', 'd']",
        "[1] + [2] == [1, 2]",
        "[1.0, 2.5] == self.reals",
        "self.o == {'n': 1}",
        "[[1], [2]] == [[1], [2]]",
        /* loops */
        "self.list.all(x, x.size() < 4)",
        "!self.list.all(x, x.size() < 3)",
        "self.list.exists(x, x == 'bb')",
        "!self.list.exists(x, x == 'z')",
        "self.list.exists_one(x, x == 'bb')",
        "!self.list.exists_one(x, x.size() > 1)",
        "self.list.filter(x, x.size() > 1) == ['bb', 'ccc']",
        "self.numbers.map(x, x * 2) == [2, 4, 6]",
        "self.numbers.map(x, x > 1, x + 1) == [3, 4]",
        "self.map.all(k, k.size() > 0 && self.map[k].size() == 1)",
        "self.map.filter(k, k == 'k') == ['k']",
        "self.parts.map(p, p.name) == ['u', 'v']",
        "self.parts.filter(p, has(p.n))[0].name == 'u'",
        "self.reals.map(r, r + 1.0) == [2.0, 3.5]",
        "self.numbers.all(i, self.numbers.exists(j, i == j))",
        "[].all(x, false)",
        "self.numbers.exists(i, i == 3 || 1 / (i - 1) == 9)", /* an error is forgiven */
        "!self.numbers.all(i, i < 3 && 1 / (i - 1) > -1)",
        "cel.bind(n, self.n + 1, n * n == 16)",
        /* functions */
        "self.s.contains('röß') && self.s.startsWith('Gr') && self.s.endsWith('-A')",
        "self.s.matches('^Gr.*-[A-Z]$')",
        "!self.s.matches('^a')",
        "'AbC'.lowerAscii() == 'abc'",
        "'AbC'.upperAscii() == 'ABC'",
        "'  a b '.trim() == 'a b'",
        "'a,b,,c'.split(',') == ['a', 'b', '', 'c']",
        "'ßb'.split('') == ['ß', 'b']",
        "''.split(',') == ['']",
        "['a', 'b'].join('-') == 'a-b'",
        "self.list.join() == 'abbccc'",
        "'aXbX'.replace('X', 'yy') == 'ayybyy'",
        "'ßabc'.substring(1) == 'abc'",
        "'ßabc'.substring(0, 2) == 'ßa'",
        "'abc'.substring(3) == ''",
        "'ßab'.indexOf('b') == 2",
        "'ab'.indexOf('c') == -1",
        "int('12') == 12 && int(2.9) == 2 && int(3) == 3",
        "double('1.5') == 1.5 && double(1) == 1.0",
        "double(1.5) == 1.5",
        "string(12) == '12' && string(true) == 'true' && string('a') == 'a'",
        "string(0.1) == '0.1' && string(false) == 'false'",
        "string(10.0) == '10' && string(1500.0) == '1500' && string(-10.0) == '-10'",
        "string(100000.0) == '100000' && string(1234567.0) == '1.234567e+06'",
        "string(0.0001) == '0.0001' && string(0.00001) == '1e-05' && string(2.5) == '2.5'",
        "string(1.0 / 0.0) == '+Inf' && string(-1.0 / 0.0) == '-Inf' && string(0.0) == '0'",
        "string(12345.678) == '12345.678' && string(1e21) == '1e+21'",
        "\n self.n == 3 \n",
        "isQuantity('1Gi') && !isQuantity('x')",
        "quantity('1Gi').isGreaterThan(quantity('500Mi'))",
        "quantity('1').compareTo(quantity('1000m')) == 0",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        assert_answer(rules[i], NULL, SL_CEL_YES, NULL);
    }
}

static void test_rules_that_fail(void **state)
{
    static const struct {
        const char *rule, *why;
    } cases[] = {
        {"1 / (self.n - 3) == 1", "division by zero"},
        {"1 % (self.n - 3) == 1", "modulus by zero"},
        {"self.n + 9223372036854775807 > 0", "integer overflow"},
        {"self.m - 9223372036854775807 > 0", "integer overflow"},
        {"self.n * 9223372036854775807 > 0", "integer overflow"},
        {"(-9223372036854775807 - 1) / -1 > 0", "integer overflow"},
        {"self.list[3] == ''", "index out of bounds: 3"},
        {"self.list[-1] == ''", "index out of bounds: -1"},
        {"self.map.z == ''", "no such key: z"},
        {"self.map['z'] == ''", "no such key: z"},
        {"self.parts[1].n == 1", "no such key: n"},
        {"self.either > 3", "no such overload"},
        {"self.either.all(x, true)", "no such overload"},
        {"self.either + 1 == 2", "no such overload"},
        {"self.either.substring('a' == 'b' ? 1 : -1) == ''", "index out of range: -1"},
        {"'abc'.substring(1, 9) == ''", "index out of range: 9"},
        {"'abc'.substring(2, 1) == ''", "index out of range: 1"},
        {"self.list.map(x, int(x)) == [1]", "cannot convert 'a' to int"},
        {"double('1e999') > 0.0", "cannot convert '1e999' to double"},
        {"double('') > 0.0", "cannot convert '' to double"},
        {"int(1e30) > 0", "integer overflow"},
        {"'a'.replace('', 'b') == ''", "replace() of an empty text is not supported"},
        {"{'a': 1, 'a': 2}.a == 1", "Failed with repeated key"},
        {"self.list.exists_one(x, self.list[5] == x)", "index out of bounds: 5"},
        {"self.list.filter(x, self.list[5] == x) == []", "index out of bounds: 5"},
        {"self.list.all(x, self.list[5] == x)", "index out of bounds: 5"},
        {"quantity('x').isLessThan(quantity('1'))", "x is not a quantity"},
        {"self.either", "the result is not a bool"},
        {"self.list.all(x, self.either)", "no such overload"},
        {"[self.either].join() == [1].join()", "no such overload"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_answer(cases[i].rule, NULL, SL_CEL_FAILED, cases[i].why);
    }
}

static void test_rules_are_refused_with_the_reason(void **state)
{
    static const struct {
        const char *rule, *why;
    } cases[] = {
        {"self.n >", "at character 9: expected an expression"},
        {"self.zzz > 1", "undefined field 'zzz'"},
        {"has(self.zzz)", "undefined field 'zzz'"},
        {"self.open.q == 1", "undefined field 'q'"},
        {"self.any == 1", "undefined field 'any'"},
        {"zzz", "undeclared reference to 'zzz'"},
        {"self.list.all(x, true) && x", "undeclared reference to 'x'"},
        {"self.n.m", "type 'int' does not support field selection"},
        {"self.n > 'x'", "found no matching overload for '_>_' applied to '(int, string)'"},
        {"self.n == 1.5", "found no matching overload for '_==_' applied to '(int, double)'"},
        {"self.n == null", "found no matching overload for '_==_' applied to '(int, null)'"},
        {"self.n + 'x' == 'x'", "found no matching overload for '_+_' applied to '(int, string)'"},
        {"self.x % 2.0 == 0.0", "found no matching overload for '_%_'"},
        {"self.s - 'a' == ''", "found no matching overload for '_-_'"},
        {"!self.n", "found no matching overload for '!_' applied to '(int)'"},
        {"-self.s == ''", "found no matching overload for '-_' applied to '(string)'"},
        {"self.n && true", "found no matching overload for '_&&_' applied to '(int)'"},
        {"self.b ? 1 : 'a'", "found no matching overload for '_?_:_' applied to '(int, string)'"},
        {"self.n ? true : false", "found no matching overload for '_?_:_' applied to '(int)'"},
        {"self.n in self.list", "found no matching overload for '@in' applied to '(int, list)'"},
        {"self.n in self.s", "found no matching overload for '@in' applied to '(int, string)'"},
        {"self.list['a'] == ''",
         "found no matching overload for '_[_]' applied to '(list, string)'"},
        {"self.o['n'] == 1", "found no matching overload for '_[_]' applied to '(object, string)'"},
        {"self.n.all(x, true)", "expression of type 'int' cannot be range of a comprehension"},
        {"self.list.all(x, x)", "found no matching overload for '_&&_' applied to '(string)'"},
        {"self.n.startsWith('a')",
         "found no matching overload for 'startsWith' applied to '(int, string)'"},
        {"self.s.startsWith()",
         "found no matching overload for 'startsWith' applied to '(string)'"},
        {"self.n in [1, 'a']", "expected type 'int' but found 'string'"},
        {"self.n", "must evaluate to a bool"},
        {"foo(self.n)", "this server does not evaluate the function foo"},
        {"self.s.format(['a', 'b', 'c', 'd', 'e'])  == ''",
         "this server does not evaluate the function format"},
        {"foo(1, 2, 3, 4, 5)", "this server does not evaluate the function foo"},
        {"self.s.matches(self.s)",
         "this server does not evaluate matches() of a pattern that is made"},
        {"self.s.matches('(?i)a')", "matches(): "},
        {"self.when == ''", "this server does not evaluate values of the format date-time"},
        {"self.?n == 1", "this server does not evaluate optional values"},
        {"1u == 1u", "this server does not evaluate an unsigned number"},
        {"b'a' == b'a'", "this server does not evaluate bytes"},
        {"{1: 2}[1] == 2", "this server does not evaluate maps with keys of type 'int'"},
        {"[quantity('1')] == []",
         "this server does not evaluate lists and maps of type 'kubernetes.Quantity'"},
        {"self.list.map(x, type(x)) == []",
         "this server does not evaluate lists and maps of type 'type'"},
        {"self.set + ['a'] == ['a']",
         "this server does not evaluate sums of lists that are sets or maps"},
        {"Type{a: 1} == 1", "this server does not evaluate messages"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_error e = {0};
        assert_null(sl_cel_rule_new(cases[i].rule, schema, false, &e));
        if (e.code != SL_CODE_INVALID || strstr(e.text, cases[i].why) == NULL) {
            fail_msg("%s: %s", cases[i].rule, e.text);
        }
    }
    char many[SL_CEL_RULE_BYTES_MAX + 2];
    struct sl_error e = {0};
    memset(many, ' ', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    assert_null(sl_cel_rule_new(many, schema, false, &e));
    assert_string_equal(e.text, "more than 4096 bytes");
    assert_null(sl_cel_rule_new("self.n", schema, true, &e));
    assert_string_equal(e.text, "must evaluate to a string");
}

static void test_rules_of_changes_see_what_was(void **state)
{
    struct sl_json *old = yaml("{\"n\": 2, list: [a], o: {\"n\": 1}}");
    (void)state;
    assert_answer("self.n >= oldSelf.n", old, SL_CEL_YES, NULL);
    assert_answer("self.o == oldSelf.o", old, SL_CEL_YES, NULL);
    assert_answer("self.list == oldSelf.list", old, SL_CEL_NO, NULL);
    assert_answer("oldSelf.list.all(x, x in self.list)", old, SL_CEL_YES, NULL);
    sl_json_free(old);
}

/* Each takes its budget and no more, and says so. */
static void test_rules_end(void **state)
{
    static const char *const rules[] = {
        "self.numbers.all(a, self.numbers.all(b, self.numbers.all(c, self.numbers.all(d, "
        "self.numbers.all(e, self.numbers.all(f, self.numbers.all(g, self.numbers.all(h, "
        "self.numbers.all(i, self.numbers.all(j, self.numbers.all(k, self.numbers.all(l, "
        "self.numbers.all(m, true)))))))))))))",
        "cel.bind(a, self.s + self.s, cel.bind(b, a + a + a + a + a + a + a + a, cel.bind(c, b + b "
        "+ "
        "b + b + b + b + b + b, cel.bind(d, c + c + c + c + c + c + c + c, cel.bind(e, d + d + d + "
        "d + d "
        "+ d + d + d, cel.bind(f, e + e + e + e + e + e + e + e, cel.bind(g, f + f + f + f + f + "
        "f, "
        "(g + g + g + g + g + g).size() > 0)))))))",
        "cel.bind(a, self.list + self.list, cel.bind(b, a + a + a + a + a + a + a + a, cel.bind(c, "
        "b "
        "+ b + b + b + b + b + b + b, cel.bind(d, c + c + c + c + c + c + c + c, cel.bind(e, d + d "
        "+ d + d, "
        "(e + e + e + e + e + e + e + e + e + e + e + e).join().split('').map(x, "
        "x.upperAscii()).exists(x, x == 'z'))))))",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        assert_answer(rules[i], NULL, SL_CEL_FAILED, "it takes too many steps");
    }
}

static void test_messages_are_made(void **state)
{
    struct sl_error e = {0};
    struct sl_buf out = {0};
    uint64_t left = PLENTY;
    struct sl_cel *c =
        sl_cel_rule_new("'n is ' + string(self.n) + (self.b ? '!' : '.')", schema, true, &e);
    (void)state;
    assert_non_null(c);
    assert_true(sl_cel_rule_say(c, schema, value, NULL, &left, &out));
    assert_string_equal(out.data, "n is 3!");
    sl_cel_free(c);
    c = sl_cel_rule_new("self.list[7]", schema, true, &e);
    assert_false(sl_cel_rule_say(c, schema, value, NULL, &left, &out));
    sl_cel_free(c);
    sl_buf_fini(&out);
}

/* --- in schemas ------------------------------------------------------------------------------- */

/* What is said of an object and of the one before it, "field: text" a line. */
static void assert_said(const char *schema_of, const char *object, const char *before,
                        const char *expected)
{
    struct sl_error e = {0};
    struct sl_buf said = {0};
    struct sl_json *s = yaml(schema_of), *o = yaml(object);
    struct sl_json *old = before != NULL ? yaml(before) : NULL;
    struct sl_check c = {.e = &e, .object = o, .old = old};
    struct sl_validations *rules = sl_validations_new(s, &c);
    if (rules == NULL) {
        fail_msg("%s: %s", e.causes[0].field, e.causes[0].text);
    }
    sl_value_check(&c, s, o, true);
    sl_validations_ask(rules, &c);
    sl_buf_text(&said, "");
    for (unsigned i = 0; i < e.cause_count && i < SL_CAUSES_MAX; i++) {
        sl_buf_print(&said, "%s: %s: %s\n", e.causes[i].field, e.causes[i].reason,
                     e.causes[i].text);
    }
    assert_string_equal(said.data, expected);
    sl_validations_free(rules);
    sl_buf_fini(&said);
    sl_json_free(s);
    sl_json_free(o);
    sl_json_free(old);
}

#define SPEC(rules)                                                                                \
    "{type: object, properties: {spec: {type: object, x-kubernetes-validations: [" rules           \
    "], properties: {min: {type: integer}, max: {type: integer}, s: {type: string}, m: {type: "    \
    "object, additionalProperties: {type: string}}}}}}"

static void test_objects_are_told_as_by_a_cluster(void **state)
{
    (void)state;
    assert_said(SPEC("{rule: self.min <= self.max, message: min above max}"),
                "{spec: {min: 3, max: 2}}", NULL,
                "spec: FieldValueInvalid: Invalid value: min above max\n");
    assert_said(SPEC("{rule: self.min <= self.max}"), "{spec: {min: 3, max: 2}}", NULL,
                "spec: FieldValueInvalid: Invalid value: failed rule: self.min <= self.max\n");
    assert_said(SPEC("{rule: self.min <= self.max, message: m}"), "{spec: {min: 1, max: 2}}", NULL,
                "");
    assert_said(SPEC("{rule: self.min <= self.max, message: m}"), "{}", NULL, "");
    assert_said(SPEC("{rule: self.min <= self.max, message: m, reason: FieldValueForbidden, "
                     "fieldPath: .min}"),
                "{spec: {min: 3, max: 2}}", NULL, "spec.min: FieldValueForbidden: Forbidden: m\n");
    assert_said(
        SPEC("{rule: \"false\", message: m, reason: FieldValueRequired, fieldPath: \".m['a']\"}"),
        "{spec: {}}", NULL, "spec.m[a]: FieldValueRequired: Required value: m\n");
    assert_said(SPEC("{rule: \"false\", message: m, reason: FieldValueDuplicate}"), "{spec: {}}",
                NULL, "spec: FieldValueDuplicate: Duplicate value: m\n");
    assert_said(
        SPEC("{rule: \"self.s == ''\", message: m, messageExpression: \"'s is ' + self.s\"}"),
        "{spec: {s: x}}", NULL, "spec: FieldValueInvalid: Invalid value: s is x\n");
    assert_said(
        SPEC("{rule: \"self.min > 9\", message: m, messageExpression: \"'s is ' + self.s\"}"),
        "{spec: {min: 1}}", NULL, "spec: FieldValueInvalid: Invalid value: m\n");
    assert_said(SPEC("{rule: self.min <= self.max, message: m}"), "{spec: {min: 1}}", NULL,
                "spec: FieldValueInvalid: Invalid value: \"object\": no such key: max evaluating "
                "rule: m\n");
    assert_said(SPEC("{rule: self.min <= self.max, message: m}"), "{spec: {min: x, max: 1}}", NULL,
                "spec.min: FieldValueTypeInvalid: Invalid value: \"string\": spec.min in body must "
                "be of type integer: \"string\"\n: FieldValueInvalid: Invalid value: null: some "
                "validation rules were not checked because the object was invalid; correct the "
                "existing errors to complete validation\n");
    assert_said("{type: object, x-kubernetes-validations: [{rule: \"self.metadata.name != 'bad' && "
                "self.kind != ''\", message: m}]}",
                "{kind: K, metadata: {name: bad}}", NULL,
                ": FieldValueInvalid: Invalid value: m\n");
    assert_said(
        "{type: object, x-kubernetes-validations: [{rule: \"false\", message: m, fieldPath: .a}], "
        "properties: {a: {type: integer}}}",
        "{}", NULL, "a: FieldValueInvalid: Invalid value: m\n");
}

#define ITEM                                                                                       \
    "{type: object, properties: {k: {type: string}, v: {type: integer, x-kubernetes-validations: " \
    "[{rule: self >= oldSelf, message: m}]}}}"

static void test_places_and_changes(void **state)
{
    static const char by_keys[] =
        "{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, "
        "x-kubernetes-list-map-keys: [k], items: " ITEM "}}}";
    static const char by_names[] =
        "{type: object, properties: {l: {type: object, additionalProperties: " ITEM "}}}";
    (void)state;
    assert_said(by_keys, "{l: [{k: a, v: 2}, {k: b, v: 1}]}", "{l: [{k: b, v: 5}, {k: c, v: 9}]}",
                "l[1].v: FieldValueInvalid: Invalid value: 1: m\n");
    assert_said(by_keys, "{l: [{k: a, v: 2}]}", NULL, "");
    assert_said(by_names, "{l: {a: {v: 2}, b: {v: 1}}}", "{l: {b: {v: 5}}}",
                "l[b].v: FieldValueInvalid: Invalid value: 1: m\n");
    assert_said("{type: object, properties: {l: {type: array, items: {type: string, "
                "x-kubernetes-validations: [{rule: \"self != 'x'\", message: m}]}}}}",
                "{l: [a, x]}", NULL, "l[1]: FieldValueInvalid: Invalid value: \"x\": m\n");
    assert_said("{type: object, properties: {l: {type: array, x-kubernetes-validations: [{rule: "
                "\"self[7] != 'x'\"}], items: {type: string}}}}",
                "{l: []}", NULL,
                "l: FieldValueInvalid: Invalid value: \"array\": index out of bounds: 7 evaluating "
                "rule: self[7] != 'x'\n");
}

/* Many items that each cost little: what they take together is bounded. */
static void test_an_object_has_one_budget(void **state)
{
    struct sl_buf list = {0};
    (void)state;
    sl_buf_text(&list, "{l: [");
    for (int i = 0; i < 1500; i++) {
        sl_buf_print(&list, "{k: k%d, v: 1},", i);
    }
    sl_buf_text(&list, "]}");
    assert_said("{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, "
                "x-kubernetes-list-map-keys: [k], items: " ITEM "}}}",
                list.data, list.data,
                "l[664]: FieldValueForbidden: Forbidden: validation failed due to running out of "
                "cost budget, no further validation rules will be run\n");
    assert_said("{type: object, properties: {l: {type: array, x-kubernetes-validations: [{rule: "
                "\"self.all(a, self.all(b, a.k == b.k || true))\"}, {rule: \"false\"}], items: "
                "{type: object, "
                "properties: {k: {type: string}}}}}}",
                list.data, NULL,
                "l: FieldValueForbidden: Forbidden: validation failed due to running out of cost "
                "budget, no further validation rules will be run\n");
    sl_buf_fini(&list);
}

static void test_rules_in_schemas_are_refused_with_their_field(void **state)
{
    static const struct {
        const char *rule, *field, *text;
    } cases[] = {
        {"{rule: self.zzz}", "rule",
         "Invalid value: \"self.zzz\": compilation failed: undefined field 'zzz'"},
        {"{message: m}", "rule", "Required value: rule is not specified"},
        {"{rule: \" \"}", "rule", "Required value: rule is not specified"},
        {"{rule: \"self.min >\\n1\"}", "message",
         "Required value: message must be specified if rule contains line breaks"},
        {"{rule: \"true\", message: \"a\\nb\"}", "message", "must not contain line breaks"},
        {"{rule: \"true\", message: 1}", "message", "must be a string"},
        {"{rule: \"true\", reason: Foo}", "reason", "Unsupported value: \"Foo\""},
        {"{rule: \"true\", fieldPath: .zzz}", "fieldPath", "must be a valid path"},
        {"{rule: \"true\", fieldPath: min}", "fieldPath", "must be a valid path"},
        {"{rule: \"true\", fieldPath: \"['min\"}", "fieldPath", "must be a valid path"},
        {"{rule: \"true\", messageExpression: self.min}", "messageExpression",
         "must evaluate to a string"},
        {"{rule: self.min > oldSelf.min, optionalOldSelf: true}", "optionalOldSelf",
         "is not evaluated by this server"},
        {"{rule: \"true\", foo: x}", "", "is not known to this server: foo"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_error e = {0};
        char text[1024], field[160];
        (void)snprintf(text, sizeof text,
                       "{type: object, properties: {spec: {type: object, properties: {min: {type: "
                       "integer}}, x-kubernetes-validations: [%s]}}}",
                       cases[i].rule);
        (void)snprintf(field, sizeof field, ".properties[spec].x-kubernetes-validations[0].%s",
                       cases[i].field);
        struct sl_json *s = yaml(text);
        struct sl_check c = {.e = &e};
        assert_null(sl_validations_new(s, &c));
        if (e.cause_count != 1 || strcmp(e.causes[0].field, field) != 0 ||
            strstr(e.causes[0].text, cases[i].text) == NULL) {
            fail_msg("%s: %u %s: %s", cases[i].rule, e.cause_count, e.causes[0].field,
                     e.causes[0].text);
        }
        sl_json_free(s);
    }
}

static void test_where_rules_may_not_be(void **state)
{
    static const struct {
        const char *schema, *field, *text;
    } cases[] = {
        {"{type: object, allOf: [{x-kubernetes-validations: [{rule: \"true\"}]}]}",
         ".allOf[0].x-kubernetes-validations", "Forbidden: must be empty to be structural"},
        {"{type: object, x-kubernetes-validations: x}", ".x-kubernetes-validations",
         "must be a list"},
        {"{type: object, properties: {l: {type: array, items: {type: string, "
         "x-kubernetes-validations: [{rule: self == oldSelf}]}}}}",
         ".properties[l].items.x-kubernetes-validations[0].rule",
         "oldSelf cannot be used on the uncorrelatable"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_error e = {0};
        struct sl_json *s = yaml(cases[i].schema);
        struct sl_check c = {.e = &e};
        sl_structural_check(&c, s);
        if (e.cause_count == 0) {
            assert_null(sl_validations_new(s, &c));
        }
        if (e.cause_count != 1 || strcmp(e.causes[0].field, cases[i].field) != 0 ||
            strstr(e.causes[0].text, cases[i].text) == NULL) {
            fail_msg("%s: %u %s: %s", cases[i].schema, e.cause_count, e.causes[0].field,
                     e.causes[0].text);
        }
        sl_json_free(s);
    }
}

static void test_the_rules_of_a_schema_are_not_too_long(void **state)
{
    struct sl_error e = {0};
    struct sl_check c = {.e = &e};
    struct sl_json *s = yaml("{type: object}");
    struct sl_json *rules = sl_json_new_list();
    char text[4001];
    (void)state;
    memset(text, ' ', sizeof text - 1);
    memcpy(text, "true", 4);
    text[sizeof text - 1] = '\0';
    for (int i = 0; i < 17; i++) {
        struct sl_json *rule = sl_json_new_map();
        sl_json_set_text(rule, "rule", text);
        sl_json_append(rules, rule);
    }
    sl_json_set(s, "x-kubernetes-validations", rules);
    assert_null(sl_validations_new(s, &c));
    assert_int_equal(e.cause_count, 1);
    assert_string_equal(e.causes[0].field, ".x-kubernetes-validations[16].rule");
    assert_non_null(strstr(e.causes[0].text, "more than 65536 bytes together"));
    sl_json_remove(s, "x-kubernetes-validations");
    assert_null(sl_validations_new(s, NULL)); /* no rules */
    sl_json_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_that_hold),
        cmocka_unit_test(test_rules_that_fail),
        cmocka_unit_test(test_rules_are_refused_with_the_reason),
        cmocka_unit_test(test_rules_of_changes_see_what_was),
        cmocka_unit_test(test_rules_end),
        cmocka_unit_test(test_messages_are_made),
        cmocka_unit_test(test_objects_are_told_as_by_a_cluster),
        cmocka_unit_test(test_places_and_changes),
        cmocka_unit_test(test_an_object_has_one_budget),
        cmocka_unit_test(test_rules_in_schemas_are_refused_with_their_field),
        cmocka_unit_test(test_where_rules_may_not_be),
        cmocka_unit_test(test_the_rules_of_a_schema_are_not_too_long),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
