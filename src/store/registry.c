/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Create, update and patch as Kubernetes' registry does them: preconditions, what a client may not
 * touch, defaults, validation, generation, and nothing at all when nothing changes. */
#include "api/fields/managed.h"
#include "store/internal.h"
#include "store/submitter.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"

#define NAME_TRIES_MAX 8
#define OWN_MANAGER "sluice"

static enum sl_code conflict(const struct sl_registry_call *c, const char *name, const char *why,
                             struct sl_error *e)
{
    char resource[128];
    return sl_error_set(e, SL_CODE_CONFLICT, "Operation cannot be fulfilled on %s \"%s\": %s",
                        sl_rows_resource(c->w->kind, resource), name, why);
}

enum sl_code sl_registry_check(const struct sl_registry_call *c, const struct sl_json *old,
                               const char *uid, const char *resource_version, struct sl_error *e)
{
    char why[256];
    const char *name = sl_object_name(old);
    if (uid != NULL && uid[0] != '\0' && strcmp(uid, sl_object_uid(old)) != 0) {
        (void)snprintf(why, sizeof why,
                       "Precondition failed: UID in precondition: %.80s, UID in object meta: %s",
                       uid, sl_object_uid(old));
        return conflict(c, name, why, e);
    }
    if (resource_version != NULL && resource_version[0] != '\0' &&
        strcmp(resource_version, sl_object_resource_version(old)) != 0) {
        return conflict(
            c, name,
            "the object has been modified; please apply your changes to the latest version and "
            "try again",
            e);
    }
    return SL_CODE_OK;
}

/* A complaint of the registry itself, in the words that validation uses. */
static enum sl_code invalid(const struct sl_registry_call *c, const char *name,
                            const struct sl_error *causes, struct sl_error *e)
{
    const struct sl_kind_info *info = sl_kind_info(c->w->kind);
    struct sl_error full = *causes;
    const struct sl_cause_entry *first = &causes->causes[0];
    full.code = SL_CODE_INVALID;
    (void)snprintf(full.text, sizeof full.text, "%s%s%s \"%s\" is invalid: %.160s: %.240s",
                   info->kind, info->group[0] != '\0' ? "." : "", info->group, name, first->field,
                   first->text);
    *e = full;
    return SL_CODE_INVALID;
}

static bool is_status_write(const struct sl_registry_call *c)
{
    return c->w->verb == SL_VERB_UPDATE_STATUS || c->w->verb == SL_VERB_PATCH_STATUS_MERGE;
}

static struct sl_manager manager_of(const struct sl_registry_call *c)
{
    const char *name = c->w->manager != NULL ? c->w->manager : OWN_MANAGER;
    return (struct sl_manager){.name = name,
                               .status = is_status_write(c),
                               .scale = c->w->scale,
                               .now_ms = sl_clock_now_ms()};
}

/* What this program makes itself is not tracked: only clients read managedFields, and it writes such objects most. */
static void track_new(const struct sl_registry_call *c, struct sl_json *object)
{
    const struct sl_manager by = manager_of(c);
    if (c->w->applied) {
        return;
    }
    sl_json_remove(sl_json_get(object, "metadata"), "managedFields");
    if (c->w->manager != NULL) {
        sl_managed_create(c->w->kind, object, &by);
    }
}

static void track_change(const struct sl_registry_call *c, struct sl_json *object,
                         struct sl_json *old)
{
    const struct sl_manager by = manager_of(c);
    if (!c->w->applied) {
        sl_managed_update(c->w->kind, object, old, &by);
    }
}

/* --- create ---------------------------------------------------------------------------------- */

static const char *type_name(enum sl_json_type type)
{
    return type == SL_JSON_MAP    ? "object"
           : type == SL_JSON_LIST ? "array"
           : type == SL_JSON_TEXT ? "string"
           : type == SL_JSON_BOOL ? "boolean"
                                  : "number";
}

