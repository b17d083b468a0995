/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The subresource scale: how many pods an object wants, in the same few fields whatever its kind is. */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "server/rest.h"
#include "server/scales.h"

#define SCALE_VERSION "autoscaling/v1"

/* --- what is read ----------------------------------------------------------------------------- */

static void separate(struct sl_buf *out)
{
    sl_buf_text(out, out->len > 0 ? "," : "");
}

static void print_values(const struct sl_json *values, struct sl_buf *out)
{
    sl_buf_text(out, " (");
    for (size_t i = 0; i < sl_json_len(values); i++) {
        sl_buf_print(out, "%s%s", i > 0 ? "," : "", sl_json_text(sl_json_at(values, i), ""));
    }
    sl_buf_text(out, ")");
}

static void print_expression(const struct sl_json *e, struct sl_buf *out)
{
    const char *key = sl_json_path_text(e, "key", ""),
               *operator= sl_json_path_text(e, "operator", "");
    separate(out);
    if (strcmp(operator, "In") == 0 || strcmp(operator, "NotIn") == 0) {
        sl_buf_print(out, "%s %s", key, operator[0] == 'I' ? "in" : "notin");
        print_values(sl_json_get(e, "values"), out);
    } else {
        sl_buf_print(out, "%s%s", strcmp(operator, "DoesNotExist") == 0 ? "!" : "", key);
    }
}

/* As a query has it: "a=b,c in (d,e)". */
static void print_selector(const struct sl_json *selector, struct sl_buf *out)
{
    if (sl_json_type(selector) == SL_JSON_TEXT) {
        sl_buf_text(out, sl_json_text(selector, ""));
        return;
    }
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(selector, "matchLabels"), &m);) {
        separate(out);
        sl_buf_print(out, "%s=%s", m.key, sl_json_text(m.value, ""));
    }
    const struct sl_json *expressions = sl_json_get(selector, "matchExpressions");
    for (size_t i = 0; i < sl_json_len(expressions); i++) {
        print_expression(sl_json_at(expressions, i), out);
    }
}

static struct sl_json *scale_new(enum sl_kind kind, const struct sl_json *object)
{
    static const char *const members[] = {"name", "namespace", "uid", "resourceVersion",
                                          "creationTimestamp"};
    const struct sl_scale *at = sl_scales_find(kind);
    struct sl_buf selector = {0};
    struct sl_json *scale = sl_json_new_map();
    sl_json_set_text(scale, "kind", "Scale");
    sl_json_set_text(scale, "apiVersion", SCALE_VERSION);
    struct sl_json *metadata = sl_json_path_make(scale, "metadata");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct sl_json *value = sl_json_get(sl_json_get(object, "metadata"), members[i]);
        if (value != NULL) {
            sl_json_set(metadata, members[i], sl_json_ref(value));
        }
    }
    struct sl_json *spec = sl_json_path_make(scale, "spec");
    int64_t wanted = sl_json_path_int(object, at->spec, at->one ? 1 : 0);
    if (wanted != 0) {
        sl_json_set_int(spec, "replicas", wanted);
    }
    struct sl_json *status = sl_json_path_make(scale, "status");
    sl_json_set_int(status, "replicas", sl_json_path_int(object, at->status, 0));
    if (at->selector[0] != '\0') {
        print_selector(sl_json_path(object, at->selector), &selector);
    }
    if (selector.len > 0) {
        sl_json_set_text(status, "selector", selector.data);
    }
    sl_buf_fini(&selector);
    return scale;
}

static bool read_object(struct sl_request *r, struct sl_json **object)
{
    struct sl_error e;
    bool dirty = sl_store_dirty(r->rest->store);
    if (sl_store_get(r->rest->store, r->route.kind, r->route.ns, r->route.name, object, &e) !=
        SL_CODE_OK) {
        sl_answer_refusal(r, &e, dirty);
        return false;
    }
    r->wait = dirty;
    return true;
}

static void answer(struct sl_request *r, const struct sl_json *object)
{
    const struct sl_scale *at = sl_scales_find(r->route.kind);
    if (!at->one && sl_json_path(object, at->spec) == NULL) {
        sl_answer_fail(r, SL_CODE_INTERNAL,
                       "Internal error occurred: the spec replicas field \".%s\" does not exist",
                       at->spec);
        return;
    }
    struct sl_json *scale = scale_new(r->route.kind, object);
    sl_answer_json(r, 200, scale);
    sl_json_free(scale);
}

