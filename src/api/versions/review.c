/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A ConversionReview, as an API server asks and is answered. */
#include <stdio.h>
#include <string.h>

#include "api/versions/versions.h"

#define REVIEW_VERSION "apiextensions.k8s.io/v1"
#define REVIEW_KIND "ConversionReview"

/* "object 2 (Workload a/b): " before what is wrong with it. */
static void complain(struct sl_error *e, size_t index, const struct sl_json *object,
                     const struct sl_error *why)
{
    const char *ns = sl_json_path_text(object, "metadata.namespace", "");
    char who[240];
    (void)snprintf(who, sizeof who, "%.60s %.60s%s%.100s",
                   sl_json_text(sl_json_get(object, "kind"), "of no kind"), ns,
                   *ns != '\0' ? "/" : "",
                   sl_json_path_text(object, "metadata.name", "without a name"));
    (void)sl_error_set(e, why->code, "object %zu (%s): %s", index, who, why->text);
}

static struct sl_json *convert_all_new(const struct sl_json *objects, const char *to,
                                       struct sl_error *e)
{
    struct sl_json *all = sl_json_new_list();
    for (size_t i = 0; e->code == SL_CODE_OK && i < sl_json_len(objects); i++) {
        const struct sl_json *object = sl_json_at(objects, i);
        struct sl_error why = {0};
        struct sl_json *copy = sl_version_convert_new(object, to, &why);
        if (copy == NULL) {
            complain(e, i, object, &why);
        } else {
            sl_json_append(all, copy);
        }
    }
    if (e->code != SL_CODE_OK) {
        sl_json_free(all);
        return sl_json_new_list();
    }
    return all;
}

static struct sl_json *answer_new(const struct sl_json *review, struct sl_error *e)
{
    const struct sl_json *request = sl_json_get(review, "request");
    const struct sl_json *objects = sl_json_get(request, "objects");
    const char *to = sl_json_text(sl_json_get(request, "desiredAPIVersion"), "");
    if (strcmp(sl_json_text(sl_json_get(review, "apiVersion"), ""), REVIEW_VERSION) != 0 ||
        strcmp(sl_json_text(sl_json_get(review, "kind"), ""), REVIEW_KIND) != 0) {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "this is no " REVIEW_KIND " of " REVIEW_VERSION);
    } else if (sl_json_type(request) != SL_JSON_MAP) {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "request: must be an object");
    } else if (strcmp(to, SL_VERSION_OLD) != 0 && strcmp(to, SL_VERSION_NEW) != 0) {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST,
                           "request.desiredAPIVersion: \"%.80s\" is neither " SL_VERSION_OLD
                           " nor " SL_VERSION_NEW,
                           to);
    } else if (sl_json_type(objects) != SL_JSON_LIST) {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "request.objects: must be a list");
    }
    return convert_all_new(e->code == SL_CODE_OK ? objects : NULL, to, e);
}

struct sl_json *sl_convert_review(const struct sl_json *review)
{
    struct sl_error e = {0};
    struct sl_json *response = sl_json_new_map();
    struct sl_json *result = sl_json_new_map();
    struct sl_json *answer = sl_json_new_map();
    sl_json_set_text(response, "uid", sl_json_path_text(review, "request.uid", ""));
    sl_json_set(response, "convertedObjects", answer_new(review, &e));
    sl_json_set_text(result, "status", e.code == SL_CODE_OK ? "Success" : "Failure");
    if (e.code != SL_CODE_OK) {
        sl_json_set_text(result, "reason", sl_code_reason(e.code));
        sl_json_set_int(result, "code", sl_code_http(e.code));
        sl_json_set_text(result, "message", e.text);
    }
    sl_json_set(response, "result", result);
    sl_json_set_text(answer, "apiVersion", REVIEW_VERSION);
    sl_json_set_text(answer, "kind", REVIEW_KIND);
    sl_json_set(answer, "response", response);
    return answer;
}
