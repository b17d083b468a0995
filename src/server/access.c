/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a client may do, and who it is (kubectl auth can-i, kubectl auth whoami). Nothing is stored of the reviews. Where
 * clients need not say who they are, every request is allowed. */
#include <string.h>

#include "server/rest.h"
#include "base/check.h"

#define REASON "the standalone daemon allows every request"

/* --- one right ------------------------------------------------------------------------------- */

static bool may_path(const struct sl_user *user, const struct sl_json *what)
{
    struct sl_attributes asked = {.path = sl_json_path_text(what, "path", ""),
                                  .group = "",
                                  .version = "",
                                  .ns = "",
                                  .kind = "",
                                  .name = "",
                                  .subresource = ""};
    (void)snprintf(asked.verb, sizeof asked.verb, "%s", sl_json_path_text(what, "verb", ""));
    return sl_user_may(user, &asked);
}

static bool may_resource(const struct sl_user *user, const struct sl_json *what)
{
    const char *group = sl_json_path_text(what, "group", "");
    const char *version = sl_json_path_text(what, "version", "");
    struct sl_attributes asked = {.resource = true,
                                  .path = "",
                                  .group = group,
                                  .version = version,
                                  .ns = sl_json_path_text(what, "namespace", ""),
                                  .kind = sl_json_path_text(what, "resource", ""),
                                  .name = sl_json_path_text(what, "name", ""),
                                  .subresource = sl_json_path_text(what, "subresource", "")};
    (void)snprintf(asked.verb, sizeof asked.verb, "%s", sl_json_path_text(what, "verb", ""));
    return sl_user_may(user, &asked);
}

static struct sl_json *allowed_new(const struct sl_user *user, const struct sl_json *spec)
{
    struct sl_json *status = sl_json_new_map();
    const struct sl_json *resource = sl_json_get(spec, "resourceAttributes");
    const struct sl_json *path = sl_json_get(spec, "nonResourceAttributes");
    bool allowed =
        user == NULL || (resource != NULL ? may_resource(user, resource) : may_path(user, path));
    sl_json_set_bool(status, "allowed", allowed);
    if (user == NULL) {
        sl_json_set_text(status, "reason", REASON);
    } else if (allowed) {
        struct sl_buf reason = {0};
        sl_buf_print(&reason, "the role %s allows it", sl_role_name(user->role));
        sl_json_set_text(status, "reason", reason.data);
        sl_buf_fini(&reason);
    }
    return status;
}

/* --- all rights ------------------------------------------------------------------------------ */

/* Texts with blanks between them. */
static struct sl_json *words_new(const char *words)
{
    struct sl_json *list = sl_json_new_list();
    for (const char *at = words; *at != '\0';) {
        size_t len = strcspn(at, " ");
        struct sl_buf word = {0};
        sl_buf_add(&word, at, len);
        sl_json_append(list, sl_json_new_text(strcmp(word.data, "core") == 0 ? "" : word.data));
        sl_buf_fini(&word);
        at += len + (at[len] == ' ');
    }
    return list;
}

static void add_rule(struct sl_json *rules, const char *verbs, const char *groups,
                     const char *resources)
{
    struct sl_json *rule = sl_json_new_map();
    sl_json_set(rule, "verbs", words_new(verbs));
    sl_json_set(rule, "apiGroups", words_new(groups));
    sl_json_set(rule, "resources", words_new(resources));
    sl_json_append(rules, rule);
}

/* The lists are what roles.c decides, as far as rules can say it: the kinds that files describe are left out. */
static struct sl_json *rules_new(const struct sl_user *user, const char *ns)
{
    struct sl_json *status = sl_json_new_map(), *rules = sl_json_new_list();
    bool mine = user == NULL || user->namespaces == NULL || sl_json_has_text(user->namespaces, ns);
    if (user == NULL || user->role == SL_ROLE_ADMIN) {
        add_rule(rules, "*", "*", "*");
    } else {
        add_rule(rules, "create", "authorization.k8s.io authentication.k8s.io",
                 SL_ACCESS_REVIEWS " " SL_ACCESS_RULES " " SL_ACCESS_SELF);
    }
    if (user != NULL && user->role == SL_ROLE_VIEWER && mine) {
        add_rule(rules, "get list watch", "*", "*");
    }
    if (user != NULL && user->role == SL_ROLE_USER && mine) {
        add_rule(rules, "get list watch", "*", "*");
        add_rule(rules, "create update patch delete deletecollection", "batch", "jobs cronjobs");
        add_rule(rules, "create update patch delete deletecollection", "core",
                 "pods podtemplates configmaps secrets persistentvolumeclaims services");
    }
    sl_json_set(status, "resourceRules", rules);
    sl_json_set(status, "nonResourceRules", sl_json_new_list());
    sl_json_set_bool(status, "incomplete", user != NULL && user->role != SL_ROLE_ADMIN);
    return status;
}

/* --- the answer ------------------------------------------------------------------------------ */

static struct sl_json *self_new(const struct sl_user *user)
{
    struct sl_json *status = sl_json_new_map();
    sl_json_set(status, "userInfo", sl_user_info_new(user));
    return status;
}

static void answer(struct sl_request *r, struct sl_json *review)
{
    const struct sl_json *spec = sl_json_get(review, "spec");
    const char *kind = "SelfSubjectAccessReview", *group = "authorization.k8s.io/v1";
    struct sl_json *status = NULL;
    if (strcmp(r->segments[3], SL_ACCESS_RULES) == 0) {
        kind = "SelfSubjectRulesReview";
        status = rules_new(r->user, sl_json_path_text(spec, "namespace", ""));
    } else if (strcmp(r->segments[3], SL_ACCESS_SELF) == 0) {
        kind = "SelfSubjectReview";
        group = "authentication.k8s.io/v1";
        status = self_new(r->user);
    } else {
        status = allowed_new(r->user, spec);
    }
    sl_json_set_text(review, "apiVersion", group);
    sl_json_set_text(review, "kind", kind);
    sl_json_set(review, "status", status);
    sl_answer_json(r, 201, review);
}

void sl_access_serve(struct sl_request *r)
{
    SL_PRE(r != NULL);
    /* Who one is does not depend on what the body says, which kubectl sends in protobuf. */
    bool self = strcmp(r->segments[3], SL_ACCESS_SELF) == 0;
    struct sl_json *review = self ? sl_json_new_map() : sl_body_parse(r, false);
    if (review != NULL && sl_json_type(review) != SL_JSON_MAP) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST, "the body has to be an object");
    } else if (review != NULL) {
        answer(r, review);
    }
    sl_json_free(review);
}
