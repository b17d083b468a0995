/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What every unit test of this room includes. cmocka wants its headers in this order. */
#ifndef SL_TESTS_UNIT_CLI_T_H
#define SL_TESTS_UNIT_CLI_T_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "api/objects/object.h"
#include "base/mem.h"

/* The words of a command line behind the program's name. main's argv is not const, though nobody writes to it. */
#define WORDS(...) ((const char *const[]){"program", __VA_ARGS__, NULL})
#define ARGC(...) ((int)(sizeof WORDS(__VA_ARGS__) / sizeof(char *)) - 1)
#define ARGV(...) ((char *const *)(uintptr_t)WORDS(__VA_ARGS__))

static inline struct sl_json *parse(const char *text)
{
    struct sl_error e = {0};
    struct sl_json *value = sl_json_parse(text, strlen(text), &e);
    if (value == NULL) {
        fail_msg("%s", e.text);
    }
    return value;
}

static inline void assert_has(const char *text, const char *part)
{
    if (text == NULL || strstr(text, part) == NULL) {
        fail_msg("\"%s\" does not contain \"%s\"", text == NULL ? "" : text, part);
    }
}
#endif
