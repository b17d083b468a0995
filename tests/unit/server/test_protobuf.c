/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Protobuf bodies as kubectl sends them, and broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/protobuf.h"

/* --- writing --------------------------------------------------------------------------------- */

static void put_varint(struct sl_buf *b, uint64_t n)
{
    do {
        char byte = (char)((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
        sl_buf_add(b, &byte, 1);
        n >>= 7;
    } while (n > 0);
}

static void put_number(struct sl_buf *b, unsigned field, uint64_t n)
{
    put_varint(b, field << 3);
    put_varint(b, n);
}

static void put_bytes(struct sl_buf *b, unsigned field, const char *data, size_t len)
{
    put_varint(b, field << 3 | 2);
    put_varint(b, len);
    sl_buf_add(b, data, len);
}

static void put_text(struct sl_buf *b, unsigned field, const char *text)
{
    put_bytes(b, field, text, strlen(text));
}

/* Adds `inner` as a message and empties it. */
static void put_message(struct sl_buf *b, unsigned field, struct sl_buf *inner)
{
    put_bytes(b, field, inner->data != NULL ? inner->data : "", inner->len);
    sl_buf_reset(inner);
}

static struct sl_json *parse(const char *api_version, const char *kind, struct sl_buf *object,
                             struct sl_error *e)
{
    struct sl_buf body = {0}, type = {0};
    sl_buf_add(&body, "k8s", 4);
    put_text(&type, 1, api_version);
    put_text(&type, 2, kind);
    put_message(&body, 1, &type);
    put_message(&body, 2, object);
    put_text(&body, 3, "");
    sl_error_clear(e);
    struct sl_json *value = sl_protobuf_parse(body.data, body.len, 1000, e);
    /* Every shorter text is refused or read, never more than that. */
    for (size_t len = 0; len < body.len; len++) {
        struct sl_error ignored;
        sl_json_free(sl_protobuf_parse(body.data, len, 1000, &ignored));
    }
    sl_buf_fini(&body);
    sl_buf_fini(&type);
    sl_buf_fini(object);
    return value;
}

/* --- tests ----------------------------------------------------------------------------------- */

static void test_protobuf_delete_options(void **state)
{
    struct sl_error e;
    struct sl_buf object = {0}, preconditions = {0};
    put_number(&object, 1, 30);
    put_text(&preconditions, 1, "u");
    put_message(&object, 2, &preconditions);
    put_text(&object, 4, "Background");
    put_text(&object, 5, "All");
    struct sl_json *value = parse("v1", "DeleteOptions", &object, &e);
    (void)state;
    assert_non_null(value);
    assert_int_equal(sl_json_path_int(value, "gracePeriodSeconds", 0), 30);
    assert_string_equal(sl_json_path_text(value, "preconditions.uid", ""), "u");
    assert_string_equal(sl_json_path_text(value, "propagationPolicy", ""), "Background");
    assert_string_equal(sl_json_path_text(value, "dryRun.0", ""), "All");
    sl_json_free(value);
    sl_buf_fini(&preconditions);
}

static void test_protobuf_namespace_with_labels(void **state)
{
    struct sl_error e;
    struct sl_buf object = {0}, metadata = {0}, entry = {0};
    (void)state;
    put_text(&metadata, 1, "team");
    put_text(&metadata, 2, "");
    put_bytes(&metadata, 8, "", 0); /* no creation time */
    put_text(&entry, 1, "color");
    put_text(&entry, 2, "red");
    put_message(&metadata, 11, &entry);
    put_message(&object, 1, &metadata);
    put_bytes(&object, 2, "", 0);
    struct sl_json *o = parse("v1", "Namespace", &object, &e);
    assert_non_null(o);
    assert_string_equal(sl_json_path_text(o, "kind", ""), "Namespace");
    assert_string_equal(sl_json_path_text(o, "metadata.name", ""), "team");
    assert_string_equal(sl_json_path_text(o, "metadata.labels.color", ""), "red");
    assert_false(sl_json_has(sl_json_get(o, "metadata"), "generateName"));
    sl_json_free(o);
    sl_buf_fini(&metadata);
    sl_buf_fini(&entry);
}

static void test_protobuf_job_with_containers(void **state)
{
    struct sl_error e;
    struct sl_buf object = {0}, spec = {0}, template = {0}, pod = {0}, c = {0}, resources = {0},
                  entry = {0}, q = {0};
    (void)state;
    put_text(&q, 1, "500m");
    put_text(&entry, 1, "cpu");
    put_message(&entry, 2, &q);
    put_message(&resources, 2, &entry);
    put_text(&c, 1, "main");
    put_text(&c, 3, "echo");
    put_text(&c, 3, "hi");
    put_message(&c, 8, &resources);
    put_text(&c, 14, "");
    put_number(&c, 16, 0); /* stdin: false, not in the table, says nothing */
    put_message(&pod, 2, &c);
    put_text(&pod, 3, "Never");
    put_number(&pod, 11, 0);
    put_message(&template, 2, &pod);
    put_number(&spec, 1, 3);
    put_message(&spec, 6, &template);
    put_number(&spec, 10, 1);
    put_message(&object, 2, &spec);
    struct sl_json *o = parse("batch/v1", "Job", &object, &e);
    assert_non_null(o);
    assert_int_equal(sl_json_path_int(o, "spec.parallelism", 0), 3);
    assert_true(sl_json_path_bool(o, "spec.suspend", false));
    assert_string_equal(sl_json_path_text(o, "spec.template.spec.containers.0.command.1", ""),
                        "hi");
    assert_string_equal(
        sl_json_path_text(o, "spec.template.spec.containers.0.resources.requests.cpu", ""), "500m");
    assert_string_equal(sl_json_path_text(o, "spec.template.spec.restartPolicy", ""), "Never");
    sl_json_free(o);
    sl_buf_fini(&spec);
    sl_buf_fini(&template);
    sl_buf_fini(&pod);
    sl_buf_fini(&c);
    sl_buf_fini(&resources);
    sl_buf_fini(&entry);
    sl_buf_fini(&q);
}

static void test_protobuf_negative_priority_keeps_its_sign(void **state)
{
    struct sl_error e;
    struct sl_buf object = {0};
    (void)state;
    put_number(&object, 2, (uint64_t)-7);
    struct sl_json *o = parse("scheduling.k8s.io/v1", "PriorityClass", &object, &e);
    assert_int_equal(sl_json_path_int(o, "value", 0), -7);
    sl_json_free(o);
}

static void test_protobuf_unknown_field_is_refused(void **state)
{
    struct sl_error e;
    struct sl_buf object = {0}, spec = {0}, policy = {0};
    (void)state;
    put_number(&policy, 1, 1);
    put_message(&spec, 11, &policy); /* podFailurePolicy */
    put_message(&object, 2, &spec);
    assert_null(parse("batch/v1", "Job", &object, &e));
    assert_int_equal(e.code, SL_CODE_UNSUPPORTED_MEDIA);
    sl_buf_fini(&spec);
    sl_buf_fini(&policy);
}

static void test_protobuf_unknown_kind_is_refused(void **state)
{
    struct sl_error e;
    struct sl_buf object = {0};
    (void)state;
    put_text(&object, 1, "x");
    assert_null(parse("v1", "Pod", &object, &e));
    assert_int_equal(e.code, SL_CODE_UNSUPPORTED_MEDIA);
}

static void test_protobuf_malformed_bodies_are_refused(void **state)
{
    static const struct {
        const char *data;
        size_t len;
    } bad[] = {{"", 0},
               {"k8s", 3},
               {"json", 4},
               {"k8s\0\x0a\xff", 6},
               {"k8s\0\x0b", 5},
               {"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 15},
               {"k8s\0\x0a\x7fzz", 8}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sl_error e;
        sl_error_clear(&e);
        assert_null(sl_protobuf_parse(bad[i].data, bad[i].len, 1000, &e));
        assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
    }
}

static void test_protobuf_wrong_wire_type_is_refused(void **state)
{
    struct sl_error e;
    struct sl_buf object = {0}, metadata = {0};
    (void)state;
    put_number(&metadata, 1, 5); /* a name that is a number */
    put_message(&object, 1, &metadata);
    assert_null(parse("v1", "Namespace", &object, &e));
    assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
    put_text(&object, 2, "five"); /* a value that is a text */
    assert_null(parse("scheduling.k8s.io/v1", "PriorityClass", &object, &e));
    assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
    sl_buf_fini(&metadata);
}

/* A Namespace with one label, or another name. */
static void expect_text_refused(const char *name, size_t name_size, const char *key,
                                const char *value, const char *expected)
{
    struct sl_error e;
    struct sl_buf object = {0}, metadata = {0}, entry = {0};
    put_bytes(&metadata, 1, name, name_size);
    put_text(&entry, 1, key);
    put_text(&entry, 2, value);
    put_message(&metadata, 11, &entry);
    put_message(&object, 1, &metadata);
    assert_null(parse("v1", "Namespace", &object, &e));
    assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, expected);
    sl_buf_fini(&metadata);
    sl_buf_fini(&entry);
}

static void test_protobuf_texts_that_json_cannot_hold_are_refused(void **state)
{
    (void)state;
    expect_text_refused("a\xff", 2, "k", "v",
                        "the protobuf body's field \"name\" is not valid UTF-8");
    expect_text_refused("a\0b", 3, "k", "v",
                        "the protobuf body's field \"name\" must not contain a NUL character");
    expect_text_refused("a", 1, "k\xc3", "v",
                        "the protobuf body's field \"labels\" is not valid UTF-8");
    expect_text_refused("a", 1, "k", "\xed\xa0\x80",
                        "the protobuf body's field \"labels\" is not valid UTF-8");
    struct sl_error e;
    struct sl_buf object = {0};
    put_text(&object, 5, "\xff");
    assert_null(parse("v1", "DeleteOptions", &object, &e));
    assert_non_null(strstr(e.text, "\"dryRun\""));
    assert_null(parse("v1", "Name\xff", &object, &e));
    assert_non_null(strstr(e.text, "\"kind\""));
}

static void test_protobuf_bytes_are_base64_in_json(void **state)
{
    struct sl_buf object = {0}, metadata = {0}, entry = {0};
    struct sl_error e;
    (void)state;
    put_text(&metadata, 1, "s");
    put_message(&object, 1, &metadata);
    put_text(&entry, 1, "bytes");
    put_bytes(&entry, 2, "\0\xff", 2);
    put_message(&object, 2, &entry);
    put_text(&entry, 1, "empty");
    put_message(&object, 2, &entry);
    put_text(&object, 3, "Opaque");
    put_text(&entry, 1, "text");
    put_text(&entry, 2, "t");
    put_message(&object, 4, &entry);
    put_number(&object, 5, 1);
    struct sl_json *o = parse("v1", "Secret", &object, &e);
    assert_non_null(o);
    assert_string_equal(sl_json_path_text(o, "data.bytes", ""), "AP8=");
    assert_string_equal(sl_json_path_text(o, "data.empty", "?"), "");
    assert_string_equal(sl_json_path_text(o, "stringData.text", ""), "t");
    assert_true(sl_json_path_bool(o, "immutable", false));
    sl_json_free(o);
    sl_buf_fini(&metadata);
    sl_buf_fini(&entry);
}

static void test_protobuf_weight_has_a_limit(void **state)
{
    struct sl_buf object = {0}, metadata = {0};
    struct sl_error e;
    (void)state;
    for (int i = 0; i < 300; i++) { /* the same field again and again */
        put_message(&object, 1, &metadata);
    }
    assert_null(parse("v1", "Namespace", &object, &e));
    assert_int_equal(e.code, SL_CODE_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protobuf_namespace_with_labels),
        cmocka_unit_test(test_protobuf_delete_options),
        cmocka_unit_test(test_protobuf_job_with_containers),
        cmocka_unit_test(test_protobuf_negative_priority_keeps_its_sign),
        cmocka_unit_test(test_protobuf_unknown_field_is_refused),
        cmocka_unit_test(test_protobuf_unknown_kind_is_refused),
        cmocka_unit_test(test_protobuf_malformed_bodies_are_refused),
        cmocka_unit_test(test_protobuf_wrong_wire_type_is_refused),
        cmocka_unit_test(test_protobuf_texts_that_json_cannot_hold_are_refused),
        cmocka_unit_test(test_protobuf_bytes_are_base64_in_json),
        cmocka_unit_test(test_protobuf_weight_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
