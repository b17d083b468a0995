/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Per namespace the ranges as given, sorted by name, and their summary {type: {member: {resource:
 * quantity}}}, made anew when one of them changes. */
#include "engine/requests/limits.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/records/pod.h"
#include <stdio.h>
#include <string.h>

struct ranges {
    struct sl_json *list;    /* [{name, limits}], by name */
    struct sl_json *summary; /* {"Container": {...}, "Pod": {...}} */
};

struct sl_limits {
    struct sl_map *namespaces; /* -> struct ranges * */
    struct sl_map *classes;    /* -> overhead.podFixed, a struct sl_json * */
    uint64_t version;
};

struct sl_limits *sl_limits_new(void)
{
    struct sl_limits *t = sl_mem_new(1, sizeof *t);
    t->namespaces = sl_map_new();
    t->classes = sl_map_new();
    t->version = 1;
    return t;
}

static void free_ranges(void *value)
{
    struct ranges *r = value;
    sl_json_free(r->list);
    sl_json_free(r->summary);
    sl_mem_free(r);
}

void sl_limits_free(struct sl_limits *t)
{
    SL_PRE(t != NULL);
    sl_map_free_with(t->namespaces, free_ranges);
    sl_map_free_with(t->classes, sl_json_free_value);
    sl_mem_free(t);
}

uint64_t sl_limits_version(const struct sl_limits *t)
{
    SL_PRE(t != NULL);
    return t->version;
}

/* --- summing up ------------------------------------------------------------------------------- */

enum keep { KEEP_FIRST, KEEP_LEAST, KEEP_MOST };

static __int128 nano_of(const struct sl_json *v)
{
    struct sl_quantity q = {0};
    return sl_quantity_read(v, &q, NULL) == SL_CODE_OK ? q.nano : 0;
}

static void merge(struct sl_json *into, const struct sl_json *from, enum keep keep)
{
    void *it = NULL;
    const char *resource;
    struct sl_json *value;
    while (sl_json_next(from, &it, &resource, &value)) {
        const struct sl_json *old = sl_json_get(into, resource);
        bool better = old == NULL || (keep == KEEP_LEAST && nano_of(value) < nano_of(old)) ||
                      (keep == KEEP_MOST && nano_of(value) > nano_of(old));
        if (better) {
            sl_json_set(into, resource, sl_json_clone(value));
        }
    }
}

static void add_item(struct sl_json *summary, const struct sl_json *item)
{
    static const struct {
        const char *member;
        enum keep keep;
    } members[] = {{"max", KEEP_LEAST},
                   {"min", KEEP_MOST},
                   {"default", KEEP_FIRST},
                   {"defaultRequest", KEEP_FIRST}};
    struct sl_json *type = sl_json_path_make(summary, sl_json_path_text(item, "type", ""));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        merge(sl_json_path_make(type, members[i].member), sl_json_get(item, members[i].member),
              members[i].keep);
    }
}

static void sum_up(struct ranges *r)
{
    sl_json_free(r->summary);
    r->summary = sl_json_new_map();
    for (size_t i = 0; i < sl_json_len(r->list); i++) {
        const struct sl_json *limits = sl_json_get(sl_json_at(r->list, i), "limits");
        for (size_t k = 0; k < sl_json_len(limits); k++) {
            const struct sl_json *item = sl_json_at(limits, k);
            const char *type = sl_json_path_text(item, "type", "");
            if (strcmp(type, "Pod") == 0 || strcmp(type, "Container") == 0) {
                add_item(r->summary, item);
            }
        }
    }
}

/* --- objects in ------------------------------------------------------------------------------- */

/* The list without the range of that name, and with the new one (NULL = none) in its place. */
static struct sl_json *new_list(const struct sl_json *old, const char *name, struct sl_json *fresh)
{
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(old); i++) {
        int order = strcmp(sl_json_path_text(sl_json_at(old, i), "name", ""), name);
        if (order > 0 && fresh != NULL) {
            sl_json_append(list, fresh);
            fresh = NULL;
        }
        if (order != 0) {
            sl_json_append(list, sl_json_ref(sl_json_at(old, i)));
        }
    }
    if (fresh != NULL) {
        sl_json_append(list, fresh);
    }
    return list;
}

static struct ranges *take_ranges(struct sl_limits *t, const char *ns)
{
    struct ranges *r = sl_map_find(t->namespaces, ns);
    if (r == NULL) {
        r = sl_mem_new(1, sizeof *r);
        sl_map_put(t->namespaces, ns, (union sl_map_value){.pointer = r});
    }
    return r;
}

