/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Definitions of kinds, piece by piece: patterns, what a schema makes of a value and says about it, which schemas are held, and
 * columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "api/defined/defined.h"
#include "api/defined/definition.h"
#include "api/json/pattern.h"
#include "api/defined/shape.h"
#include "api/defined/structural.h"
#include "api/defined/value.h"
#include "base/mem.h"
#include "fixture.h"

/* --- patterns --------------------------------------------------------------------------------- */

static void test_patterns_match_as_in_go(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", "a-b", true},
        {"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", "a-", false},
        {"^\\d+(\\.\\d+)?$", "12.5", true},
        {"^\\d+(\\.\\d+)?$", "12x5", false},
        {"^\\D\\W\\S$", "a-b", true},
        {"^\\w+\\s\\w+$", "ab\tcd", true},
        {"^(?:a|b)+?$", "abab", true},
        {"^[\\w.-]+$", "a.b-c_d", true},
        {"^[^\\s/]+$", "a/b", false},
        {"^[]a]+$", "a]", true},
        {"^[\\]\\^-]+$", "]^-", true},
        {"^[\\^-]$", "-", true},
        {"^[\\^]$", "^", true},
        {"^[^^]$", "^", false},
        {"^[[:alpha:]_]+$", "a_", true},
        {"^[[:digit:]]$", "a", false},
        {"\\Ab\\z", "b", true},
        {"b", "abc", true},
        {"^a{2}$", "aa", true},
        {"^a{2,}?$", "aaaa", true},
        {"^a{,2}$", "a{,2}", true},
        {"^}{$", "}{", true},
        {"^.$", "\n", false},
        {"^a\\/b\\.$", "a/b.", true},
        {"^\\t\\-$", "\t-", true},
        {"^[\\n-\\r]$", "\f", true},
        {"", "x", true},
        {"^é+$", "é", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_error e = {0};
        if (sl_pattern_check(cases[i].pattern, &e) != SL_CODE_OK) {
            fail_msg("%s: %s", cases[i].pattern, e.text);
        }
        if (sl_pattern_matches(cases[i].pattern, cases[i].text) != cases[i].matches) {
            fail_msg("%s of %s", cases[i].pattern, cases[i].text);
        }
    }
}

/* The C library remembers a state for each byte of a text, as large as the pattern says. */
static void test_patterns_and_long_texts(void **state)
{
    (void)state;
    struct sl_buf text = {0};
    for (int i = 0; i < 60000; i++) {
        sl_buf_text(&text, i % 3 == 0 ? "a" : "b");
    }
    assert_false(sl_pattern_fits("^[ab]*a[ab]{1000}c", text.data));
    assert_false(sl_pattern_matches("^[ab]*a[ab]{1000}", text.data));
    assert_true(sl_pattern_matches("^[ab]+$", text.data));
    text.data[20000] = '\0';
    assert_true(sl_pattern_matches("^[ab]*a[ab]{20}", text.data));
    text.data[1000] = '\0';
    assert_true(sl_pattern_matches("^.{1,1000}$", text.data));
    text.data[1000] = 'b';
    text.data[1001] = '\0';
    assert_false(sl_pattern_matches("^.{1,1000}$", text.data));
    sl_buf_fini(&text);
}

static void test_patterns_that_cannot_be_matched_are_refused(void **state)
{
    static const struct {
        const char *pattern, *why;
    } cases[] = {
        {"(?i)a", "a group with flags or a name"},
        {"\\bword\\b", "an escape"},
        {"a\\", "an escape"},
        {"[\\p{L}]", "an escape in brackets"},
        {"[é]", "a character beyond ASCII in brackets"},
        {"[z-a]", "a range whose end comes first"},
        {"[a", "a bracket without its end"},
        {"[a-é]", "a character beyond ASCII in brackets"},
        {"[[:word:]]", "a class of characters of that name"},
        {"a{1001}", "a count of more than 1000"},
        {"a{3,2}", "whose end comes first"},
        {"((a{1000}){1000}){1000}", "repeated so often"},
        {"(a", "is no regular expression"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_error e = {0};
        assert_int_equal(sl_pattern_check(cases[i].pattern, &e), SL_CODE_INVALID);
        if (strstr(e.text, cases[i].why) == NULL) {
            fail_msg("%s: %s", cases[i].pattern, e.text);
        }
    }
    char many[SL_PATTERN_BYTES_MAX + 2];
    struct sl_error e = {0};
    memset(many, 'a', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    assert_int_equal(sl_pattern_check(many, &e), SL_CODE_INVALID);
    assert_non_null(strstr(e.text, "more than 1024 bytes"));
}

/* More patterns than are kept compiled. */
static void test_patterns_are_compiled_again(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 300; i++) {
            char pattern[32], text[32];
            (void)snprintf(pattern, sizeof pattern, "^x%d$", i);
            (void)snprintf(text, sizeof text, "x%d", i);
            assert_true(sl_pattern_matches(pattern, text));
            assert_false(sl_pattern_matches(pattern, "x"));
        }
    }
}

