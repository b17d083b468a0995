/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of Workload: how the parts of its spec fit together, and what may not change of it while it holds quota. */
#include <inttypes.h>
#include <string.h>

#include "api/kinds/elastic.h"
#include "api/kinds/variant.h"
#include "api/objects/quantity.h"
#include "base/check.h"
#include "api/validate/validate.h"

static void forbid_pods(struct sl_check *c, const struct sl_json *holder)
{
    static const char *const lists[] = {"requests", "limits"};
    for (size_t i = 0; i < 2; i++) {
        const struct sl_json *amounts = sl_json_get(sl_json_get(holder, "resources"), lists[i]);
        if (sl_json_has(amounts, "pods")) {
            size_t up = sl_check_down(c, ".resources.%s[pods]", lists[i]);
            sl_check_invalid(c, sl_json_get(amounts, "pods"),
                             "the key is reserved for internal kueue use");
            sl_check_up(c, up);
        }
    }
}

static void check_template(struct sl_check *c, const struct sl_json *pod_spec)
{
    static const char *const lists[] = {"containers", "initContainers"};
    for (size_t i = 0; i < 2; i++) {
        const struct sl_json *containers = sl_json_get(pod_spec, lists[i]);
        for (size_t k = 0; k < sl_json_len(containers); k++) {
            size_t up = sl_check_down(c, ".%s[%zu]", lists[i], k);
            forbid_pods(c, sl_json_at(containers, k));
            sl_check_up(c, up);
        }
    }
    forbid_pods(c, pod_spec);
    size_t up = sl_check_down(c, ".tolerations");
    sl_check_tolerations(c, sl_json_get(pod_spec, "tolerations"));
    sl_check_up(c, up);
}

static void check_topology_request(struct sl_check *c, const struct sl_json *request)
{
    bool level = sl_json_get(request, "podSetSliceRequiredTopology") != NULL;
    bool size = sl_json_get(request, "podSetSliceSize") != NULL;
    size_t up = sl_check_down(c, ".topologyRequest.podSetSliceSize");
    if (level && !size) {
        sl_check_required(c, "must be set when podSetSliceRequiredTopology is specified");
    } else if (size && !level) {
        sl_check_forbidden(c, "may not be set when podSetSliceRequiredTopology is not specified");
    }
    sl_check_up(c, up);
}

static void check_pod_sets(struct sl_check *c, const struct sl_json *pod_sets)
{
    size_t flexible = 0;
    for (size_t i = 0; i < sl_json_len(pod_sets); i++) {
        const struct sl_json *ps = sl_json_at(pod_sets, i);
        const struct sl_json *least = sl_json_get(ps, "minCount");
        size_t up = sl_check_down(c, "spec.podSets[%zu]", i);
        if (least != NULL) {
            flexible++;
            if (sl_json_int(least, 0) > sl_json_int(sl_json_get(ps, "count"), 1)) {
                size_t at = sl_check_down(c, ".minCount");
                sl_check_invalid(c, least, "must be less than or equal to count");
                sl_check_up(c, at);
            }
        }
        check_topology_request(c, sl_json_get(ps, "topologyRequest"));
        size_t at = sl_check_down(c, ".template.spec");
        check_template(c, sl_json_path(ps, "template.spec"));
        sl_check_up(c, at);
        sl_check_up(c, up);
    }
    size_t up = sl_check_down(c, "spec.podSets");
    if (flexible > 1) {
        sl_check_invalid(c, pod_sets, "at most one podSet can use minCount");
    }
    if (flexible > 0 && sl_is_elastic(c->object)) {
        sl_check_invalid(c, pod_sets, "partial admission and elastic job cannot be used together");
    }
    sl_check_up(c, up);
}

static void check_priority(struct sl_check *c, const struct sl_json *spec)
{
    const struct sl_json *ref = sl_json_get(spec, "priorityClassRef");
    if (ref == NULL) {
        return;
    }
    const struct sl_json *kind = sl_json_get(ref, "kind");
    bool core = strcmp(sl_json_path_text(ref, "group", ""), "scheduling.k8s.io") == 0;
    const char *wanted = core ? "PriorityClass" : "WorkloadPriorityClass";
    if (kind != NULL && strcmp(sl_json_text(kind, ""), wanted) != 0) {
        size_t up = sl_check_down(c, "spec.priorityClassRef.kind");
        sl_check_invalid(c, kind, "must be %s in this group", wanted);
        sl_check_up(c, up);
    }
    if (sl_json_get(spec, "priority") == NULL) {
        size_t up = sl_check_down(c, "spec.priority");
        sl_check_required(c, "must be set when priorityClassRef is");
        sl_check_up(c, up);
    }
}

