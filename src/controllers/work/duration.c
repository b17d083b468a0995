/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Go-style durations, in integers: nanoseconds are summed in 128 bits, then cut to milliseconds. */
#include "controllers/work/duration.h"
#include <string.h>

#include "base/utf8.h"

struct unit {
    const char *name;
    int64_t ns;
};
/* Longest first, so that "ms" is not read as minutes followed by an "s". */
static const struct unit units[] = {{"ns", 1},           {"us", 1000},      {"\xc2\xb5s", 1000},
                                    {"ms", 1000000},     {"s", 1000000000}, {"m", 60000000000},
                                    {"h", 3600000000000}};

static const struct unit *unit_at(const char *text)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strncmp(text, units[i].name, strlen(units[i].name)) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

static enum sl_code bad(struct sl_error *e, const char *text, const char *why)
{
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "\"%.*s\" is not a duration such as \"1m30s\": %s",
                        (int)sl_utf8_cut(text, 64), text, why);
}

/* One number with at most 18 digits in front of the point; the fraction is scaled to 10^9. */
static bool number(const char **at, int64_t *whole, int64_t *fraction_nano)
{
    const char *start = *at;
    int digits = 0;
    *whole = 0;
    *fraction_nano = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        if (++digits > 18) {
            return false;
        }
        *whole = *whole * 10 + (**at - '0');
    }
    if (**at == '.') {
        (*at)++;
        int64_t scale = 100000000;
        for (; **at >= '0' && **at <= '9'; (*at)++, scale /= 10) {
            *fraction_nano += (**at - '0') * scale;
            digits++;
        }
    }
    return digits > 0 && *at > start;
}

enum sl_code sl_duration_parse(const char *text, int64_t *ms, struct sl_error *e)
{
    if (strcmp(text, "0") == 0) {
        *ms = 0;
        return SL_CODE_OK;
    }
    if (*text == '\0') {
        return bad(e, text, "it is empty");
    }
    if (*text == '-') {
        return bad(e, text, "it must not be negative");
    }
    __int128 sum_ns = 0;
    for (const char *at = text; *at != '\0';) {
        int64_t whole;
        int64_t fraction_nano;
        if (!number(&at, &whole, &fraction_nano)) {
            return bad(e, text, "a number was expected");
        }
        const struct unit *unit = unit_at(at);
        if (unit == NULL) {
            return bad(e, text, "a unit is missing or unknown (ns, us, ms, s, m, h)");
        }
        at += strlen(unit->name);
        sum_ns += (__int128)whole * unit->ns + (__int128)fraction_nano * unit->ns / 1000000000;
        if (sum_ns / 1000000 > SL_DURATION_MS_MAX) {
            return bad(e, text, "it is longer than ten years");
        }
    }
    *ms = (int64_t)(sum_ns / 1000000);
    return SL_CODE_OK;
}
