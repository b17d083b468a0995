/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Comparing what was recorded with what came out, by meaning: sets as sets, quantities by value. */
#include "api/objects/quantity.h"
#include "base/mem.h"
#include "conformance.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH_SIZE 512

unsigned conf_differences;

void conf_differ(const char *path, const char *expected, const char *got)
{
    conf_differences++;
    printf("# %s: expected %s, got %s\n", path, expected, got);
}

static char *text_of(const struct sl_json *v)
{
    struct sl_buf out = {0};
    if (v == NULL) {
        sl_buf_text(&out, "nothing");
    } else {
        sl_json_print(v, &out);
    }
    return sl_buf_take(&out);
}

void conf_differ_json(const char *path, const struct sl_json *expected, const struct sl_json *got)
{
    char *a = text_of(expected);
    char *b = text_of(got);
    conf_differ(path, a, b);
    sl_mem_free(a);
    sl_mem_free(b);
}

void conf_show(const char *what, const struct sl_json *value)
{
    char *text = text_of(value);
    printf("# %s: %s\n", what, text);
    sl_mem_free(text);
}

void conf_expect_int(const char *path, int64_t expected, int64_t got)
{
    if (expected != got) {
        char a[32];
        char b[32];
        (void)snprintf(a, sizeof a, "%" PRId64, expected);
        (void)snprintf(b, sizeof b, "%" PRId64, got);
        conf_differ(path, a, b);
    }
}

void conf_expect_bool(const char *path, bool expected, bool got)
{
    if (expected != got) {
        conf_differ(path, expected ? "true" : "false", got ? "true" : "false");
    }
}

void conf_expect_text(const char *path, const char *expected, const char *got)
{
    if (strcmp(expected, got) != 0) {
        conf_differ(path, expected[0] == '\0' ? "\"\"" : expected, got[0] == '\0' ? "\"\"" : got);
    }
}

/* Is the value there in a list, in a place not taken yet? */
static bool take_equal(const struct sl_json *list, bool *taken, const struct sl_json *value)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (!taken[i] && sl_json_equal(sl_json_at(list, i), value)) {
            taken[i] = true;
            return true;
        }
    }
    return false;
}

void conf_expect_set(const char *path, const struct sl_json *expected, const struct sl_json *got)
{
    size_t count = sl_json_len(got);
    bool *taken = sl_mem_new(count + 1, sizeof *taken);
    for (size_t i = 0; i < sl_json_len(expected); i++) {
        if (!take_equal(got, taken, sl_json_at(expected, i))) {
            conf_differ_json(path, sl_json_at(expected, i), NULL);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!taken[i]) {
            conf_differ_json(path, NULL, sl_json_at(got, i));
        }
    }
    sl_mem_free(taken);
}

/* --- amounts ---------------------------------------------------------------------------------- */

static bool is_zero(const struct sl_json *v)
{
    if (sl_json_type(v) != SL_JSON_MAP) {
        return sl_json_int(v, 0) == 0;
    }
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(v, &it, &key, &value)) {
        if (!is_zero(value)) {
            return false;
        }
    }
    return true;
}

/* Members of `a` that `b` has not or has otherwise; `a_is_expected` says which is which. */
static void amounts_of(const char *path, const struct sl_json *a, const struct sl_json *b,
                       bool a_is_expected)
{
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(a, &it, &key, &value)) {
        char below[PATH_SIZE];
        const struct sl_json *other = sl_json_get(b, key);
        (void)snprintf(below, sizeof below, "%s[%s]", path, key);
        if (sl_json_type(value) == SL_JSON_MAP && sl_json_type(other) == SL_JSON_MAP) {
            amounts_of(below, value, other, a_is_expected);
        } else if (other == NULL && !is_zero(value)) {
            conf_differ_json(below, a_is_expected ? value : NULL, a_is_expected ? NULL : value);
        } else if (other != NULL && a_is_expected && !sl_json_equal(value, other) &&
                   !(is_zero(value) && is_zero(other))) {
            conf_differ_json(below, value, other);
        }
    }
}

void conf_expect_amounts(const char *path, const struct sl_json *expected,
                         const struct sl_json *got)
{
    amounts_of(path, expected, got, true);
    amounts_of(path, got, expected, false);
}

static int64_t amount_of(const struct sl_json *v, const char *resource)
{
    struct sl_quantity q = {0};
    struct sl_error e = {0};
    if (v == NULL || sl_quantity_read(v, &q, &e) != SL_CODE_OK) {
        return 0;
    }
    return sl_quantity_amount(q, resource);
}

static struct sl_json *new_amounts(const struct sl_json *quantities)
{
    struct sl_json *out = sl_json_new_map();
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(quantities, &it, &key, &value)) {
        sl_json_set_int(out, key, amount_of(value, key));
    }
    return out;
}

void conf_expect_quantities(const char *path, const struct sl_json *expected,
                            const struct sl_json *got)
{
    struct sl_json *a = new_amounts(expected);
    struct sl_json *b = new_amounts(got);
    conf_expect_amounts(path, a, b);
    sl_json_free(a);
    sl_json_free(b);
}
