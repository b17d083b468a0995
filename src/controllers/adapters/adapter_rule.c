/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Numbers and rules of adapter files, answered about one object. What a file may say has been checked when
 * it was loaded; what an object says has not, so that everything that is absent or of another type has a meaning. */
#include "controllers/adapters/adapter_doc.h"
#include <string.h>

/* --- numbers ------------------------------------------------------------------------------------------- */

static int64_t product(const struct sl_json *list, const struct sl_json *object)
{
    int64_t out = 1;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        int64_t factor = sl_adapter_number(sl_json_at(list, i), object);
        if (__builtin_mul_overflow(out, factor, &out)) {
            return INT32_MAX; /* no job has so many pods: it will not fit */
        }
    }
    return out;
}

static int64_t sum_of(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : a > 0 ? INT64_MAX : INT64_MIN;
}

static int64_t shifted(const struct sl_json *number, const struct sl_json *object)
{
    int64_t value = sl_json_path_int(object, sl_json_path_text(number, "path", ""),
                                     sl_json_path_int(number, "default", 1));
    int64_t difference;
    bool over = __builtin_sub_overflow(value, sl_json_path_int(number, "minus", 0), &difference);
    return !over ? difference : value > 0 ? INT64_MAX : INT64_MIN;
}

/* The least of those that the object has; 1 when it has none. */
static int64_t least(const struct sl_json *list, const struct sl_json *object)
{
    int64_t out = INT64_MAX;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *one = sl_json_at(list, i);
        const char *path = sl_json_text(one, sl_json_path_text(one, "path", ""));
        bool known = sl_json_has(one, "default") || path[0] == '\0' ||
                     sl_json_type(sl_json_path(object, path)) == SL_JSON_INT;
        int64_t value = known ? sl_adapter_number(one, object) : INT64_MAX;
        out = value < out ? value : out;
    }
    return out == INT64_MAX ? 1 : out;
}

static int64_t most(const struct sl_json *list, const struct sl_json *object)
{
    int64_t out = INT64_MIN;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        int64_t value = sl_adapter_number(sl_json_at(list, i), object);
        out = value > out ? value : out;
    }
    return out;
}

/* The first of them whose rules hold; 1 when none does. */
static int64_t chosen(const struct sl_json *list, const struct sl_json *object)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *choice = sl_json_at(list, i);
        if (sl_adapter_all_hold(sl_json_get(choice, "when"), object)) {
            return sl_adapter_number(sl_json_get(choice, "use"), object);
        }
    }
    return 1;
}

static int64_t of_map(const struct sl_json *number, const struct sl_json *object)
{
    if (sl_json_has(number, "min")) {
        return least(sl_json_get(number, "min"), object);
    }
    if (sl_json_has(number, "max")) {
        return most(sl_json_get(number, "max"), object);
    }
    return sl_json_has(number, "choose") ? chosen(sl_json_get(number, "choose"), object)
                                         : shifted(number, object);
}

int64_t sl_adapter_number(const struct sl_json *number, const struct sl_json *object)
{
    switch (sl_json_type(number)) {
    case SL_JSON_INT:
        return sl_json_int(number, 1);
    case SL_JSON_TEXT:
        return sl_json_path_int(object, sl_json_text(number, ""), 1);
    case SL_JSON_LIST:
        return product(number, object);
    case SL_JSON_MAP:
        return of_map(number, object);
    default:
        return 1;
    }
}

/* --- rules --------------------------------------------------------------------------------------------- */

static bool is_in(const struct sl_json *list, const struct sl_json *value)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (sl_json_equal(sl_json_at(list, i), value)) {
            return true;
        }
    }
    return false;
}

static bool is_filled(const struct sl_json *value)
{
    enum sl_json_type type = sl_json_type(value);
    return (type == SL_JSON_MAP || type == SL_JSON_LIST) && sl_json_len(value) > 0;
}

static bool path_holds(const struct sl_json *rule, const struct sl_json *object)
{
    const struct sl_json *value = sl_json_path(object, sl_json_path_text(rule, "path", ""));
    if (sl_json_has(rule, "present")) {
        return (sl_json_type(value) != SL_JSON_NULL) == sl_json_path_bool(rule, "present", true);
    }
    if (sl_json_has(rule, "filled")) {
        return is_filled(value) == sl_json_path_bool(rule, "filled", true);
    }
    value = sl_json_type(value) == SL_JSON_NULL ? sl_json_get(rule, "default") : value;
    return is_in(sl_json_get(rule, "in"), value);
}

