/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is applied comes in, and what is no longer applied goes. */
#include "api/fields/fields.h"

#include <string.h>

#include "api/fields/field_type.h"
#include "base/check.h"
#include "base/map.h"

/* --- merge ----------------------------------------------------------------------------------- */

static struct sl_json *merged_new(const struct sl_field_at *at, struct sl_json *old,
                                  const struct sl_json *applied);

static void merge_members(const struct sl_field_at *at, struct sl_json *object,
                          const struct sl_json *applied)
{
    for (struct sl_json_member m = {0}; sl_json_each(applied, &m);) {
        struct sl_field_at member = sl_field_member(at, m.key);
        if (m.value == NULL) {
            sl_json_remove(object, m.key);
        } else {
            sl_json_set(object, m.key, merged_new(&member, sl_json_get(object, m.key), m.value));
        }
    }
}

struct lists {
    const struct sl_field_at *at;
    struct sl_json *old;
    const struct sl_json *applied;
    struct sl_map *in_old, *in_applied; /* by path element */
    struct sl_json *out;
};

static void put_item(struct lists *l, const char *element, size_t applied)
{
    union sl_map_value place;
    struct sl_field_at item = sl_field_item(l->at);
    bool there = sl_map_get(l->in_old, element, &place);
    struct sl_json *old = there ? sl_json_at(l->old, (size_t)place.number) : NULL;
    sl_json_append(l->out, merged_new(&item, old, sl_json_at(l->applied, applied)));
}

/* The next of the applied items that was there before; NULL: there is none. */
static const char *next_shared(const struct lists *l, struct sl_map_item *ahead)
{
    while (sl_map_each(l->in_applied, ahead)) {
        if (sl_map_get(l->in_old, ahead->key, NULL)) {
            return ahead->key;
        }
    }
    return NULL;
}

/* Items that are not applied stay; those that are, but later, come then: up to `shared`. */
static bool put_others(struct lists *l, struct sl_map_item *cursor, bool more, const char *shared)
{
    while (more && (shared == NULL || strcmp(cursor->key, shared) != 0)) {
        if (!sl_map_get(l->in_applied, cursor->key, NULL)) {
            sl_json_append(l->out, sl_json_ref(sl_json_at(l->old, (size_t)cursor->value.number)));
        }
        more = sl_map_each(l->in_old, cursor);
    }
    return more;
}

/* Applied items are in the order in which they are applied; others stay before the one that they stood before. */
static void put_items(struct lists *l)
{
    struct sl_map_item cursor = {0}, ahead = {0};
    bool more = sl_map_each(l->in_old, &cursor);
    const char *shared = next_shared(l, &ahead);
    for (struct sl_map_item i = {0}; sl_map_each(l->in_applied, &i);) {
        more = put_others(l, &cursor, more, shared);
        put_item(l, i.key, (size_t)i.value.number);
        if (shared != NULL && strcmp(i.key, shared) == 0) {
            shared = next_shared(l, &ahead);
            more = more && sl_map_each(l->in_old, &cursor);
        }
    }
    (void)put_others(l, &cursor, more, NULL);
}

/* NULL: they do not merge. */
static struct sl_json *merged_list_new(const struct sl_field_at *at, struct sl_json *old,
                                       const struct sl_json *applied)
{
    struct lists l = {.at = at,
                      .old = old,
                      .applied = applied,
                      .in_old = sl_field_items_new(at, old),
                      .in_applied = sl_field_items_new(at, applied)};
    if (l.in_old != NULL && l.in_applied != NULL) {
        l.out = sl_json_new_list();
        put_items(&l);
    }
    sl_map_free(l.in_old);
    sl_map_free(l.in_applied);
    return l.out;
}

static struct sl_json *merged_new(const struct sl_field_at *at, struct sl_json *old,
                                  const struct sl_json *applied)
{
    enum sl_merge_type how = sl_field_merges(at, applied);
    struct sl_json *merged = NULL;
    if (how == SL_MERGE_ATOMIC) {
        return sl_json_clone(applied);
    }
    if (how != SL_MERGE_MAP) {
        merged = old == NULL || sl_json_type(old) == SL_JSON_LIST
                     ? merged_list_new(at, old, applied)
                     : NULL;
        return merged != NULL ? merged : sl_json_clone(applied);
    }
    merged = sl_json_new_map();
    if (sl_json_type(old) == SL_JSON_MAP) {
        for (struct sl_json_member m = {0}; sl_json_each(old, &m);) {
            sl_json_set(merged, m.key, sl_json_ref(m.value));
        }
    }
    merge_members(at, merged, applied);
    return merged;
}

