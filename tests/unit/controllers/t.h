/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What every unit test of this room includes. cmocka wants its headers in this order. */
#ifndef SL_TESTS_UNIT_CONTROLLERS_T_H
#define SL_TESTS_UNIT_CONTROLLERS_T_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "api/objects/object.h"
#include "base/mem.h"

static inline struct sl_json *parse(const char *text)
{
    struct sl_error e = {0};
    struct sl_json *value = sl_json_parse(text, strlen(text), &e);
    if (value == NULL) {
        fail_msg("%s", e.text);
    }
    return value;
}

static inline void assert_json(const struct sl_json *value, const char *expected)
{
    struct sl_json *wanted = parse(expected);
    struct sl_buf text = {0};
    sl_json_print(value, &text);
    if (!sl_json_equal(value, wanted)) {
        fail_msg("got %s, expected %s", text.data, expected);
    }
    sl_buf_fini(&text);
    sl_json_free(wanted);
}
#endif
