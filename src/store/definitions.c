/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kinds of users. A definition is an object like others; its kind is served from the commit on that made it durable, so that no
 * object can be of a kind that is lost with its batch. The number that the kind has in the files is in the same batch. */
#include "api/defined/defined.h"
#include "api/defined/definition.h"
#include "store/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"

static struct sl_store_definition *slot_of(struct sl_store *s, enum sl_kind kind)
{
    SL_PRE(kind >= SL_KIND_DEFINED && kind < SL_KIND_COUNT);
    return &s->definitions[kind - SL_KIND_DEFINED];
}

/* A kind of the start has these names, in whatever version: the two would have the same rows. */
static bool is_servers(const struct sl_json *definition)
{
    const char *group = sl_json_path_text(definition, "spec.group", "");
    for (int i = 0; i < (int)sl_kind_end(); i++) {
        const struct sl_kind_info *info = sl_kind_info((enum sl_kind)i);
        bool same =
            strcmp(info->plural, sl_json_path_text(definition, "spec.names.plural", "")) == 0 ||
            strcmp(info->kind, sl_json_path_text(definition, "spec.names.kind", "")) == 0;
        if (same && strcmp(info->group, group) == 0) {
            return true;
        }
    }
    return false;
}

/* --- serving ---------------------------------------------------------------------------------- */

/* 0: none. */
static int64_t number_of(struct sl_store *s, enum sl_kind kind)
{
    char name[128];
    sl_db_bind_text(s, SL_SQL_KIND_NUMBER, 1, sl_rows_resource(kind, name));
    sqlite3_stmt *q = s->sql[SL_SQL_KIND_NUMBER];
    int64_t number = sl_db_row(s, SL_SQL_KIND_NUMBER) ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    return number;
}

static void serve(struct sl_store *s, const struct sl_json *definition)
{
    struct sl_error e;
    enum sl_kind kind = SL_KIND_COUNT;
    enum sl_kind before = sl_defined_kind(definition);
    sl_error_clear(&e);
    if (is_servers(definition) || (before != SL_KIND_COUNT && !slot_of(s, before)->used)) {
        (void)sl_error_set(&e, SL_CODE_CONFLICT, "its names are those of another kind");
    } else {
        (void)sl_defined_take(definition, &kind, &e);
    }
    if (e.code != SL_CODE_OK) {
        sl_log(SL_LOG_WARN, "a kind that is defined is not served", "definition",
               sl_object_name(definition), "reason", e.text, NULL);
        return;
    }
    struct sl_store_definition *d = slot_of(s, kind);
    if (before == SL_KIND_COUNT) {
        sl_events_forget(&s->log, kind);
        *d = (struct sl_store_definition){.used = true};
        s->kind_ids[kind] = number_of(s, kind);
    }
    if (sl_object_deleting(definition) && !d->ending) {
        d->ending = s->work_pending = true;
        if (s->wake != NULL) {
            s->wake(s->wake_context);
        }
    }
}

static void stop(struct sl_store *s, enum sl_kind kind)
{
    if (kind != SL_KIND_COUNT && slot_of(s, kind)->used) {
        s->kind_ids[kind] = 0;
        *slot_of(s, kind) = (struct sl_store_definition){.used = false};
        sl_defined_drop(kind);
    }
}

static void observe(void *context, enum sl_watch_type type, enum sl_kind kind,
                    struct sl_json *object)
{
    (void)kind;
    if (type == SL_WATCH_DELETED) {
        stop(context, sl_defined_kind(object));
    } else {
        serve(context, object);
    }
}

static void serve_stored(void *context, struct sl_json *object)
{
    serve(context, object);
}

enum sl_code sl_definitions_open(struct sl_store *s, struct sl_error *e)
{
    uint64_t watch;
    struct sl_store_list q = {.kind = SL_KIND_DEFINITION, .ns = ""};
    sl_definition_rules();
    enum sl_code code = sl_store_list(s, &q, serve_stored, s, NULL, NULL, e);
    return code == SL_CODE_OK
               ? sl_store_watch(s, SL_KIND_DEFINITION, s->durable, observe, s, &watch, e)
               : code;
}

void sl_definitions_close(struct sl_store *s)
{
    for (int kind = SL_KIND_DEFINED; kind < (int)SL_KIND_COUNT; kind++) {
        stop(s, (enum sl_kind)kind);
    }
}

void sl_definitions_rewind(struct sl_store *s)
{
    SL_PRE(s != NULL);
    for (size_t i = 0; i < SL_KIND_DEFINED_MAX; i++) {
        s->definitions[i].after_ns[0] = s->definitions[i].after[0] = '\0';
    }
}

/* --- writes ----------------------------------------------------------------------------------- */

