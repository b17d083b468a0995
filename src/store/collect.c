/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Background work, a bounded piece with each commit: dependents of deleted owners, owners that wait
 * for their dependents (foreground deletion), namespaces being emptied, and Events past their time.
 * What is still to do is in the tables collect and ending, so a restart goes on with it. */
#include "api/defined/definition.h"
#include "store/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"

#define EXPIRY_EVERY_MS 60000
#define EXPIRED_MAX 64

struct key {
    enum sl_kind kind;
    char *ns, *name;
};
struct keys {
    struct key at[SL_STORE_BACKGROUND_MAX];
    size_t count;
};

/* Reads the (kind, ns, name) rows of a bound statement, so that their handling may use every
 * statement. */
static void read_keys(struct sl_store *s, enum sl_sql id, struct keys *keys)
{
    sqlite3_stmt *q = s->sql[id];
    keys->count = 0;
    while (keys->count < SL_STORE_BACKGROUND_MAX && sl_db_row(s, id)) {
        struct key *key = &keys->at[keys->count++];
        key->kind = sl_rows_kind(s, sqlite3_column_int64(q, 0));
        key->ns = sl_mem_text((const char *)sqlite3_column_text(q, 1));
        key->name = sl_mem_text((const char *)sqlite3_column_text(q, 2));
    }
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
}

static void free_keys(struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        sl_mem_free(keys->at[i].ns);
        sl_mem_free(keys->at[i].name);
    }
    keys->count = 0;
}

static void read_dependents(struct sl_store *s, const char *uid, unsigned budget, struct keys *keys)
{
    sl_db_bind_text(s, SL_SQL_OWNED, 1, uid);
    sl_db_bind_int(s, SL_SQL_OWNED, 2, budget);
    read_keys(s, SL_SQL_OWNED, keys);
}

static enum sl_code delete_key(struct sl_store *s, const struct key *key, struct sl_error *e)
{
    struct sl_write w = {
        .verb = SL_VERB_DELETE, .kind = key->kind, .ns = key->ns, .name = key->name};
    struct sl_registry_call call = {.s = s, .w = &w};
    enum sl_code code = sl_registry_delete(&call, e);
    sl_json_free(call.result);
    return code == SL_CODE_NOT_FOUND ? SL_CODE_OK : code;
}

/* --- deleted owners -------------------------------------------------------------------------- */

static bool owner_exists(struct sl_store *s, const struct sl_json *owner, const char *ns)
{
    enum sl_kind kind = sl_kind_find_object(sl_json_text(sl_json_get(owner, "apiVersion"), ""),
                                            sl_json_text(sl_json_get(owner, "kind"), ""));
    return kind == SL_KIND_COUNT || sl_rows_has(s, kind, sl_kind_info(kind)->namespaced ? ns : "",
                                                sl_json_text(sl_json_get(owner, "name"), ""),
                                                sl_json_text(sl_json_get(owner, "uid"), ""));
}

static bool has_living_owner(struct sl_store *s, const struct sl_json *object)
{
    const struct sl_json *owners = sl_json_path(object, "metadata.ownerReferences");
    for (size_t i = 0; i < sl_json_len(owners); i++) {
        if (owner_exists(s, sl_json_at(owners, i), sl_object_namespace(object))) {
            return true;
        }
    }
    return false;
}

static enum sl_code disown(struct sl_store *s, const char *uid, const struct key *key,
                           struct sl_error *e)
{
    sl_db_bind_text(s, SL_SQL_DISOWN, 1, uid);
    sl_db_bind_int(s, SL_SQL_DISOWN, 2, s->kind_ids[key->kind]);
    sl_db_bind_text(s, SL_SQL_DISOWN, 3, key->ns);
    sl_db_bind_text(s, SL_SQL_DISOWN, 4, key->name);
    return sl_db_run(s, SL_SQL_DISOWN, e);
}

/* The index is a hint: an object is deleted only if it names its owner itself. */
static bool names_owner(const struct sl_json *object, const char *uid)
{
    const struct sl_json *owners = sl_json_path(object, "metadata.ownerReferences");
    for (size_t i = 0; i < sl_json_len(owners); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(owners, i), "uid", ""), uid) == 0) {
            return true;
        }
    }
    return false;
}

