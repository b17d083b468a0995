/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Times as texts: RFC 3339 both ways (proleptic Gregorian, years 0000 to
 * 9999). */
#include "base/clock.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define DAY_MS 86400000ll

/* Days since 1970-01-01; the year starts in March so that the leap day comes last. */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

struct civil {
    int64_t year, month, day, hour, minute, second, milli;
};

static struct civil civil_from_ms(int64_t ms)
{
    int64_t days = ms / DAY_MS;
    int64_t rest = ms % DAY_MS;
    if (rest < 0) { /* the earliest day's begin is no int64_t */
        rest += DAY_MS;
        days--;
    }
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153;
    struct civil c = {
        .month = shifted < 10 ? shifted + 3 : shifted - 9,
        .day = day_of_year - (153 * shifted + 2) / 5 + 1,
        .hour = rest / 3600000,
        .minute = rest / 60000 % 60,
        .second = rest / 1000 % 60,
        .milli = rest % 1000,
    };
    c.year = year + era * 400 + (c.month <= 2);
    return c;
}

void sl_clock_format(int64_t ms, char out[static 32])
{
    struct civil c = civil_from_ms(ms);
    snprintf(out, 32, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)c.year, (int)c.month, (int)c.day,
             (int)c.hour, (int)c.minute, (int)c.second);
}

void sl_clock_format_micro(int64_t ms, char out[static 40])
{
    struct civil c = civil_from_ms(ms);
    snprintf(out, 40, "%04d-%02d-%02dT%02d:%02d:%02d.%03d000Z", (int)c.year, (int)c.month,
             (int)c.day, (int)c.hour, (int)c.minute, (int)c.second, (int)c.milli);
}

/* Exactly `count` digits followed by `after` (0: anything); moves *at behind both. -1 when they
 * are not there. */
static int64_t digits(const char **at, int count, char after)
{
    int64_t n = 0;
    for (int i = 0; i < count; i++) {
        if (!isdigit((unsigned char)**at)) {
            return -1;
        }
        n = n * 10 + (*(*at)++ - '0');
    }
    if (after != 0 && *(*at)++ != after) {
        return -1;
    }
    return n;
}

/* An optional fraction of a second, in ms; false when there is a dot without digits. */
static bool fraction(const char **at, int64_t *milli)
{
    *milli = 0;
    if (**at != '.') {
        return true;
    }
    (*at)++;
    int64_t unit = 100;
    const char *start = *at;
    for (; isdigit((unsigned char)**at); (*at)++) {
        *milli += unit * (**at - '0');
        unit /= 10;
    }
    return *at > start;
}

/* Z or +hh:mm and then the end of the text; the offset in minutes. */
static bool zone(const char *at, int64_t *minutes)
{
    *minutes = 0;
    if ((at[0] == 'Z' || at[0] == 'z') && at[1] == '\0') {
        return true;
    }
    if (at[0] != '+' && at[0] != '-') {
        return false;
    }
    int64_t sign = *at++ == '-' ? -1 : 1;
    int64_t hour = digits(&at, 2, ':');
    int64_t minute = hour < 0 ? -1 : digits(&at, 2, 0);
    *minutes = sign * (hour * 60 + minute);
    return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && *at == '\0';
}

static bool date_exists(int64_t year, int64_t month, int64_t day)
{
    if (year < 0 || month < 1 || month > 12 || day < 1) {
        return false;
    }
    int64_t next =
        month == 12 ? days_from_civil(year + 1, 1, 1) : days_from_civil(year, month + 1, 1);
    return day <= next - days_from_civil(year, month, 1);
}

int64_t sl_clock_parse(const char *rfc3339)
{
    const char *at = rfc3339;
    int64_t part[6];
    static const struct {
        int count;
        char after;
    } shape[6] = {{4, '-'}, {2, '-'}, {2, 'T'}, {2, ':'}, {2, ':'}, {2, 0}};
    for (size_t i = 0; i < 6; i++) {
        part[i] = digits(&at, shape[i].count, shape[i].after);
        if (part[i] < 0) {
            return INT64_MIN;
        }
    }
    int64_t milli, offset;
    if (!date_exists(part[0], part[1], part[2]) || part[3] > 23 || part[4] > 59 || part[5] > 60 ||
        !fraction(&at, &milli) || !zone(at, &offset)) {
        return INT64_MIN;
    }
    return days_from_civil(part[0], part[1], part[2]) * DAY_MS +
           ((part[3] * 60 + part[4] - offset) * 60 + part[5]) * 1000 + milli;
}
