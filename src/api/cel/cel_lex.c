/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* CEL's tokens: words, numbers, texts with their escapes, signs. */
#include "api/cel/cel_node.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include <ctype.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) != 0 || c == '_';
}

static const char *skip_blank(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n\f");
        if (at[0] != '/' || at[1] != '/') {
            return at;
        }
        at += strcspn(at, "\n");
    }
}

/* --- numbers ---------------------------------------------------------------------------------- */

static int digit_of(char c, unsigned base)
{
    int d = isdigit((unsigned char)c) != 0    ? c - '0'
            : isxdigit((unsigned char)c) != 0 ? tolower((unsigned char)c) - 'a' + 10
                                              : 99;
    return d < (int)base ? d : -1;
}

/* Digits, which may be too many for 64 bits: false. */
static bool read_digits(const char **at, unsigned base, uint64_t *n)
{
    bool fits = true;
    *n = 0;
    for (int d; (d = digit_of(**at, base)) >= 0; (*at)++) {
        fits = fits && !__builtin_mul_overflow(*n, (uint64_t)base, n) &&
               !__builtin_add_overflow(*n, (uint64_t)d, n);
    }
    return fits;
}

/* What makes a number one with a fraction; *at moves behind it. */
static bool read_fraction(const char **at)
{
    const char *start = *at;
    if (**at == '.' && isdigit((unsigned char)(*at)[1]) != 0) {
        *at += 1 + strspn(*at + 1, "0123456789");
    }
    if (**at == 'e' || **at == 'E') {
        const char *power = *at + 1 + ((*at)[1] == '+' || (*at)[1] == '-');
        if (isdigit((unsigned char)*power) != 0) {
            *at = power + strspn(power, "0123456789");
        }
    }
    return *at != start;
}

static struct sl_cel_token read_number(const char **at)
{
    struct sl_cel_token t = {.kind = SL_CEL_DIGITS, .at = *at};
    bool hex =
        (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X') && digit_of((*at)[2], 16) >= 0;
    *at += hex ? 2 : 0;
    bool fits = read_digits(at, hex ? 16 : 10, &t.digits);
    bool broken = !hex && read_fraction(at);
    if (broken) {
        t.kind = SL_CEL_FRACTION;
        t.what = "a number with a fraction";
    } else if (**at == 'u' || **at == 'U') {
        (*at)++;
        t.kind = SL_CEL_UNREAD;
        t.what = "an unsigned number";
    } else if (!fits) {
        t.kind = SL_CEL_MALFORMED;
        t.what = "a number of more than 64 bits";
    }
    if (is_word(**at)) {
        t.kind = SL_CEL_MALFORMED;
        t.what = "a number that goes on with letters";
    }
    t.len = (size_t)(*at - t.at);
    return t;
}

/* --- texts ------------------------------------------------------------------------------------ */

static void add_rune(struct sl_buf *out, uint32_t c)
{
    char bytes[4];
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = len; i-- > 1;) {
        bytes[i] = (char)(0x80u | (c & 0x3Fu));
        c >>= 6;
    }
    bytes[0] = (char)(len == 1 ? c : lead[len] | c);
    sl_buf_add(out, bytes, len);
}

/* `count` digits of a code point; NULL, or why it is none. */
static const char *read_rune(const char **at, unsigned base, unsigned count, struct sl_buf *out)
{
    uint32_t c = 0;
    for (unsigned i = 0; i < count; i++, (*at)++) {
        int d = digit_of(**at, base);
        if (d < 0) {
            return "an escape with too few digits";
        }
        c = c * base + (uint32_t)d;
        if (c > 0x10FFFF) {
            return "an escape without a character";
        }
    }
    if (c == 0 || (c >= 0xD800 && c < 0xE000)) {
        return "an escape without a character";
    }
    add_rune(out, c);
    return NULL;
}

