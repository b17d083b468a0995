/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Releasing gated pods, and failing late ones. */
#include "controllers/cluster/ungater.h"
#include "base/check.h"
#include "api/validate/topology_request.h"
#include "base/mem.h"
#include "controllers/jobs/podjob.h"
#include "controllers/cluster/elastic_ungater.h"
#include "controllers/work/slices.h"
#include "controllers/work/template.h"
#include "controllers/cluster/ungate_plan.h"
#include "policy/verdicts/pod_places.h"
#include <string.h>

#define WRITES_PER_LOOK 64u
#define LATE_DELAY_MS 100  /* let the workload's own change arrive first */
#define NODE_RETRY_MS 1000 /* while the assigned node takes no pods */
#define LATE_MESSAGE "Pod terminated by Kueue NodeController due to node taint"

void sl_pod_ungate(struct sl_json *pod, const char *const *levels, char *const *values,
                   uint32_t level_count)
{
    struct sl_json *spec = sl_json_path_make(pod, "spec");
    struct sl_json *gates = sl_json_get(spec, "schedulingGates");
    struct sl_json *selector = sl_json_path_make(spec, "nodeSelector");
    for (size_t i = sl_json_len(gates); i > 0; i--) {
        const char *name = sl_json_path_text(sl_json_at(gates, i - 1), "name", "");
        if (strcmp(name, SL_GATE_TOPOLOGY) == 0) {
            sl_json_remove_at(gates, i - 1);
        }
    }
    if (sl_json_len(gates) == 0) {
        sl_json_remove(spec, "schedulingGates");
    }
    for (uint32_t k = 0; k < level_count; k++) {
        sl_json_set_text(selector, levels[k], values[k]);
    }
}

static void write_pod(struct sl_reconciler *r, enum sl_verb verb, struct sl_json *pod,
                      const struct sl_note *note)
{
    struct sl_write w = sl_reconciler_write_of(verb, SL_KIND_POD, pod, pod);
    sl_reconciler_write(r, &w, note);
}

/* --- releasing ----------------------------------------------------------------------------------------- */

/* One look at one workload, or at the slices of an elastic job: their key is that of the first of them. */
struct look {
    struct sl_ungater *u;
    enum sl_pod_list list;
    const struct sl_json *wl;
    const struct sl_pod_row **pods; /* room for all pods of the workload */
    uint32_t *rows;
    unsigned writes;
    bool more, waits; /* over the limit; a node takes no pods */
};

static bool is_unhealthy(const struct sl_json *wl, const char *node)
{
    return node != NULL &&
           sl_json_find_by(sl_json_path(wl, "status.unhealthyNodes"), "name", node) != NULL;
}

static const struct sl_json *request_of(const struct sl_json *wl, const char *pod_set)
{
    return sl_json_get(sl_json_find_by(sl_json_path(wl, "spec.podSets"), "name", pod_set),
                       "topologyRequest");
}

/* The ranks of a group's larger pod set begin behind those of its smaller one: the leader, then its workers. */
static int64_t rank_first(const struct sl_json *wl, const struct sl_json *assignment)
{
    const char *name = sl_json_path_text(assignment, "name", "");
    const char *group = sl_json_path_text(request_of(wl, name), "podSetGroupName", "");
    int64_t count = sl_json_path_int(assignment, "count", 0);
    const struct sl_json *all = sl_json_path(wl, "status.admission.podSetAssignments");
    bool before = true; /* of two equal ones the first is the leader */
    for (size_t i = 0; i < sl_json_len(all) && group[0] != '\0'; i++) {
        const struct sl_json *other = sl_json_at(all, i);
        const char *other_name = sl_json_path_text(other, "name", "");
        int64_t other_count = sl_json_path_int(other, "count", 0);
        if (strcmp(other_name, name) == 0) {
            before = false;
        } else if (strcmp(sl_json_path_text(request_of(wl, other_name), "podSetGroupName", ""),
                          group) == 0 &&
                   sl_pod_places_behind(count, other_count, before)) {
            return other_count;
        }
    }
    return 0;
}

/* Does the node that the row names take the pod, as far as is known? */
static bool node_takes(const struct look *l, const char *node, const struct sl_json *pod)
{
    const struct sl_node_row *row = node == NULL ? NULL : sl_nodebook_find(l->u->nodes, node);
    return row == NULL || sl_node_takes(row, sl_json_path(pod, "spec.tolerations"));
}

