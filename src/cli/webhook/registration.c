/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/webhook/registration.h"

#include "base/base64.h"
#include "base/check.h"
#include "base/mem.h"
#include "cli/policies/policies_live.h"
#include "cli/policies/policy_kinds.h"
#include <string.h>

#define TIMEOUT_S 10
#define MUTATING "MutatingAdmissionPolicy"

/* The policies that exist, and what each does. */
static const struct {
    const char *name;
    enum sl_admit_act act;
} acts[] = {{"sluice-default-queue", SL_ADMIT_QUEUE},
            {"sluice-default-priority", SL_ADMIT_CLASS},
            {"sluice-suspend-jobs", SL_ADMIT_SUSPEND},
            {"sluice-suspend-kubeflow-jobs", SL_ADMIT_RUN_POLICY},
            {"sluice-suspend-ray-services", SL_ADMIT_RAY_SERVICE},
            {"sluice-pod-templates", SL_ADMIT_TEMPLATE},
            {"sluice-pod-parents", SL_ADMIT_PARENT},
            {"sluice-guard-queues", SL_ADMIT_GUARD},
            {"sluice-gate-pods", SL_ADMIT_GATE}};
#define ACT_COUNT (sizeof acts / sizeof acts[0])
#define OF_MAKERS ((unsigned)SL_ADMIT_TEMPLATE | (unsigned)SL_ADMIT_PARENT) /* of pods */
#define OF_JOBS (~(OF_MAKERS | (unsigned)SL_ADMIT_GUARD))                   /* and of pods */

struct sl_webhook_rules {
    struct sl_json *policies; /* all, as they are printed */
    struct sl_json *namespaces;
    struct sl_json *owners[ACT_COUNT];
    const struct sl_json *at[ACT_COUNT]; /* NULL: the configuration needs none */
    bool unnamed;
};

static const struct sl_json *policy_called(const struct sl_json *policies, const char *name)
{
    for (size_t i = 0; i < sl_json_len(policies); i++) {
        const struct sl_json *p = sl_json_at(policies, i);
        if (strcmp(sl_json_path_text(p, "kind", ""), MUTATING) == 0 &&
            strcmp(sl_json_path_text(p, "metadata.name", ""), name) == 0) {
            return p;
        }
    }
    return NULL;
}

/* Every 'group/Kind' in quotes of the policy's condition. */
static struct sl_json *owners_new(const struct sl_json *policy)
{
    struct sl_json *owners = sl_json_new_list();
    const struct sl_json *condition =
        sl_json_find_by(sl_json_path(policy, "spec.matchConditions"), "name", "not-owned-by-a-job");
    const char *at = strchr(sl_json_path_text(condition, "expression", ""), '\'');
    while (at != NULL) {
        size_t len = strcspn(at + 1, "'");
        char *text = sl_mem_text_n(at + 1, len);
        if (strlen(text) > 1 && strchr(text, '/') != NULL) {
            sl_json_append(owners, sl_json_new_text(text));
        }
        sl_mem_free(text);
        at = at[len + 1] == '\0' ? NULL : strchr(at + len + 2, '\'');
    }
    return owners;
}

struct sl_webhook_rules *sl_webhook_rules_new(const struct sl_job_rules *jobs,
                                              const struct sl_json *namespaces)
{
    SL_PRE(jobs != NULL);
    struct sl_webhook_rules *r = sl_mem_new(1, sizeof *r);
    struct sl_json *unsuspended;
    const struct sl_policies_wish wish = {
        .jobs = jobs, .namespaces = namespaces, .minor = SL_POLICIES_ALL};
    r->policies = sl_policies_make(&wish, &unsuspended);
    sl_json_free(unsuspended);
    r->namespaces = namespaces == NULL ? NULL : sl_json_clone(namespaces);
    r->unnamed = jobs->manage_all;
    for (size_t i = 0; i < ACT_COUNT; i++) {
        r->at[i] = policy_called(r->policies, acts[i].name);
        r->owners[i] = owners_new(r->at[i]);
    }
    return r;
}

void sl_webhook_rules_free(struct sl_webhook_rules *r)
{
    for (size_t i = 0; r != NULL && i < ACT_COUNT; i++) {
        sl_json_free(r->owners[i]);
    }
    if (r != NULL) {
        sl_json_free(r->policies);
        sl_json_free(r->namespaces);
    }
    sl_mem_free(r);
}

static const struct sl_json *rules_of(const struct sl_json *policy)
{
    return sl_json_path(policy, "spec.matchConstraints.resourceRules");
}

void sl_webhook_rules_fill(const struct sl_webhook_rules *r, struct sl_webhook *out)
{
    SL_PRE(r != NULL && out != NULL);
    out->policy_count = 0;
    out->unnamed = r->unnamed;
    for (size_t i = 0; i < ACT_COUNT; i++) {
        if (r->at[i] != NULL) {
            out->policies[out->policy_count++] =
                (struct sl_webhook_policy){acts[i].act, rules_of(r->at[i]), r->owners[i]};
        }
    }
}

