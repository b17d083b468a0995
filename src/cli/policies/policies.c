/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/policies/policies.h"

#include "base/check.h"
#include "cli/common/embed.h"
#include "cli/policies/policy_kinds.h"
#include "cli/policies/policy_refused.h"
#include <string.h>

#define MUTATING "MutatingAdmissionPolicy"

/* What a policy suspends is at that path. */
static const char *path_of(const char *policy)
{
    return strcmp(policy, "sluice-suspend-jobs") == 0            ? "spec.suspend"
           : strcmp(policy, "sluice-suspend-kubeflow-jobs") == 0 ? "spec.runPolicy.suspend"
           : strcmp(policy, "sluice-suspend-ray-services") == 0  ? "spec.rayClusterConfig.suspend"
                                                                 : NULL;
}

/* Of what makes pods, whether these are queued as a group of its own or not. */
static bool is_of_makers(const char *policy)
{
    return strcmp(policy, "sluice-pod-templates") == 0 || strcmp(policy, "sluice-scaled") == 0;
}

static void fit_rules(struct sl_json *policy, const struct sl_policy_kinds *kinds, bool guards)
{
    struct sl_json *rules = sl_json_path(policy, "spec.matchConstraints.resourceRules");
    const char *name = sl_json_path_text(policy, "metadata.name", ""), *path = path_of(name);
    /* A queue on pods that are not queued says nothing. */
    bool idle = strcmp(name, "sluice-pod-templates") == 0 && !kinds->pods;
    for (size_t i = sl_json_len(rules); i > 0; i--) {
        if (idle || (!is_of_makers(name) &&
                     !sl_policy_rule_fit(sl_json_at(rules, i - 1), kinds, path, !guards))) {
            sl_json_remove_at(rules, i - 1);
        }
    }
}

static void fit_expression(struct sl_json *holder, const char *member,
                           const struct sl_policy_kinds *kinds)
{
    const char *text = sl_json_text(sl_json_get(holder, member), NULL);
    struct sl_buf fitted = {0};
    if (text == NULL) {
        return;
    }
    sl_policy_owners_fit(text, kinds, &fitted);
    sl_json_set_text(holder, member, fitted.data == NULL ? "" : fitted.data);
    sl_buf_fini(&fitted);
}

static void fit_expressions(struct sl_json *policy, const struct sl_policy_kinds *kinds)
{
    static const char *const lists[] = {"spec.matchConditions", "spec.variables",
                                        "spec.validations", "spec.mutations"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const struct sl_json *list = sl_json_path(policy, lists[i]);
        for (size_t k = 0; k < sl_json_len(list); k++) {
            fit_expression(sl_json_at(list, k), "expression", kinds);
            fit_expression(sl_json_at(list, k), "messageExpression", kinds);
        }
    }
}

/* Where no pods are queued, what makes them must not say that they are. */
static void fit_makers(struct sl_json *policy, const struct sl_policy_kinds *kinds)
{
    if (!kinds->pods &&
        strcmp(sl_json_path_text(policy, "metadata.name", ""), "sluice-scaled") == 0) {
        sl_json_set_text(sl_json_find_by(sl_json_path(policy, "spec.variables"), "name", "pods"),
                         "expression", "false");
    }
}

static void fit_namespaces(struct sl_json *policy, const struct sl_json *selector)
{
    struct sl_json *match = sl_json_path(policy, "spec.matchConstraints");
    if (!sl_json_has(match, "namespaceSelector")) {
        return;
    }
    if (selector == NULL) {
        sl_json_remove(match, "namespaceSelector");
    } else {
        sl_json_set(match, "namespaceSelector", sl_json_clone(selector));
    }
}

static void set_variable(struct sl_json *policy, const char *name, const char *expression)
{
    struct sl_json *variable =
        sl_json_find_by(sl_json_path(policy, "spec.variables"), "name", name);
    SL_ASSERT(variable != NULL);
    sl_json_set_text(variable, "expression", expression);
}

/* With manageJobsWithoutQueueName, as the component all-jobs has it. */
static void fit_unnamed(struct sl_json *policy)
{
    static const struct {
        const char *policy, *variable, *expression;
    } all[] = {{"sluice-suspend-jobs", "queue", "'any'"},
               {"sluice-suspend-kubeflow-jobs", "queue", "'any'"},
               {"sluice-suspend-ray-services", "queue", "'any'"},
               {"sluice-gate-pods", "queued", "true"},
               {"sluice-start", "queued", "true"},
               {"sluice-resize-pods", "queued", "true"},
               {"sluice-orphans", "queued", "true"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(sl_json_path_text(policy, "metadata.name", ""), all[i].policy) == 0) {
            set_variable(policy, all[i].variable, all[i].expression);
        }
    }
}

