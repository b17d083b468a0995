/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/ask.h"

#include <string.h>

#include "fuzz/lib/check.h"
#include "fuzz/lib/value.h"

enum { TOO_LARGE = (3 << 20) + 1, LONG_URI = 17000 };
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const char *const names[] = {"a", "b", "c", "default", "x.y", "n1", "n2", "a"};
static const char *const spaces[] = {"default", "default", "n1",          "n1",
                                     "n2",      "missing", "kube-system", "default"};

void ask_path(struct sl_buf *out, enum sl_kind kind, const char *ns, const char *name)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    sl_buf_print(out, "%s/%s", info->group[0] == '\0' ? "/api" : "/apis", info->api_version);
    if (ns[0] != '\0') {
        sl_buf_print(out, "/namespaces/%s", ns);
    }
    sl_buf_print(out, "/%s%s%s", info->plural, name[0] == '\0' ? "" : "/", name);
}

/* --- what is asked for ----------------------------------------------------------------------- */

static const char *method_of(uint32_t which)
{
    static const char *const methods[] = {"GET",   "GET",   "GET",    "GET",   "POST", "POST",
                                          "POST",  "POST",  "POST",   "PUT",   "PUT",  "PATCH",
                                          "PATCH", "PATCH", "DELETE", "DELETE"};
    static const char *const odd[] = {"HEAD", "OPTIONS", "BREW", "TRACE", "get"};
    return which < 240 ? methods[which % COUNT(methods)] : odd[which % COUNT(odd)];
}

static void odd_path(struct sl_buf *out, uint32_t which)
{
    static const char *const paths[] = {
        "/",
        "/api",
        "/apis",
        "/api/v1",
        "/apis/kueue.x-k8s.io",
        "/apis/kueue.x-k8s.io/v1beta2",
        "/openapi/v3",
        "/openapi/v3/apis/node.k8s.io/v1",
        "/openapi/v3/apis/none.io/v1",
        "/version",
        "/healthz",
        "/livez",
        "/readyz/ping",
        "/metrics",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        "//api//v1//pods/",
        "/api/v1/pods/../../..",
        "/api/v1/namespaces/%64efault/pods",
        "/api/v1/namespaces/default/pods/a%2fb",
        "/api/v1/namespaces/default/pods/a/status",
        "/api/v1/namespaces/default/pods/a/log",
        "/api/v1/namespaces/default/status",
        "/api/v1/namespaces//pods",
        "/apis//v1",
        "/apis/x/y/z/1/2/3/4/5/6/7/8/9",
        "/%",
        "/%00",
        "/api/v1/namespaces/default/pods/%ff%fe",
        "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/clusterqueues",
        "*",
    };
    if (which == 255) {
        sl_buf_text(out, "/api/v1/");
        for (int i = 0; i < LONG_URI / 10; i++) {
            sl_buf_text(out, "aaaaaaaaaa");
        }
        return;
    }
    sl_buf_text(out, paths[which % COUNT(paths)]);
}

/* Of a collection, an object, or neither. */
static void route(struct ask *a, struct sl_buf *uri, struct producer *p)
{
    uint32_t form = producer_byte(p), kind = producer_byte(p);
    uint32_t ns = producer_byte(p), name = producer_byte(p);
    a->kind = SL_KIND_COUNT;
    a->ns = a->name = "";
    if (form >= 224) {
        odd_path(uri, kind);
        return;
    }
    a->kind = (enum sl_kind)(kind % SL_KIND_DEFINITION);
    a->ns = sl_kind_info(a->kind)->namespaced ? spaces[ns % COUNT(spaces)] : "";
    a->name = names[name % COUNT(names)];
    bool posts = strcmp(a->method, "POST") == 0;
    if (posts ? form < 216 : form % 16 >= 9) {
        const char *in = !posts && form % 16 >= 14 ? "" : a->ns;
        ask_path(uri, a->kind, in, "");
        a->ns = in;
        a->name = posts ? a->name : "";
        return;
    }
    ask_path(uri, a->kind, a->ns, a->name);
    a->status = form % 16 >= 7 && sl_kind_info(a->kind)->has_status;
    sl_buf_text(uri, a->status ? "/status" : "");
}

