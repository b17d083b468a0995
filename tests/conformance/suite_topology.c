/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Where the pods of a workload are placed in one topology, or why they are not, in figures. */
#include "base/check.h"
#include "kernel/commit/placement.h"
#include "policy/requests/requests.h"
#include "policy/common/settings.h"
#include "topology_world.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct conf_tree tree;

/* --- the question ----------------------------------------------------------------------------- */

static void read_together(const struct conf_tree *t, const struct sl_json *request,
                          struct sl_topology_request *d)
{
    const char *required = sl_json_path_text(request, "required", NULL);
    const char *preferred = sl_json_path_text(request, "preferred", NULL);
    if (required != NULL) {
        d->together = SL_TOGETHER_REQUIRED;
        d->level = conf_level(t, required);
    } else if (preferred != NULL) {
        d->together = SL_TOGETHER_PREFERRED;
        d->level = conf_level(t, preferred);
    } else if (sl_json_path_bool(request, "unconstrained", false)) {
        d->together = SL_TOGETHER_UNCONSTRAINED;
    }
}

static void read_layers(const struct conf_tree *t, const struct sl_json *request,
                        struct sl_topology_request *d)
{
    const struct sl_json *list = sl_json_get(request, "podsetSliceRequiredTopologyConstraints");
    const char *single = sl_json_path_text(request, "podSetSliceRequiredTopology", NULL);
    for (size_t i = 0; i < sl_json_len(list) && i < SL_LAYERS_MAX; i++) {
        const struct sl_json *layer = sl_json_at(list, i);
        d->layers[i].level = conf_level(t, sl_json_path_text(layer, "topology", ""));
        d->layers[i].size = (uint32_t)sl_json_path_int(layer, "size", 0);
        d->layer_count++;
    }
    if (d->layer_count == 0 && single != NULL) {
        d->layers[0].level = conf_level(t, single);
        d->layers[0].size = (uint32_t)sl_json_path_int(request, "podSetSliceSize", 0);
        d->layer_count = 1;
    }
}

/* Groups are numbered by the first pod set that has their name. */
static uint32_t group_of(const struct sl_json *sets, size_t index)
{
    const char *name = sl_json_path_text(sl_json_at(sets, index), "podSetGroupName", NULL);
    for (size_t i = 0; name != NULL && i <= index; i++) {
        const char *other = sl_json_path_text(sl_json_at(sets, i), "podSetGroupName", "");
        if (strcmp(other, name) == 0) {
            return (uint32_t)i;
        }
    }
    return SL_NO_ID;
}

static void ask_set(struct conf_tree *t, const struct sl_json *sets, size_t index)
{
    const struct sl_json *item = sl_json_at(sets, index);
    const struct sl_json *request = sl_json_path(item, "podSet.topologyRequest");
    uint32_t count = (uint32_t)sl_json_path_int(item, "count", 0);
    struct sl_topology_request d = {.level = SL_NO_ID,
                                    .mask = (sl_mask_id)index,
                                    .rank_group = group_of(sets, index),
                                    .asked = request != NULL};
    read_together(t, request, &d);
    read_layers(t, request, &d);
    d.request_count = conf_requests(t, sl_json_get(item, "singlePodRequests"), d.requests);
    conf_mask(t, d.mask, sl_json_path(item, "podSet.template.spec"));
    SL_ASSERT(sl_requests_add_pod_set(CONF_WORKLOAD, count) == SL_OK);
    SL_ASSERT(sl_topology_request_set(CONF_WORKLOAD, d) == SL_OK);
    uint32_t record = sl_requests_first_pod_set(CONF_WORKLOAD);
    for (size_t i = 0; i < index; i++) {
        record = sl_requests_next_pod_set(record);
    }
    sl_placement_question.sets[index] =
        (struct sl_placement_set){.pod_set = (uint32_t)index,
                                  .record = record,
                                  .count = count,
                                  .tree = CONF_TREE,
                                  .implied = sl_json_path_bool(item, "implied", false)};
}

/* --- the answer ------------------------------------------------------------------------------- */

static const char *set_name(const struct sl_json *sets, size_t index)
{
    return sl_json_path_text(sl_json_at(sets, index), "podSet.name", "");
}

