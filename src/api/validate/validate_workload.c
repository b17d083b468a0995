/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of Workload: how its parts fit together, and what may not change while it holds quota. */
#include <inttypes.h>
#include <string.h>

#include "api/objects/quantity.h"
#include "base/check.h"
#include "api/validate/validate.h"

static const char *name_of(const struct sl_json *v)
{
    return sl_json_text(sl_json_get(v, "name"), "");
}

static void forbid_pods(struct sl_check *c, const struct sl_json *holder, const char *where)
{
    static const char *const lists[] = {"requests", "limits"};
    for (size_t i = 0; i < 2; i++) {
        if (sl_json_has(sl_json_get(sl_json_get(holder, "resources"), lists[i]), "pods")) {
            size_t up = sl_check_down(c, "%s.resources.%s[pods]", where, lists[i]);
            sl_check_forbidden(c, "the resource pods is counted by the queue itself");
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
            forbid_pods(c, sl_json_at(containers, k), "");
            sl_check_up(c, up);
        }
    }
    forbid_pods(c, pod_spec, "");
    size_t up = sl_check_down(c, ".tolerations");
    sl_check_tolerations(c, sl_json_get(pod_spec, "tolerations"));
    sl_check_up(c, up);
}

static void check_topology_request(struct sl_check *c, const struct sl_json *request)
{
    bool level = sl_json_get(request, "podSetSliceRequiredTopology") != NULL;
    bool size = sl_json_get(request, "podSetSliceSize") != NULL;
    if (level != size) {
        size_t up = sl_check_down(c, ".topologyRequest.%s",
                                  level ? "podSetSliceSize" : "podSetSliceRequiredTopology");
        sl_check_required(c, level ? "must be set together with podSetSliceRequiredTopology"
                                   : "must be set together with podSetSliceSize");
        sl_check_up(c, up);
    }
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
    if (flexible > 1) {
        size_t up = sl_check_down(c, "spec.podSets");
        sl_check_invalid(c, pod_sets, "at most one pod set may use minCount");
        sl_check_up(c, up);
    }
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

static void check_usage(struct sl_check *c, const struct sl_json *assignment)
{
    int64_t count = sl_json_int(sl_json_get(assignment, "count"), 0);
    for (struct sl_json_member m = {0};
         count > 0 && sl_json_each(sl_json_get(assignment, "resourceUsage"), &m);) {
        struct sl_quantity q;
        if (sl_quantity_read(m.value, &q, NULL) == SL_CODE_OK &&
            sl_quantity_amount(q, m.key) % count != 0) {
            size_t up = sl_check_down(c, ".resourceUsage[%s]", m.key);
            sl_check_invalid(c, m.value, "must be a multiple of the count %" PRId64, count);
            sl_check_up(c, up);
        }
    }
}

/* One of the two, and as many as there are domains where each has its own. */
static void check_each(struct sl_check *c, const struct sl_json *v, const char *member,
                       int64_t domain_count)
{
    const struct sl_json *individual = sl_json_get(v, "individual");
    const struct sl_json *each = member[0] == '\0' ? individual : sl_json_get(individual, member);
    if ((sl_json_get(v, "universal") != NULL) == (individual != NULL)) {
        sl_check_invalid(c, v, "must have exactly one of universal and individual");
    } else if (each != NULL && (int64_t)sl_json_len(each) != domain_count) {
        size_t up = sl_check_down(c, ".individual%s%s", member[0] == '\0' ? "" : ".", member);
        sl_check_invalid(c, each, "must have domainCount items");
        sl_check_up(c, up);
    }
}

static void check_slice(struct sl_check *c, const struct sl_json *slice, size_t level_count)
{
    const struct sl_json *values = sl_json_get(slice, "valuesPerLevel");
    int64_t domain_count = sl_json_int(sl_json_get(slice, "domainCount"), 0);
    if (sl_json_len(values) != level_count) {
        sl_check_invalid(c, slice, "valuesPerLevel must have as many items as levels");
    }
    for (size_t k = 0; k < sl_json_len(values); k++) {
        size_t up = sl_check_down(c, ".valuesPerLevel[%zu]", k);
        check_each(c, sl_json_at(values, k), "roots", domain_count);
        sl_check_up(c, up);
    }
    size_t up = sl_check_down(c, ".podCounts");
    check_each(c, sl_json_get(slice, "podCounts"), "", domain_count);
    sl_check_up(c, up);
}

static void check_slices(struct sl_check *c, const struct sl_json *topology)
{
    const struct sl_json *slices = sl_json_get(topology, "slices");
    size_t level_count = sl_json_len(sl_json_get(topology, "levels"));
    for (size_t i = 0; i < sl_json_len(slices); i++) {
        size_t up = sl_check_down(c, ".topologyAssignment.slices[%zu]", i);
        check_slice(c, sl_json_at(slices, i), level_count);
        sl_check_up(c, up);
    }
}

static void check_admission(struct sl_check *c, const struct sl_json *pod_sets)
{
    const struct sl_json *admission = sl_json_path(c->object, "status.admission");
    const struct sl_json *assignments = sl_json_get(admission, "podSetAssignments");
    if (!sl_condition_true(c->object, "QuotaReserved")) {
        return;
    }
    size_t up = sl_check_down(c, "status.admission");
    if (admission == NULL) {
        sl_check_required(c, "must be set while the QuotaReserved condition is true");
    } else if (sl_json_len(assignments) != sl_json_len(pod_sets)) {
        sl_check_invalid(c, assignments,
                         "podSetAssignments must have as many items as spec.podSets");
    }
    for (size_t i = 0; i < sl_json_len(assignments); i++) {
        const struct sl_json *assignment = sl_json_at(assignments, i);
        size_t at = sl_check_down(c, ".podSetAssignments[%zu]", i);
        if (sl_json_find_by(pod_sets, "name", name_of(assignment)) == NULL) {
            size_t name = sl_check_down(c, ".name");
            sl_check_invalid(c, sl_json_get(assignment, "name"),
                             "the workload has no such pod set");
            sl_check_up(c, name);
        }
        check_usage(c, assignment);
        check_slices(c, sl_json_get(assignment, "topologyAssignment"));
        sl_check_up(c, at);
    }
    sl_check_up(c, up);
}

/* What was released may be held by another workload now, so the release cannot be undone. */
static void check_reclaimable_kept(struct sl_check *c)
{
    const struct sl_json *list = sl_json_path(c->object, "status.reclaimablePods");
    const struct sl_json *old = sl_json_path(c->old, "status.reclaimablePods");
    for (size_t i = 0; i < sl_json_len(old); i++) {
        const struct sl_json *entry = sl_json_at(old, i);
        if (sl_json_int(sl_json_get(entry, "count"), 0) > 0 &&
            sl_json_find_by(list, "name", name_of(entry)) == NULL) {
            size_t up = sl_check_down(c, "status.reclaimablePods");
            sl_check_invalid(c, sl_json_get(entry, "name"),
                             "must not be removed while the workload holds quota");
            sl_check_up(c, up);
        }
    }
}

static void check_reclaimable(struct sl_check *c, const struct sl_json *pod_sets)
{
    const struct sl_json *list = sl_json_path(c->object, "status.reclaimablePods");
    const struct sl_json *old = sl_json_path(c->old, "status.reclaimablePods");
    bool reserved = c->old != NULL && sl_condition_true(c->object, "QuotaReserved") &&
                    sl_condition_true(c->old, "QuotaReserved");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *entry = sl_json_at(list, i);
        const struct sl_json *ps = sl_json_find_by(pod_sets, "name", name_of(entry));
        const struct sl_json *before = sl_json_find_by(old, "name", name_of(entry));
        int64_t count = sl_json_int(sl_json_get(entry, "count"), 0);
        int64_t most = sl_json_int(sl_json_get(ps, "count"), 1);
        size_t up =
            sl_check_down(c, "status.reclaimablePods[%zu].%s", i, ps == NULL ? "name" : "count");
        if (ps == NULL) {
            sl_check_invalid(c, sl_json_get(entry, "name"), "the workload has no such pod set");
        } else if (count > most) {
            sl_check_invalid(c, sl_json_get(entry, "count"),
                             "must be less than or equal to %" PRId64, most);
        } else if (reserved && count < sl_json_int(sl_json_get(before, "count"), 0)) {
            sl_check_invalid(c, sl_json_get(entry, "count"),
                             "must not shrink while the workload holds quota");
        }
        sl_check_up(c, up);
    }
    if (reserved) {
        check_reclaimable_kept(c);
    }
}

