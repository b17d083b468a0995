/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which parents are looked at, and what is read for that. */
#include "controllers/variants/variants.h"
#include "api/kinds/variant.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "controllers/variants/family.h"
#include <string.h>

/* --- one look --------------------------------------------------------------------------------- */

/* NULL where it does not exist, or cannot be read now. */
static struct sl_json *queue_of(struct sl_reconciler *r, const struct sl_json *parent)
{
    bool absent;
    struct sl_json *local =
        sl_reconciler_get(r, SL_KIND_LOCAL_QUEUE, sl_object_namespace(parent),
                          sl_json_path_text(parent, "spec.queueName", ""), &absent);
    const char *name = sl_json_path_text(local, "spec.clusterQueue", "");
    struct sl_json *queue =
        name[0] == '\0' ? NULL : sl_reconciler_get(r, SL_KIND_CLUSTER_QUEUE, "", name, &absent);
    sl_json_free(local);
    return queue;
}

void sl_family_read_flavors(struct sl_family *f)
{
    SL_PRE(f != NULL);
    const struct sl_json *list = sl_json_get(
        sl_json_at(sl_json_path(f->cluster_queue, "spec.resourceGroups"), 0), "flavors");
    for (size_t i = 0; i < sl_json_len(list) && i < SL_VARIANT_FLAVORS_MAX; i++) {
        f->flavors[f->flavor_count++] = sl_json_path_text(sl_json_at(list, i), "name", "");
    }
}

/* Takes it over. */
static void forsake(struct sl_family *f, struct sl_json *variant)
{
    f->stale = sl_mem_grow(f->stale, f->stale_count + 1, sizeof *f->stale);
    f->stale[f->stale_count++] = variant;
}

static bool same(const struct sl_json *a, const struct sl_json *b, const char *path)
{
    return sl_json_equal(sl_json_path(a, path), sl_json_path(b, path));
}

/* Until its job has started it may ask for something else: what was given to such a variant is not for it. */
static bool is_outdated(const struct sl_family *f, const struct sl_json *variant)
{
    return !sl_condition_true(f->parent, "QuotaReserved") &&
           !sl_condition_true(f->parent, "Finished") &&
           (!same(f->parent, variant, "spec.podSets") ||
            !same(f->parent, variant, "spec.queueName"));
}

/* By its annotation; takes it over. */
static void add(struct sl_family *f, struct sl_json *variant)
{
    const char *flavor = sl_object_annotation(variant, SL_ANNOTATION_ALLOWED_FLAVORS);
    if (!f->offered && flavor != NULL && f->flavor_count < SL_VARIANT_FLAVORS_MAX) {
        f->flavors[f->flavor_count++] = flavor;
    }
    bool kept = flavor != NULL && !is_outdated(f, variant);
    for (size_t i = 0; i < f->flavor_count && kept; i++) {
        if (f->variants[i] == NULL && strcmp(f->flavors[i], flavor) == 0) {
            f->variants[i] = variant;
            return;
        }
    }
    forsake(f, variant);
}

static bool read_variants(struct sl_family *f, const struct sl_variants *v)
{
    size_t cursor = 0;
    const char *uid, *key;
    while (sl_job_children_next(v->variants, sl_object_uid(f->parent), &cursor, &uid, &key)) {
        struct sl_key at;
        bool absent = true;
        struct sl_json *one = sl_key_parse(key, &at) ? sl_reconciler_get(f->r, SL_KIND_WORKLOAD,
                                                                         at.ns, at.name, &absent)
                                                     : NULL;
        if (one == NULL && !absent) {
            return false;
        }
        bool known = one != NULL && strcmp(sl_object_uid(one), uid) == 0;
        if (known && !sl_object_deleting(one)) {
            add(f, one);
        } else {
            f->leaving_count += known;
            sl_json_free(one);
        }
    }
    return true;
}

static void take_steps(struct sl_family *f)
{
    static bool (*const steps[])(struct sl_family *) = {
        sl_family_drop_stale,    sl_family_make,   sl_family_pass_priority,
        sl_family_pass_eviction, sl_family_switch, sl_family_pass_status,
        sl_family_open_gate};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (steps[i](f)) {
            return;
        }
    }
}

static bool drop_all(struct sl_family *f)
{
    for (size_t i = 0; i < f->flavor_count; i++) {
        if (f->variants[i] != NULL) {
            forsake(f, f->variants[i]);
            f->variants[i] = NULL;
        }
    }
    return sl_family_drop_stale(f);
}

/* Its queue has no policy any more, or was deleted. What runs by a variant goes on and ends by it. What waits is an ordinary Workload
 * again, once it has no variants, and if there is a queue to wait in. */
static void take_last_steps(struct sl_family *f)
{
    if (sl_family_drop_stale(f)) {
        return;
    }
    if (!sl_condition_true(f->parent, "QuotaReserved") && f->cluster_queue != NULL &&
        !sl_condition_true(f->parent, "Finished")) {
        if (!drop_all(f) && f->leaving_count == 0) {
            (void)sl_family_label_parent(f, false);
        }
    } else if (!sl_family_pass_eviction(f) && !sl_family_switch(f)) {
        (void)sl_family_pass_status(f);
    }
}

