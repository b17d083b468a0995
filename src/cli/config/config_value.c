/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One value of the configuration against its row: type, range, syntax; and what is said against it. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/buf.h"
#include "cli/config/config_table.h"
#include "controllers/work/duration.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NANO 1000000000
#define WHY_MAX 1024
#define SHOWN_MAX 64 /* bytes of a refused value */

void sl_config_complain(struct sl_json *list, const char *field, const char *format, ...)
{
    SL_PRE(list != NULL);
    char why[WHY_MAX];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(why, sizeof why, format, values);
    va_end(values);
    struct sl_json *item = sl_json_new_map();
    sl_json_set_text(item, "field", field);
    sl_json_set_text(item, "why", why);
    sl_json_append(list, item);
}

bool sl_config_listed(const char *values, const char *text)
{
    size_t len = strlen(text);
    for (const char *at = values; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strcspn(at, "|") == len && strncmp(at, text, len) == 0) {
            return true;
        }
    }
    return false;
}

#define IS(type) (1u << SL_JSON_##type)
static const struct {
    const char *text;
    unsigned is; /* a set of JSON's types */
} types[] = {[SL_CONFIG_LIST] = {"a list", IS(LIST)},
             [SL_CONFIG_MAP] = {"a map", IS(MAP)},
             [SL_CONFIG_OBJECT] = {"a map", IS(MAP)},
             [SL_CONFIG_TEXT] = {"a text", IS(TEXT)},
             [SL_CONFIG_BOOL] = {"true or false", IS(BOOL)},
             [SL_CONFIG_INT32] = {"a whole number", IS(INT)},
             [SL_CONFIG_INT64] = {"a whole number", IS(INT)},
             [SL_CONFIG_NUMBER] = {"a number", IS(INT) | IS(DOUBLE)},
             [SL_CONFIG_QUANTITY] = {"a quantity", IS(INT) | IS(DOUBLE) | IS(TEXT)},
             [SL_CONFIG_DURATION] = {"a duration such as \"1m30s\"", IS(TEXT)}};

static void refuse_type(struct sl_config *c, const char *field, enum sl_config_type type,
                        const struct sl_json *v)
{
    struct sl_buf shown = {0};
    enum sl_json_type is = sl_json_type(v);
    if (is == SL_JSON_LIST || is == SL_JSON_MAP) {
        sl_buf_text(&shown, is == SL_JSON_LIST ? "a list" : "a map");
    } else {
        sl_json_print(v, &shown);
    }
    sl_config_refuse(c, field, "must be %s, not %.*s", types[type].text, SHOWN_MAX, shown.data);
    sl_buf_fini(&shown);
}

/* `n` counts what `unit` names: "" for a number itself. */
static void check_range(struct sl_config *c, const char *field, const struct sl_config_field *row,
                        __int128 n, const char *unit)
{
    if (row->has_min && n < row->min) {
        if (row->min == 0) {
            sl_config_refuse(c, field, "must not be negative");
        } else if (*unit != '\0' && row->min == 1) {
            sl_config_refuse(c, field, "must not be empty");
        } else {
            sl_config_refuse(c, field, "must be at least %lld%s", (long long)row->min, unit);
        }
    } else if (row->has_max && n > row->max) {
        sl_config_refuse(c, field, "must be at most %lld%s", (long long)row->max, unit);
    }
}

static void refuse_unlisted(struct sl_config *c, const char *field, const char *values,
                            const char *text)
{
    struct sl_buf list = {0};
    for (const char *at = values; *at != '\0'; at += at[0] == '|') {
        size_t len = strcspn(at, "|");
        sl_buf_print(&list, "%s%.*s", list.len > 0 ? ", " : "", (int)len, at);
        at += len;
    }
    bool many = strchr(values, '|') != NULL;
    sl_config_refuse(c, field, "\"%.*s\" is not %s%s", SHOWN_MAX, text, many ? "one of " : "",
                     list.data);
    sl_buf_fini(&list);
}

static void check_text(struct sl_config *c, const char *field, const struct sl_config_field *row,
                       const char *text)
{
    if (*text == '\0' && row->required) {
        sl_config_refuse(c, field, "required");
        return;
    }
    const char *why = row->fits == NULL ? NULL : row->fits(text);
    if (why != NULL) {
        sl_config_refuse(c, field, "\"%.*s\" %s", SHOWN_MAX, text, why);
    }
    check_range(c, field, row, (__int128)strlen(text), " bytes");
    if (*text == '\0') {
        return;
    }
    if (row->values != NULL && !sl_config_listed(row->values, text) &&
        (row->also == NULL || !row->also(text))) {
        refuse_unlisted(c, field, row->values, text);
    }
    why = row->pattern == SL_PATTERN_NONE ? NULL : sl_format_check(row->pattern, text);
    if (why != NULL) {
        sl_config_refuse(c, field, "\"%.*s\": %s", SHOWN_MAX, text, why);
    }
}

/* Numbers that may have a fraction are compared in whole units, rounded away from zero. */
static void check_quantity(struct sl_config *c, const char *field,
                           const struct sl_config_field *row, const struct sl_json *v)
{
    struct sl_quantity q;
    struct sl_error e = {0};
    if (sl_quantity_read(v, &q, &e) != SL_CODE_OK) {
        sl_config_refuse(c, field, "%s", e.text);
        return;
    }
    __int128 away = q.nano < 0 ? 1 - NANO : NANO - 1;
    check_range(c, field, row, (q.nano + away) / NANO, "");
}

static void check_duration(struct sl_config *c, const char *field, const char *text)
{
    struct sl_error e = {0};
    int64_t ms;
    if (sl_duration_parse(text, &ms, &e) != SL_CODE_OK) {
        sl_config_refuse(c, field, "%s", e.text);
    }
}

static void check_int(struct sl_config *c, const char *field, const struct sl_config_field *row,
                      int64_t n)
{
    if (row->type == SL_CONFIG_INT32 && (n < INT32_MIN || n > INT32_MAX)) {
        sl_config_refuse(c, field, "%lld does not fit into 32 bits", (long long)n);
    } else {
        check_range(c, field, row, n, "");
    }
}

bool sl_config_check_value(struct sl_config *c, const char *field,
                           const struct sl_config_field *row, const struct sl_json *v)
{
    SL_PRE(row != NULL);
    if ((types[row->type].is & 1u << sl_json_type(v)) == 0) {
        refuse_type(c, field, row->type, v);
        return false;
    }
    switch (row->type) {
    case SL_CONFIG_TEXT:
        check_text(c, field, row, sl_json_text(v, ""));
        break;
    case SL_CONFIG_DURATION:
        check_duration(c, field, sl_json_text(v, ""));
        break;
    case SL_CONFIG_INT32:
    case SL_CONFIG_INT64:
        check_int(c, field, row, sl_json_int(v, 0));
        break;
    case SL_CONFIG_NUMBER:
    case SL_CONFIG_QUANTITY:
        check_quantity(c, field, row, v);
        break;
    case SL_CONFIG_LIST:
    case SL_CONFIG_MAP:
        check_range(c, field, row, (__int128)sl_json_len(v), " items");
        break;
    case SL_CONFIG_OBJECT:
    case SL_CONFIG_BOOL:
        break;
    }
    return true;
}