static void immutable_at(struct sl_check *c, const char *path)
{
    size_t up = sl_check_down(c, "%s", path);
    sl_check_immutable(c, sl_json_path(c->object, path), sl_json_path(c->old, path));
    sl_check_up(c, up);
}

/* All but the topology of an admission is settled once it is made. */
static bool same_admission(const struct sl_json *a, const struct sl_json *b)
{
    const struct sl_json *left = sl_json_get(a, "podSetAssignments");
    const struct sl_json *right = sl_json_get(b, "podSetAssignments");
    static const char *const settled[] = {"name", "flavors", "resourceUsage", "count"};
    if (!sl_json_equal(sl_json_get(a, "clusterQueue"), sl_json_get(b, "clusterQueue")) ||
        sl_json_len(left) != sl_json_len(right)) {
        return false;
    }
    for (size_t i = 0; i < sl_json_len(left); i++) {
        for (size_t k = 0; k < sizeof settled / sizeof settled[0]; k++) {
            if (!sl_json_equal(sl_json_get(sl_json_at(left, i), settled[k]),
                               sl_json_get(sl_json_at(right, i), settled[k]))) {
                return false;
            }
        }
    }
    return true;
}

static void check_status_update(struct sl_check *c)
{
    const struct sl_json *admission = sl_json_path(c->object, "status.admission");
    const struct sl_json *before = sl_json_path(c->old, "status.admission");
    if (admission != NULL && before != NULL && !same_admission(admission, before)) {
        size_t up = sl_check_down(c, "status.admission");
        sl_check_invalid(c, admission, "field is immutable; it can be removed and set again");
        sl_check_up(c, up);
    }
    if (sl_json_path(c->object, "status.clusterName") != NULL &&
        sl_json_path(c->old, "status.clusterName") != NULL) {
        immutable_at(c, "status.clusterName");
    }
}

static void check_update(struct sl_check *c)
{
    bool was_reserved = sl_condition_true(c->old, "QuotaReserved");
    if (was_reserved) {
        immutable_at(c, "spec.podSets");
        immutable_at(c, "spec.priorityClassRef.group");
        immutable_at(c, "spec.priorityClassRef.kind");
        if (strcmp(sl_json_path_text(c->object, "spec.priorityClassRef.kind", ""),
                   "PriorityClass") == 0) {
            immutable_at(c, "spec.priorityClassRef.name");
        }
    }
    if (was_reserved && sl_condition_true(c->object, "QuotaReserved")) {
        immutable_at(c, "spec.queueName");
    }
    if (sl_condition_true(c->old, "Admitted") && sl_condition_true(c->object, "Admitted")) {
        immutable_at(c, "spec.maximumExecutionTimeSeconds");
    }
    check_status_update(c);
}

void sl_check_workload(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *pod_sets = sl_json_path(c->object, "spec.podSets");
    check_pod_sets(c, pod_sets);
    check_priority(c, sl_json_get(c->object, "spec"));
    check_admission(c, pod_sets);
    check_reclaimable(c, pod_sets);
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
