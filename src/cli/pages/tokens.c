/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Bearer tokens. */
#include "cli/pages/tokens.h"
#include "base/check.h"
#include "server/bearer.h"

#define REVIEWS_PATH "/apis/authentication.k8s.io/v1/tokenreviews"

bool sl_token_shown(const struct sl_call *call)
{
    return sl_bearer_of(call) != NULL;
}

static struct sl_json *review_new(const char *token)
{
    struct sl_json *review = sl_json_new_map();
    sl_json_set_text(review, "apiVersion", "authentication.k8s.io/v1");
    sl_json_set_text(review, "kind", "TokenReview");
    sl_json_set_text(sl_json_path_make(review, "spec"), "token", token);
    return review;
}

static struct sl_json *caller_new(const struct sl_json *user)
{
    static const char *const members[] = {"uid", "groups", "extra"};
    struct sl_json *caller = sl_json_new_map();
    sl_json_set_text(caller, "user", sl_json_path_text(user, "username", ""));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const struct sl_json *value = sl_json_get(user, members[i]);
        if (value != NULL) {
            sl_json_set(caller, members[i], sl_json_clone(value));
        }
    }
    return caller;
}

enum sl_verdict sl_token_ask(struct sl_reviews *reviews, const struct sl_call *call,
                             struct sl_json **caller, struct sl_error *e)
{
    const char *token = sl_bearer_of(call);
    SL_PRE(token != NULL && caller != NULL && e != NULL);
    struct sl_json *review = review_new(token);
    const struct sl_json *status = sl_reviews_ask(reviews, call->peer, REVIEWS_PATH, review, e);
    sl_json_free(review);
    if (status == NULL) {
        return e->code == SL_CODE_OK ? SL_VERDICT_WAIT : SL_VERDICT_REFUSE;
    }
    if (!sl_json_path_bool(status, "authenticated", false) ||
        sl_json_path_text(status, "user.username", "")[0] == '\0') {
        (void)sl_error_set(e, SL_CODE_UNAUTHORIZED, "Unauthorized");
        return SL_VERDICT_REFUSE;
    }
    *caller = caller_new(sl_json_get(status, "user"));
    return SL_VERDICT_PASS;
}
