/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Requests taken apart: path segments, query arguments, the Accept header, and which resource a
 * path means. */
#include <string.h>

#include "api/versions/versions.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "server/rest.h"
#include "server/scales.h"

#define URI_BYTES_MAX 16384u

/* --- decoding -------------------------------------------------------------------------------- */

static int hex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place. A NUL byte has no place in a name, so it is refused like a broken escape. */
static bool decode(char *text, bool plus)
{
    char *out = text;
    for (const char *in = text; *in != '\0'; in++) {
        if (*in == '%') {
            int high = hex(in[1]), low = high < 0 ? -1 : hex(in[2]);
            if (low < 0 || high + low == 0) {
                return false;
            }
            *out++ = (char)(high * 16 + low);
            in += 2;
        } else {
            *out++ = plus && *in == '+' ? ' ' : *in;
        }
    }
    *out = '\0';
    return true;
}

/* Errors repeat what was asked for, in JSON, which cannot hold other bytes. */
static bool is_utf8(const char *text)
{
    return sl_utf8_valid(text, strlen(text));
}

static bool split_query(struct sl_request *r, char *query)
{
    char *rest = NULL;
    for (char *arg = strtok_r(query, "&", &rest); arg != NULL; arg = strtok_r(NULL, "&", &rest)) {
        char *value = strchr(arg, '=');
        if (value != NULL) {
            *value++ = '\0';
        }
        if (r->arg_count == SL_QUERY_ARGS_MAX || !decode(arg, true) ||
            (value != NULL && !decode(value, true)) || !is_utf8(arg) ||
            (value != NULL && !is_utf8(value))) {
            return false;
        }
        r->args[r->arg_count++] = (struct sl_arg){arg, value != NULL ? value : ""};
    }
    return true;
}

static bool split_path(struct sl_request *r, char *path)
{
    char *rest = NULL;
    for (char *part = strtok_r(path, "/", &rest); part != NULL; part = strtok_r(NULL, "/", &rest)) {
        if (r->segment_count == SL_SEGMENTS_MAX || !decode(part, false)) {
            return false;
        }
        r->segments[r->segment_count++] = part;
    }
    return true;
}

bool sl_request_init(struct sl_request *r, struct sl_rest *rest, const char *method,
                     const char *uri)
{
    SL_PRE(rest != NULL && method != NULL && uri != NULL);
    *r = (struct sl_request){.rest = rest, .accept = {.acceptable = true}};
    size_t size = strlen(uri) + 1, method_size = strlen(method) + 1;
    r->uri = sl_mem_text(uri);
    memcpy(r->method, method, method_size < sizeof r->method ? method_size : sizeof r->method - 1);
    char *path = r->storage = sl_mem_new(2, size);
    memcpy(path, uri, size);
    char *query = strchr(path, '?');
    if (query != NULL) {
        *query++ = '\0';
    }
    r->query = query == NULL ? "" : strchr(r->uri, '?') + 1;
    /* The segments are cut out of a second copy, so that r->path stays whole. */
    char *copy = path + size;
    memcpy(copy, path, strlen(path) + 1);
    r->path = path;
    if (size > URI_BYTES_MAX || !split_path(r, copy) || (query != NULL && !split_query(r, query)) ||
        !decode(path, false) || !is_utf8(path)) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST, "the URL is too long or its escapes are malformed");
        return false;
    }
    return true;
}

void sl_request_fini(struct sl_request *r)
{
    SL_PRE(r != NULL);
    sl_answer_reset(&r->answer);
    sl_buf_fini(&r->page.body);
    if (r->page.rest != NULL) {
        r->page.rest->free(r->page.rest);
    }
    sl_mem_free(r->uri);
    sl_mem_free(r->storage);
    sl_mem_free(r->accept_text);
    sl_mem_free(r->content_type);
    sl_mem_free(r->user_agent);
    sl_mem_free(r->command);
    sl_mem_free(r->token);
    sl_mem_free(r->subject);
    sl_json_free(r->twice);
    sl_json_free(r->named);
    sl_buf_fini(&r->body);
}