static enum sl_code collect_dependent(struct sl_store *s, const char *uid, const struct key *key,
                                      struct sl_error *e)
{
    struct sl_json *old = NULL;
    enum sl_code code = sl_rows_get(s, key->kind, key->ns, key->name, &old, e);
    if (code == SL_CODE_OK && !names_owner(old, uid)) {
        sl_json_free(old);
        return disown(s, uid, key, e);
    }
    if (code == SL_CODE_OK && has_living_owner(s, old)) {
        struct sl_json *object = sl_json_clone(old);
        sl_prepare_drop_owner(object, uid);
        code = sl_json_equal(object, old) ? SL_CODE_OK : sl_rows_put(s, key->kind, object, old, e);
        sl_json_free(object);
    } else if (code == SL_CODE_OK) {
        code = delete_key(s, key, e);
    } else if (code == SL_CODE_NOT_FOUND) {
        code = SL_CODE_OK;
    }
    sl_json_free(old);
    /* Also when it stays until its finalizers are removed: nothing is left to do for this owner. */
    return code == SL_CODE_OK ? disown(s, uid, key, e) : code;
}

static enum sl_code collect_gone(struct sl_store *s, const char *uid, unsigned *budget,
                                 struct sl_error *e)
{
    struct keys keys;
    enum sl_code code = SL_CODE_OK;
    read_dependents(s, uid, *budget, &keys);
    for (size_t i = 0; i < keys.count && code == SL_CODE_OK; i++) {
        code = collect_dependent(s, uid, &keys.at[i], e);
    }
    bool done = keys.count < *budget;
    *budget -= (unsigned)keys.count;
    free_keys(&keys);
    if (code == SL_CODE_OK && done) {
        sl_db_bind_text(s, SL_SQL_COLLECTED, 1, uid);
        code = sl_db_run(s, SL_SQL_COLLECTED, e);
    }
    return code;
}

/* --- foreground deletion --------------------------------------------------------------------- */

static enum sl_code release_owner(struct sl_store *s, const struct key *key,
                                  const struct sl_json *old, struct sl_error *e)
{
    struct sl_json *object = sl_json_clone(old);
    sl_prepare_drop_finalizer(object, SL_FINALIZER_FOREGROUND);
    bool held = sl_json_len(sl_json_path(object, "metadata.finalizers")) > 0;
    sl_db_bind_text(s, SL_SQL_COLLECTED, 1, sl_object_uid(old));
    enum sl_code code = sl_db_run(s, SL_SQL_COLLECTED, e);
    if (code == SL_CODE_OK) {
        code = held ? sl_rows_put(s, key->kind, object, old, e)
                    : sl_rows_remove(s, key->kind, object, e);
    }
    sl_json_free(object);
    return code;
}

static enum sl_code collect_foreground(struct sl_store *s, const char *uid, const struct key *owner,
                                       unsigned *budget, struct sl_error *e)
{
    struct keys keys;
    struct sl_json *object = NULL;
    enum sl_code code = sl_rows_get(s, owner->kind, owner->ns, owner->name, &object, e);
    bool waits = code == SL_CODE_OK && strcmp(sl_object_uid(object), uid) == 0 &&
                 sl_object_has_finalizer(object, SL_FINALIZER_FOREGROUND);
    if (!waits && (code == SL_CODE_OK || code == SL_CODE_NOT_FOUND)) {
        sl_json_free(object);
        sl_db_bind_text(s, SL_SQL_COLLECTED, 1, uid); /* the finalizer was taken off by hand */
        return sl_db_run(s, SL_SQL_COLLECTED, e);
    }
    read_dependents(s, uid, SL_STORE_BACKGROUND_MAX, &keys);
    for (size_t i = 0; i < keys.count && code == SL_CODE_OK && *budget > 0; i++) {
        code = delete_key(s, &keys.at[i], e);
        (*budget)--;
    }
    free_keys(&keys);
    if (code == SL_CODE_OK) {
        read_dependents(s, uid, 1, &keys);
        code = keys.count == 0 ? release_owner(s, owner, object, e) : SL_CODE_OK;
        free_keys(&keys);
    }
    sl_json_free(object);
    return code;
}

