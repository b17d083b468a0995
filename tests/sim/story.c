/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The story goes to stdout when it is asked for; its hash and its last lines are always kept. */
#include "sim.h"
#include "base/clock.h"
#include "base/fnv1a.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 700

static struct {
    bool print;
    uint64_t hash;
    unsigned long lines;
} story;

void sim_story_begin(bool print)
{
    story.print = print;
    story.hash = SL_FNV1A_BASIS;
    story.lines = 0;
}

static void put(const char *line)
{
    story.hash = sl_fnv1a(story.hash, line, strlen(line));
    story.lines++;
    if (story.print) {
        (void)puts(line);
    }
}

void sim_story_tell(const char *who, const char *format, ...)
{
    char line[LINE_SIZE];
    int64_t t = sl_clock_now_ms() - SIM_START_MS;
    int at = snprintf(line, sizeof line, "%+04lld:%02lld:%02lld.%03lld %-9s ",
                      (long long)(t / 3600000), (long long)(t / 60000 % 60),
                      (long long)(t / 1000 % 60), (long long)(t % 1000), who);
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line + at, sizeof line - (size_t)at, format, list);
    va_end(list);
    put(line);
}

uint64_t sim_story_hash(void)
{
    return story.hash;
}

unsigned long sim_story_lines(void)
{
    return story.lines;
}

void sim_story_violation(const char *format, ...)
{
    char text[2 * LINE_SIZE];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    (void)printf("VIOLATION after %lld ms: %s\n", (long long)(sl_clock_now_ms() - SIM_START_MS),
                 text);
    (void)fflush(stdout);
    exit(SIM_EXIT_VIOLATION);
}
