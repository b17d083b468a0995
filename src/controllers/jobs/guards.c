/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Counting users, and writing metadata.finalizers. */
#include "controllers/jobs/guards.h"
#include "base/check.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "controllers/jobs/job.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_KEY_SIZE 300u

static const enum sl_kind kinds[SL_GUARDED_KINDS] = {
    SL_KIND_TOPOLOGY, SL_KIND_RESOURCE_FLAVOR, SL_KIND_ADMISSION_CHECK, SL_KIND_CLUSTER_QUEUE};

static size_t index_of(enum sl_kind kind)
{
    size_t i = 0;
    while (i < SL_GUARDED_KINDS && kinds[i] != kind) {
        i++;
    }
    return i;
}

static void key_of(enum sl_kind kind, const char *name, char out[static NAMED_KEY_SIZE])
{
    (void)snprintf(out, NAMED_KEY_SIZE, "%d/%.253s", (int)kind, name);
}

static void look_at(struct sl_guards *g, enum sl_kind kind, const char *name)
{
    char key[SL_KEY_SIZE];
    sl_key_print("", name, key);
    sl_work_add(g->kinds[index_of(kind)].work, key, SL_WORK_NOW);
}

/* --- which object names which ----------------------------------------------------------------- */

static void name_one(struct sl_json *list, enum sl_kind kind, const char *name)
{
    char key[NAMED_KEY_SIZE];
    if (name[0] != '\0') {
        key_of(kind, name, key);
        sl_json_append(list, sl_json_new_text(key));
    }
}

static void name_all(struct sl_json *list, enum sl_kind kind, const struct sl_json *items,
                     const char *field)
{
    for (size_t i = 0; i < sl_json_len(items); i++) {
        const struct sl_json *item = sl_json_at(items, i);
        name_one(list, kind,
                 field == NULL ? sl_json_text(item, "") : sl_json_path_text(item, field, ""));
    }
}

static struct sl_json *named_by(enum sl_kind kind, const struct sl_json *object)
{
    struct sl_json *list = sl_json_new_list();
    if (kind == SL_KIND_RESOURCE_FLAVOR) {
        name_one(list, SL_KIND_TOPOLOGY, sl_json_path_text(object, "spec.topologyName", ""));
    } else if (kind == SL_KIND_CLUSTER_QUEUE) {
        const struct sl_json *groups = sl_json_path(object, "spec.resourceGroups");
        for (size_t i = 0; i < sl_json_len(groups); i++) {
            name_all(list, SL_KIND_RESOURCE_FLAVOR, sl_json_get(sl_json_at(groups, i), "flavors"),
                     "name");
        }
        name_all(list, SL_KIND_ADMISSION_CHECK, sl_json_path(object, "spec.admissionChecks"), NULL);
        name_all(list, SL_KIND_ADMISSION_CHECK,
                 sl_json_path(object, "spec.admissionChecksStrategy.admissionChecks"), "name");
    }
    return list;
}

static void count_user(struct sl_guards *g, const char *key, bool more)
{
    union sl_map_value value = {0};
    (void)sl_map_get(g->users, key, &value);
    value.number += more ? 1 : UINT64_MAX;
    if (value.number > 0) {
        sl_map_put(g->users, key, value);
        return;
    }
    (void)sl_map_remove(g->users, key, NULL);
    look_at(g, (enum sl_kind)strtol(key, NULL, 10), strchr(key, '/') + 1);
}

static void count_all(struct sl_guards *g, const struct sl_json *list, bool more)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        count_user(g, sl_json_text(sl_json_at(list, i), ""), more);
    }
}

/* Those that it names now are counted before those that it named: none is let go in between. */
static void note_user(struct sl_guards *g, enum sl_kind kind, const struct sl_json *object,
                      bool deleted)
{
    char key[NAMED_KEY_SIZE];
    union sl_map_value old = {.pointer = NULL};
    struct sl_json *fresh = deleted ? sl_json_new_list() : named_by(kind, object);
    key_of(kind, sl_object_name(object), key);
    (void)sl_map_remove(g->named, key, &old);
    count_all(g, fresh, true);
    count_all(g, old.pointer, false);
    sl_json_free(old.pointer);
    if (sl_json_len(fresh) > 0) {
        sl_map_put(g->named, key, (union sl_map_value){.pointer = fresh});
    } else {
        sl_json_free(fresh);
    }
}

static bool in_use(const struct sl_guards *g, enum sl_kind kind, const char *name)
{
    char key[NAMED_KEY_SIZE];
    if (kind == SL_KIND_CLUSTER_QUEUE) {
        return sl_engine_holders(g->engine, name) > 0;
    }
    key_of(kind, name, key);
    return sl_map_get(g->users, key, NULL);
}

/* --- the finalizer ---------------------------------------------------------------------------- */

static void write_finalizers(struct sl_reconciler *r, enum sl_kind kind, struct sl_json *object,
                             struct sl_json *finalizers)
{
    struct sl_json *patch = sl_json_new_map();
    struct sl_json *metadata = sl_json_path_make(patch, "metadata");
    struct sl_write w = {.verb = SL_VERB_PATCH_MERGE,
                         .kind = kind,
                         .ns = "",
                         .name = sl_object_name(object),
                         .body = patch,
                         .uid = sl_object_uid(object)};
    /* the list is written whole */
    sl_json_set_text(metadata, "resourceVersion", sl_object_resource_version(object));
    sl_json_set(metadata, "finalizers", finalizers);
    sl_reconciler_write(r, &w, NULL);
    sl_json_free(patch);
}

