/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_json_parse_yaml, sl_json_print_yaml.
 * Oracle: what was read is printed as YAML and as JSON, and both read as the same; a refusal names a line.
 * Input: a text. */
#include <string.h>
#include "api/json.h"
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

/* 21e9 is a float in JSON, and an integer in YAML as Kubernetes' tools read it. */
static bool has_exponent(const uint8_t *data, size_t size)
{
    for (size_t i = 1; i < size; i++) {
        bool after_number = data[i - 1] == '.' || (data[i - 1] >= '0' && data[i - 1] <= '9');
        if (after_number && (data[i] == 'e' || data[i] == 'E')) {
            return true;
        }
    }
    return false;
}

static void check_as_yaml(const struct sl_json *v, bool may_differ)
{
    struct sl_json *once = through_yaml(v);
    const struct sl_json *back = sl_json_at(once, 0);
    CHECK(may_differ || sl_json_equal(back, v));
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
            check_as_yaml(v, has_exponent(data, size));
        }
    }
    sl_json_free(documents);
    return 0;
}
