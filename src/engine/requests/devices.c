/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How many devices a claim may get is known from its requests alone, where they ask for exactly so many: which of them its
 * selectors choose is the driver's and the scheduler's business. What is not known so is refused with a sentence: all there
 * are, the first alternative that is available, counters and capacities of shared devices. */
#include "engine/requests/devices.h"
#include "api/objects/object.h"
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include <string.h>

#define NANO 1000000000LL

struct sl_devices {
    struct sl_map *templates; /* "namespace/name" -> spec.spec, a struct sl_json * */
    struct sl_map
        *classes; /* name -> {name, extended, created}, of those with an extended resource */
    struct sl_map *asked; /* "namespace/name" of templates that requests were made of */
    uint64_t version, answered;
};

struct sl_devices *sl_devices_new(void)
{
    struct sl_devices *d = sl_mem_new(1, sizeof *d);
    d->templates = sl_map_new();
    d->classes = sl_map_new();
    d->asked = sl_map_new();
    return d;
}

void sl_devices_free(struct sl_devices *d)
{
    SL_PRE(d != NULL);
    sl_map_free_with(d->templates, sl_json_free_value);
    sl_map_free_with(d->classes, sl_json_free_value);
    sl_map_free(d->asked);
    sl_mem_free(d);
}

uint64_t sl_devices_version(const struct sl_devices *d)
{
    SL_PRE(d != NULL);
    return d->version;
}

bool sl_devices_changed(struct sl_devices *d)
{
    SL_PRE(d != NULL);
    bool changed = d->answered != d->version;
    d->answered = d->version;
    return changed;
}

/* --- objects in ------------------------------------------------------------------------------- */

/* All that requests were made of is asked for again by then. */
static void turn(struct sl_devices *d)
{
    sl_map_free(d->asked);
    d->asked = sl_map_new();
    d->version++;
}

/* Takes `fresh` (NULL = none); has it changed? */
static bool put(struct sl_map *map, const char *key, struct sl_json *fresh)
{
    struct sl_json *old = sl_map_find(map, key);
    if (fresh == NULL ? old == NULL : old != NULL && sl_json_equal(old, fresh)) {
        sl_json_free(fresh);
        return false;
    }
    if (fresh == NULL) {
        (void)sl_map_remove(map, key, NULL);
    } else {
        sl_map_put(map, key, (union sl_map_value){.pointer = fresh});
    }
    sl_json_free(old);
    return true;
}

void sl_devices_take_template(struct sl_devices *d, const struct sl_json *object, bool gone)
{
    SL_PRE(d != NULL);
    struct sl_json *fresh = NULL;
    char *key = sl_object_key_new(object);
    if (!gone) {
        const struct sl_json *spec = sl_json_path(object, "spec.spec");
        fresh = spec == NULL ? sl_json_new_map() : sl_json_clone(spec);
    }
    if (put(d->templates, key, fresh) && sl_map_get(d->asked, key, NULL)) {
        turn(d);
    }
    sl_mem_free(key);
}

void sl_devices_take_class(struct sl_devices *d, const struct sl_json *object, bool gone)
{
    SL_PRE(d != NULL);
    const char *extended = sl_json_path_text(object, "spec.extendedResourceName", "");
    struct sl_json *fresh = NULL;
    if (!gone && extended[0] != '\0') {
        fresh = sl_json_new_map();
        sl_json_set_text(fresh, "name", sl_object_name(object));
        sl_json_set_text(fresh, "extended", extended);
        sl_json_set_int(fresh, "created", sl_object_created_ms(object));
    }
    if (put(d->classes, sl_object_name(object), fresh)) {
        turn(d);
    }
}

/* --- what cannot be counted ------------------------------------------------------------------- */

/* Where in a Workload something is asked for, and what cannot be counted there. */
struct question {
    const struct sl_engine *g;
    const struct sl_devices_pod *pod;
    struct sl_pod_requests *counted;
    bool *changed;
    struct sl_buf *why;
    size_t claim; /* spec.resourceClaims[claim] */
    const char *template;
};

static void print_pod(const struct question *q)
{
    sl_buf_print(q->why, "spec.podSets[%zu].template.spec", q->pod->index);
}

/* A claim, and a path in what its template says. */
static void print_claim(const struct question *q, const char *path)
{
    print_pod(q);
    sl_buf_print(q->why, ".resourceClaims[%zu]%s", q->claim, path);
}

static enum sl_code refuse_request(const struct question *q, size_t request, const char *member,
                                   const char *value, const char *text)
{
    if (q->why != NULL) {
        print_claim(q, ".devices.requests");
        sl_buf_print(q->why, "[%zu]%s: Invalid value: %s: ResourceClaimTemplate %s: %s", request,
                     member, value, q->template, text);
    }
    return SL_CODE_INVALID;
}

static enum sl_code refuse_class(const struct question *q, const char *format, const char *class)
{
    if (q->why != NULL) {
        print_claim(q, ".resourceClaimTemplateName: Not found: \"");
        sl_buf_print(q->why, format, class, q->pod->name);
        sl_buf_text(q->why, "\"");
    }
    return SL_CODE_INVALID;
}

