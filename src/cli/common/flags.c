/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flag parsing. */
#include "cli/common/flags.h"
#include "base/check.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX (sizeof((struct sl_flag_list *)0)->items / sizeof(const char *))

static const struct sl_flag *find(const struct sl_flags *f, const char *text, size_t len)
{
    for (size_t i = 0; i < f->table_count; i++) {
        const struct sl_flag *flag = &f->table[i];
        bool is_long = strlen(flag->name) == len && memcmp(flag->name, text, len) == 0;
        bool is_short = flag->short_name != NULL && strlen(flag->short_name) == len &&
                        memcmp(flag->short_name, text, len) == 0;
        if (is_long || is_short) {
            return flag;
        }
    }
    return NULL;
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

static enum sl_code choose(enum sl_flag_choice *out, const char *text, const char *name,
                           struct sl_error *e)
{
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.64s\" is neither true nor false", name,
                            text);
    }
    *out = yes ? SL_FLAG_YES : SL_FLAG_NO;
    return SL_CODE_OK;
}

static enum sl_code store(const struct sl_flag *flag, const char *value, struct sl_error *e)
{
    switch (flag->type) {
    case SL_FLAG_TEXT:
        *(const char **)flag->value = value;
        return SL_CODE_OK;
    case SL_FLAG_NUMBER:
        return number(flag->value, value, flag->name, e);
    case SL_FLAG_CHOICE:
        return choose(flag->value, value, flag->name, e);
    case SL_FLAG_LIST:
        return list_add(flag->value, value, flag->name, e);
    case SL_FLAG_SWITCH:
        break;
    }
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s takes no value", flag->name);
}

/* One flag at argv[*at]; *at moves on to its last word. */
static enum sl_code parse_flag(struct sl_flags *f, int argc, char *const argv[], int *at,
                               struct sl_error *e)
{
    const char *word = argv[*at];
    size_t name_len = strcspn(word, "=");
    const struct sl_flag *flag = find(f, word, name_len);
    if (flag == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "unknown option %.*s", (int)name_len, word);
    }
    if (word[name_len] == '=') {
        return store(flag, word + name_len + 1, e);
    }
    if (flag->type == SL_FLAG_SWITCH) {
        *(bool *)flag->value = true;
        return SL_CODE_OK;
    }
    if (flag->type == SL_FLAG_CHOICE) {
        return store(flag, "true", e);
    }
    if (*at + 1 >= argc) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s needs a value", flag->name);
    }
    return store(flag, argv[++*at], e);
}

enum sl_code sl_flags_parse(struct sl_flags *f, int argc, char *const argv[], struct sl_error *e)
{
    SL_PRE(f->table != NULL);
    bool flags_ended = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        enum sl_code code = SL_CODE_OK;
        if (!flags_ended && strcmp(word, "--") == 0) {
            flags_ended = true;
        } else if (flags_ended || word[0] != '-' || word[1] == '\0') {
            code = list_add(&f->arguments, word, "arguments", e);
        } else {
            code = parse_flag(f, argc, argv, &i, e);
        }
        if (code != SL_CODE_OK) {
            return code;
        }
    }
    return SL_CODE_OK;
}
