/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Texts from an API server. Kubernetes stores strings with NULs, Go's encoder replaces what is not
 * UTF-8 but copies raw messages as they are, and large floats are written as integers. An object
 * must not be lost for that: a user who may write its annotations could hide it from us. So what
 * the strict reader refuses is repaired and read once more.
 *
 * A NUL becomes U+FFFD because values are C strings here. To cut the string there would make it
 * equal to another one, "queue\0x" to "queue"; no name and no label that Kubernetes accepts holds a
 * U+FFFD, so this one is equal to none. */
#include "api/json/json_plain.h"

#include "base/utf8.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INTEGER_SIZE 24 /* no 64-bit integer is longer */

struct repair {
    const char *at, *end;
    struct sl_buf out;
};

static void copy(struct repair *r, size_t len)
{
    sl_buf_add(&r->out, r->at, len);
    r->at += len;
}

static void replace(struct repair *r, size_t len)
{
    sl_buf_text(&r->out, SL_UTF8_REPLACEMENT);
    r->at += len;
}

/* The code unit of a \uXXXX at `at`, or -1. */
static int unit_at(const char *at, const char *end)
{
    char digits[5] = "";
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') {
        return -1;
    }
    memcpy(digits, at + 2, 4);
    bool hex = strspn(digits, "0123456789abcdefABCDEF") == 4;
    return hex ? (int)strtol(digits, NULL, 16) : -1;
}

static void repair_escape(struct repair *r)
{
    int unit = unit_at(r->at, r->end);
    bool high = unit >= 0xd800 && unit < 0xdc00;
    int low = high ? unit_at(r->at + 6, r->end) : -1;
    if (high && low >= 0xdc00 && low < 0xe000) {
        copy(r, 12);
    } else if (unit == 0 || (unit >= 0xd800 && unit < 0xe000)) {
        replace(r, 6);
    } else {
        copy(r, r->end - r->at < 2 ? 1 : 2);
    }
}

/* From its opening quote to behind its closing one. */
static void repair_string(struct repair *r)
{
    copy(r, 1);
    while (r->at < r->end && *r->at != '"') {
        size_t len = sl_utf8_len(r->at, (size_t)(r->end - r->at));
        if (*r->at == '\\') {
            repair_escape(r);
        } else if (len == 0 && *r->at != '\0') {
            replace(r, 1);
        } else {
            copy(r, len == 0 ? 1 : len);
        }
    }
    copy(r, r->at < r->end ? 1 : 0);
}

static bool fits(const char *digits, size_t len)
{
    char text[INTEGER_SIZE] = "";
    if (len >= sizeof text) {
        return false;
    }
    memcpy(text, digits, len);
    errno = 0;
    (void)strtoll(text, NULL, 10);
    return errno == 0;
}

static void repair_number(struct repair *r)
{
    const char *number = r->at;
    size_t len = 0;
    bool integer = true;
    while (number + len < r->end && strchr("+-.eE0123456789", number[len]) != NULL &&
           number[len] != '\0') {
        integer = integer && strchr(".eE", number[len]) == NULL;
        len++;
    }
    copy(r, len);
    if (integer && !fits(number, len)) {
        sl_buf_text(&r->out, ".0");
    }
}

struct sl_json *sl_json_parse_received(const char *text, size_t len, struct sl_error *e)
{
    struct sl_json *value = sl_json_parse(text, len, e);
    struct repair r = {.at = text, .end = text + len};
    if (value != NULL) {
        return value;
    }
    while (r.at < r.end) {
        if (*r.at == '"') {
            repair_string(&r);
        } else if (*r.at == '-' || (*r.at >= '0' && *r.at <= '9')) {
            repair_number(&r);
        } else {
            copy(&r, 1);
        }
    }
    value = sl_json_parse_repaired(r.out.data == NULL ? "" : r.out.data, r.out.len, e);
    sl_buf_fini(&r.out);
    return value;
}
