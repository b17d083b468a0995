/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From a case's Nodes and Pods straight into the core, without the engine. */
#include "topology_world.h"
#include "api/objects/quantity.h"
#include "api/objects/topology_assignment.h"
#include "engine/records/node_fit.h"
#include "engine/records/pod.h"
#include "engine/records/pod.h"
#include "kernel/commit/placement.h"
#include "policy/topology/assumed.h"
#include "policy/flavors/open_cell.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE = 1, CELL_RESOURCE = 1 };

static void must(enum sl_status status, const char *what)
{
    if (status != SL_OK) {
        char got[32];
        (void)snprintf(got, sizeof got, "status %d", (int)status);
        conf_differ(what, "accepted", got);
    }
}

static const char *kind_of(const struct sl_json *o)
{
    return sl_json_path_text(o, "kind", "");
}

/* --- measures --------------------------------------------------------------------------------- */

sl_measure_id conf_measure(struct conf_tree *t, const char *resource)
{
    for (uint32_t i = 0; i < t->measure_count; i++) {
        if (strcmp(t->measures[i], resource) == 0) {
            return i;
        }
    }
    t->measures[t->measure_count] = resource;
    t->measure_count++;
    for (uint32_t i = 0; i < t->measure_count; i++) {
        uint32_t rank = 0;
        for (uint32_t j = 0; j < t->measure_count; j++) {
            rank += strcmp(t->measures[j], t->measures[i]) < 0;
        }
        sl_placement_rank_measure(i, rank);
    }
    return t->measure_count - 1;
}

uint32_t conf_requests(struct conf_tree *t, const struct sl_json *amounts,
                       struct sl_measure_amount *out)
{
    void *it = NULL;
    const char *resource;
    struct sl_json *amount;
    uint32_t count = 0;
    while (sl_json_next(amounts, &it, &resource, &amount)) {
        out[count++] = (struct sl_measure_amount){.measure = conf_measure(t, resource),
                                                  .per_pod = sl_json_int(amount, 0)};
    }
    return count;
}

/* --- nodes in order --------------------------------------------------------------------------- */

static uint32_t depth_compared;

