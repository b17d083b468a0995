/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Values: a thin layer over json-c. A JSON null is a NULL pointer there and here; only sl_json_has
 * distinguishes a null member from an absent one. Integers stay 64-bit, doubles keep the text they
 * were read from. */
#include "api/json/json.h"

#include <json-c/json.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/effort.h"

#define SEGMENT_MAX 256u
#define WALK_MAX 12

static struct json_object *raw(const struct sl_json *v)
{
    return (struct json_object *)(uintptr_t)v;
}

static struct sl_json *wrap(struct json_object *o)
{
    return (struct sl_json *)o;
}

static bool is_map(const struct sl_json *v)
{
    return json_object_is_type(raw(v), json_type_object);
}

static bool is_list(const struct sl_json *v)
{
    return json_object_is_type(raw(v), json_type_array);
}

struct sl_json *sl_json_new_map(void)
{
    return wrap(sl_mem_got(json_object_new_object()));
}

struct sl_json *sl_json_new_list(void)
{
    return wrap(sl_mem_got(json_object_new_array_ext(4)));
}

struct sl_json *sl_json_new_text(const char *text)
{
    SL_PRE(text != NULL);
    return wrap(sl_mem_got(json_object_new_string(text)));
}

struct sl_json *sl_json_new_int(int64_t n)
{
    return wrap(sl_mem_got(json_object_new_int64(n)));
}

struct sl_json *sl_json_new_bool(bool b)
{
    return wrap(sl_mem_got(json_object_new_boolean(b)));
}

struct sl_json *sl_json_new_null(void)
{
    return NULL;
}

static int copy_one(struct json_object *value, struct json_object *parent, const char *key,
                    size_t index, struct json_object **copy)
{
    sl_effort_add(1);
    if (json_object_is_type(value, json_type_string)) {
        sl_effort_text((size_t)json_object_get_string_len(value));
    }
    return json_c_shallow_copy_default(value, parent, key, index, copy);
}

struct sl_json *sl_json_clone(const struct sl_json *v)
{
    struct json_object *copy = NULL;
    if (v != NULL) {
        sl_mem_done(json_object_deep_copy(raw(v), &copy, copy_one) == 0);
    }
    return wrap(copy);
}

struct sl_json *sl_json_ref(struct sl_json *v)
{
    return wrap(json_object_get(raw(v)));
}

void sl_json_free(struct sl_json *v)
{
    json_object_put(raw(v));
}

void sl_json_free_value(void *v)
{
    sl_json_free(v);
}

enum sl_json_type sl_json_type(const struct sl_json *v)
{
    switch (json_object_get_type(raw(v))) {
    case json_type_boolean:
        return SL_JSON_BOOL;
    case json_type_int:
        return SL_JSON_INT;
    case json_type_double:
        return SL_JSON_DOUBLE;
    case json_type_string:
        return SL_JSON_TEXT;
    case json_type_array:
        return SL_JSON_LIST;
    case json_type_object:
        return SL_JSON_MAP;
    case json_type_null:
        break;
    }
    return SL_JSON_NULL;
}

/* Most maps are small: to walk over their members is cheaper than to hash the key. */
static const struct lh_entry *find(const struct sl_json *v, const char *key)
{
    struct lh_table *members = is_map(v) ? json_object_get_object(raw(v)) : NULL;
    sl_effort_add(1);
    if (members == NULL || members->count > WALK_MAX) {
        return members == NULL ? NULL : lh_table_lookup_entry(members, key);
    }
    const struct lh_entry *at = members->head;
    while (at != NULL && (*(const char *)at->k != *key || strcmp(at->k, key) != 0)) {
        at = at->next;
    }
    return at;
}

struct sl_json *sl_json_get(const struct sl_json *v, const char *key)
{
    const struct lh_entry *member = find(v, key);
    return member != NULL ? wrap(lh_entry_v(member)) : NULL;
}

bool sl_json_has(const struct sl_json *v, const char *key)
{
    return find(v, key) != NULL;
}

void sl_json_set(struct sl_json *v, const char *key, struct sl_json *value)
{
    SL_PRE(is_map(v));
    sl_mem_done(json_object_object_add(raw(v), key, raw(value)) == 0);
}

void sl_json_set_text(struct sl_json *v, const char *key, const char *text)
{
    sl_json_set(v, key, sl_json_new_text(text));
}

void sl_json_set_int(struct sl_json *v, const char *key, int64_t n)
{
    sl_json_set(v, key, sl_json_new_int(n));
}

void sl_json_set_bool(struct sl_json *v, const char *key, bool b)
{
    sl_json_set(v, key, sl_json_new_bool(b));
}

void sl_json_set_filled(struct sl_json *v, const char *key, struct sl_json *value)
{
    if (sl_json_len(value) > 0) {
        sl_json_set(v, key, value);
    } else {
        sl_json_remove(v, key);
        sl_json_free(value);
    }
}