const char *sl_request_arg(const struct sl_request *r, const char *name, const char *fallback)
{
    SL_PRE(r != NULL);
    for (size_t i = 0; i < r->arg_count; i++) {
        if (strcmp(r->args[i].name, name) == 0) {
            return r->args[i].value;
        }
    }
    return fallback;
}

bool sl_request_flag(const struct sl_request *r, const char *name)
{
    const char *value = sl_request_arg(r, name, "");
    return strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

/* --- Accept ---------------------------------------------------------------------------------- */

static bool has_word(const char *text, size_t len, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= len; i++) {
        if (strncmp(text + i, word, n) == 0 &&
            (i + n == len || strchr("; \t", text[i + n]) != NULL)) {
            return true;
        }
    }
    return false;
}

/* One entry of an Accept header; false when it cannot be served. */
static bool accept_entry(const char *entry, size_t len, struct sl_accept *a)
{
    *a = (struct sl_accept){.acceptable = true};
    a->yaml = has_word(entry, len, "application/yaml");
    if (!a->yaml && !has_word(entry, len, "application/json") && !has_word(entry, len, "*/*") &&
        !has_word(entry, len, "application/*") && !has_word(entry, len, "text/plain")) {
        return false;
    }
    if (has_word(entry, len, "as=Table")) {
        a->shape = SL_SHAPE_TABLE;
        return has_word(entry, len, "v=v1");
    }
    if (has_word(entry, len, "as=PartialObjectMetadata") ||
        has_word(entry, len, "as=PartialObjectMetadataList")) {
        a->shape = SL_SHAPE_METADATA;
        return has_word(entry, len, "v=v1");
    }
    if (has_word(entry, len, "as=APIGroupDiscoveryList")) {
        a->discovery = true;
        return has_word(entry, len, "v=v2");
    }
    return true;
}

struct sl_accept sl_accept_parse(const char *text)
{
    struct sl_accept a = {.acceptable = true};
    if (text == NULL || text[0] == '\0') {
        return a;
    }
    for (const char *at = text; *at != '\0';) {
        size_t len = strcspn(at, ",");
        if (accept_entry(at, len, &a)) {
            return a;
        }
        at += len + (at[len] == ',');
    }
    return (struct sl_accept){.acceptable = false};
}

/* --- routes ---------------------------------------------------------------------------------- */

static bool is(const struct sl_request *r, size_t at, const char *text)
{
    return at < r->segment_count && strcmp(r->segments[at], text) == 0;
}

static const char *segment(const struct sl_request *r, size_t at)
{
    return at < r->segment_count ? r->segments[at] : "";
}

/* A kind that has v1beta1, too. */
static enum sl_kind find_old(struct sl_request *r, const char *resource)
{
    if (strcmp(r->route.group, "kueue.x-k8s.io") != 0 ||
        strcmp(r->route.version, SL_VERSION_OLD_NAME) != 0) {
        return SL_KIND_COUNT;
    }
    enum sl_kind kind = sl_kind_find(r->route.group, "v1beta2", resource);
    r->route.old = kind != SL_KIND_COUNT && sl_version_has_old(kind);
    return r->route.old ? kind : SL_KIND_COUNT;
}

