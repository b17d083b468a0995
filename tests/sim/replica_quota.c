/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quota as the API shows it, computed from the objects alone and by other means than the core's: what Workloads have
 * reserved goes up the tree of cohorts, flavor by flavor and resource by resource. */
#include "api/objects/quantity.h"
#include "base/map.h"
#include "controllers/work/slices.h"
#include "controllers/work/work.h"
#include "replica.h"
#include <stdio.h>
#include <string.h>

#define NODES_MAX 256u /* queues and cohorts */
#define CELLS_MAX 16u  /* pairs of flavor and resource */

struct cell {
    char name[160];                       /* "flavor/resource" */
    __int128 nominal, lending, borrowing; /* the limits: -1 = none */
    __int128 used, subtree;               /* subtree: with what children give */
};
struct node {
    char name[64], parent[64]; /* parent "": none */
    bool cohort, done;
    struct cell cells[CELLS_MAX];
    unsigned count;
};
static struct {
    struct node nodes[NODES_MAX];
    unsigned count;
} tree;

static struct node *node_of(const char *name, bool cohort)
{
    for (unsigned i = 0; i < tree.count; i++) {
        if (tree.nodes[i].cohort == cohort && strcmp(tree.nodes[i].name, name) == 0) {
            return &tree.nodes[i];
        }
    }
    if (tree.count == NODES_MAX) {
        sim_story_violation("the simulator counts %u queues and cohorts at most", NODES_MAX);
    }
    struct node *n = &tree.nodes[tree.count++];
    *n = (struct node){.cohort = cohort};
    (void)snprintf(n->name, sizeof n->name, "%s", name);
    return n;
}

static struct cell *cell_named(struct node *n, const char *name)
{
    for (unsigned i = 0; i < n->count; i++) {
        if (strcmp(n->cells[i].name, name) == 0) {
            return &n->cells[i];
        }
    }
    if (n->count == CELLS_MAX) {
        sim_story_violation("the simulator counts %u flavors and resources at most", CELLS_MAX);
    }
    struct cell *c = &n->cells[n->count++];
    *c = (struct cell){.lending = -1, .borrowing = -1};
    (void)snprintf(c->name, sizeof c->name, "%s", name);
    return c;
}

static struct cell *cell_of(struct node *n, const char *flavor, const char *resource)
{
    char name[160];
    (void)snprintf(name, sizeof name, "%.70s/%.70s", flavor, resource);
    return cell_named(n, name);
}

static __int128 amount(const struct sl_json *v, __int128 otherwise)
{
    struct sl_quantity q = {0};
    struct sl_error e = {0};
    return v != NULL && sl_quantity_read(v, &q, &e) == SL_CODE_OK ? q.nano : otherwise;
}

/* --- quotas ------------------------------------------------------------------------------------- */

static void add_flavor(struct node *n, const struct sl_json *flavor)
{
    const struct sl_json *resources = sl_json_get(flavor, "resources");
    for (size_t i = 0; i < sl_json_len(resources); i++) {
        const struct sl_json *r = sl_json_at(resources, i);
        struct cell *c =
            cell_of(n, sl_json_path_text(flavor, "name", ""), sl_json_path_text(r, "name", ""));
        c->nominal = amount(sl_json_get(r, "nominalQuota"), 0);
        c->lending = amount(sl_json_get(r, "lendingLimit"), -1);
        c->borrowing = amount(sl_json_get(r, "borrowingLimit"), -1);
    }
}

static void add_node(const struct sl_json *o, bool cohort)
{
    struct node *n = node_of(sl_object_name(o), cohort);
    const char *parent = sl_json_path_text(o, cohort ? "spec.parentName" : "spec.cohortName", "");
    (void)snprintf(n->parent, sizeof n->parent, "%s", parent);
    const struct sl_json *groups = sl_json_path(o, "spec.resourceGroups");
    for (size_t g = 0; g < sl_json_len(groups); g++) {
        const struct sl_json *flavors = sl_json_get(sl_json_at(groups, g), "flavors");
        for (size_t f = 0; f < sl_json_len(flavors); f++) {
            add_flavor(n, sl_json_at(flavors, f));
        }
    }
    if (parent[0] != '\0') {
        (void)node_of(parent, true);
    }
}

static void add_all(struct sim *s, enum sl_kind kind)
{
    struct sl_json *list = sim_list(s, kind);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        add_node(sl_json_at(list, i), kind == SL_KIND_COHORT);
    }
    sl_json_free(list);
}

/* --- usage -------------------------------------------------------------------------------------- */

/* Pods that have ended for good have given back what they held. */
static int64_t ended_pods(const struct sl_json *w, const char *pod_set)
{
    const struct sl_json *list = sl_json_path(w, "status.reclaimablePods");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(list, i), "name", ""), pod_set) == 0) {
            return sl_json_path_int(sl_json_at(list, i), "count", 0);
        }
    }
    return 0;
}

/* Those of an elastic job that has fewer pods by now than it was admitted with. */
static int64_t pods_of(const struct sl_json *w, const char *pod_set, int64_t admitted)
{
    const struct sl_json *set = sl_json_find_by(sl_json_path(w, "spec.podSets"), "name", pod_set);
    int64_t count = sl_json_path_int(set, "count", admitted);
    return count < admitted ? count : admitted;
}

