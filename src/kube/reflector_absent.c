/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Absent objects. The quota of a deleted object is released, so a deletion is concluded only from
 * an answer about the object itself: a watch that says DELETED, or a GET that says that there is no
 * such object.
 * - A list that lacks an object that was there before may come from a server that does not have all
 *   its objects yet. Each one is asked for; if one exists, the list is ignored.
 * - A kind that is answered with 404 may be one whose CustomResourceDefinition is being set up, or
 *   hidden by a proxy. Its last known objects are kept. Only an optional kind of which nothing is
 *   known, and that discovery does not list, counts as one without objects. */
#include "kube/reflector_steps.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/status.h"

#define ABSENT_MS 30000 /* an optional kind that is not served is looked for this often */
#define ASK_MS_MAX 15000

static void ask(struct sl_reflector *r, const char *path, sl_response_fn *done)
{
    struct sl_request q = {.method = "GET", .path = path, .timeout_ms = ASK_MS_MAX};
    r->exchange = sl_transport_send(r->transport, &q, NULL, done, r);
}

/* --- objects that a list lacks --------------------------------------------------------------- */

static enum sl_code take_missing(struct sl_reflector *r, const struct sl_response *response,
                                 struct sl_error *e)
{
    struct sl_span body = {response->body, response->body_len};
    enum sl_code code = sl_item_reduce(&r->item, r->cache.kind, body, e);
    if (code == SL_CODE_OK && strcmp(r->item.key, r->missing[r->missing_next]) != 0) {
        code = sl_error_set(e, SL_CODE_BAD_REQUEST, "asked for %s, the server sent %s",
                            r->missing[r->missing_next], r->item.key);
    }
    if (code == SL_CODE_OK) {
        r->lacks = r->lacks || r->item.version <= r->list_version;
        sl_cache_put(&r->cache, &r->item, SL_FROM_LIST);
    }
    return code;
}

static void on_confirmed(void *context, const struct sl_response *response)
{
    struct sl_reflector *r = context;
    struct sl_error e = {0};
    r->exchange = NULL;
    enum sl_code code = sl_status_read(response, &e);
    if (code == SL_CODE_NOT_FOUND) {
        sl_reflector_reached(r);
        sl_cache_vanish(&r->cache, r->missing[r->missing_next], r->list_version);
    } else if (code != SL_CODE_OK || take_missing(r, response, &e) != SL_CODE_OK) {
        sl_reflector_failed(r, SL_NEXT_LIST, response->retry_ms, &e);
        return;
    }
    if (r->lacks) {
        sl_error_set(&e, SL_CODE_UNAVAILABLE, "the list lacks %s, which exists: it is not believed",
                     r->missing[r->missing_next]);
        sl_reflector_failed(r, SL_NEXT_LIST, 0, &e);
    } else if (++r->missing_next < r->missing_count) {
        sl_reflector_plan(r, SL_NEXT_CONFIRM, 0);
    } else {
        sl_reflector_listed(r);
    }
}

void sl_reflector_confirm(struct sl_reflector *r)
{
    struct sl_buf path = {0};
    const char *key = r->missing[r->missing_next];
    const char *slash = strchr(key, '/');
    char *ns = sl_mem_text_n(key, (size_t)(slash - key));
    sl_status_path(&path, r->cache.kind, ns, slash + 1, "");
    ask(r, path.data, on_confirmed);
    sl_buf_fini(&path);
    sl_mem_free(ns);
}

/* --- kinds that are not served --------------------------------------------------------------- */

/* What Sluice can do without: everything else belongs to every cluster, or is installed with Sluice. */
static bool is_optional(enum sl_kind kind)
{
    return kind >= SL_KIND_CUSTOM || kind == SL_KIND_PROVISIONING_REQUEST ||
           kind == SL_KIND_DEVICE_CLASS || kind == SL_KIND_RESOURCE_CLAIM_TEMPLATE ||
           kind == SL_KIND_RESOURCE_SLICE;
}

static void keep_all(struct sl_reflector *r)
{
    if (!r->unserved) {
        r->unserved = true;
        sl_log(SL_LOG_WARN,
               r->cache.synced ? "the API server does not serve this kind any more; its last known "
                                 "objects are kept, with their quota"
                               : "the API server does not serve this kind; waiting for it",
               "kind", sl_kind_info(r->cache.kind)->kind, "api_version",
               sl_kind_info(r->cache.kind)->api_version, NULL);
    }
}

void sl_reflector_unserved(struct sl_reflector *r, const struct sl_error *e)
{
    sl_reflector_reached(r);
    if (is_optional(r->cache.kind) && sl_cache_count(&r->cache) == 0 && r->cache.unknown == 0) {
        sl_reflector_plan(r, SL_NEXT_GROUPS, 0);
    } else {
        keep_all(r);
        sl_reflector_failed(r, SL_NEXT_LIST, 0, e);
    }
}

