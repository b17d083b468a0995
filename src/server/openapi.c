/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* OpenAPI, as little as clients need: each kind's schema, and the query arguments from which
 * kubectl learns that this server validates and dry-runs itself. */
#include <stdio.h>
#include <string.h>

#include "api/defined/defined.h"
#include "api/versions/versions.h"
#include "server/rest.h"
#include "base/check.h"

static const struct sl_kind_info *info_at(int kind)
{
    return sl_kind_info((enum sl_kind)kind);
}

/* A kind in one of its versions. */
struct versioned {
    const struct sl_kind_info *info;
    const char *version, *api_version;
    bool old;
};

static struct versioned versioned(int kind, bool old)
{
    const struct sl_kind_info *info = info_at(kind);
    return (struct versioned){.info = info,
                              .version = old ? SL_VERSION_OLD_NAME : info->version,
                              .api_version = old ? SL_VERSION_OLD : info->api_version,
                              .old = old};
}

static struct sl_json *gvk_new(const struct versioned *v)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "group", v->info->group);
    sl_json_set_text(o, "version", v->version);
    sl_json_set_text(o, "kind", v->info->kind);
    return o;
}

static void add_parameter(struct sl_json *list, const char *name)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "name", name);
    sl_json_set_text(o, "in", "query");
    sl_json_set_text(sl_json_path_make(o, "schema"), "type", "string");
    sl_json_append(list, o);
}

static void schema_name(const struct versioned *v, char out[static 160])
{
    (void)snprintf(out, 160, "%s.%s.%s", v->info->group[0] != '\0' ? v->info->group : "core",
                   v->version, v->info->kind);
}

static struct sl_json *schema_new(const struct versioned *v)
{
    enum sl_kind kind = v->info->id;
    struct sl_json *o = v->old                    ? sl_object_schema_old_new(kind)
                        : kind >= SL_KIND_DEFINED ? sl_defined_openapi_new(kind)
                                                  : sl_object_schema_new(kind);
    struct sl_json *kinds = sl_json_new_list();
    sl_json_append(kinds, gvk_new(v));
    sl_json_set(o, "x-kubernetes-group-version-kind", kinds);
    return o;
}

static void path_of(const struct versioned *v, char out[static 256])
{
    const struct sl_kind_info *info = v->info;
    (void)snprintf(out, 256, "/%s/%s/%s%s/{name}", info->group[0] != '\0' ? "apis" : "api",
                   v->api_version, info->namespaced ? "namespaces/{namespace}/" : "", info->plural);
}

static struct sl_json *responses_new(void)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(sl_json_path_make(o, "200"), "description", "OK");
    return o;
}

static struct sl_json *patch_path_new(const struct versioned *v)
{
    struct sl_json *o = sl_json_new_map();
    struct sl_json *patch = sl_json_path_make(o, "patch");
    struct sl_json *parameters = sl_json_new_list();
    add_parameter(parameters, "dryRun");
    add_parameter(parameters, "fieldManager");
    add_parameter(parameters, "fieldValidation");
    sl_json_set(patch, "parameters", parameters);
    sl_json_set(patch, "responses", responses_new());
    sl_json_set_text(patch, "x-kubernetes-action", "patch");
    sl_json_set(patch, "x-kubernetes-group-version-kind", gvk_new(v));
    return o;
}

/* One document with the kinds of `api_version`, or of all when it is NULL. */
static struct sl_json *document_new(const char *api_version)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "openapi", "3.0.0");
    sl_json_set_text(sl_json_path_make(o, "info"), "title", "Sluice");
    sl_json_set_text(sl_json_path_make(o, "info"), "version", "v1");
    struct sl_json *paths = sl_json_path_make(o, "paths");
    struct sl_json *schemas = sl_json_path_make(o, "components.schemas");
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        for (int old = 0; old < 2; old++) {
            char path[256], name[160];
            struct versioned v = versioned(i, old == 1);
            if ((v.old && !sl_version_has_old(v.info->id)) ||
                (api_version != NULL && strcmp(v.api_version, api_version) != 0)) {
                continue;
            }
            path_of(&v, path);
            schema_name(&v, name);
            sl_json_set(paths, path, patch_path_new(&v));
            sl_json_set(schemas, name, schema_new(&v));
        }
    }
    if (sl_json_len(paths) == 0) {
        sl_json_free(o);
        return NULL;
    }
    return o;
}

/* kubectl reads version 2 only as protobuf, and only for kinds that version 3 does not know: no
 * bytes are a document without kinds, so that it goes on to say which kind there is not. */
static bool serve_v2_protobuf(struct sl_request *r)
{
    if (r->accept_text == NULL || strstr(r->accept_text, "proto-openapi.spec.v2") == NULL) {
        return false;
    }
    sl_answer_reset(&r->answer);
    r->answer.status = 200;
    r->answer.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    return true;
}

static void serve_v2(struct sl_request *r)
{
    if (serve_v2_protobuf(r)) {
        return;
    }
    struct sl_json *o = sl_json_new_map(), *v3 = document_new(NULL);
    sl_json_set_text(o, "swagger", "2.0");
    sl_json_set(o, "info", sl_json_ref(sl_json_get(v3, "info")));
    sl_json_set(o, "paths", sl_json_new_map());
    sl_json_set(o, "definitions", sl_json_ref(sl_json_path(v3, "components.schemas")));
    sl_answer_json(r, 200, o);
    sl_json_free(o);
    sl_json_free(v3);
}

static void add_document(struct sl_json *paths, const char *root, const char *api_version)
{
    char key[128], url[160];
    (void)snprintf(key, sizeof key, "%s/%s", root, api_version);
    (void)snprintf(url, sizeof url, "/openapi/v3/%s", key);
    struct sl_json *entry = sl_json_new_map();
    sl_json_set_text(entry, "serverRelativeURL", url);
    sl_json_set(paths, key, entry);
}

static void serve_v3_index(struct sl_request *r)
{
    struct sl_json *o = sl_json_new_map();
    struct sl_json *paths = sl_json_path_make(o, "paths");
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        add_document(paths, info_at(i)->group[0] != '\0' ? "apis" : "api", info_at(i)->api_version);
    }
    add_document(paths, "apis", SL_VERSION_OLD);
    sl_answer_json(r, 200, o);
    sl_json_free(o);
}

void sl_openapi_serve(struct sl_request *r)
{
    SL_PRE(r != NULL);
    if (r->route.target == SL_TARGET_OPENAPI_V2) {
        serve_v2(r);
        return;
    }
    if (r->segment_count == 2) {
        serve_v3_index(r);
        return;
    }
    bool core = r->segment_count == 4 && strcmp(r->segments[2], "api") == 0;
    char api_version[128] = "";
    if (core) {
        (void)snprintf(api_version, sizeof api_version, "%.100s", r->segments[3]);
    } else if (r->segment_count == 5 && strcmp(r->segments[2], "apis") == 0) {
        (void)snprintf(api_version, sizeof api_version, "%.60s/%.60s", r->segments[3],
                       r->segments[4]);
    }
    struct sl_json *document = document_new(api_version);
    if (document == NULL) {
        sl_answer_no_resource(r);
        return;
    }
    sl_answer_json(r, 200, document);
    sl_json_free(document);
}
