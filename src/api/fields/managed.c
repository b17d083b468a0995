/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/fields/managed.h"

#include <string.h>

#include "api/fields/fields.h"
#include "api/fields/last_applied.h"
#include "api/fields/managers.h"
#include "base/check.h"

#define FIELDS "managedFields"
#define BEFORE_FIRST_APPLY "before-first-apply"

static struct sl_json *fields_of(const struct sl_json *object)
{
    return sl_json_get(sl_json_get(object, "metadata"), FIELDS);
}

/* Objects are read as often as they are written: one of thousands of fields is not tracked. */
static void set_fields(struct sl_json *object, struct sl_json *list)
{
    struct sl_json *metadata = sl_json_get(object, "metadata");
    if (sl_json_len(list) == 0 ||
        sl_json_weight(list, SL_MANAGERS_WEIGHT_MAX) > SL_MANAGERS_WEIGHT_MAX) {
        sl_json_free(list);
        sl_json_remove(metadata, FIELDS);
    } else {
        sl_json_set(metadata, FIELDS, list);
    }
}

/* --- what counts ----------------------------------------------------------------------------- */

static bool is_one_of(const char *const *names, const char *name)
{
    while (*names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

static struct sl_json *without_new(const struct sl_json *map, const char *const *names)
{
    struct sl_json *rest = sl_json_new_map();
    for (struct sl_json_member m = {0}; sl_json_each(map, &m);) {
        if (!is_one_of(names, m.key)) {
            sl_json_set(rest, m.key, sl_json_ref(m.value));
        }
    }
    return rest;
}

/* What of an object belongs to who writes it: not what says which object it is, and what the server sets. */
static struct sl_json *view_new(enum sl_kind kind, const struct sl_json *object, bool status)
{
    static const char *const system[] = {"apiVersion", "kind", "metadata", "status", NULL};
    static const char *const type[] = {"apiVersion", "kind", "metadata", NULL};
    static const char *const identity[] = {
        "name",       "namespace", "creationTimestamp", "selfLink",          "uid",
        "generation", FIELDS,      "resourceVersion",   "deletionTimestamp", NULL};
    if (status) {
        struct sl_json *only = sl_json_new_map();
        sl_json_set(only, "status", sl_json_ref(sl_json_get(object, "status")));
        return only;
    }
    struct sl_json *view = without_new(object, sl_kind_info(kind)->has_status ? system : type);
    struct sl_json *metadata = without_new(sl_json_get(object, "metadata"), identity);
    sl_json_set(view, "metadata", metadata);
    if (kind == SL_KIND_NAMESPACE) {
        sl_json_remove(view, "spec"); /* its finalizers are the server's */
    }
    return view;
}

/* Members of Kubernetes' own types are there before something is set in them; those of custom resources are not. */
static struct sl_json *nothing_new(enum sl_kind kind, const struct sl_json *view)
{
    static const char *const embedded[] = {
        "spec",     "spec.template", "spec.template.metadata", "spec.template.spec",
        "template", "template.spec", "template.metadata",      "source",
        "status"};
    const char *group = sl_kind_info(kind)->group;
    bool custom = kind >= SL_KIND_CUSTOM || strstr(group, ".x-k8s.io") != NULL;
    struct sl_json *nothing = sl_json_new_map();
    (void)sl_json_path_make(nothing, "metadata");
    for (size_t i = 0; i < sizeof embedded / sizeof embedded[0] && !custom; i++) {
        struct sl_json *there = sl_json_path(view, embedded[i]);
        if (sl_json_len(there) > 0) {
            struct sl_json *empty = sl_json_path_make(nothing, embedded[i]);
            if (sl_json_len(sl_json_get(there, "containers")) > 0) {
                sl_json_set(empty, "containers", sl_json_new_list());
            }
        }
    }
    return nothing;
}

static void compare(enum sl_kind kind, const struct sl_json *before, const struct sl_json *after,
                    bool status, struct sl_fields_change *out)
{
    struct sl_json *to = view_new(kind, after, status);
    struct sl_json *from = before == NULL ? nothing_new(kind, to) : view_new(kind, before, status);
    sl_fields_compare(kind, from, to, out);
    sl_json_free(from);
    sl_json_free(to);
}

/* --- create and update ------------------------------------------------------------------------ */

static struct sl_manager_key key_of(enum sl_kind kind, const struct sl_manager *by, bool applies)
{
    return (struct sl_manager_key){.name = by->name,
                                   .api_version = sl_kind_info(kind)->api_version,
                                   .status = by->status,
                                   .scale = by->scale,
                                   .applies = applies};
}

/* All that a change sets becomes its maker's, and others lose it, and what is removed. */
static struct sl_json *updated_new(const struct sl_json *list,
                                   const struct sl_fields_change *change,
                                   const struct sl_manager_key *own, int64_t now_ms)
{
    struct sl_json *set = sl_set_union_new(change->modified, change->added);
    struct sl_json *changed = sl_managers_without_new(list, set, change->removed, NULL);
    sl_managers_add(&changed, own, set, now_ms);
    sl_managers_settle(&changed);
    sl_json_free(set);
    return changed;
}

void sl_managed_create(enum sl_kind kind, struct sl_json *object, const struct sl_manager *by)
{
    SL_PRE(object != NULL && by->name != NULL);
    struct sl_fields_change change;
    const struct sl_manager_key own = key_of(kind, by, false);
    compare(kind, NULL, object, false, &change);
    set_fields(object, updated_new(NULL, &change, &own, by->now_ms));
    sl_fields_fini(&change);
}

/* Does a client ask that fields are not tracked any more? */
static bool is_reset(const struct sl_json *list)
{
    return sl_json_len(list) == 1 && sl_json_type(sl_json_at(list, 0)) == SL_JSON_MAP &&
           sl_json_len(sl_json_at(list, 0)) == 0;
}

void sl_managed_update(enum sl_kind kind, struct sl_json *object, struct sl_json *old,
                       const struct sl_manager *by)
{
    SL_PRE(object != NULL && old != NULL);
    struct sl_json *given = fields_of(object), *before = fields_of(old), *list;
    bool own_list = given != NULL && !by->status && sl_managers_valid(given);
    if (given == before && given == NULL) {
        return; /* not tracked */
    }
    list = sl_json_ref(own_list ? given : before);
    if ((is_reset(given) && !by->status) || list == NULL) {
        sl_json_remove(sl_json_get(object, "metadata"), FIELDS);
        sl_json_free(list);
        return;
    }
    struct sl_fields_change change;
    compare(kind, old, object, by->status, &change);
    if (change.modified == NULL && change.added == NULL && change.removed == NULL) {
        set_fields(object, list);
    } else {
        const struct sl_manager_key own = key_of(kind, by, false);
        set_fields(object, updated_new(list, &change, &own, by->now_ms));
        sl_json_free(list);
    }
    sl_fields_fini(&change);
}

/* --- apply ------------------------------------------------------------------------------------ */

/* The managers that there are; of an object that is not tracked, one for all that it has. */
static struct sl_json *managers_new(const struct sl_apply *a)
{
    struct sl_json *list = fields_of(a->live);
    if (a->live == NULL || sl_json_len(list) > 0) {
        return sl_json_ref(list);
    }
    struct sl_fields_change change;
    const struct sl_manager before = {.name = BEFORE_FIRST_APPLY, .status = a->by.status};
    const struct sl_manager_key key = key_of(a->kind, &before, false);
    compare(a->kind, NULL, a->live, a->by.status, &change);
    list = updated_new(NULL, &change, &key, a->by.now_ms);
    sl_fields_fini(&change);
    return list;
}

/* Preconditions and names are not merged: they have to fit. */
static void take_identity(struct sl_json *object, const struct sl_json *applied)
{
    static const char *const taken[] = {"name", "namespace", "uid", "resourceVersion"};
    struct sl_json *metadata = sl_json_path_make(object, "metadata");
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        struct sl_json *value = sl_json_get(sl_json_get(applied, "metadata"), taken[i]);
        if (value != NULL) {
            sl_json_set(metadata, taken[i], sl_json_ref(value));
        }
    }
}

static struct sl_json *merged_new(const struct sl_apply *a, const struct sl_json *view,
                                  const struct sl_json *last, const struct sl_json *owned)
{
    struct sl_json *object = a->live != NULL ? sl_json_clone(a->live) : sl_json_new_map();
    (void)sl_json_path_make(object, "metadata");
    sl_fields_merge(a->kind, object, view);
    sl_fields_prune(a->kind, object, last, owned);
    take_identity(object, a->applied);
    return object;
}

/* The others' sets after what was applied; conflicts are found there. */
static struct sl_json *others_new(struct sl_apply *a, const struct sl_json *list,
                                  const struct sl_manager_key *own, struct sl_json *merged)
{
    struct sl_fields_change change;
    compare(a->kind, a->live, merged, a->by.status, &change);
    struct sl_json *set = sl_set_union_new(change.modified, change.added);
    struct sl_json *others = sl_managers_without_new(list, set, change.removed, own);
    struct sl_json *before = sl_last_applied_new(a);
    struct sl_json *contested = sl_set_without_new(set, before);
    struct sl_json *conflicts = sl_managers_conflicts_new(list, contested, own);
    if (!a->force && sl_json_len(conflicts) > 0) {
        a->conflicts = sl_json_ref(conflicts);
    }
    sl_json_free(conflicts);
    sl_json_free(contested);
    sl_json_free(before);
    sl_json_free(set);
    sl_fields_fini(&change);
    return others;
}

/* A repetition is no change, whatever the time. */
static bool is_repeated(const struct sl_apply *a, const struct sl_json *merged,
                        const struct sl_json *last, const struct sl_json *set)
{
    struct sl_json *was = view_new(a->kind, a->live, a->by.status);
    struct sl_json *is = view_new(a->kind, merged, a->by.status);
    bool same = a->live != NULL && sl_json_equal(last, set) && sl_json_equal(was, is);
    sl_json_free(was);
    sl_json_free(is);
    return same;
}

void sl_managed_apply(struct sl_apply *a)
{
    SL_PRE(a->applied != NULL && a->by.name != NULL);
    const struct sl_manager_key own = key_of(a->kind, &a->by, true);
    struct sl_json *list = managers_new(a);
    struct sl_json *view = view_new(a->kind, a->applied, a->by.status);
    if (sl_json_len(sl_json_get(view, "metadata")) == 0) {
        sl_json_remove(view, "metadata");
    }
    struct sl_json *set = sl_fields_of_new(a->kind, view);
    struct sl_json *last = sl_managers_set_new(list, &own);
    struct sl_json *owned = sl_managers_union_new(list, &own, set);
    struct sl_json *merged = merged_new(a, view, last, owned);
    struct sl_json *managers = others_new(a, list, &own, merged);
    a->result = NULL;
    if (a->conflicts == NULL) {
        sl_managers_put(&managers, &own, set, a->by.now_ms);
        sl_managers_settle(&managers);
        bool repeated = is_repeated(a, merged, last, set);
        set_fields(merged, sl_json_ref(repeated ? fields_of(a->live) : managers));
        sl_last_applied_renew(a, merged);
        a->result = sl_json_ref(merged);
    }
    sl_json_free(managers);
    sl_json_free(merged);
    sl_json_free(owned);
    sl_json_free(last);
    sl_json_free(set);
    sl_json_free(view);
    sl_json_free(list);
}