/* What counts by a feature gate that is on is not warned of. Elastic jobs are of some kinds alone: a variable says so. */
static void fit_idle(struct sl_json *policy, const struct sl_job_rules *rules)
{
    struct sl_idle_modes modes = rules->heeded;
    struct sl_json *list = sl_json_path(policy, "spec.validations");
    if (strcmp(sl_json_path_text(policy, "metadata.name", ""), "sluice-idle-fields") != 0) {
        return;
    }
    if (!rules->elastic) {
        set_variable(policy, "elastic", "false");
    }
    modes.elastic = false;
    for (size_t i = sl_json_len(list); i > 0; i--) {
        if (sl_idle_heeded(sl_json_path_text(sl_json_at(list, i - 1), "message", ""), modes)) {
            sl_json_remove_at(list, i - 1);
        }
    }
}

#define GROUP "admissionregistration.k8s.io/"

const char *sl_policies_mutating_version(unsigned minor)
{
    return minor >= 36                         ? GROUP "v1"
           : minor >= 34                       ? GROUP "v1beta1"
           : minor >= SL_POLICIES_MUTATING_MIN ? GROUP "v1alpha1"
                                               : NULL;
}

/* The version of the API of such objects; NULL: there are none. */
static const char *version_of(const char *kind, const struct sl_policies_wish *wish)
{
    if (strncmp(kind, MUTATING, strlen(MUTATING)) != 0) {
        return GROUP "v1";
    }
    return wish->webhook ? NULL : sl_policies_mutating_version(wish->minor);
}

static bool is_policy(const struct sl_json *object)
{
    return sl_json_path(object, "spec.matchConstraints") != NULL;
}

static void add_object(struct sl_json *out, struct sl_json *object)
{
    struct sl_json *labels = sl_json_path_make(object, "metadata.labels");
    sl_json_set_text(labels, "app.kubernetes.io/name", "sluice");
    sl_json_set_text(labels, "app.kubernetes.io/component", "policies");
    sl_json_append(out, sl_json_ref(object));
}

/* A file's policies, and the bindings of those that are left. */
static void add_file(const struct sl_json *items, const struct sl_policies_wish *wish,
                     const struct sl_policy_kinds *kinds, bool guards, struct sl_json *out)
{
    struct sl_json *left = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(items); i++) {
        struct sl_json *object = sl_json_at(items, i);
        const char *name = sl_json_path_text(object, "metadata.name", "");
        const char *version = version_of(sl_json_path_text(object, "kind", ""), wish);
        if (version == NULL ||
            (!is_policy(object) &&
             !sl_json_has_text(left, sl_json_path_text(object, "spec.policyName", "")))) {
            continue;
        }
        sl_json_set_text(object, "apiVersion", version);
        if (is_policy(object)) {
            fit_rules(object, kinds, guards);
            if (sl_json_len(sl_json_path(object, "spec.matchConstraints.resourceRules")) == 0) {
                continue;
            }
            fit_expressions(object, kinds);
            fit_makers(object, kinds);
            fit_namespaces(object, wish->namespaces);
            if (wish->jobs->manage_all) {
                fit_unnamed(object);
            }
            fit_idle(object, wish->jobs);
            sl_json_append(left, sl_json_new_text(name));
        }
        add_object(out, object);
    }
    sl_json_free(left);
}

static struct sl_json *not_suspended(const struct sl_policy_kinds *kinds,
                                     const struct sl_policies_wish *wish)
{
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < kinds->count; i++) {
        if (!kinds->at[i].gated && (kinds->at[i].suspend == NULL ||
                                    (!wish->webhook && wish->minor < SL_POLICIES_MUTATING_MIN))) {
            sl_json_append(list, sl_json_new_text(kinds->at[i].kind));
        }
    }
    return list;
}

struct sl_json *sl_policies_make(const struct sl_policies_wish *wish, struct sl_json **unsuspended)
{
    SL_PRE(wish != NULL && unsuspended != NULL);
    struct sl_json *out = sl_json_new_list();
    struct sl_policy_kinds kinds;
    sl_policy_kinds_fill(&kinds, wish->jobs);
    for (const struct sl_embedded *f = sl_policies_files; f->name != NULL; f++) {
        struct sl_json *documents = sl_json_parse_yaml_own((const char *)f->data, f->size, NULL);
        SL_ASSERT(documents != NULL);
        for (size_t i = 0; i < sl_json_len(documents); i++) {
            add_file(sl_json_get(sl_json_at(documents, i), "items"), wish, &kinds,
                     strcmp(f->name, "guards.yaml") == 0, out);
        }
        sl_json_free(documents);
    }
    struct sl_json *refused = sl_policy_refused_new(wish->jobs);
    for (size_t i = 0; i < sl_json_len(refused); i++) {
        add_object(out, sl_json_at(refused, i));
    }
    sl_json_free(refused);
    *unsuspended = not_suspended(&kinds, wish);
    return out;
}
