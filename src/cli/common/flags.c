/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Options of the command line: parsing. */
#include "cli/common/flags.h"
#include "base/check.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX (sizeof((struct sl_flag_list *)0)->items / sizeof(const char *))

static bool is_called(const struct sl_flag *flag, const char *text, size_t len)
{
    bool is_long = strlen(flag->name) == len && memcmp(flag->name, text, len) == 0;
    bool is_short = flag->short_name != NULL && strlen(flag->short_name) == len &&
                    memcmp(flag->short_name, text, len) == 0;
    return is_long || is_short;
}

static bool in_scope(const struct sl_flag *flag, const char *scope)
{
    return flag->scope == NULL || sl_flag_concerns(flag, scope);
}

static const struct sl_flag *find(const struct sl_flags *f, const char *text, size_t len)
{
    const struct sl_flag *first = NULL;
    for (size_t i = 0; i < f->table_count; i++) {
        const struct sl_flag *flag = &f->table[i];
        if (!is_called(flag, text, len)) {
            continue;
        }
        if (f->scope == NULL || in_scope(flag, f->scope)) {
            return flag;
        }
        first = first == NULL ? flag : first;
    }
    return first;
}

static enum sl_code list_add(struct sl_flag_list *list, const char *item, const char *what,
                             struct sl_error *e)
{
    if (list->count == LIST_MAX) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: at most %zu are allowed", what, LIST_MAX);
    }
    list->items[list->count++] = item;
    return SL_CODE_OK;
}

static enum sl_code number(int64_t *out, const char *text, const char *name, struct sl_error *e)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.64s\" is not a whole number", name,
                            text);
    }
    *out = n;
    return SL_CODE_OK;
}

/* As Go reads them: Kueue's programs, and kubectl. */
static bool is_among(const char *const words[6], const char *text)
{
    bool found = false;
    for (size_t i = 0; i < 6; i++) {
        found = found || strcmp(words[i], text) == 0;
    }
    return found;
}

static enum sl_code choose(enum sl_flag_choice *out, const char *text, const char *name,
                           struct sl_error *e)
{
    static const char *const yeses[6] = {"true", "1", "t", "T", "TRUE", "True"};
    static const char *const noes[6] = {"false", "0", "f", "F", "FALSE", "False"};
    bool yes = is_among(yeses, text);
    if (!yes && !is_among(noes, text)) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.64s\" is neither true nor false", name,
                            text);
    }
    *out = yes ? SL_FLAG_YES : SL_FLAG_NO;
    return SL_CODE_OK;
}

/* One of those that the flag's value lists? */
static bool is_word(const struct sl_flag *flag, const char *text)
{
    size_t len = strlen(text);
    for (const char *at = flag->value; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strcspn(at, "|") == len && memcmp(at, text, len) == 0) {
            return true;
        }
    }
    return false;
}

static enum sl_code store(struct sl_flags *f, const struct sl_flag *flag, const char *value,
                          struct sl_error *e)
{
    void *place = (char *)f->options + flag->at;
    switch (flag->type) {
    case SL_FLAG_TEXT:
        *(const char **)place = value;
        return SL_CODE_OK;
    case SL_FLAG_NUMBER:
        return number(place, value, flag->name, e);
    case SL_FLAG_CHOICE:
        return choose(place, value, flag->name, e);
    case SL_FLAG_LIST:
        return list_add(place, value, flag->name, e);
    case SL_FLAG_WORD:
        *(const char **)place = value;
        return is_word(flag, value)
                   ? SL_CODE_OK
                   : sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.64s\" is not one of %s",
                                  flag->name, value, flag->value);
    case SL_FLAG_SWITCH:
        break;
    }
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s takes no value", flag->name);
}

static void note(struct sl_flags *f, const struct sl_flag *flag)
{
    f->given[flag - f->table] = true;
}

static void turn_on(struct sl_flags *f, const struct sl_flag *flag)
{
    *(bool *)((char *)f->options + flag->at) = true;
}

static enum sl_code unknown(const char *name, size_t len, struct sl_error *e)
{
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "unknown option %.*s", (int)len, name);
}

struct words {
    char *const *items;
    int count, at; /* at: the one that is looked at */
};

