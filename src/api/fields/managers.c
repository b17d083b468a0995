/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/fields/managers.h"

#include <stdlib.h>
#include <string.h>

#include "api/fields/field_set.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"

#define ANCIENT "ancient-changes"

static const char *text_of(const struct sl_json *entry, const char *member)
{
    return sl_json_text(sl_json_get(entry, member), "");
}

static bool applies(const struct sl_json *entry)
{
    return strcmp(text_of(entry, "operation"), "Apply") == 0;
}

static const char *subresource_of(const struct sl_manager_key *key)
{
    return key->status ? "status" : key->scale ? "scale" : "";
}

static bool is_of(const struct sl_json *entry, const struct sl_manager_key *key)
{
    return key != NULL && strcmp(text_of(entry, "manager"), key->name) == 0 &&
           applies(entry) == key->applies &&
           strcmp(text_of(entry, "subresource"), subresource_of(key)) == 0 &&
           (key->applies || strcmp(text_of(entry, "apiVersion"), key->api_version) == 0);
}

static struct sl_json *set_of_new(const struct sl_json *entry)
{
    return sl_set_root_new(sl_json_get(entry, "fieldsV1"));
}

bool sl_managers_valid(const struct sl_json *list)
{
    bool valid = sl_json_type(list) == SL_JSON_LIST && sl_json_len(list) > 0;
    for (size_t i = 0; i < sl_json_len(list) && valid; i++) {
        const struct sl_json *entry = sl_json_at(list, i);
        const char *operation = text_of(entry, "operation");
        valid = text_of(entry, "manager")[0] != '\0' && text_of(entry, "apiVersion")[0] != '\0' &&
                (applies(entry) || strcmp(operation, "Update") == 0) &&
                strcmp(text_of(entry, "fieldsType"), "FieldsV1") == 0 &&
                sl_json_type(sl_json_get(entry, "fieldsV1")) == SL_JSON_MAP;
    }
    return valid;
}

/* With the members that an entry has, in the order that Kubernetes writes them in. */
static struct sl_json *entry_new(const struct sl_manager_key *key, const char *time,
                                 struct sl_json *set)
{
    struct sl_json *entry = sl_json_new_map();
    sl_json_set_text(entry, "manager", key->name);
    sl_json_set_text(entry, "operation", key->applies ? "Apply" : "Update");
    sl_json_set_text(entry, "apiVersion", key->api_version);
    sl_json_set_text(entry, "time", time);
    sl_json_set_text(entry, "fieldsType", "FieldsV1");
    sl_json_set(entry, "fieldsV1", set != NULL ? sl_json_ref(set) : sl_json_new_map());
    if (subresource_of(key)[0] != '\0') {
        sl_json_set_text(entry, "subresource", subresource_of(key));
    }
    return entry;
}

static struct sl_json *entry_with_new(const struct sl_json *entry, struct sl_json *set)
{
    struct sl_json *with = sl_json_new_map();
    for (struct sl_json_member m = {0}; sl_json_each(entry, &m);) {
        bool fields = strcmp(m.key, "fieldsV1") == 0;
        struct sl_json *value =
            fields && set == NULL ? sl_json_new_map() : sl_json_ref(fields ? set : m.value);
        sl_json_set(with, m.key, value);
    }
    return with;
}

/* --- what they have --------------------------------------------------------------------------- */

static struct sl_json *find(const struct sl_json *list, const struct sl_manager_key *key,
                            size_t *at)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (is_of(sl_json_at(list, i), key)) {
            *at = i;
            return sl_json_at(list, i);
        }
    }
    return NULL;
}

struct sl_json *sl_managers_set_new(const struct sl_json *list, const struct sl_manager_key *key)
{
    SL_PRE(key != NULL);
    size_t at = 0;
    return set_of_new(find(list, key, &at));
}

struct sl_json *sl_managers_union_new(const struct sl_json *list, const struct sl_manager_key *but,
                                      struct sl_json *set)
{
    struct sl_json *all = sl_json_ref(set);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *entry = sl_json_at(list, i);
        struct sl_json *one = is_of(entry, but) ? NULL : set_of_new(entry);
        struct sl_json *more = sl_set_union_new(all, one);
        sl_json_free(all);
        sl_json_free(one);
        all = more;
    }
    return all;
}

struct sl_json *sl_managers_without_new(const struct sl_json *list, const struct sl_json *set,
                                        const struct sl_json *removed,
                                        const struct sl_manager_key *but)
{
    struct sl_json *without = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(list); i++) {
        struct sl_json *entry = sl_json_at(list, i);
        struct sl_json *had = set_of_new(entry);
        struct sl_json *some = sl_set_without_new(had, set);
        struct sl_json *rest = sl_set_without_new(some, removed);
        bool same = rest == had || is_of(entry, but);
        sl_json_append(without, same ? sl_json_ref(entry) : entry_with_new(entry, rest));
        sl_json_free(rest);
        sl_json_free(some);
        sl_json_free(had);
    }
    return without;
}

