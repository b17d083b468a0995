/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_json_parse and _print, defaults, validation, tables, merge patches and versions of every kind.
 * Oracle: what was read is printed compact, pretty and cloned as the same; the object with its defaults has them
 * once and for all; what validation says does not depend on being asked twice; an object merged into itself stays;
 * a value that is a schema of a definition (first byte 254 and 255: a definition) prunes and fills an object once and for all;
 * one that went into the other version and back says there what it said before, or is refused with a cause.
 * Input: a byte for the kind, and a JSON text; when the first byte is odd, instead of a text a program that builds
 * an object out of the words of the API. */
#include <string.h>
#include "api/defined/definition.h"
#include "api/defined/shape.h"
#include "api/defined/structural.h"
#include "api/defined/value.h"
#include "api/objects/object.h"
#include "api/versions/versions.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_kind(enum sl_kind kind, const struct sl_json *v)
{
    struct sl_error once = {0}, twice = {0};
    struct sl_buf table = {0};
    struct sl_json *a = sl_json_clone(v);
    sl_object_default(kind, a);
    struct sl_json *b = sl_json_clone(a);
    sl_object_default(kind, b);
    CHECK(sl_json_equal(a, b));
    CHECK(sl_object_validate(kind, a, NULL, &once) == sl_object_validate(kind, b, NULL, &twice));
    CHECK(once.cause_count == twice.cause_count);
    CHECK(once.code == SL_CODE_OK || once.text[0] != '\0');
    struct sl_error same = {0};
    (void)sl_object_validate(kind, a, b, &same);
    struct sl_json *list = sl_json_new_list();
    sl_object_unknown(kind, a, list);
    CHECK(sl_json_len(list) <= 16);
    sl_json_free(list);
    list = sl_json_new_list();
    sl_json_append(list, a);
    sl_table_print(kind, list, true, true, 0, &table);
    sl_buf_fini(&table);
    sl_json_free(list);
    sl_json_free(b);
}

static void check_patched(const struct sl_json *v)
{
    struct sl_error e = {0};
    struct sl_json *o = sl_json_clone(v);
    if (sl_patch_merge(&o, v, &e) == SL_CODE_OK) {
        struct sl_json *again = sl_json_clone(o);
        CHECK(sl_patch_merge(&again, v, &e) == SL_CODE_OK && sl_json_equal(o, again));
        sl_json_free(again);
    }
    sl_json_free(o);
}

static struct sl_json *converted(const struct sl_json *o, const char *to)
{
    struct sl_error e = {0};
    struct sl_json *other = sl_version_convert_new(o, to, &e);
    CHECK(other != NULL || (e.code == SL_CODE_INVALID && e.cause_count > 0));
    return other;
}

/* The first way may leave out what no version knows. */
static void check_versions(enum sl_kind kind, const struct sl_json *v, bool old)
{
    const char *mine = old ? SL_VERSION_OLD : SL_VERSION_NEW;
    const char *other = old ? SL_VERSION_NEW : SL_VERSION_OLD;
    struct sl_json *o = sl_json_clone(v);
    sl_json_set_text(o, "apiVersion", mine);
    sl_json_set_text(o, "kind", sl_kind_info(kind)->kind);
    struct sl_json *there = converted(o, other);
    struct sl_json *back = there != NULL ? converted(there, mine) : NULL;
    struct sl_json *again = back != NULL ? converted(back, other) : NULL;
    CHECK(again == NULL || sl_json_equal(again, there));
    sl_json_free(again);
    sl_json_free(back);
    sl_json_free(there);
    sl_json_free(o);
}

/* As the schema of a kind of users, for an object that is the schema itself. */
static void check_schema(const struct sl_json *v)
{
    struct sl_error e = {0}, once = {0}, twice = {0};
    struct sl_check c = {.e = &e}, first = {.e = &once}, second = {.e = &twice};
    sl_structural_check(&c, v);
    if (e.cause_count > 0) {
        return;
    }
    struct sl_json *a = sl_json_clone(v), *list = sl_json_new_list();
    sl_shape_prune(v, a);
    if (sl_shape_default(v, a, 1000)) {
        struct sl_json *b = sl_json_clone(a);
        sl_shape_unknown(v, b, list);
        sl_shape_prune(v, b);
        CHECK(sl_json_len(list) == 0 && sl_json_equal(a, b));
        CHECK(sl_shape_default(v, b, 1000) && sl_json_equal(a, b));
        sl_value_check(&first, v, a, true);
        sl_value_check(&second, v, b, true);
        CHECK(once.cause_count == twice.cause_count);
        sl_json_free(b);
    }
    sl_json_free(list);
    sl_json_free(a);
}

static void check_definition(const struct sl_json *v)
{
    struct sl_error e = {0};
    struct sl_json *a = sl_json_clone(v);
    sl_definition_default(a);
    if (sl_object_validate(SL_KIND_DEFINITION, a, NULL, &e) == SL_CODE_OK) {
        sl_definition_settle(a, 0);
        CHECK(sl_condition_true(a, "Established") && sl_definition_shared(a, a) != NULL);
    }
    sl_json_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer p = {data, size};
    struct sl_error e = {0};
    uint32_t choice = producer_byte(&p);
    struct sl_json *v =
        choice % 2 != 0 ? value_build(&p, 0) : sl_json_parse((const char *)p.data, p.left, &e);
    if (v == NULL) {
        CHECK(choice % 2 == 0 && e.code != SL_CODE_OK && e.text[0] != '\0');
        return 0;
    }
    value_check_printed(v);
    if (sl_json_type(v) == SL_JSON_MAP) {
        bool definition = choice >= 254;
        enum sl_kind kind =
            definition ? SL_KIND_DEFINITION : (enum sl_kind)(choice / 2 % SL_KIND_DEFINITION);
        sl_definition_rules();
        check_kind(kind, v);
        check_schema(v);
        if (definition) {
            check_definition(v);
        }
        check_patched(v);
        if (sl_version_has_old(kind)) {
            check_versions(kind, v, choice % 4 < 2);
        }
    }
    sl_json_free(v);
    return 0;
}
