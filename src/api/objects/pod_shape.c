/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Shapes of pods, member by member. */
#include "api/objects/pod_shape.h"

#include <string.h>

#include "api/objects/quantity.h"

/* An API server leaves out lists and maps that are empty; an affinity is neither to it. */
static bool is_absent(const struct sl_json *value)
{
    enum sl_json_type type = sl_json_type(value);
    bool holds = type == SL_JSON_LIST || type == SL_JSON_MAP;
    return type == SL_JSON_NULL || (holds && sl_json_len(value) == 0);
}

static struct sl_json *value_or_null(const struct sl_json *map, const char *key)
{
    const struct sl_json *value = sl_json_get(map, key);
    return is_absent(value) ? sl_json_new_null() : sl_json_clone(value);
}

void sl_resource_list_settle(struct sl_json *list)
{
    for (struct sl_json_member m = {0}; sl_json_each(list, &m);) {
        struct sl_quantity q;
        char text[64];
        if (sl_quantity_read(m.value, &q, NULL) == SL_CODE_OK) {
            sl_quantity_print(q, text);
            sl_json_set_text(list, m.key, text);
        }
    }
}

static struct sl_json *amounts_new(const struct sl_json *parent, const char *key)
{
    struct sl_json *list = value_or_null(parent, key);
    sl_resource_list_settle(list);
    return list;
}

/* What these resources ask for. */
static struct sl_json *requests_new(const struct sl_json *resources, bool with_limits)
{
    struct sl_json *requests = amounts_new(resources, "requests");
    if (!with_limits) {
        return requests;
    }
    struct sl_json *both = amounts_new(resources, "limits");
    if (is_absent(both)) {
        sl_json_free(both);
        return requests;
    }
    for (struct sl_json_member m = {0}; sl_json_each(requests, &m);) {
        sl_json_set(both, m.key, sl_json_clone(m.value));
    }
    sl_json_free(requests);
    return both;
}

static struct sl_json *containers_shape(const struct sl_json *list, bool with_limits)
{
    if (is_absent(list)) {
        return sl_json_new_null();
    }
    struct sl_json *out = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *c = sl_json_at(list, i);
        struct sl_json *shape = sl_json_new_map();
        struct sl_json *resources = sl_json_new_map();
        sl_json_set(shape, "ports", value_or_null(c, "ports"));
        sl_json_set(resources, "requests", requests_new(sl_json_get(c, "resources"), with_limits));
        sl_json_set(shape, "resources", resources);
        sl_json_append(out, shape);
    }
    return out;
}

static struct sl_json *member_new(const struct sl_json *pod_spec, const char *name,
                                  bool with_limits)
{
    const struct sl_json *value = sl_json_get(pod_spec, name);
    if (strcmp(name, "containers") == 0 || strcmp(name, "initContainers") == 0) {
        return containers_shape(value, with_limits);
    }
    if (strcmp(name, "resources") == 0) {
        return requests_new(value, with_limits);
    }
    if (strcmp(name, "overhead") == 0) {
        return amounts_new(pod_spec, name);
    }
    if (strcmp(name, "affinity") == 0 && value != NULL) {
        return sl_json_clone(value);
    }
    return value_or_null(pod_spec, name);
}

static struct sl_json *shape_new(const struct sl_json *pod_spec, bool with_limits)
{
    static const char *const members[] = {
        "affinity",         "containers",  "initContainers",           "nodeSelector",
        "overhead",         "priority",    "resourceClaims",           "resources",
        "runtimeClassName", "tolerations", "topologySpreadConstraints"};
    struct sl_json *shape = sl_json_new_map();
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        bool whole = strcmp(members[i], "resources") == 0; /* of the whole pod */
        if (!whole || sl_json_get(pod_spec, members[i]) != NULL) {
            sl_json_set(shape, members[i], member_new(pod_spec, members[i], with_limits));
        }
    }
    return shape;
}

struct sl_json *sl_pod_shape_new(const struct sl_json *pod_spec)
{
    return shape_new(pod_spec, false);
}

struct sl_json *sl_pod_shape_with_limits_new(const struct sl_json *pod_spec)
{
    return shape_new(pod_spec, true);
}
