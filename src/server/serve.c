/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From a request to its handler: hooks first, then the route's resource and the method. */
#include <string.h>

#include "api/defined/defined.h"
#include "base/check.h"
#include "server/rest.h"

static bool method_is(const struct sl_request *r, const char *method)
{
    return strcmp(r->method, method) == 0;
}

static bool is_reading(const struct sl_request *r)
{
    return method_is(r, "GET") || method_is(r, "HEAD");
}

static void refuse_method(struct sl_request *r, const char *allow)
{
    sl_answer_fail(r, SL_CODE_METHOD_NOT_ALLOWED,
                   "the server does not allow this method on the requested resource");
    r->answer.allow = allow;
}

/* --- hooks ----------------------------------------------------------------------------------- */

static bool hook_matches(const struct sl_server_hook *hook, const char *path)
{
    size_t n = strlen(hook->path);
    bool prefix = n > 1 && hook->path[n - 1] == '/';
    return prefix ? strncmp(path, hook->path, n) == 0 : strcmp(path, hook->path) == 0;
}

/* A slice of the page; after the last one it is the answer. What it says may rest on what is staged. */
static void serve_page(struct sl_request *r)
{
    struct sl_server_page *page = &r->page;
    r->again = page->rest != NULL && page->rest->go_on(page->rest, page);
    r->answer = (struct sl_answer){.status = page->status,
                                   .content_type = page->content_type,
                                   .etag = page->etag,
                                   .headers = page->headers};
    if (r->again) {
        return;
    }
    r->wait = r->rest->store != NULL && sl_store_dirty(r->rest->store);
    r->answer.body = page->body;
    page->body = (struct sl_buf){.data = NULL};
    if (page->rest != NULL) {
        page->rest->free(page->rest);
        page->rest = NULL;
    }
}

void sl_rest_drop_page(struct sl_request *r)
{
    SL_PRE(r->rest != NULL);
    if (r->page.rest == NULL) {
        return;
    }
    r->page.rest->free(r->page.rest);
    r->page.rest = NULL;
    sl_buf_fini(&r->page.body);
    sl_answer_fail(r, SL_CODE_UNAVAILABLE, "all objects are being read again: try again");
    r->again = false;
}

static void begin_page(struct sl_request *r)
{
    r->page = (struct sl_server_page){.accept = r->accept_text != NULL ? r->accept_text : "",
                                      .status = 200,
                                      .content_type = "application/json"};
}

static void ask(struct sl_request *r, const struct sl_server_question *question)
{
    if (!method_is(r, "POST")) {
        refuse_method(r, "POST");
        return;
    }
    struct sl_json *body = sl_body_parse(r, true);
    if (body != NULL) {
        begin_page(r);
        question->answer(question->context, body, &r->page);
        sl_json_free(body);
        serve_page(r);
    }
}

static const struct sl_server_question *question_of(const struct sl_request *r)
{
    for (size_t i = 0; i < r->rest->question_count; i++) {
        if (strcmp(r->rest->questions[i].path, r->path) == 0) {
            return &r->rest->questions[i];
        }
    }
    return NULL;
}

bool sl_serve_is_question(const struct sl_request *r)
{
    SL_PRE(r != NULL);
    return question_of(r) != NULL;
}

static bool serve_hook(struct sl_request *r)
{
    if (r->page.rest != NULL) {
        serve_page(r);
        return true;
    }
    const struct sl_server_question *question = question_of(r);
    if (question != NULL) {
        ask(r, question);
        return true;
    }
    for (size_t i = 0; i < r->rest->hook_count; i++) {
        const struct sl_server_hook *hook = &r->rest->hooks[i];
        if (!hook_matches(hook, r->path)) {
            continue;
        }
        if (!is_reading(r)) {
            refuse_method(r, "GET");
            return true;
        }
        begin_page(r);
        hook->serve(hook->context, r->path, r->query, &r->page);
        if (r->page.status == 0) {
            continue;
        }
        serve_page(r);
        return true;
    }
    return false;
}

/* --- objects --------------------------------------------------------------------------------- */

/* HEAD has no answer that a watch could begin with: a stream's end would be sent after it, where the next answer on the
 * connection begins. */
static void serve_watch(struct sl_request *r)
{
    if (method_is(r, "GET")) {
        sl_watch_serve(r);
    } else {
        refuse_method(r, "GET");
    }
}