/* RESOURCE [/NAME [/SUBRESOURCE]] from segment `at` on. */
static void route_resource(struct sl_request *r, size_t at, const char *ns)
{
    struct sl_route *route = &r->route;
    enum sl_kind kind = sl_kind_find(route->group, route->version, segment(r, at));
    if (kind == SL_KIND_COUNT) {
        kind = find_old(r, segment(r, at));
    }
    size_t rest = r->segment_count - at;
    bool scale =
        kind != SL_KIND_COUNT && rest == 3 && is(r, at + 2, "scale") && sl_scales_has(kind);
    bool binding = kind == SL_KIND_POD && rest == 3 && is(r, at + 2, "binding");
    bool other = scale || binding;
    if (kind == SL_KIND_COUNT || rest > 3 || (rest == 3 && !other && !is(r, at + 2, "status"))) {
        return;
    }
    const struct sl_kind_info *info = sl_kind_info(kind);
    bool has_ns = ns[0] != '\0';
    if ((has_ns && !info->namespaced) || (!has_ns && info->namespaced && rest > 1) ||
        (rest == 3 && !other && !info->has_status)) {
        return;
    }
    route->target = SL_TARGET_OBJECTS;
    route->kind = kind;
    route->ns = ns;
    route->name = rest > 1 ? r->segments[at + 1] : "";
    route->scale = scale;
    route->binding = binding;
    route->status = rest == 3 && !other;
}

static void route_group_version(struct sl_request *r, size_t at)
{
    bool status_of_namespace =
        is(r, at, "namespaces") && is(r, at + 2, "status") && r->segment_count == at + 3;
    if (r->segment_count == at) {
        r->route.target = SL_TARGET_RESOURCES;
    } else if (is(r, at, "namespaces") && r->segment_count > at + 2 && !status_of_namespace) {
        route_resource(r, at + 2, segment(r, at + 1));
    } else {
        route_resource(r, at, "");
    }
}

static void route_plain(struct sl_request *r)
{
    struct sl_route *route = &r->route;
    if (r->segment_count == 0) {
        route->target = SL_TARGET_ROOT;
    } else if (is(r, 0, "version") && r->segment_count == 1) {
        route->target = SL_TARGET_VERSION;
    } else if (is(r, 0, "healthz") || is(r, 0, "livez") || is(r, 0, "readyz")) {
        route->target = SL_TARGET_HEALTH;
    } else if (is(r, 0, "openapi") && is(r, 1, "v2") && r->segment_count == 2) {
        route->target = SL_TARGET_OPENAPI_V2;
    } else if (is(r, 0, "openapi") && is(r, 1, "v3")) {
        route->target = SL_TARGET_OPENAPI_V3;
    }
}

static bool is_access_review(const struct sl_request *r)
{
    bool rights = is(r, 1, "authorization.k8s.io") &&
                  (is(r, 3, SL_ACCESS_REVIEWS) || is(r, 3, SL_ACCESS_RULES));
    bool self = is(r, 1, "authentication.k8s.io") && is(r, 3, SL_ACCESS_SELF);
    return (rights || self) && is(r, 2, "v1") && r->segment_count == 4;
}

void sl_request_route(struct sl_request *r)
{
    SL_PRE(r != NULL);
    struct sl_route *route = &r->route;
    *route = (struct sl_route){.target = SL_TARGET_UNKNOWN,
                               .group = "",
                               .version = "",
                               .kind = SL_KIND_COUNT,
                               .ns = "",
                               .name = ""};
    if (is(r, 0, "api")) {
        route->version = segment(r, 1);
        if (r->segment_count == 1) {
            route->target = SL_TARGET_CORE_VERSIONS;
        } else {
            route_group_version(r, 2);
        }
    } else if (is(r, 0, "apis")) {
        route->group = segment(r, 1);
        route->version = segment(r, 2);
        if (r->segment_count == 1) {
            route->target = SL_TARGET_GROUPS;
        } else if (r->segment_count == 2) {
            route->target = SL_TARGET_GROUP;
        } else if (is_access_review(r)) {
            route->target = SL_TARGET_ACCESS;
        } else if (route->group[0] != '\0') {
            route_group_version(r, 3);
        }
    } else {
        route_plain(r);
    }
}

void sl_request_attributes(const struct sl_request *r, struct sl_attributes *out)
{
    SL_PRE(r != NULL && out != NULL);
    const struct sl_attributes_path path = {r->path, r->segments, r->segment_count};
    *out = sl_attributes_of(r->method, &path, sl_request_flag(r, "watch"));
}
