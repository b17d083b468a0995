/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Building and reading ProvisioningRequests. */
#include "controllers/work/provisioning_request.h"
#include "base/digest.h"
#include "controllers/work/template.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_LENGTH 5
#define PREFIX_LENGTH_MAX 247 /* with a dash and the hash: the longest name there may be */
#define LONG_ATTEMPTS_MAX 100

/* --- names ---------------------------------------------------------------------------------- */

static void limit(const char *name, char out[static SL_NAME_SIZE])
{
    char hex[41];
    if (strlen(name) <= PREFIX_LENGTH_MAX) {
        snprintf(out, SL_NAME_SIZE, "%.247s", name);
        return;
    }
    sl_sha1_hex(name, strlen(name), hex);
    snprintf(out, SL_NAME_SIZE, "%.247s-%.*s", name, HASH_LENGTH, hex);
}

void sl_provreq_name(const char *workload, const char *check, int64_t attempt,
                     char out[static SL_NAME_SIZE])
{
    char full[640];
    snprintf(full, sizeof full, "%.253s-%.316s-%lld", workload, check, (long long)attempt);
    limit(full, out);
}

void sl_provreq_template_name(const char *request, const char *pod_set,
                              char out[static SL_NAME_SIZE])
{
    char full[400];
    snprintf(full, sizeof full, "ppt-%.253s-%.63s", request, pod_set);
    limit(full, out);
}

/* A name that was cut has its attempt in the hash only: then trying is the way to find it. */
int64_t sl_provreq_attempt(const char *request, const char *workload, const char *check)
{
    char name[SL_NAME_SIZE];
    const char *dash = strrchr(request, '-');
    char *end = NULL;
    long attempt = dash == NULL ? 0 : strtol(dash + 1, &end, 10);
    if (attempt > 0 && *end == '\0') {
        sl_provreq_name(workload, check, attempt, name);
        if (strcmp(name, request) == 0) {
            return attempt;
        }
    }
    for (int64_t i = 1; strlen(request) == SL_NAME_SIZE - 1 && i <= LONG_ATTEMPTS_MAX; i++) {
        sl_provreq_name(workload, check, i, name);
        if (strcmp(name, request) == 0) {
            return i;
        }
    }
    return 0;
}

/* --- what is asked for ---------------------------------------------------------------------- */

static bool names_managed(const struct sl_json *resources, const struct sl_json *managed)
{
    for (size_t i = 0; i < sl_json_len(managed); i++) {
        if (sl_json_has(resources, sl_json_text(sl_json_at(managed, i), ""))) {
            return true;
        }
    }
    return false;
}

static bool containers_use(const struct sl_json *containers, const struct sl_json *managed)
{
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        const struct sl_json *resources = sl_json_get(sl_json_at(containers, i), "resources");
        if (names_managed(sl_json_get(resources, "requests"), managed) ||
            names_managed(sl_json_get(resources, "limits"), managed)) {
            return true;
        }
    }
    return false;
}

static bool uses_managed(const struct sl_json *pod_set, const struct sl_json *config)
{
    const struct sl_json *managed = sl_json_path(config, "spec.managedResources");
    const struct sl_json *spec = sl_json_path(pod_set, "template.spec");
    return sl_json_len(managed) == 0 ||
           containers_use(sl_json_get(spec, "initContainers"), managed) ||
           containers_use(sl_json_get(spec, "containers"), managed);
}

/* How many pods of the pod set were admitted. */
static int64_t count_of(const struct sl_json *workload, const struct sl_json *pod_set)
{
    const struct sl_json *list = sl_json_path(workload, "status.admission.podSetAssignments");
    const char *name = sl_json_path_text(pod_set, "name", "");
    int64_t count = sl_json_path_int(pod_set, "count", 0);
    const struct sl_json *admitted = count > 0 ? sl_json_find_by(list, "name", name) : NULL;
    return admitted == NULL ? 0 : sl_json_path_int(admitted, "count", count);
}

