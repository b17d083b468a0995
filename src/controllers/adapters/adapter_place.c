/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "controllers/adapters/adapter_place.h"
#include <stdio.h>
#include <string.h>

struct sl_json *sl_place_parent_make(struct sl_json *o, const char *path, const char **last)
{
    char parent[SL_PLACE_PATH_SIZE] = "";
    const char *dot = strrchr(path, '.');
    *last = dot == NULL ? path : dot + 1;
    if (dot != NULL && (size_t)(dot - path) < sizeof parent) {
        memcpy(parent, path, (size_t)(dot - path));
        parent[dot - path] = '\0';
    }
    return sl_json_path_make(o, parent);
}

void sl_place_join(char out[static SL_PLACE_PATH_SIZE], const char *base, const char *path)
{
    char joined[SL_PLACE_PATH_SIZE * 2];
    snprintf(joined, sizeof joined, "%s%s%s", base, base[0] != '\0' && path[0] != '\0' ? "." : "",
             path);
    snprintf(out, SL_PLACE_PATH_SIZE, "%.*s", SL_PLACE_PATH_SIZE - 1, joined);
}

const struct sl_json *sl_place_at(const struct sl_json *object, const char *path)
{
    return path[0] == '\0' ? object : sl_json_path(object, path);
}

struct sl_json *sl_place_item_new(const struct sl_place *p, struct sl_json *whole)
{
    struct sl_json *out = sl_json_new_map();
    const struct sl_json *item = sl_place_at(whole, p->inner);
    struct sl_json *outer = p->outer[0] == '\0' ? whole : sl_json_path(whole, p->outer);
    for (struct sl_json_member m = {0};
         sl_json_type(item) == SL_JSON_MAP && sl_json_each(item, &m);) {
        sl_json_set(out, m.key, sl_json_ref(m.value));
    }
    sl_json_set(out, "$outer", sl_json_ref(outer));
    sl_json_set(out, "$", sl_json_ref(whole));
    return out;
}

struct sl_json *sl_place_counted_new(const struct sl_place *p, struct sl_json *whole)
{
    struct sl_json *out = sl_place_item_new(p, whole);
    const struct sl_json *in = sl_json_get(p->entry, "countIn");
    const char *key = sl_json_path_text(in, "key", "");
    const char *ours = sl_json_path_text(out, key, "");
    const struct sl_json *list = sl_json_path(whole, sl_json_path_text(in, "list", ""));
    const struct sl_json *item = in == NULL ? NULL : sl_json_find_by(list, key, ours);
    for (struct sl_json_member m = {0};
         sl_json_type(item) == SL_JSON_MAP && sl_json_each(item, &m);) {
        if (m.key[0] != '$' && sl_json_type(m.value) != SL_JSON_NULL) {
            sl_json_set(out, m.key, sl_json_ref(m.value));
        }
    }
    return out;
}

void sl_place_template_path(const struct sl_place *p, struct sl_json *whole,
                            char out[static SL_PLACE_PATH_SIZE])
{
    const struct sl_json *template = sl_json_get(p->entry, "template");
    if (sl_json_type(template) == SL_JSON_MAP) {
        char within[SL_PLACE_PATH_SIZE];
        const char *named = sl_json_path_text(sl_place_at(whole, p->inner),
                                              sl_json_path_text(template, "at", ""), "");
        sl_place_join(within, p->outer, sl_json_path_text(template, "in", ""));
        sl_place_join(out, within, named);
    } else if (template != NULL) {
        sl_place_join(out, p->inner, sl_json_text(template, ""));
    } else {
        out[0] = '\0';
    }
}

bool sl_place_is_there(const struct sl_place *p, struct sl_json *whole)
{
    char path[SL_PLACE_PATH_SIZE];
    sl_place_template_path(p, whole, path);
    bool optional = sl_json_path_bool(p->entry, "optional", false);
    if (optional && sl_json_type(sl_json_path(whole, path)) != SL_JSON_MAP) {
        return false;
    }
    const struct sl_json *rules = sl_json_get(p->entry, "when");
    struct sl_json *item = rules == NULL ? NULL : sl_place_item_new(p, whole);
    bool there = sl_adapter_all_hold(rules, item);
    sl_json_free(item);
    return there;
}

static void add_place(struct sl_places *all, const struct sl_place *p, struct sl_json *whole)
{
    if (all->count <= SL_POD_SETS_MAX && sl_place_is_there(p, whole)) {
        all->at[all->count++] = *p;
    }
}

/* One place for each item of a list inside the item of another. */
static void add_inner(struct sl_places *all, struct sl_place *p, const char *list,
                      struct sl_json *whole)
{
    char path[SL_PLACE_PATH_SIZE];
    sl_place_join(path, p->outer, list);
    size_t count = sl_json_len(sl_json_path(whole, path));
    for (size_t i = 0; i < count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        sl_place_join(p->inner, path, number);
        add_place(all, p, whole);
    }
}

static void add_each(struct sl_places *all, const struct sl_json *entry, struct sl_json *whole)
{
    const struct sl_json *each = sl_json_get(entry, "each");
    bool nested = sl_json_type(each) == SL_JSON_LIST;
    const char *list = sl_json_text(nested ? sl_json_at(each, 0) : each, "");
    size_t count = sl_json_len(sl_json_path(whole, list));
    for (size_t i = 0; i < count; i++) {
        char number[24];
        struct sl_place p = {.entry = entry};
        snprintf(number, sizeof number, "%zu", i);
        sl_place_join(p.outer, list, number);
        sl_place_join(p.inner, list, number);
        if (nested) {
            add_inner(all, &p, sl_json_text(sl_json_at(each, 1), ""), whole);
        } else {
            add_place(all, &p, whole);
        }
    }
}

/* For each item of the list all of the entry's own pod sets, so that those of one item stay together. */
static void add_sets_of_each(struct sl_places *all, const struct sl_json *entry,
                             struct sl_json *whole)
{
    const char *list = sl_json_path_text(entry, "each", "");
    const struct sl_json *sets = sl_json_get(entry, "podSets");
    size_t count = sl_json_len(sl_json_path(whole, list));
    for (size_t i = 0; i < count && all->count <= SL_POD_SETS_MAX; i++) {
        char number[24];
        struct sl_place p = {0};
        snprintf(number, sizeof number, "%zu", i);
        sl_place_join(p.outer, list, number);
        for (size_t k = 0; k < sl_json_len(sets); k++) {
            p.entry = sl_json_at(sets, k);
            sl_place_join(p.inner, list, number);
            if (sl_json_has(p.entry, "each")) {
                add_inner(all, &p, sl_json_path_text(p.entry, "each", ""), whole);
            } else {
                add_place(all, &p, whole);
            }
        }
    }
}

void sl_places_find(const struct sl_json *doc, struct sl_json *whole, struct sl_places *out)
{
    const struct sl_json *entries = sl_json_get(doc, "podSets");
    out->count = 0;
    for (size_t i = 0; i < sl_json_len(entries); i++) {
        const struct sl_json *entry = sl_json_at(entries, i);
        if (sl_json_has(entry, "podSets")) {
            add_sets_of_each(out, entry, whole);
        } else if (sl_json_has(entry, "each")) {
            add_each(out, entry, whole);
        } else {
            const struct sl_place p = {.entry = entry};
            add_place(out, &p, whole);
        }
    }
}