/* --- what is written -------------------------------------------------------------------------- */

static bool refuse(struct sl_request *r, const char *reason, const char *field, const char *why)
{
    struct sl_error e;
    sl_error_clear(&e);
    sl_error_cause(&e, reason, field, "%s", why);
    (void)sl_error_set(&e, SL_CODE_INVALID, "Scale.autoscaling \"%.100s\" is invalid: %s: %s",
                       r->route.name, field, why);
    struct sl_json *status = sl_status_new(&e, SL_KIND_COUNT, "");
    struct sl_json *details = sl_json_path_make(status, "details");
    sl_json_set_text(details, "name", r->route.name);
    sl_json_set_text(details, "group", "autoscaling");
    sl_json_set_text(details, "kind", "Scale");
    sl_answer_json(r, sl_code_http(e.code), status);
    sl_json_free(status);
    return false;
}

/* Of a body: it cannot be read; of a patch: what comes of it is not valid. */
static bool refuse_type(struct sl_request *r)
{
    if (strcmp(r->method, "PATCH") == 0) {
        return refuse(r, "FieldValueInvalid", "spec.replicas",
                      "Invalid value: must be a number of 32 bits");
    }
    sl_answer_fail(r, SL_CODE_BAD_REQUEST, "spec.replicas: must be a number of 32 bits");
    return false;
}

static bool check(struct sl_request *r, const struct sl_json *scale)
{
    char why[96];
    const struct sl_json *replicas = sl_json_path(scale, "spec.replicas");
    const char *ns = sl_json_path_text(scale, "metadata.namespace", r->route.ns);
    int64_t n = sl_json_int(replicas, 0);
    if (!sl_write_check_part(r, scale, SCALE_VERSION, "Scale")) {
        return false;
    }
    if (strcmp(ns, r->route.ns) != 0) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST,
                       "the namespace of the provided object does not match the namespace sent on "
                       "the request (%.80s and %.80s)",
                       ns, r->route.ns);
        return false;
    }
    if (replicas != NULL && (sl_json_type(replicas) != SL_JSON_INT || n > INT32_MAX)) {
        return refuse_type(r);
    }
    if (n < 0) {
        (void)snprintf(why, sizeof why, "Invalid value: %lld: must be greater than or equal to 0",
                       (long long)n);
        return refuse(r, "FieldValueInvalid", "spec.replicas", why);
    }
    return true;
}

struct parent {
    char path[64];
};

static struct parent parent_of(const struct sl_scale *at)
{
    struct parent parent;
    const char *last = strrchr(at->spec, '.');
    SL_ASSERT(last != NULL && last - at->spec < (int)sizeof parent.path);
    (void)snprintf(parent.path, sizeof parent.path, "%.*s", (int)(last - at->spec), at->spec);
    return parent;
}

/* A job without workers gets none by a number of them. */
static bool can_be_scaled(struct sl_request *r, const struct sl_json *object)
{
    const struct sl_scale *at = sl_scales_find(r->route.kind);
    const struct parent parent = parent_of(at);
    return at->one || at->defined ||
           sl_json_type(sl_json_path(object, parent.path)) == SL_JSON_MAP ||
           refuse(r, "FieldValueRequired", parent.path,
                  "Required value: without it there is nothing to be scaled");
}

/* The object gets the number, and the preconditions go with it. */
static struct sl_json *change_new(const struct sl_scale *at, const struct sl_json *scale)
{
    struct sl_json *change = sl_json_new_map();
    const struct parent parent = parent_of(at);
    const char *version = sl_json_path_text(scale, "metadata.resourceVersion", "");
    sl_json_set_int(sl_json_path_make(change, parent.path), strrchr(at->spec, '.') + 1,
                    sl_json_path_int(scale, "spec.replicas", 0));
    if (version[0] != '\0') {
        sl_json_set_text(sl_json_path_make(change, "metadata"), "resourceVersion", version);
    }
    return change;
}