static void set_finalizer(struct sl_reconciler *r, enum sl_kind kind, struct sl_json *object)
{
    const struct sl_json *old = sl_json_path(object, "metadata.finalizers");
    struct sl_json *list = old == NULL ? sl_json_new_list() : sl_json_clone(old);
    sl_json_append(list, sl_json_new_text(SL_FINALIZER));
    write_finalizers(r, kind, object, list);
}

static void drop_finalizer(struct sl_reconciler *r, enum sl_kind kind, struct sl_json *object)
{
    sl_workload_drop_finalizer(object);
    sl_log(SL_LOG_INFO, "no longer in use, its finalizer is removed", "kind",
           sl_kind_info(kind)->kind, "name", sl_object_name(object), NULL);
    write_finalizers(r, kind, object, sl_json_clone(sl_json_path(object, "metadata.finalizers")));
}

/* Flavors and checks are guarded at first sight and not again, as in Kueue: a user who removes the
 * finalizer wants the object to be deleted, even in use. */
static bool was_let_go(const struct sl_guards *g, enum sl_kind kind, const char *name)
{
    char key[NAMED_KEY_SIZE];
    key_of(kind, name, key);
    return (kind == SL_KIND_RESOURCE_FLAVOR || kind == SL_KIND_ADMISSION_CHECK) &&
           sl_map_get(g->guarded, key, NULL);
}

static void note_guarded(struct sl_guards *g, enum sl_kind kind, const struct sl_json *object,
                         bool deleted)
{
    char key[NAMED_KEY_SIZE];
    key_of(kind, sl_object_name(object), key);
    if (deleted) {
        (void)sl_map_remove(g->guarded, key, NULL);
    } else if (sl_workload_has_finalizer(object)) {
        sl_map_put(g->guarded, key, (union sl_map_value){0});
    }
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct sl_guards *g = self;
    enum sl_kind kind = kinds[r - g->kinds];
    bool absent;
    struct sl_json *object = sl_reconciler_get(r, kind, "", key->name, &absent);
    (void)now_ms;
    if (object == NULL) {
        return;
    }
    bool guarded = sl_workload_has_finalizer(object);
    if (!sl_object_deleting(object) && !guarded && !was_let_go(g, kind, key->name)) {
        set_finalizer(r, kind, object);
    } else if (sl_object_deleting(object) && guarded && !in_use(g, kind, key->name)) {
        drop_finalizer(r, kind, object);
    }
    sl_json_free(object);
}

/* --- the controller --------------------------------------------------------------------------- */

void sl_guards_init(struct sl_guards *g, const struct sl_client *client, struct sl_recorder *events,
                    struct sl_engine *engine)
{
    *g = (struct sl_guards){.named = sl_map_new(),
                            .users = sl_map_new(),
                            .leaving = sl_map_new(),
                            .guarded = sl_map_new(),
                            .engine = engine};
    for (size_t i = 0; i < SL_GUARDED_KINDS; i++) {
        sl_reconciler_init(&g->kinds[i], "guard", client, events);
        g->kinds[i].self = g;
        g->kinds[i].reconcile = reconcile;
    }
}

void sl_guards_fini(struct sl_guards *g)
{
    SL_PRE(g != NULL);
    sl_map_free_with(g->named, sl_json_free_value);
    for (size_t i = 0; i < SL_GUARDED_KINDS; i++) {
        sl_reconciler_fini(&g->kinds[i]);
    }
    sl_map_free(g->users);
    sl_map_free(g->leaving);
    sl_map_free(g->guarded);
}

static void note_leaving(struct sl_guards *g, const struct sl_json *object, bool deleted)
{
    if (!deleted && sl_object_deleting(object)) {
        sl_map_put(g->leaving, sl_object_name(object), (union sl_map_value){0});
    } else {
        (void)sl_map_remove(g->leaving, sl_object_name(object), NULL);
    }
}

void sl_guards_observe(struct sl_guards *g, enum sl_kind kind, const struct sl_json *object,
                       bool deleted)
{
    if (index_of(kind) == SL_GUARDED_KINDS) {
        return;
    }
    note_user(g, kind, object, deleted);
    note_guarded(g, kind, object, deleted);
    if (kind == SL_KIND_CLUSTER_QUEUE) {
        note_leaving(g, object, deleted);
    }
    /* One that is as it should be is not read again. */
    if (!deleted && sl_object_deleting(object) == sl_workload_has_finalizer(object)) {
        look_at(g, kind, sl_object_name(object));
    }
}

void sl_guards_touch(struct sl_guards *g, const char *cluster_queue)
{
    SL_PRE(g != NULL);
    if (sl_map_get(g->leaving, cluster_queue, NULL)) {
        look_at(g, SL_KIND_CLUSTER_QUEUE, cluster_queue);
    }
}

bool sl_guards_step(struct sl_guards *g, int64_t now_ms, unsigned limit)
{
    bool more = false;
    for (size_t i = 0; i < SL_GUARDED_KINDS; i++) {
        more = sl_reconciler_step(&g->kinds[i], now_ms, limit) || more;
    }
    return more;
}

int64_t sl_guards_due_ms(const struct sl_guards *g)
{
    int64_t due_ms = INT64_MAX;
    for (size_t i = 0; i < SL_GUARDED_KINDS; i++) {
        int64_t next_ms = sl_work_due_ms(g->kinds[i].work);
        due_ms = next_ms < due_ms ? next_ms : due_ms;
    }
    return due_ms;
}
