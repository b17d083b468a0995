/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Injecting into and restoring pod templates. */
#include "controllers/work/template.h"
#include "api/objects/pod_shape.h"
#include "api/validate/topology_request.h"
#include "base/check.h"
#include <stdio.h>
#include <string.h>

/* The places that an injection may change: path of the parent in a template, and the member. */
struct place {
    const char *parent;
    const char *member;
    bool is_list;
};
static const struct place places[] = {{"metadata", "labels", false},
                                      {"metadata", "annotations", false},
                                      {"spec", "nodeSelector", false},
                                      {"spec", "tolerations", true},
                                      {"spec", "schedulingGates", true}};
#define PLACE_COUNT (sizeof places / sizeof places[0])

/* Pods may be spread by the first one: who plans nodes for a Workload has to see it in there. */
static const char *const managed_labels[] = {"batch.kubernetes.io/job-name",
                                             "batch.kubernetes.io/controller-uid", "job-name",
                                             "controller-uid"};
#define MANAGED_COUNT (sizeof managed_labels / sizeof managed_labels[0])

/* A stale one may be replaced: of pods that belonged to other slices before. */
static bool is_replaceable(const char *key, const struct sl_json *from)
{
    return strcmp(key, SL_ANNOTATION_SLICE) == 0 ||
           (strcmp(key, SL_ANNOTATION_WORKLOAD) == 0 && sl_json_has(from, SL_ANNOTATION_SLICE));
}

static enum sl_code check_map(const struct sl_json *into, const struct sl_json *from,
                              const char *what, struct sl_error *e)
{
    for (struct sl_json_member m = {0}; sl_json_each(from, &m);) {
        const struct sl_json *old = sl_json_get(into, m.key);
        if (old != NULL && !is_replaceable(m.key, from) && !sl_json_equal(old, m.value)) {
            return sl_error_set(e, SL_CODE_INVALID,
                                "%s \"%s\" is already \"%s\" and cannot become \"%s\"", what, m.key,
                                sl_json_text(old, ""), sl_json_text(m.value, ""));
        }
    }
    return SL_CODE_OK;
}

/* Append what is not there yet: injecting twice changes nothing. */
static void merge_list(struct sl_json *into, const struct sl_json *from)
{
    for (size_t i = 0; i < sl_json_len(from); i++) {
        const struct sl_json *item = sl_json_at(from, i);
        bool found = false;
        for (size_t k = 0; k < sl_json_len(into) && !found; k++) {
            found = sl_json_equal(sl_json_at(into, k), item);
        }
        if (!found) {
            sl_json_append(into, sl_json_clone(item));
        }
    }
}

static void merge_member(struct sl_json *parent, const char *member, const struct sl_json *from,
                         bool is_list)
{
    if (sl_json_len(from) == 0) {
        return;
    }
    if (sl_json_get(parent, member) == NULL) {
        sl_json_set(parent, member, is_list ? sl_json_new_list() : sl_json_new_map());
    }
    if (is_list) {
        merge_list(sl_json_get(parent, member), from);
    } else {
        sl_json_set_all(sl_json_get(parent, member), from);
    }
}

enum sl_code sl_injection_add_flavor(struct sl_json *injection, const struct sl_json *flavor,
                                     struct sl_error *e)
{
    const struct sl_json *labels = sl_json_path(flavor, "spec.nodeLabels");
    enum sl_code code =
        check_map(sl_json_get(injection, "nodeSelector"), labels, "node selector", e);
    if (code == SL_CODE_OK) {
        merge_member(injection, "nodeSelector", labels, false);
        merge_member(injection, "tolerations", sl_json_path(flavor, "spec.tolerations"), true);
    }
    return code;
}

enum sl_code sl_injection_add_update(struct sl_json *injection, const struct sl_json *update,
                                     struct sl_error *e)
{
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        const char *member = places[i].member;
        if (!places[i].is_list && check_map(sl_json_get(injection, member),
                                            sl_json_get(update, member), member, e) != SL_CODE_OK) {
            return SL_CODE_INVALID;
        }
    }
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        merge_member(injection, places[i].member, sl_json_get(update, places[i].member),
                     places[i].is_list);
    }
    return SL_CODE_OK;
}

/* A map of one member. */
static struct sl_json *pair_new(const char *key, const char *value)
{
    struct sl_json *map = sl_json_new_map();
    sl_json_set_text(map, key, value);
    return map;
}

static void merge_new(struct sl_json *injection, const char *member, struct sl_json *from,
                      bool is_list)
{
    merge_member(injection, member, from, is_list);
    sl_json_free(from);
}

void sl_injection_add_topology(struct sl_json *injection, const char *workload, const char *pod_set,
                               const struct sl_json *request)
{
    struct sl_json *gates = sl_json_new_list();
    sl_json_append(gates, pair_new("name", SL_GATE_TOPOLOGY));
    merge_new(injection, "schedulingGates", gates, true);
    merge_new(injection, "labels", pair_new(SL_LABEL_POD_SET, pod_set), false);
    merge_new(injection, "annotations", pair_new(SL_ANNOTATION_WORKLOAD, workload), false);
    if (!sl_json_has(request, "required") && !sl_json_has(request, "preferred") &&
        !sl_json_has(request, "unconstrained")) {
        merge_new(injection, "annotations", pair_new(SL_TOPOLOGY_UNCONSTRAINED, "true"), false);
    }
}