static const char *const args[] = {
    "watch=true",
    "watch=true",
    "watch=1&allowWatchBookmarks=true",
    "limit=1",
    "limit=2",
    "limit=x",
    "continue=v1:default/a",
    "continue=zzz",
    "resourceVersion=0",
    "resourceVersion=1",
    "resourceVersion=99999999",
    "resourceVersion=-1",
    "resourceVersionMatch=Exact",
    "resourceVersionMatch=NotOlderThan",
    "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1",
    "allowWatchBookmarks=true",
    "timeoutSeconds=1",
    "timeoutSeconds=-5",
    "labelSelector=a%3Db",
    "labelSelector=a+in+(b,c)",
    "labelSelector=!a",
    "labelSelector=%2C%2C",
    "fieldSelector=metadata.name%3Da",
    "fieldSelector=metadata.namespace!%3Ddefault",
    "fieldSelector=status.phase%3DPending",
    "fieldSelector=spec.x%3D1",
    "dryRun=All",
    "dryRun=None",
    "pretty=true",
    "fieldManager=f",
    "propagationPolicy=Foreground",
    "propagationPolicy=Orphan",
    "orphanDependents=true",
    "includeObject=Object",
    "includeObject=None",
    "fieldValidation=Ignore",
    "&&=&a",
    "a=%zz",
    "%41=%ff",
};

static void note_arg(struct ask *a, const char *arg)
{
    size_t at = strlen(a->list_uri);
    a->watch = a->watch || strncmp(arg, "watch=", 6) == 0;
    a->dry_run = a->dry_run || strncmp(arg, "dryRun=", 7) == 0;
    a->since = a->since || (strncmp(arg, "resourceVersion=", 16) == 0 && arg[16] != '0');
    if (strstr(arg, "Selector=") != NULL) {
        (void)snprintf(a->list_uri + at, sizeof a->list_uri - at, "%c%s",
                       strchr(a->list_uri, '?') == NULL ? '?' : '&', arg);
    }
}

static void add_args(struct ask *a, struct sl_buf *uri, struct producer *p,
                     const struct ask_hints *h)
{
    char arg[400];
    char separator = '?';
    for (int i = 0; i < 3; i++) {
        uint32_t which = producer_byte(p);
        if (which < 128) {
            continue;
        }
        (void)snprintf(arg, sizeof arg, "%s", args[which % COUNT(args)]);
        if (which >= 248) {
            (void)snprintf(arg, sizeof arg, "resourceVersion=%llu",
                           (unsigned long long)h->revision - which % 4);
        } else if (which >= 244) {
            (void)snprintf(arg, sizeof arg, "limit=1&continue=%s", h->token);
        }
        sl_buf_print(uri, "%c%s", separator, arg);
        separator = '&';
        note_arg(a, arg);
    }
}

/* --- headers and body ------------------------------------------------------------------------ */

static void add_accept(struct sl_buf *out, uint32_t which)
{
    static const char *const types[] = {
        "application/json",
        "application/yaml",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "text/html",
        "text/html, */*;q=0.1",
        "application/json;as=Table;v=v2",
        ",;,",
        "application/vnd.kubernetes.protobuf, application/json",
        "application/json;as=Table;v=v1",
    };
    if (which >= 128) {
        sl_buf_print(out, "Accept: %s\r\n", types[which % COUNT(types)]);
    }
}

static const char *const types[] = {"application/json",
                                    "application/merge-patch+json",
                                    "application/json-patch+json",
                                    "application/strategic-merge-patch+json",
                                    "application/apply-patch+yaml",
                                    "application/yaml",
                                    "application/vnd.kubernetes.protobuf",
                                    "application/json; charset=utf-8",
                                    "text/plain",
                                    ""};

/* That which fits, unless the program wants another. */
static const char *type_of(const struct ask *a, uint32_t which)
{
    if (which >= 240) {
        return types[which % COUNT(types)];
    }
    return strcmp(a->method, "PATCH") == 0 ? types[1 + which % 4] : types[which % 8 == 7 ? 5 : 0];
}

static struct sl_json *value_of(const struct ask *a, const char *type, const struct ask_hints *h,
                                struct producer *p)
{
    enum sl_kind kind = a->kind == SL_KIND_COUNT ? SL_KIND_POD : a->kind;
    if (strcmp(a->method, "DELETE") == 0) {
        return body_options(&h->body, p);
    }
    if (type == types[2]) {
        return body_operations(p);
    }
    if (strcmp(a->method, "PATCH") == 0 && type != types[4]) {
        return body_merge(kind, &h->body, p);
    }
    return body_object(kind, a->name, &h->body, p);
}

