/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Shapes of pods, member by member. */
#include "api/pod_shape.h"

#include <string.h>

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

static struct sl_json *containers_shape(const struct sl_json *list)
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
        sl_json_set(resources, "requests", value_or_null(sl_json_get(c, "resources"), "requests"));
        sl_json_set(shape, "resources", resources);
        sl_json_append(out, shape);
    }
    return out;
}

static struct sl_json *member_new(const struct sl_json *pod_spec, const char *name)
{
    const struct sl_json *value = sl_json_get(pod_spec, name);
    if (strcmp(name, "containers") == 0 || strcmp(name, "initContainers") == 0) {
        return containers_shape(value);
    }
    if (strcmp(name, "affinity") == 0 && value != NULL) {
        return sl_json_clone(value);
    }
    return value_or_null(pod_spec, name);
}

struct sl_json *sl_pod_shape_new(const struct sl_json *pod_spec)
{
    static const char *const members[] = {
        "affinity",         "containers",  "initContainers",           "nodeSelector",
        "overhead",         "priority",    "resourceClaims",           "resources",
        "runtimeClassName", "tolerations", "topologySpreadConstraints"};
    const struct sl_json *whole = sl_json_get(pod_spec, "resources");
    struct sl_json *shape = sl_json_new_map();
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (strcmp(members[i], "resources") != 0) {
            sl_json_set(shape, members[i], member_new(pod_spec, members[i]));
        } else if (whole != NULL) { /* of the whole pod: not there where nothing is said */
            sl_json_set(shape, members[i], value_or_null(whole, "requests"));
        }
    }
    return shape;
}