void sl_limits_take_range(struct sl_limits *t, const struct sl_json *object, bool gone)
{
    const char *ns = sl_object_namespace(object);
    struct ranges *r = take_ranges(t, ns);
    struct sl_json *fresh = NULL;
    if (!gone) {
        const struct sl_json *limits = sl_json_path(object, "spec.limits");
        fresh = sl_json_new_map();
        sl_json_set_text(fresh, "name", sl_object_name(object));
        sl_json_set(fresh, "limits", limits == NULL ? sl_json_new_list() : sl_json_clone(limits));
    }
    struct sl_json *list = new_list(r->list, sl_object_name(object), fresh);
    if (r->list != NULL && sl_json_equal(list, r->list)) {
        sl_json_free(list);
        return;
    }
    sl_json_free(r->list);
    r->list = list;
    sum_up(r);
    t->version++;
    if (sl_json_len(list) == 0) {
        (void)sl_map_remove(t->namespaces, ns, NULL);
        free_ranges(r);
    }
}

void sl_limits_take_class(struct sl_limits *t, const struct sl_json *object, bool gone)
{
    const char *name = sl_object_name(object);
    const struct sl_json *fixed = gone ? NULL : sl_json_path(object, "overhead.podFixed");
    struct sl_json *old = sl_map_find(t->classes, name);
    if (sl_json_equal(old, fixed)) {
        return;
    }
    if (fixed == NULL) {
        (void)sl_map_remove(t->classes, name, NULL);
    } else {
        sl_map_put(t->classes, name, (union sl_map_value){.pointer = sl_json_clone(fixed)});
    }
    sl_json_free(old);
    t->version++;
}

/* --- filling in ------------------------------------------------------------------------------- */

static const struct sl_json *summary_of(const struct sl_limits *t, const char *ns, const char *type)
{
    const struct ranges *r = sl_map_find(t->namespaces, ns);
    return r == NULL ? NULL : sl_json_get(r->summary, type);
}

static const struct sl_json *overhead_of(const struct sl_limits *t, const struct sl_json *pod_spec)
{
    const char *class = sl_json_path_text(pod_spec, "runtimeClassName", "");
    bool own = sl_json_len(sl_json_get(pod_spec, "overhead")) > 0;
    return own ? NULL : sl_map_find(t->classes, class);
}

static void fill(struct sl_json *holder, const struct sl_json *type)
{
    merge(sl_json_path_make(holder, "resources.limits"), sl_json_get(type, "default"), KEEP_FIRST);
    merge(sl_json_path_make(holder, "resources.requests"), sl_json_get(type, "defaultRequest"),
          KEEP_FIRST);
}

static void fill_all(struct sl_json *pod_spec, const char *member, const struct sl_json *type)
{
    struct sl_json *list = sl_json_get(pod_spec, member);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        fill(sl_json_at(list, i), type);
    }
}

struct sl_json *sl_limits_applied_new(const struct sl_limits *t, const char *ns,
                                      const struct sl_json *pod_spec)
{
    const struct sl_json *container = summary_of(t, ns, "Container");
    const struct sl_json *pod = summary_of(t, ns, "Pod");
    const struct sl_json *overhead = overhead_of(t, pod_spec);
    if (pod_spec == NULL || (container == NULL && pod == NULL && overhead == NULL)) {
        return NULL;
    }
    struct sl_json *spec = sl_json_clone(pod_spec);
    if (container != NULL) {
        fill_all(spec, "initContainers", container);
        fill_all(spec, "containers", container);
    }
    if (pod != NULL && sl_json_has(spec, "resources")) {
        fill(spec, pod);
    }
    if (overhead != NULL) {
        sl_json_set(spec, "overhead", sl_json_clone(overhead));
    }
    return spec;
}

/* --- checking --------------------------------------------------------------------------------- */

/* Kueue's sentences. */
static const char too_much[] = "requests must not be above the limitRange max";
static const char too_little[] = "requests must not be below the limitRange min";
static const char above_limit[] = "requests must not exceed its limits";

#define NAMES_MAX 32

/* The resources that something is wrong with, by name. */
struct names {
    const char *at[NAMES_MAX];
    uint32_t count;
};

static void add_name(struct names *names, const char *name)
{
    uint32_t at = 0;
    while (at < names->count && strcmp(names->at[at], name) < 0) {
        at++;
    }
    bool known = at < names->count && strcmp(names->at[at], name) == 0;
    if (!known && names->count < NAMES_MAX) {
        memmove(&names->at[at + 1], &names->at[at], (names->count - at) * sizeof names->at[0]);
        names->at[at] = name;
        names->count++;
    }
}

