/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The objects that a job refers to, and what they say about its pods: the file's `with`, and the `patches` of a pod
 * set. What is found at the end of a reference is read by the controller; here it is put beside the job's own fields. */
#include "controllers/adapters/adapter_with.h"
#include <string.h>

#define PATCHES_MAX 64u /* of one list of a job, for one pod set */

/* --- references ---------------------------------------------------------------------------------------- */

/* The text at a path of the job, given as a path or as {path, default}. */
static const char *text_at(const struct sl_json *where, const struct sl_json *job)
{
    const char *path = sl_json_text(where, sl_json_path_text(where, "path", ""));
    return sl_json_path_text(job, path, sl_json_path_text(where, "default", ""));
}

/* Is that the kind that the job names? Where the file says no path, there is one only. */
static bool is_named(const struct sl_json *with, const struct sl_json *kind,
                     const struct sl_json *job)
{
    const struct sl_json *name = sl_json_get(with, "kind");
    const struct sl_json *group = sl_json_get(with, "group");
    const char *version = sl_json_path_text(kind, "apiVersion", "");
    size_t len = strcspn(version, "/");
    const char *wanted = text_at(group, job);
    return (name == NULL || strcmp(text_at(name, job), sl_json_path_text(kind, "kind", "")) == 0) &&
           (group == NULL || (strlen(wanted) == len && strncmp(wanted, version, len) == 0));
}

static void fill(struct sl_reference *out, const struct sl_json *with, const struct sl_json *job)
{
    const struct sl_json *kinds = sl_json_get(with, "kinds");
    *out = (struct sl_reference){.as = sl_json_path_text(with, "as", ""),
                                 .field = sl_json_path_text(with, "name", ""),
                                 .kind = SL_KIND_COUNT,
                                 .ns = "",
                                 .scales = sl_json_path_bool(with, "elastic", false),
                                 .named = text_at(sl_json_get(with, "kind"), job)};
    out->name = sl_json_path_text(job, out->field, "");
    for (size_t i = 0; i < sl_json_len(kinds) && out->kind == SL_KIND_COUNT; i++) {
        const struct sl_json *kind = sl_json_at(kinds, i);
        if (is_named(with, kind, job)) {
            out->kind = sl_kind_find_object(sl_json_path_text(kind, "apiVersion", ""),
                                            sl_json_path_text(kind, "kind", ""));
        }
    }
    if (out->kind != SL_KIND_COUNT && sl_kind_info(out->kind)->namespaced) {
        out->ns = sl_object_namespace(job);
    }
}

bool sl_adapter_refers(const struct sl_framework *f, const struct sl_json *job, size_t index,
                       struct sl_reference *out)
{
    const struct sl_json *all = sl_json_get(sl_adapter_doc(f), "with");
    if (index >= sl_json_len(all)) {
        return false;
    }
    fill(out, sl_json_at(all, index), job);
    return true;
}

static enum sl_code lacks(const struct sl_framework *f, const struct sl_reference *r,
                          struct sl_error *e)
{
    const struct sl_json *why = sl_json_get(f->lacks, r->as);
    bool unread = sl_json_bool(why, false);
    if (r->kind == SL_KIND_COUNT || r->name[0] == '\0') {
        sl_error_cause(e, "FieldValueInvalid", r->field,
                       r->name[0] == '\0' ? "is required: the pods are described by what it names"
                                          : "no kind that the adapter file knows is named %s",
                       r->named);
        return sl_error_set(e, SL_CODE_INVALID, "%s", r->field);
    }
    sl_error_cause(e, "FieldValueInvalid", r->field, "%s \"%s%s%s\" %s",
                   sl_kind_info(r->kind)->kind, r->ns, r->ns[0] == '\0' ? "" : "/", r->name,
                   unread ? "cannot be read" : "is not there");
    return sl_error_set(e, unread ? SL_CODE_UNAVAILABLE : SL_CODE_NOT_FOUND, "%s", r->field);
}

/* One that scales may be missing, but whether it is there has to be known. */
static bool can_do_without(const struct sl_framework *f, const struct sl_reference *r)
{
    return r->scales && !sl_json_bool(sl_json_get(f->lacks, r->as), false);
}

