/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How much a JSON text will be, before it is read. */

#include "api/json/json.h"

/* Behind the closing quote of a string that begins at `at`. */
static size_t skip_string(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"'; at++) {
        at += text[at] == '\\';
    }
    return at + 1;
}

size_t sl_json_weigh(const char *text, size_t len)
{
    size_t weight = 1; /* the value itself; each comma has one more, and a colon its name */
    for (size_t at = 0; at < len;) {
        switch (text[at]) {
        case '"':
            at = skip_string(text, len, at);
            continue;
        case '{':
            weight += SL_JSON_WEIGHT_MAP;
            break;
        case '[':
        case ':':
        case ',':
            weight++;
            break;
        default:
            break;
        }
        at++;
    }
    return weight;
}