/* What is written into before validation has to be of its type, or what the client sent there would be lost. */
static enum sl_code check_metadata(const struct sl_registry_call *c, const struct sl_json *object,
                                   struct sl_error *e)
{
    static const struct {
        const char *key, *field;
        enum sl_json_type type;
    } members[] = {{"labels", "metadata.labels", SL_JSON_MAP},
                   {"annotations", "metadata.annotations", SL_JSON_MAP},
                   {"finalizers", "metadata.finalizers", SL_JSON_LIST},
                   {"ownerReferences", "metadata.ownerReferences", SL_JSON_LIST}};
    struct sl_error causes;
    sl_error_clear(&causes);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        enum sl_json_type type =
            sl_json_type(sl_json_get(sl_json_get(object, "metadata"), members[i].key));
        if (type != SL_JSON_NULL && type != members[i].type) {
            sl_error_cause(&causes, "FieldValueTypeInvalid", members[i].field,
                           "Invalid value: %s: must be %s", type_name(type),
                           members[i].type == SL_JSON_MAP ? "an object" : "a list");
        }
    }
    return causes.cause_count == 0 ? SL_CODE_OK : invalid(c, sl_object_name(object), &causes, e);
}

static enum sl_code check_depth(const struct sl_registry_call *c, const struct sl_json *object,
                                struct sl_error *e)
{
    struct sl_error causes;
    sl_error_clear(&causes);
    for (struct sl_json_member m = {0}; sl_json_each(object, &m);) {
        if (sl_json_deeper_than(m.value, SL_STORE_DEPTH_MAX - 1)) {
            sl_error_cause(&causes, "FieldValueInvalid", m.key,
                           "Invalid value: %s: an object must not be nested deeper than %u levels",
                           type_name(sl_json_type(m.value)), SL_STORE_DEPTH_MAX);
        }
    }
    return causes.cause_count == 0 ? SL_CODE_OK : invalid(c, sl_object_name(object), &causes, e);
}

/* Without what the server notes of its fields; not counted on where it is more than `max`. */
static size_t weight_of(const struct sl_json *object, size_t max)
{
    const struct sl_json *managers = sl_json_get(sl_json_get(object, "metadata"), "managedFields");
    size_t beside = managers != NULL ? sl_json_weight(managers, SIZE_MAX / 2) : 0;
    return sl_json_weight(object, max + beside) - beside;
}

/* Objects are read, copied and sent again and again, and many patches could make them as large as a
 * client likes. What we write ourselves may be larger, and existing objects may stay so. */
static enum sl_code check_weight(const struct sl_registry_call *c, const struct sl_json *object,
                                 const struct sl_json *old, struct sl_error *e)
{
    size_t max = c->w->weight_max;
    if (max == 0 || weight_of(object, max) <= max) {
        return SL_CODE_OK;
    }
    size_t before = weight_of(old, SIZE_MAX / 2);
    if (before > max && weight_of(object, before) <= before) {
        return SL_CODE_OK;
    }
    return sl_error_set(
        e, SL_CODE_TOO_LARGE,
        "the object would have too many values: they may weigh %zu, where a map weighs "
        "%u, others 1, and a name 1",
        max, SL_JSON_WEIGHT_MAP);
}

static enum sl_code check_body(const struct sl_registry_call *c, const struct sl_json *object,
                               struct sl_error *e)
{
    const struct sl_write *w = c->w;
    const char *ns = sl_object_namespace(object), *name = sl_object_name(object);
    if (sl_json_type(object) != SL_JSON_MAP ||
        sl_json_type(sl_json_get(object, "metadata")) != SL_JSON_MAP) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "the object has no metadata");
    }
    if (ns[0] != '\0' && strcmp(ns, w->ns) != 0) {
        return sl_error_set(
            e, SL_CODE_BAD_REQUEST,
            "the namespace of the provided object does not match the namespace sent on the request "
            "(%.80s and %.80s)",
            ns, w->ns);
    }
    if (w->name != NULL && w->name[0] != '\0' && name[0] != '\0' && strcmp(name, w->name) != 0) {
        return sl_error_set(
            e, SL_CODE_BAD_REQUEST,
            "the name of the object (%.100s) does not match the name on the URL (%.100s)", name,
            w->name);
    }
    enum sl_code code = check_metadata(c, object, e);
    return code == SL_CODE_OK ? check_depth(c, object, e) : code;
}

