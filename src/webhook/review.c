/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* AdmissionReviews as texts have them. Any client can send one: nothing in it is believed to be what it should be. */
#include "webhook/webhook.h"
#include "base/base64.h"
#include "base/check.h"

#include <string.h>

#define API_VERSION "admission.k8s.io/v1"
#define KIND "AdmissionReview"

/* --- the question ------------------------------------------------------------------------------ */

static enum sl_code wrong(const char *member, const char *what, struct sl_error *e)
{
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: %s", member, what);
}

/* A text that may be absent, unless it is needed. */
static enum sl_code take_text(const struct sl_json *in, const char *path, bool needed,
                              const char **out, struct sl_error *e)
{
    const struct sl_json *value = sl_json_path(in, path);
    *out = sl_json_text(value, "");
    if ((value != NULL && sl_json_type(value) != SL_JSON_TEXT) || (needed && (*out)[0] == '\0')) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "request.%s: has to be a text", path);
    }
    return SL_CODE_OK;
}

static enum sl_code take_texts(const struct sl_json *request, struct sl_webhook_question *q,
                               struct sl_error *e)
{
    const struct {
        const char *path;
        bool needed;
        const char **out;
    } texts[] = {{"uid", true, &q->uid},
                 {"operation", true, &q->operation},
                 {"namespace", false, &q->ns},
                 {"subResource", false, &q->subresource},
                 {"resource.group", false, &q->group},
                 {"resource.version", true, &q->version},
                 {"resource.resource", true, &q->resource}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (take_text(request, texts[i].path, texts[i].needed, texts[i].out, e) != SL_CODE_OK) {
            return e->code;
        }
    }
    return SL_CODE_OK;
}

static enum sl_code take_object(const struct sl_json *request, const char *member, bool needed,
                                const struct sl_json **out, struct sl_error *e)
{
    const struct sl_json *value = sl_json_get(request, member);
    const struct sl_json *metadata = sl_json_get(value, "metadata");
    *out = value;
    if ((value == NULL && needed) || (value != NULL && sl_json_type(value) != SL_JSON_MAP)) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "request.%s: has to be an object", member);
    }
    if (metadata != NULL && sl_json_type(metadata) != SL_JSON_MAP) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "request.%s.metadata: has to be an object",
                            member);
    }
    return SL_CODE_OK;
}

static enum sl_code read_question(const struct sl_json *review, struct sl_webhook_question *q,
                                  struct sl_error *e)
{
    const struct sl_json *request = sl_json_get(review, "request");
    *q = (struct sl_webhook_question){.uid = ""};
    if (sl_json_type(review) != SL_JSON_MAP) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "the body has to be an " KIND);
    }
    if (strcmp(sl_json_path_text(review, "kind", ""), KIND) != 0) {
        return wrong("kind", "has to be " KIND, e);
    }
    if (strcmp(sl_json_path_text(review, "apiVersion", ""), API_VERSION) != 0) {
        return wrong("apiVersion", "has to be " API_VERSION, e);
    }
    if (sl_json_type(request) != SL_JSON_MAP) {
        return wrong("request", "has to be an object", e);
    }
    if (take_texts(request, q, e) != SL_CODE_OK) {
        return e->code;
    }
    SL_ASSERT(q->operation != NULL);
    bool update = strcmp(q->operation, "UPDATE") == 0;
    bool made = update || strcmp(q->operation, "CREATE") == 0;
    enum sl_code code = take_object(request, "object", made, &q->object, e);
    return code == SL_CODE_OK ? take_object(request, "oldObject", update, &q->old, e) : code;
}

/* --- the answer -------------------------------------------------------------------------------- */

static void mutate(const struct sl_webhook *w, const struct sl_webhook_question *q,
                   struct sl_json *response)
{
    unsigned acts = q->object == NULL ? 0 : sl_webhook_acts(w, q);
    if (acts == 0) {
        return;
    }
    struct sl_json *after = sl_json_clone(q->object);
    sl_admit_new(&w->world, acts, w->unnamed, q->ns, after);
    struct sl_json *patch = sl_patch_json_between_new(q->object, after);
    if (sl_json_len(patch) > 0) {
        struct sl_buf text = {0}, coded = {0};
        sl_json_print(patch, &text);
        sl_base64_print(text.data, text.len, &coded);
        sl_json_set_text(response, "patchType", "JSONPatch");
        sl_json_set_text(response, "patch", coded.data);
        sl_buf_fini(&text);
        sl_buf_fini(&coded);
    }
    sl_json_free(patch);
    sl_json_free(after);
}

/* As Kueue's webhooks refuse: forbidden, with the sentences about the fields and without a head. */
static struct sl_json *refusal_new(struct sl_error *e)
{
    e->text[0] = '\0';
    struct sl_json *status = sl_status_new(e, SL_KIND_COUNT, "");
    sl_json_set_text(status, "reason", sl_code_reason(SL_CODE_FORBIDDEN));
    sl_json_set_int(status, "code", sl_code_http(SL_CODE_FORBIDDEN));
    return status;
}

static void validate(const struct sl_webhook *w, const struct sl_webhook_question *q,
                     struct sl_json *response)
{
    struct sl_error e = {0};
    if (sl_webhook_judge(w, q, &e) != SL_CODE_OK) {
        sl_json_set_bool(response, "allowed", false);
        sl_json_set(response, "status", refusal_new(&e));
    }
}

struct sl_json *sl_webhook_answer_new(const struct sl_webhook *w, enum sl_webhook_way way,
                                      const struct sl_json *review, struct sl_error *e)
{
    struct sl_webhook_question q;
    SL_PRE(w != NULL && e != NULL);
    if (read_question(review, &q, e) != SL_CODE_OK) {
        return NULL;
    }
    struct sl_json *answer = sl_json_new_map(), *response = sl_json_new_map();
    sl_json_set_text(answer, "kind", KIND);
    sl_json_set_text(answer, "apiVersion", API_VERSION);
    sl_json_set(answer, "response", response);
    sl_json_set_text(response, "uid", q.uid);
    sl_json_set_bool(response, "allowed", true);
    if (way == SL_WEBHOOK_MUTATES) {
        mutate(w, &q, response);
    } else {
        validate(w, &q, response);
    }
    return answer;
}
