/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the roles may: the rules of Kubernetes' own roles edit and view, and of kueue-batch-user-role, as far as there are such
 * resources here. What is not named is not given. */
#include <string.h>

#include "api/objects/object.h"
#include "base/check.h"
#include "server/users.h"

static const char *const names[SL_ROLE_COUNT] = {"admin", "user", "viewer"};

const char *sl_role_name(enum sl_role role)
{
    SL_PRE(role < SL_ROLE_COUNT);
    return names[role];
}

static bool is(const struct sl_attributes *a, const char *group, const char *kind)
{
    return strcmp(a->group, group) == 0 && strcmp(a->kind, kind) == 0;
}

/* Asking what one may oneself, and who one is: Kubernetes' system:basic-user. */
static bool is_about_oneself(const struct sl_attributes *a)
{
    return strcmp(a->verb, "create") == 0 &&
           (is(a, "authorization.k8s.io", "selfsubjectaccessreviews") ||
            is(a, "authorization.k8s.io", "selfsubjectrulesreviews") ||
            is(a, "authentication.k8s.io", "selfsubjectreviews"));
}

/* What clients look at before anything else: Kubernetes' system:discovery and system:public-info-viewer. */
static bool is_discovery(const struct sl_attributes *a)
{
    static const char *const trees[] = {"/api", "/apis", "/openapi", "/version"};
    if (a->resource || !sl_attributes_only_read(a)) {
        return false;
    }
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        size_t len = strlen(trees[i]);
        if (strncmp(a->path, trees[i], len) == 0 && (a->path[len] == '\0' || a->path[len] == '/')) {
            return true;
        }
    }
    return strcmp(a->path, "/") == 0;
}

static bool has_namespace(const struct sl_user *user, const char *ns)
{
    return user->namespaces == NULL || sl_json_has_text(user->namespaces, ns);
}

/* Of the resources that the server knows. Of others none is taken to belong to no namespace. */
static bool is_cluster_scoped(const struct sl_attributes *a)
{
    enum sl_kind kind = sl_kind_find(a->group, a->version, a->kind);
    if (kind == SL_KIND_COUNT && strcmp(a->group, "kueue.x-k8s.io") == 0) {
        kind = sl_kind_find(a->group, "v1beta2", a->kind);
    }
    return kind != SL_KIND_COUNT && !sl_kind_info(kind)->namespaced;
}

/* Whose pending workloads a queue of the cluster has is seen in all namespaces. */
static bool may_read(const struct sl_user *user, const struct sl_attributes *a)
{
    bool secret = is(a, "", "secrets");
    if (secret && user->role == SL_ROLE_VIEWER) {
        return false;
    }
    if (user->namespaces == NULL) {
        return true;
    }
    if (is_cluster_scoped(a)) { /* also where a review names a namespace beside it */
        return a->subresource[0] == '\0';
    }
    return a->ns[0] != '\0' && has_namespace(user, a->ns);
}

/* What people make to have something run. Status, queues and Workloads are the controllers' and the administrators'. */
static bool is_job(const struct sl_attributes *a)
{
    static const char *const core[] = {"pods",    "podtemplates",           "configmaps",
                                       "secrets", "persistentvolumeclaims", "services"};
    enum sl_kind kind = sl_kind_find(a->group, a->version, a->kind);
    bool more = kind != SL_KIND_COUNT && sl_kind_is_job(kind);
    if (a->subresource[0] != '\0') { /* how many there shall be is said of these alone */
        return more && strcmp(a->subresource, "scale") == 0;
    }
    for (size_t i = 0; i < sizeof core / sizeof core[0]; i++) {
        if (is(a, "", core[i])) {
            return true;
        }
    }
    return is(a, "batch", "jobs") || is(a, "batch", "cronjobs") || more;
}

static bool may_write(const struct sl_user *user, const struct sl_attributes *a)
{
    static const char *const verbs[] = {"create", "update", "patch", "delete", "deletecollection"};
    bool known = false;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        known = known || strcmp(a->verb, verbs[i]) == 0;
    }
    return known && user->role == SL_ROLE_USER && a->ns[0] != '\0' && has_namespace(user, a->ns) &&
           is_job(a);
}

/* What would become of something: it changes nothing, and the answer is about all namespaces. */
static bool is_question(const struct sl_attributes *a)
{
    return (is(a, "visibility.kueue.x-k8s.io", "simulations") && strcmp(a->verb, "create") == 0) ||
           (!a->resource && strcmp(a->path, "/simulate") == 0 && strcmp(a->verb, "post") == 0);
}

bool sl_user_may(const struct sl_user *user, const struct sl_attributes *a)
{
    SL_PRE(user != NULL && a != NULL);
    if (user->role == SL_ROLE_ADMIN) {
        return true;
    }
    if (a->odd) {
        return false; /* what it is may be seen in more than one way */
    }
    if (is_about_oneself(a) || is_discovery(a)) {
        return true;
    }
    if (is_question(a)) {
        return user->namespaces == NULL;
    }
    if (!a->resource) { /* metrics and the like say something of all namespaces */
        return sl_attributes_only_read(a) && user->namespaces == NULL;
    }
    return sl_attributes_only_read(a) ? may_read(user, a) : may_write(user, a);
}

struct sl_json *sl_user_info_new(const struct sl_user *user)
{
    static const char *const role_groups[SL_ROLE_COUNT] = {"system:masters", "sluice:users",
                                                           "sluice:viewers"};
    struct sl_json *info = sl_json_new_map(), *groups = sl_json_new_list();
    sl_json_set_text(info, "username", user == NULL ? "system:anonymous" : user->name);
    if (user != NULL) {
        sl_json_append(groups, sl_json_new_text(role_groups[user->role]));
    }
    sl_json_append(
        groups, sl_json_new_text(user == NULL ? "system:unauthenticated" : "system:authenticated"));
    sl_json_set(info, "groups", groups);
    return info;
}
