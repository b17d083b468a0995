/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Shapes of pods, member by member. */
#include "api/pod_shape.h"

static struct sl_json *value_or_null(const struct sl_json *map, const char *key)
{
    const struct sl_json *value = sl_json_get(map, key);
    return value == NULL ? sl_json_new_null() : sl_json_clone(value);
}

static struct sl_json *containers_shape(const struct sl_json *list)
{
    if (sl_json_len(list) == 0) {
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

struct sl_json *sl_pod_shape_new(const struct sl_json *pod_spec)
{
    static const char *const members[] = {"affinity",       "containers",
                                          "initContainers", "nodeSelector",
                                          "overhead",       "priority",
                                          "resourceClaims", "runtimeClassName",
                                          "tolerations",    "topologySpreadConstraints"};
    struct sl_json *shape = sl_json_new_map();
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        bool containers = i == 1 || i == 2;
        if (i == 7 && sl_json_get(pod_spec, "resources") != NULL) {
            sl_json_set(shape, "resources",
                        value_or_null(sl_json_get(pod_spec, "resources"), "requests"));
        }
        sl_json_set(shape, members[i],
                    containers ? containers_shape(sl_json_get(pod_spec, members[i]))
                               : value_or_null(pod_spec, members[i]));
    }
    return shape;
}