static bool in_group(const struct sl_json *pod)
{
    return sl_podjob_group(pod) != NULL;
}

static void release(struct look *l, const struct sl_assignment_list *assignments, uint32_t row,
                    const struct sl_pod_row *which)
{
    struct sl_key key;
    bool absent;
    struct sl_reconciler *r = &l->u->workloads;
    if (l->writes == WRITES_PER_LOOK || !sl_key_parse(which->key, &key)) {
        l->more = true;
        return;
    }
    struct sl_json *pod = sl_reconciler_get(r, SL_KIND_POD, key.ns, key.name, &absent);
    if (pod != NULL && sl_template_gated(pod)) {
        if (node_takes(l, sl_assignment_node(assignments, row), pod)) {
            sl_pod_ungate(pod, assignments->levels, assignments->rows[row].values,
                          assignments->level_count);
            struct sl_note note = {.kind = SL_KIND_POD,
                                   .timing = sl_workload_meters_begin_ungating(
                                       l->u->meters, l->wl, SL_GATE_TOPOLOGY, in_group(pod))};
            write_pod(r, SL_VERB_UPDATE, pod, &note);
            l->writes++;
        } else {
            l->waits = true;
        }
    }
    sl_json_free(pod);
}

/* The pods of the set that have not ended, nor wait for the slice that lets them in. */
static size_t collect(struct look *l, const char *pod_set)
{
    size_t n = 0;
    const struct sl_pod_row *row = sl_podbook_first(l->u->pods, l->list, l->u->workloads.current);
    for (; row != NULL; row = row->next[l->list]) {
        bool ended = row->phase == SL_POD_SUCCEEDED || row->phase == SL_POD_FAILED;
        if (!ended && !row->elastic_gated && strcmp(row->pod_set, pod_set) == 0) {
            l->pods[n++] = row;
        }
    }
    return n;
}

static void release_set(struct look *l, const struct sl_json *assignment)
{
    struct sl_assignment_list assignments = {0};
    const char *name = sl_json_path_text(assignment, "name", "");
    size_t n = collect(l, name);
    if (n > 0 &&
        sl_assignment_list_read(&assignments, sl_json_get(assignment, "topologyAssignment"))) {
        struct sl_ungate_question q = {.assignments = &assignments,
                                       .request = request_of(l->wl, name),
                                       .pod_count = sl_json_path_int(assignment, "count", 0),
                                       .rank_first = rank_first(l->wl, assignment),
                                       .pods = l->pods,
                                       .pods_len = n};
        sl_ungate_plan(&q, l->rows);
        for (size_t i = 0; i < n; i++) {
            if (l->rows[i] != SL_UNGATE_NONE &&
                !is_unhealthy(l->wl, sl_assignment_node(&assignments, l->rows[i]))) {
                release(l, &assignments, l->rows[i], l->pods[i]);
            }
        }
    }
    sl_assignment_list_fini(&assignments);
}

/* Is it admitted to stay, with at least one place in a topology? */
static bool is_placed(const struct sl_json *wl)
{
    const struct sl_json *all = sl_json_path(wl, "status.admission.podSetAssignments");
    bool placed = false;
    for (size_t i = 0; i < sl_json_len(all) && !placed; i++) {
        placed = sl_json_get(sl_json_at(all, i), "topologyAssignment") != NULL;
    }
    return placed && sl_condition_true(wl, "Admitted") && !sl_condition_true(wl, "Finished") &&
           !sl_condition_true(wl, "Evicted");
}

static size_t gated_pods(const struct look *l, size_t *all)
{
    size_t gated = 0;
    const struct sl_pod_row *row = sl_podbook_first(l->u->pods, l->list, l->u->workloads.current);
    for (*all = 0; row != NULL; row = row->next[l->list]) {
        (*all)++;
        gated += row->gated;
    }
    return gated;
}