void sl_json_set_all(struct sl_json *v, const struct sl_json *from)
{
    for (struct sl_json_member m = {0}; sl_json_each(from, &m);) {
        sl_json_set(v, m.key, sl_json_clone(m.value));
    }
}

void sl_json_remove(struct sl_json *v, const char *key)
{
    if (is_map(v)) {
        json_object_object_del(raw(v), key);
    }
}

bool sl_json_next(const struct sl_json *v, void **it, const char **key, struct sl_json **value)
{
    if (!is_map(v)) {
        return false;
    }
    struct lh_entry *last = *it;
    struct lh_entry *entry =
        last == NULL ? lh_table_head(json_object_get_object(raw(v))) : lh_entry_next(last);
    if (entry == NULL) {
        return false;
    }
    *it = entry;
    *key = lh_entry_k(entry);
    *value = wrap(lh_entry_v(entry));
    return true;
}

bool sl_json_each(const struct sl_json *v, struct sl_json_member *m)
{
    SL_PRE(m != NULL);
    return sl_json_next(v, &m->at, &m->key, &m->value);
}

size_t sl_json_len(const struct sl_json *v)
{
    if (is_list(v)) {
        return json_object_array_length(raw(v));
    }
    return is_map(v) ? (size_t)json_object_object_length(raw(v)) : 0;
}

size_t sl_json_find_text(const struct sl_json *list, const char *text)
{
    size_t count = sl_json_len(list), i = 0;
    while (i < count && strcmp(sl_json_text(sl_json_at(list, i), ""), text) != 0) {
        i++;
    }
    sl_effort_add(i);
    return i;
}

bool sl_json_has_text(const struct sl_json *list, const char *text)
{
    return sl_json_find_text(list, text) < sl_json_len(list);
}

struct sl_json *sl_json_find_by(const struct sl_json *list, const char *member, const char *text)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        struct sl_json *item = sl_json_at(list, i);
        if (strcmp(sl_json_text(sl_json_get(item, member), ""), text) == 0) {
            return item;
        }
    }
    return NULL;
}

struct sl_json *sl_json_at(const struct sl_json *v, size_t index)
{
    return index < sl_json_len(v) && is_list(v) ? wrap(json_object_array_get_idx(raw(v), index))
                                                : NULL;
}

static bool maps_equal(const struct sl_json *a, const struct sl_json *b)
{
    for (struct sl_json_member m = {0}; sl_json_each(a, &m);) {
        const struct lh_entry *other = find(b, m.key);
        if (other == NULL || !sl_json_equal(m.value, wrap(lh_entry_v(other)))) {
            return false;
        }
    }
    return true;
}

bool sl_json_equal(const struct sl_json *a, const struct sl_json *b)
{
    sl_effort_add(1);
    if (a == b || sl_json_type(a) != sl_json_type(b) || sl_json_len(a) != sl_json_len(b)) {
        return a == b;
    }
    if (is_map(a)) {
        return maps_equal(a, b);
    }
    if (!is_list(a)) {
        sl_effort_text(strlen(sl_json_text(a, "")));
        return json_object_equal(raw(a), raw(b)) != 0;
    }
    size_t i = 0, count = sl_json_len(a);
    while (i < count && sl_json_equal(sl_json_at(a, i), sl_json_at(b, i))) {
        i++;
    }
    return i == count;
}

void sl_json_append(struct sl_json *v, struct sl_json *value)
{
    SL_PRE(is_list(v));
    sl_mem_done(json_object_array_add(raw(v), raw(value)) == 0);
}

void sl_json_put_at(struct sl_json *v, size_t index, struct sl_json *value)
{
    SL_PRE(is_list(v) && index <= sl_json_len(v));
    sl_mem_done(json_object_array_put_idx(raw(v), index, raw(value)) == 0);
}

void sl_json_remove_at(struct sl_json *v, size_t index)
{
    SL_PRE(is_list(v) && index < sl_json_len(v));
    json_object_array_del_idx(raw(v), index, 1);
}

const char *sl_json_text(const struct sl_json *v, const char *fallback)
{
    return json_object_is_type(raw(v), json_type_string) ? json_object_get_string(raw(v))
                                                         : fallback;
}

int64_t sl_json_int(const struct sl_json *v, int64_t fallback)
{
    return json_object_is_type(raw(v), json_type_int) ? json_object_get_int64(raw(v)) : fallback;
}

bool sl_json_bool(const struct sl_json *v, bool fallback)
{
    return json_object_is_type(raw(v), json_type_boolean) ? json_object_get_boolean(raw(v)) != 0
                                                          : fallback;
}

/* The next segment of a path into `segment`; false when it is longer than any key we look for. A bracket that is not closed
 * is a letter like any other. */