/* Equal in all that decides which nodes the pods could run on. */
static bool same_needs(const struct sl_json *a, const struct sl_json *b)
{
    static const char *const members[] = {"resources", "nodeSelector",   "tolerations",
                                          "affinity",  "resourceClaims", NULL};
    static const char *const lists[] = {"containers", "initContainers", NULL};
    for (size_t i = 0; members[i] != NULL; i++) {
        if (!sl_json_equal(sl_json_get(a, members[i]), sl_json_get(b, members[i]))) {
            return false;
        }
    }
    for (size_t i = 0; lists[i] != NULL; i++) {
        const struct sl_json *of_a = sl_json_get(a, lists[i]);
        const struct sl_json *of_b = sl_json_get(b, lists[i]);
        if (sl_json_len(of_a) != sl_json_len(of_b)) {
            return false;
        }
        for (size_t k = 0; k < sl_json_len(of_a); k++) {
            if (!sl_json_equal(sl_json_path(sl_json_at(of_a, k), "resources.requests"),
                               sl_json_path(sl_json_at(of_b, k), "resources.requests"))) {
                return false;
            }
        }
    }
    return true;
}

static bool may_merge(const struct sl_json *a, const struct sl_json *b, const char *policy)
{
    if (strcmp(policy, "IdenticalPodTemplates") == 0) {
        return sl_json_equal(sl_json_get(a, "template"), sl_json_get(b, "template"));
    }
    return strcmp(policy, "IdenticalWorkloadSchedulingRequirements") == 0 &&
           same_needs(sl_json_path(a, "template.spec"), sl_json_path(b, "template.spec"));
}

static bool merge_into(struct sl_json *list, const struct sl_json *pod_sets,
                       const struct sl_json *pod_set, const char *policy, int64_t count)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        struct sl_json *one = sl_json_at(list, i);
        size_t index = (size_t)sl_json_path_int(one, "index", 0);
        if (may_merge(sl_json_at(pod_sets, index), pod_set, policy)) {
            sl_json_set_int(one, "count", sl_json_path_int(one, "count", 0) + count);
            sl_json_append(sl_json_get(one, "members"),
                           sl_json_clone(sl_json_get(pod_set, "name")));
            return true;
        }
    }
    return false;
}

struct sl_json *sl_provreq_pod_sets_new(const struct sl_json *workload,
                                        const struct sl_json *config)
{
    const struct sl_json *pod_sets = sl_json_path(workload, "spec.podSets");
    const char *policy = sl_json_path_text(config, "spec.podSetMergePolicy", "");
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(pod_sets); i++) {
        const struct sl_json *pod_set = sl_json_at(pod_sets, i);
        int64_t count = count_of(workload, pod_set);
        if (count > 0 && uses_managed(pod_set, config) &&
            !merge_into(list, pod_sets, pod_set, policy, count)) {
            struct sl_json *one = sl_json_new_map();
            sl_json_set_text(one, "name", sl_json_path_text(pod_set, "name", ""));
            sl_json_set_int(one, "count", count);
            sl_json_set_int(one, "index", (int64_t)i);
            sl_json_set(one, "members", sl_json_new_list());
            sl_json_append(sl_json_get(one, "members"),
                           sl_json_clone(sl_json_get(pod_set, "name")));
            sl_json_append(list, one);
        }
    }
    return list;
}

bool sl_provreq_needed(const struct sl_json *workload, const struct sl_json *config)
{
    const struct sl_json *pod_sets = sl_json_path(workload, "spec.podSets");
    for (size_t i = 0; i < sl_json_len(pod_sets); i++) {
        const struct sl_json *pod_set = sl_json_at(pod_sets, i);
        if (count_of(workload, pod_set) > 0 && uses_managed(pod_set, config)) {
            return true;
        }
    }
    return false;
}

/* The config's parameters, and over them what the Workload's annotations say. */
static struct sl_json *parameters_new(const struct sl_json *workload, const struct sl_json *config)
{
    const struct sl_json *given = sl_json_path(config, "spec.parameters");
    struct sl_json *out = given == NULL ? sl_json_new_map() : sl_json_clone(given);
    for (struct sl_json_member m = {0};
         sl_json_each(sl_json_path(workload, "metadata.annotations"), &m);) {
        if (strncmp(m.key, SL_PREFIX_PROVISIONING, sizeof SL_PREFIX_PROVISIONING - 1) == 0) {
            sl_json_set(out, m.key + sizeof SL_PREFIX_PROVISIONING - 1, sl_json_clone(m.value));
        }
    }
    return out;
}