static void describe(const struct conf_node *node, struct sl_buf *out)
{
    for (uint32_t d = tree.to_nodes ? tree.level_count - 1 : 0; d < tree.level_count; d++) {
        sl_buf_print(out, "/%s", node == NULL ? "?" : node->values[d]);
    }
}

/* As text, "/x1:2 /x2:1": the recorded ones are in order, and so is the answer. */
static void compare_rows(const char *path, const struct sl_json *domains,
                         const struct sl_topology_set *set)
{
    struct sl_buf expected = {0};
    struct sl_buf got = {0};
    sl_buf_text(&expected, "");
    sl_buf_text(&got, "");
    for (size_t i = 0; i < sl_json_len(domains); i++) {
        const struct sl_json *domain = sl_json_at(domains, i);
        const struct sl_json *values = sl_json_get(domain, "values");
        for (size_t v = 0; v < sl_json_len(values); v++) {
            sl_buf_print(&expected, "/%s", sl_json_text(sl_json_at(values, v), ""));
        }
        sl_buf_print(&expected, ":%lld ", (long long)sl_json_path_int(domain, "count", 0));
    }
    for (uint32_t i = 0; i < set->row_count; i++) {
        struct sl_topology_row row = sl_topology_plan.rows[set->first_row + i];
        describe(conf_node_of(&tree, row.domain), &got);
        sl_buf_print(&got, ":%u ", row.count);
    }
    conf_expect_text(path, expected.data, got.data);
    sl_buf_fini(&expected);
    sl_buf_fini(&got);
}

static void put_figure(struct sl_json *map, const char *cause, uint32_t count)
{
    if (count > 0) {
        sl_json_set_int(map, cause, count);
    }
}

static void compare_excluded(const char *path, const struct sl_json *expected)
{
    const struct sl_placement_failure *f = &sl_placement_failure;
    struct sl_json *got = sl_json_new_map();
    char cause[300];
    put_figure(got, "nodeSelector", f->by_selector);
    put_figure(got, "affinity", f->by_affinity);
    put_figure(got, "topologyDomain", f->by_domain);
    for (uint32_t i = 0; i < tree.taint_count; i++) {
        (void)snprintf(cause, sizeof cause, "taint %s", tree.taints[i]);
        put_figure(got, cause, f->by_taint[i]);
    }
    for (uint32_t i = 0; i < tree.measure_count; i++) {
        (void)snprintf(cause, sizeof cause, "resource %s", tree.measures[i]);
        put_figure(got, cause, f->by_measure[i]);
    }
    conf_expect_amounts(path, expected, got);
    sl_json_free(got);
}

static void compare_levels(const char *path, const struct sl_json *levels)
{
    char at[600];
    conf_expect_int(path, (int64_t)sl_json_len(levels), sl_placement_failure.level_count);
    for (uint32_t i = 0; i < sl_placement_failure.level_count && i < sl_json_len(levels); i++) {
        const struct sl_json *level = sl_json_at(levels, i);
        const struct sl_placement_level *got = &sl_placement_failure.levels[i];
        (void)snprintf(at, sizeof at, "%s[%u].level", path, i);
        conf_expect_text(at, sl_json_path_text(level, "level", ""), tree.levels[got->depth]);
        (void)snprintf(at, sizeof at, "%s[%u].fit", path, i);
        conf_expect_int(at, sl_json_path_int(level, "fit", 0), got->fit);
        (void)snprintf(at, sizeof at, "%s[%u].of", path, i);
        conf_expect_int(at, sl_json_path_int(level, "of", 0), got->of);
    }
}

static const char *miss_name(enum sl_placement_miss miss)
{
    switch (miss) {
    case SL_PLACEMENT_NO_DOMAINS:
        return "noDomainsAtLevel";
    case SL_PLACEMENT_SLICE_ABOVE:
        return "sliceAbovePodSet";
    case SL_PLACEMENT_STALE:
        return "staleDomain";
    case SL_PLACEMENT_NO_FIT:
        return "";
    case SL_PLACEMENT_OK:
    case SL_PLACEMENT_NO_LEVEL:
    case SL_PLACEMENT_NO_SLICE_LEVEL:
    case SL_PLACEMENT_SLICE_SIZE:
    case SL_PLACEMENT_NO_TREE:
    case SL_PLACEMENT_ELASTIC:
    case SL_PLACEMENT_FULL:
        break;
    }
    return "other";
}