struct conflicts {
    struct sl_json *list;
    const char *manager;
};

/* In Kubernetes' words. */
static void print_manager(const struct sl_json *entry, struct sl_buf *out)
{
    sl_json_print(sl_json_get(entry, "manager"), out);
    if (text_of(entry, "subresource")[0] != '\0') {
        sl_buf_print(out, " with subresource \"%s\"", text_of(entry, "subresource"));
    }
    if (!applies(entry)) {
        sl_buf_print(out, " using %s", text_of(entry, "apiVersion"));
    }
}

static void add_conflict(void *context, const char *path)
{
    struct conflicts *c = context;
    struct sl_json *conflict = sl_json_new_map();
    sl_json_set_text(conflict, "manager", c->manager);
    sl_json_set_text(conflict, "field", path);
    sl_json_append(c->list, conflict);
}

struct sl_json *sl_managers_conflicts_new(const struct sl_json *list, const struct sl_json *set,
                                          const struct sl_manager_key *but)
{
    struct conflicts c = {.list = sl_json_new_list()};
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *entry = sl_json_at(list, i);
        struct sl_json *has = is_of(entry, but) ? NULL : set_of_new(entry);
        struct sl_json *common = sl_set_common_new(has, set);
        struct sl_buf manager = {0};
        print_manager(entry, &manager);
        c.manager = manager.data;
        sl_set_paths(common, add_conflict, &c);
        sl_buf_fini(&manager);
        sl_json_free(common);
        sl_json_free(has);
    }
    return c.list;
}

/* --- changes ---------------------------------------------------------------------------------- */

void sl_managers_put(struct sl_json **list, const struct sl_manager_key *key, struct sl_json *set,
                     int64_t now_ms)
{
    SL_PRE(list != NULL);
    char time[32];
    size_t at = 0;
    sl_clock_format(now_ms, time);
    if (find(*list, key, &at) != NULL) {
        sl_json_put_at(*list, at, entry_new(key, time, set));
    } else {
        sl_json_append(*list, entry_new(key, time, set));
    }
}

void sl_managers_add(struct sl_json **list, const struct sl_manager_key *key, struct sl_json *set,
                     int64_t now_ms)
{
    SL_PRE(list != NULL);
    if (set == NULL) {
        return;
    }
    struct sl_json *had = sl_managers_set_new(*list, key);
    struct sl_json *all = sl_set_union_new(had, set);
    sl_managers_put(list, key, all, now_ms);
    sl_json_free(all);
    sl_json_free(had);
}

static int compare_entries(const void *a, const void *b)
{
    static const char *const members[] = {"operation", "time", "manager", "apiVersion",
                                          "subresource"};
    const struct sl_json *x = *(const struct sl_json *const *)a;
    const struct sl_json *y = *(const struct sl_json *const *)b;
    int order = 0;
    for (size_t i = 0; i < sizeof members / sizeof members[0] && order == 0; i++) {
        order = strcmp(text_of(x, members[i]), text_of(y, members[i]));
    }
    return order;
}

/* The two that updated longest ago become one. Entries are in order: those that apply come first. */
static void join_oldest(struct sl_json *list)
{
    size_t first = 0;
    while (first < sl_json_len(list) && applies(sl_json_at(list, first))) {
        first++;
    }
    const struct sl_json *later = sl_json_at(list, first + 1);
    struct sl_json *a = set_of_new(sl_json_at(list, first)), *b = set_of_new(later);
    struct sl_json *all = sl_set_union_new(a, b);
    const struct sl_manager_key ancient = {.name = ANCIENT,
                                           .api_version = text_of(later, "apiVersion")};
    struct sl_json *joined = entry_new(&ancient, text_of(later, "time"), all);
    sl_json_put_at(list, first, joined);
    sl_json_remove_at(list, first + 1);
    sl_json_free(all);
    sl_json_free(a);
    sl_json_free(b);
}

void sl_managers_settle(struct sl_json **list)
{
    const size_t count = sl_json_len(*list);
    struct sl_json **entries = sl_mem_new(count + 1, sizeof(struct sl_json *));
    struct sl_json *settled = sl_json_new_list();
    size_t n = 0, updating = 0;
    for (size_t i = 0; i < count; i++) {
        struct sl_json *entry = sl_json_at(*list, i);
        if (sl_json_len(sl_json_get(entry, "fieldsV1")) > 0) {
            entries[n++] = entry;
            updating += applies(entry) ? 0 : 1;
        }
    }
    qsort(entries, n, sizeof *entries, compare_entries);
    for (size_t i = 0; i < n; i++) {
        sl_json_append(settled, sl_json_ref(entries[i]));
    }
    for (; updating > SL_MANAGERS_UPDATING_MAX; updating--) {
        join_oldest(settled);
    }
    sl_mem_free(entries);
    sl_json_free(*list);
    *list = settled;
}
