/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The table of words and the number forms of YAML 1.1 that Kubernetes' tools know, base 60 left
 * out. */
#include "api/json/yaml_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

static bool one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strcmp(text, *words) == 0) {
            return true;
        }
    }
    return false;
}

static bool resolve_word(const char *text, struct sl_yaml_scalar *out)
{
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES",
                                      "y",    "Y",    "on",   "On",  "ON",  NULL};
    static const char *const no[] = {"false", "False", "FALSE", "no",  "No",  "NO",
                                     "n",     "N",     "off",   "Off", "OFF", NULL};
    static const char *const null[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const not_finite[] = {".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",
                                             ".INF",  "+.inf", "+.Inf", "+.INF", "-.inf",
                                             "-.Inf", "-.INF", NULL};
    if (one_of(text, yes) || one_of(text, no)) {
        *out = (struct sl_yaml_scalar){.kind = SL_YAML_BOOL, .boolean = one_of(text, yes)};
    } else if (one_of(text, null)) {
        out->kind = SL_YAML_NULL;
    } else if (one_of(text, not_finite)) {
        *out = (struct sl_yaml_scalar){.kind = SL_YAML_FLOAT, .real = (double)INFINITY};
    } else {
        return false;
    }
    return true;
}

/* The base a prefix asks for, and where the digits start. A leading 0 alone means octal, as in
 * C. */
static int base_of(const char *digits, size_t *skip)
{
    *skip = 0;
    if (digits[0] != '0' || digits[1] == '\0') {
        return 10;
    }
    *skip = 2;
    switch (digits[1]) {
    case 'x':
    case 'X':
        return 16;
    case 'b':
    case 'B':
        return 2;
    case 'o':
    case 'O':
        return 8;
    default:
        *skip = 1;
        return 8;
    }
}

static bool resolve_int(const char *plain, struct sl_yaml_scalar *out)
{
    bool negative = plain[0] == '-';
    const char *digits = plain + (plain[0] == '-' || plain[0] == '+');
    size_t skip;
    int base = base_of(digits, &skip);
    digits += skip;
    if (strspn(digits, "0123456789abcdefABCDEF") != strlen(digits) || *digits == '\0') {
        return false;
    }
    char *end;
    errno = 0;
    unsigned long long n = strtoull(digits, &end, base);
    if (*end != '\0' || errno != 0 || n > (unsigned long long)INT64_MAX + negative) {
        return false;
    }
    *out = (struct sl_yaml_scalar){.kind = SL_YAML_INT,
                                   .number = negative ? (int64_t)(0 - n) : (int64_t)n};
    return true;
}

/* [-+]? (.d+ | d+ (.d*)?) ([eE][-+]?d+)? */
static bool is_float(const char *p)
{
    static const char digits[] = "0123456789";
    p += *p == '-' || *p == '+';
    size_t whole = strspn(p, digits);
    p += whole;
    if (*p == '.') {
        size_t fraction = strspn(++p, digits);
        p += fraction;
        whole += fraction;
    }
    if (whole == 0) {
        return false;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '-' || *p == '+';
        size_t exponent = strspn(p, digits);
        p += exponent;
        return exponent > 0 && *p == '\0';
    }
    return *p == '\0';
}

/* A float without a fraction is an integer in the JSON that Kubernetes' tools make of it. */
static bool resolve_float(const char *plain, struct sl_yaml_scalar *out)
{
    if (!is_float(plain)) {
        return false;
    }
    double real = strtod(plain, NULL);
    if (fabs(real) < 9.0e18 && real == floor(real)) {
        *out = (struct sl_yaml_scalar){.kind = SL_YAML_INT, .number = (int64_t)real};
    } else {
        *out = (struct sl_yaml_scalar){.kind = SL_YAML_FLOAT, .real = real};
    }
    return true;
}

static bool is_time(const char *text)
{
    char whole[40];
    size_t len = strlen(text);
    if (len < 10 || len >= sizeof whole - 10 || text[4] != '-') {
        return false;
    }
    snprintf(whole, sizeof whole, "%s%s", text, len == 10 ? "T00:00:00Z" : "");
    return sl_clock_parse(whole) != INT64_MIN;
}

/* Underscores between digits are for people. */
static void resolve_number(const char *text, struct sl_yaml_scalar *out)
{
    size_t size = strlen(text), len = 0;
    if (strspn(text, "+-._0123456789abcdefABCDEFxXoO") != size) {
        return; /* as most texts; only what may be a number is copied, however long */
    }
    char *plain = sl_mem_new(size + 1, 1);
    for (const char *p = text; *p != '\0'; p++) {
        plain[len] = *p;
        len += *p != '_';
    }
    plain[len] = '\0';
    if (!resolve_int(plain, out)) {
        (void)resolve_float(plain, out);
    }
    sl_mem_free(plain);
}

struct sl_yaml_scalar sl_yaml_resolve(const char *text)
{
    struct sl_yaml_scalar out = {.kind = SL_YAML_TEXT};
    if (resolve_word(text, &out) || *text == '\0' || strchr("+-.0123456789", *text) == NULL) {
        return out;
    }
    if (is_time(text)) {
        out.kind = SL_YAML_TIME;
        return out;
    }
    resolve_number(text, &out);
    return out;
}
