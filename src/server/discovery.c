/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Discovery: which groups, versions and resources there are, read off the table of kinds; and
 * /version. */
#include <stdio.h>
#include <string.h>

#include "api/defined/defined.h"
#include "api/versions/versions.h"
#include "base/check.h"
#include "server/rest.h"
#include "server/scales.h"

#define DISCOVERY_TYPE "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

static struct sl_json *object_new(const char *kind, const char *api_version)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "kind", kind);
    sl_json_set_text(o, "apiVersion", api_version);
    return o;
}

static struct sl_json *list_in(struct sl_json *map, const char *key)
{
    struct sl_json *list = sl_json_new_list();
    sl_json_set(map, key, list);
    return list;
}

static void add_words(struct sl_json *map, const char *key, const char *words)
{
    struct sl_json *list = list_in(map, key);
    for (const char *at = words; *at != '\0';) {
        char word[64];
        size_t len = strcspn(at, ",");
        (void)snprintf(word, sizeof word, "%.*s", (int)(len < 63 ? len : 63), at);
        sl_json_append(list, sl_json_new_text(word));
        at += len + (at[len] == ',');
    }
}

static void add_categories(struct sl_json *map, const struct sl_kind_info *info)
{
    const struct sl_json *own = sl_defined_categories(info->id);
    if (info->id == SL_KIND_POD || info->id == SL_KIND_JOB) {
        add_words(map, "categories", "all");
    } else if (sl_json_len(own) > 0) {
        sl_json_set(map, "categories", sl_json_clone(own));
    }
}

static const struct sl_kind_info *info_at(int kind)
{
    return sl_kind_info((enum sl_kind)kind);
}

/* The first kind of its group, or of its group and version: where the table starts something new.
 */
static bool is_first(int kind, bool by_version)
{
    const struct sl_kind_info *info = info_at(kind);
    for (int i = sl_kind_after(-1); i < kind; i = sl_kind_after(i)) {
        if (strcmp(info_at(i)->group, info->group) == 0 &&
            (!by_version || strcmp(info_at(i)->version, info->version) == 0)) {
            return false;
        }
    }
    return true;
}

/* Of the kind at that place, in `api_version`, which may be one that it has besides. */
static bool is_in(int kind, const char *api_version)
{
    return strcmp(info_at(kind)->api_version, api_version) == 0 ||
           (strcmp(api_version, SL_VERSION_OLD) == 0 && sl_version_has_old((enum sl_kind)kind));
}

static bool has_old(const char *group)
{
    return strcmp(group, "kueue.x-k8s.io") == 0;
}

/* --- resources of a version ------------------------------------------------------------------ */

static struct sl_json *resource_new(const struct sl_kind_info *info)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "name", info->plural);
    sl_json_set_text(o, "singularName", info->singular);
    sl_json_set_bool(o, "namespaced", info->namespaced);
    sl_json_set_text(o, "kind", info->kind);
    add_words(o, "verbs", "create,delete,deletecollection,get,list,patch,update,watch");
    if (info->shorts[0] != '\0') {
        add_words(o, "shortNames", info->shorts);
    }
    add_categories(o, info);
    return o;
}

#define CHANGED "get,patch,update"

static struct sl_json *subresource_new(const struct sl_kind_info *info, const char *which)
{
    char name[80];
    struct sl_json *o = sl_json_new_map();
    (void)snprintf(name, sizeof name, "%s/%s", info->plural, which);
    sl_json_set_text(o, "name", name);
    sl_json_set_text(o, "singularName", "");
    sl_json_set_bool(o, "namespaced", info->namespaced);
    bool scale = strcmp(which, "scale") == 0, binding = strcmp(which, "binding") == 0;
    if (scale) {
        sl_json_set_text(o, "group", "autoscaling");
        sl_json_set_text(o, "version", "v1");
    }
    sl_json_set_text(o, "kind", scale ? "Scale" : binding ? "Binding" : info->kind);
    add_words(o, "verbs", binding ? "create" : CHANGED);
    return o;
}

