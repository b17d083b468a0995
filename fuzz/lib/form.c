/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/form.h"
#include "fuzz/lib/check.h"
#include <stdarg.h>
#include <stdio.h>

enum { LONGEST = 4096 };

struct sl_json *form_json(const char *format, ...)
{
    char text[LONGEST];
    va_list args;
    struct sl_error e = {0};
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    CHECK(n > 0 && (size_t)n < sizeof text);
    struct sl_json *v = sl_json_parse(text, (size_t)n, &e);
    CHECK(v != NULL);
    return v;
}
