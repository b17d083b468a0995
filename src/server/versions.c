/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Requests in v1beta1: what comes in becomes v1beta2, in which all is stored and decided, and what goes out becomes v1beta1. */
#include "api/versions/versions.h"

#include "server/rest.h"

struct sl_shown sl_shown_by(const struct sl_request *r)
{
    return (struct sl_shown){.kind = r->route.kind, .old = r->route.old};
}

const char *sl_shown_version(const struct sl_shown *shown)
{
    return shown->old ? SL_VERSION_OLD : sl_kind_info(shown->kind)->api_version;
}

struct sl_json *sl_shown_new(const struct sl_shown *shown, struct sl_json *object,
                             struct sl_error *e)
{
    if (!shown->old) {
        return sl_json_ref(object);
    }
    struct sl_json *converted = sl_version_convert_new(object, SL_VERSION_OLD, e);
    if (converted == NULL) {
        struct sl_error why = *e;
        (void)sl_error_set(e, SL_CODE_INTERNAL, "%.100s cannot be shown in v1beta1: %.350s",
                           sl_object_name(object), why.text);
        e->cause_count = 0;
    }
    return converted;
}

static void refuse(struct sl_request *r, const struct sl_json *body, struct sl_error *e)
{
    struct sl_error why = *e;
    const struct sl_kind_info *info = sl_kind_info(r->route.kind);
    (void)sl_error_set(e, why.code, "%s.%s \"%.100s\" is invalid: %.300s", info->kind, info->group,
                       sl_object_name(body), why.text);
    sl_answer_error(r, e);
}

/* Items of a body may leave out what the path says. */
static struct sl_json *converted_new(struct sl_request *r, struct sl_json *body)
{
    struct sl_error e = {0};
    struct sl_json *object = sl_json_clone(body);
    sl_json_set_text(object, "apiVersion", SL_VERSION_OLD);
    sl_json_set_text(object, "kind", sl_kind_info(r->route.kind)->kind);
    struct sl_json *converted = sl_version_convert_new(object, SL_VERSION_NEW, &e);
    if (converted == NULL) {
        refuse(r, body, &e);
    }
    sl_json_free(object);
    return converted;
}

static void name(struct sl_request *r, struct sl_json *body)
{
    sl_json_free(r->named); /* it may be served again */
    r->named = sl_json_ref(body);
}

bool sl_version_take(struct sl_request *r, struct sl_json **body)
{
    if (!r->route.old) {
        return true;
    }
    struct sl_json *converted = converted_new(r, *body);
    if (converted == NULL) {
        return false;
    }
    name(r, *body);
    sl_json_free(*body);
    *body = converted;
    return true;
}

static enum sl_code patch(struct sl_json **object, const struct sl_json *body,
                          const struct sl_write *w, struct sl_error *e)
{
    switch (w->patch_type) {
    case SL_PATCH_IS_JSON:
        return sl_patch_json(object, body, e);
    case SL_PATCH_IS_STRATEGIC:
        return sl_patch_strategic(object, body, e);
    default:
        return sl_patch_merge(object, body, e);
    }
}

/* The stored object as the client sees it, patched, and converted back. */
bool sl_version_take_patch(struct sl_request *r, struct sl_json **body, struct sl_write *w,
                           struct sl_json **stored)
{
    struct sl_error e = {0};
    struct sl_json *object = NULL;
    struct sl_shown shown = sl_shown_by(r);
    if (sl_store_get(r->rest->store, w->kind, w->ns, w->name, &object, &e) != SL_CODE_OK) {
        sl_answer_error(r, &e);
        return false;
    }
    *stored = sl_shown_new(&shown, object, &e);
    sl_json_free(object);
    struct sl_json *wanted = sl_json_clone(*stored);
    if (wanted == NULL || patch(&wanted, *body, w, &e) != SL_CODE_OK) {
        sl_json_free(wanted);
        sl_answer_error(r, &e);
        return false;
    }
    name(r, w->patch_type == SL_PATCH_IS_JSON ? wanted : *body);
    struct sl_json *converted = converted_new(r, wanted);
    sl_json_free(wanted);
    if (converted == NULL) {
        return false;
    }
    sl_json_free(*body);
    *body = converted;
    w->body = converted;
    w->verb = w->verb == SL_VERB_PATCH_STATUS_MERGE ? SL_VERB_UPDATE_STATUS : SL_VERB_UPDATE;
    return true;
}
