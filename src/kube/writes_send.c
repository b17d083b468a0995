/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From a write to its request: what an UPDATE differs in, what it is guarded by, how it is asked for. */
#include "kube/writes_change.h"
#include "base/check.h"

#include <stdio.h>
#include <string.h>

#include "kube/diff.h"
#include "kube/status.h"

#define WRITE_MS_MAX 30000

struct sl_json *sl_change_live(const struct sl_change *c, uint64_t *version, bool *followed)
{
    SL_PRE(c != NULL);
    const struct sl_cache *cache = c->owner->options.cache_of(c->owner->options.context, c->kind);
    char key[SL_ITEM_KEY_SIZE];
    *followed = cache != NULL;
    (void)snprintf(key, sizeof key, "%s/%s", c->ns, c->name);
    return cache == NULL ? NULL : sl_cache_get(cache, key, version);
}

static bool is_update(const struct sl_change *c)
{
    return c->verb == SL_VERB_UPDATE || c->verb == SL_VERB_UPDATE_STATUS;
}

static bool is_status(const struct sl_change *c)
{
    return (c->verb == SL_VERB_UPDATE_STATUS || c->verb == SL_VERB_PATCH_STATUS_MERGE) &&
           sl_kind_info(c->kind)->has_status;
}

/* The preconditions go with the patch: the server compares them with the object that it would change. */
static void guard(struct sl_change *c)
{
    const char *version = sl_object_resource_version(c->body);
    c->guard = sl_span_number((struct sl_span){version, strlen(version)});
    if (version[0] != '\0') {
        sl_json_set_text(sl_json_path_make(c->patch, "metadata"), "resourceVersion", version);
    }
    if (c->uid[0] != '\0') {
        sl_json_set_text(sl_json_path_make(c->patch, "metadata"), "uid", c->uid);
    }
}

static enum sl_code refuse(struct sl_change *c, enum sl_code code, const char *why)
{
    sl_change_keep(c, code, NULL);
    return sl_error_set(c->error, code, "%s \"%s\" %s", sl_kind_info(c->kind)->plural, c->name,
                        why);
}

/* An UPDATE of a cached object as a patch. */
static enum sl_code prepare_update(struct sl_change *c, struct sl_json *live, uint64_t version,
                                   bool *answered)
{
    *answered = true;
    if (live == NULL) {
        return refuse(c, SL_CODE_NOT_FOUND, "not found");
    }
    if (c->uid[0] != '\0' && strcmp(c->uid, sl_object_uid(live)) != 0) {
        return refuse(c, SL_CODE_NOT_FOUND, "is another one now");
    }
    const char *text = sl_object_resource_version(c->body);
    uint64_t base = sl_span_number((struct sl_span){text, strlen(text)});
    if (text[0] != '\0' && base != version) {
        *answered = base < version; /* else it is our cache that is behind */
        return refuse(c, SL_CODE_CONFLICT, "has changed since it was read");
    }
    c->patch = sl_diff_update(c->verb, c->kind, live, c->body);
    if (c->patch == NULL) {
        c->result = sl_json_ref(live);
        return SL_CODE_OK;
    }
    *answered = false;
    guard(c);
    return SL_CODE_OK;
}

enum sl_code sl_change_prepare(struct sl_change *c, bool *answered)
{
    bool followed = false;
    uint64_t version = 0;
    *answered = false;
    if (is_update(c)) {
        struct sl_json *live = sl_change_live(c, &version, &followed);
        if (followed) {
            enum sl_code code = prepare_update(c, live, version, answered);
            sl_json_free(live);
            return code;
        }
    }
    if (c->verb != SL_VERB_DELETE && c->verb != SL_VERB_READ) {
        c->patch = sl_json_ref(c->body); /* the body is ours */
    }
    if (c->verb == SL_VERB_PATCH_MERGE || c->verb == SL_VERB_PATCH_STATUS_MERGE) {
        guard(c);
    }
    return SL_CODE_OK;
}

/* --- requests -------------------------------------------------------------------------------- */

static const char *method_of(const struct sl_change *c)
{
    switch (c->verb) {
    case SL_VERB_CREATE:
        return "POST";
    case SL_VERB_DELETE:
        return "DELETE";
    case SL_VERB_READ:
        break;
    case SL_VERB_UPDATE:
    case SL_VERB_UPDATE_STATUS: {
        /* Of a kind that is not followed there is nothing to compare with. */
        bool whole = c->patch == c->body;
        return whole ? "PUT" : "PATCH";
    }
    case SL_VERB_PATCH_MERGE:
    case SL_VERB_PATCH_STATUS_MERGE:
        break;
    }
    return "PATCH";
}

static void print_body(const struct sl_change *c, struct sl_buf *out)
{
    if (c->verb != SL_VERB_DELETE) {
        sl_json_print(c->patch, out);
        return;
    }
    sl_buf_text(out, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                     "\"propagationPolicy\":\"Background\"");
    if (c->at_once) {
        sl_buf_text(out, ",\"gracePeriodSeconds\":0");
    }
    if (c->uid[0] != '\0') {
        sl_buf_print(out, ",\"preconditions\":{\"uid\":\"%s\"}", c->uid);
    }
    sl_buf_text(out, "}");
}

void sl_change_send(struct sl_change *c)
{
    SL_PRE(c != NULL);
    struct sl_writes *w = c->owner;
    struct sl_buf path = {0}, body = {0};
    /* The first time that has just been asked, and the caller is not done with it. */
    if (w->stopped || (c->tries > 0 && !sl_writes_may(w))) {
        sl_change_drop(c);
        return;
    }
    const char *method = method_of(c);
    bool merges = strcmp(method, "PATCH") == 0;
    sl_status_path(&path, c->kind, c->ns, c->verb == SL_VERB_CREATE ? "" : c->name,
                   is_status(c) ? "status" : "");
    print_body(c, &body);
    struct sl_request q = {.method = method,
                           .path = path.data,
                           .content_type =
                               merges ? "application/merge-patch+json" : "application/json",
                           .body = body.data,
                           .body_len = body.len,
                           .timeout_ms = WRITE_MS_MAX};
    c->state = SL_CHANGE_SENT;
    c->tries++;
    w->options.counters->writes += c->tries == 1 ? 1 : 0;
    w->options.counters->retries += c->tries == 1 ? 0 : 1;
    c->exchange = sl_transport_send(w->kube.transport, &q, NULL, sl_change_answered, c);
    sl_buf_fini(&path);
    sl_buf_fini(&body);
}