static void serve_collection(struct sl_request *r)
{
    if (is_reading(r) && sl_request_flag(r, "watch")) {
        serve_watch(r);
    } else if (is_reading(r)) {
        sl_read_list(r);
    } else if (method_is(r, "POST") &&
               (r->route.ns[0] != '\0' || !sl_kind_info(r->route.kind)->namespaced)) {
        sl_write_create(r);
    } else if (method_is(r, "DELETE")) {
        sl_write_delete_many(r);
    } else {
        refuse_method(r, "GET, POST, DELETE");
    }
}

static void serve_object(struct sl_request *r)
{
    if (is_reading(r) && sl_request_flag(r, "watch") && !r->route.status) {
        serve_watch(r);
    } else if (is_reading(r)) {
        sl_read_get(r);
    } else if (method_is(r, "PUT")) {
        sl_write_update(r);
    } else if (method_is(r, "PATCH")) {
        sl_write_patch(r);
    } else if (method_is(r, "DELETE") && !r->route.status) {
        sl_write_delete(r);
    } else {
        refuse_method(r, r->route.status ? "GET, PUT, PATCH" : "GET, PUT, PATCH, DELETE");
    }
}

static void serve_text(struct sl_request *r, const char *text)
{
    r->answer.status = 200;
    r->answer.content_type = "text/plain; charset=utf-8";
    sl_buf_text(&r->answer.body, text);
}

static void serve_unknown(struct sl_request *r)
{
    if (sl_logs_asked(r)) {
        sl_logs_serve(r);
    } else {
        sl_answer_no_resource(r);
    }
}

static void serve_target(struct sl_request *r)
{
    switch (r->route.target) {
    case SL_TARGET_UNKNOWN:
        serve_unknown(r);
        return;
    case SL_TARGET_HEALTH:
        serve_text(r, "ok");
        return;
    case SL_TARGET_OPENAPI_V2:
    case SL_TARGET_OPENAPI_V3:
        sl_openapi_serve(r);
        return;
    case SL_TARGET_ACCESS:
        if (method_is(r, "POST")) {
            sl_access_serve(r);
        } else {
            refuse_method(r, "POST");
        }
        return;
    case SL_TARGET_OBJECTS:
        if (r->rest->store == NULL) {
            sl_answer_no_resource(r);
        } else if (r->route.scale) {
            sl_scale_serve(r);
        } else if (r->route.binding) {
            sl_binding_serve(r);
        } else if (r->route.name[0] == '\0') {
            serve_collection(r);
        } else {
            serve_object(r);
        }
        return;
    default:
        sl_discovery_serve(r);
        return;
    }
}

void sl_rest_serve(struct sl_request *r)
{
    SL_PRE(r->rest != NULL);
    sl_answer_reset(&r->answer);
    r->wait = r->wrote = r->again = false;
    r->accept = sl_accept_parse(r->accept_text);
    sl_request_route(r);
    if (serve_hook(r)) {
        return;
    }
    bool objects = r->route.target == SL_TARGET_OBJECTS;
    bool fixed = !objects && r->route.target != SL_TARGET_ACCESS;
    if (fixed && !is_reading(r) && r->route.target != SL_TARGET_UNKNOWN) {
        refuse_method(r, "GET");
        return;
    }
    if (!r->accept.acceptable && objects) {
        r->accept = (struct sl_accept){.acceptable = true};
        sl_answer_fail(
            r, SL_CODE_NOT_ACCEPTABLE,
            "only the following media types are accepted: application/json, application/yaml");
        return;
    }
    if (sl_logs_looked_for(r)) {
        sl_logs_refuse(r);
    } else {
        serve_target(r);
    }
    if (r->route.old) { /* Kueue's words */
        sl_answer_warn(r, "This version is deprecated. Use v1beta2 instead.");
    }
    char warning[256];
    if (r->route.kind >= SL_KIND_DEFINED && r->route.kind < SL_KIND_COUNT &&
        sl_defined_warning(r->route.kind, warning)) {
        sl_answer_warn(r, "%s", warning);
    }
    SL_POST(r->answer.status >= 200);
}

void sl_rest_committed(struct sl_request *r, enum sl_code code, const struct sl_error *e)
{
    SL_PRE(r->wait);
    if (code != SL_CODE_OK && r->wrote) {
        sl_answer_error(r, e);
    } else if (code != SL_CODE_OK || r->again) {
        sl_rest_serve(r);
    } else {
        r->wait = false;
    }
}