static bool serve_resources(struct sl_request *r)
{
    char version[128];
    struct sl_json *list = object_new("APIResourceList", "v1");
    (void)snprintf(version, sizeof version, "%.60s%s%.60s", r->route.group,
                   r->route.group[0] != '\0' ? "/" : "", r->route.version);
    sl_json_set_text(list, "groupVersion", version);
    struct sl_json *resources = list_in(list, "resources");
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        if (is_in(i, version)) {
            sl_json_append(resources, resource_new(info_at(i)));
            if (info_at(i)->has_status) {
                sl_json_append(resources, subresource_new(info_at(i), "status"));
            }
            if (i == SL_KIND_POD) {
                sl_json_append(resources, subresource_new(info_at(i), "binding"));
            }
            if (sl_scales_has((enum sl_kind)i)) {
                sl_json_append(resources, subresource_new(info_at(i), "scale"));
            }
        }
    }
    bool any = sl_json_len(resources) > 0;
    if (any) {
        sl_answer_json(r, 200, list);
    }
    sl_json_free(list);
    return any;
}

/* --- groups ---------------------------------------------------------------------------------- */

static struct sl_json *version_new(const char *api_version, const char *version)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "groupVersion", api_version);
    sl_json_set_text(o, "version", version);
    return o;
}

static struct sl_json *group_new(int first)
{
    const struct sl_kind_info *info = info_at(first);
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "name", info->group);
    struct sl_json *versions = list_in(o, "versions");
    for (int i = first; i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        if (strcmp(info_at(i)->group, info->group) == 0 && is_first(i, true)) {
            sl_json_append(versions, version_new(info_at(i)->api_version, info_at(i)->version));
        }
    }
    if (has_old(info->group)) {
        sl_json_append(versions, version_new(SL_VERSION_OLD, SL_VERSION_OLD_NAME));
    }
    sl_json_set(o, "preferredVersion", version_new(info->api_version, info->version));
    return o;
}

static void serve_groups(struct sl_request *r)
{
    struct sl_json *list = object_new("APIGroupList", "v1");
    struct sl_json *groups = list_in(list, "groups");
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        if (info_at(i)->group[0] != '\0' && is_first(i, false)) {
            sl_json_append(groups, group_new(i));
        }
    }
    sl_answer_json(r, 200, list);
    sl_json_free(list);
}

static bool serve_group(struct sl_request *r)
{
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        if (r->route.group[0] != '\0' && strcmp(info_at(i)->group, r->route.group) == 0) {
            struct sl_json *group = group_new(i);
            sl_json_set_text(group, "kind", "APIGroup");
            sl_json_set_text(group, "apiVersion", "v1");
            sl_answer_json(r, 200, group);
            sl_json_free(group);
            return true;
        }
    }
    return false;
}

static void serve_core_versions(struct sl_request *r)
{
    struct sl_json *o = object_new("APIVersions", "");
    sl_json_remove(o, "apiVersion");
    add_words(o, "versions", "v1");
    sl_json_set(o, "serverAddressByClientCIDRs", sl_json_new_list());
    sl_answer_json(r, 200, o);
    sl_json_free(o);
}

/* --- aggregated discovery -------------------------------------------------------------------- */

static struct sl_json *response_kind_new(const struct sl_kind_info *info, const char *version)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "group", info->group);
    sl_json_set_text(o, "version", version);
    sl_json_set_text(o, "kind", info->kind);
    return o;
}

static void add_subresource(struct sl_json *to, const char *which, struct sl_json *response,
                            const char *verbs)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "subresource", which);
    sl_json_set(o, "responseKind", response);
    add_words(o, "verbs", verbs);
    sl_json_append(to, o);
}

static struct sl_json *kind_new(const char *group, const char *kind)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "group", group);
    sl_json_set_text(o, "version", "v1");
    sl_json_set_text(o, "kind", kind);
    return o;
}

static struct sl_json *aggregated_resource_new(const struct sl_kind_info *info, const char *version)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "resource", info->plural);
    sl_json_set(o, "responseKind", response_kind_new(info, version));
    sl_json_set_text(o, "scope", info->namespaced ? "Namespaced" : "Cluster");
    sl_json_set_text(o, "singularResource", info->singular);
    add_words(o, "verbs", "create,delete,deletecollection,get,list,patch,update,watch");
    if (info->shorts[0] != '\0') {
        add_words(o, "shortNames", info->shorts);
    }
    add_categories(o, info);
    bool scale = sl_scales_has(info->id);
    struct sl_json *under = info->has_status || scale ? list_in(o, "subresources") : NULL;
    if (info->has_status) {
        add_subresource(under, "status", response_kind_new(info, version), CHANGED);
    }
    if (info->id == SL_KIND_POD) {
        add_subresource(under, "binding", kind_new("", "Binding"), "create");
    }
    if (scale) {
        add_subresource(under, "scale", kind_new("autoscaling", "Scale"), CHANGED);
    }
    return o;
}

