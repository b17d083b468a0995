/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a client may do (kubectl auth can-i). The standalone daemon has no users and refuses no
 * request, so the answer to either review is yes, and nothing is stored of it. */
#include <string.h>

#include "server/rest.h"
#include "base/check.h"

#define REASON "the standalone daemon allows every request"

static struct sl_json *list_of_all(void)
{
    struct sl_json *list = sl_json_new_list();
    sl_json_append(list, sl_json_new_text("*"));
    return list;
}

static struct sl_json *allowed_new(void)
{
    struct sl_json *status = sl_json_new_map();
    sl_json_set_bool(status, "allowed", true);
    sl_json_set_text(status, "reason", REASON);
    return status;
}

static struct sl_json *rules_new(void)
{
    static const char *const fields[] = {"verbs", "apiGroups", "resources"};
    struct sl_json *status = sl_json_new_map();
    struct sl_json *rules = sl_json_new_list();
    struct sl_json *rule = sl_json_new_map();
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        sl_json_set(rule, fields[i], list_of_all());
    }
    sl_json_append(rules, rule);
    sl_json_set(status, "resourceRules", rules);
    sl_json_set(status, "nonResourceRules", sl_json_new_list());
    sl_json_set_bool(status, "incomplete", false);
    return status;
}

void sl_access_serve(struct sl_request *r)
{
    SL_PRE(r != NULL);
    bool rules = strcmp(r->segments[3], SL_ACCESS_RULES) == 0;
    struct sl_json *review = sl_body_parse(r, false);
    if (review != NULL && sl_json_type(review) != SL_JSON_MAP) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST, "the body has to be an object");
    } else if (review != NULL) {
        sl_json_set_text(review, "apiVersion", "authorization.k8s.io/v1");
        sl_json_set_text(review, "kind",
                         rules ? "SelfSubjectRulesReview" : "SelfSubjectAccessReview");
        sl_json_set(review, "status", rules ? rules_new() : allowed_new());
        sl_answer_json(r, 201, review);
    }
    sl_json_free(review);
}
