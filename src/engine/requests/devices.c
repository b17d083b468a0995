/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is known of templates, classes and devices, and the claims of a pod. What a claim counts for is remembered, since
 * many pods claim the same: it is counted again when classes or devices have changed, and Workloads are only read
 * again when that makes a difference. */
#include "engine/requests/devices.h"
#include "api/objects/object.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/requests/device_claims.h"
#include "engine/requests/device_extended.h"
#include "engine/requests/device_slices.h"
#include <string.h>

#define COUNTS_MAX 4096u /* claims that are remembered */

struct sl_devices {
    struct sl_map *templates; /* "namespace/name" -> spec.spec, a struct sl_json * */
    struct sl_map
        *extended; /* class -> {name, extended, created}, of those with an extended resource */
    struct sl_map *classes; /* class -> spec.selectors, a list */
    struct sl_device_slices *slices;
    struct sl_map *asked;  /* "namespace/name" of templates that requests were made of */
    struct sl_map *counts; /* claim, as text -> struct remembered * */
    uint64_t changes;      /* of classes and slices */
    bool stale;            /* some counts may be of before */
    bool moved; /* some that requests were made of are not there any more, or are others now */
    bool news;
    uint64_t version, settled;
};

struct remembered {
    struct sl_claim_count count;
    uint64_t changes; /* by when it was counted */
};

static void free_count(void *value)
{
    struct remembered *r = value;
    sl_claim_count_fini(&r->count);
    sl_mem_free(r);
}

struct sl_devices *sl_devices_new(void)
{
    struct sl_devices *d = sl_mem_new(1, sizeof *d);
    d->templates = sl_map_new();
    d->extended = sl_map_new();
    d->classes = sl_map_new();
    d->slices = sl_device_slices_new();
    d->asked = sl_map_new();
    d->counts = sl_map_new();
    return d;
}

void sl_devices_free(struct sl_devices *d)
{
    SL_PRE(d != NULL);
    sl_map_free_with(d->templates, sl_json_free_value);
    sl_map_free_with(d->extended, sl_json_free_value);
    sl_map_free_with(d->classes, sl_json_free_value);
    sl_device_slices_free(d->slices);
    sl_map_free(d->asked);
    sl_map_free_with(d->counts, free_count);
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
    bool news = d->news;
    d->news = false;
    return news;
}

/* --- objects in ------------------------------------------------------------------------------- */

static void forget_counts(struct sl_devices *d)
{
    sl_map_free_with(d->counts, free_count);
    d->counts = sl_map_new();
}

