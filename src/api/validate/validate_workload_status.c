/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of what was decided about a Workload: its admission, pods that are given back, what admission checks change. */
#include <inttypes.h>
#include <string.h>

#include "api/kinds/elastic.h"
#include "api/objects/quantity.h"
#include "api/validate/validate.h"
#include "base/check.h"

static const char *name_of(const struct sl_json *v)
{
    return sl_json_text(sl_json_get(v, "name"), "");
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
            sl_check_invalid(c, m.value, "is not a multiple of %" PRId64, count);
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
        sl_check_invalid(c, slice,
                         "valuesPerLevel must have the same length as the number of levels in this "
                         "TopologyAssignment");
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
    if (admission == NULL && c->old != NULL && sl_condition_true(c->old, "QuotaReserved") &&
        sl_json_path(c->old, "status.admission") == NULL) {
        sl_check_up(c, up); /* as it was already: it has to be able to go on */
        return;
    }
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
            sl_check_not_found(c, sl_json_get(assignment, "name"));
            sl_check_up(c, name);
        }
        check_usage(c, assignment);
        check_slices(c, sl_json_get(assignment, "topologyAssignment"));
        sl_check_up(c, at);
    }
    sl_check_up(c, up);
}

/* The names of the pod sets, as "A|B|C". */
static void list_names(const struct sl_json *pod_sets, struct sl_buf *out)
{
    for (size_t i = 0; i < sl_json_len(pod_sets); i++) {
        sl_buf_print(out, "%s%s", i > 0 ? "|" : "", name_of(sl_json_at(pod_sets, i)));
    }
}

/* Complains about a name that no pod set has. */
static void check_known(struct sl_check *c, const struct sl_json *pod_sets, const char *name)
{
    struct sl_buf names = {0};
    list_names(pod_sets, &names);
    if (sl_json_find_by(pod_sets, "name", name) == NULL) {
        sl_check_not_supported(c, names.data == NULL ? "" : names.data, name);
    }
    sl_buf_fini(&names);
}

/* What was released may be held by another workload now, so the release cannot be undone. An elastic job that gets fewer
 * pods says of how many of these that is so; nothing is taken back by it. */
static void check_reclaimable_kept(struct sl_check *c)
{
    const struct sl_json *list = sl_json_path(c->object, "status.reclaimablePods");
    const struct sl_json *old = sl_json_path(c->old, "status.reclaimablePods");
    for (size_t i = 0; i < sl_json_len(old) && !sl_is_elastic(c->object); i++) {
        const struct sl_json *entry = sl_json_at(old, i);
        const struct sl_json *now = sl_json_find_by(list, "name", name_of(entry));
        int64_t before = sl_json_path_int(entry, "count", 0);
        size_t up = sl_check_down(c, "status.reclaimablePods[%s]", name_of(entry));
        if (now == NULL && before > 0) {
            sl_check_required(c, "cannot be removed");
        } else if (now != NULL && sl_json_path_int(now, "count", 0) < before) {
            size_t at = sl_check_down(c, ".count");
            sl_check_invalid(c, sl_json_get(now, "count"), "cannot be less than %" PRId64, before);
            sl_check_up(c, at);
        }
        sl_check_up(c, up);
    }
}

static void check_reclaimable(struct sl_check *c, const struct sl_json *pod_sets)
{
    const struct sl_json *list = sl_json_path(c->object, "status.reclaimablePods");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *entry = sl_json_at(list, i);
        const struct sl_json *ps = sl_json_find_by(pod_sets, "name", name_of(entry));
        const struct sl_json *count = sl_json_get(entry, "count");
        int64_t most = sl_json_path_int(ps, "count", 1);
        const struct sl_json *was =
            sl_json_find_by(sl_json_path(c->old, "status.reclaimablePods"), "name", name_of(entry));
        bool stale = sl_is_elastic(c->object) && sl_json_equal(sl_json_get(was, "count"), count);
        size_t up = sl_check_down(c, "status.reclaimablePods[%s].%s", name_of(entry),
                                  ps == NULL ? "name" : "count");
        if (ps == NULL) {
            check_known(c, pod_sets, name_of(entry));
        } else if (sl_json_int(count, 0) > most && !stale) {
            sl_check_invalid(c, count, "should be less or equal to %" PRId64, most);
        }
        sl_check_up(c, up);
    }
    if (c->old != NULL && sl_condition_true(c->object, "QuotaReserved") &&
        sl_condition_true(c->old, "QuotaReserved")) {
        check_reclaimable_kept(c);
    }
}

/* What admission checks change in the pods: of pod sets that are there, and settled once the check is Ready. */
static void check_updates(struct sl_check *c, const struct sl_json *pod_sets)
{
    const struct sl_json *checks = sl_json_path(c->object, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        const struct sl_json *updates = sl_json_get(sl_json_at(checks, i), "podSetUpdates");
        for (size_t k = 0; k < sl_json_len(updates); k++) {
            const struct sl_json *update = sl_json_at(updates, k);
            size_t up = sl_check_down(c, "status.admissionChecks[%zu].podSetUpdates[%zu]", i, k);
            size_t at = sl_check_down(c, ".name");
            check_known(c, pod_sets, name_of(update));
            sl_check_up(c, at);
            at = sl_check_down(c, ".tolerations");
            sl_check_tolerations(c, sl_json_get(update, "tolerations"));
            sl_check_up(c, at);
            sl_check_up(c, up);
        }
    }
}

static bool is_ready(const struct sl_json *check)
{
    return strcmp(sl_json_path_text(check, "state", ""), "Ready") == 0;
}

static void check_updates_kept(struct sl_check *c)
{
    const struct sl_json *checks = sl_json_path(c->object, "status.admissionChecks");
    const struct sl_json *old = sl_json_path(c->old, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(old); i++) {
        const struct sl_json *before = sl_json_at(old, i);
        const struct sl_json *now = sl_json_find_by(checks, "name", name_of(before));
        size_t up = sl_check_down(c, "status.admissionChecks[%zu].podSetUpdates", i);
        if (is_ready(before) && is_ready(now)) {
            sl_check_immutable(c, sl_json_get(now, "podSetUpdates"),
                               sl_json_get(before, "podSetUpdates"));
        }
        sl_check_up(c, up);
    }
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
    const struct sl_json *cluster = sl_json_path(c->object, "status.clusterName");
    const struct sl_json *chosen = sl_json_path(c->old, "status.clusterName");
    size_t up = sl_check_down(c, "status.clusterName");
    if (cluster != NULL && chosen != NULL) {
        sl_check_immutable(c, cluster, chosen);
    } else if (cluster != NULL &&
               sl_object_annotation(c->object, "kueue.x-k8s.io/workload-slice-replacement-for") ==
                   NULL &&
               !sl_json_has_text(sl_json_path(c->old, "status.nominatedClusterNames"),
                                 sl_json_text(cluster, ""))) {
        sl_check_invalid(c, cluster,
                         "when setting clusterName it must be one of the nominatedClusterNames");
    }
    sl_check_up(c, up);
    check_updates_kept(c);
}

void sl_check_workload_status(struct sl_check *c, const struct sl_json *pod_sets)
{
    SL_PRE(c != NULL);
    check_admission(c, pod_sets);
    check_reclaimable(c, pod_sets);
    check_updates(c, pod_sets);
    if (c->old != NULL) {
        check_status_update(c);
    }
}