/* The one behind *uid, which it replaces. */
static bool next_owner(struct sl_store *s, char **uid, struct key *owner)
{
    sl_db_bind_text(s, SL_SQL_COLLECT_NEXT, 1, *uid);
    sqlite3_stmt *q = s->sql[SL_SQL_COLLECT_NEXT];
    bool found = sl_db_row(s, SL_SQL_COLLECT_NEXT);
    if (found) {
        char *next = sl_mem_text((const char *)sqlite3_column_text(q, 0));
        bool deleted = sqlite3_column_type(q, 1) == SQLITE_NULL;
        owner->kind = deleted ? SL_KIND_COUNT : sl_rows_kind(s, sqlite3_column_int64(q, 1));
        owner->ns = sl_mem_text((const char *)sqlite3_column_text(q, 2));
        owner->name = sl_mem_text((const char *)sqlite3_column_text(q, 3));
        sqlite3_reset(q);
        sl_mem_free(*uid);
        *uid = next;
    }
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    return found;
}

static enum sl_code collect_owners(struct sl_store *s, unsigned *budget, struct sl_error *e)
{
    char *uid = sl_mem_text("");
    struct key owner;
    enum sl_code code = SL_CODE_OK;
    while (code == SL_CODE_OK && *budget > 0 && next_owner(s, &uid, &owner)) {
        code = owner.kind == SL_KIND_COUNT ? collect_gone(s, uid, budget, e)
                                           : collect_foreground(s, uid, &owner, budget, e);
        sl_mem_free(owner.ns);
        sl_mem_free(owner.name);
    }
    sl_mem_free(uid);
    return code;
}

/* --- namespaces ------------------------------------------------------------------------------ */

struct ending {
    char name[256], after[256];
    int64_t kind; /* number in the files; kinds before it are swept */
};

static bool next_ending(struct sl_store *s, struct ending *at)
{
    sl_db_bind_text(s, SL_SQL_ENDING_NEXT, 1, at->name);
    sqlite3_stmt *q = s->sql[SL_SQL_ENDING_NEXT];
    bool found = sl_db_row(s, SL_SQL_ENDING_NEXT);
    if (found) {
        char name[256];
        (void)snprintf(name, sizeof name, "%s", (const char *)sqlite3_column_text(q, 0));
        (void)snprintf(at->after, sizeof at->after, "%s", (const char *)sqlite3_column_text(q, 2));
        at->kind = sqlite3_column_int64(q, 1);
        sqlite3_reset(q);
        memcpy(at->name, name, sizeof name);
    }
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    return found;
}

static int64_t kind_id_last(const struct sl_store *s)
{
    int64_t last = 0;
    for (int i = 0; i < (int)SL_KIND_COUNT; i++) {
        last = s->kind_ids[i] > last ? s->kind_ids[i] : last;
    }
    return last;
}

/* Each object is visited once: nothing can be created in a namespace that is ending. */
static enum sl_code sweep(struct sl_store *s, struct ending *at, unsigned *budget,
                          struct sl_error *e)
{
    struct keys keys;
    enum sl_code code = SL_CODE_OK;
    int64_t last = kind_id_last(s);
    while (at->kind <= last && *budget > 0 && code == SL_CODE_OK) {
        sl_db_bind_int(s, SL_SQL_NAMES_IN, 1, at->kind);
        sl_db_bind_text(s, SL_SQL_NAMES_IN, 2, at->name);
        sl_db_bind_text(s, SL_SQL_NAMES_IN, 3, at->after);
        sl_db_bind_int(s, SL_SQL_NAMES_IN, 4, *budget);
        read_keys(s, SL_SQL_NAMES_IN, &keys);
        for (size_t i = 0; i < keys.count && code == SL_CODE_OK; i++) {
            code = keys.at[i].kind < SL_KIND_COUNT ? delete_key(s, &keys.at[i], e) : SL_CODE_OK;
            (void)snprintf(at->after, sizeof at->after, "%s", keys.at[i].name);
        }
        if (keys.count < *budget) {
            at->kind++;
            at->after[0] = '\0';
        }
        *budget -= (unsigned)keys.count;
        free_keys(&keys);
    }
    if (code == SL_CODE_OK) {
        sl_db_bind_text(s, SL_SQL_ENDING_AT, 1, at->name);
        sl_db_bind_int(s, SL_SQL_ENDING_AT, 2, at->kind);
        sl_db_bind_text(s, SL_SQL_ENDING_AT, 3, at->after);
        code = sl_db_run(s, SL_SQL_ENDING_AT, e);
    }
    return code;
}

