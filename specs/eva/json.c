/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The strict look at JSON texts, which are not ended by a NUL. */
#include "api/json/json_parse.c"
#include "specs/eva/any.h"

void eva_json(void)
{
    char text[3];
    struct scan s = {.text = text, .len = any_size(sizeof text)};
    any_bytes(text, sizeof text);
    if (s.at < s.len) { /* each step leaves it at a place where the next one could begin */
        (void)scan_one(&s);
    }
    (void)skip_blank(text, s.len, 0);
}