void sl_injection_add_offset(struct sl_json *injection, int64_t offset)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)offset);
    merge_new(injection, "annotations", pair_new(SL_ANNOTATION_INDEX_OFFSET, text), false);
}

bool sl_template_has_gate(const struct sl_json *template, const char *gate)
{
    return sl_json_find_by(sl_json_path(template, "spec.schedulingGates"), "name", gate) != NULL;
}

bool sl_template_gated(const struct sl_json *template)
{
    return sl_template_has_gate(template, SL_GATE_TOPOLOGY);
}

enum sl_code sl_template_inject(struct sl_json *template, const struct sl_json *injection,
                                struct sl_error *e)
{
    SL_PRE(sl_json_type(template) == SL_JSON_MAP);
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        const struct sl_json *old =
            sl_json_get(sl_json_get(template, places[i].parent), places[i].member);
        if (!places[i].is_list && check_map(old, sl_json_get(injection, places[i].member),
                                            places[i].member, e) != SL_CODE_OK) {
            return SL_CODE_INVALID;
        }
    }
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        const struct sl_json *add = sl_json_get(injection, places[i].member);
        if (sl_json_len(add) > 0) {
            merge_member(sl_json_path_make(template, places[i].parent), places[i].member, add,
                         places[i].is_list);
        }
    }
    return SL_CODE_OK;
}

/* Absent and empty are the same to the API. */
static bool same(const struct sl_json *a, const struct sl_json *b)
{
    return (sl_json_len(a) == 0 && sl_json_len(b) == 0) || sl_json_equal(a, b);
}

void sl_template_clean(struct sl_json *template)
{
    struct sl_json *labels = sl_json_path(template, "metadata.labels");
    if (labels == NULL) {
        return;
    }
    for (size_t i = 1; i < MANAGED_COUNT; i++) {
        sl_json_remove(labels, managed_labels[i]);
    }
    if (sl_json_len(labels) == 0) {
        sl_json_remove(sl_json_get(template, "metadata"), "labels");
    }
}

/* What the member should be again: as in the original, and the managed labels stay as they are now. */
static struct sl_json *restored(const struct place *place, const struct sl_json *now,
                                const struct sl_json *original)
{
    struct sl_json *out = original == NULL ? sl_json_new_map() : sl_json_clone(original);
    for (size_t i = 0; strcmp(place->member, "labels") == 0 && i < MANAGED_COUNT; i++) {
        const struct sl_json *value = sl_json_get(now, managed_labels[i]);
        if (value != NULL) {
            sl_json_set(out, managed_labels[i], sl_json_clone(value));
        }
    }
    return out;
}

bool sl_template_restore(struct sl_json *template, const struct sl_json *original)
{
    bool changed = false;
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        const char *member = places[i].member;
        struct sl_json *now = sl_json_get(sl_json_get(template, places[i].parent), member);
        struct sl_json *then =
            restored(&places[i], now, sl_json_get(sl_json_get(original, places[i].parent), member));
        if (same(now, then)) {
            sl_json_free(then);
            continue;
        }
        changed = true;
        if (sl_json_len(then) == 0) {
            sl_json_remove(sl_json_get(template, places[i].parent), member);
            sl_json_free(then);
        } else {
            sl_json_set(sl_json_path_make(template, places[i].parent), member, then);
        }
    }
    return changed;
}

static bool same_at(const struct sl_json *a, const struct sl_json *b, const char *path)
{
    return same(sl_json_path(a, path), sl_json_path(b, path));
}

static struct sl_json *settled_new(const struct sl_json *containers)
{
    struct sl_json *list = sl_json_clone(containers);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *c = sl_json_at(list, i);
        sl_resource_list_settle(sl_json_path(c, "resources.requests"));
        sl_resource_list_settle(sl_json_path(c, "resources.limits"));
    }
    return list;
}

/* A prebuilt Workload may write a quantity in another way. */
static bool same_containers(const struct sl_json *a, const struct sl_json *b)
{
    if (same(a, b)) {
        return true;
    }
    if (sl_json_len(a) != sl_json_len(b)) {
        return false;
    }
    struct sl_json *x = settled_new(a);
    struct sl_json *y = settled_new(b);
    bool equal = sl_json_equal(x, y);
    sl_json_free(x);
    sl_json_free(y);
    return equal;
}

bool sl_template_same_containers(const struct sl_json *a, const struct sl_json *b)
{
    return same_containers(sl_json_path(a, "spec.containers"),
                           sl_json_path(b, "spec.containers")) &&
           same_containers(sl_json_path(a, "spec.initContainers"),
                           sl_json_path(b, "spec.initContainers"));
}

bool sl_template_same_placement(const struct sl_json *a, const struct sl_json *b)
{
    return same_at(a, b, "spec.nodeSelector") && same_at(a, b, "spec.tolerations");
}
