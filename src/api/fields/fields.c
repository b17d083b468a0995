/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The fields of one object, and how two of them differ. */
#include "api/fields/fields.h"

#include "api/fields/field_type.h"
#include "base/check.h"
#include "base/map.h"

/* --- what an object names -------------------------------------------------------------------- */

static struct sl_json *named(const struct sl_field_at *at, const struct sl_json *value);

/* Of a list that is empty Kubernetes says that it belongs to none, and removes what holds it with the next apply. */
static bool is_empty(const struct sl_json *value)
{
    enum sl_json_type type = sl_json_type(value);
    return value == NULL ||
           ((type == SL_JSON_MAP || type == SL_JSON_LIST) && sl_json_len(value) == 0);
}

/* A key that a user chose belongs itself; a field of a type does by what is in it. */
static struct sl_json *named_members(const struct sl_field_at *at, const struct sl_json *value)
{
    struct sl_json *set = NULL;
    struct sl_buf element = {0};
    for (struct sl_json_member m = {0}; sl_json_each(value, &m);) {
        struct sl_field_at member = sl_field_member(at, m.key);
        struct sl_json *below = named(&member, m.value);
        if (is_empty(m.value) || !sl_field_is_struct(at)) {
            below = sl_set_with_self_new(below);
        }
        sl_buf_reset(&element);
        sl_buf_print(&element, "f:%s", m.key);
        sl_set_attach(&set, element.data, below);
    }
    sl_buf_fini(&element);
    return set;
}

static struct sl_json *named_items(const struct sl_field_at *at, const struct sl_json *value,
                                   const struct sl_map *items)
{
    struct sl_json *set = NULL;
    struct sl_field_at item = sl_field_item(at);
    for (struct sl_map_item i = {0}; sl_map_each(items, &i);) {
        const struct sl_json *v = sl_json_at(value, (size_t)i.value.number);
        struct sl_json *below = sl_json_type(v) == SL_JSON_MAP ? named(&item, v) : NULL;
        sl_set_attach(&set, i.key, sl_set_with_self_new(below));
    }
    return set;
}

static struct sl_json *named(const struct sl_field_at *at, const struct sl_json *value)
{
    switch (sl_field_merges(at, value)) {
    case SL_MERGE_MAP:
        return named_members(at, value);
    case SL_MERGE_LIST_MAP:
    case SL_MERGE_LIST_SET: {
        struct sl_map *items = sl_field_items_new(at, value);
        struct sl_json *set = items == NULL ? sl_json_new_map() : named_items(at, value, items);
        sl_map_free(items);
        return set;
    }
    case SL_MERGE_ATOMIC:
        break;
    }
    return sl_json_new_map();
}

struct sl_json *sl_fields_of_new(enum sl_kind kind, const struct sl_json *object)
{
    SL_PRE(kind < SL_KIND_COUNT);
    struct sl_field_at root = sl_field_root(kind);
    struct sl_json *set = named(&root, object);
    struct sl_json *sorted = set != NULL && sl_json_len(set) > 0 ? sl_set_sorted_new(set) : NULL;
    sl_json_free(set);
    return sorted;
}

/* --- differences ----------------------------------------------------------------------------- */

static void compare(const struct sl_field_at *at, struct sl_json *before, struct sl_json *after,
                    struct sl_fields_change *out);

static void attach_change(struct sl_fields_change *to, const char *element,
                          const struct sl_fields_change *below)
{
    sl_set_attach(&to->modified, element, below->modified);
    sl_set_attach(&to->added, element, below->added);
    sl_set_attach(&to->removed, element, below->removed);
}

static void compare_member(const struct sl_field_at *at, const char *key, struct sl_json *before,
                           struct sl_json *after, struct sl_fields_change *out)
{
    struct sl_fields_change below = {NULL, NULL, NULL};
    struct sl_buf element = {0};
    struct sl_field_at member = sl_field_member(at, key);
    compare(&member, before, after, &below);
    sl_buf_print(&element, "f:%s", key);
    attach_change(out, element.data, &below);
    sl_buf_fini(&element);
}