/* Discovery does not list it: there are none. */
static void believe(struct sl_reflector *r)
{
    if (!r->unserved) {
        r->unserved = true;
        sl_log(SL_LOG_INFO, "the API server does not serve this kind", "kind",
               sl_kind_info(r->cache.kind)->kind, NULL);
    }
    sl_cache_list_begin(&r->cache, 0);
    sl_cache_list_end(&r->cache, 0);
    r->stale = false;
    r->failures = 0;
    sl_backoff_reset(&r->backoff);
    sl_reflector_plan(r, SL_NEXT_LIST, ABSENT_MS);
}

/* Of a list of maps: the one whose `key` is this; NULL when there is none. */
static const struct sl_json *with(const struct sl_json *maps, const char *key, const char *value)
{
    for (size_t i = 0; i < sl_json_len(maps); i++) {
        const struct sl_json *map = sl_json_at(maps, i);
        if (strcmp(sl_json_path_text(map, key, ""), value) == 0) {
            return map;
        }
    }
    return NULL;
}

/* The document that was asked for, caller frees; NULL: it did not come, and the list is tried again. */
static struct sl_json *discovered(struct sl_reflector *r, const struct sl_response *response,
                                  const char *kind, const char *list)
{
    struct sl_error e = {0};
    struct sl_json *o = NULL;
    r->exchange = NULL;
    if (sl_status_read(response, &e) == SL_CODE_OK) {
        o = sl_json_parse_received(response->body, response->body_len, &e);
    }
    bool fine = strcmp(sl_json_path_text(o, "kind", ""), kind) == 0 &&
                sl_json_len(sl_json_get(o, list)) > 0;
    if (!fine) {
        struct sl_error why = {0};
        sl_error_set(&why, SL_CODE_UNAVAILABLE, "discovery, which would list the kind: %s",
                     e.text[0] == '\0' ? "the answer makes no sense" : e.text);
        keep_all(r);
        sl_reflector_failed(r, SL_NEXT_LIST, response->retry_ms, &why);
        sl_json_free(o);
        return NULL;
    }
    return o;
}

static void on_groups(void *context, const struct sl_response *response)
{
    struct sl_reflector *r = context;
    const struct sl_kind_info *info = sl_kind_info(r->cache.kind);
    struct sl_json *o = discovered(r, response, "APIGroupList", "groups");
    if (o == NULL) {
        return;
    }
    const struct sl_json *group = with(sl_json_get(o, "groups"), "name", info->group);
    bool listed = with(sl_json_get(group, "versions"), "version", info->version) != NULL;
    sl_json_free(o);
    if (listed) {
        sl_reflector_plan(r, SL_NEXT_RESOURCES, 0);
    } else {
        believe(r);
    }
}

void sl_reflector_ask_groups(struct sl_reflector *r)
{
    ask(r, "/apis", on_groups);
}

/* The resource that holds the objects of a kind known by its name: "scale" and the like are below one, and hold none. */
static const struct sl_json *holder(const struct sl_json *resources, const char *kind)
{
    for (size_t i = 0; i < sl_json_len(resources); i++) {
        const struct sl_json *one = sl_json_at(resources, i);
        if (strcmp(sl_json_path_text(one, "kind", ""), kind) == 0 &&
            strchr(sl_json_path_text(one, "name", "/"), '/') == NULL) {
            return one;
        }
    }
    return NULL;
}

/* Has discovery said what such objects are called, and is that news? */
static bool is_found(const struct sl_kind_info *info, const struct sl_json *resources)
{
    const struct sl_json *one = info->by_name ? holder(resources, info->kind) : NULL;
    const char *plural = sl_json_path_text(one, "name", "");
    return one != NULL && strcmp(plural, info->plural) != 0 &&
           sl_kind_found(info->id, plural, sl_json_path_bool(one, "namespaced", true));
}

static void on_resources(void *context, const struct sl_response *response)
{
    struct sl_reflector *r = context;
    struct sl_error e = {0};
    const struct sl_kind_info *info = sl_kind_info(r->cache.kind);
    struct sl_json *o = discovered(r, response, "APIResourceList", "resources");
    if (o == NULL) {
        return;
    }
    bool found = is_found(info, sl_json_get(o, "resources"));
    bool listed =
        info->plural[0] != '\0' && with(sl_json_get(o, "resources"), "name", info->plural) != NULL;
    sl_json_free(o);
    if (found) {
        sl_reflector_plan(r, SL_NEXT_LIST, 0);
        return;
    }
    if (!listed) {
        believe(r);
        return;
    }
    keep_all(r);
    sl_error_set(&e, SL_CODE_UNAVAILABLE, "discovery lists %s, and their list is answered with 404",
                 info->plural);
    sl_reflector_failed(r, SL_NEXT_LIST, 0, &e);
}

void sl_reflector_ask_resources(struct sl_reflector *r)
{
    struct sl_buf path = {0};
    sl_buf_print(&path, "/apis/%s", sl_kind_info(r->cache.kind)->api_version);
    ask(r, path.data, on_resources);
    sl_buf_fini(&path);
}