/* --- what is registered ------------------------------------------------------------------------ */

static bool has_equal(const struct sl_json *list, const struct sl_json *value)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (sl_json_equal(sl_json_at(list, i), value)) {
            return true;
        }
    }
    return false;
}

/* Of the policies that do one of `done`, those of pods or those of jobs. */
static struct sl_json *rules_new(const struct sl_webhook_rules *r, unsigned done, bool pods,
                                 bool update)
{
    struct sl_json *all = sl_json_new_list();
    for (size_t i = 0; i < ACT_COUNT; i++) {
        const struct sl_json *rules = (acts[i].act & done) == 0 ? NULL : rules_of(r->at[i]);
        for (size_t k = 0; k < sl_json_len(rules); k++) {
            struct sl_json *rule = sl_json_clone(sl_json_at(rules, k));
            if (update) {
                sl_json_append(sl_json_get(rule, "operations"), sl_json_new_text("UPDATE"));
            }
            if (sl_json_has_text(sl_json_get(rule, "resources"), "pods") == pods &&
                !has_equal(all, rule)) {
                sl_json_append(all, sl_json_ref(rule));
            }
            sl_json_free(rule);
        }
    }
    return all;
}

static struct sl_json *client_new(const struct sl_webhook_place *place, const char *path,
                                  const char *authorities)
{
    struct sl_json *client = sl_json_new_map();
    struct sl_buf text = {0};
    if (place->url != NULL) {
        sl_buf_print(&text, "%s%s", place->url, path);
        sl_json_set_text(client, "url", text.data);
    } else {
        struct sl_json *service = sl_json_path_make(client, "service");
        sl_json_set_text(service, "namespace", place->ns);
        sl_json_set_text(service, "name", place->service);
        sl_json_set_text(service, "path", path);
        sl_json_set_int(service, "port", 443);
    }
    sl_buf_reset(&text);
    if (authorities != NULL) {
        sl_base64_print(authorities, strlen(authorities), &text);
        sl_json_set_text(client, "caBundle", text.data);
    }
    sl_buf_fini(&text);
    return client;
}

struct wish {
    const char *name, *path;
    struct sl_json *rules;            /* taken over */
    const struct sl_json *namespaces; /* NULL: all */
    const struct sl_json *conditions; /* NULL: none */
};

static void add_webhook(struct sl_json *list, const struct wish *w,
                        const struct sl_webhook_place *place, const char *authorities)
{
    if (sl_json_len(w->rules) == 0) {
        sl_json_free(w->rules);
        return;
    }
    struct sl_json *hook = sl_json_new_map();
    sl_json_set_text(hook, "name", w->name);
    sl_json_set(hook, "admissionReviewVersions", sl_json_new_list());
    sl_json_append(sl_json_get(hook, "admissionReviewVersions"), sl_json_new_text("v1"));
    sl_json_set(hook, "clientConfig", client_new(place, w->path, authorities));
    sl_json_set_text(hook, "failurePolicy", "Fail");
    sl_json_set_text(hook, "sideEffects", "None");
    sl_json_set_int(hook, "timeoutSeconds", TIMEOUT_S);
    if (w->namespaces != NULL) {
        sl_json_set(hook, "namespaceSelector", sl_json_clone(w->namespaces));
    }
    if (w->conditions != NULL) {
        sl_json_set(hook, "matchConditions", sl_json_clone(w->conditions));
    }
    sl_json_set(hook, "rules", w->rules);
    sl_json_append(list, hook);
}

static const struct sl_json *conditions_of(const struct sl_webhook_rules *r, enum sl_admit_act act)
{
    size_t i = 0;
    while (i < ACT_COUNT - 1 && acts[i].act != act) {
        i++;
    }
    return sl_json_path(r->at[i], "spec.matchConditions");
}

static void add_mutating(struct sl_json *list, const struct sl_webhook_rules *r,
                         const struct sl_webhook_place *place, const char *authorities)
{
    /* of pods, gates spare the fewest */
    const struct wish wishes[] = {
        {"mjobs.sluice.dev", SL_WEBHOOK_MUTATE_PATH, rules_new(r, OF_JOBS, false, false),
         r->namespaces, NULL},
        {"mpods.sluice.dev", SL_WEBHOOK_MUTATE_PATH, rules_new(r, OF_JOBS, true, false),
         r->namespaces, conditions_of(r, SL_ADMIT_GATE)},
        {"mtemplates.sluice.dev", SL_WEBHOOK_MUTATE_PATH, rules_new(r, OF_MAKERS, false, false),
         r->namespaces, conditions_of(r, SL_ADMIT_TEMPLATE)},
        {"mqueues.sluice.dev", SL_WEBHOOK_MUTATE_PATH, rules_new(r, SL_ADMIT_GUARD, false, false),
         NULL, NULL}};
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        add_webhook(list, &wishes[i], place, authorities);
    }
    for (size_t i = 0; i < sl_json_len(list); i++) { /* others may give a job its queue */
        sl_json_set_text(sl_json_at(list, i), "reinvocationPolicy", "IfNeeded");
    }
}