static bool has_policy(const struct sl_family *f)
{
    return sl_json_type(sl_json_path(f->cluster_queue, "spec.concurrentAdmissionPolicy")) ==
           SL_JSON_MAP;
}

/* What runs as a plain Workload stays one until it has given back its quota. */
static void look(struct sl_variants *v, struct sl_family *f)
{
    f->cluster_queue = queue_of(f->r, f->parent);
    f->offered = f->cluster_queue != NULL && has_policy(f);
    if (f->offered) {
        sl_family_read_flavors(f);
    }
    if (!sl_variant_has_parent_label(f->parent)) {
        if (sl_engine_is_parent(v->engine, f->parent) &&
            !sl_condition_true(f->parent, "Finished")) {
            (void)sl_family_label_parent(f, true);
        }
    } else if (read_variants(f, v)) {
        (f->offered ? take_steps : take_last_steps)(f);
    }
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct sl_variants *v = self;
    bool absent;
    struct sl_family f = {.engine = v->engine,
                          .r = r,
                          .parent =
                              sl_reconciler_get(r, SL_KIND_WORKLOAD, key->ns, key->name, &absent),
                          .now_ms = now_ms};
    if (f.parent != NULL && sl_variant_parent(f.parent) == NULL && !sl_object_deleting(f.parent)) {
        look(v, &f);
    }
    for (size_t i = 0; i < f.flavor_count; i++) {
        sl_json_free(f.variants[i]);
    }
    for (size_t i = 0; i < f.stale_count; i++) {
        sl_json_free(f.stale[i]);
    }
    sl_mem_free(f.stale);
    sl_json_free(f.cluster_queue);
    sl_json_free(f.parent);
}

/* --- when ------------------------------------------------------------------------------------- */

void sl_variants_init(struct sl_variants *v, bool on, const struct sl_client *client,
                      struct sl_recorder *events, struct sl_engine *engine)
{
    SL_PRE(v != NULL);
    *v = (struct sl_variants){.on = on, .engine = engine};
    v->variants = sl_job_children_new();
    v->generations = sl_map_new();
    sl_reconciler_init(&v->parents, "variants", client, events);
    v->parents.self = v;
    v->parents.reconcile = reconcile;
}

void sl_variants_fini(struct sl_variants *v)
{
    SL_PRE(v != NULL);
    sl_reconciler_fini(&v->parents);
    sl_job_children_free(v->variants);
    sl_map_free(v->generations);
}

static void observe_workload(struct sl_variants *v, const struct sl_json *object, bool deleted)
{
    char key[SL_KEY_SIZE];
    const struct sl_json *owner = sl_variant_parent(object);
    sl_key_print(sl_object_namespace(object), sl_object_name(object), key);
    if (owner != NULL) {
        sl_job_children_put(v->variants, sl_json_path_text(owner, "uid", ""), sl_object_uid(object),
                            key, !deleted);
        sl_key_print(sl_object_namespace(object), sl_json_path_text(owner, "name", ""), key);
    }
    if (owner != NULL || (!deleted && sl_engine_is_parent(v->engine, object))) {
        sl_work_add(v->parents.work, key, SL_WORK_NOW);
    }
}

static void add_plain(void *context, struct sl_json *object)
{
    struct sl_variants *v = context;
    if (sl_variant_parent(object) == NULL) {
        observe_workload(v, object, false);
    }
}

/* A ClusterQueue with a policy, or a LocalQueue that leads to one. A ClusterQueue has no namespace in its key. */
static bool offers_variants(const struct sl_variants *v, const struct sl_json *queue)
{
    char key[SL_KEY_SIZE];
    union sl_map_value known;
    const char *cluster_queue = sl_json_path_text(queue, "spec.clusterQueue", "");
    sl_key_print("", cluster_queue, key);
    return sl_json_path(queue, "spec.concurrentAdmissionPolicy") != NULL ||
           (cluster_queue[0] != '\0' && sl_map_get(v->generations, key, &known));
}

/* Its flavors may be others, its policy, or where it leads: all that may name it are looked at again. */
static void observe_queue(struct sl_variants *v, const struct sl_json *object, bool deleted)
{
    const struct sl_client *client = v->parents.client;
    union sl_map_value known;
    uint64_t generation = (uint64_t)sl_object_generation(object);
    struct sl_error e = {0};
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(object), sl_object_name(object), key);
    bool knew = sl_map_get(v->generations, key, &known);
    if (deleted) {
        sl_map_remove(v->generations, key, NULL);
    } else if ((knew ? known.number != generation : offers_variants(v, object)) &&
               client->list(client->self, SL_KIND_WORKLOAD, sl_object_namespace(object), add_plain,
                            v, &e) == SL_CODE_OK) {
        sl_map_put(v->generations, key, (union sl_map_value){.number = generation});
    }
}

void sl_variants_observe(struct sl_variants *v, enum sl_kind kind, const struct sl_json *object,
                         bool deleted)
{
    SL_PRE(v != NULL);
    if (!v->on) {
        return;
    }
    if (kind == SL_KIND_WORKLOAD) {
        observe_workload(v, object, deleted);
    } else if (kind == SL_KIND_CLUSTER_QUEUE || kind == SL_KIND_LOCAL_QUEUE) {
        observe_queue(v, object, deleted);
    }
}