static void immutable_at(struct sl_check *c, const char *path)
{
    size_t up = sl_check_down(c, "%s", path);
    sl_check_immutable(c, sl_json_path(c->object, path), sl_json_path(c->old, path));
    sl_check_up(c, up);
}

/* The pod sets as they were, but that those of an elastic job may have fewer pods. */
static struct sl_json *sets_with_fewer(const struct sl_check *c)
{
    struct sl_json *sets = sl_json_clone(sl_json_path(c->old, "spec.podSets"));
    const struct sl_json *now = sl_json_path(c->object, "spec.podSets");
    for (size_t i = 0; i < sl_json_len(sets) && sl_is_elastic(c->object); i++) {
        struct sl_json *set = sl_json_at(sets, i);
        int64_t count = sl_json_path_int(sl_json_at(now, i), "count", 1);
        if (count < sl_json_path_int(set, "count", 1)) {
            sl_json_set_int(set, "count", count);
        }
    }
    return sets;
}

static void check_sets_kept(struct sl_check *c)
{
    struct sl_json *sets = sets_with_fewer(c);
    size_t up = sl_check_down(c, "spec.podSets");
    sl_check_immutable(c, sl_json_path(c->object, "spec.podSets"), sets);
    sl_check_up(c, up);
    sl_json_free(sets);
}

/* A parent of variants has no quota of its own: what has some cannot become one. */
static void check_parent_kept(struct sl_check *c)
{
    if (sl_variant_has_parent_label(c->object) != sl_variant_has_parent_label(c->old)) {
        size_t up = sl_check_down(c, "metadata.labels[%s]", SL_LABEL_PARENT);
        sl_check_forbidden(c, "may not be changed while quota is reserved");
        sl_check_up(c, up);
    }
}

static void check_update(struct sl_check *c)
{
    bool was_reserved = sl_condition_true(c->old, "QuotaReserved");
    if (was_reserved) {
        check_sets_kept(c);
        immutable_at(c, "spec.priorityClassRef.group");
        immutable_at(c, "spec.priorityClassRef.kind");
        if (strcmp(sl_json_path_text(c->object, "spec.priorityClassRef.kind", ""),
                   "PriorityClass") == 0) {
            immutable_at(c, "spec.priorityClassRef.name");
        }
    }
    if (was_reserved && sl_condition_true(c->object, "QuotaReserved")) {
        check_parent_kept(c);
        immutable_at(c, "spec.queueName");
    }
    if (sl_condition_true(c->old, "Admitted") && sl_condition_true(c->object, "Admitted")) {
        immutable_at(c, "spec.maximumExecutionTimeSeconds");
    }
}

/* Added to the priority, where the feature gate PriorityBoost lets it count. */
static void check_boost(struct sl_check *c)
{
    static const char key[] = "kueue.x-k8s.io/priority-boost";
    const char *text = sl_object_annotation(c->object, key);
    size_t sign = text != NULL && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    size_t digits = text == NULL ? 0 : strspn(text + sign, "0123456789");
    if (text == NULL || (digits >= 1 && digits <= 10 && text[sign + digits] == '\0')) {
        return;
    }
    size_t up = sl_check_down(c, "metadata.annotations[%s]", key);
    sl_check_invalid(c, sl_json_get(sl_json_path(c->object, "metadata.annotations"), key),
                     "must be a valid signed integer");
    sl_check_up(c, up);
}

void sl_check_workload(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *pod_sets = sl_json_path(c->object, "spec.podSets");
    check_pod_sets(c, pod_sets);
    check_priority(c, sl_json_get(c->object, "spec"));
    check_boost(c);
    sl_check_gates(c);
    sl_check_workload_status(c, pod_sets);
    if (sl_json_path(c->object, "status.clusterName") != NULL &&
        sl_json_len(sl_json_path(c->object, "status.nominatedClusterNames")) > 0) {
        size_t up = sl_check_down(c, "status.clusterName");
        sl_check_forbidden(c, "clusterName and nominatedClusterNames exclude each other");
        sl_check_up(c, up);
    }
    if (c->old != NULL) {
        check_update(c);
    }
}
