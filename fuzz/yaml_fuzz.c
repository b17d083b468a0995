/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_json_parse_yaml, sl_json_print_yaml.
 * Oracle: what was read is printed as YAML and as JSON, and both read as the same; a refusal names a line.
 * Input: a text. */
#include <stdlib.h>
#include "api/json/json.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sl_json *through_yaml(const struct sl_json *v)
{
    struct sl_buf text = {0};
    struct sl_error e = {0};
    sl_json_print_yaml(v, &text);
    struct sl_json *back = sl_json_parse_yaml(text.data, text.len, &e);
    CHECK(back != NULL && sl_json_len(back) == 1);
    sl_buf_fini(&text);
    return back;
}

static bool is_number(const struct sl_json *v)
{
    return sl_json_type(v) == SL_JSON_INT || sl_json_type(v) == SL_JSON_DOUBLE;
}

static double number_of(const struct sl_json *v)
{
    struct sl_buf text = {0};
    sl_json_print(v, &text);
    double n = strtod(text.data, NULL);
    sl_buf_fini(&text);
    return n;
}

/* 2.0 and 21e9 are floats in JSON, and integers in YAML as Kubernetes' tools read it: there the number counts, not how
 * it is written. */
static bool alike(const struct sl_json *a, const struct sl_json *b)
{
    if (is_number(a) && is_number(b) && sl_json_type(a) != sl_json_type(b)) {
        double x = number_of(a), y = number_of(b);
        return !(x < y) && !(x > y);
    }
    if (sl_json_type(a) != sl_json_type(b) || sl_json_len(a) != sl_json_len(b)) {
        return false;
    }
    bool is_list = sl_json_type(a) == SL_JSON_LIST, is_map = sl_json_type(a) == SL_JSON_MAP;
    for (size_t i = 0; is_list && i < sl_json_len(a); i++) {
        if (!alike(sl_json_at(a, i), sl_json_at(b, i))) {
            return false;
        }
    }
    void *it = NULL;
    const char *key;
    struct sl_json *member;
    while (sl_json_next(a, &it, &key, &member)) {
        if (!sl_json_has(b, key) || !alike(member, sl_json_get(b, key))) {
            return false;
        }
    }
    return is_list || is_map || sl_json_equal(a, b);
}

static void check_as_yaml(const struct sl_json *v)
{
    struct sl_json *once = through_yaml(v);
    const struct sl_json *back = sl_json_at(once, 0);
    CHECK(alike(back, v));
    if (back != NULL) {
        struct sl_json *twice = through_yaml(back);
        CHECK(sl_json_equal(sl_json_at(twice, 0), back));
        sl_json_free(twice);
    }
    sl_json_free(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sl_error e = {0};
    struct sl_json *documents = sl_json_parse_yaml((const char *)data, size, &e);
    if (documents == NULL) {
        CHECK(e.code != SL_CODE_OK && e.text[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < sl_json_len(documents); i++) {
        const struct sl_json *v = sl_json_at(documents, i);
        if (v != NULL) {
            value_check_as_json(v);
            check_as_yaml(v);
        }
    }
    sl_json_free(documents);
    return 0;
}
