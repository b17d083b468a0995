/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects as rows: get, put, remove and list. Each put or remove takes the next revision, keeps the
 * index of owners true, and adds the event that says so. */
#include "store/internal.h"

#include <stdio.h>
#include <string.h>

#include "api/defined/defined.h"
#include "base/check.h"
#include "base/mem.h"

const char *sl_rows_resource(enum sl_kind kind, char out[static 128])
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    (void)snprintf(out, 128, "%s%s%s", info->plural, info->group[0] != '\0' ? "." : "",
                   info->group);
    return out;
}

enum sl_kind sl_rows_kind(const struct sl_store *s, int64_t id)
{
    int kind = 0;
    while (kind < (int)SL_KIND_COUNT && s->kind_ids[kind] != id) {
        kind++;
    }
    return (enum sl_kind)kind;
}

static void bind_key(struct sl_store *s, enum sl_sql id, enum sl_kind kind, const char *ns,
                     const char *name)
{
    sl_db_bind_int(s, id, 1, s->kind_ids[kind]);
    sl_db_bind_text(s, id, 2, ns);
    sl_db_bind_text(s, id, 3, name);
}

static void reset(struct sl_store *s, enum sl_sql id)
{
    sqlite3_reset(s->sql[id]);
    sqlite3_clear_bindings(s->sql[id]);
}

/* Of a row with a body and whether it is whole. */
static bool read_object(sqlite3_stmt *q, struct sl_json **out)
{
    struct sl_error ignored;
    *out = sqlite3_column_int(q, 1) == 0
               ? NULL
               : sl_json_parse((const char *)sqlite3_column_text(q, 0),
                               (size_t)sqlite3_column_bytes(q, 0), &ignored);
    return *out != NULL;
}

enum sl_code sl_rows_get(struct sl_store *s, enum sl_kind kind, const char *ns, const char *name,
                         struct sl_json **out, struct sl_error *e)
{
    SL_PRE(kind < SL_KIND_COUNT && ns != NULL && name != NULL);
    char resource[128];
    enum sl_code code = SL_CODE_OK;
    bind_key(s, SL_SQL_GET, kind, ns, name);
    sqlite3_stmt *q = s->sql[SL_SQL_GET];
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) {
        code = read_object(q, out) ? SL_CODE_OK : sl_whole_fail(s, kind, ns, name, e);
    } else if (rc == SQLITE_DONE) {
        code = sl_error_set(e, SL_CODE_NOT_FOUND, "%s \"%s\" not found",
                            sl_rows_resource(kind, resource), name);
    } else {
        code = sl_db_fail(s, "read the database", e);
    }
    reset(s, SL_SQL_GET);
    return code;
}

bool sl_rows_has(struct sl_store *s, enum sl_kind kind, const char *ns, const char *name,
                 const char *uid)
{
    SL_PRE(s != NULL);
    bind_key(s, SL_SQL_HAS, kind, ns, name);
    sqlite3_stmt *q = s->sql[SL_SQL_HAS];
    bool has = sl_db_row(s, SL_SQL_HAS);
    if (has && sqlite3_column_int(q, 1) == 0) {
        (void)sl_whole_fail(s, kind, ns, name, &s->unread);
        has = false;
    }
    if (has && uid != NULL) {
        has = strcmp((const char *)sqlite3_column_text(q, 0), uid) == 0;
    }
    reset(s, SL_SQL_HAS);
    return has;
}

/* --- owners ---------------------------------------------------------------------------------- */

static const char *owner_uid(const struct sl_json *owners, size_t index)
{
    return sl_json_text(sl_json_get(sl_json_at(owners, index), "uid"), "");
}

static bool has_owner(const struct sl_json *owners, const char *uid)
{
    for (size_t i = 0; i < sl_json_len(owners); i++) {
        if (strcmp(owner_uid(owners, i), uid) == 0) {
            return true;
        }
    }
    return false;
}