/* All that requests were made of is asked for again by then. */
static void turn(struct sl_devices *d)
{
    sl_map_free(d->asked);
    d->asked = sl_map_new();
    forget_counts(d);
    d->moved = d->stale = false;
    d->news = true;
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

void sl_devices_take_template(struct sl_devices *d, const struct sl_json *object, bool deleted)
{
    SL_PRE(d != NULL);
    struct sl_json *fresh = NULL;
    char *key = sl_object_key_new(object);
    if (!deleted) {
        const struct sl_json *spec = sl_json_path(object, "spec.spec");
        fresh = spec == NULL ? sl_json_new_map() : sl_json_clone(spec);
    }
    if (put(d->templates, key, fresh) && sl_map_get(d->asked, key, NULL)) {
        turn(d);
    }
    sl_mem_free(key);
}

static void mark_stale(struct sl_devices *d)
{
    bool counted = sl_map_count(d->counts) > 0 || d->moved;
    d->changes++;
    d->stale = d->stale || counted;
    d->news = d->news || counted;
}

void sl_devices_take_class(struct sl_devices *d, const struct sl_json *object, bool deleted)
{
    SL_PRE(d != NULL);
    const char *name = sl_object_name(object);
    const char *extended = sl_json_path_text(object, "spec.extendedResourceName", "");
    struct sl_json *fresh = NULL;
    struct sl_json *selectors = NULL;
    if (!deleted && extended[0] != '\0') {
        fresh = sl_json_new_map();
        sl_json_set_text(fresh, "name", name);
        sl_json_set_text(fresh, "extended", extended);
        sl_json_set_int(fresh, "created", sl_object_created_ms(object));
    }
    if (!deleted) {
        const struct sl_json *list = sl_json_path(object, "spec.selectors");
        selectors = list == NULL ? sl_json_new_list() : sl_json_clone(list);
    }
    if (put(d->classes, name, selectors)) {
        mark_stale(d);
    }
    if (put(d->extended, name, fresh)) {
        turn(d);
    }
}

void sl_devices_take_slice(struct sl_devices *d, const struct sl_json *object, bool deleted)
{
    SL_PRE(d != NULL);
    if (sl_device_slices_take(d->slices, object, deleted)) {
        mark_stale(d);
    }
}

/* --- counts ----------------------------------------------------------------------------------- */

static struct remembered *count_new(const struct sl_engine *g, const struct sl_json *claim)
{
    struct sl_devices_world world = {
        .settings = &g->settings, .classes = g->devices->classes, .slices = g->devices->slices};
    struct remembered *r = sl_mem_new(1, sizeof *r);
    sl_claim_count_make(&world, claim, &r->count);
    r->changes = g->devices->changes;
    return r;
}

/* What is admitted now is admitted by the devices that there are now. */
static struct remembered *count_again(const struct sl_engine *g, const char *key,
                                      const struct sl_json *claim, struct remembered *old)
{
    struct sl_devices *d = g->devices;
    if (!old->count.by_devices || old->changes == d->changes) {
        return old;
    }
    struct remembered *fresh = count_new(g, claim);
    d->moved = d->moved || !sl_claim_count_equal(&old->count, &fresh->count);
    sl_map_put(d->counts, key, (union sl_map_value){.pointer = fresh});
    free_count(old);
    return fresh;
}

/* Lent until the next call. */
static const struct sl_claim_count *count_of(const struct sl_engine *g, const struct sl_json *claim)
{
    struct sl_devices *d = g->devices;
    struct sl_buf key = {0};
    sl_json_print(claim, &key);
    struct remembered *r = sl_map_find(d->counts, key.data);
    if (r != NULL) {
        r = count_again(g, key.data, claim, r);
    } else {
        if (sl_map_count(d->counts) >= COUNTS_MAX) {
            forget_counts(d);
            d->moved = true;
        }
        r = count_new(g, claim);
        sl_map_put(d->counts, key.data, (union sl_map_value){.pointer = r});
    }
    sl_buf_fini(&key);
    return &r->count;
}

static bool counts_differ(const struct sl_engine *g)
{
    for (struct sl_map_item e = {0}; !g->devices->moved && sl_map_each(g->devices->counts, &e);) {
        struct sl_json *claim = sl_json_parse(e.key, strlen(e.key), NULL);
        (void)count_again(g, e.key, claim, e.value.pointer);
        sl_json_free(claim);
    }
    return g->devices->moved;
}

bool sl_devices_settle(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    struct sl_devices *d = g->devices;
    if (d->stale && counts_differ(g)) {
        turn(d);
        d->news = false;
    }
    d->stale = false;
    bool changed = d->settled != d->version;
    d->settled = d->version;
    return changed;
}

/* --- claims of a pod -------------------------------------------------------------------------- */

/* Where in a Workload something is asked for. */
struct question {
    const struct sl_engine *g;
    const struct sl_devices_pod *pod;
    struct sl_pod_requests *counted;
    bool *changed;
    struct sl_buf *why;
    size_t claim; /* spec.resourceClaims[claim] */
};

static void print_claim(const struct question *q)
{
    sl_buf_print(q->why, "spec.podSets[%zu].template.spec.resourceClaims[%zu]", q->pod->index,
                 q->claim);
}

static enum sl_code refuse(const struct question *q, const char *format, const char *name)
{
    if (q->why != NULL) {
        print_claim(q);
        sl_buf_print(q->why, format, name);
    }
    return SL_CODE_INVALID;
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

/* What can be counted is, also of a claim that is refused. */
static enum sl_code add_claim(const struct question *q, const struct sl_json *claim,
                              const char *template)
{
    const struct sl_claim_count *c = count_of(q->g, claim);
    bool fits = true;
    for (uint32_t i = 0; i < c->amounts.count; i++) {
        __int128 *sum = sl_pod_take_request(q->counted, c->amounts.items[i].resource);
        fits = sum != NULL && !__builtin_add_overflow(*sum, c->amounts.items[i].nano, sum) && fits;
        *q->changed = true;
    }
    if (c->text != NULL && q->why != NULL) {
        print_claim(q);
        sl_claim_count_print(c, template, q->pod->name, q->why);
    } else if (!fits) {
        return refuse(q, ": Invalid value: too many devices or different resources%s", "");
    }
    return c->text == NULL ? SL_CODE_OK : SL_CODE_INVALID;
}

static enum sl_code count_claim(const struct question *q, const struct sl_json *claim)
{
    const char *template = sl_json_path_text(claim, "resourceClaimTemplateName", "");
    if (template[0] == '\0') {
        return refuse(q, ": Invalid value: null: names no ResourceClaimTemplate%s", "");
    }
    if (q->g->settings.device_mapping_count == 0) {
        return refuse(q,
                      ".resourceClaimTemplateName: Not found: \"no DeviceClass is mapped in DRA "
                      "configuration for podset %s\"",
                      q->pod->name);
    }
    const struct sl_json *known = look_up(q->g->devices, q->pod->ns, template);
    if (known != NULL) {
        return add_claim(q, known, template);
    }
    if (q->why != NULL) {
        print_claim(q);
        sl_buf_print(q->why,
                     ": Internal error: failed to get claim spec for ResourceClaimTemplate "
                     "%s in podset %s: ResourceClaimTemplate.resource.k8s.io \"%s\" not found",
                     template, q->pod->name, template);
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

bool sl_devices_may_be_in(const struct sl_engine *g, const struct sl_json *spec)
{
    SL_PRE(g != NULL);
    bool extended = g->settings.extended_devices && sl_map_count(g->devices->extended) > 0;
    return g->settings.devices &&
           (extended || sl_json_len(sl_json_get(spec, "resourceClaims")) > 0);
}

enum sl_code sl_devices_count(const struct sl_engine *g, const struct sl_devices_pod *pod,
                              const struct sl_pod_requests *given, struct sl_pod_requests *counted,
                              bool *changed, struct sl_buf *why)
{
    SL_PRE(g != NULL && pod != NULL && given != NULL && counted != NULL && changed != NULL);
    struct question q = {.g = g, .pod = pod, .counted = counted, .changed = changed, .why = why};
    struct sl_extended x = {.settings = &g->settings,
                            .classes = g->devices->extended,
                            .pod = pod,
                            .given = given,
                            .counted = counted,
                            .why = why};
    *changed = false;
    if (!sl_devices_may_be_in(g, pod->spec)) {
        return SL_CODE_OK;
    }
    *changed = sl_extended_leave_out(&x);
    enum sl_code code = count_claims(&q);
    return code == SL_CODE_OK ? sl_extended_add(&x) : code;
}