static bool is_empty(struct sl_store *s, const char *ns)
{
    bool empty = true;
    int64_t last = kind_id_last(s);
    for (int64_t id = 1; id <= last && empty; id++) {
        sl_db_bind_text(s, SL_SQL_ANY_IN, 1, ns);
        sl_db_bind_int(s, SL_SQL_ANY_IN, 2, id);
        empty = !sl_db_row(s, SL_SQL_ANY_IN);
        sqlite3_reset(s->sql[SL_SQL_ANY_IN]);
        sqlite3_clear_bindings(s->sql[SL_SQL_ANY_IN]);
    }
    return empty;
}

/* Its contents are deleted; now its own finalizers count. */
static enum sl_code end_namespace(struct sl_store *s, const char *name, struct sl_error *e)
{
    struct sl_json *ns = NULL;
    enum sl_code code = sl_rows_get(s, SL_KIND_NAMESPACE, "", name, &ns, e);
    if (code == SL_CODE_OK && sl_json_len(sl_json_path(ns, "metadata.finalizers")) == 0) {
        code = sl_rows_remove(s, SL_KIND_NAMESPACE, ns, e);
        sl_db_bind_text(s, SL_SQL_ENDED, 1, name);
        code = code == SL_CODE_OK ? sl_db_run(s, SL_SQL_ENDED, e) : code;
    }
    sl_json_free(ns);
    return code;
}

static enum sl_code end_namespaces(struct sl_store *s, unsigned *budget, struct sl_error *e)
{
    struct ending at = {.name = ""};
    enum sl_code code = SL_CODE_OK;
    while (code == SL_CODE_OK && *budget > 0 && next_ending(s, &at)) {
        code = at.kind <= kind_id_last(s) ? sweep(s, &at, budget, e) : SL_CODE_OK;
        if (code != SL_CODE_OK || at.kind <= kind_id_last(s) || !is_empty(s, at.name)) {
            continue;
        }
        code = end_namespace(s, at.name, e);
    }
    return code;
}

/* --- definitions ------------------------------------------------------------------------------ */

static bool is_any_left(struct sl_store *s, enum sl_kind kind)
{
    sl_db_bind_int(s, SL_SQL_ANY_OF, 1, s->kind_ids[kind]);
    bool any = sl_db_row(s, SL_SQL_ANY_OF);
    sqlite3_reset(s->sql[SL_SQL_ANY_OF]);
    sqlite3_clear_bindings(s->sql[SL_SQL_ANY_OF]);
    return any;
}

/* Its objects are deleted; other finalizers still count. */
static enum sl_code release_definition(struct sl_store *s, enum sl_kind kind, struct sl_error *e)
{
    char name[128];
    struct sl_json *old = NULL;
    enum sl_code code =
        sl_rows_get(s, SL_KIND_DEFINITION, "", sl_rows_resource(kind, name), &old, e);
    if (code != SL_CODE_OK || !sl_object_has_finalizer(old, SL_DEFINITION_FINALIZER)) {
        sl_json_free(old);
        return code == SL_CODE_NOT_FOUND ? SL_CODE_OK : code; /* it waits for others */
    }
    struct sl_json *object = sl_json_clone(old);
    sl_prepare_drop_finalizer(object, SL_DEFINITION_FINALIZER);
    bool held = sl_json_len(sl_json_path(object, "metadata.finalizers")) > 0;
    code = held ? sl_rows_put(s, SL_KIND_DEFINITION, object, old, e)
                : sl_rows_remove(s, SL_KIND_DEFINITION, object, e);
    sl_json_free(object);
    sl_json_free(old);
    return code;
}