void sl_fields_merge(enum sl_kind kind, struct sl_json *object, const struct sl_json *applied)
{
    SL_PRE(object != NULL);
    struct sl_field_at root = sl_field_root(kind);
    merge_members(&root, object, applied);
}

/* --- prune ----------------------------------------------------------------------------------- */

static struct sl_json *pruned_new(const struct sl_field_at *at, struct sl_json *value,
                                  const struct sl_json *last, const struct sl_json *owned);

/* Fields of a type count as members of a set that has something below them. */
static bool holds(const struct sl_json *set, bool is_struct)
{
    return set != NULL && (is_struct || sl_set_is_member(set));
}

static struct sl_json *pruned_map_new(const struct sl_field_at *at, struct sl_json *map,
                                      const struct sl_json *last, const struct sl_json *owned)
{
    struct sl_json *kept = sl_json_new_map();
    struct sl_buf element = {0};
    bool is_struct = sl_field_is_struct(at);
    for (struct sl_json_member m = {0}; sl_json_each(map, &m);) {
        sl_buf_reset(&element);
        sl_buf_print(&element, "f:%s", m.key);
        const struct sl_json *before = sl_json_get(last, element.data);
        const struct sl_json *now = sl_json_get(owned, element.data);
        struct sl_field_at member = sl_field_member(at, m.key);
        if (before == NULL) {
            sl_json_set(kept, m.key, sl_json_ref(m.value));
        } else if (!holds(before, is_struct) || holds(now, is_struct)) {
            sl_json_set(kept, m.key, pruned_new(&member, m.value, before, now));
        }
    }
    sl_buf_fini(&element);
    return kept;
}

static struct sl_json *pruned_list_new(const struct sl_field_at *at, struct sl_json *list,
                                       const struct sl_json *last, const struct sl_json *owned)
{
    struct sl_json *kept = sl_json_new_list();
    struct sl_field_at item = sl_field_item(at);
    struct sl_buf element = {0};
    for (size_t i = 0; i < sl_json_len(list); i++) {
        struct sl_json *value = sl_json_at(list, i);
        bool keyed = sl_field_element(at, value, &element);
        const struct sl_json *before = keyed ? sl_json_get(last, element.data) : NULL;
        const struct sl_json *now = keyed ? sl_json_get(owned, element.data) : NULL;
        if (before == NULL) {
            sl_json_append(kept, sl_json_ref(value));
        } else if (!holds(before, false) || holds(now, false)) {
            sl_json_append(kept, pruned_new(&item, value, before, now));
        }
    }
    sl_buf_fini(&element);
    return kept;
}

static struct sl_json *pruned_new(const struct sl_field_at *at, struct sl_json *value,
                                  const struct sl_json *last, const struct sl_json *owned)
{
    switch (sl_field_merges(at, value)) {
    case SL_MERGE_MAP:
        return pruned_map_new(at, value, last, owned);
    case SL_MERGE_LIST_MAP:
    case SL_MERGE_LIST_SET:
        return pruned_list_new(at, value, last, owned);
    case SL_MERGE_ATOMIC:
        break;
    }
    return sl_json_ref(value);
}

void sl_fields_prune(enum sl_kind kind, struct sl_json *object, const struct sl_json *last,
                     const struct sl_json *owned)
{
    SL_PRE(object != NULL);
    struct sl_field_at root = sl_field_root(kind);
    struct sl_json *pruned = pruned_map_new(&root, object, last, owned);
    struct sl_json *dropped = sl_json_new_list();
    for (struct sl_json_member m = {0}; sl_json_each(object, &m);) {
        if (!sl_json_has(pruned, m.key)) {
            sl_json_append(dropped, sl_json_new_text(m.key));
        } else {
            sl_json_set(object, m.key, sl_json_ref(sl_json_get(pruned, m.key)));
        }
    }
    for (size_t i = 0; i < sl_json_len(dropped); i++) {
        sl_json_remove(object, sl_json_text(sl_json_at(dropped, i), ""));
    }
    sl_json_free(dropped);
    sl_json_free(pruned);
}
