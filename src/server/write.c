/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Create, update and patch: from the request to one write of the store, and its result back.
 * The answer waits for the commit. */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "server/rest.h"

/* Those of a CRD on a cluster. */
static bool is_custom(enum sl_kind kind)
{
    return kind >= SL_KIND_DEFINED || strcmp(sl_kind_info(kind)->group, "kueue.x-k8s.io") == 0;
}

bool sl_write_check_type(struct sl_request *r, const struct sl_json *body)
{
    const struct sl_kind_info *info = sl_kind_info(r->route.kind);
    struct sl_shown shown = sl_shown_by(r);
    const char *due = sl_shown_version(&shown);
    const char *version = sl_json_text(sl_json_get(body, "apiVersion"), due);
    const char *kind = sl_json_text(sl_json_get(body, "kind"), info->kind);
    if (sl_json_type(body) != SL_JSON_MAP) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST, "the body has to be an object");
        return false;
    }
    if (strcmp(version, due) != 0) {
        sl_answer_fail(
            r, SL_CODE_BAD_REQUEST,
            "the API version in the data (%.100s) does not match the expected API version (%s)",
            version, due);
        return false;
    }
    if (strcmp(kind, info->kind) != 0) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST,
                       "the kind in the data (%.100s) does not match the expected kind (%s)", kind,
                       info->kind);
        return false;
    }
    return true;
}

bool sl_write_check_part(struct sl_request *r, const struct sl_json *body, const char *version,
                         const char *kind)
{
    SL_PRE(version != NULL && kind != NULL);
    const char *its_version = sl_json_path_text(body, "apiVersion", version);
    const char *its_kind = sl_json_path_text(body, "kind", kind);
    const char *name = sl_json_path_text(body, "metadata.name", r->route.name);
    if (sl_json_type(body) != SL_JSON_MAP || strcmp(its_version, version) != 0 ||
        strcmp(its_kind, kind) != 0) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST,
                       "the object provided (%.80s, Kind=%.80s) is not a %s, Kind=%s", its_version,
                       its_kind, version, kind);
        return false;
    }
    if (strcmp(name, r->route.name) != 0) {
        sl_answer_fail(
            r, SL_CODE_BAD_REQUEST,
            "the name of the object (%.100s) does not match the name on the URL (%.100s)", name,
            r->route.name);
        return false;
    }
    return true;
}

void sl_write_and_answer(struct sl_request *r, const struct sl_write *w, struct sl_json *named,
                         int status)
{
    SL_PRE(w != NULL);
    struct sl_error e;
    struct sl_write said = *w;
    said.body = named;
    struct sl_json *result = NULL, *unknown = sl_json_new_list();
    if (!sl_fields_check(r, &said, unknown)) {
        sl_json_free(unknown);
        return;
    }
    bool dirty = sl_store_dirty(r->rest->store);
    enum sl_code code = sl_store_apply(r->rest->store, w, &result, &e);
    if (code == SL_CODE_OK) {
        sl_answer_object(r, status, result);
    } else {
        sl_answer_refusal(r, &e, dirty);
    }
    if (code == SL_CODE_OK && w->kind == SL_KIND_COHORT) {
        sl_cycle_warn(r, result);
    }
    sl_json_free(result);
    sl_fields_warn(r, &said, unknown); /* also when refused: what is misspelt may be why */
    sl_json_free(unknown);
    if (code != SL_CODE_OK) {
        return;
    }
    r->wait =
        sl_store_dirty(r->rest->store); /* a write without effect waits for those that it saw */
    r->wrote = r->wait && !w->dry_run;
}

struct sl_write sl_write_of(const struct sl_request *r, enum sl_verb verb, struct sl_json *body)
{
    SL_PRE(r != NULL);
    const struct sl_user *user = r->user;
    return (struct sl_write){.verb = verb,
                             .kind = r->route.kind,
                             .ns = r->route.ns,
                             .name = r->route.name,
                             .body = body,
                             .manager = r->manager,
                             .submitter = user != NULL ? user->name : "",
                             .for_others = user != NULL && user->role == SL_ROLE_ADMIN,
                             .weight_max = SL_BODY_WEIGHT_MAX};
}

void sl_write_create(struct sl_request *r)
{
    bool dry_run;
    struct sl_json *body = sl_body_parse(r, false);
    if (body != NULL && sl_write_check_type(r, body) && sl_request_dry_run(r, NULL, &dry_run) &&
        sl_manager_find(r) && sl_version_take(r, &body)) {
        if (sl_json_type(sl_json_get(body, "metadata")) == SL_JSON_NULL) {
            sl_json_set(body, "metadata", sl_json_new_map()); /* then the name is what is missing */
        }
        struct sl_write w = sl_write_of(r, SL_VERB_CREATE, body);
        w.dry_run = dry_run;
        sl_mem_free(r->subject); /* a dry run is served again when the commit fails */
        r->subject = sl_mem_text(sl_object_name(body));
        sl_write_and_answer(r, &w, body, 201);
    }
    sl_json_free(body);
}

