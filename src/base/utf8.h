/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* UTF-8 as RFC 3629 has it: nothing longer than need be, no surrogates, nothing beyond U+10FFFF. JSON can hold nothing
 * else, and clients refuse a whole answer for one byte. */
#ifndef SL_BASE_UTF8_H
#define SL_BASE_UTF8_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define SL_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for a byte that is no part of a character */

/* How many bytes the character takes that begins at `at`, of which `left` may be read: as many as one likes where a NUL
 * follows. 0: none begins there. */
size_t sl_utf8_len(const char *at, size_t left);
bool sl_utf8_valid(const char *text, size_t size);
/* How many bytes stay of a text that has to end after `size_max` of them, or a little before that: behind a character. */
size_t sl_utf8_cut(const char *text, size_t size_max);
/* A copy with SL_UTF8_REPLACEMENT for every byte that is no part of a character; sl_mem_free it. */
char *sl_utf8_repair(const char *text);
/* As snprintf does, but a text that has no room in the `cap` bytes (at least 4) ends behind a character and with "...". */
void sl_utf8_print(char *out, size_t cap, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sl_utf8_print_args(char *out, size_t cap, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
#endif