static enum sl_code refuse_claim(const struct question *q, const char *text)
{
    if (q->why != NULL) {
        print_claim(q, "");
        sl_buf_print(q->why, ": %s", text);
    }
    return SL_CODE_INVALID;
}

/* --- claims ----------------------------------------------------------------------------------- */

static const struct sl_device_mapping *mapping_of(const struct sl_engine *g, const char *class)
{
    for (size_t i = 0; i < g->settings.device_mapping_count; i++) {
        if (strcmp(g->settings.device_mappings[i].device_class, class) == 0) {
            return &g->settings.device_mappings[i];
        }
    }
    return NULL;
}

static bool add(struct sl_pod_requests *to, const char *resource, __int128 nano)
{
    __int128 *sum = sl_pod_take_request(to, resource);
    return sum != NULL && !__builtin_add_overflow(*sum, nano, sum);
}

static enum sl_code count_exactly(const struct question *q, size_t index,
                                  const struct sl_json *exactly)
{
    const char *mode = sl_json_path_text(exactly, "allocationMode", "");
    const char *class = sl_json_path_text(exactly, "deviceClassName", "");
    if (sl_json_path_bool(exactly, "adminAccess", false) || class[0] == '\0') {
        return SL_CODE_OK; /* to look at devices that others use takes none */
    }
    if (strcmp(mode, "All") == 0) {
        return refuse_request(q, index, ".exactly.allocationMode", "\"All\"",
                              "AllocationMode 'All' is not supported");
    }
    if (mode[0] != '\0' && strcmp(mode, "ExactCount") != 0) {
        return refuse_request(q, index, ".exactly.allocationMode", "null",
                              "unsupported allocation mode");
    }
    const struct sl_device_mapping *mapping = mapping_of(q->g, class);
    if (mapping == NULL) {
        return refuse_class(q, "DeviceClass %s is not mapped in DRA configuration for podset %s",
                            class);
    }
    if (mapping->by_source) {
        return refuse_class(q,
                            "DeviceClass %s is counted by counters or capacities of its devices in "
                            "podset %s, which Sluice does not support",
                            class);
    }
    int64_t count = sl_json_path_int(exactly, "count", 1);
    if (count < 0 || !add(q->counted, mapping->resource, (__int128)count * NANO)) {
        return refuse_claim(q, "Invalid value: too many devices or different resources");
    }
    *q->changed = true;
    return SL_CODE_OK;
}

static enum sl_code count_requests(const struct question *q, const struct sl_json *claim)
{
    const struct sl_json *requests = sl_json_path(claim, "devices.requests");
    for (size_t i = 0; i < sl_json_len(requests); i++) {
        const struct sl_json *request = sl_json_at(requests, i);
        const struct sl_json *exactly = sl_json_get(request, "exactly");
        enum sl_code code =
            sl_json_get(request, "firstAvailable") != NULL
                ? refuse_request(q, i, "", "null",
                                 "FirstAvailable device selection is not supported")
            : exactly == NULL
                ? refuse_request(q, i, "", "null", "Exactly must be set if FirstAvailable is nil")
                : count_exactly(q, i, exactly);
        if (code != SL_CODE_OK) {
            return code;
        }
    }
    return SL_CODE_OK;
}

/* The claim that is made for each pod; from now on it matters when its template changes. NULL: there is none yet. */
static const struct sl_json *look_up(struct sl_devices *d, const char *ns, const char *name)
{
    struct sl_buf key = {0};
    sl_buf_print(&key, "%s/%s", ns, name);
    sl_map_put(d->asked, key.data, (union sl_map_value){.number = 1});
    const struct sl_json *claim = sl_map_find(d->templates, key.data);
    sl_buf_fini(&key);
    return claim;
}

static enum sl_code count_claim(struct question *q, const struct sl_json *claim)
{
    q->template = sl_json_path_text(claim, "resourceClaimTemplateName", "");
    if (q->template[0] == '\0') {
        return refuse_claim(q, "Invalid value: null: names no ResourceClaimTemplate");
    }
    if (q->g->settings.device_mapping_count == 0) {
        return refuse_class(q, "no DeviceClass%s is mapped in DRA configuration for podset %s", "");
    }
    const struct sl_json *known = look_up(q->g->devices, q->pod->ns, q->template);
    if (known != NULL) {
        return count_requests(q, known);
    }
    if (q->why != NULL) {
        print_claim(q, ": Internal error: failed to get claim spec for ResourceClaimTemplate");
        sl_buf_print(q->why,
                     " %s in podset %s: ResourceClaimTemplate.resource.k8s.io \"%s\" not found",
                     q->template, q->pod->name, q->template);
    }
    return SL_CODE_INVALID;
}

static enum sl_code count_claims(struct question *q)
{
    const struct sl_json *claims = sl_json_get(q->pod->spec, "resourceClaims");
    for (q->claim = 0; q->claim < sl_json_len(claims); q->claim++) {
        enum sl_code code = count_claim(q, sl_json_at(claims, q->claim));
        if (code != SL_CODE_OK) {
            return code;
        }
    }
    return SL_CODE_OK;
}