/* Those of which `amounts` has more than `bounds`. */
static void add_above(struct names *names, const struct sl_json *amounts,
                      const struct sl_json *bounds)
{
    void *it = NULL;
    const char *resource;
    struct sl_json *value;
    while (sl_json_next(amounts, &it, &resource, &value)) {
        const struct sl_json *bound = sl_json_get(bounds, resource);
        if (bound != NULL && nano_of(value) > nano_of(bound)) {
            add_name(names, resource);
        }
    }
}

static void complain(struct sl_limits_report *r, const char *field, const struct names *names,
                     const char *what)
{
    if (names->count == 0) {
        return;
    }
    struct sl_buf text = {0};
    sl_buf_print(&text, "%s: Invalid value: [", field);
    for (uint32_t i = 0; i < names->count; i++) {
        sl_buf_print(&text, "%s\"%s\"", i == 0 ? "" : ",", names->at[i]);
    }
    sl_buf_print(&text, "]: %s", what);
    sl_error_cause(r->e, "FieldValueInvalid", field, "%s", text.data);
    sl_buf_print(&r->text, "%s%s", r->count == 0 ? "" : ", ", text.data);
    r->count++;
    sl_buf_fini(&text);
}

typedef void check_fn(struct sl_limits_report *r, const struct sl_json *resources,
                      const struct sl_json *range, const char *field);

/* A limit stands in for a missing request, so a request above its limit was written so. */
static void check_own(struct sl_limits_report *r, const struct sl_json *resources,
                      const struct sl_json *range, const char *field)
{
    struct names names = {0};
    (void)range;
    add_above(&names, sl_json_get(resources, "requests"), sl_json_get(resources, "limits"));
    complain(r, field, &names, above_limit);
}

static void check_range(struct sl_limits_report *r, const struct sl_json *resources,
                        const struct sl_json *range, const char *field)
{
    struct names above = {0};
    struct names below = {0};
    const struct sl_json *requests = sl_json_get(resources, "requests");
    const struct sl_json *limits = sl_json_get(resources, "limits");
    add_above(&above, requests, sl_json_get(range, "max"));
    add_above(&above, limits, sl_json_get(range, "max"));
    add_above(&below, sl_json_get(range, "min"), requests);
    add_above(&below, sl_json_get(range, "min"), limits);
    complain(r, field, &above, too_much);
    complain(r, field, &below, too_little);
}

static void check_containers(struct sl_limits_report *r, const struct sl_json *pod_spec,
                             const struct sl_json *range, const char *field, check_fn *check)
{
    static const char *const members[] = {"initContainers", "containers"};
    for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
        const struct sl_json *list = sl_json_get(pod_spec, members[m]);
        for (size_t i = 0; i < sl_json_len(list); i++) {
            char path[200];
            (void)snprintf(path, sizeof path, "%s.%s[%zu]", field, members[m], i);
            check(r, sl_json_get(sl_json_at(list, i), "resources"), range, path);
        }
    }
}

void sl_limits_check_own(const struct sl_json *pod_spec, const char *field,
                         struct sl_limits_report *r)
{
    SL_PRE(r != NULL);
    char path[200];
    check_containers(r, pod_spec, NULL, field, check_own);
    (void)snprintf(path, sizeof path, "%s.resources", field);
    check_own(r, sl_json_get(pod_spec, "resources"), NULL, path);
}

/* All containers together; they could be read before. */
static void check_pod(struct sl_limits_report *r, const struct sl_json *pod_spec,
                      const struct sl_json *pod, const char *field)
{
    struct sl_pod_requests total = {0};
    struct names above = {0};
    struct names below = {0};
    if (sl_pod_sum_requests(pod_spec, field, &total, r->e) != SL_CODE_OK) {
        return;
    }
    for (uint32_t i = 0; i < total.count; i++) {
        const char *resource = total.items[i].resource;
        const struct sl_json *upper = sl_json_get(sl_json_get(pod, "max"), resource);
        const struct sl_json *lower = sl_json_get(sl_json_get(pod, "min"), resource);
        if (upper != NULL && total.items[i].nano > nano_of(upper)) {
            add_name(&above, resource);
        }
        if (lower != NULL && total.items[i].nano < nano_of(lower)) {
            add_name(&below, resource);
        }
    }
    complain(r, field, &above, too_much);
    complain(r, field, &below, too_little);
}

void sl_limits_check_range(const struct sl_limits *t, const char *ns,
                           const struct sl_json *pod_spec, const char *field,
                           struct sl_limits_report *r)
{
    SL_PRE(t != NULL && r != NULL);
    const struct sl_json *container = summary_of(t, ns, "Container");
    const struct sl_json *pod = summary_of(t, ns, "Pod");
    if (container != NULL) {
        check_containers(r, pod_spec, container, field, check_range);
    }
    if (pod != NULL) {
        check_pod(r, pod_spec, pod, field);
    }
}
