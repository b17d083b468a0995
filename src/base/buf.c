/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The growing byte string: doubles its room, keeps a NUL behind the last byte. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* Room for `more` bytes and the NUL. */
static void reserve(struct sl_buf *b, size_t more)
{
    SL_PRE(more < SIZE_MAX / 4 && b->len < SIZE_MAX / 4);
    size_t need = b->len + more + 1;
    if (need <= b->cap) {
        return;
    }
    size_t cap = b->cap < 64 ? 64 : b->cap;
    while (cap < need) {
        cap *= 2;
    }
    b->data = sl_mem_grow(b->data, cap, 1);
    b->cap = cap;
}

void sl_buf_expect(struct sl_buf *b, size_t bytes)
{
    SL_PRE(b != NULL);
    if (bytes > b->len) {
        reserve(b, bytes - b->len);
    }
}

void sl_buf_add(struct sl_buf *b, const char *data, size_t len)
{
    reserve(b, len);
    if (len > 0) {
        memcpy(b->data + b->len, data, len);
    }
    b->len += len;
    b->data[b->len] = '\0';
}

void sl_buf_text(struct sl_buf *b, const char *text)
{
    sl_buf_add(b, text, strlen(text));
}

void sl_buf_print(struct sl_buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    reserve(b, 64);
    int written = vsnprintf(b->data + b->len, b->cap - b->len, format, args);
    SL_ASSERT(written >= 0);
    size_t len = (size_t)written;
    if (len >= b->cap - b->len) {
        reserve(b, len);
        vsnprintf(b->data + b->len, b->cap - b->len, format, again);
    }
    b->len += len;
    va_end(again);
    va_end(args);
}

void sl_buf_reset(struct sl_buf *b)
{
    SL_PRE(b != NULL);
    b->len = 0;
    if (b->data != NULL) {
        b->data[0] = '\0';
    }
}

char *sl_buf_take(struct sl_buf *b)
{
    SL_PRE(b != NULL);
    reserve(b, 0);
    b->data[b->len] = '\0';
    char *data = b->data;
    *b = (struct sl_buf){0};
    return data;
}

void sl_buf_fini(struct sl_buf *b)
{
    SL_PRE(b != NULL);
    sl_mem_free(b->data);
    *b = (struct sl_buf){0};
}