/* Updates of custom resources have to name the version that was read. */
static bool check_version_given(struct sl_request *r, const struct sl_json *body)
{
    struct sl_error e;
    struct sl_json *stored = NULL;
    if (!is_custom(r->route.kind) || sl_object_resource_version(body)[0] != '\0' ||
        sl_store_get(r->rest->store, r->route.kind, r->route.ns, r->route.name, &stored, &e) !=
            SL_CODE_OK) {
        return true; /* or it is not there at all, which the write itself will find */
    }
    sl_json_free(stored);
    const struct sl_kind_info *info = sl_kind_info(r->route.kind);
    sl_error_clear(&e);
    (void)sl_error_set(
        &e, SL_CODE_INVALID,
        "%s.%s \"%s\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified "
        "for an update",
        info->plural, info->group, r->route.name);
    sl_error_cause(&e, "FieldValueInvalid", "metadata.resourceVersion",
                   "Invalid value: 0: must be specified for an update");
    sl_answer_error(r, &e);
    return false;
}

void sl_write_update(struct sl_request *r)
{
    bool dry_run;
    struct sl_json *body = sl_body_parse(r, false);
    if (body != NULL && sl_write_check_type(r, body) && check_version_given(r, body) &&
        sl_request_dry_run(r, NULL, &dry_run) && sl_manager_find(r) && sl_version_take(r, &body)) {
        struct sl_write w =
            sl_write_of(r, r->route.status ? SL_VERB_UPDATE_STATUS : SL_VERB_UPDATE, body);
        w.dry_run = dry_run;
        sl_write_and_answer(r, &w, body, 200);
    }
    sl_json_free(body);
}

/* --- patches --------------------------------------------------------------------------------- */

enum patch { PATCH_UNKNOWN, PATCH_MERGE, PATCH_JSON, PATCH_STRATEGIC, PATCH_APPLY };

static enum patch patch_type(const struct sl_request *r)
{
    static const struct {
        const char *type;
        enum patch patch;
    } types[] = {{"application/merge-patch+json", PATCH_MERGE},
                 {"application/json-patch+json", PATCH_JSON},
                 {"application/strategic-merge-patch+json", PATCH_STRATEGIC},
                 {"application/apply-patch+yaml", PATCH_APPLY}};
    const char *given = r->content_type != NULL ? r->content_type : "";
    size_t len = strcspn(given, "; ");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strlen(types[i].type) == len && strncmp(given, types[i].type, len) == 0) {
            return types[i].patch;
        }
    }
    return PATCH_UNKNOWN;
}

static void refuse_patch_type(struct sl_request *r)
{
    sl_answer_fail(
        r, SL_CODE_UNSUPPORTED_MEDIA,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json%s, application/apply-patch+yaml",
        is_custom(r->route.kind) ? "" : ", application/strategic-merge-patch+json");
}

void sl_write_patch(struct sl_request *r)
{
    bool dry_run;
    enum patch type = patch_type(r);
    if (type == PATCH_UNKNOWN || (type == PATCH_STRATEGIC && is_custom(r->route.kind))) {
        refuse_patch_type(r);
        return;
    }
    struct sl_json *body = sl_body_parse(r, false);
    if (body == NULL || !sl_request_dry_run(r, NULL, &dry_run) || !sl_manager_find(r)) {
        sl_json_free(body);
        return;
    }
    if (type == PATCH_APPLY) {
        sl_apply_serve(r, &body, dry_run);
    } else if (!sl_options_not_forced(r)) {
        sl_json_free(body);
        return;
    } else if (type != PATCH_JSON && sl_json_type(body) != SL_JSON_MAP) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST, "a merge patch has to be an object");
    } else {
        struct sl_write w = sl_write_of(
            r, r->route.status ? SL_VERB_PATCH_STATUS_MERGE : SL_VERB_PATCH_MERGE, body);
        w.patch_type = type == PATCH_JSON        ? SL_PATCH_IS_JSON
                       : type == PATCH_STRATEGIC ? SL_PATCH_IS_STRATEGIC
                                                 : SL_PATCH_IS_MERGE;
        w.dry_run = dry_run;
        struct sl_json *stored = NULL;
        if (!r->route.old || sl_version_take_patch(r, &body, &w, &stored)) {
            sl_write_and_answer(r, &w, body, 200);
        }
        sl_json_free(stored);
    }
    sl_json_free(body);
}