static void reconcile_workload(void *self, struct sl_reconciler *r, const struct sl_key *key,
                               int64_t now_ms)
{
    struct look l = {.u = self, .list = SL_PODS_OF_WORKLOAD};
    bool absent;
    size_t pods;
    bool elastic = sl_podbook_first(l.u->pods, SL_PODS_OF_SLICES, r->current) != NULL;
    l.list = elastic ? SL_PODS_OF_SLICES : SL_PODS_OF_WORKLOAD;
    if (gated_pods(&l, &pods) == 0) {
        return;
    }
    struct sl_json *wl = elastic ? sl_elastic_ungater_holder_new(l.u->slices, r->current) : NULL;
    if (wl == NULL) {
        wl = sl_reconciler_get(r, SL_KIND_WORKLOAD, key->ns, key->name, &absent);
    }
    if (wl != NULL && is_placed(wl)) {
        const struct sl_json *all = sl_json_path(wl, "status.admission.podSetAssignments");
        l.wl = wl;
        l.pods = sl_mem_new(pods, sizeof *l.pods);
        l.rows = sl_mem_new(pods, sizeof *l.rows);
        for (size_t i = 0; i < sl_json_len(all); i++) {
            release_set(&l, sl_json_at(all, i));
        }
        sl_mem_free(l.pods);
        sl_mem_free(l.rows);
    }
    sl_json_free(wl);
    if (l.more || l.waits) {
        sl_work_add(r->work, r->current, l.more ? SL_WORK_NOW : now_ms + NODE_RETRY_MS);
    }
}

/* --- late pods ----------------------------------------------------------------------------------------- */

static bool is_late_candidate(const struct sl_pod_row *row)
{
    return sl_pod_row_live(row) && !row->gated && row->node[0] == '\0' &&
           row->phase == SL_POD_PENDING && row->at[SL_PODS_OF_NODE][0] != '\0' &&
           row->at[SL_PODS_OF_WORKLOAD][0] != '\0';
}

static bool stands_on(const struct sl_json *wl, const char *node)
{
    const struct sl_json *all = sl_json_path(wl, "status.admission.podSetAssignments");
    bool found = false;
    for (size_t i = 0; i < sl_json_len(all) && !found; i++) {
        struct sl_assignment_list assignments;
        if (sl_assignment_list_read(&assignments,
                                    sl_json_get(sl_json_at(all, i), "topologyAssignment"))) {
            for (uint32_t k = 0; k < assignments.row_count && !found; k++) {
                const char *name = sl_assignment_node(&assignments, k);
                found = name != NULL && strcmp(name, node) == 0;
            }
        }
        sl_assignment_list_fini(&assignments);
    }
    return found;
}

/* Did its pod set ask for a topology? Else its owner may have pinned it. */
static bool asks_for_place(const struct sl_json *pod)
{
    static const char *const keys[] = {SL_TOPOLOGY_REQUIRED, SL_TOPOLOGY_PREFERRED,
                                       SL_TOPOLOGY_UNCONSTRAINED, SL_TOPOLOGY_SLICE_REQUIRED,
                                       SL_TOPOLOGY_SLICE_LAYERS};
    bool asks = false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        asks = asks || sl_object_annotation(pod, keys[i]) != NULL;
    }
    return asks;
}

/* It is admitted, or will not be. */
static bool is_decided(const struct sl_json *wl)
{
    return sl_json_path(wl, "status.admission") != NULL || sl_condition_true(wl, "Finished") ||
           sl_condition_true(wl, "Evicted");
}

/* By which it runs; of an elastic job, the slice that holds quota now. */
static struct sl_json *workload_of(struct sl_ungater *u, const struct sl_pod_row *row)
{
    struct sl_key key;
    bool absent;
    const char *slices = row->at[SL_PODS_OF_SLICES];
    struct sl_json *wl =
        slices[0] == '\0' ? NULL : sl_elastic_ungater_holder_new(u->slices, slices);
    if (wl == NULL && sl_key_parse(row->at[SL_PODS_OF_WORKLOAD], &key)) {
        wl = sl_reconciler_get(&u->late, SL_KIND_WORKLOAD, key.ns, key.name, &absent);
    }
    return wl;
}

static bool is_late(struct sl_ungater *u, const struct sl_pod_row *row, const struct sl_json *pod)
{
    const char *node = row->at[SL_PODS_OF_NODE];
    const struct sl_node_row *known = sl_nodebook_find(u->nodes, node);
    struct sl_json *wl = workload_of(u, row);
    struct sl_pinned_sight sight = {
        .known = wl != NULL,
        .placed = wl != NULL && is_placed(wl),
        .assigned = wl != NULL && stands_on(wl, node),
        .node_known = known != NULL,
        .closed = known != NULL && !sl_node_takes(known, sl_json_path(pod, "spec.tolerations")),
        .asks = asks_for_place(pod),
        .gated = sl_json_len(sl_json_path(pod, "spec.schedulingGates")) > 0,
        .decided = wl != NULL && is_decided(wl)};
    bool late = sl_pod_places_is_lost(sight);
    sl_json_free(wl);
    return late;
}