/* An owner that is not there (any more) makes its dependent garbage from the start. */
static enum sl_code note_owner(struct sl_store *s, const struct sl_json *owner, const char *ns,
                               struct sl_error *e)
{
    const char *uid = sl_json_text(sl_json_get(owner, "uid"), "");
    enum sl_kind kind = sl_kind_find_object(sl_json_text(sl_json_get(owner, "apiVersion"), ""),
                                            sl_json_text(sl_json_get(owner, "kind"), ""));
    if (kind == SL_KIND_COUNT || sl_rows_has(s, kind, sl_kind_info(kind)->namespaced ? ns : "",
                                             sl_json_text(sl_json_get(owner, "name"), ""), uid)) {
        return SL_CODE_OK; /* a kind that is not ours to judge counts as being there */
    }
    s->work_pending = s->bookkeeping = true;
    sl_db_bind_text(s, SL_SQL_ORPHANED, 1, uid);
    return sl_db_run(s, SL_SQL_ORPHANED, e);
}

static enum sl_code index_owners(struct sl_store *s, enum sl_kind kind,
                                 const struct sl_json *object, const struct sl_json *old,
                                 struct sl_error *e)
{
    const struct sl_json *now = sl_json_path(object, "metadata.ownerReferences");
    const struct sl_json *before = sl_json_path(old, "metadata.ownerReferences");
    const struct sl_json *any = object != NULL ? object : old;
    const char *ns = sl_object_namespace(any), *name = sl_object_name(any);
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; i < sl_json_len(before) && code == SL_CODE_OK; i++) {
        if (!has_owner(now, owner_uid(before, i))) {
            sl_db_bind_text(s, SL_SQL_DISOWN, 1, owner_uid(before, i));
            sl_db_bind_int(s, SL_SQL_DISOWN, 2, s->kind_ids[kind]);
            sl_db_bind_text(s, SL_SQL_DISOWN, 3, ns);
            sl_db_bind_text(s, SL_SQL_DISOWN, 4, name);
            code = sl_db_run(s, SL_SQL_DISOWN, e);
        }
    }
    for (size_t i = 0; i < sl_json_len(now) && code == SL_CODE_OK; i++) {
        if (!has_owner(before, owner_uid(now, i))) {
            sl_db_bind_text(s, SL_SQL_OWN, 1, owner_uid(now, i));
            sl_db_bind_int(s, SL_SQL_OWN, 2, s->kind_ids[kind]);
            sl_db_bind_text(s, SL_SQL_OWN, 3, ns);
            sl_db_bind_text(s, SL_SQL_OWN, 4, name);
            code = sl_db_run(s, SL_SQL_OWN, e);
            code = code == SL_CODE_OK ? note_owner(s, sl_json_at(now, i), ns, e) : code;
        }
    }
    return code;
}

/* --- changes --------------------------------------------------------------------------------- */

/* Could a selector that clients may use see a difference? Then the event keeps the old object too.
 */
static bool selectable_differs(enum sl_kind kind, const struct sl_json *a, const struct sl_json *b)
{
    if (!sl_json_equal(sl_json_path(a, "metadata.labels"), sl_json_path(b, "metadata.labels"))) {
        return true;
    }
    switch (kind) {
    case SL_KIND_NAMESPACE:
    case SL_KIND_NODE:
    case SL_KIND_POD:
    case SL_KIND_JOB:
    case SL_KIND_EVENT:
        return true;
    default:
        return sl_defined_selectable(kind) != NULL;
    }
}

/* Its text is in s->text then. */
static void stamp(struct sl_store *s, struct sl_json *object)
{
    char revision[24];
    uint64_t next = s->revision + 1;
    (void)snprintf(revision, sizeof revision, "%llu", (unsigned long long)next);
    sl_json_set_text(sl_json_path_make(object, "metadata"), "resourceVersion", revision);
    sl_buf_reset(&s->text);
    sl_json_print(object, &s->text);
}

/* Of the object in s->text. Takes what it was before. */
static void add_event(struct sl_store *s, enum sl_watch_type type, enum sl_kind kind,
                      struct sl_json *object, struct sl_buf *old)
{
    s->revision++;
    struct sl_store_entry entry = {
        .type = type, .kind = kind, .revision = s->revision, .object = sl_json_ref(object)};
    entry.text_size = s->text.len;
    entry.text = sl_mem_text_n(s->text.data, s->text.len);
    if (old != NULL && old->len > 0) {
        entry.old_size = old->len;
        entry.old = sl_buf_take(old);
    }
    sl_events_add(&s->log, entry);
}