static bool next_segment(const char **path, char segment[static SEGMENT_MAX])
{
    const char *begin = *path;
    const char *close = *begin == '[' ? strchr(begin, ']') : NULL;
    size_t len = close == NULL ? strcspn(begin, ".") : (size_t)(close - begin) - 1;
    const char *bracket = close == NULL ? memchr(begin, '[', len) : NULL;
    if (bracket != NULL && strchr(bracket, ']') != NULL) {
        len = (size_t)(bracket - begin);
    }
    if (len >= SEGMENT_MAX) {
        return false;
    }
    memcpy(segment, close == NULL ? begin : begin + 1, len);
    segment[len] = '\0';
    *path = close == NULL ? begin + len : close + 1;
    *path += **path == '.';
    return true;
}

/* A decimal list index; SIZE_MAX when the segment is none. */
static size_t segment_index(const char *segment)
{
    size_t n = 0;
    if (*segment == '\0' || strlen(segment) > 9) {
        return SIZE_MAX;
    }
    for (; *segment != '\0'; segment++) {
        if (*segment < '0' || *segment > '9') {
            return SIZE_MAX;
        }
        n = n * 10 + (size_t)(*segment - '0');
    }
    return n;
}

static struct sl_json *step(const struct sl_json *v, const char *segment)
{
    return is_list(v) ? sl_json_at(v, segment_index(segment)) : sl_json_get(v, segment);
}

struct sl_json *sl_json_path(const struct sl_json *v, const char *path)
{
    char segment[SEGMENT_MAX];
    const struct sl_json *at = v;
    while (*path != '\0' && at != NULL) {
        if (!next_segment(&path, segment)) {
            return NULL;
        }
        at = step(at, segment);
    }
    return wrap(raw(at));
}

const char *sl_json_path_text(const struct sl_json *v, const char *path, const char *fallback)
{
    return sl_json_text(sl_json_path(v, path), fallback);
}

int64_t sl_json_path_int(const struct sl_json *v, const char *path, int64_t fallback)
{
    return sl_json_int(sl_json_path(v, path), fallback);
}

bool sl_json_path_bool(const struct sl_json *v, const char *path, bool fallback)
{
    return sl_json_bool(sl_json_path(v, path), fallback);
}

/* Whether a path that has come to `v` can go on as `rest` and end at a map: a list is only kept where it has the element
 * that is named next. */
static bool leads_on(const struct sl_json *v, const char *rest)
{
    char segment[SEGMENT_MAX];
    return is_map(v) ||
           (is_list(v) && next_segment(&rest, segment) && segment_index(segment) < sl_json_len(v));
}

struct sl_json *sl_json_path_make(struct sl_json *v, const char *path)
{
    char segment[SEGMENT_MAX];
    struct sl_json *at = v;
    while (*path != '\0') {
        bool fits = next_segment(&path, segment);
        SL_PRE(fits);
        struct sl_json *next = step(at, segment);
        if (!leads_on(next, path)) {
            next = sl_json_new_map();
            if (is_list(at)) {
                sl_json_put_at(at, segment_index(segment), next);
            } else {
                sl_json_set(at, segment, next);
            }
        }
        at = next;
    }
    return at;
}

bool sl_json_deeper_than(const struct sl_json *v, unsigned levels)
{
    enum sl_json_type type = sl_json_type(v);
    sl_effort_add(1);
    if (type != SL_JSON_MAP && type != SL_JSON_LIST) {
        return false;
    }
    if (levels == 0) {
        return true;
    }
    for (size_t i = 0; type == SL_JSON_LIST && i < sl_json_len(v); i++) {
        if (sl_json_deeper_than(sl_json_at(v, i), levels - 1)) {
            return true;
        }
    }
    for (struct sl_json_member m = {0}; sl_json_each(v, &m);) {
        if (sl_json_deeper_than(m.value, levels - 1)) {
            return true;
        }
    }
    return false;
}

size_t sl_json_values(const struct sl_json *v, size_t max)
{
    size_t count = 1;
    sl_effort_add(1);
    for (size_t i = 0; count < max && is_list(v) && i < sl_json_len(v); i++) {
        count += sl_json_values(sl_json_at(v, i), max - count);
    }
    for (struct sl_json_member m = {0}; count < max && sl_json_each(v, &m);) {
        count += sl_json_values(m.value, max - count);
    }
    return count;
}

size_t sl_json_weight(const struct sl_json *v, size_t max)
{
    size_t weight = is_map(v) ? SL_JSON_WEIGHT_MAP : 1;
    sl_effort_add(1);
    for (size_t i = 0; weight <= max && is_list(v) && i < sl_json_len(v); i++) {
        weight += sl_json_weight(sl_json_at(v, i), max - weight);
    }
    for (struct sl_json_member m = {0}; weight <= max && sl_json_each(v, &m);) {
        weight++;
        weight += weight <= max ? sl_json_weight(m.value, max - weight) : 0;
    }
    return weight;
}
