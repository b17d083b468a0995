/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The functions that rules have besides those of cel_functions.c. cel_check.c has seen that their arguments are of a type that they take,
 * or of one that is not known before. */
#include "api/cel/cel_value.h"
#include "api/json/pattern.h"
#include "base/buf.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL SIZE_MAX

static struct sl_cel_value keep(struct sl_cel_run *run, struct sl_buf *text)
{
    struct sl_cel_value v = sl_cel_text(sl_cel_keep(run, text->data == NULL ? "" : text->data));
    sl_buf_fini(text);
    return v;
}

/* --- types ------------------------------------------------------------------------------------ */

static const char *const type_names[] = {
    [SL_CEL_IS_NULL] = "null_type", [SL_CEL_IS_BOOL] = "bool",   [SL_CEL_IS_INT] = "int",
    [SL_CEL_IS_TEXT] = "string",    [SL_CEL_IS_REAL] = "double", [SL_CEL_IS_ITEMS] = "list",
    [SL_CEL_IS_MEMBERS] = "map",    [SL_CEL_IS_TYPE] = "type"};

bool sl_cel_type_named(const char *name)
{
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
        if (type_names[i] != NULL && strcmp(type_names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static struct sl_cel_value type_of(struct sl_cel_run *run, const struct sl_cel_value *a)
{
    const char *name =
        (size_t)a->type < sizeof type_names / sizeof type_names[0] ? type_names[a->type] : NULL;
    (void)run;
    return name == NULL ? sl_cel_no_overload()
                        : (struct sl_cel_value){.type = SL_CEL_IS_TYPE, .text = name};
}

static struct sl_cel_value to_int(struct sl_cel_run *run, const struct sl_cel_value *a)
{
    char *end = NULL;
    if (a->type == SL_CEL_IS_INT) {
        return *a;
    }
    if (a->type == SL_CEL_IS_REAL) {
        return a->real > -0x1p63 && a->real < 0x1p63 ? sl_cel_whole((int64_t)a->real)
                                                     : sl_cel_error(run, "integer overflow");
    }
    if (a->type != SL_CEL_IS_TEXT) {
        return sl_cel_no_overload();
    }
    errno = 0;
    long long n = strtoll(a->text, &end, 10);
    bool digits = isdigit((unsigned char)a->text[a->text[0] == '-' || a->text[0] == '+']) != 0;
    return digits && *end == '\0' && errno == 0
               ? sl_cel_whole(n)
               : sl_cel_error(run, "cannot convert '%.64s' to int", a->text);
}

static struct sl_cel_value to_real(struct sl_cel_run *run, const struct sl_cel_value *a)
{
    char *end = NULL;
    if (a->type == SL_CEL_IS_REAL) {
        return *a;
    }
    if (a->type == SL_CEL_IS_INT) {
        return sl_cel_real((double)a->number);
    }
    if (a->type != SL_CEL_IS_TEXT) {
        return sl_cel_no_overload();
    }
    size_t plain = strspn(a->text, "+-.0123456789eE");
    double n = strtod(a->text, &end);
    return a->text[0] != '\0' && a->text[plain] == '\0' && *end == '\0' && isfinite(n)
               ? sl_cel_real(n)
               : sl_cel_error(run, "cannot convert '%.64s' to double", a->text);
}

/* The fewest digits that mean the same number, as Go prints them: with an exponent below -4 and from 6 on. */
static void print_real(double real, struct sl_buf *out)
{
    if (isnan(real) || isinf(real)) {
        sl_buf_text(out, isnan(real) ? "NaN" : real > 0 ? "+Inf" : "-Inf");
        return;
    }
    int digits = 0;
    do {
        sl_buf_reset(out);
        sl_buf_print(out, "%.*e", digits, real);
    } while (strtod(out->data, NULL) != real && ++digits < 17);
    long exponent = strtol(strchr(out->data, 'e') + 1, NULL, 10);
    if (exponent >= -4 && exponent < 6) {
        sl_buf_reset(out);
        sl_buf_print(out, "%.*f", digits > exponent ? digits - (int)exponent : 0, real);
    }
}

static struct sl_cel_value to_text(struct sl_cel_run *run, const struct sl_cel_value *a)
{
    struct sl_buf text = {0};
    switch (a->type) {
    case SL_CEL_IS_TEXT:
        return *a;
    case SL_CEL_IS_BOOL:
        return sl_cel_text(a->number != 0 ? "true" : "false");
    case SL_CEL_IS_INT:
        sl_buf_print(&text, "%" PRId64, a->number);
        return keep(run, &text);
    case SL_CEL_IS_REAL:
        print_real(a->real, &text);
        return keep(run, &text);
    default:
        return sl_cel_no_overload();
    }
}

/* --- texts ------------------------------------------------------------------------------------ */

static struct sl_cel_value upper(struct sl_cel_run *run, const char *text)
{
    struct sl_buf out = {0};
    for (; *text != '\0'; text++) {
        char c = *text >= 'a' && *text <= 'z' ? (char)(*text - ('a' - 'A')) : *text;
        sl_buf_add(&out, &c, 1);
    }
    return keep(run, &out);
}

static struct sl_cel_value trim(struct sl_cel_run *run, const char *text)
{
    static const char blank[] = " \t\n\v\f\r";
    struct sl_buf out = {0};
    text += strspn(text, blank);
    size_t len = strlen(text);
    while (len > 0 && strchr(blank, text[len - 1]) != NULL) {
        len--;
    }
    sl_buf_add(&out, text, len);
    return keep(run, &out);
}

static struct sl_cel_value matches(const struct sl_cel_run *run, const char *text,
                                   const char *pattern)
{
    if (!sl_cel_spend(run, (strlen(text) + 1) * (strlen(pattern) + 16) / 64) ||
        !sl_pattern_fits(pattern, text)) {
        return sl_cel_spent();
    }
    return sl_cel_truth(sl_pattern_matches(pattern, text));
}

/* The bytes of the first `n` characters; ALL: it has fewer. */
static size_t bytes_of(const char *text, int64_t n)
{
    size_t at = 0;
    for (; n > 0 && text[at] != '\0'; n--) {
        do {
            at++;
        } while (((unsigned char)text[at] & 0xC0u) == 0x80u);
    }
    return n == 0 ? at : ALL;
}

static int64_t characters(const char *text, const char *end)
{
    int64_t n = 0;
    for (; text < end; text++) {
        n += ((unsigned char)*text & 0xC0u) != 0x80u;
    }
    return n;
}

static struct sl_cel_value substring(struct sl_cel_run *run, const struct sl_cel_value *args,
                                     size_t count)
{
    struct sl_buf out = {0};
    const char *text = args[0].text;
    size_t from = args[1].number < 0 ? ALL : bytes_of(text, args[1].number);
    size_t to = count < 3            ? strlen(text)
                : args[2].number < 0 ? ALL
                                     : bytes_of(text, args[2].number);
    if (from == ALL || to == ALL || from > to) {
        return sl_cel_error(run, "index out of range: %" PRId64,
                            from == ALL || count < 3 ? args[1].number : args[2].number);
    }
    sl_buf_add(&out, text + from, to - from);
    return keep(run, &out);
}

/* Calls `each` for what is between separators; an empty one separates characters. */
static struct sl_cel_value split(struct sl_cel_run *run, const char *text, const char *separator)
{
    struct sl_json *list = sl_json_new_list();
    struct sl_cel_value kept = sl_cel_keep_made(run, list);
    size_t len = strlen(separator);
    struct sl_buf part = {0};
    for (bool more = true; more;) {
        const char *next = len > 0 ? strstr(text, separator) : NULL;
        size_t own = len > 0 ? (next != NULL ? (size_t)(next - text) : strlen(text))
                             : (*text == '\0' ? 0 : bytes_of(text, 1));
        more = len > 0 ? next != NULL : text[own] != '\0';
        if (!sl_cel_spend(run, SL_CEL_KEEP_STEPS + own / 16)) {
            sl_buf_fini(&part);
            return sl_cel_spent();
        }
        sl_buf_reset(&part);
        sl_buf_add(&part, text, own);
        sl_json_append(list, sl_json_new_text(part.data == NULL ? "" : part.data));
        text += own + (next != NULL ? len : 0);
    }
    sl_buf_fini(&part);
    return kept;
}

static struct sl_cel_value join(struct sl_cel_run *run, const struct sl_cel_value *list,
                                const char *separator)
{
    struct sl_buf out = {0};
    for (size_t i = 0; i < sl_json_len(list->map); i++) {
        struct sl_cel_value item = sl_cel_item_at(list, i);
        bool wrong = item.type != SL_CEL_IS_TEXT;
        if (wrong || !sl_cel_spend(run, 1 + (strlen(item.text) + strlen(separator)) / 16)) {
            sl_buf_fini(&out);
            return wrong ? sl_cel_no_overload() : sl_cel_spent();
        }
        sl_buf_print(&out, "%s%s", i > 0 ? separator : "", item.text);
    }
    return keep(run, &out);
}

static struct sl_cel_value replace(struct sl_cel_run *run, const char *text, const char *from,
                                   const char *to)
{
    struct sl_buf out = {0};
    size_t len = strlen(from);
    sl_buf_text(&out, "");
    while (*text != '\0') {
        const char *next = strstr(text, from);
        size_t own = next != NULL ? (size_t)(next - text) : strlen(text);
        if (!sl_cel_spend(run, 1 + (own + strlen(to)) / 16)) {
            sl_buf_fini(&out);
            return sl_cel_spent();
        }
        sl_buf_add(&out, text, own);
        sl_buf_text(&out, next != NULL ? to : "");
        text += own + (next != NULL ? len : 0);
    }
    return keep(run, &out);
}

/* --- all -------------------------------------------------------------------------------------- */

static struct sl_cel_value convert(struct sl_cel_run *run, const char *name,
                                   const struct sl_cel_value *a)
{
    struct sl_quantity ignored;
    if (strcmp(name, "type") == 0) {
        return type_of(run, a);
    }
    if (strcmp(name, "isQuantity") == 0) {
        return a->type != SL_CEL_IS_TEXT
                   ? sl_cel_no_overload()
                   : sl_cel_truth(sl_quantity_parse(a->text, &ignored, NULL) == SL_CODE_OK);
    }
    return strcmp(name, "int") == 0      ? to_int(run, a)
           : strcmp(name, "double") == 0 ? to_real(run, a)
                                         : to_text(run, a);
}

static struct sl_cel_value call_on_text(struct sl_cel_run *run, const char *name,
                                        const struct sl_cel_value *args, size_t count)
{
    const char *text = args[0].text;
    if (strcmp(name, "substring") == 0) {
        return substring(run, args, count);
    }
    if (count == 1) {
        return strcmp(name, "trim") == 0 ? trim(run, text) : upper(run, text);
    }
    if (strcmp(name, "matches") == 0) {
        return matches(run, text, args[1].text);
    }
    if (strcmp(name, "indexOf") == 0) {
        const char *found = strstr(text, args[1].text);
        return sl_cel_whole(found == NULL ? -1 : characters(text, found));
    }
    if (strcmp(name, "split") == 0) {
        return split(run, text, args[1].text);
    }
    return args[1].text[0] == '\0'
               ? sl_cel_error(run, "replace() of an empty text is not supported")
               : replace(run, text, args[1].text, args[2].text);
}

struct sl_cel_value sl_cel_call_rule(struct sl_cel_run *run, const char *name,
                                     const struct sl_cel_value *args, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!sl_cel_spend_text(run, &args[i])) {
            return sl_cel_spent();
        }
    }
    if (strcmp(name, "join") == 0) {
        bool fits =
            args[0].type == SL_CEL_IS_ITEMS && (count == 1 || args[1].type == SL_CEL_IS_TEXT);
        return fits ? join(run, &args[0], count == 1 ? "" : args[1].text) : sl_cel_no_overload();
    }
    bool converts = strcmp(name, "int") == 0 || strcmp(name, "double") == 0 ||
                    strcmp(name, "string") == 0 || strcmp(name, "type") == 0 ||
                    strcmp(name, "isQuantity") == 0;
    if (converts) {
        return convert(run, name, &args[0]);
    }
    for (size_t i = 0; i < count; i++) {
        enum sl_cel_type needed =
            i > 0 && strcmp(name, "substring") == 0 ? SL_CEL_IS_INT : SL_CEL_IS_TEXT;
        if (args[i].type != needed) {
            return sl_cel_no_overload();
        }
    }
    return call_on_text(run, name, args, count);
}
