/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_webhook_answer_new, for both ways.
 * Oracle: a review is answered under its own uid or refused with a reason; a patch can be applied to the object, and what comes of
 * it is not patched again.
 * Input: a text. */
#include <string.h>
#include "base/base64.h"
#include "fuzz/lib/check.h"
#include "webhook/webhook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_queue(void *context, const char *ns)
{
    (void)context;
    return ns[0] == 'd';
}

static bool has_class(void *context)
{
    (void)context;
    return true;
}

static struct sl_json *parsed(const char *text)
{
    struct sl_json *v = sl_json_parse(text, strlen(text), NULL);
    CHECK(v != NULL);
    return v;
}

static const struct sl_webhook *webhook(void)
{
    static struct sl_webhook w;
    static const enum sl_admit_act acts[] = {SL_ADMIT_QUEUE, SL_ADMIT_CLASS, SL_ADMIT_SUSPEND,
                                             SL_ADMIT_RUN_POLICY, SL_ADMIT_GATE};
    static const char *const resources[] = {"*", "*", "jobs", "mpijobs", "pods"};
    static struct sl_json *rules[5], *owners;
    if (w.policy_count == 0) {
        owners = parsed("[\"batch/Job\",\"a/B\"]");
        w.world = (struct sl_admit_world){has_queue, has_class, NULL};
        for (size_t i = 0; i < 5; i++) {
            rules[i] = parsed("[{\"apiGroups\":[\"*\"],\"apiVersions\":[\"*\"],\"operations\":["
                              "\"CREATE\"],\"resources\":[]}]");
            sl_json_append(sl_json_path(rules[i], "0.resources"), sl_json_new_text(resources[i]));
            w.policies[w.policy_count++] = (struct sl_webhook_policy){acts[i], rules[i], owners};
        }
    }
    return &w;
}

static struct sl_json *answer(enum sl_webhook_way way, const struct sl_json *review)
{
    struct sl_error e = {0};
    struct sl_json *a = sl_webhook_answer_new(webhook(), way, review, &e);
    CHECK(a != NULL || (e.code == SL_CODE_BAD_REQUEST && e.text[0] != '\0'));
    CHECK(a == NULL || strcmp(sl_json_path_text(a, "response.uid", ""),
                              sl_json_path_text(review, "request.uid", "")) == 0);
    return a;
}

/* The object as patched, in a review that is otherwise the same. */
static struct sl_json *after_new(const struct sl_json *review, const struct sl_json *answered)
{
    const char *coded = sl_json_path_text(answered, "response.patch", "");
    struct sl_buf text = {0};
    CHECK(sl_base64_read(coded, &text));
    struct sl_json *patch = parsed(text.data), *next = sl_json_clone(review);
    struct sl_json *object = sl_json_clone(sl_json_path(review, "request.object"));
    CHECK(sl_patch_json(&object, patch, NULL) == SL_CODE_OK);
    sl_json_set(sl_json_get(next, "request"), "object", object);
    sl_json_free(patch);
    sl_buf_fini(&text);
    return next;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sl_json *review = sl_json_parse_received((const char *)data, size, NULL);
    if (review == NULL) {
        return 0;
    }
    struct sl_json *mutated = answer(SL_WEBHOOK_MUTATES, review);
    if (sl_json_path(mutated, "response.patch") != NULL) {
        struct sl_json *next = after_new(review, mutated),
                       *again = answer(SL_WEBHOOK_MUTATES, next);
        CHECK(again != NULL && sl_json_path(again, "response.patch") == NULL);
        sl_json_free(again);
        sl_json_free(next);
    }
    sl_json_free(answer(SL_WEBHOOK_VALIDATES, review));
    sl_json_free(mutated);
    sl_json_free(review);
    return 0;
}