static int by_values(const void *a, const void *b)
{
    const struct conf_node *x = a;
    const struct conf_node *y = b;
    for (uint32_t i = 0; i < depth_compared; i++) {
        int order = strcmp(x->values[i], y->values[i]);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

static bool is_usable(const struct sl_json *node)
{
    return sl_condition_true(node, "Ready") &&
           !sl_json_path_bool(node, "spec.unschedulable", false);
}

static bool is_in_flavor(const struct conf_tree *t, const struct sl_json *node)
{
    if (!t->to_nodes && !is_usable(node)) {
        return false;
    }
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(sl_json_get(t->input, "nodeLabels"), &it, &key, &value)) {
        const char *label = sl_object_label(node, key);
        if (label == NULL || strcmp(label, sl_json_text(value, "")) != 0) {
            return false;
        }
    }
    for (uint32_t i = 0; i < t->level_count; i++) {
        if (sl_object_label(node, t->levels[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static void list_nodes(struct conf_tree *t, const struct conf_case *c)
{
    const struct sl_json *objects = sl_json_get(c->root, "objects");
    for (size_t i = 0; i < sl_json_len(objects) && t->node_count < CONF_NODES_MAX; i++) {
        const struct sl_json *o = sl_json_at(objects, i);
        if (strcmp(kind_of(o), "Node") == 0 && is_in_flavor(t, o)) {
            struct conf_node *n = &t->nodes[t->node_count++];
            n->object = o;
            for (uint32_t d = 0; d < t->level_count; d++) {
                n->values[d] = sl_object_label(o, t->levels[d]);
            }
        }
    }
    depth_compared = t->level_count;
    qsort(t->nodes, t->node_count, sizeof t->nodes[0], by_values);
}

/* Domains are numbered as they come: a node's that shares values with the one before it is the
 * same. */
static void open_domains(struct conf_tree *t)
{
    sl_domain_id path[CONF_LEVELS_MAX];
    sl_domain_id next = 1;
    sl_site_id site = 0;
    for (uint32_t i = 0; i < t->node_count; i++) {
        uint32_t same = 0;
        while (i > 0 && same < t->level_count &&
               strcmp(t->nodes[i].values[same], t->nodes[i - 1].values[same]) == 0) {
            same++;
        }
        for (uint32_t d = same; d < t->level_count; d++) {
            bool lowest = d + 1 == t->level_count;
            sl_domain_id after = i > 0 && d == same ? path[d] : SL_NO_ID;
            path[d] = next++;
            must(sl_trees_open(path[d], CONF_TREE, d == 0 ? SL_NO_ID : path[d - 1], after,
                               lowest ? site++ : SL_NO_ID),
                 "domain");
        }
        t->nodes[i].domain = path[t->level_count - 1];
        t->nodes[i].site = site - 1;
    }
}

/* --- what is free ----------------------------------------------------------------------------- */

static void add_room(struct conf_tree *t, sl_site_id site, const char *resource, int64_t amount)
{
    sl_measure_id measure = conf_measure(t, resource);
    int64_t sum = sl_site_capacity_of(site, measure) + amount;
    must(sl_site_set_capacity(site, measure, sum < 0 ? 0 : sum), "room");
}

static void fill_rooms(struct conf_tree *t)
{
    for (uint32_t i = 0; i < t->node_count; i++) {
        void *it = NULL;
        const char *resource;
        struct sl_json *amount;
        const struct sl_json *free = sl_json_path(t->nodes[i].object, "status.allocatable");
        while (sl_json_next(free, &it, &resource, &amount)) {
            struct sl_quantity q;
            struct sl_error e = {0};
            if (sl_quantity_read(amount, &q, &e) == SL_CODE_OK) {
                add_room(t, t->nodes[i].site, resource, sl_quantity_amount(q, resource));
            }
        }
    }
}

static void subtract_pod(struct conf_tree *t, sl_site_id site, const struct sl_json *pod)
{
    struct sl_pod_requests r = {0};
    struct sl_error e = {0};
    (void)sl_pod_sum_requests(sl_json_get(pod, "spec"), "spec", &r, &e);
    for (uint32_t i = 0; i < r.count; i++) {
        struct sl_quantity q = {.nano = r.items[i].nano};
        add_room(t, site, r.items[i].resource, -sl_quantity_amount(q, r.items[i].resource));
    }
    add_room(t, site, "pods", -1);
}

static bool still_runs(const struct sl_json *pod)
{
    const char *phase = sl_json_path_text(pod, "status.phase", "");
    return strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0;
}

static void subtract_pods(struct conf_tree *t, const struct conf_case *c)
{
    const struct sl_json *objects = sl_json_get(c->root, "objects");
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        const struct sl_json *pod = sl_json_at(objects, i);
        const char *where = sl_json_path_text(pod, "spec.nodeName", NULL);
        for (uint32_t n = 0; where != NULL && still_runs(pod) && n < t->node_count; n++) {
            if (strcmp(sl_object_name(t->nodes[n].object), where) == 0) {
                subtract_pod(t, t->nodes[n].site, pod);
            }
        }
    }
}

/* --- what others use -------------------------------------------------------------------------- */

const struct conf_node *conf_node_named(const struct conf_tree *t, const char *const *values,
                                        uint32_t count)
{
    uint32_t first = t->level_count - count;
    for (uint32_t i = 0; i < t->node_count; i++) {
        uint32_t same = 0;
        while (same < count && strcmp(t->nodes[i].values[first + same], values[same]) == 0) {
            same++;
        }
        if (same == count) {
            return &t->nodes[i];
        }
    }
    return NULL;
}

const struct conf_node *conf_node_of(const struct conf_tree *t, sl_domain_id domain)
{
    for (uint32_t i = 0; i < t->node_count; i++) {
        if (t->nodes[i].domain == domain) {
            return &t->nodes[i];
        }
    }
    return NULL;
}

static void assume(struct conf_tree *t, const struct conf_node *node, const struct sl_json *amounts,
                   int64_t times)
{
    struct sl_measure_amount r[SL_TOPOLOGY_REQUESTS_MAX];
    uint32_t count = conf_requests(t, amounts, r);
    for (uint32_t i = 0; node != NULL && i < count; i++) {
        (void)sl_assumed_add(node->site, r[i].measure, r[i].per_pod * times);
    }
}

static void use_own(struct conf_tree *t, const struct sl_json *list)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *item = sl_json_at(list, i);
        const struct sl_json *values = sl_json_get(item, "values");
        const char *texts[CONF_LEVELS_MAX];
        uint32_t count = (uint32_t)sl_json_len(values);
        for (uint32_t v = 0; v < count && v < CONF_LEVELS_MAX; v++) {
            texts[v] = sl_json_text(sl_json_at(values, v), "");
        }
        const struct conf_node *node = conf_node_named(t, texts, count);
        int64_t pods = sl_json_path_int(item, "count", 0);
        assume(t, node, sl_json_get(item, "singlePodRequests"), pods);
        if (node != NULL) {
            (void)sl_assumed_add(node->site, SL_MEASURE_PODS, pods);
        }
    }
}

static void use_others(struct conf_tree *t, const struct sl_json *by_host)
{
    void *it = NULL;
    const char *host;
    struct sl_json *amounts;
    while (t->to_nodes && sl_json_next(by_host, &it, &host, &amounts)) {
        assume(t, conf_node_named(t, &host, 1), amounts, 1);
    }
}

sl_level_id conf_level(const struct conf_tree *t, const char *key)
{
    for (uint32_t i = 0; i < t->level_count; i++) {
        if (strcmp(t->levels[i], key) == 0) {
            return i;
        }
    }
    return t->level_count + 100; /* some other label key */
}

void conf_tree_open(struct conf_tree *t, const struct conf_case *c)
{
    struct sl_tree_levels ids = {0};
    const struct sl_json *levels = sl_json_get(c->input, "levels");
    t->input = c->input;
    t->level_count = (uint32_t)sl_json_len(levels);
    for (uint32_t i = 0; i < t->level_count; i++) {
        t->levels[i] = sl_json_text(sl_json_at(levels, i), "");
        ids.ids[i] = i;
    }
    ids.count = t->level_count;
    t->to_nodes = strcmp(t->levels[t->level_count - 1], SL_ASSIGNMENT_HOSTNAME) == 0;
    (void)conf_measure(t, "pods");
    must(sl_trees_configure(CONF_TREE, ids, t->to_nodes), "levels");
    list_nodes(t, c);
    open_domains(t);
    fill_rooms(t);
    subtract_pods(t, c);
    use_own(t, sl_json_get(c->input, "priorOwnUsage"));
    use_others(t, sl_json_get(c->input, "aggregatedDomainUsage"));
}

/* --- where the workload stands ---------------------------------------------------------------- */

static void add_rows(const struct conf_tree *t, const struct sl_json *assignment, uint32_t pod_set)
{
    struct sl_topology_set *set = &sl_topology_plan.sets[sl_topology_plan.set_count++];
    struct sl_assignment_reader r;
    *set = (struct sl_topology_set){.pod_set = pod_set,
                                    .tree = CONF_TREE,
                                    .within = SL_NO_ID,
                                    .first_row = sl_topology_plan.row_count};
    sl_assignment_reader_start(&r, assignment);
    while (sl_assignment_reader_next(&r)) {
        const char *values[CONF_LEVELS_MAX];
        for (uint32_t i = 0; i < r.level_count && i < CONF_LEVELS_MAX; i++) {
            values[i] = r.values[i];
        }
        const struct conf_node *node = conf_node_named(t, values, r.level_count);
        if (node == NULL) {
            conf_differ("assignment", "on known nodes", values[0]);
            continue;
        }
        sl_topology_plan.rows[sl_topology_plan.row_count++] =
            (struct sl_topology_row){.domain = node->domain, .count = r.count};
        set->count += r.count;
        set->row_count++;
    }
}

/* Quota of one unit, and the rows. */
static void restore(const struct conf_tree *t, sl_workload_id id, const struct sl_json *sets,
                    const char *member)
{
    sl_cell_id cell = SL_NO_ID;
    struct sl_event create = {.kind = SL_EV_CREATE, .workload = id, .now_ms = 1};
    must(sl_ledger_open_qnode(QUEUE), "queue");
    must(sl_ledger_open_cell(QUEUE, CONF_TREE, CELL_RESOURCE, &cell), "cell");
    must(sl_ledger_set_quota(cell, 1, 0, 0), "quota");
    must(sl_placement_event(create), "workload");
    sl_plan = (struct sl_plan){.workload = id,
                               .generation = sl_workloads[id].generation,
                               .cluster_queue = QUEUE,
                               .usage_count = 1,
                               .usage = {{.cell = cell, .amount = 1}},
                               .now_ms = 1};
    sl_topology_plan.workload = id;
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        add_rows(t, sl_json_get(sl_json_at(sets, i), member), (uint32_t)i);
    }
    must(sl_placement_restore(), "assignment");
}

/* Is every place of the slice before on a node that there is? */
static bool stands(const struct conf_tree *t, const struct sl_json *assignment)
{
    struct sl_assignment_reader r;
    sl_assignment_reader_start(&r, assignment);
    while (sl_assignment_reader_next(&r)) {
        const char *values[CONF_LEVELS_MAX];
        for (uint32_t i = 0; i < r.level_count && i < CONF_LEVELS_MAX; i++) {
            values[i] = r.values[i];
        }
        if (conf_node_named(t, values, r.level_count) == NULL) {
            return false;
        }
    }
    return true;
}

bool conf_tree_place_old(const struct conf_tree *t)
{
    const struct sl_json *sets = sl_json_get(t->input, "podSets");
    bool any = false;
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const struct sl_json *before = sl_json_get(sl_json_at(sets, i), "previousAssignment");
        if (!stands(t, before)) {
            return false;
        }
        any = any || before != NULL;
    }
    if (any) {
        restore(t, CONF_OLD, sets, "previousAssignment");
    }
    return any;
}

/* Nodes that have failed may be unready; a tree has ready nodes only, as Kueue's cache has. */
static void drop_unready(struct conf_tree *t)
{
    for (uint32_t i = 0; i < t->node_count; i++) {
        bool usable = is_usable(t->nodes[i].object);
        sl_domain_id domain = t->nodes[i].domain;
        while (!usable && t->to_nodes && domain != SL_NO_ID &&
               sl_trees_first_child(domain) == SL_NO_ID) {
            sl_domain_id parent = sl_domain_parent(domain);
            must(sl_trees_close(domain), "close");
            domain = parent;
        }
    }
}

void conf_tree_settle(struct conf_tree *t, const struct conf_case *c)
{
    const struct sl_json *workload = sl_json_get(c->input, "workload");
    const struct sl_json *failed = sl_json_path(workload, "status.unhealthyNodes");
    sl_placement_failed_count = 0;
    if (workload != NULL && sl_json_len(failed) > 0) {
        restore(t, CONF_WORKLOAD, sl_json_path(workload, "status.admission.podSetAssignments"),
                "topologyAssignment");
        (void)sl_assumed_free(CONF_WORKLOAD); /* the recorded snapshot does not count it */
    }
    for (size_t i = 0; i < sl_json_len(failed) && i < SL_UNHEALTHY_MAX; i++) {
        const char *host = sl_json_path_text(sl_json_at(failed, i), "name", "");
        const struct conf_node *node = conf_node_named(t, &host, 1);
        if (node != NULL) {
            sl_placement_failed[sl_placement_failed_count++] = node->site;
        }
    }
    drop_unready(t);
}

/* --- masks ------------------------------------------------------------------------------------ */

static uint32_t taint_number(struct conf_tree *t, const struct sl_json *taint)
{
    char text[256];
    const char *value = sl_json_path_text(taint, "value", "");
    (void)snprintf(text, sizeof text, "%s%s%s:%s", sl_json_path_text(taint, "key", ""),
                   value[0] == '\0' ? "" : "=", value, sl_json_path_text(taint, "effect", ""));
    for (uint32_t i = 0; i < t->taint_count; i++) {
        if (strcmp(t->taints[i], text) == 0) {
            return i;
        }
    }
    (void)snprintf(t->taints[t->taint_count], sizeof t->taints[0], "%s", text);
    return t->taint_count++;
}

static sl_verdict verdict_of(struct conf_tree *t, const struct sl_node_view *view,
                             const struct sl_json *taints, const struct sl_json *spec)
{
    const struct sl_json *taint =
        sl_pod_untolerated(taints, sl_json_get(spec, "tolerations"), NULL);
    const struct sl_json *affinity = sl_json_path(spec, "affinity.nodeAffinity");
    const struct sl_json *terms =
        sl_json_path(affinity, "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    if (taint != NULL) {
        return (sl_verdict)(SL_VERDICT_TAINT + taint_number(t, taint));
    }
    if (!sl_pod_selector_holds(sl_json_get(spec, "nodeSelector"), view->labels, false)) {
        return SL_VERDICT_SELECTOR;
    }
    return sl_node_fit_affinity(view, terms) ? SL_VERDICT_MAY : SL_VERDICT_AFFINITY;
}

void conf_mask(struct conf_tree *t, sl_mask_id mask, const struct sl_json *pod_spec)
{
    const struct sl_json *preferred = sl_json_path(
        pod_spec, "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution");
    must(sl_masks_clear(mask), "mask");
    for (uint32_t i = 0; i < t->node_count; i++) {
        const struct sl_json *node = t->nodes[i].object;
        struct sl_node_view view = {.name = sl_object_name(node),
                                    .labels = sl_json_path(node, "metadata.labels")};
        const struct sl_json *taints = sl_json_path(node, "spec.taints");
        must(sl_masks_set(mask, t->nodes[i].site, verdict_of(t, &view, taints, pod_spec)),
             "verdict");
        must(sl_masks_prefer(mask, t->nodes[i].site, sl_node_fit_score(&view, preferred)), "score");
    }
}
