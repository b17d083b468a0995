/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quantities in 128-bit counts of 10^-9: exact for everything that Kubernetes does not round or
 * cap itself. */
#include "api/objects/quantity.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

typedef unsigned __int128 u128;

#define BYTES_MAX 16u
#define RESOURCE_LEN 253u
#define NANO 1000000000
/* Digits that are read; what comes behind only decides that the value is rounded up. Times 2^60
 * twenty digits still fit 128 bits, and a value with more of them before the point is past the
 * cap anyway. */
#define DECIMAL_DIGITS_MAX 36
#define BINARY_DIGITS_MAX 20
#define EXPONENT_MAX 1000 /* beyond it every value is capped or rounds to the smallest one */
/* Kubernetes keeps up to this many digits as they are and caps longer numbers at 2^63 - 1. */
#define PLAIN_DIGITS_MAX 18
#define PLAIN_BINARY_DIGITS_MAX 14
#define NANO_CAP ((u128)INT64_MAX * NANO)
/* 10^38, the largest value that is kept: a round number, so that its text reads back as itself. */
#define NANO_LIMIT ((u128)10000000000000000000u * 10000000000000000000u)

struct parts {
    const char *digits; /* the first digit that counts */
    size_t whole_count; /* digits before the point, leading zeros left out */
    size_t fraction_count;
    bool negative;
    enum sl_quantity_format format;
    int exponent; /* of 10, or of 2 for BINARY_SI */
};

static const struct {
    const char *suffix;
    enum sl_quantity_format format;
    int exponent;
} suffixes[] = {
    {"", SL_QUANTITY_DECIMAL_SI, 0},   {"n", SL_QUANTITY_DECIMAL_SI, -9},
    {"u", SL_QUANTITY_DECIMAL_SI, -6}, {"m", SL_QUANTITY_DECIMAL_SI, -3},
    {"k", SL_QUANTITY_DECIMAL_SI, 3},  {"M", SL_QUANTITY_DECIMAL_SI, 6},
    {"G", SL_QUANTITY_DECIMAL_SI, 9},  {"T", SL_QUANTITY_DECIMAL_SI, 12},
    {"P", SL_QUANTITY_DECIMAL_SI, 15}, {"E", SL_QUANTITY_DECIMAL_SI, 18},
    {"Ki", SL_QUANTITY_BINARY_SI, 10}, {"Mi", SL_QUANTITY_BINARY_SI, 20},
    {"Gi", SL_QUANTITY_BINARY_SI, 30}, {"Ti", SL_QUANTITY_BINARY_SI, 40},
    {"Pi", SL_QUANTITY_BINARY_SI, 50}, {"Ei", SL_QUANTITY_BINARY_SI, 60},
};

/* e or E and a signed number that ends the text. */
static bool read_exponent(const char *text, int *exponent)
{
    bool negative = text[1] == '-';
    const char *digits = text + 1 + (text[1] == '-' || text[1] == '+');
    size_t count = strspn(digits, "0123456789");
    if ((text[0] != 'e' && text[0] != 'E') || count == 0 || digits[count] != '\0') {
        return false;
    }
    int n = 0;
    for (size_t i = 0; i < count; i++) {
        n = n > EXPONENT_MAX ? n : n * 10 + (digits[i] - '0');
    }
    *exponent = negative ? -n : n;
    return true;
}

static bool read_suffix(const char *text, struct parts *p)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(text, suffixes[i].suffix) == 0) {
            p->format = suffixes[i].format;
            p->exponent = suffixes[i].exponent;
            return true;
        }
    }
    p->format = SL_QUANTITY_DECIMAL_EXPONENT;
    return read_exponent(text, &p->exponent);
}