static enum sl_code check_namespace(const struct sl_registry_call *c, struct sl_error *e)
{
    struct sl_json *ns = NULL;
    char resource[128];
    if (!sl_kind_info(c->w->kind)->namespaced) {
        return SL_CODE_OK;
    }
    enum sl_code code = sl_rows_get(c->s, SL_KIND_NAMESPACE, "", c->w->ns, &ns, e);
    if (code == SL_CODE_OK && sl_object_deleting(ns)) {
        code = sl_error_set(
            e, SL_CODE_FORBIDDEN,
            "%s \"%s\" is forbidden: unable to create new content in namespace %s because it is "
            "being terminated",
            sl_rows_resource(c->w->kind, resource), c->w->name != NULL ? c->w->name : "", c->w->ns);
    }
    sl_json_free(ns);
    return code;
}

static enum sl_code give_name(const struct sl_registry_call *c, struct sl_json *object,
                              struct sl_error *e)
{
    struct sl_json *metadata = sl_json_get(object, "metadata");
    if (sl_object_name(object)[0] == '\0' && c->w->name != NULL && c->w->name[0] != '\0') {
        sl_json_set_text(metadata, "name", c->w->name);
    }
    if (sl_object_name(object)[0] != '\0') {
        return SL_CODE_OK;
    }
    if (sl_json_text(sl_json_get(metadata, "generateName"), "")[0] == '\0') {
        struct sl_error causes;
        sl_error_clear(&causes);
        sl_error_cause(&causes, "FieldValueRequired", "metadata.name",
                       "Required value: name or generateName is required");
        return invalid(c, "", &causes, e);
    }
    for (int i = 0; i < NAME_TRIES_MAX; i++) {
        sl_prepare_name(c->s, object);
        if (!sl_rows_has(c->s, c->w->kind, c->w->ns, sl_object_name(object), NULL)) {
            return SL_CODE_OK;
        }
    }
    return sl_error_set(e, SL_CODE_ALREADY_EXISTS, "no free name was found for generateName \"%s\"",
                        sl_json_text(sl_json_get(metadata, "generateName"), ""));
}

static enum sl_code check_job(const struct sl_registry_call *c, const struct sl_json *object,
                              const struct sl_json *old, struct sl_error *e)
{
    struct sl_error causes;
    enum sl_code code = sl_admit_job_change(c->s, c->w->kind, object, old, &causes);
    return code == SL_CODE_OK ? code : invalid(c, sl_object_name(object), &causes, e);
}

enum sl_code sl_registry_create(struct sl_registry_call *c, struct sl_error *e)
{
    SL_PRE(c != NULL);
    char resource[128];
    const struct sl_write *w = c->w;
    struct sl_json *object = c->result = sl_json_clone(w->body);
    enum sl_code code = check_body(c, object, e);
    if (code == SL_CODE_OK && sl_object_resource_version(object)[0] != '\0') {
        code = sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "resourceVersion should not be set on objects to be created");
    }
    code = code == SL_CODE_OK ? check_namespace(c, e) : code;
    code = code == SL_CODE_OK ? give_name(c, object, e) : code;
    if (code != SL_CODE_OK) {
        return code;
    }
    if (sl_rows_has(c->s, w->kind, w->ns, sl_object_name(object), NULL)) {
        return sl_error_set(e, SL_CODE_ALREADY_EXISTS, "%s \"%s\" already exists",
                            sl_rows_resource(w->kind, resource), sl_object_name(object));
    }
    struct sl_json *metadata = sl_json_get(object, "metadata");
    if (sl_kind_info(w->kind)->namespaced) {
        sl_json_set_text(metadata, "namespace", w->ns);
    } else {
        sl_json_remove(metadata, "namespace");
    }
    if (sl_submitter_note(c->s, w, object, e) != SL_CODE_OK) {
        return e->code;
    }
    sl_prepare_create(c->s, w->kind, object);
    sl_object_default_new(w->kind, object);
    bool users = w->kind >= SL_KIND_DEFINITION;
    code = users ? sl_definitions_shape(c, object, e) : SL_CODE_OK;
    code = code == SL_CODE_OK ? sl_object_validate(w->kind, object, NULL, e) : code;
    code = code == SL_CODE_OK && users ? sl_definitions_settle(c, object, e) : code;
    code = code == SL_CODE_OK ? check_job(c, object, NULL, e) : code;
    if (code == SL_CODE_OK) {
        track_new(c, object);
    }
    return code == SL_CODE_OK ? sl_rows_put(c->s, w->kind, object, NULL, e) : code;
}

