/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The subresource binding of pods: a scheduler says which node a pod is to run on. */
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "server/rest.h"

#define BINDING "Binding"

static bool refuse(struct sl_request *r, const char *reason, const char *field, const char *why)
{
    struct sl_error e;
    sl_error_clear(&e);
    sl_error_cause(&e, reason, field, "%s", why);
    (void)sl_error_set(&e, SL_CODE_INVALID, BINDING " \"%.100s\" is invalid: %s: %s", r->route.name,
                       field, why);
    struct sl_json *status = sl_status_new(&e, SL_KIND_COUNT, "");
    struct sl_json *details = sl_json_path_make(status, "details");
    sl_json_set_text(details, "name", r->route.name);
    sl_json_set_text(details, "kind", BINDING);
    sl_answer_json(r, sl_code_http(e.code), status);
    sl_json_free(status);
    return false;
}

static bool check_body(struct sl_request *r, const struct sl_json *body)
{
    const char *target = sl_json_path_text(body, "target.kind", "Node");
    if (!sl_write_check_part(r, body, "v1", BINDING)) {
        return false;
    }
    if (target[0] != '\0' && strcmp(target, "Node") != 0) {
        return refuse(r, "FieldValueNotSupported", "target.kind",
                      "Unsupported value: supported values: \"Node\", \"<empty>\"");
    }
    if (sl_json_path_text(body, "target.name", "")[0] == '\0') {
        return refuse(r, "FieldValueRequired", "target.name", "Required value");
    }
    return true;
}

static bool conflict(struct sl_request *r, const char *why, const char *node)
{
    sl_answer_fail(
        r, SL_CODE_CONFLICT,
        "Operation cannot be fulfilled on pods/binding \"%.100s\": pod %.100s %s%.100s%s",
        r->route.name, r->route.name, why, node, node[0] != '\0' ? "\"" : "");
    return false;
}

static bool check_pod(struct sl_request *r, const struct sl_json *pod)
{
    const char *node = sl_json_path_text(pod, "spec.nodeName", "");
    if (sl_object_deleting(pod)) {
        return conflict(r, "is being deleted and cannot be bound", "");
    }
    if (node[0] != '\0') {
        return conflict(r, "is already assigned to node \"", node);
    }
    return sl_json_len(sl_json_path(pod, "spec.schedulingGates")) == 0 ||
           conflict(r, "has non-empty .spec.schedulingGates", "");
}

/* Both writes are in one commit, or none is. */
static enum sl_code stage(struct sl_request *r, const struct sl_write *w, struct sl_json **pod,
                          struct sl_error *e)
{
    struct sl_json *result = NULL;
    enum sl_code code = sl_store_apply(r->rest->store, w, &result, e);
    if (code == SL_CODE_OK) {
        sl_json_free(*pod);
        *pod = result;
    }
    return code;
}

static struct sl_json *patch_new(const struct sl_json *body)
{
    struct sl_json *patch = sl_json_new_map();
    struct sl_json *notes = sl_json_path(body, "metadata.annotations");
    sl_json_set_text(sl_json_path_make(patch, "spec"), "nodeName",
                     sl_json_path_text(body, "target.name", ""));
    if (sl_json_type(notes) == SL_JSON_MAP) {
        sl_json_set(sl_json_path_make(patch, "metadata"), "annotations", sl_json_ref(notes));
    }
    return patch;
}

/* Conditions of pods need no reason. */
static void say_scheduled(struct sl_json *status)
{
    char now[32];
    struct sl_json *condition = sl_json_new_map();
    (void)sl_condition_remove(status, "PodScheduled");
    sl_clock_format(sl_clock_now_ms(), now);
    sl_json_set_text(condition, "type", "PodScheduled");
    sl_json_set_text(condition, "status", "True");
    sl_json_set_text(condition, "lastTransitionTime", now);
    if (sl_json_type(sl_json_get(status, "conditions")) != SL_JSON_LIST) {
        sl_json_set(status, "conditions", sl_json_new_list());
    }
    sl_json_append(sl_json_get(status, "conditions"), condition);
}

static enum sl_code bind_pod(struct sl_request *r, const struct sl_json *body, bool dry_run,
                             struct sl_json **pod, struct sl_error *e)
{
    struct sl_json *patch = patch_new(body);
    struct sl_write w = sl_write_of(r, SL_VERB_PATCH_MERGE, patch);
    const char *uid = sl_json_path_text(body, "metadata.uid", "");
    w.uid = uid[0] != '\0' ? uid : NULL;
    w.dry_run = dry_run;
    enum sl_code code = stage(r, &w, pod, e);
    sl_json_free(patch);
    if (code != SL_CODE_OK || dry_run) {
        return code;
    }
    struct sl_json *bound = sl_json_clone(*pod);
    say_scheduled(sl_json_path_make(bound, "status"));
    w = sl_write_of(r, SL_VERB_UPDATE_STATUS, bound);
    code = stage(r, &w, pod, e);
    sl_json_free(bound);
    return code;
}

static void answer_bound(struct sl_request *r)
{
    struct sl_json *status = sl_json_new_map();
    sl_json_set_text(status, "kind", "Status");
    sl_json_set_text(status, "apiVersion", "v1");
    sl_json_set(status, "metadata", sl_json_new_map());
    sl_json_set_text(status, "status", "Success");
    sl_json_set_int(status, "code", 201);
    sl_answer_json(r, 201, status);
    sl_json_free(status);
}

static void serve(struct sl_request *r, const struct sl_json *body, bool dry_run)
{
    struct sl_error e;
    struct sl_json *pod = NULL;
    bool dirty = sl_store_dirty(r->rest->store);
    enum sl_code code =
        sl_store_get(r->rest->store, SL_KIND_POD, r->route.ns, r->route.name, &pod, &e);
    if (code == SL_CODE_OK && !check_pod(r, pod)) {
        r->wait = dirty; /* what speaks against it may be staged */
        sl_json_free(pod);
        return;
    }
    code = code == SL_CODE_OK ? bind_pod(r, body, dry_run, &pod, &e) : code;
    if (code == SL_CODE_OK) {
        answer_bound(r);
        r->wait = sl_store_dirty(r->rest->store);
        r->wrote = r->wait && !dry_run;
    } else {
        sl_answer_refusal(r, &e, dirty);
    }
    sl_json_free(pod);
}

void sl_binding_serve(struct sl_request *r)
{
    bool dry_run;
    SL_PRE(r->route.kind == SL_KIND_POD && r->route.name[0] != '\0');
    if (strcmp(r->method, "POST") != 0) {
        sl_answer_fail(r, SL_CODE_METHOD_NOT_ALLOWED,
                       "the server does not allow this method on the requested resource");
        r->answer.allow = "POST";
        return;
    }
    struct sl_json *body = sl_body_parse(r, false);
    if (body != NULL && check_body(r, body) && sl_request_dry_run(r, NULL, &dry_run) &&
        sl_manager_find(r)) {
        serve(r, body, dry_run);
    }
    sl_json_free(body);
}