static bool read_parts(const char *text, struct parts *p)
{
    *p = (struct parts){.negative = text[0] == '-'};
    text += text[0] == '-' || text[0] == '+';
    size_t zeros = strspn(text, "0");
    p->digits = text + zeros;
    p->whole_count = strspn(p->digits, "0123456789");
    const char *after = p->digits + p->whole_count;
    if (*after == '.') {
        after++;
        p->fraction_count = strspn(after, "0123456789");
        after += p->fraction_count;
    }
    return zeros + p->whole_count + p->fraction_count > 0 && read_suffix(after, p);
}

/* x * 10^power, rounded up; saturates at NANO_LIMIT. `rest`: something was cut off already. */
static u128 scale_ten(u128 x, int power, bool rest)
{
    for (; power > 0 && x != 0; power--) {
        if (x > NANO_LIMIT / 10) {
            return NANO_LIMIT;
        }
        x *= 10;
    }
    for (; power < 0 && x != 0; power++) {
        rest = rest || x % 10 != 0;
        x /= 10;
    }
    x += rest ? 1u : 0u;
    return x < NANO_LIMIT ? x : NANO_LIMIT;
}

/* The value in 10^-9, rounded up. */
static u128 magnitude(const struct parts *p)
{
    bool binary = p->format == SL_QUANTITY_BINARY_SI;
    size_t limit = binary ? BINARY_DIGITS_MAX : DECIMAL_DIGITS_MAX;
    size_t total = p->whole_count + p->fraction_count, taken = 0;
    u128 x = 0;
    bool rest = false;
    int power = 9 - (int)p->fraction_count + (binary ? 0 : p->exponent);
    for (size_t i = 0; i < total; i++) {
        char digit = p->digits[i + (i >= p->whole_count && p->fraction_count > 0)];
        if (taken < limit) {
            unsigned value = (unsigned)(digit - '0');
            x = x * 10 + value;
            taken += x != 0;
        } else {
            rest = rest || digit != '0';
            power++;
        }
    }
    return scale_ten(binary ? x << p->exponent : x, power, rest);
}

/* Whether Kubernetes keeps the number as written, however large. */
static bool kept_plain(const struct parts *p)
{
    if (p->format != SL_QUANTITY_BINARY_SI) {
        return p->whole_count + p->fraction_count <= PLAIN_DIGITS_MAX;
    }
    return p->fraction_count == 0 &&
           p->whole_count + (size_t)(p->exponent * 3 / 10) <= PLAIN_BINARY_DIGITS_MAX;
}

enum sl_code sl_quantity_parse(const char *text, struct sl_quantity *q, struct sl_error *e)
{
    struct parts p;
    if (strlen(text) > INT16_MAX || !read_parts(text, &p)) {
        return sl_error_set(
            e, SL_CODE_BAD_REQUEST,
            "\"%.80s\" is not a quantity: expected a number with an optional suffix, "
            "such as 2, 1.5, 500m, 64Gi or 1e3",
            text);
    }
    u128 nano = magnitude(&p);
    if (nano > NANO_CAP && !kept_plain(&p)) {
        nano = NANO_CAP;
    }
    if (p.format == SL_QUANTITY_BINARY_SI && nano < NANO) {
        p.format = SL_QUANTITY_DECIMAL_SI; /* a fraction has no binary form */
    }
    *q = (struct sl_quantity){.nano = p.negative ? -(__int128)nano : (__int128)nano,
                              .format = p.format};
    return SL_CODE_OK;
}

enum sl_code sl_quantity_read(const struct sl_json *v, struct sl_quantity *q, struct sl_error *e)
{
    switch (sl_json_type(v)) {
    case SL_JSON_TEXT:
        return sl_quantity_parse(sl_json_text(v, ""), q, e);
    case SL_JSON_INT:
    case SL_JSON_DOUBLE:
        return sl_quantity_parse(json_object_to_json_string((struct json_object *)(uintptr_t)v), q,
                                 e);
    default:
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "a quantity must be a text or a number");
    }
}