/* With `value`, or with the next word where that is NULL. */
static enum sl_code take(struct sl_flags *f, const struct sl_flag *flag, const char *value,
                         struct words *w, struct sl_error *e)
{
    note(f, flag);
    if (value != NULL) {
        return store(f, flag, value, e);
    }
    if (flag->type == SL_FLAG_SWITCH) {
        turn_on(f, flag);
        return SL_CODE_OK;
    }
    if (flag->type == SL_FLAG_CHOICE) {
        return store(f, flag, "true", e);
    }
    bool is_last = w->at + 1 >= w->count;
    if (flag->type == SL_FLAG_WORD && (is_last || !is_word(flag, w->items[w->at + 1]))) {
        const char *bar = strrchr(flag->value, '|');
        return store(f, flag, bar == NULL ? flag->value : bar + 1, e);
    }
    if (is_last) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s needs a value", flag->name);
    }
    return store(f, flag, w->items[++w->at], e);
}

/* An option with two dashes, of which the text has but one. */
static const struct sl_flag *find_by_one_dash(const struct sl_flags *f, const char *text,
                                              size_t len)
{
    char name[64] = "-";
    if (len + 2 > sizeof name) {
        return NULL;
    }
    memcpy(name + 1, text, len);
    return find(f, name, len + 1);
}

static enum sl_code parse_long(struct sl_flags *f, struct words *w, struct sl_error *e)
{
    const char *word = w->items[w->at];
    size_t name_len = strcspn(word, "=");
    const struct sl_flag *flag =
        word[1] == '-' ? find(f, word, name_len) : find_by_one_dash(f, word, name_len);
    if (flag == NULL) {
        return unknown(word, name_len, e);
    }
    return take(f, flag, word[name_len] == '=' ? word + name_len + 1 : NULL, w, e);
}

/* Switches, and last one that may have a value: -A, -Aw, -ojson, -o=json, -o json. */
static enum sl_code parse_short(struct sl_flags *f, struct words *w, struct sl_error *e)
{
    const char *word = w->items[w->at];
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const char name[3] = {'-', *letter, '\0'};
        const struct sl_flag *flag = find(f, name, 2);
        if (flag == NULL) {
            bool alone = letter == word + 1;
            return unknown(alone ? word : name, alone ? strcspn(word, "=") : 2, e);
        }
        if (flag->type != SL_FLAG_SWITCH || letter[1] == '=' || letter[1] == '\0') {
            const char *value = letter[1] == '='    ? letter + 2
                                : letter[1] != '\0' ? letter + 1
                                                    : NULL;
            return take(f, flag, value, w, e);
        }
        note(f, flag);
        turn_on(f, flag);
    }
    return SL_CODE_OK;
}

enum sl_code sl_flags_parse(struct sl_flags *f, int argc, char *const argv[], struct sl_error *e)
{
    SL_PRE(f->table != NULL && f->table_count <= SL_FLAGS_MAX);
    struct words w = {.items = argv, .count = argc, .at = 1};
    bool flags_ended = false;
    for (; w.at < argc; w.at++) {
        const char *word = argv[w.at];
        enum sl_code code = SL_CODE_OK;
        if (!flags_ended && strcmp(word, "--") == 0) {
            flags_ended = true;
            f->rest_at = w.at + 1;
            if (f->keeps_rest) {
                return SL_CODE_OK;
            }
        } else if (flags_ended || word[0] != '-' || word[1] == '\0') {
            code = list_add(&f->arguments, word, "arguments", e);
        } else {
            bool is_long = word[1] == '-' || (f->one_dash && strcspn(word, "=") > 2);
            code = (is_long ? parse_long : parse_short)(f, &w, e);
        }
        if (code != SL_CODE_OK) {
            return code;
        }
    }
    return SL_CODE_OK;
}

static bool has_row(const struct sl_flags *f, const char *name, const char *scope)
{
    for (size_t i = 0; i < f->table_count; i++) {
        const struct sl_flag *flag = &f->table[i];
        if (strcmp(flag->name, name) == 0 && in_scope(flag, scope)) {
            return true;
        }
    }
    return false;
}

const char *sl_flags_misplaced(const struct sl_flags *f, const char *scope)
{
    SL_PRE(f != NULL);
    for (size_t i = 0; i < f->table_count; i++) {
        if (f->given[i] && !has_row(f, f->table[i].name, scope)) {
            return f->table[i].name;
        }
    }
    return NULL;
}
