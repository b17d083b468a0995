/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Delete: at once, or marked until the finalizers are removed, with what the propagation policy
 * requests. */
#include "store/internal.h"

#include <string.h>

#include "base/check.h"

static bool policy_is(const struct sl_write *w, const char *policy)
{
    return w->propagation != NULL && strcmp(w->propagation, policy) == 0;
}

static enum sl_code check_policy(const struct sl_registry_call *c, struct sl_error *e)
{
    const struct sl_write *w = c->w;
    if (w->propagation != NULL && w->propagation[0] != '\0' && !policy_is(w, "Background") &&
        !policy_is(w, "Foreground") && !policy_is(w, "Orphan")) {
        sl_error_set(e, SL_CODE_INVALID,
                     "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy");
        sl_error_cause(e, "FieldValueNotSupported", "propagationPolicy",
                       "Unsupported value: \"%.40s\": supported values: \"Background\", "
                       "\"Foreground\", \"Orphan\"",
                       w->propagation);
        return SL_CODE_INVALID;
    }
    if (w->kind == SL_KIND_NAMESPACE && strcmp(w->name, "default") == 0) {
        return sl_error_set(
            e, SL_CODE_FORBIDDEN,
            "namespaces \"default\" is forbidden: this namespace may not be deleted");
    }
    return SL_CODE_OK;
}

/* The next dependent of `owner` in the index of owners. One that cannot be read counts in s->unread. */
static bool next_dependent(struct sl_store *s, const struct sl_json *owner, enum sl_kind *kind,
                           struct sl_json **dependent)
{
    struct sl_error e;
    bool found = false;
    sl_db_bind_text(s, SL_SQL_OWNED, 1, sl_object_uid(owner));
    sl_db_bind_int(s, SL_SQL_OWNED, 2, 1);
    sqlite3_stmt *q = s->sql[SL_SQL_OWNED];
    if (sl_db_row(s, SL_SQL_OWNED)) {
        *kind = sl_rows_kind(s, sqlite3_column_int64(q, 0));
        enum sl_code code =
            *kind == SL_KIND_COUNT
                ? SL_CODE_NOT_FOUND
                : sl_rows_get(s, *kind, (const char *)sqlite3_column_text(q, 1),
                              (const char *)sqlite3_column_text(q, 2), dependent, &e);
        found = code == SL_CODE_OK;
        if (!found && code != SL_CODE_NOT_FOUND) {
            s->unread = e;
        }
    }
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    return found;
}

void sl_prepare_drop_owner(struct sl_json *object, const char *uid)
{
    struct sl_json *owners = sl_json_path(object, "metadata.ownerReferences");
    for (size_t i = sl_json_len(owners); i > 0; i--) {
        if (strcmp(sl_json_text(sl_json_get(sl_json_at(owners, i - 1), "uid"), ""), uid) == 0) {
            sl_json_remove_at(owners, i - 1);
        }
    }
    if (sl_json_len(owners) == 0) {
        sl_json_remove(sl_json_get(object, "metadata"), "ownerReferences");
    }
}

static enum sl_code orphan_dependents(struct sl_store *s, const struct sl_json *owner,
                                      struct sl_error *e)
{
    enum sl_kind kind;
    struct sl_json *old = NULL;
    enum sl_code code = SL_CODE_OK;
    while (code == SL_CODE_OK && next_dependent(s, owner, &kind, &old)) {
        struct sl_json *object = sl_json_clone(old);
        sl_prepare_drop_owner(object, sl_object_uid(owner));
        code = sl_rows_put(s, kind, object, old, e); /* takes the row out of the index */
        sl_json_free(object);
        sl_json_free(old);
        old = NULL;
    }
    return code;
}

static enum sl_code wait_for_dependents(const struct sl_registry_call *c, struct sl_json *object,
                                        struct sl_error *e)
{
    struct sl_store *s = c->s;
    if (!sl_object_has_finalizer(object, SL_FINALIZER_FOREGROUND)) {
        struct sl_json *finalizers = sl_json_path(object, "metadata.finalizers");
        if (finalizers == NULL) {
            finalizers = sl_json_new_list();
            sl_json_set(sl_json_get(object, "metadata"), "finalizers", finalizers);
        }
        sl_json_append(finalizers, sl_json_new_text(SL_FINALIZER_FOREGROUND));
    }
    s->work_pending = s->bookkeeping = true;
    sl_db_bind_text(s, SL_SQL_ORPHANED, 1, sl_object_uid(object));
    sl_db_bind_int(s, SL_SQL_ORPHANED, 2, s->kind_ids[c->w->kind]);
    sl_db_bind_text(s, SL_SQL_ORPHANED, 3, sl_object_namespace(object));
    sl_db_bind_text(s, SL_SQL_ORPHANED, 4, sl_object_name(object));
    return sl_db_run(s, SL_SQL_ORPHANED, e);
}

static enum sl_code begin_ending(struct sl_store *s, const struct sl_json *ns, struct sl_error *e)
{
    s->work_pending = s->bookkeeping = true;
    sl_db_bind_text(s, SL_SQL_ENDING, 1, sl_object_name(ns));
    return sl_db_run(s, SL_SQL_ENDING, e);
}

enum sl_code sl_registry_delete(struct sl_registry_call *c, struct sl_error *e)
{
    const struct sl_write *w = c->w;
    struct sl_json *old = NULL;
    SL_PRE(w->name != NULL);
    enum sl_code code = check_policy(c, e);
    code = code == SL_CODE_OK ? sl_rows_get(c->s, w->kind, w->ns, w->name, &old, e) : code;
    code = code == SL_CODE_OK
               ? sl_registry_check(c, old, w->uid, sl_object_resource_version(w->body), e)
               : code;
    if (code != SL_CODE_OK) {
        sl_json_free(old);
        return code;
    }
    struct sl_json *object = c->result = sl_json_clone(old);
    if (policy_is(w, "Orphan")) {
        code = orphan_dependents(c->s, object, e);
    } else if (policy_is(w, "Foreground") && w->kind != SL_KIND_NAMESPACE) {
        code = wait_for_dependents(c, object, e);
    } else if (w->kind == SL_KIND_NAMESPACE) {
        code = begin_ending(c->s, object, e);
    }
    if (w->kind == SL_KIND_DEFINITION) {
        sl_definitions_hold(object);
    }
    bool held = sl_json_len(sl_json_path(object, "metadata.finalizers")) > 0 ||
                w->kind == SL_KIND_NAMESPACE;
    if (code == SL_CODE_OK && !held) {
        code = sl_rows_remove(c->s, w->kind, object, e);
    } else if (code == SL_CODE_OK) {
        (void)sl_prepare_deletion(w->kind, object);
        code = sl_json_equal(object, old) ? SL_CODE_OK : sl_rows_put(c->s, w->kind, object, old, e);
    }
    sl_json_free(old);
    return code;
}