static struct sl_json *aggregated_version_new(const char *api_version, const char *version)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "version", version);
    sl_json_set_text(o, "freshness", "Current");
    struct sl_json *resources = list_in(o, "resources");
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        if (is_in(i, api_version)) {
            sl_json_append(resources, aggregated_resource_new(info_at(i), version));
        }
    }
    return o;
}

/* All of /api or /apis in one answer, as kubectl asks first. */
static void serve_aggregated(struct sl_request *r, bool core)
{
    struct sl_json *list = object_new("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2");
    sl_json_set(list, "metadata", sl_json_new_map());
    struct sl_json *items = list_in(list, "items");
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        if ((info_at(i)->group[0] == '\0') != core || !is_first(i, false)) {
            continue;
        }
        struct sl_json *group = sl_json_new_map();
        struct sl_json *metadata = sl_json_path_make(group, "metadata");
        if (!core) {
            sl_json_set_text(metadata, "name", info_at(i)->group);
        }
        struct sl_json *versions = list_in(group, "versions");
        for (int j = i; j < (int)SL_KIND_COUNT; j = sl_kind_after(j)) {
            if (strcmp(info_at(j)->group, info_at(i)->group) == 0 && is_first(j, true)) {
                sl_json_append(
                    versions, aggregated_version_new(info_at(j)->api_version, info_at(j)->version));
            }
        }
        if (has_old(info_at(i)->group)) {
            sl_json_append(versions, aggregated_version_new(SL_VERSION_OLD, SL_VERSION_OLD_NAME));
        }
        sl_json_append(items, group);
    }
    sl_answer_json(r, 200, list);
    r->answer.content_type = DISCOVERY_TYPE;
    sl_json_free(list);
}

/* --- the rest -------------------------------------------------------------------------------- */

static void serve_version(struct sl_request *r)
{
    char git[80];
    struct sl_json *o = sl_json_new_map();
    (void)snprintf(git, sizeof git, "v1.36.0+sluice-%.40s", r->rest->version);
    sl_json_set_text(o, "major", "1"); /* the Kubernetes version whose conventions are followed */
    sl_json_set_text(o, "minor", "36");
    sl_json_set_text(o, "gitVersion", git);
    sl_json_set_text(o, "platform", "linux");
    sl_answer_json(r, 200, o);
    sl_json_free(o);
}

static void serve_root(struct sl_request *r)
{
    struct sl_json *o = sl_json_new_map();
    struct sl_json *paths = list_in(o, "paths");
    sl_json_append(paths, sl_json_new_text("/api"));
    sl_json_append(paths, sl_json_new_text("/api/v1"));
    sl_json_append(paths, sl_json_new_text("/apis"));
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        if (info_at(i)->group[0] != '\0' && is_first(i, true)) {
            char path[96];
            (void)snprintf(path, sizeof path, "/apis/%s", info_at(i)->api_version);
            sl_json_append(paths, sl_json_new_text(path));
        }
    }
    add_words(o, "health", "/healthz,/livez,/readyz,/version,/openapi/v2,/openapi/v3");
    struct sl_json *more = sl_json_get(o, "health");
    for (size_t i = 0; i < sl_json_len(more); i++) {
        sl_json_append(paths, sl_json_ref(sl_json_at(more, i)));
    }
    sl_json_remove(o, "health");
    sl_answer_json(r, 200, o);
    sl_json_free(o);
}

void sl_discovery_serve(struct sl_request *r)
{
    SL_PRE(r != NULL);
    bool found = true;
    switch (r->route.target) {
    case SL_TARGET_VERSION:
        serve_version(r);
        break;
    case SL_TARGET_ROOT:
        serve_root(r);
        break;
    case SL_TARGET_CORE_VERSIONS:
    case SL_TARGET_GROUPS:
        if (r->accept.discovery) {
            serve_aggregated(r, r->route.target == SL_TARGET_CORE_VERSIONS);
        } else if (r->route.target == SL_TARGET_GROUPS) {
            serve_groups(r);
        } else {
            serve_core_versions(r);
        }
        break;
    case SL_TARGET_GROUP:
        found = serve_group(r);
        break;
    default:
        SL_ASSERT(r->route.target == SL_TARGET_RESOURCES);
        found = serve_resources(r);
        break;
    }
    if (!found) {
        sl_answer_no_resource(r);
    }
}