/* --- update and patch ------------------------------------------------------------------------ */

/* Lists of managers are replaced, never changed in place. */
static void share_managers(struct sl_json *copy, const struct sl_json *old)
{
    struct sl_json *managers = sl_json_get(sl_json_get(old, "metadata"), "managedFields");
    if (managers != NULL) {
        sl_json_set(sl_json_get(copy, "metadata"), "managedFields", sl_json_ref(managers));
    }
}

/* A copy of the stored object to be changed. Members that are not named, but for metadata, are
 * shared with it: a Workload's pod sets are not copied, compared and checked again for a line in
 * its status. */
static struct sl_json *copy_to_change(const struct sl_json *old, const struct sl_json *named)
{
    struct sl_json *copy = sl_json_new_map();
    for (struct sl_json_member m = {0}; sl_json_each(old, &m);) {
        bool own = strcmp(m.key, "metadata") == 0 || sl_json_has(named, m.key);
        sl_json_set(copy, m.key, own ? sl_json_clone(m.value) : sl_json_ref(m.value));
    }
    share_managers(copy, old);
    return copy;
}

/* The object that the client wants: what it sent, or the stored one with its patch. */
static enum sl_code wanted(const struct sl_registry_call *c, const struct sl_json *old,
                           struct sl_json **object, struct sl_error *e)
{
    enum sl_code code;
    if (c->w->verb == SL_VERB_UPDATE || c->w->verb == SL_VERB_UPDATE_STATUS) {
        *object = sl_json_clone(c->w->body);
        return check_body(c, *object, e);
    }
    bool by_path = c->w->patch_type == SL_PATCH_IS_JSON;
    *object = by_path ? sl_json_clone(old) : copy_to_change(old, c->w->body);
    switch (c->w->patch_type) {
    case SL_PATCH_IS_JSON:
        code = sl_patch_json(object, c->w->body, e);
        break;
    case SL_PATCH_IS_STRATEGIC:
        code = sl_patch_strategic(object, c->w->body, e);
        break;
    default:
        code = sl_patch_merge(object, c->w->body, e);
        break;
    }
    return code == SL_CODE_OK ? check_body(c, *object, e) : code;
}

static enum sl_code check_type(const struct sl_registry_call *c, const struct sl_json *object,
                               struct sl_error *e)
{
    const struct sl_kind_info *info = sl_kind_info(c->w->kind);
    const char *version = sl_json_text(sl_json_get(object, "apiVersion"), info->api_version);
    const char *kind = sl_json_text(sl_json_get(object, "kind"), info->kind);
    if (strcmp(version, info->api_version) != 0 || strcmp(kind, info->kind) != 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "the object provided (%.80s, Kind=%.80s) is not a %s, Kind=%s", version,
                            kind, info->api_version, info->kind);
    }
    return SL_CODE_OK;
}

/* Who has applied which fields of a status comes with it. */
static void take_applied(const struct sl_registry_call *c, struct sl_json *to,
                         const struct sl_json *from)
{
    struct sl_json *managers = sl_json_get(sl_json_get(from, "metadata"), "managedFields");
    if (c->w->applied && managers != NULL) {
        sl_json_set(sl_json_get(to, "metadata"), "managedFields", sl_json_ref(managers));
    }
}

/* A status write changes nothing but status; another write of a kind with that subresource leaves
 * it alone. */