enum sl_code sl_adapter_check_with(const struct sl_framework *f, const struct sl_json *job,
                                   struct sl_error *e)
{
    struct sl_reference r;
    for (size_t i = 0; sl_adapter_refers(f, job, i, &r); i++) {
        if (!sl_json_has(f->with, r.as) && !can_do_without(f, &r)) {
            return lacks(f, &r, e);
        }
    }
    return SL_CODE_OK;
}

struct sl_json *sl_adapter_whole_new(const struct sl_framework *f, const struct sl_json *job)
{
    struct sl_json *out = sl_json_new_map();
    for (struct sl_json_member m = {0};
         sl_json_type(job) == SL_JSON_MAP && sl_json_each(job, &m);) {
        sl_json_set(out, m.key, sl_json_ref(m.value));
    }
    for (struct sl_json_member m = {0};
         sl_json_type(f->with) == SL_JSON_MAP && sl_json_each(f->with, &m);) {
        sl_json_set(out, m.key, sl_json_ref(m.value));
    }
    return out;
}

/* --- patches ------------------------------------------------------------------------------------------- */

/* What one patch of the job's list has for this pod set: the item with its key. */
static enum sl_code add_one(const struct sl_json *patch, const struct sl_json *outer,
                            const struct sl_json *item, struct sl_json **template,
                            struct sl_error *e)
{
    const char *key = sl_json_path_text(patch, "key", "name");
    const char *ours = sl_json_path_text(item, key, "");
    const struct sl_json *from = sl_json_get(patch, "from");
    const struct sl_json *found =
        sl_json_find_by(sl_json_path(outer, sl_json_text(sl_json_at(from, 1), "")), key, ours);
    const struct sl_json *change = sl_json_path(found, sl_json_path_text(patch, "at", ""));
    return sl_json_type(change) == SL_JSON_MAP && ours[0] != '\0'
               ? sl_patch_strategic(template, change, e)
               : SL_CODE_OK;
}

static enum sl_code add_from(const struct sl_json *patch, struct sl_json *whole,
                             const struct sl_json *item, struct sl_json **template,
                             struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    const char *path = sl_json_text(sl_json_at(sl_json_get(patch, "from"), 0), "");
    const struct sl_json *list = sl_json_path(whole, path);
    if (sl_json_len(list) > PATCHES_MAX) {
        sl_error_cause(e, "FieldValueInvalid", path, "must have no more than %u items",
                       PATCHES_MAX);
        return sl_error_set(e, SL_CODE_INVALID, "%s: too many", path);
    }
    for (size_t i = 0; code == SL_CODE_OK && i < sl_json_len(list); i++) {
        const struct sl_json *outer = sl_json_at(list, i);
        if (sl_adapter_all_hold(sl_json_get(patch, "when"), outer)) {
            code = add_one(patch, outer, item, template, e);
        }
    }
    return code;
}

static enum sl_code add_own(const struct sl_json *patch, struct sl_json *whole,
                            const struct sl_json *item, struct sl_json **template,
                            struct sl_error *e)
{
    if (!sl_adapter_all_hold(sl_json_get(patch, "when"), item)) {
        return SL_CODE_OK;
    }
    const struct sl_expansion x = {.object = whole, .item = item, .sparse = true};
    struct sl_json *change = sl_adapter_expand(sl_json_get(patch, "patch"), &x);
    enum sl_code code = sl_patch_strategic(template, change, e);
    sl_json_free(change);
    return code;
}

enum sl_code sl_adapter_patch(const struct sl_place *p, struct sl_json *whole,
                              struct sl_json **template, struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    const struct sl_json *patches = sl_json_get(p->entry, "patches");
    struct sl_json *item = sl_place_item_new(p, whole);
    for (size_t i = 0; code == SL_CODE_OK && i < sl_json_len(patches); i++) {
        const struct sl_json *patch = sl_json_at(patches, i);
        code = sl_json_has(patch, "from") ? add_from(patch, whole, item, template, e)
                                          : add_own(patch, whole, item, template, e);
    }
    sl_json_free(item);
    return code;
}
