/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects from YAML, and what validation says about them. */
#ifndef SL_TESTS_UNIT_API_FIXTURE_H
#define SL_TESTS_UNIT_API_FIXTURE_H
#include "api/objects/object.h"

static inline struct sl_json *yaml(const char *text)
{
    struct sl_error e = {0};
    struct sl_json *documents = sl_json_parse_yaml(text, strlen(text), &e);
    if (documents == NULL) {
        fail_msg("%s", e.text);
    }
    struct sl_json *v = sl_json_ref(sl_json_at(documents, 0));
    sl_json_free(documents);
    return v;
}

static inline void assert_json(const struct sl_json *v, const char *expected)
{
    struct sl_buf out = {0};
    sl_json_print(v, &out);
    assert_string_equal(out.data, expected);
    sl_buf_fini(&out);
}

/* The complaint about `field`, or NULL. */
static inline const struct sl_cause_entry *cause_of(const struct sl_error *e, const char *field)
{
    for (unsigned i = 0; i < e->cause_count && i < SL_CAUSES_MAX; i++) {
        if (strcmp(e->causes[i].field, field) == 0) {
            return &e->causes[i];
        }
    }
    return NULL;
}

/* Validates; expects exactly one complaint, about this field, for this reason, containing this text. */
static inline void assert_complaint(enum sl_kind kind, const struct sl_json *o,
                                    const struct sl_json *old, const char *field,
                                    const char *reason, const char *text)
{
    struct sl_error e = {0};
    assert_int_equal(sl_object_validate(kind, o, old, &e), SL_CODE_INVALID);
    const struct sl_cause_entry *cause = cause_of(&e, field);
    if (cause == NULL || strcmp(cause->reason, reason) != 0 || strstr(cause->text, text) == NULL ||
        e.cause_count != 1) {
        fail_msg("expected %s %s '%s', got %u: %s", field, reason, text, e.cause_count, e.text);
    }
}

static inline void assert_fine(enum sl_kind kind, const struct sl_json *o,
                               const struct sl_json *old)
{
    struct sl_error e = {0};
    if (sl_object_validate(kind, o, old, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
}

/* A copy of `base` with the merge patch applied. */
static inline struct sl_json *with(const struct sl_json *base, const char *patch_yaml)
{
    struct sl_json *o = sl_json_clone(base), *patch = yaml(patch_yaml);
    assert_int_equal(sl_patch_merge(&o, patch, NULL), SL_CODE_OK);
    sl_json_free(patch);
    return o;
}

/* The same for a JSON patch. */
static inline struct sl_json *patched(const struct sl_json *base, const char *patch_yaml)
{
    struct sl_json *o = sl_json_clone(base), *patch = yaml(patch_yaml);
    struct sl_error e = {0};
    if (sl_patch_json(&o, patch, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    sl_json_free(patch);
    return o;
}
#endif