enum sl_code sl_definitions_shape(const struct sl_registry_call *c, struct sl_json *object,
                                  struct sl_error *e)
{
    enum sl_kind kind = c->w->kind;
    if (kind == SL_KIND_DEFINITION) {
        sl_definition_default(object);
    }
    if (kind < SL_KIND_DEFINED) {
        return SL_CODE_OK;
    }
    if (c->w->verb == SL_VERB_CREATE && slot_of(c->s, kind)->ending) {
        return sl_error_set(e, SL_CODE_METHOD_NOT_ALLOWED,
                            "create not allowed while custom resource definition is terminating");
    }
    if (!sl_defined_shape(kind, object)) {
        return sl_error_set(e, SL_CODE_TOO_LARGE,
                            "the object would get too many defaults: they may weigh %u, where a "
                            "map weighs %u, others 1, and a name 1",
                            SL_DEFAULTS_WEIGHT_MAX, SL_JSON_WEIGHT_MAP);
    }
    return SL_CODE_OK;
}

/* All others, the ones that are staged among them. */
struct others {
    const struct sl_json *definition;
    size_t count, weight;
    const char *shared; /* a field that another one has as well */
    char name[256];     /* of that one */
};

static void compare(void *context, struct sl_json *other)
{
    struct others *o = context;
    if (strcmp(sl_object_name(other), sl_object_name(o->definition)) == 0) {
        return;
    }
    o->count++;
    o->weight += sl_json_weight(other, SL_STORE_DEFINITIONS_WEIGHT_MAX);
    const char *shared = sl_definition_shared(o->definition, other);
    if (shared != NULL && o->shared == NULL) {
        o->shared = shared;
        (void)snprintf(o->name, sizeof o->name, "%s", sl_object_name(other));
    }
}

static enum sl_code check_names(const struct others *o, struct sl_error *e)
{
    if (o->shared != NULL) {
        char why[300];
        (void)snprintf(why, sizeof why, "is a name of %s", o->name);
        return sl_definition_refuse(o->definition, o->shared, why, e);
    }
    return is_servers(o->definition)
               ? sl_definition_refuse(o->definition, "metadata.name",
                                      "the server itself serves such a kind, which a file of "
                                      "--adapters describes",
                                      e)
               : SL_CODE_OK;
}

static enum sl_code check_bounds(const struct others *o, struct sl_error *e)
{
    size_t weight = sl_json_weight(o->definition, SL_STORE_DEFINITIONS_WEIGHT_MAX);
    if (o->count >= SL_KIND_DEFINED_MAX) {
        return sl_error_set(e, SL_CODE_FORBIDDEN,
                            "customresourcedefinitions.apiextensions.k8s.io \"%s\" is forbidden: "
                            "there may be no more than %d",
                            sl_object_name(o->definition), SL_KIND_DEFINED_MAX);
    }
    if (o->weight + weight > SL_STORE_DEFINITIONS_WEIGHT_MAX) {
        return sl_error_set(e, SL_CODE_TOO_LARGE,
                            "all definitions together would have too many values: they may weigh "
                            "%u, where a map weighs %u, others 1, and a name 1",
                            SL_STORE_DEFINITIONS_WEIGHT_MAX, SL_JSON_WEIGHT_MAP);
    }
    return SL_CODE_OK;
}

enum sl_code sl_definitions_settle(const struct sl_registry_call *c, struct sl_json *object,
                                   struct sl_error *e)
{
    struct others others = {.definition = object};
    struct sl_store_list q = {.kind = SL_KIND_DEFINITION, .ns = ""};
    if (c->w->kind != SL_KIND_DEFINITION) {
        return SL_CODE_OK;
    }
    enum sl_code code = sl_store_list(c->s, &q, compare, &others, NULL, NULL, e);
    code = code == SL_CODE_OK ? check_names(&others, e) : code;
    code = code == SL_CODE_OK ? check_bounds(&others, e) : code;
    if (code == SL_CODE_OK) {
        sl_definition_settle(object, sl_clock_now_ms());
        sl_db_bind_text(c->s, SL_SQL_NUMBER_KIND, 1, sl_object_name(object));
        code = sl_db_run(c->s, SL_SQL_NUMBER_KIND, e);
    }
    return code;
}

void sl_definitions_hold(struct sl_json *definition)
{
    struct sl_json *metadata = sl_json_get(definition, "metadata");
    if (!sl_object_deleting(definition) &&
        !sl_object_has_finalizer(definition, SL_DEFINITION_FINALIZER)) {
        if (sl_json_type(sl_json_get(metadata, "finalizers")) != SL_JSON_LIST) {
            sl_json_set(metadata, "finalizers", sl_json_new_list());
        }
        sl_json_append(sl_json_get(metadata, "finalizers"),
                       sl_json_new_text(SL_DEFINITION_FINALIZER));
    }
    (void)sl_prepare_deletion(SL_KIND_DEFINITION, definition);
    sl_definition_settle(definition, sl_clock_now_ms());
}