/* --- what a schema makes of a value ----------------------------------------------------------- */

static void assert_shaped(const char *schema, const char *value, const char *expected)
{
    struct sl_json *s = yaml(schema), *v = yaml(value);
    sl_shape_prune(s, v);
    assert_true(sl_shape_default(s, v, 1000));
    assert_json(v, expected);
    sl_json_free(s);
    sl_json_free(v);
}

static void test_shapes_prune_and_fill(void **state)
{
    (void)state;
    assert_shaped("{type: object, properties: {a: {type: object}}}",
                  "{apiVersion: v, kind: K, metadata: {x: 1}, a: {b: 1}, c: 2}",
                  "{\"apiVersion\":\"v\",\"kind\":\"K\",\"metadata\":{\"x\":1},\"a\":{}}");
    assert_shaped("{type: object, properties: {a: {type: object, "
                  "x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: object}}}}}",
                  "{a: {b: {c: 1}, d: {e: 1}}}", "{\"a\":{\"b\":{},\"d\":{\"e\":1}}}");
    assert_shaped("{type: object, properties: {a: {type: object, additionalProperties: {type: "
                  "object, properties: {b: {type: integer, default: 3}}}}}}",
                  "{a: {k: {c: 1}}}", "{\"a\":{\"k\":{\"b\":3}}}");
    assert_shaped("{type: object, properties: {a: {type: object, additionalProperties: true}}}",
                  "{a: {k: {c: 1}}}", "{\"a\":{\"k\":{\"c\":1}}}");
    assert_shaped("{type: object, properties: {a: {type: array, items: {type: object, properties: "
                  "{b: {type: string, default: x}}}}}}",
                  "{a: [{c: 1}, {b: z}, 3]}", "{\"a\":[{\"b\":\"x\"},{\"b\":\"z\"},3]}");
    assert_shaped("{type: object, properties: {a: {type: integer, default: 1}, b: {type: integer}, "
                  "c: {type: integer, nullable: true, default: 2}}}",
                  "{a: null, b: null, c: null}", "{\"c\":null,\"a\":1}");
    assert_shaped("{type: object, properties: {a: {type: object, default: {}, properties: {b: "
                  "{type: integer, default: 1}}}, metadata: {type: object, default: {}}}}",
                  "{}", "{\"a\":{\"b\":1}}");
}

static void test_shapes_say_what_is_unknown(void **state)
{
    (void)state;
    struct sl_json *s = yaml("{type: object, properties: {a: {type: array, items: {type: object, "
                             "properties: {b: {type: integer}}}}}}");
    struct sl_json *v = yaml("{metadata: {x: 1}, a: [{b: 1}, {c: 1}], d: {e: 1}}");
    struct sl_json *list = sl_json_new_list();
    sl_shape_unknown(s, v, list);
    assert_json(list, "[\"a[1].c\",\"d\"]");
    for (int i = 0; i < 20; i++) {
        sl_shape_unknown(s, v, list);
    }
    assert_int_equal(sl_json_len(list), 16);
    sl_json_free(list);
    sl_json_free(v);
    sl_json_free(s);
}

