/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "controllers/adapters/adapter_inject.h"
#include "controllers/adapters/adapter_with.h"
#include "controllers/work/template.h"
#include <string.h>

#define ROOT "$."

/* Where the list is: beginning at the item, or with "$." at the job itself. */
static void list_path(const struct sl_json *inject, const struct sl_place *p,
                      char out[static SL_PLACE_PATH_SIZE])
{
    const char *list = sl_json_path_text(inject, "list", "");
    bool root = strncmp(list, ROOT, strlen(ROOT)) == 0;
    sl_place_join(out, root ? "" : p->outer, root ? list + strlen(ROOT) : list);
}

/* The item that holds the parts of all pod sets is not ours alone: its parts go, and it stays. */
static void clear_parts(const struct sl_json *inject, struct sl_json *list)
{
    const char *last;
    const char *key = sl_json_path_text(inject, "key", "");
    const char *parts = sl_json_path_text(inject, "parts", "");
    struct sl_json *item =
        sl_json_find_by(list, key, sl_json_path_text(sl_json_get(inject, "item"), key, ""));
    if (sl_json_path(item, parts) != NULL) {
        struct sl_json *parent = sl_place_parent_make(item, parts, &last);
        sl_json_remove(parent, last);
    }
}

/* Take out what was put into a list of the object: the items with the same key, or the whole list. */
static void clear_items(const struct sl_json *inject, struct sl_json *list)
{
    const char *key = sl_json_path_text(inject, "key", "");
    const char *ours = sl_json_path_text(sl_json_get(inject, "item"), key, "");
    for (size_t i = sl_json_len(list); key[0] != '\0' && i-- > 0;) {
        if (strcmp(sl_json_path_text(sl_json_at(list, i), key, ""), ours) == 0) {
            sl_json_remove_at(list, i);
        }
    }
}

static void clear_list(const struct sl_json *inject, const struct sl_place *p, struct sl_json *job)
{
    char path[SL_PLACE_PATH_SIZE];
    const char *last;
    list_path(inject, p, path);
    struct sl_json *list = sl_json_path(job, path);
    if (sl_json_has(inject, "parts")) {
        clear_parts(inject, list);
        return;
    }
    clear_items(inject, list);
    if (list != NULL && (!sl_json_has(inject, "key") || sl_json_len(list) == 0)) {
        struct sl_json *parent = sl_place_parent_make(job, path, &last);
        sl_json_remove(parent, last);
    }
}

/* The list at the path, made when there is none. */
static struct sl_json *list_make(struct sl_json *o, const char *path)
{
    const char *last;
    struct sl_json *parent = sl_place_parent_make(o, path, &last);
    if (sl_json_type(sl_json_get(parent, last)) != SL_JSON_LIST) {
        sl_json_set(parent, last, sl_json_new_list());
    }
    return sl_json_get(parent, last);
}

static void add_item(const struct sl_json *inject, const struct sl_place *p, struct sl_json *job,
                     const struct sl_expansion *x)
{
    char path[SL_PLACE_PATH_SIZE];
    const char *key = sl_json_path_text(inject, "key", "");
    const char *parts = sl_json_path_text(inject, "parts", "");
    const struct sl_json *pattern = sl_json_get(inject, "item");
    list_path(inject, p, path);
    struct sl_json *list = list_make(job, path);
    struct sl_json *item =
        parts[0] == '\0' ? NULL : sl_json_find_by(list, key, sl_json_path_text(pattern, key, ""));
    if (item == NULL) {
        item = sl_adapter_expand(pattern, x);
        sl_json_append(list, item);
    }
    if (parts[0] != '\0') {
        sl_json_append(list_make(item, parts), sl_adapter_expand(sl_json_get(inject, "part"), x));
    }
}

