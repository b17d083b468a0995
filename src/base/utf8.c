/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is a character, and texts that have to consist of them. */
#include "base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"

static bool follows(char c)
{
    return ((unsigned char)c & 0xc0u) == 0x80u;
}

/* The first byte says how many there are; 0: it is no first one. */
static size_t len_of(unsigned char first)
{
    return first < 0x80                     ? 1
           : first >= 0xc2 && first <= 0xdf ? 2
           : first >= 0xe0 && first <= 0xef ? 3
           : first >= 0xf0 && first <= 0xf4 ? 4
                                            : 0;
}

/* What is too long, a surrogate or too great shows in the second byte. */
static bool may_be_second(unsigned char first, unsigned char second)
{
    unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= least && second <= most;
}

size_t sl_utf8_len(const char *at, size_t left)
{
    size_t len = left == 0 ? 0 : len_of((unsigned char)at[0]);
    if (len > left || (len > 1 && !may_be_second((unsigned char)at[0], (unsigned char)at[1]))) {
        return 0;
    }
    for (size_t i = 2; i < len; i++) {
        if (!follows(at[i])) {
            return 0;
        }
    }
    return len;
}

bool sl_utf8_valid(const char *text, size_t size)
{
    size_t at = 0, len = 1;
    while (at < size && len > 0) {
        len = sl_utf8_len(text + at, size - at);
        at += len;
    }
    return at == size;
}

size_t sl_utf8_cut(const char *text, size_t size_max)
{
    size_t size = strnlen(text, size_max);
    while (size > 0 && follows(text[size])) {
        size--;
    }
    return size;
}

char *sl_utf8_repair(const char *text)
{
    struct sl_buf out = {0};
    while (*text != '\0') {
        size_t len = sl_utf8_len(text, SIZE_MAX);
        sl_buf_add(&out, len > 0 ? text : SL_UTF8_REPLACEMENT,
                   len > 0 ? len : sizeof SL_UTF8_REPLACEMENT - 1);
        text += len > 0 ? len : 1;
    }
    return sl_buf_take(&out);
}

void sl_utf8_print_args(char *out, size_t cap, const char *format, va_list args)
{
    SL_PRE(cap >= 4);
    int len = vsnprintf(out, cap, format, args);
    SL_ASSERT(len >= 0);
    if ((size_t)len >= cap) {
        (void)snprintf(out + sl_utf8_cut(out, cap - 4), 4, "...");
    }
}

void sl_utf8_print(char *out, size_t cap, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sl_utf8_print_args(out, cap, format, args);
    va_end(args);
}