static void fail_pod(struct sl_reconciler *r, struct sl_json *pod, int64_t now_ms)
{
    struct sl_note note = {.kind = SL_KIND_POD,
                           .about = pod,
                           .reason = "PodTerminatedByKueue",
                           .message = LATE_MESSAGE};
    struct sl_json *status = sl_json_path_make(pod, "status");
    sl_json_set_text(status, "phase", "Failed");
    sl_condition_set(status, "TerminatedByKueue", true, "UnschedulableOnAssignedNode", LATE_MESSAGE,
                     0, now_ms);
    write_pod(r, SL_VERB_UPDATE_STATUS, pod, &note);
}

static void reconcile_late(void *self, struct sl_reconciler *r, const struct sl_key *key,
                           int64_t now_ms)
{
    struct sl_ungater *u = self;
    bool absent;
    const struct sl_pod_row *row = sl_podbook_find(u->pods, r->current);
    if (row == NULL || !is_late_candidate(row)) {
        return;
    }
    struct sl_json *pod = sl_reconciler_get(r, SL_KIND_POD, key->ns, key->name, &absent);
    if (pod != NULL && is_late(u, row, pod)) {
        fail_pod(r, pod, now_ms);
    }
    sl_json_free(pod);
}

/* --- wiring -------------------------------------------------------------------------------------------- */

void sl_ungater_init(struct sl_ungater *u, const struct sl_client *client,
                     struct sl_recorder *events, const struct sl_podbook *pods,
                     const struct sl_nodebook *nodes, const struct sl_elastic_ungater *slices)
{
    SL_PRE(u != NULL);
    *u = (struct sl_ungater){.pods = pods, .nodes = nodes, .slices = slices};
    sl_reconciler_init(&u->workloads, "topology ungater", client, events);
    sl_reconciler_init(&u->late, "late pods", client, events);
    u->workloads.self = u->late.self = u;
    u->workloads.reconcile = reconcile_workload;
    u->late.reconcile = reconcile_late;
}

void sl_ungater_fini(struct sl_ungater *u)
{
    SL_PRE(u != NULL);
    sl_reconciler_fini(&u->workloads);
    sl_reconciler_fini(&u->late);
}

void sl_ungater_observe_workload(struct sl_ungater *u, const struct sl_json *wl, bool deleted)
{
    SL_PRE(u != NULL);
    char key[SL_KEY_SIZE];
    bool elastic = sl_is_elastic(wl);
    enum sl_pod_list list = elastic ? SL_PODS_OF_SLICES : SL_PODS_OF_WORKLOAD;
    sl_key_print(sl_object_namespace(wl), elastic ? sl_slice_name(wl) : sl_object_name(wl), key);
    const struct sl_pod_row *row = sl_podbook_first(u->pods, list, key);
    if (deleted || row == NULL) {
        return;
    }
    sl_work_add(u->workloads.work, key, SL_WORK_NOW);
    for (; row != NULL; row = row->next[list]) {
        if (is_late_candidate(row)) {
            sl_work_add(u->late.work, row->key, SL_WORK_NOW);
        }
    }
}

void sl_ungater_observe_pod(struct sl_ungater *u, const struct sl_json *pod, int64_t now_ms)
{
    char key[SL_KEY_SIZE];
    const char *slice = sl_object_annotation(pod, SL_ANNOTATION_SLICE);
    const char *workload =
        slice != NULL ? slice : sl_object_annotation(pod, SL_ANNOTATION_WORKLOAD);
    if (workload == NULL) {
        return;
    }
    sl_key_print(sl_object_namespace(pod), workload, key);
    sl_work_add(u->workloads.work, key, now_ms + SL_UNGATE_BATCH_MS);
    sl_key_print(sl_object_namespace(pod), sl_object_name(pod), key);
    const struct sl_pod_row *row = sl_podbook_find(u->pods, key);
    if (row != NULL && is_late_candidate(row)) {
        sl_work_add(u->late.work, key, now_ms + LATE_DELAY_MS);
    }
}

void sl_ungater_observe_node(struct sl_ungater *u, const char *node, int64_t now_ms)
{
    SL_PRE(u != NULL);
    const struct sl_pod_row *row = sl_podbook_first(u->pods, SL_PODS_OF_NODE, node);
    for (; row != NULL; row = row->next[SL_PODS_OF_NODE]) {
        if (is_late_candidate(row)) {
            sl_work_add(u->late.work, row->key, now_ms + LATE_DELAY_MS);
        }
    }
}