/* Is it the first pod set whose additions go into that list? */
static bool is_first_of_list(const struct sl_places *all, size_t index)
{
    char ours[SL_PLACE_PATH_SIZE];
    list_path(sl_json_get(all->at[index].entry, "inject"), &all->at[index], ours);
    for (size_t i = 0; i < index; i++) {
        char other[SL_PLACE_PATH_SIZE];
        const struct sl_json *inject = sl_json_get(all->at[i].entry, "inject");
        list_path(inject, &all->at[i], other);
        if (inject != NULL && strcmp(ours, other) == 0 &&
            (all->at[i].entry == all->at[index].entry || sl_json_has(inject, "parts") ||
             !sl_json_has(inject, "key"))) {
            return false;
        }
    }
    return true;
}

struct sl_json *sl_adapter_template_make(const struct sl_place *p, struct sl_json *job)
{
    char path[SL_PLACE_PATH_SIZE];
    sl_place_template_path(p, job, path);
    struct sl_json *given = sl_json_path(job, path);
    if (sl_json_type(given) == SL_JSON_MAP) {
        return given;
    }
    const char *last;
    const struct sl_expansion x = {.object = job};
    struct sl_json *parent = sl_place_parent_make(job, path, &last);
    sl_json_set(parent, last, sl_adapter_expand(sl_json_get(p->entry, "default"), &x));
    return sl_json_get(parent, last);
}

enum sl_code sl_adapter_inject(const struct sl_framework *f, struct sl_json *job, size_t index,
                               const struct sl_json *injection, struct sl_error *e)
{
    struct sl_places all;
    struct sl_json *whole = sl_adapter_whole_new(f, job);
    enum sl_code code = SL_CODE_OK;
    sl_places_find(sl_adapter_doc(f), whole, &all);
    const struct sl_place *p = &all.at[index < all.count ? index : 0];
    const struct sl_json *list = all.count == 0 ? NULL : sl_json_get(p->entry, "inject");
    if (index >= all.count) {
        code = sl_error_set(e, SL_CODE_CONFLICT, "pod set %zu is not there any more", index);
    } else if (sl_json_has(list, "fields")) {
        code = sl_adapter_fields_inject(&all, index, job, injection, e);
    } else if (list == NULL) {
        code = sl_template_inject(sl_adapter_template_make(p, job), injection, e);
    } else {
        struct sl_json *item = sl_place_item_new(p, whole);
        const struct sl_expansion x = {.object = whole, .item = item, .injection = injection};
        if (is_first_of_list(&all, index)) {
            clear_list(list, p, job);
        }
        add_item(list, p, job, &x);
        sl_json_free(item);
    }
    sl_json_free(whole);
    return code;
}

/* A list of the job itself is cleared whether or not the objects that it refers to are still there. */
static bool clear_roots(const struct sl_json *doc, struct sl_json *job)
{
    bool any = false;
    const struct sl_json *entries = sl_json_get(doc, "podSets");
    for (size_t i = 0; i < sl_json_len(entries); i++) {
        const struct sl_place p = {.entry = sl_json_at(entries, i)};
        const struct sl_json *inject = sl_json_get(p.entry, "inject");
        const char *list = sl_json_path_text(inject, "list", "");
        if (strncmp(list, ROOT, strlen(ROOT)) == 0) {
            clear_list(inject, &p, job);
            any = true;
        }
    }
    return any;
}

void sl_adapter_restore(const struct sl_framework *f, struct sl_json *job, size_t index,
                        const struct sl_json *pod_set)
{
    struct sl_places all;
    char path[SL_PLACE_PATH_SIZE];
    if (clear_roots(sl_adapter_doc(f), job)) {
        return;
    }
    sl_places_find(sl_adapter_doc(f), job, &all);
    if (index >= all.count) {
        return;
    }
    const struct sl_place *p = &all.at[index];
    sl_place_template_path(p, job, path);
    struct sl_json *template = path[0] == '\0' ? NULL : sl_json_path(job, path);
    if (sl_json_path(p->entry, "inject.fields") != NULL) {
        sl_adapter_fields_restore(p, job, sl_json_get(pod_set, "template"));
    } else if (sl_json_has(p->entry, "inject")) {
        clear_list(sl_json_get(p->entry, "inject"), p, job);
    } else if (sl_json_type(template) == SL_JSON_MAP) {
        sl_template_restore(template, sl_json_get(pod_set, "template"));
    }
}