static int64_t members_of(const struct sl_json *item, const struct sl_json *spec)
{
    int64_t out = 0;
    const struct sl_json *names = sl_json_get(spec, "of");
    int64_t absent = sl_json_path_int(spec, "default", 0);
    for (size_t i = 0; i < sl_json_len(names); i++) {
        out = sum_of(out, sl_json_path_int(item, sl_json_text(sl_json_at(names, i), ""), absent));
    }
    return out;
}

/* Of all items of a list, or of all values of a map. */
static int64_t sum(const struct sl_json *spec, const struct sl_json *object)
{
    const struct sl_json *all = sl_json_path(object, sl_json_path_text(spec, "sum", ""));
    int64_t out = 0;
    for (size_t i = 0; sl_json_type(all) == SL_JSON_LIST && i < sl_json_len(all); i++) {
        out = sum_of(out, members_of(sl_json_at(all, i), spec));
    }
    for (struct sl_json_member m = {0};
         sl_json_type(all) == SL_JSON_MAP && sl_json_each(all, &m);) {
        out = sum_of(out, members_of(m.value, spec));
    }
    return out;
}

static bool sum_holds(const struct sl_json *rule, const struct sl_json *object)
{
    const struct sl_json *least_wanted = sl_json_get(rule, "atLeast");
    if (sl_json_has(least_wanted, "sum")) {
        return sum(rule, object) >= sum(least_wanted, object);
    }
    return least_wanted != NULL ? sum(rule, object) >= sl_adapter_number(least_wanted, object)
                                : sum(rule, object) > sl_json_path_int(rule, "above", 0);
}

/* How many items of a list, or values of a map, are one of these? */
static bool count_holds(const struct sl_json *rule, const struct sl_json *object)
{
    const struct sl_json *all = sl_json_path(object, sl_json_path_text(rule, "count", ""));
    const struct sl_json *values = sl_json_get(rule, "in");
    int64_t found = 0;
    for (size_t i = 0; sl_json_type(all) == SL_JSON_LIST && i < sl_json_len(all); i++) {
        found += is_in(values, sl_json_at(all, i));
    }
    for (struct sl_json_member m = {0};
         sl_json_type(all) == SL_JSON_MAP && sl_json_each(all, &m);) {
        found += is_in(values, m.value);
    }
    return found >= sl_adapter_number(sl_json_get(rule, "atLeast"), object);
}

/* Do the rules hold for one of the items of a list? */
static bool some_hold(const struct sl_json *rule, const struct sl_json *object)
{
    const struct sl_json *list = sl_json_path(object, sl_json_path_text(rule, "some", ""));
    bool any = false;
    for (size_t i = 0; sl_json_type(list) == SL_JSON_LIST && i < sl_json_len(list) && !any; i++) {
        any = sl_adapter_all_hold(sl_json_get(rule, "where"), sl_json_at(list, i));
    }
    return any;
}

bool sl_adapter_holds(const struct sl_json *rule, const struct sl_json *object)
{
    bool holds;
    if (sl_json_has(rule, "condition")) {
        holds = sl_condition_true(object, sl_json_path_text(rule, "condition", ""));
    } else if (sl_json_has(rule, "sum")) {
        holds = sum_holds(rule, object);
    } else if (sl_json_has(rule, "some")) {
        holds = some_hold(rule, object);
    } else if (sl_json_has(rule, "count")) {
        holds = count_holds(rule, object);
    } else {
        holds = path_holds(rule, object);
    }
    return holds != sl_json_path_bool(rule, "not", false);
}

bool sl_adapter_all_hold(const struct sl_json *rules, const struct sl_json *object)
{
    for (size_t i = 0; i < sl_json_len(rules); i++) {
        if (!sl_adapter_holds(sl_json_at(rules, i), object)) {
            return false;
        }
    }
    return true;
}

bool sl_adapter_any_holds(const struct sl_json *rules, const struct sl_json *object)
{
    for (size_t i = 0; i < sl_json_len(rules); i++) {
        if (sl_adapter_holds(sl_json_at(rules, i), object)) {
            return true;
        }
    }
    return false;
}