/* Pods of one reservation: what was given back is not taken again, whatever the object says meanwhile. */
static int64_t least_pods(const struct sl_json *w, const char *pod_set, int64_t left)
{
    static struct sl_map *least;
    char key[300];
    union sl_map_value value;
    const struct sl_json *reserved = sl_condition_find(w, "QuotaReserved");
    least = least == NULL ? sl_map_new() : least;
    (void)snprintf(key, sizeof key, "%s %s %s", sl_object_uid(w), pod_set,
                   sl_json_path_text(reserved, "lastTransitionTime", ""));
    left = left < 0 ? 0 : left;
    if (sl_map_get(least, key, &value) && (int64_t)value.number < left) {
        left = (int64_t)value.number;
    }
    sl_map_put(least, key, (union sl_map_value){.number = (uint64_t)left});
    return left;
}

static void use(struct node *n, const struct sl_json *w, const struct sl_json *set)
{
    const char *name = sl_json_path_text(set, "name", "");
    int64_t count = sl_json_path_int(set, "count", 0);
    int64_t left = least_pods(w, name, pods_of(w, name, count) - ended_pods(w, name));
    const struct sl_json *flavors = sl_json_get(set, "flavors");
    void *it = NULL;
    const char *resource;
    struct sl_json *flavor;
    while (sl_json_next(flavors, &it, &resource, &flavor)) {
        const struct sl_json *usage = sl_json_get(sl_json_get(set, "resourceUsage"), resource);
        struct cell *c = cell_of(n, sl_json_text(flavor, ""), resource);
        c->used += count == 0 ? 0 : amount(usage, 0) / count * left;
    }
}

/* What is deactivated counts no more, though its job may still have to stop. */
static bool holds_quota(const struct sl_json *w)
{
    return sl_condition_true(w, "QuotaReserved") && !sl_condition_true(w, "Finished") &&
           sl_json_path_bool(w, "spec.active", true);
}

/* Slices in whose place another one is already: what both hold counts once. */
static struct sl_map *replaced_new(const struct sl_json *list)
{
    struct sl_map *keys = sl_map_new();
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *w = sl_json_at(list, i);
        const char *key = sl_object_annotation(w, SL_ANNOTATION_REPLACES);
        if (key != NULL && holds_quota(w)) {
            sl_map_put(keys, key, (union sl_map_value){.number = 1});
        }
    }
    return keys;
}

static bool is_replaced(const struct sl_map *replaced, const struct sl_json *w)
{
    char key[SL_KEY_SIZE];
    union sl_map_value unused;
    sl_key_print(sl_object_namespace(w), sl_object_name(w), key);
    return sl_map_get(replaced, key, &unused);
}

static void add_usage(struct sim *s)
{
    struct sl_json *list = sim_list(s, SL_KIND_WORKLOAD);
    struct sl_map *replaced = replaced_new(list);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *w = sl_json_at(list, i);
        if (!holds_quota(w) || is_replaced(replaced, w)) {
            continue;
        }
        struct node *n = node_of(sl_json_path_text(w, "status.admission.clusterQueue", ""), false);
        const struct sl_json *sets = sl_json_path(w, "status.admission.podSetAssignments");
        for (size_t k = 0; k < sl_json_len(sets); k++) {
            use(n, w, sl_json_at(sets, k));
        }
    }
    sl_map_free(replaced);
    sl_json_free(list);
}

/* --- up the tree -------------------------------------------------------------------------------- */

static bool is_over(const struct node *n, const struct cell *c, struct sl_buf *where)
{
    bool root = n->parent[0] == '\0';
    bool over = (root && c->used > c->subtree) ||
                (!root && c->borrowing >= 0 && c->used > c->subtree + c->borrowing);
    if (over) {
        sl_buf_print(where, "%s %s has %lldm of %s and may have %lldm",
                     n->cohort ? "cohort" : "queue", n->name, (long long)(c->used / 1000000),
                     c->name, (long long)((c->subtree + (root ? 0 : c->borrowing)) / 1000000));
    }
    return over;
}

/* What is its own stays; the rest is the cohort's to give, and what is used beyond that is taken from there. */
static void pass_up(const struct node *n)
{
    for (unsigned i = 0; i < n->count && n->parent[0] != '\0'; i++) {
        const struct cell *c = &n->cells[i];
        struct cell *up = cell_named(node_of(n->parent, true), c->name);
        __int128 own = c->lending >= 0 && c->subtree > c->lending ? c->subtree - c->lending : 0;
        up->subtree += c->subtree - own;
        up->used += c->used > own ? c->used - own : 0;
    }
}

static bool has_children_left(const struct node *n)
{
    for (unsigned i = 0; i < tree.count && n->cohort; i++) {
        if (!tree.nodes[i].done && strcmp(tree.nodes[i].parent, n->name) == 0) {
            return true;
        }
    }
    return false;
}

static struct node *next_node(void)
{
    for (unsigned i = 0; i < tree.count; i++) {
        if (!tree.nodes[i].done && !has_children_left(&tree.nodes[i])) {
            return &tree.nodes[i];
        }
    }
    return NULL;
}

bool sim_quota_exceeded(struct sim *s, struct sl_buf *where)
{
    tree.count = 0;
    add_all(s, SL_KIND_COHORT);
    add_all(s, SL_KIND_CLUSTER_QUEUE);
    add_usage(s);
    for (struct node *n = next_node(); n != NULL; n = next_node()) {
        n->done = true;
        for (unsigned i = 0; i < n->count; i++) {
            n->cells[i].subtree += n->cells[i].nominal;
            if (is_over(n, &n->cells[i], where)) {
                return true;
            }
        }
        pass_up(n);
    }
    return false;
}