/* nano / unit, away from zero, within int64. */
static int64_t rounded(__int128 nano, uint64_t unit)
{
    u128 size = nano < 0 ? (u128)-nano : (u128)nano;
    u128 count = size / unit;
    count += size % unit != 0 ? 1u : 0u;
    if (count > (u128)INT64_MAX) {
        return nano < 0 ? INT64_MIN : INT64_MAX;
    }
    return nano < 0 ? -(int64_t)count : (int64_t)count;
}

int64_t sl_quantity_milli(struct sl_quantity q)
{
    return rounded(q.nano, NANO / 1000);
}

int64_t sl_quantity_value(struct sl_quantity q)
{
    return rounded(q.nano, NANO);
}

int64_t sl_quantity_amount(struct sl_quantity q, const char *resource)
{
    return strcmp(resource, "cpu") == 0 ? sl_quantity_milli(q) : sl_quantity_value(q);
}

/* Decimal digits of x, sign before, suffix behind. */
static void print_number(u128 x, bool negative, const char *suffix, char out[static 64])
{
    char digits[48];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + (int)(x % 10));
        x /= 10;
    } while (x != 0);
    snprintf(out, 64, "%s%s%s", negative ? "-" : "", digits + at, suffix);
}

/* No fraction, and the largest exponent that is a multiple of three. */
static void print_decimal(u128 size, bool negative, bool as_exponent, char out[static 64])
{
    int exponent = -9;
    int exponent_max = as_exponent ? 99 : 18;
    while (size % 1000 == 0 && exponent < exponent_max) {
        size /= 1000;
        exponent += 3;
    }
    char suffix[16] = "";
    if (as_exponent && exponent != 0) {
        snprintf(suffix, sizeof suffix, "e%d", exponent);
    } else if (!as_exponent) {
        static const char letters[] = "num\0kMGTPE";
        suffix[0] = letters[exponent / 3 + 3];
    }
    print_number(size, negative, suffix, out);
}

static void print_binary(u128 units, bool negative, char out[static 64])
{
    static const char *const names[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    size_t step = 0;
    while (units % 1024 == 0 && step < 6) {
        units /= 1024;
        step++;
    }
    print_number(units, negative, names[step], out);
}

void sl_quantity_print(struct sl_quantity q, char out[static 64])
{
    bool negative = q.nano < 0;
    u128 size = negative ? (u128)-q.nano : (u128)q.nano;
    if (size == 0) {
        snprintf(out, 64, "0");
    } else if (q.format == SL_QUANTITY_BINARY_SI && size % NANO == 0 && size / NANO >= 1024) {
        print_binary(size / NANO, negative, out);
    } else {
        print_decimal(size, negative, q.format == SL_QUANTITY_DECIMAL_EXPONENT, out);
    }
}

static char bytes[BYTES_MAX][RESOURCE_LEN + 1];
static size_t bytes_count;

static bool counts_bytes(const char *resource)
{
    for (size_t i = 0; i < bytes_count; i++) {
        if (strcmp(bytes[i], resource) == 0) {
            return true;
        }
    }
    return false;
}

void sl_quantity_count_bytes(const char *resource)
{
    if (bytes_count < BYTES_MAX && strlen(resource) <= RESOURCE_LEN && !counts_bytes(resource)) {
        snprintf(bytes[bytes_count++], sizeof bytes[0], "%s", resource);
    }
}

bool sl_quantity_is_bytes(const char *resource)
{
    return strcmp(resource, "memory") == 0 || strcmp(resource, "ephemeral-storage") == 0 ||
           strncmp(resource, "hugepages-", 10) == 0 || counts_bytes(resource);
}

void sl_quantity_print_amount(int64_t amount, const char *resource, char out[static 64])
{
    bool cpu = strcmp(resource, "cpu") == 0;
    struct sl_quantity q = {
        .nano = (__int128)amount * (cpu ? NANO / 1000 : NANO),
        .format = sl_quantity_is_bytes(resource) ? SL_QUANTITY_BINARY_SI : SL_QUANTITY_DECIMAL_SI,
    };
    sl_quantity_print(q, out);
}