/* Each object is visited once: none can be created of a kind that is ending. */
static enum sl_code end_definition(struct sl_store *s, enum sl_kind kind, unsigned *budget,
                                   struct sl_error *e)
{
    struct keys keys;
    enum sl_code code = SL_CODE_OK;
    struct sl_store_definition *d = &s->definitions[kind - SL_KIND_DEFINED];
    sl_db_bind_int(s, SL_SQL_NAMES_OF, 1, s->kind_ids[kind]);
    sl_db_bind_text(s, SL_SQL_NAMES_OF, 2, d->after_ns);
    sl_db_bind_text(s, SL_SQL_NAMES_OF, 3, d->after);
    sl_db_bind_int(s, SL_SQL_NAMES_OF, 4, *budget);
    read_keys(s, SL_SQL_NAMES_OF, &keys);
    for (size_t i = 0; i < keys.count && code == SL_CODE_OK; i++) {
        code = delete_key(s, &keys.at[i], e);
        (void)snprintf(d->after_ns, sizeof d->after_ns, "%s", keys.at[i].ns);
        (void)snprintf(d->after, sizeof d->after, "%s", keys.at[i].name);
    }
    bool all = keys.count < *budget;
    *budget -= (unsigned)keys.count;
    free_keys(&keys);
    return code == SL_CODE_OK && all && !is_any_left(s, kind) ? release_definition(s, kind, e)
                                                              : code;
}

static enum sl_code end_definitions(struct sl_store *s, unsigned *budget, struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    for (int kind = SL_KIND_DEFINED; kind < (int)SL_KIND_COUNT; kind++) {
        if (code == SL_CODE_OK && *budget > 0 && s->definitions[kind - SL_KIND_DEFINED].ending) {
            code = end_definition(s, (enum sl_kind)kind, budget, e);
        }
    }
    return code;
}

/* --- Events ---------------------------------------------------------------------------------- */

static enum sl_code expire_events(struct sl_store *s, struct sl_error *e)
{
    struct sl_json *old[EXPIRED_MAX];
    size_t count = 0;
    int64_t now_ms = sl_clock_now_ms();
    enum sl_code code = SL_CODE_OK;
    sl_db_bind_int(s, SL_SQL_OLDEST, 1, EXPIRED_MAX);
    sqlite3_stmt *q = s->sql[SL_SQL_OLDEST];
    while (count < EXPIRED_MAX && sl_db_row(s, SL_SQL_OLDEST)) {
        bool whole = sqlite3_column_int(q, 3) != 0;
        struct sl_json *event = whole ? sl_json_parse((const char *)sqlite3_column_text(q, 2),
                                                      (size_t)sqlite3_column_bytes(q, 2), NULL)
                                      : NULL;
        if (event == NULL) {
            (void)sl_whole_fail(s, SL_KIND_EVENT, (const char *)sqlite3_column_text(q, 0),
                                (const char *)sqlite3_column_text(q, 1), &s->unread);
        }
        if (event == NULL || sl_object_created_ms(event) > now_ms - SL_STORE_EVENT_TTL_MS) {
            sl_json_free(event);
            break;
        }
        old[count++] = event;
    }
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    for (size_t i = 0; i < count; i++) {
        code = code == SL_CODE_OK ? sl_rows_remove(s, SL_KIND_EVENT, old[i], e) : code;
        sl_json_free(old[i]);
    }
    s->expiry_next_ms = count == EXPIRED_MAX ? now_ms : now_ms + EXPIRY_EVERY_MS;
    return code;
}

void sl_store_leave_owners(struct sl_store *s, bool on)
{
    SL_PRE(s != NULL);
    s->work_pending = s->work_pending || (s->leave_owners && !on);
    s->leave_owners = on;
}

enum sl_code sl_collect_step(struct sl_store *s, struct sl_error *e)
{
    unsigned budget = SL_STORE_BACKGROUND_MAX;
    enum sl_code code = SL_CODE_OK;
    SL_PRE(s->in_batch);
    if (s->work_pending) {
        s->work_pending = false; /* whatever makes new work says so */
        code = s->leave_owners ? sl_db_run(s, SL_SQL_COLLECTED_ELSEWHERE, e)
                               : collect_owners(s, &budget, e);
        code = code == SL_CODE_OK ? end_namespaces(s, &budget, e) : code;
        code = code == SL_CODE_OK ? end_definitions(s, &budget, e) : code;
        s->work_pending = s->work_pending || budget == 0;
        s->bookkeeping = true;
    }
    if (code == SL_CODE_OK && sl_clock_now_ms() >= s->expiry_next_ms) {
        code = expire_events(s, e);
    }
    return code;
}