static const char *read_escape(const char **at, struct sl_buf *out)
{
    static const char names[] = "abfnrtv\\?\"'`";
    static const char values[] = "\a\b\f\n\r\t\v\\?\"'`";
    char c = **at;
    const char *name = c == '\0' ? NULL : strchr(names, c);
    if (name != NULL) {
        (*at)++;
        sl_buf_add(out, &values[name - names], 1);
        return NULL;
    }
    if (c >= '0' && c <= '3') {
        return read_rune(at, 8, 3, out);
    }
    unsigned count = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (count == 0) {
        return "an escape that CEL does not have";
    }
    (*at)++;
    return read_rune(at, 16, count, out);
}

/* From behind the opening quotes to behind the closing ones. */
static const char *read_text(const char **at, const char *quote, size_t quotes, bool raw,
                             struct sl_buf *out)
{
    const char *wrong = NULL;
    while (wrong == NULL && strncmp(*at, quote, quotes) != 0) {
        if (**at == '\0' || (quotes == 1 && (**at == '\n' || **at == '\r'))) {
            return "a text that does not end";
        }
        char c = *(*at)++;
        if (c == '\\' && !raw) {
            wrong = read_escape(at, out);
        } else {
            sl_buf_add(out, &c, 1);
        }
    }
    *at += wrong == NULL ? quotes : 0;
    return wrong;
}

/* How many letters before a quote say how its text is meant (r, b); -1: this is none. */
static int prefix_of(const char *at, bool *raw, bool *bytes)
{
    int len = 0;
    *raw = *bytes = false;
    for (; len < 2 && at[len] != '\'' && at[len] != '"'; len++) {
        char c = (char)tolower((unsigned char)at[len]);
        if ((c != 'r' || *raw) && (c != 'b' || *bytes)) {
            return -1;
        }
        *raw = *raw || c == 'r';
        *bytes = *bytes || c == 'b';
    }
    return at[len] == '\'' || at[len] == '"' ? len : -1;
}

static struct sl_cel_token read_string(const char **at, int prefix, bool raw, bool bytes)
{
    struct sl_cel_token t = {.kind = SL_CEL_STRING, .at = *at};
    struct sl_buf out = {0};
    *at += prefix;
    char quote[] = {**at, **at, **at, '\0'};
    size_t quotes = strncmp(*at, quote, 3) == 0 ? 3 : 1;
    *at += quotes;
    sl_buf_add(&out, "", 0);
    t.what = read_text(at, quote, quotes, raw, &out);
    if (t.what != NULL) {
        t.kind = SL_CEL_MALFORMED;
    } else if (bytes) {
        t.kind = SL_CEL_UNREAD;
        t.what = "bytes";
    } else {
        t.decoded = sl_mem_text(out.data == NULL ? "" : out.data);
    }
    sl_buf_fini(&out);
    t.len = (size_t)(*at - t.at);
    return t;
}

/* --- all -------------------------------------------------------------------------------------- */

static struct sl_cel_token read_sign(const char **at)
{
    static const char *const pairs[] = {"&&", "||", "==", "!=", "<=", ">="};
    struct sl_cel_token t = {.kind = SL_CEL_SIGN, .at = *at, .len = 1};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strncmp(*at, pairs[i], 2) == 0) {
            t.len = 2;
        }
    }
    if (t.len == 1 && strchr("!<>?:.,+-*/%()[]{}", **at) == NULL) {
        t.kind = SL_CEL_MALFORMED;
        t.what = "a character that CEL does not have";
    }
    *at += t.len;
    return t;
}

struct sl_cel_token sl_cel_next(const char **at)
{
    bool raw;
    bool bytes;
    SL_PRE(at != NULL && *at != NULL);
    *at = skip_blank(*at);
    if (**at == '\0') {
        return (struct sl_cel_token){.kind = SL_CEL_END, .at = *at};
    }
    int prefix = prefix_of(*at, &raw, &bytes);
    if (prefix >= 0) {
        return read_string(at, prefix, raw, bytes);
    }
    bool fraction = **at == '.' && isdigit((unsigned char)(*at)[1]) != 0;
    if (isdigit((unsigned char)**at) != 0 || fraction) {
        return read_number(at);
    }
    if (is_word(**at)) {
        struct sl_cel_token t = {.kind = SL_CEL_WORD, .at = *at};
        while (is_word(**at)) {
            (*at)++;
        }
        t.len = (size_t)(*at - t.at);
        return t;
    }
    return read_sign(at);
}
