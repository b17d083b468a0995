/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/requests/device_extended.h"
#include "api/objects/quantity.h"
#include "base/check.h"
#include "engine/requests/device_claims.h"
#include <string.h>

#define NANO 1000000000LL

/* The class that devices come from: the one made last, else the first by name, as the scheduler has it. NULL: none. */
static const char *class_behind(const struct sl_extended *x, const struct sl_pod_request *given)
{
    const char *best = NULL;
    int64_t made = 0;
    if (!x->settings->extended_devices || given->nano <= 0) {
        return NULL;
    }
    for (struct sl_map_item e = {0}; sl_map_each(x->classes, &e);) {
        const struct sl_json *class = e.value.pointer;
        int64_t at = sl_json_path_int(class, "created", 0);
        bool later = best == NULL || at > made || (at == made && strcmp(e.key, best) < 0);
        if (strcmp(sl_json_path_text(class, "extended", ""), given->resource) == 0 && later) {
            best = e.key;
            made = at;
        }
    }
    return best;
}

/* What one container requests, as text or number; NULL: none of it. */
static const struct sl_json *asked_by(const struct sl_json *container, const char *resource)
{
    const struct sl_json *resources = sl_json_get(container, "resources");
    const struct sl_json *asked = sl_json_get(sl_json_get(resources, "requests"), resource);
    return asked != NULL ? asked : sl_json_get(sl_json_get(resources, "limits"), resource);
}

static void print_container(const struct sl_extended *x, const char *list, size_t i)
{
    sl_buf_print(x->why, "spec.podSets[%zu].template.spec.%s[%zu]", x->pod->index, list, i);
}

/* Half a device cannot be had, also not by two containers. */
static enum sl_code check_whole(const struct sl_extended *x, const char *list, const char *resource)
{
    const struct sl_json *containers = sl_json_get(x->pod->spec, list);
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        const struct sl_json *asked = asked_by(sl_json_at(containers, i), resource);
        struct sl_quantity amount = {0};
        bool readable = asked != NULL && sl_quantity_read(asked, &amount, NULL) == SL_CODE_OK;
        if (readable && amount.nano % NANO != 0) {
            if (x->why != NULL) {
                print_container(x, list, i);
                sl_buf_print(x->why, ".resources.requests.%s: Invalid value: \"%s\": ", resource,
                             sl_json_text(asked, ""));
                sl_buf_text(x->why, "extended resource quantity must be an integer");
            }
            return SL_CODE_INVALID;
        }
    }
    return SL_CODE_OK;
}

/* The first container that asks for it. */
static void print_first(const struct sl_extended *x, const char *resource)
{
    static const char *const lists[] = {"initContainers", "containers"};
    for (size_t k = 0; k < 2; k++) {
        const struct sl_json *containers = sl_json_get(x->pod->spec, lists[k]);
        for (size_t i = 0; i < sl_json_len(containers); i++) {
            if (asked_by(sl_json_at(containers, i), resource) != NULL) {
                print_container(x, lists[k], i);
                return;
            }
        }
    }
    sl_buf_print(x->why, "spec.podSets[%zu].template.spec", x->pod->index);
}

/* Parts of devices have no number that could be asked for so. */
static enum sl_code refuse_source(const struct sl_extended *x, const char *resource,
                                  const char *class, bool capacity)
{
    if (x->why != NULL) {
        print_first(x, resource);
        sl_buf_print(
            x->why,
            ": Invalid value: \"%s\": extended resource %s resolves to DeviceClass %s with ",
            resource, resource, class);
        sl_buf_text(x->why, capacity ? "capacity sources configured; use ResourceClaimTemplates "
                                       "with capacity.requests for capacity-based quota"
                                     : "counters configured; use ResourceClaimTemplates with CEL "
                                       "selectors for counter-based quota");
    }
    return SL_CODE_INVALID;
}

static bool add(struct sl_pod_requests *to, const char *resource, __int128 nano)
{
    __int128 *sum = sl_pod_take_request(to, resource);
    return sum != NULL && !__builtin_add_overflow(*sum, nano, sum);
}

static enum sl_code replace(const struct sl_extended *x, const struct sl_pod_request *given,
                            const char *class)
{
    size_t at = 0;
    const struct sl_device_source *source = sl_device_source_next(x->settings, class, &at);
    const char *resource = sl_device_resource(x->settings, class);
    if (source != NULL) {
        return refuse_source(x, given->resource, class, source->capacity);
    }
    enum sl_code code = check_whole(x, "initContainers", given->resource);
    code = code == SL_CODE_OK ? check_whole(x, "containers", given->resource) : code;
    if (code == SL_CODE_OK &&
        !add(x->counted, resource == NULL ? given->resource : resource, given->nano)) {
        code = SL_CODE_INVALID;
    }
    return code;
}

static void leave_out(struct sl_pod_requests *r, const char *resource)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        if (strcmp(r->items[i].resource, resource) != 0) {
            r->items[kept++] = r->items[i];
        }
    }
    r->count = kept;
}

bool sl_extended_leave_out(const struct sl_extended *x)
{
    SL_PRE(x != NULL);
    bool any = false;
    for (uint32_t i = 0; i < x->given->count; i++) {
        if (class_behind(x, &x->given->items[i]) != NULL) {
            leave_out(x->counted, x->given->items[i].resource);
            any = true;
        }
    }
    return any;
}

enum sl_code sl_extended_add(const struct sl_extended *x)
{
    SL_PRE(x != NULL);
    enum sl_code code = SL_CODE_OK;
    for (uint32_t i = 0; i < x->given->count && code == SL_CODE_OK; i++) {
        const char *class = class_behind(x, &x->given->items[i]);
        if (class != NULL) {
            code = replace(x, &x->given->items[i], class);
        }
    }
    return code;
}