static void add_body(struct sl_buf *out, const struct ask *a, const char *type,
                     const struct ask_hints *h, struct producer *p)
{
    static const char *const odd[] = {"",      "{",          "null",       "[]", "{\"metadata\":7}",
                                      "a: [b", "---\n---\n", "k8s\x01\x02"};
    uint32_t how = producer_byte(p);
    bool optional = strcmp(a->method, "DELETE") == 0;
    if (how >= 248 || (optional && how < 128)) {
        sl_buf_text(out, optional && how < 128 ? "" : odd[how % COUNT(odd)]);
    } else if (how == 247) {
        for (int i = 0; i < TOO_LARGE; i += 32) {
            sl_buf_text(out, "                                ");
        }
    } else {
        struct sl_json *v = how >= 240 ? value_build(p, 0) : value_of(a, type, h, p);
        if (strstr(type, "yaml") != NULL) {
            sl_json_print_yaml(v, out);
        } else {
            sl_json_print(v, out);
        }
        sl_json_free(v);
    }
}

static void add_chunked(struct sl_buf *out, const struct sl_buf *body)
{
    size_t size = body->len / 2 + 1;
    for (size_t at = 0; at < body->len; at += size) {
        size_t len = body->len - at < size ? body->len - at : size;
        sl_buf_print(out, "%zx\r\n", len);
        sl_buf_add(out, body->data + at, len);
        sl_buf_text(out, "\r\n");
    }
    sl_buf_text(out, "0\r\n\r\n");
}

/* Who asks and how; below 160 nothing is odd. */
static void add_flags(struct ask *a, struct sl_buf *out, uint32_t flags)
{
    static const char *const lines[] = {"Host: localhost\r\n",
                                        "Host: localhost\r\nConnection: close\r\n",
                                        "Host: 127.0.0.1:1\r\nExpect: 100-continue\r\n",
                                        "Host: localhost\r\nOrigin: http://localhost:7\r\n",
                                        "Host: [::1]:8\r\nX-Remote-User: x\r\n",
                                        "Host: evil.example\r\n",
                                        "Host: localhost\r\nOrigin: http://evil.example\r\n",
                                        "Host: localhost\r\nOrigin: null\r\n"};
    uint32_t which = flags < 160 ? 0 : flags % COUNT(lines);
    sl_buf_text(out, lines[which]);
    a->plain = which < 5;
}

static void write_request(struct ask *a, const char *uri, const struct ask_hints *h,
                          struct producer *p)
{
    uint32_t accept = producer_byte(p), type = producer_byte(p), flags = producer_byte(p);
    sl_buf_print(&a->text, "%s ", a->method);
    sl_buf_text(&a->text, uri);
    sl_buf_text(&a->text, " HTTP/1.1\r\n");
    add_flags(a, &a->text, flags);
    add_accept(&a->text, accept);
    if (strcmp(a->method, "GET") == 0 || strcmp(a->method, "HEAD") == 0) {
        sl_buf_text(&a->text, "\r\n");
        return;
    }
    struct sl_buf body = {0};
    const char *content = type_of(a, type);
    add_body(&body, a, content, h, p);
    if (content[0] != '\0') {
        sl_buf_print(&a->text, "Content-Type: %s\r\n", content);
    }
    if (flags % 16 == 15) {
        sl_buf_text(&a->text, "Transfer-Encoding: chunked\r\n\r\n");
        add_chunked(&a->text, &body);
    } else {
        sl_buf_print(&a->text, "Content-Length: %zu\r\n\r\n", body.len);
        sl_buf_add(&a->text, body.data == NULL ? "" : body.data, body.len);
    }
    sl_buf_fini(&body);
}

void ask_make(struct ask *a, struct producer *p, const struct ask_hints *h,
              const char *(*version_of)(enum sl_kind kind, const char *ns, const char *name))
{
    struct sl_buf uri = {0};
    struct ask_hints hints = *h;
    *a = (struct ask){.method = method_of(producer_byte(p))};
    route(a, &uri, p);
    (void)snprintf(a->list_uri, sizeof a->list_uri, "%s", uri.data);
    add_args(a, &uri, p, h);
    hints.body.version = a->kind == SL_KIND_COUNT ? "" : version_of(a->kind, a->ns, a->name);
    (void)snprintf(a->uri, sizeof a->uri, "%s", uri.data);
    write_request(a, uri.data, &hints, p);
    bool gets = strcmp(a->method, "GET") == 0 || strcmp(a->method, "HEAD") == 0;
    a->watch = a->watch && gets && !a->status;
    sl_buf_fini(&uri);
}

void ask_plain(struct ask *a, const char *method, const char *uri)
{
    *a = (struct ask){.method = method, .kind = SL_KIND_COUNT, .ns = "", .name = "", .plain = true};
    (void)snprintf(a->uri, sizeof a->uri, "%s", uri);
    sl_buf_print(&a->text, "%s %s HTTP/1.1\r\nHost: localhost\r\n\r\n", method, uri);
}

void ask_fini(struct ask *a)
{
    sl_buf_fini(&a->text);
}