/* Most requests are about what says nothing of queues: these do not depend on us. */
static struct sl_json *speaks_of_queues_new(void)
{
    struct sl_json *list = sl_json_new_list(), *condition = sl_json_new_map();
    sl_json_set_text(condition, "name", "speaks-of-queues");
    sl_json_set_text(
        condition, "expression",
        "[object, oldObject].exists(o, o != null && (o.metadata.?labels.orValue({}).exists(l, "
        "l.startsWith('kueue.x-k8s.io/')) || o.metadata.?annotations.orValue({}).exists(a, "
        "a.startsWith('kueue.x-k8s.io/'))))");
    sl_json_append(list, condition);
    return list;
}

static struct sl_json *queue_rules_new(void)
{
    static const char text[] =
        "[{\"apiGroups\":[\"kueue.x-k8s.io\"],\"apiVersions\":[\"v1beta2\"],\"operations\":["
        "\"CREATE\",\"UPDATE\"],\"resources\":[\"clusterqueues\",\"cohorts\",\"localqueues\","
        "\"resourceflavors\",\"topologies\",\"admissionchecks\"]}]";
    return sl_json_parse(text, sizeof text - 1, NULL);
}

static void add_validating(struct sl_json *list, const struct sl_webhook_rules *r,
                           const struct sl_webhook_place *place, const char *authorities)
{
    struct sl_json *speaks = speaks_of_queues_new();
    const struct wish wishes[] = {
        {"vjobs.sluice.dev", SL_WEBHOOK_VALIDATE_PATH, rules_new(r, OF_JOBS, false, true),
         r->namespaces, speaks},
        {"vpods.sluice.dev", SL_WEBHOOK_VALIDATE_PATH, rules_new(r, OF_JOBS, true, true),
         r->namespaces, speaks},
        {"vqueues.sluice.dev", SL_WEBHOOK_VALIDATE_PATH, queue_rules_new(), NULL, NULL}};
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        add_webhook(list, &wishes[i], place, authorities);
    }
    sl_json_free(speaks);
}

const char *sl_webhook_registration_name(enum sl_webhook_way way)
{
    return way == SL_WEBHOOK_MUTATES ? "sluice-mutating-webhook-configuration"
                                     : "sluice-validating-webhook-configuration";
}

struct sl_json *sl_webhook_registration_new(const struct sl_webhook_rules *r,
                                            enum sl_webhook_way way,
                                            const struct sl_webhook_place *place,
                                            const char *authorities)
{
    SL_PRE(r != NULL);
    struct sl_json *o = sl_json_new_map(), *list = sl_json_new_list();
    sl_json_set_text(o, "apiVersion", "admissionregistration.k8s.io/v1");
    sl_json_set_text(o, "kind",
                     way == SL_WEBHOOK_MUTATES ? "MutatingWebhookConfiguration"
                                               : "ValidatingWebhookConfiguration");
    sl_json_set_text(sl_json_path_make(o, "metadata"), "name", sl_webhook_registration_name(way));
    sl_json_set_text(sl_json_path_make(o, "metadata.labels"), "app.kubernetes.io/name", "sluice");
    sl_json_set(o, "webhooks", list);
    if (place != NULL && way == SL_WEBHOOK_MUTATES) {
        add_mutating(list, r, place, authorities);
    } else if (place != NULL) {
        add_validating(list, r, place, authorities);
    }
    return o;
}

bool sl_webhook_registration_differs(const struct sl_json *live, const struct sl_json *wanted)
{
    const struct sl_json *now = sl_json_get(live, "webhooks"),
                         *then = sl_json_get(wanted, "webhooks");
    return sl_json_len(now) != sl_json_len(then) ||
           (sl_json_len(then) > 0 && !sl_policies_cover(now, then));
}

struct sl_json *sl_webhook_registration_merged_new(const struct sl_json *live,
                                                   const struct sl_json *wanted)
{
    struct sl_json *merged = sl_json_clone(wanted), *hooks = sl_json_get(merged, "webhooks");
    sl_json_set(merged, "metadata", sl_json_clone(sl_json_get(live, "metadata")));
    for (size_t i = 0; i < sl_json_len(hooks); i++) {
        struct sl_json *client = sl_json_path(sl_json_at(hooks, i), "clientConfig");
        const struct sl_json *old =
            sl_json_find_by(sl_json_get(live, "webhooks"), "name",
                            sl_json_path_text(sl_json_at(hooks, i), "name", ""));
        const struct sl_json *trusted = sl_json_path(old, "clientConfig.caBundle");
        if (!sl_json_has(client, "caBundle") && trusted != NULL) {
            sl_json_set(client, "caBundle", sl_json_clone(trusted));
        }
    }
    return merged;
}
