/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_quantity_parse, _print, _milli, _value, _amount.
 * Oracle: what is printed reads as the same, and prints as the same again; short numbers against a plain reference
 * in 128 bits; milli and value are the number rounded away from zero.
 * Input: a text. */
#include <string.h>
#include "api/objects/quantity.h"
#include "fuzz/lib/check.h"

enum { TEXT_MAX = 200 };
typedef __int128 wide;
#define CAP ((wide)INT64_MAX * 1000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static wide divided_up(wide n, wide by)
{
    wide q = n / by;
    return n % by == 0 ? q : n > 0 ? q + 1 : q - 1;
}

static wide suffix_value(const char *s, bool *known)
{
    static const struct {
        const char *text;
        wide value; /* in 10^-9 */
    } suffixes[] = {{"", 1000000000},
                    {"n", 1},
                    {"u", 1000},
                    {"m", 1000000},
                    {"k", (wide)1000000000 * 1000},
                    {"M", (wide)1000000000 * 1000000},
                    {"G", (wide)1000000000 * 1000000000},
                    {"Ki", (wide)1000000000 * 1024},
                    {"Mi", (wide)1000000000 * 1048576},
                    {"Gi", (wide)1000000000 * 1073741824}};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(s, suffixes[i].text) == 0) {
            *known = true;
            return suffixes[i].value;
        }
    }
    *known = false;
    return 0;
}

/* Sign, digits, fraction, suffix: at most six digits. False: not of this form. */
static bool reference(const char *s, wide *nano)
{
    bool minus = *s == '-', known;
    wide mantissa = 0, parts = 1;
    unsigned digits = 0;
    s += *s == '-' || *s == '+';
    for (; *s >= '0' && *s <= '9'; s++, digits++) {
        mantissa = mantissa * 10 + (*s - '0');
        if (digits > 6) {
            return false;
        }
    }
    if (*s == '.') {
        for (s++; *s >= '0' && *s <= '9'; s++, digits++) {
            mantissa = mantissa * 10 + (*s - '0');
            parts *= 10;
            if (digits > 6) {
                return false;
            }
        }
    }
    wide unit = suffix_value(s, &known);
    *nano = divided_up((minus ? -mantissa : mantissa) * unit, parts);
    return known && digits > 0;
}

static void check_again(struct sl_quantity q)
{
    char once[64], twice[64];
    struct sl_quantity back;
    struct sl_error e = {0};
    sl_quantity_print(q, once);
    CHECK(sl_quantity_parse(once, &back, &e) == SL_CODE_OK);
    /* Kubernetes keeps what eighteen digits say, and caps it when its text has more. */
    if (q.nano > CAP || q.nano < -CAP) {
        CHECK(back.nano == q.nano || back.nano == (q.nano > 0 ? CAP : -CAP));
        return;
    }
    CHECK(back.nano == q.nano);
    sl_quantity_print(back, twice);
    CHECK(strcmp(once, twice) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1] = {0};
    struct sl_quantity q;
    struct sl_error e = {0};
    wide expected;
    memcpy(text, data, size < TEXT_MAX ? size : TEXT_MAX);
    bool simple = reference(text, &expected);
    if (sl_quantity_parse(text, &q, &e) != SL_CODE_OK) {
        CHECK(!simple);
        return 0;
    }
    CHECK(!simple || q.nano == expected);
    if (q.nano > -(wide)INT64_MAX && q.nano < (wide)INT64_MAX) {
        CHECK(sl_quantity_milli(q) == (int64_t)divided_up(q.nano, 1000000));
        CHECK(sl_quantity_value(q) == (int64_t)divided_up(q.nano, 1000000000));
        CHECK(sl_quantity_amount(q, "cpu") == sl_quantity_milli(q));
        CHECK(sl_quantity_amount(q, "memory") == sl_quantity_value(q));
    }
    check_again(q);
    return 0;
}