/* --- extended resources ----------------------------------------------------------------------- */

/* The class that devices come from: the one made last, else the first by name, as the scheduler has it. NULL: none. */
static const char *class_behind(const struct sl_devices *d, const char *resource)
{
    const char *best = NULL;
    int64_t made = 0;
    for (struct sl_map_item e = {0}; sl_map_each(d->classes, &e);) {
        const struct sl_json *class = e.value.pointer;
        int64_t at = sl_json_path_int(class, "created", 0);
        bool later = best == NULL || at > made || (at == made && strcmp(e.key, best) < 0);
        if (strcmp(sl_json_path_text(class, "extended", ""), resource) == 0 && later) {
            best = e.key;
            made = at;
        }
    }
    return best;
}

/* Half a device cannot be had, also not by two containers. */
static enum sl_code check_whole(const struct question *q, const char *list, const char *resource)
{
    const struct sl_json *containers = sl_json_get(q->pod->spec, list);
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        const struct sl_json *resources = sl_json_get(sl_json_at(containers, i), "resources");
        const struct sl_json *asked = sl_json_get(sl_json_get(resources, "requests"), resource);
        asked = asked != NULL ? asked : sl_json_get(sl_json_get(resources, "limits"), resource);
        struct sl_quantity amount = {0};
        bool readable = asked != NULL && sl_quantity_read(asked, &amount, NULL) == SL_CODE_OK;
        if (readable && amount.nano % NANO != 0) {
            if (q->why != NULL) {
                print_pod(q);
                sl_buf_print(q->why,
                             ".%s[%zu].resources.requests.%s: Invalid value: \"%s\": ", list, i,
                             resource, sl_json_text(asked, ""));
                sl_buf_text(q->why, "extended resource quantity must be an integer");
            }
            return SL_CODE_INVALID;
        }
    }
    return SL_CODE_OK;
}

static enum sl_code replace(const struct question *q, const struct sl_pod_request *given,
                            const char *class)
{
    const struct sl_device_mapping *mapping = mapping_of(q->g, class);
    if (mapping != NULL && mapping->by_source) {
        if (q->why != NULL) {
            print_pod(q);
            sl_buf_print(q->why,
                         ": Invalid value: \"%s\": extended resource %s resolves to DeviceClass %s",
                         given->resource, given->resource, class);
            sl_buf_text(q->why,
                        " with counters or capacities configured, which Sluice does not support");
        }
        return SL_CODE_INVALID;
    }
    enum sl_code code = check_whole(q, "initContainers", given->resource);
    code = code == SL_CODE_OK ? check_whole(q, "containers", given->resource) : code;
    if (code == SL_CODE_OK &&
        !add(q->counted, mapping == NULL ? given->resource : mapping->resource, given->nano)) {
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

static bool is_behind(const struct question *q, const struct sl_pod_request *given,
                      const char **class)
{
    bool may_be = q->g->settings.extended_devices && given->nano > 0;
    *class = may_be ? class_behind(q->g->devices, given->resource) : NULL;
    return *class != NULL;
}

/* The same of all of them, before anything is added: what one is mapped to may be called as another. */
static void leave_extended(const struct question *q, const struct sl_pod_requests *given)
{
    const char *class;
    for (uint32_t i = 0; i < given->count; i++) {
        if (is_behind(q, &given->items[i], &class)) {
            leave_out(q->counted, given->items[i].resource);
            *q->changed = true;
        }
    }
}

static enum sl_code add_extended(const struct question *q, const struct sl_pod_requests *given)
{
    const char *class;
    enum sl_code code = SL_CODE_OK;
    for (uint32_t i = 0; i < given->count && code == SL_CODE_OK; i++) {
        if (is_behind(q, &given->items[i], &class)) {
            code = replace(q, &given->items[i], class);
        }
    }
    return code;
}

bool sl_devices_may_be_in(const struct sl_engine *g, const struct sl_json *spec)
{
    SL_PRE(g != NULL);
    bool extended = g->settings.extended_devices && sl_map_count(g->devices->classes) > 0;
    return g->settings.devices &&
           (extended || sl_json_len(sl_json_get(spec, "resourceClaims")) > 0);
}

enum sl_code sl_devices_count(const struct sl_engine *g, const struct sl_devices_pod *pod,
                              const struct sl_pod_requests *given, struct sl_pod_requests *counted,
                              bool *changed, struct sl_buf *why)
{
    SL_PRE(g != NULL && pod != NULL && given != NULL && counted != NULL && changed != NULL);
    struct question q = {.g = g, .pod = pod, .counted = counted, .changed = changed, .why = why};
    *changed = false;
    if (!sl_devices_may_be_in(g, pod->spec)) {
        return SL_CODE_OK;
    }
    leave_extended(&q, given);
    enum sl_code code = count_claims(&q);
    return code == SL_CODE_OK ? add_extended(&q, given) : code;
}
