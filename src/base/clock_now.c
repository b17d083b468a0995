/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The process's clock, or a virtual one, and what the system's clocks say. */
#include "base/clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

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
