/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/base as parsers see it: memory that never runs out, errors and buffers of which the bytes are any. What is
 * handed over to be kept or printed has to be readable; a check of the program that does not hold is an alarm. */
#include "base/buf.h"
#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "specs/eva/any.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- memory ----------------------------------------------------------------------------------- */

#define ROOM 4096
static char capacity[ROOM]; /* what grows: one thing at a time does */
static char copy[64];   /* of all texts: nobody reads on from what he copied */

void *sl_mem_new(size_t count, size_t size)
{
    return calloc(count > 0 ? count : 1, size > 0 ? size : 1);
}

void *sl_mem_grow(void *p, size_t count, size_t size)
{
    (void)p;
    //@ assert fits: count * size <= ROOM;
    return capacity;
}

char *sl_mem_text_n(const char *text, size_t n)
{
    //@ assert readable: n == 0 || \valid_read(text + (0 .. n - 1));
    any_text(copy, sizeof copy - 1);
    return copy;
}

char *sl_mem_text(const char *text)
{
    return text == NULL ? NULL : sl_mem_text_n(text, strlen(text));
}

/* When memory is given back is not looked at. */
void sl_mem_free(void *p)
{
    (void)p;
}

/* A library that gets none ends the process. */
void *sl_mem_got(void *p)
{
    if (p == 0) {
        exit(1);
    }
    return p;
}

void sl_mem_done(bool done)
{
    if (!done) {
        exit(1);
    }
}

/* --- formats ---------------------------------------------------------------------------------- */

/* What stands between a '%' and its conversion. */
struct conversion {
    int longs;
    bool size, counted;
    int count; /* of "%.*s" */
};

static void take_number(const struct conversion *c, va_list args)
{
    if (c->size) {
        (void)va_arg(args, size_t);
    } else if (c->longs == 2) {
        (void)va_arg(args, long long);
    } else if (c->longs == 1) {
        (void)va_arg(args, long);
    } else {
        (void)va_arg(args, int);
    }
}

/* Reads a format with its arguments as printf would: texts have to end, or to be as long as it says. */
static void look_through(const char *format, va_list args)
{
    for (const char *at = format; *at != '\0'; at++) {
        if (*at != '%') {
            continue;
        }
        struct conversion c = {.longs = 0};
        for (at++; *at != 's' && *at != 'd' && *at != 'u' && *at != 'X' && *at != '%' && *at != 'x';
             at++) {
            if (*at == '*') {
                c.counted = true;
                c.count = va_arg(args, int);
            }
            c.longs += *at == 'l';
            c.size = c.size || *at == 'z';
        }
        if (*at == 's' && c.counted) {
            (void)strnlen(va_arg(args, const char *), c.count < 0 ? SIZE_MAX : (size_t)c.count);
        } else if (*at == 's') {
            (void)strlen(va_arg(args, const char *));
        } else if (*at != '%') {
            take_number(&c, args);
        }
    }
}

/* --- errors ----------------------------------------------------------------------------------- */

void sl_error_clear(struct sl_error *e)
{
    if (e != NULL) {
        e->code = SL_CODE_OK;
        e->text[0] = '\0';
        e->cause_count = 0;
    }
}

enum sl_code sl_error_set(struct sl_error *e, enum sl_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    look_through(format, args);
    va_end(args);
    if (e != NULL) {
        e->code = code;
        any_text(e->text, sizeof e->text - 1);
    }
    return code;
}

void sl_check_failed(const char *kind, const char *text, const char *file, int line)
{
    //@ assert check_of_the_program: \false;
    exit(1);
}

/* --- buffers ---------------------------------------------------------------------------------- */

static char content[64]; /* of all of them: nobody reads what was written */

static void note(struct sl_buf *b)
{
    any_text(content, sizeof content - 1);
    b->data = content;
    b->len = any_size(sizeof content - 1);
}

void sl_buf_add(struct sl_buf *b, const char *data, size_t len)
{
    /*@ assert readable: len == 0 || \valid_read(data + (0 .. len - 1)); */
    note(b);
}

void sl_buf_text(struct sl_buf *b, const char *text)
{
    (void)strlen(text);
    note(b);
}

void sl_buf_print(struct sl_buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    look_through(format, args);
    va_end(args);
    note(b);
}

void sl_buf_reset(struct sl_buf *b)
{
    b->len = 0;
}

char *sl_buf_take(struct sl_buf *b)
{
    *b = (struct sl_buf){0};
    return sl_mem_text("");
}

void sl_buf_fini(struct sl_buf *b)
{
    *b = (struct sl_buf){0};
}