static void compare_failure(const char *name, const struct sl_json *failure)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s.kind", name);
    conf_expect_text(path, sl_json_path_text(failure, "kind", ""),
                     miss_name(sl_placement_failure.miss));
    (void)snprintf(path, sizeof path, "%s.totalNodes", name);
    conf_expect_int(path, sl_json_path_int(failure, "totalNodes", 0),
                    sl_placement_failure.total_sites);
    (void)snprintf(path, sizeof path, "%s.excluded", name);
    compare_excluded(path, sl_json_get(failure, "excluded"));
    (void)snprintf(path, sizeof path, "%s.levels", name);
    compare_levels(path, sl_json_get(failure, "levels"));
    if (sl_json_get(failure, "unit") != NULL) {
        (void)snprintf(path, sizeof path, "%s.unit", name);
        conf_expect_text(path, sl_json_path_text(failure, "unit", ""),
                         sl_placement_failure.slices ? "slice" : "pod");
        (void)snprintf(path, sizeof path, "%s.fit", name);
        conf_expect_int(path, sl_json_path_int(failure, "fit", 0), sl_placement_failure.fit);
        (void)snprintf(path, sizeof path, "%s.of", name);
        conf_expect_int(path, sl_json_path_int(failure, "of", 0), sl_placement_failure.of);
    }
}

/* The plan must be one that the kernel takes, too. */
static void compare_plan(const struct conf_case *c, const struct sl_json *sets)
{
    const struct sl_json *expected = sl_json_get(c->expect, "podSets");
    enum sl_status status = sl_topology_check();
    conf_expect_bool("plan.inForm", true, status == SL_OK || status == SL_REFUSED_CAPACITY);
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const char *name = set_name(sets, i);
        const struct sl_json *set = sl_json_get(expected, name);
        const struct sl_json *domains = sl_json_path(set, "topologyAssignment.domains");
        if (domains == NULL) {
            conf_differ(name, "no place", "a place");
            continue;
        }
        compare_rows(name, domains, &sl_topology_plan.sets[i]);
    }
}

/* Sets before the one that fails may have a place in the recording; ours are all or none. */
static void compare_miss(const struct conf_case *c, const struct sl_json *sets)
{
    const char *name = set_name(sets, sl_placement_failure.pod_set);
    const struct sl_json *set = sl_json_get(sl_json_get(c->expect, "podSets"), name);
    if (sl_json_get(set, "topologyAssignment") != NULL) {
        conf_differ(name, "a place", "no place");
    }
    compare_failure(name, sl_json_get(set, "failure"));
}

/* A pod cannot be moved: the cycle leaves it where it stands, and asks for no other place. */
static bool stays(const struct conf_case *c)
{
    const struct sl_json *workload = sl_json_get(c->input, "workload");
    const struct sl_json *owners = sl_json_path(workload, "metadata.ownerReferences");
    const char *grouped = workload == NULL
                              ? NULL
                              : sl_object_annotation(workload, "kueue.x-k8s.io/is-group-workload");
    return sl_settings.skip_single_pod && sl_placement_question.replaces &&
           sl_json_len(owners) == 1 && grouped == NULL &&
           strcmp(sl_json_path_text(sl_json_at(owners, 0), "kind", ""), "Pod") == 0;
}

void conf_run_topology(const struct conf_case *c)
{
    const struct sl_json *sets = sl_json_get(c->input, "podSets");
    sl_settings = conf_settings(c).policy;
    conf_tree_open(&tree, c);
    sl_requests_clear(CONF_WORKLOAD);
    conf_tree_settle(&tree, c);
    sl_placement_question.workload = CONF_WORKLOAD;
    sl_placement_question.empty = false;
    sl_placement_question.replaces = sl_placement_failed_count > 0;
    sl_placement_question.old = CONF_OLD;
    sl_placement_question.keeps = sl_settings.place_slices && conf_tree_place_old(&tree);
    sl_placement_question.set_count = (uint32_t)sl_json_len(sets);
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        ask_set(&tree, sets, i);
    }
    if (stays(c) || sl_placement_find()) { /* when it stays, the plan is what was restored */
        compare_plan(c, sets);
    } else {
        compare_miss(c, sets);
    }
}