static void test_shapes_stop_at_the_weight(void **state)
{
    (void)state;
    struct sl_json *s = yaml("{type: object, properties: {a: {type: array, items: {type: object, "
                             "properties: {b: {type: integer, default: 1}}}}}}");
    struct sl_json *v = yaml("{a: [{}, {}, {}]}");
    assert_false(sl_shape_default(s, v, 4));
    sl_json_free(v);
    v = yaml("{a: [{}, {}, {}]}");
    assert_true(sl_shape_default(s, v, 7));
    assert_json(v, "{\"a\":[{\"b\":1},{\"b\":1},{\"b\":1}]}");
    sl_json_free(v);
    sl_json_free(s);
}

/* --- what it says about one ------------------------------------------------------------------- */

static struct sl_error said_of(const char *schema, const char *value)
{
    struct sl_error e;
    struct sl_json *s = yaml(schema), *v = yaml(value);
    struct sl_check c = {.e = &e};
    sl_error_clear(&e);
    (void)sl_check_down(&c, "v");
    sl_value_check(&c, s, sl_json_get(v, "v"), false);
    sl_json_free(v);
    sl_json_free(s);
    return e;
}

static void test_values_are_complained_of(void **state)
{
    static const struct {
        const char *schema, *value, *field, *text; /* text NULL: fine */
    } cases[] = {
        {"{type: integer}", "{v: 1}", "", NULL},
        {"{type: integer}", "{v: 1.0}", "", NULL},
        {"{type: integer}", "{v: 1.5}", "v",
         "Invalid value: \"number\": v in body must be of type integer: \"number\""},
        {"{type: number}", "{v: 1}", "", NULL},
        {"{type: boolean}", "{v: true}", "", NULL},
        {"{type: boolean}", "{v: {}}", "v",
         "Invalid value: \"object\": v in body must be of type boolean: \"object\""},
        {"{type: string}", "{v: null}", "v",
         "Invalid value: \"null\": v in body must be of type string: \"null\""},
        {"{type: string, nullable: true}", "{v: null}", "", NULL},
        {"{x-kubernetes-int-or-string: true}", "{v: 50%}", "", NULL},
        {"{x-kubernetes-int-or-string: true}", "{v: true}", "v",
         "must be of type integer,string: \"boolean\""},
        {"{x-kubernetes-preserve-unknown-fields: true}", "{v: [1]}", "", NULL},
        {"{type: integer, maximum: 5}", "{v: 6}", "v", "should be less than or equal to 5"},
        {"{type: integer, maximum: 5, exclusiveMaximum: true}", "{v: 5}", "v",
         "should be less than 5"},
        {"{type: integer, minimum: 5, exclusiveMinimum: true}", "{v: 5}", "v",
         "should be greater than 5"},
        {"{type: number, minimum: 0.5}", "{v: 0.25}", "v",
         "should be greater than or equal to 0.5"},
        {"{type: integer, multipleOf: 3}", "{v: 4}", "v", "should be a multiple of 3"},
        {"{type: integer, format: int32}", "{v: 3000000000}", "v", "must be of type int32"},
        {"{type: string, minLength: 2}", "{v: \"ü\"}", "v", "should be at least 2 chars long"},
        {"{type: string, maxLength: 2}", "{v: \"üü\"}", "", NULL},
        {"{type: string, maxLength: 2}", "{v: abc}", "v", "Too long: may not be more than 2 bytes"},
        {"{type: string, format: date-time}", "{v: \"2026-08-22T10:00:00Z\"}", "", NULL},
        {"{type: string, format: date-time}", "{v: now}", "v",
         "must be of type date-time: \"now\""},
        {"{type: string, pattern: ^a}", "{v: b}", "v", "v in body should match '^a'"},
        {"{type: integer, enum: [1, 2]}", "{v: 3}", "v",
         "Unsupported value: 3: supported values: 1, 2"},
        {"{type: array, items: {type: integer}, maxItems: 1}", "{v: [1, 2]}", "v",
         "Too many: 2: must have at most 1 items"},
        {"{type: array, items: {type: integer}, minItems: 1}", "{v: []}", "v",
         "Invalid value: 0: v in body should have at least 1 items"},
        {"{type: array, items: {type: integer}}", "{v: [1, a]}", "v[1]", "must be of type integer"},
        {"{type: array, x-kubernetes-list-type: set, items: {type: integer}}", "{v: [1, 1]}",
         "v[1]", "Duplicate value: 1"},
        {"{type: array, x-kubernetes-list-type: atomic, items: {type: integer}}", "{v: [1, 1]}", "",
         NULL},
        {"{type: object, minProperties: 1}", "{v: {}}", "v", "should have at least 1 properties"},
        {"{type: object, maxProperties: 1}", "{v: {a: 1, b: 2}}", "v", "Too many: 2"},
        {"{type: object, required: [a]}", "{v: {}}", "v.a", "Required value"},
        {"{type: object, additionalProperties: {type: integer}}", "{v: {a: x}}", "v.a",
         "must be of type integer"},
        {"{type: object, allOf: [{required: [a]}]}", "{v: {}}", "v.a", "Required value"},
        {"{type: object, anyOf: [{required: [a]}, {required: [b]}]}", "{v: {}}", "v",
         "\"v\" must validate at least one schema (anyOf)"},
        {"{type: object, anyOf: [{required: [a]}, {required: [b]}]}", "{v: {b: 1}}", "", NULL},
        {"{type: object, oneOf: [{required: [a]}, {required: [b]}]}", "{v: {}}", "v",
         "one and only one schema (oneOf). Found none valid"},
        {"{type: object, oneOf: [{required: [a]}, {required: [b]}]}", "{v: {a: 1, b: 1}}", "v",
         "Found more than one valid"},
        {"{type: object, not: {required: [a]}}", "{v: {a: 1}}", "v",
         "\"v\" must not validate the schema (not)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_error e = said_of(cases[i].schema, cases[i].value);
        bool good = cases[i].text == NULL
                        ? e.cause_count == 0
                        : e.cause_count == 1 && strcmp(e.causes[0].field, cases[i].field) == 0 &&
                              strstr(e.causes[0].text, cases[i].text) != NULL;
        if (!good) {
            fail_msg("%s of %s: %u %s %s", cases[i].schema, cases[i].value, e.cause_count,
                     e.causes[0].field, e.causes[0].text);
        }
    }
}

/* --- which schemas are held ------------------------------------------------------------------- */

static void test_schemas_have_to_be_structural(void **state)
{
    static const struct {
        const char *schema, *field, *text; /* text NULL: fine */
    } cases[] = {
        {"{type: object}", "", NULL},
        {"{type: object, properties: {a: {x-kubernetes-int-or-string: true, anyOf: [{type: "
         "integer}, {type: string}], pattern: ^a}}}",
         "", NULL},
        {"{type: object, properties: {a: {type: array, items: {type: string}, uniqueItems: "
         "false}}}",
         "", NULL},
        {"{type: string}", "s.type", "must be object at the root"},
        {"{type: object, properties: {a: {}}}", "s.properties[a].type",
         "must not be empty for specified object fields"},
        {"{type: object, properties: {a: {type: text}}}", "s.properties[a].type",
         "Unsupported value: \"text\""},
        {"{type: object, properties: {a: {type: int}}}", "s.properties[a].type",
         "Unsupported value: \"int\""},
        {"{type: object, properties: {a: {type: string, x-kubernetes-int-or-string: true}}}",
         "s.properties[a].type", "must be empty if x-kubernetes-int-or-string is true"},
        {"{type: object, properties: {a: {type: array}}}", "s.properties[a].items",
         "Required value: must be specified"},
        {"{type: object, properties: {a: {type: string, patern: x}}}", "s.properties[a].patern",
         "Forbidden: is not known to this server"},
        {"{type: object, properties: {a: {type: string, pattern: \"(?i)x\"}}}",
         "s.properties[a].pattern", "a group with flags"},
        {"{type: object, properties: {a: {type: string, maxLength: x}}}",
         "s.properties[a].maxLength", "must be an integer"},
        {"{type: object, required: x}", "s.required", "must be a list"},
        {"{type: object, not: x}", "s.not", "must be an object"},
        {"{type: object, nullable: x}", "s.nullable", "must be true or false"},
        {"{type: object, title: 1}", "s.title", "must be a string"},
        {"{type: object, properties: {a: {type: integer, minimum: x}}}", "s.properties[a].minimum",
         "must be a number"},
        {"{type: object, properties: {a: x}}", "s.properties[a]", "must be a schema"},
        {"{type: object, x-kubernetes-embedded-resource: true}", "s.x-kubernetes-embedded-resource",
         "Forbidden"},
        {"{type: object, properties: {a: {type: array, uniqueItems: true, items: {type: "
         "string}}}}",
         "s.properties[a].uniqueItems", "quadratic"},
        {"{type: object, properties: {a: {$ref: x}}}", "s.properties[a].$ref", "not supported"},
        {"{type: object, properties: {a: {type: string}}, additionalProperties: true}",
         "s.additionalProperties", "must not be used together with properties"},
        {"{type: object, additionalProperties: false}", "s.additionalProperties",
         "must be a schema or true"},
        {"{type: object, additionalProperties: {type: bool}}", "s.additionalProperties.type",
         "Unsupported value"},
        {"{type: object, properties: {a: {type: array, items: {type: object}, "
         "x-kubernetes-list-type: map}}}",
         "s.properties[a].x-kubernetes-list-map-keys", "must not be empty"},
        {"{type: object, properties: {a: {type: array, items: {type: object}, "
         "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}}}",
         "s.properties[a].x-kubernetes-list-map-keys[0]", "must be a property of the items"},
        {"{type: object, properties: {a: {type: array, items: {type: object}, "
         "x-kubernetes-list-type: bag}}}",
         "s.properties[a].x-kubernetes-list-type", "Unsupported value: \"bag\""},
        {"{type: object, x-kubernetes-map-type: odd}", "s.x-kubernetes-map-type",
         "Unsupported value: \"odd\""},
        {"{type: object, default: {}}", "s.default", "Forbidden: must not be set here"},
        {"{type: object, properties: {a: {type: integer, default: x}}}", "s.properties[a].default",
         "must be of type integer"},
        {"{type: object, properties: {a: {type: object, default: {b: 1}}}}",
         "s.properties[a].default", "must not have unknown fields"},
        {"{type: object, properties: {a: {type: object, anyOf: [{properties: {b: {pattern: "
         "\"[\"}}}]}}}",
         "s.properties[a].anyOf[0].properties[b].pattern", "a bracket without its end"},
        {"{type: object, properties: {a: {type: object, not: {default: 1}}}}",
         "s.properties[a].not.default", "Forbidden"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_error e;
        struct sl_json *s = yaml(cases[i].schema);
        struct sl_check c = {.e = &e};
        sl_error_clear(&e);
        (void)sl_check_down(&c, "s");
        sl_structural_check(&c, s);
        bool good = cases[i].text == NULL
                        ? e.cause_count == 0
                        : e.cause_count == 1 && strcmp(e.causes[0].field, cases[i].field) == 0 &&
                              strstr(e.causes[0].text, cases[i].text) != NULL;
        if (!good) {
            fail_msg("%s: %u %s: %s", cases[i].schema, e.cause_count, e.causes[0].field,
                     e.causes[0].text);
        }
        sl_json_free(s);
    }
}

/* --- definitions ------------------------------------------------------------------------------ */

static void test_columns_come_from_paths(void **state)
{
    static const struct {
        const char *path, *source; /* NULL: refused */
    } cases[] = {
        {".spec.replicas", "spec.replicas"},
        {".metadata.labels.example\\.com/x", "metadata.labels[example.com/x]"},
        {".metadata.labels['example.com/x']", "metadata.labels[example.com/x]"},
        {".spec.list[0].name", "spec.list[0].name"},
        {".spec[\"a\"]", "spec.a"},
        {".status.conditions[?(@.type==\"Ready\")].status", "?Ready.status"},
        {".status.conditions[?(@.type=='Ready')].lastTransitionTime", "?Ready.lastTransitionTime"},
        {".status.conditions[0].type", "status.conditions[0].type"},
        {"spec", NULL},
        {".", NULL},
        {"..spec", NULL},
        {".spec[*]", NULL},
        {".spec[", NULL},
        {".spec['']", NULL},
        {".status.conditions[?(@.status==\"x\")].type", NULL},
        {".status.conditions[?(@.type==\"Ready\")]", NULL},
        {".status.conditions[?(@.type==\"Ready\")].a.b", NULL},
        {".status.conditions[?(@.type==\"Ready')].a", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char source[SL_DEFINITION_SOURCE_BYTES] = "";
        bool good = sl_definition_source(cases[i].path, source);
        if (good != (cases[i].source != NULL) || (good && strcmp(source, cases[i].source) != 0)) {
            fail_msg("%s: %s", cases[i].path, source);
        }
    }
    char longest[300];
    char source[SL_DEFINITION_SOURCE_BYTES];
    (void)snprintf(longest, sizeof longest, ".%0290d", 0);
    assert_false(sl_definition_source(longest, source));
}

#define DEFINITION                                                                                 \
    "metadata: {name: foos.example.com}\n"                                                         \
    "spec: {group: example.com, scope: Namespaced, names: {plural: foos, kind: Foo}, versions: ["  \
    "{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n"

static void put(struct sl_json *o, const char *path, const char *member, const char *value)
{
    struct sl_json *v = yaml(value);
    sl_json_set(sl_json_path(o, path), member, sl_json_ref(sl_json_get(v, "v")));
    sl_json_free(v);
}

static void test_definitions_are_complained_of(void **state)
{
    static const struct {
        const char *path, *member, *value, *field, *text;
    } cases[] = {
        {"spec", "group", "{v: example}", "spec.group", "at least one dot"},
        {"spec", "group", "{v: a..b}", "spec.group", "Invalid value"},
        {"spec", "group", "{v: apps.k8s.io}", "metadata.annotations[api-approved.kubernetes.io]",
         "Required value"},
        {"spec", "group", "{v: more.kueue.x-k8s.io}", "spec.group", "itself serves this group"},
        {"spec", "group",
         "{v: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbb.cc}", "spec.group",
         "no more than 60 bytes"},
        {"spec.names", "plural", "{v: Foos}", "spec.names.plural", "must be in small letters"},
        {"spec.names", "kind", "{v: Foo_}", "spec.names.kind", "Invalid value"},
        {"spec.names", "plural", "{v: namespaces}", "spec.names.plural", "mean namespaces"},
        {"spec.names", "listKind", "{v: Foos}", "spec.names.listKind", "must be the kind and List"},
        {"spec.names", "shortNames", "{v: [a b]}", "spec.names.shortNames[0]", "Invalid value"},
        {"spec.names", "shortNames",
         "{v: [aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb]}",
         "spec.names.shortNames", "63 bytes"},
        {"spec.versions[0]", "name", "{v: v1.1}", "spec.versions[0].name", "Invalid value"},
        {"spec.versions[0]", "name", "{v: v1aaaaaaaaaaaaaaaaaaaaaaaa}", "spec.versions[0].name",
         "20 bytes"},
        {"spec.versions[0]", "served", "{v: false}", "spec.versions[0].served", "to be served"},
        {"spec.versions[0]", "selectableFields", "{v: [{jsonPath: .spec.zzz}]}",
         "spec.versions[0].selectableFields[0].jsonPath", "must point to a field of type string"},
        {"spec.versions[0]", "selectableFields", "{v: [{jsonPath: .metadata.name}]}",
         "spec.versions[0].selectableFields[0].jsonPath", "must not point to fields in metadata"},
        {"spec.versions[0]", "selectableFields", "{v: [{}]}",
         "spec.versions[0].selectableFields[0].jsonPath", "Required value"},
        {"spec.versions[0]", "selectableFields", "{v: x}", "spec.versions[0].selectableFields",
         "must be a list"},
        {"spec.versions[0]", "selectableFields", "{v: [1, 2, 3, 4, 5, 6, 7, 8, 9]}",
         "spec.versions[0].selectableFields", "Too many: 9: must have at most 8 items"},
        {"spec.versions[0]", "additionalPrinterColumns",
         "{v: [{name: A, type: string, jsonPath: \".a[*]\"}]}",
         "spec.versions[0].additionalPrinterColumns[0].jsonPath", "are not shown here"},
        {"spec", "preserveUnknownFields", "{v: true}", "spec.preserveUnknownFields",
         "must be false"},
        {"spec", "versions", "{v: []}", "spec.versions", "at least 1 items"},
    };
    (void)state;
    sl_definition_rules();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_error e = {0};
        struct sl_json *o = yaml(DEFINITION);
        sl_definition_default(o);
        put(o, cases[i].path, cases[i].member, cases[i].value);
        assert_int_equal(sl_object_validate(SL_KIND_DEFINITION, o, NULL, &e), SL_CODE_INVALID);
        const struct sl_cause_entry *cause = cause_of(&e, cases[i].field);
        if (cause == NULL || strstr(cause->text, cases[i].text) == NULL) {
            fail_msg("%s: %s", cases[i].value, e.text);
        }
        sl_json_free(o);
    }
    struct sl_json *o = yaml(DEFINITION);
    sl_definition_default(o);
    assert_fine(SL_KIND_DEFINITION, o, NULL);
    sl_json_free(o);
    o = yaml("{spec: {names: {}}}"); /* nothing to go by */
    sl_definition_default(o);
    assert_json(o, "{\"spec\":{\"names\":{}}}");
    sl_json_free(o);
}

static void test_definitions_share_names(void **state)
{
    (void)state;
    struct sl_json *a = yaml(DEFINITION), *b = yaml(DEFINITION);
    sl_definition_default(a);
    put(b, "spec.names", "kind", "{v: Other}");
    put(b, "spec.names", "singular", "{v: other}");
    assert_string_equal(sl_definition_shared(a, b), "spec.names.plural");
    put(b, "spec.names", "plural", "{v: others}");
    assert_null(sl_definition_shared(a, b));
    put(b, "spec.names", "singular", "{v: foos}");
    assert_string_equal(sl_definition_shared(a, b), "spec.names.plural");
    put(b, "spec", "group", "{v: other.com}");
    assert_null(sl_definition_shared(a, b));
    sl_json_free(a);
    sl_json_free(b);
}

static void test_kinds_are_taken_and_dropped(void **state)
{
    (void)state;
    struct sl_error e = {0};
    enum sl_kind kind, again;
    struct sl_json *o = yaml(DEFINITION), *list = sl_json_new_list(), *v = yaml("{a: 1}");
    put(o, "spec.versions[0]", "schema",
        "{v: {openAPIV3Schema: {type: object, properties: {s: {type: array, "
        "x-kubernetes-list-type: set, items: {type: string}}, m: {type: object, "
        "x-kubernetes-map-type: atomic, properties: {a: {type: string}}}, any: {type: object, "
        "additionalProperties: {type: string}}}}}}");
    sl_definition_default(o);
    assert_int_equal(sl_defined_kind(o), SL_KIND_COUNT);
    assert_int_equal(sl_defined_take(o, &kind, &e), SL_CODE_OK);
    unsigned turn = sl_kind_turn(kind);
    assert_int_equal(sl_defined_kind(o), kind);
    assert_string_equal(sl_schema(kind)->next == NULL ? "" : "x", "");
    sl_defined_unknown(kind, v, list);
    assert_json(list, "[\"a\"]");
    assert_null(sl_defined_categories(kind));
    assert_null(sl_defined_categories(SL_KIND_JOB));
    assert_int_equal(sl_defined_take(o, &again, &e), SL_CODE_OK); /* as it changes */
    assert_int_equal(again, kind);
    assert_int_equal(sl_kind_turn(kind), turn);
    sl_defined_drop(kind);
    assert_false(sl_kind_is_defined(kind));
    assert_string_equal(sl_kind_info(kind)->kind, "Foo"); /* for those who still look at it */
    assert_true(sl_defined_shape(kind, v));
    assert_json(v, "{\"a\":1}");
    sl_defined_unknown(kind, v, list);
    assert_int_equal(sl_json_len(list), 1);
    sl_json_free(list);
    sl_json_free(v);
    sl_json_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns_match_as_in_go),
        cmocka_unit_test(test_patterns_and_long_texts),
        cmocka_unit_test(test_patterns_that_cannot_be_matched_are_refused),
        cmocka_unit_test(test_patterns_are_compiled_again),
        cmocka_unit_test(test_shapes_prune_and_fill),
        cmocka_unit_test(test_shapes_say_what_is_unknown),
        cmocka_unit_test(test_shapes_stop_at_the_weight),
        cmocka_unit_test(test_values_are_complained_of),
        cmocka_unit_test(test_schemas_have_to_be_structural),
        cmocka_unit_test(test_columns_come_from_paths),
        cmocka_unit_test(test_definitions_are_complained_of),
        cmocka_unit_test(test_definitions_share_names),
        cmocka_unit_test(test_kinds_are_taken_and_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
