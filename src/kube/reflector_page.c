/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What lists and watches say, into the cache, one object at a time. */
#include "kube/reflector.h"

#include <string.h>

#include "base/mem.h"

static enum sl_code malformed(struct sl_error *e, enum sl_kind kind, const char *what)
{
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "the server sent a malformed %s of %s", what,
                        sl_kind_info(kind)->plural);
}

static enum sl_code put_items(struct sl_cache *c, struct sl_item *item, struct sl_span items,
                              struct sl_error *e)
{
    struct sl_span source;
    size_t cursor = 0;
    while (sl_scan_item(items, &cursor, &source)) {
        enum sl_code code = sl_item_reduce(item, c->kind, source, e);
        if (code != SL_CODE_OK) {
            return code;
        }
        sl_cache_put(c, item, SL_FROM_LIST);
    }
    return sl_scan_is_end(items, cursor) ? SL_CODE_OK : malformed(e, c->kind, "list");
}

/* A proxy that sends the wrong answer must not make another kind's objects ours. Custom kinds may name their lists as they
 * like. */
static bool is_of_kind(enum sl_kind kind, struct sl_span body)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    struct sl_span version = sl_span_text(sl_scan_find(body, "apiVersion"));
    struct sl_span found = sl_span_text(sl_scan_find(body, "kind"));
    size_t len = strlen(info->kind);
    bool list = found.len == len + 4 && memcmp(found.at, info->kind, len) == 0 &&
                memcmp(found.at + len, "List", 4) == 0;
    return (version.at == NULL || sl_span_is(version, info->api_version)) &&
           (found.at == NULL || list || kind >= SL_KIND_CUSTOM);
}

enum sl_code sl_reflector_page(struct sl_cache *c, struct sl_item *item, struct sl_span body,
                               char **page, uint64_t *version, struct sl_error *e)
{
    struct sl_span metadata = sl_scan_find(body, "metadata");
    struct sl_span items = sl_scan_find(body, "items");
    struct sl_span next = sl_span_text(sl_scan_find(metadata, "continue"));
    uint64_t found = sl_span_number(sl_span_text(sl_scan_find(metadata, "resourceVersion")));
    if (items.at == NULL || found == 0 || !is_of_kind(c->kind, body)) {
        return malformed(e, c->kind, "list");
    }
    size_t begin = 0;
    struct sl_span first;
    if (next.at != NULL && next.len > 0 && !sl_scan_item(items, &begin, &first)) {
        return malformed(e, c->kind, "list: a page that is not the last is empty");
    }
    if (*version == 0) {
        sl_cache_list_begin(c, found);
    }
    *version = found;
    enum sl_code code = put_items(c, item, items, e);
    if (code == SL_CODE_OK && next.at != NULL && next.len > 0) {
        *page = sl_mem_text_n(next.at, next.len);
    }
    return code;
}

static enum sl_code bookmark(struct sl_cache *c, struct sl_span object, struct sl_error *e)
{
    struct sl_span metadata = sl_scan_find(object, "metadata");
    uint64_t version = sl_span_number(sl_span_text(sl_scan_find(metadata, "resourceVersion")));
    if (version == 0) {
        return malformed(e, c->kind, "bookmark");
    }
    c->watched = version > c->watched ? version : c->watched;
    return SL_CODE_OK;
}

static enum sl_code failure(struct sl_span status, struct sl_error *e)
{
    struct sl_span message = sl_span_text(sl_scan_find(status, "message"));
    bool gone = sl_span_number(sl_scan_find(status, "code")) == 410;
    return sl_error_set(
        e, gone ? SL_CODE_GONE : SL_CODE_UNAVAILABLE, "the API server ended the watch: %.*s",
        message.len > 300 ? 300 : (int)message.len, message.at == NULL ? "" : message.at);
}

enum sl_code sl_reflector_event(struct sl_cache *c, struct sl_item *item, struct sl_span line,
                                struct sl_error *e)
{
    struct sl_span type = sl_span_text(sl_scan_find(line, "type"));
    struct sl_span object = sl_scan_find(line, "object");
    if (sl_span_is(type, "ERROR")) {
        return failure(object, e);
    }
    if (sl_span_is(type, "BOOKMARK")) {
        return bookmark(c, object, e);
    }
    bool deleted = sl_span_is(type, "DELETED");
    if (!deleted && !sl_span_is(type, "ADDED") && !sl_span_is(type, "MODIFIED")) {
        return malformed(e, c->kind, "watch event");
    }
    enum sl_code code = sl_item_reduce(item, c->kind, object, e);
    if (code == SL_CODE_OK && deleted) {
        sl_cache_remove(c, item);
    } else if (code == SL_CODE_OK) {
        sl_cache_put(c, item, SL_FROM_WATCH);
    }
    return code;
}
