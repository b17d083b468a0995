/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One line an event, made whole in memory and given to stderr whole, so that lines never
 * mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log_out.h"

static enum sl_log_level lowest_level = SL_LOG_INFO;
static bool as_json;
static const char *const level_names[] = {"debug", "info", "warn", "error"};

void sl_log_setup(enum sl_log_level lowest, bool json)
{
    lowest_level = lowest;
    as_json = json;
}

bool sl_log_on(enum sl_log_level level)
{
    return level >= lowest_level;
}

/* Would move the reader's cursor, or worse. */
static bool is_control(unsigned char c)
{
    return c < 0x20 || c == 0x7f;
}

static void add_quoted(struct sl_buf *line, const char *text)
{
    sl_buf_text(line, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') {
            sl_buf_print(line, "\\%c", c);
        } else if (c == '\n') {
            sl_buf_text(line, "\\n");
        } else if (is_control(c)) {
            sl_buf_print(line, "\\u%04x", c);
        } else {
            sl_buf_add(line, p, 1);
        }
    }
    sl_buf_text(line, "\"");
}

/* Can a reader see its end, and nothing else? */
static bool is_plain(const char *value)
{
    const char *p = value;
    while (*p != '\0' && strchr(" \"\\=", *p) == NULL && !is_control((unsigned char)*p)) {
        p++;
    }
    return p > value && *p == '\0';
}

static void add_value(struct sl_buf *line, const char *value)
{
    if (!as_json && is_plain(value)) {
        sl_buf_text(line, value);
    } else {
        add_quoted(line, value);
    }
}

static void add_head(struct sl_buf *line, enum sl_log_level level, const char *message)
{
    char now[40];
    sl_clock_format_micro(sl_clock_wall_ms(), now);
    if (as_json) {
        sl_buf_print(line, "{\"time\":\"%s\",\"level\":\"%s\",\"msg\":", now, level_names[level]);
        add_quoted(line, message);
    } else {
        sl_buf_print(line, "%s %-5s %s", now, level_names[level], message);
    }
}

void sl_log(enum sl_log_level level, const char *message, ...)
{
    SL_PRE(level >= SL_LOG_DEBUG && level <= SL_LOG_ERROR);
    if (!sl_log_on(level)) {
        return;
    }
    struct sl_buf line = {0};
    add_head(&line, level, message);
    va_list args;
    va_start(args, message);
    const char *key;
    while ((key = va_arg(args, const char *)) != NULL) {
        const char *value = va_arg(args, const char *);
        if (as_json) {
            sl_buf_text(&line, ",");
            add_quoted(&line, key);
            sl_buf_text(&line, ":");
        } else {
            sl_buf_print(&line, " %s=", key);
        }
        add_value(&line, value == NULL ? "" : value);
    }
    va_end(args);
    sl_buf_text(&line, as_json ? "}\n" : "\n");
    sl_log_out(line.data, line.len);
    sl_buf_fini(&line);
}

bool sl_log_catch_up(void)
{
    unsigned long lost = sl_log_kept() ? sl_log_flush(0) : 0;
    if (lost > 0) {
        sl_log(SL_LOG_WARN, "log lines were lost: stderr was not read", "lines",
               sl_log_number((long long)lost), NULL);
    }
    return sl_log_kept();
}

const char *sl_log_number(long long n)
{
    static _Thread_local char texts[8][24];
    static _Thread_local unsigned next;
    char *text = texts[next++ % 8u];
    snprintf(text, sizeof texts[0], "%lld", n);
    return text;
}