bool sl_provreq_current(const struct sl_json *request, const struct sl_json *workload,
                        const struct sl_json *config)
{
    static const char class[] = "spec.provisioningClassName";
    struct sl_json *wanted = parameters_new(workload, config);
    const struct sl_json *given = sl_json_path(request, "spec.parameters");
    bool same =
        strcmp(sl_json_path_text(request, class, ""), sl_json_path_text(config, class, "")) == 0;
    for (struct sl_json_member m = {0}; same && sl_json_each(wanted, &m);) {
        same = sl_json_equal(sl_json_get(given, m.key), m.value);
    }
    sl_json_free(wanted);
    return same;
}

/* --- objects -------------------------------------------------------------------------------- */

void sl_provreq_set_owner(struct sl_json *object, enum sl_kind kind, const struct sl_json *owner)
{
    struct sl_json *reference = sl_json_new_map();
    struct sl_json *list = sl_json_new_list();
    sl_json_set_text(reference, "apiVersion", sl_kind_info(kind)->api_version);
    sl_json_set_text(reference, "kind", sl_kind_info(kind)->kind);
    sl_json_set_text(reference, "name", sl_object_name(owner));
    sl_json_set_text(reference, "uid", sl_object_uid(owner));
    sl_json_set_bool(reference, "controller", true);
    sl_json_set_bool(reference, "blockOwnerDeletion", true);
    sl_json_append(list, reference);
    sl_json_set(sl_json_path_make(object, "metadata"), "ownerReferences", list);
}

static struct sl_json *managed_new(enum sl_kind kind, const struct sl_json *workload,
                                   const char *name)
{
    struct sl_json *o = sl_object_new(kind, sl_object_namespace(workload), name);
    sl_json_set_text(sl_json_path_make(o, "metadata.labels"), SL_LABEL_MANAGED, "true");
    sl_provreq_set_owner(o, SL_KIND_WORKLOAD, workload);
    return o;
}

struct sl_json *sl_provreq_new(const struct sl_json *workload, const struct sl_json *config,
                               const char *name)
{
    struct sl_json *o = managed_new(SL_KIND_PROVISIONING_REQUEST, workload, name);
    struct sl_json *spec = sl_json_path_make(o, "spec");
    struct sl_json *asked = sl_provreq_pod_sets_new(workload, config);
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(asked); i++) {
        char template[SL_NAME_SIZE];
        struct sl_json *one = sl_json_new_map();
        sl_provreq_template_name(name, sl_json_path_text(sl_json_at(asked, i), "name", ""),
                                 template);
        sl_json_set_text(sl_json_path_make(one, "podTemplateRef"), "name", template);
        sl_json_set_int(one, "count", sl_json_path_int(sl_json_at(asked, i), "count", 0));
        sl_json_append(list, one);
    }
    sl_json_free(asked);
    sl_json_set(spec, "podSets", list);
    sl_json_set_text(spec, "provisioningClassName",
                     sl_json_path_text(config, "spec.provisioningClassName", ""));
    sl_json_set(spec, "parameters", parameters_new(workload, config));
    return o;
}

/* An autoscaler counts requests; limits are used where there are none. */
static void limits_as_requests(struct sl_json *containers)
{
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        struct sl_json *resources = sl_json_get(sl_json_at(containers, i), "resources");
        for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(resources, "limits"), &m);) {
            struct sl_json *requests = sl_json_path_make(resources, "requests");
            if (!sl_json_has(requests, m.key)) {
                sl_json_set(requests, m.key, sl_json_clone(m.value));
            }
        }
    }
}

struct sl_json *sl_provreq_template_new(const struct sl_json *workload, size_t index,
                                        const char *name, const struct sl_json *injection,
                                        struct sl_error *e)
{
    const struct sl_json *pod_set = sl_json_at(sl_json_path(workload, "spec.podSets"), index);
    struct sl_json *template = sl_json_clone(sl_json_get(pod_set, "template"));
    if (sl_template_inject(template, injection, e) != SL_CODE_OK) {
        sl_json_free(template);
        return NULL;
    }
    limits_as_requests(sl_json_path(template, "spec.containers"));
    limits_as_requests(sl_json_path(template, "spec.initContainers"));
    struct sl_json *o = managed_new(SL_KIND_POD_TEMPLATE, workload, name);
    sl_json_set(o, "template", template);
    return o;
}