static void compare_members(const struct sl_field_at *at, struct sl_json *before,
                            struct sl_json *after, struct sl_fields_change *out)
{
    for (struct sl_json_member m = {0}; sl_json_each(after, &m);) {
        struct sl_json *old = sl_json_get(before, m.key);
        if (old != m.value) {
            compare_member(at, m.key, old, m.value, out);
        }
    }
    for (struct sl_json_member m = {0}; sl_json_each(before, &m);) {
        if (m.value != NULL && sl_json_get(after, m.key) == NULL) {
            compare_member(at, m.key, m.value, NULL, out);
        }
    }
}

static struct sl_json *item_at(const struct sl_json *list, const struct sl_map *items,
                               const char *element)
{
    union sl_map_value place;
    bool there = sl_map_get(items, element, &place);
    return there ? sl_json_at(list, (size_t)place.number) : NULL;
}

/* False: one of the lists is none that merges. */
static bool compare_items(const struct sl_field_at *at, struct sl_json *before,
                          struct sl_json *after, struct sl_fields_change *out)
{
    struct sl_field_at item = sl_field_item(at);
    struct sl_map *was = sl_field_items_new(at, before), *is = sl_field_items_new(at, after);
    bool good = was != NULL && is != NULL;
    for (struct sl_map_item i = {0}; good && sl_map_each(is, &i);) {
        struct sl_fields_change below = {NULL, NULL, NULL};
        compare(&item, item_at(before, was, i.key), sl_json_at(after, (size_t)i.value.number),
                &below);
        attach_change(out, i.key, &below);
    }
    for (struct sl_map_item i = {0}; good && sl_map_each(was, &i);) {
        struct sl_fields_change below = {NULL, NULL, NULL};
        if (!sl_map_get(is, i.key, NULL)) {
            compare(&item, sl_json_at(before, (size_t)i.value.number), NULL, &below);
        }
        attach_change(out, i.key, &below);
    }
    sl_map_free(was);
    sl_map_free(is);
    return good;
}

/* True: it was, or is, more than one field. */
static bool compare_parts(const struct sl_field_at *at, struct sl_json *before,
                          struct sl_json *after, struct sl_fields_change *out)
{
    const struct sl_json *any = after != NULL ? after : before;
    bool alike = before == NULL || after == NULL || sl_json_type(before) == sl_json_type(after);
    if (!alike || sl_json_len(before) + sl_json_len(after) == 0) {
        return false;
    }
    switch (sl_field_merges(at, any)) {
    case SL_MERGE_MAP:
        compare_members(at, before, after, out);
        return true;
    case SL_MERGE_LIST_MAP:
    case SL_MERGE_LIST_SET:
        return compare_items(at, before, after, out);
    case SL_MERGE_ATOMIC:
        break;
    }
    return false;
}

static void compare(const struct sl_field_at *at, struct sl_json *before, struct sl_json *after,
                    struct sl_fields_change *out)
{
    if (before == after) {
        return;
    }
    bool parts = compare_parts(at, before, after, out);
    if (before == NULL) {
        out->added = sl_set_with_self_new(out->added);
    } else if (after == NULL) {
        out->removed = sl_set_with_self_new(out->removed);
    } else if (!parts && !sl_field_equal(at, before, after)) {
        out->modified = sl_json_new_map();
    }
}

static void sort(struct sl_json **set)
{
    struct sl_json *sorted = *set == NULL ? NULL : sl_set_sorted_new(*set);
    sl_json_free(*set);
    *set = sorted;
}

void sl_fields_compare(enum sl_kind kind, struct sl_json *before, struct sl_json *after,
                       struct sl_fields_change *out)
{
    SL_PRE(out != NULL);
    struct sl_field_at root = sl_field_root(kind);
    *out = (struct sl_fields_change){NULL, NULL, NULL};
    compare_members(&root, before, after, out);
    sort(&out->modified);
    sort(&out->added);
    sort(&out->removed);
}

void sl_fields_fini(struct sl_fields_change *change)
{
    SL_PRE(change != NULL);
    sl_json_free(change->modified);
    sl_json_free(change->added);
    sl_json_free(change->removed);
    *change = (struct sl_fields_change){NULL, NULL, NULL};
}
