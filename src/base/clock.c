/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The process's clock or a virtual one, and RFC 3339 both ways (proleptic Gregorian, years 0000 to
 * 9999). */
#include "base/clock.h"

#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#define DAY_MS 86400000ll
#define VIRTUAL_OFF INT64_MIN
#define LATEST_S 221845392000ll /* 9000-01-01: what is stamped then has four digits for its year */
#define CATCH_UP 128

static _Atomic int64_t virtual_ms = VIRTUAL_OFF;

/* Of the process: where it is, and what the steady clock said then. */
static struct {
    pthread_mutex_t mutex;
    bool begun;
    int64_t now_us, steady_us;
} own = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int64_t read_us(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    int64_t seconds = t.tv_sec;
    seconds = seconds < 0 ? 0 : seconds > LATEST_S ? LATEST_S : seconds;
    return seconds * 1000000 + (t.tv_sec == seconds ? t.tv_nsec / 1000 : 0);
}

/* The boot's clock goes on while the machine sleeps, as the wall clock does. */
static void go_on(void)
{
    int64_t wall_us = read_us(CLOCK_REALTIME);
    int64_t steady_us = read_us(CLOCK_BOOTTIME);
    if (!own.begun) {
        own.begun = true;
        own.now_us = wall_us;
    } else if (steady_us > own.steady_us) {
        int64_t spent_us = steady_us - own.steady_us;
        int64_t off_us = wall_us - own.now_us - spent_us;
        int64_t most_us = spent_us / CATCH_UP;
        off_us = off_us > most_us ? most_us : off_us < -most_us ? -most_us : off_us;
        own.now_us += spent_us + off_us;
    } else {
        return;
    }
    own.steady_us = steady_us;
}

int64_t sl_clock_now_ms(void)
{
    int64_t fixed = virtual_ms;
    if (fixed != VIRTUAL_OFF) {
        return fixed;
    }
    (void)pthread_mutex_lock(&own.mutex);
    go_on();
    int64_t now_us = own.now_us;
    (void)pthread_mutex_unlock(&own.mutex);
    return now_us / 1000;
}

int64_t sl_clock_wall_ms(void)
{
    int64_t fixed = virtual_ms;
    return fixed != VIRTUAL_OFF ? fixed : read_us(CLOCK_REALTIME) / 1000;
}

void sl_clock_begin(void)
{
    (void)pthread_mutex_lock(&own.mutex);
    own.begun = false;
    go_on();
    (void)pthread_mutex_unlock(&own.mutex);
}

int64_t sl_clock_monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void sl_clock_set_virtual(int64_t now_ms)
{
    virtual_ms = now_ms;
}

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