/* The row that was read before is the one that is changed. */
static enum sl_code run_on_one(struct sl_store *s, enum sl_sql id, enum sl_kind kind,
                               const struct sl_json *object, struct sl_error *e)
{
    enum sl_code code = sl_db_run(s, id, e);
    return code != SL_CODE_OK || sqlite3_changes(s->db) == 1
               ? code
               : sl_whole_fail(s, kind, sl_object_namespace(object), sl_object_name(object), e);
}

static enum sl_code keep_past(struct sl_store *s, enum sl_kind kind, const struct sl_json *object,
                              struct sl_error *e)
{
    return sl_snapshot_keep(s, kind, sl_object_namespace(object), sl_object_name(object), e);
}

enum sl_code sl_rows_put(struct sl_store *s, enum sl_kind kind, struct sl_json *object,
                         const struct sl_json *old, struct sl_error *e)
{
    SL_PRE(s->in_batch && object != NULL);
    struct sl_buf before = {0};
    enum sl_sql id = old == NULL ? SL_SQL_INSERT : SL_SQL_UPDATE;
    enum sl_code code = old == NULL ? SL_CODE_OK : keep_past(s, kind, object, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    stamp(s, object);
    bind_key(s, id, kind, sl_object_namespace(object), sl_object_name(object));
    sl_db_bind_text(s, id, 4, sl_object_uid(object));
    sl_db_bind_int(s, id, 5, (int64_t)(s->revision + 1));
    sl_db_bind_text(s, id, 6, s->text.data);
    code = run_on_one(s, id, kind, object, e);
    code = code == SL_CODE_OK ? index_owners(s, kind, object, old, e) : code;
    if (code == SL_CODE_OK) {
        if (old != NULL && selectable_differs(kind, object, old)) {
            sl_json_print(old, &before);
        }
        add_event(s, old == NULL ? SL_WATCH_ADDED : SL_WATCH_MODIFIED, kind, object, &before);
    }
    sl_buf_fini(&before);
    return code;
}

static bool has_row(struct sl_store *s, enum sl_sql id)
{
    bool found = sl_db_row(s, id);
    reset(s, id);
    return found;
}

/* What the removal of an object makes others wait for no longer, or makes garbage. */
static enum sl_code note_removal(struct sl_store *s, const struct sl_json *object,
                                 struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    sl_db_bind_text(s, SL_SQL_OWNED, 1, sl_object_uid(object));
    sl_db_bind_int(s, SL_SQL_OWNED, 2, 1);
    if (has_row(s, SL_SQL_OWNED)) {
        s->work_pending = s->bookkeeping = true;
        sl_db_bind_text(s, SL_SQL_ORPHANED, 1, sl_object_uid(object));
        code = sl_db_run(s, SL_SQL_ORPHANED, e);
    }
    sl_db_bind_text(s, SL_SQL_ENDING_HAS, 1, sl_object_namespace(object));
    if (has_row(s, SL_SQL_ENDING_HAS) ||
        sl_json_len(sl_json_path(object, "metadata.ownerReferences")) > 0) {
        s->work_pending = true;
    }
    return code;
}

enum sl_code sl_rows_remove(struct sl_store *s, enum sl_kind kind, struct sl_json *object,
                            struct sl_error *e)
{
    SL_PRE(s->in_batch && object != NULL);
    enum sl_code code = keep_past(s, kind, object, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    bind_key(s, SL_SQL_DELETE, kind, sl_object_namespace(object), sl_object_name(object));
    code = run_on_one(s, SL_SQL_DELETE, kind, object, e);
    code = code == SL_CODE_OK ? index_owners(s, kind, NULL, object, e) : code;
    code = code == SL_CODE_OK ? note_removal(s, object, e) : code;
    if (code == SL_CODE_OK) {
        if (kind >= SL_KIND_DEFINED && s->definitions[kind - SL_KIND_DEFINED].ending) {
            s->work_pending = true; /* its definition may have waited for this */
        }
        stamp(s, object);
        add_event(s, SL_WATCH_DELETED, kind, object, NULL);
    }
    return code;
}
