/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/fields/field_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define SELF "."

static bool is_self(const char *element)
{
    return element[0] == '.' && element[1] == '\0';
}

bool sl_set_is_member(const struct sl_json *set)
{
    return sl_json_type(set) == SL_JSON_MAP && (sl_json_len(set) == 0 || sl_json_has(set, SELF));
}

struct sl_json *sl_set_root_new(struct sl_json *fields)
{
    bool filled = sl_json_type(fields) == SL_JSON_MAP && sl_json_len(fields) > 0;
    return filled ? sl_json_ref(fields) : NULL;
}

void sl_set_attach(struct sl_json **parent, const char *element, struct sl_json *child)
{
    SL_PRE(parent != NULL && element != NULL);
    if (child == NULL) {
        return;
    }
    if (*parent == NULL) {
        *parent = sl_json_new_map();
    }
    sl_json_set(*parent, element, child);
}

/* The set of a field: whether it belongs itself, and what is below it; taken. */
static struct sl_json *made(bool self, struct sl_json *below)
{
    if (below == NULL) {
        return self ? sl_json_new_map() : NULL;
    }
    return self ? sl_set_with_self_new(below) : below;
}

struct sl_json *sl_set_with_self_new(struct sl_json *set)
{
    struct sl_json *with = sl_json_new_map();
    if (set != NULL && sl_json_len(set) > 0) {
        sl_json_set(with, SELF, sl_json_new_map());
    }
    for (struct sl_json_member m = {0}; sl_json_each(set, &m);) {
        sl_json_set(with, m.key, sl_json_ref(m.value));
    }
    sl_json_free(set);
    return with;
}

static int compare_elements(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct sl_json *sl_set_sorted_new(const struct sl_json *set)
{
    const size_t count = sl_json_len(set);
    if (sl_json_type(set) != SL_JSON_MAP) {
        return NULL;
    }
    const char **elements = sl_mem_new(count + 1, sizeof *elements);
    size_t n = 0;
    for (struct sl_json_member m = {0}; sl_json_each(set, &m);) {
        elements[n++] = m.key;
    }
    qsort(elements, n, sizeof *elements, compare_elements);
    struct sl_json *sorted = sl_json_new_map();
    for (size_t i = 0; i < n; i++) {
        struct sl_json *child = sl_set_sorted_new(sl_json_get(set, elements[i]));
        sl_json_set(sorted, elements[i], child != NULL ? child : sl_json_new_map());
    }
    sl_mem_free(elements);
    return sorted;
}

/* The next element of a walk that is not the field itself. */
static bool next_element(const struct sl_json *set, struct sl_json_member *m)
{
    bool more = sl_json_each(set, m);
    while (more && is_self(m->key)) {
        more = sl_json_each(set, m);
    }
    return more;
}

/* Elements that both have come at the place of the first; what is sorted stays so. */
struct sl_json *sl_set_union_new(struct sl_json *a, struct sl_json *b)
{
    if (a == NULL || b == NULL || a == b) {
        return sl_json_ref(a != NULL ? a : b);
    }
    struct sl_json *below = NULL;
    struct sl_json_member in_a = {0}, in_b = {0};
    bool more_a = next_element(a, &in_a), more_b = next_element(b, &in_b);
    while (more_a || more_b) {
        int order = !more_a ? 1 : !more_b ? -1 : strcmp(in_a.key, in_b.key);
        const char *element = order <= 0 ? in_a.key : in_b.key;
        if (!sl_json_has(below, element)) {
            sl_set_attach(&below, element,
                          sl_set_union_new(sl_json_get(a, element), sl_json_get(b, element)));
        }
        more_a = order <= 0 ? next_element(a, &in_a) : more_a;
        more_b = order >= 0 ? next_element(b, &in_b) : more_b;
    }
    return made(sl_set_is_member(a) || sl_set_is_member(b), below);
}

static bool touches(const struct sl_json *a, const struct sl_json *b)
{
    bool found = sl_set_is_member(a) && sl_set_is_member(b);
    for (struct sl_json_member m = {0}; !found && next_element(b, &m);) {
        found = sl_json_has(a, m.key);
    }
    return found;
}

struct sl_json *sl_set_without_new(struct sl_json *a, const struct sl_json *b)
{
    if (a == NULL || b == NULL || !touches(a, b)) {
        return sl_json_ref(a);
    }
    struct sl_json *below = NULL;
    for (struct sl_json_member m = {0}; next_element(a, &m);) {
        const struct sl_json *other = sl_json_get(b, m.key);
        sl_set_attach(&below, m.key, sl_set_without_new(m.value, other));
    }
    return made(sl_set_is_member(a) && !sl_set_is_member(b), below);
}

struct sl_json *sl_set_common_new(struct sl_json *a, const struct sl_json *b)
{
    if (a == NULL || b == NULL) {
        return NULL;
    }
    struct sl_json *below = NULL;
    for (struct sl_json_member m = {0}; next_element(b, &m);) {
        sl_set_attach(&below, m.key, sl_set_common_new(sl_json_get(a, m.key), m.value));
    }
    return made(sl_set_is_member(a) && sl_set_is_member(b), below);
}

/* --- paths ----------------------------------------------------------------------------------- */

static void add_keys(const char *text, struct sl_buf *path)
{
    struct sl_json *keys = sl_json_parse(text, strlen(text), NULL);
    const char *before = "[";
    for (struct sl_json_member m = {0}; sl_json_each(keys, &m); before = ",") {
        sl_buf_print(path, "%s%s=", before, m.key);
        sl_json_print(m.value, path);
    }
    sl_buf_text(path, before[0] == '[' ? "[]" : "]");
    sl_json_free(keys);
}

static void add_element(const char *element, struct sl_buf *path)
{
    if (strncmp(element, "f:", 2) == 0) {
        sl_buf_print(path, ".%s", element + 2);
    } else if (strncmp(element, "k:", 2) == 0) {
        add_keys(element + 2, path);
    } else {
        const char *value = strchr(element, ':');
        sl_buf_print(path, "[%s%s]", element[0] == 'v' ? "=" : "", value != NULL ? value + 1 : "");
    }
}

/* Fields that belong themselves before what is below them, as Kubernetes walks over them. */
static void walk(const struct sl_json *set, struct sl_buf *path, sl_set_path_fn *visit,
                 void *context)
{
    const size_t len = path->len;
    for (int below = 0; below < 2; below++) {
        for (struct sl_json_member m = {0}; next_element(set, &m);) {
            add_element(m.key, path);
            if (below == 1) {
                walk(m.value, path, visit, context);
            } else if (sl_set_is_member(m.value)) {
                visit(context, path->data);
            }
            path->len = len;
            path->data[len] = '\0';
        }
    }
}

void sl_set_paths(const struct sl_json *set, sl_set_path_fn *visit, void *context)
{
    SL_PRE(visit != NULL);
    struct sl_buf path = {0};
    walk(set, &path, visit, context);
    sl_buf_fini(&path);
}
