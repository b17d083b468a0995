/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Patterns of adapter files, filled in with the values of one object. What has no value is left out. */
#include "base/check.h"
#include "controllers/adapters/adapter_doc.h"
#include <ctype.h>
#include <string.h>

#define DEPTH_MAX 64

static struct sl_json *expand(const struct sl_expansion *x, const struct sl_json *pattern,
                              unsigned depth);

/* --- values -------------------------------------------------------------------------------------------- */

static struct sl_json *copy_of(const struct sl_json *value)
{
    return sl_json_type(value) == SL_JSON_NULL ? NULL : sl_json_clone(value);
}

/* An amount of memory as the options of Java have it, in Kubernetes' units: 512m is 512Mi, and a number alone is MiB. What
 * is no such amount stays as it is. */
static struct sl_json *java_memory_new(const struct sl_json *value)
{
    static const char units[] = "kmgtp";
    struct sl_buf out = {0};
    const char *text = sl_json_text(value, "");
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits;
    const char *known = strchr(units, tolower((unsigned char)unit[0]));
    bool bytes = tolower((unsigned char)unit[0]) == 'b' && unit[1] == '\0';
    bool alone = unit[0] == '\0';
    bool whole = known != NULL && (unit[0] == '\0' || unit[1] == '\0' ||
                                   (tolower((unsigned char)unit[1]) == 'b' && unit[2] == '\0'));
    if (digits == 0 || (!whole && !bytes)) {
        return sl_json_clone(value);
    }
    sl_buf_add(&out, text, digits);
    if (!bytes) {
        sl_buf_print(&out, "%ci", alone || *known == 'm' ? 'M' : toupper((unsigned char)*known));
    }
    struct sl_json *amount = sl_json_new_text(out.data);
    sl_buf_fini(&out);
    return amount;
}

/* {$path, $as, $default} */
static struct sl_json *value_at(const struct sl_expansion *x, const struct sl_json *pattern,
                                unsigned depth)
{
    const struct sl_json *value = sl_json_path(x->object, sl_json_path_text(pattern, "$path", ""));
    const struct sl_json *absent = sl_json_get(pattern, "$default");
    if (sl_json_type(value) == SL_JSON_NULL) {
        return absent == NULL ? NULL : expand(x, absent, depth - 1);
    }
    return sl_json_has(pattern, "$as") ? java_memory_new(value) : sl_json_clone(value);
}

/* {$key, $value}: a map with one member, whose name the object says. */
static struct sl_json *pair_at(const struct sl_expansion *x, const struct sl_json *pattern)
{
    const char *name = sl_json_path_text(x->object, sl_json_path_text(pattern, "$key", ""), "");
    struct sl_json *value =
        copy_of(sl_json_path(x->object, sl_json_path_text(pattern, "$value", "")));
    if (name[0] == '\0' || value == NULL) {
        sl_json_free(value);
        return NULL;
    }
    struct sl_json *map = sl_json_new_map();
    sl_json_set(map, name, value);
    return map;
}

/* --- lists and maps ------------------------------------------------------------------------------------ */

static struct sl_json *list_new(const struct sl_expansion *x, const struct sl_json *pattern,
                                unsigned depth)
{
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(pattern); i++) {
        struct sl_json *copy = expand(x, sl_json_at(pattern, i), depth - 1);
        if (copy != NULL) {
            sl_json_append(list, copy);
        }
    }
    return list;
}

/* One of which nothing is left is left out itself, where that is wanted. */
static struct sl_json *map_new(const struct sl_expansion *x, const struct sl_json *pattern,
                               unsigned depth)
{
    struct sl_json *map = sl_json_new_map();
    for (struct sl_json_member m = {0}; sl_json_each(pattern, &m);) {
        struct sl_json *copy = expand(x, m.value, depth - 1);
        if (copy != NULL) {
            sl_json_set(map, m.key, copy);
        }
    }
    if (x->sparse && sl_json_len(map) == 0 && sl_json_len(pattern) > 0) {
        sl_json_free(map);
        return NULL;
    }
    return map;
}

static struct sl_json *expand(const struct sl_expansion *x, const struct sl_json *pattern,
                              unsigned depth)
{
    enum sl_json_type type = sl_json_type(pattern);
    if (depth == 0 || (type != SL_JSON_LIST && type != SL_JSON_MAP)) {
        return sl_json_clone(pattern);
    }
    if (type == SL_JSON_LIST) {
        return list_new(x, pattern, depth);
    }
    if (sl_json_has(pattern, "$path")) {
        return value_at(x, pattern, depth);
    }
    if (sl_json_has(pattern, "$key")) {
        return pair_at(x, pattern);
    }
    if (sl_json_has(pattern, "$item")) {
        const struct sl_json *value =
            sl_json_path(x->item, sl_json_path_text(pattern, "$item", ""));
        return value == NULL ? NULL : sl_json_clone(value);
    }
    if (sl_json_has(pattern, "$inject")) {
        const struct sl_json *value =
            sl_json_get(x->injection, sl_json_path_text(pattern, "$inject", ""));
        return value == NULL ? NULL : sl_json_clone(value);
    }
    return map_new(x, pattern, depth);
}

struct sl_json *sl_adapter_expand(const struct sl_json *pattern, const struct sl_expansion *x)
{
    SL_PRE(x != NULL);
    struct sl_json *out = expand(x, pattern, DEPTH_MAX);
    return out != NULL || sl_json_type(pattern) != SL_JSON_MAP ? out : sl_json_new_map();
}