static void set_replicas(struct sl_request *r, const struct sl_json *scale, bool dry_run)
{
    struct sl_error e;
    struct sl_json *result = NULL;
    struct sl_json *change = change_new(sl_scales_find(r->route.kind), scale);
    const char *uid = sl_json_path_text(scale, "metadata.uid", "");
    struct sl_write w = sl_write_of(r, SL_VERB_PATCH_MERGE, change);
    w.dry_run = dry_run;
    w.scale = true;
    w.uid = uid[0] != '\0' ? uid : NULL;
    bool dirty = sl_store_dirty(r->rest->store);
    if (sl_store_apply(r->rest->store, &w, &result, &e) == SL_CODE_OK) {
        answer(r, result);
        r->wait = sl_store_dirty(r->rest->store);
        r->wrote = r->wait && !dry_run;
    } else {
        sl_answer_refusal(r, &e, dirty);
    }
    sl_json_free(result);
    sl_json_free(change);
}

enum patch { PATCH_UNKNOWN, PATCH_MERGE, PATCH_JSON };

/* A strategic merge patch is a plain one here: nothing of a scale is merged by keys. */
static enum patch patch_type(const struct sl_request *r)
{
    const char *type = r->content_type != NULL ? r->content_type : "";
    char given[48];
    (void)snprintf(given, sizeof given, "%.*s", (int)strcspn(type, "; "), type);
    if (strcmp(given, "application/json-patch+json") == 0) {
        return PATCH_JSON;
    }
    bool merge = strcmp(given, "application/merge-patch+json") == 0 ||
                 (sl_scales_find(r->route.kind)->built_in &&
                  strcmp(given, "application/strategic-merge-patch+json") == 0);
    return merge ? PATCH_MERGE : PATCH_UNKNOWN;
}

static bool patch(struct sl_request *r, struct sl_json **scale, const struct sl_json *body)
{
    struct sl_error e;
    sl_error_clear(&e);
    enum patch type = patch_type(r);
    if (type == PATCH_MERGE && sl_json_type(body) != SL_JSON_MAP) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST, "a merge patch has to be an object");
        return false;
    }
    enum sl_code code =
        type == PATCH_JSON ? sl_patch_json(scale, body, &e) : sl_patch_merge(scale, body, &e);
    if (code != SL_CODE_OK) {
        sl_answer_error(r, &e);
    }
    return code == SL_CODE_OK;
}

static void serve_write(struct sl_request *r, bool is_put)
{
    bool dry_run;
    struct sl_json *object = NULL, *body = sl_body_parse(r, false);
    if (body != NULL && sl_request_dry_run(r, NULL, &dry_run) && sl_options_not_forced(r) &&
        sl_manager_find(r) && read_object(r, &object) && can_be_scaled(r, object)) {
        /* With the version that was just read: it is the newest one. */
        struct sl_json *scale = is_put ? sl_json_ref(body) : scale_new(r->route.kind, object);
        bool fits = is_put || patch(r, &scale, body);
        if (fits && sl_json_type(scale) != SL_JSON_MAP) {
            sl_answer_fail(r, SL_CODE_BAD_REQUEST, "the body has to be an object");
        } else if (fits && check(r, scale)) {
            set_replicas(r, scale, dry_run);
        }
        sl_json_free(scale);
    }
    sl_json_free(object);
    sl_json_free(body);
}

static void refuse_patch_type(struct sl_request *r)
{
    sl_answer_fail(
        r, SL_CODE_UNSUPPORTED_MEDIA,
        "the body of the request was in an unknown format - accepted media types "
        "include: application/json-patch+json, application/merge-patch+json%s",
        sl_scales_find(r->route.kind)->built_in ? ", application/strategic-merge-patch+json" : "");
}

void sl_scale_serve(struct sl_request *r)
{
    SL_PRE(sl_scales_find(r->route.kind) != NULL);
    struct sl_json *object = NULL;
    if (strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0) {
        if (read_object(r, &object)) {
            answer(r, object);
            r->wait = sl_store_dirty(r->rest->store);
        }
        sl_json_free(object);
    } else if (strcmp(r->method, "PUT") == 0) {
        serve_write(r, true);
    } else if (strcmp(r->method, "PATCH") == 0) {
        patch_type(r) != PATCH_UNKNOWN ? serve_write(r, false) : refuse_patch_type(r);
    } else {
        sl_answer_fail(r, SL_CODE_METHOD_NOT_ALLOWED,
                       "the server does not allow this method on the requested resource");
        r->answer.allow = "GET, PUT, PATCH";
    }
}