static struct sl_json *settle_status(const struct sl_registry_call *c, struct sl_json *object,
                                     const struct sl_json *old)
{
    const struct sl_json *from = is_status_write(c) ? object : old;
    struct sl_json *to = is_status_write(c) ? copy_to_change(old, NULL) : object;
    if (sl_kind_info(c->w->kind)->has_status) {
        struct sl_json *status = sl_json_get(from, "status");
        if (status == NULL) {
            sl_json_remove(to, "status");
        } else if (to != from) {
            sl_json_set(to, "status", sl_json_ref(status));
        }
    }
    if (to != object) {
        take_applied(c, to, object);
        sl_json_free(object);
    }
    return to;
}

static enum sl_code check_finalizers(const struct sl_registry_call *c, const struct sl_json *object,
                                     const struct sl_json *old, struct sl_error *e)
{
    const struct sl_json *now = sl_json_path(object, "metadata.finalizers");
    for (size_t i = 0; sl_object_deleting(old) && i < sl_json_len(now); i++) {
        const char *name = sl_json_text(sl_json_at(now, i), "");
        if (!sl_object_has_finalizer(old, name)) {
            struct sl_error causes;
            sl_error_clear(&causes);
            sl_error_cause(
                &causes, "FieldValueForbidden", "metadata.finalizers",
                "Forbidden: no new finalizers can be added if the object is being deleted, found "
                "\"%.80s\"",
                name);
            return invalid(c, sl_object_name(old), &causes, e);
        }
    }
    return SL_CODE_OK;
}

static enum sl_code store_change(struct sl_registry_call *c, const struct sl_json *old,
                                 struct sl_error *e)
{
    struct sl_json *object = c->result;
    bool held = sl_json_len(sl_json_path(object, "metadata.finalizers")) > 0 ||
                c->w->kind == SL_KIND_NAMESPACE;
    if (sl_json_equal(object, old)) {
        return SL_CODE_OK; /* no revision, no event */
    }
    if (c->w->kind == SL_KIND_NAMESPACE && sl_object_deleting(old)) {
        c->s->work_pending = true; /* it may have waited for this */
    }
    if (sl_object_deleting(old) && !held) {
        return sl_rows_remove(c->s, c->w->kind, object, e); /* the last finalizer was removed */
    }
    return sl_rows_put(c->s, c->w->kind, object, old, e);
}

enum sl_code sl_registry_change(struct sl_registry_call *c, struct sl_error *e)
{
    const struct sl_write *w = c->w;
    struct sl_json *old = NULL;
    bool users = w->kind >= SL_KIND_DEFINITION; /* or of theirs */
    SL_PRE(w->name != NULL);
    enum sl_code code = sl_rows_get(c->s, w->kind, w->ns, w->name, &old, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    code = wanted(c, old, &c->result, e);
    code = code == SL_CODE_OK ? check_weight(c, c->result, old, e) : code;
    code = code == SL_CODE_OK ? check_type(c, c->result, e) : code;
    if (code == SL_CODE_OK) {
        code = sl_registry_check(c, old, w->uid, NULL, e);
    }
    if (code == SL_CODE_OK) {
        code = sl_registry_check(c, old, sl_object_uid(c->result),
                                 sl_object_resource_version(c->result), e);
    }
    if (code == SL_CODE_OK) {
        c->result = settle_status(c, c->result, old);
        code = sl_submitter_keep(c->s, w, old, c->result, e);
    }
    if (code == SL_CODE_OK) {
        sl_object_default(w->kind, c->result);
        code = users ? sl_definitions_shape(c, c->result, e) : SL_CODE_OK;
    }
    if (code == SL_CODE_OK) {
        sl_admit_update(c->s, w->kind, c->result);
        sl_prepare_update(w->kind, c->result, old);
        code = sl_object_validate(w->kind, c->result, old, e);
    }
    code = code == SL_CODE_OK && users ? sl_definitions_settle(c, c->result, e) : code;
    code = code == SL_CODE_OK ? check_finalizers(c, c->result, old, e) : code;
    code = code == SL_CODE_OK ? check_job(c, c->result, old, e) : code;
    if (code == SL_CODE_OK) {
        track_change(c, c->result, old);
    }
    code = code == SL_CODE_OK ? store_change(c, old, e) : code;
    sl_json_free(old);
    return code;
}
