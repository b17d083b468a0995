/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A cluster for scenarios of topology: racks of nodes, a flavor on them, one queue. Objects go in and
 * patches come out as in tests/unit/engine/world.h; beside it: where pods stand, which nodes fail. */
#ifndef SL_TESTS_SCENARIOS_SCENE_H
#define SL_TESTS_SCENARIOS_SCENE_H
#include "../unit/engine/world.h"
#include "api/objects/topology_assignment.h"
#include "kernel/lifecycle/second_pass.h"

#define RACK "example.com/rack"
#define SECOND 1000
#define SETTLE_MS 200 /* marks of failed nodes are gathered for up to 100 ms */

/* --- the cluster ------------------------------------------------------------------------------ */

static inline void scene_put_node(struct world *w, const char *name, const char *rack, int cpu,
                                  const char *ready, const char *taints)
{
    char text[1024];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"kubernetes.io/hostname\":\"%s\",\"" RACK
        "\":\"%s\",\"tas\":\"true\"}},\"spec\":{\"taints\":%s},\"status\":{\"allocatable\":{"
        "\"cpu\":\"%d\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}"
        "}",
        name, name, rack, taints, cpu, ready);
    world_add(w, SL_KIND_NODE, text);
}

static inline void scene_add_node(struct world *w, const char *name, const char *rack, int cpu)
{
    scene_put_node(w, name, rack, cpu, "True", "[]");
}

static inline void scene_delete_node(struct world *w, const char *name)
{
    world_delete(w, SL_KIND_NODE, "", name);
}

/* Topology "racks", flavor "tas" on it, ClusterQueue "cq" with so much cpu, LocalQueue "team/lq". */
static inline void scene_add_queue(struct world *w, const char *cpu, const char *more)
{
    world_add(w, SL_KIND_TOPOLOGY,
              "{\"metadata\":{\"name\":\"racks\"},\"spec\":{\"levels\":[{\"nodeLabel\":\"" RACK
              "\"},{\"nodeLabel\":\"kubernetes.io/hostname\"}]}}");
    world_add_flavor(w, "tas", "{\"nodeLabels\":{\"tas\":\"true\"},\"topologyName\":\"racks\"}");
    world_add_cluster_queue(w, "cq", "tas", cpu, more);
    world_add_local_queue(w, "team", "lq", "cq");
}

/* An AdmissionCheck "prov" of the controller that makes ProvisioningRequests. */
static inline void scene_add_check(struct world *w, const char *name)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"controllerName\":"
                   "\"kueue.x-k8s.io/provisioning-request\"},\"status\":{\"conditions\":[{"
                   "\"type\":\"Active\",\"status\":\"True\",\"reason\":\"Active\"}]}}",
                   name);
    world_add(w, SL_KIND_ADMISSION_CHECK, text);
}

#define CHECKED ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"prov\"}]}"

/* Two racks of two nodes, 2 cpu each: r1 has x1 and x2, r2 has x3 and x4. */
static inline void scene_add_racks(struct world *w)
{
    scene_add_node(w, "x1", "r1", 2);
    scene_add_node(w, "x2", "r1", 2);
    scene_add_node(w, "x3", "r2", 2);
    scene_add_node(w, "x4", "r2", 2);
}

/* What metrics say of second passes since the engine was opened, and how many are awaited. */
static inline void scene_expect_passes(struct world *w, unsigned placed, unsigned failed,
                                       unsigned replaced, unsigned armed)
{
    struct sl_engine_counters c;
    sl_engine_count(w->engine, &c);
    assert_int_equal(c.passes_placed, placed);
    assert_int_equal(c.passes_failed, failed);
    assert_int_equal(c.replacements, replaced);
    assert_int_equal(c.passes_armed, armed);
}

/* --- workloads -------------------------------------------------------------------------------- */

/* `request` is the pod set's topologyRequest as JSON. */
static inline struct sl_json *scene_new(const char *name, int count, const char *request)
{
    struct sl_json *o = world_new_workload("team", name, "lq", count, "1");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest", world_parse(request));
    return o;
}

#define REQUIRED_RACK "{\"required\":\"" RACK "\"}"
#define PREFERRED_RACK "{\"preferred\":\"" RACK "\"}"
#define UNCONSTRAINED "{\"unconstrained\":true}"

static inline void scene_add(struct world *w, const char *name, int count, const char *request,
                             int priority)
{
    struct sl_json *o = scene_new(name, count, request);
    sl_json_set_int(sl_json_get(o, "spec"), "priority", priority);
    (void)world_put(w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(w);
}

static inline void scene_set_check(struct world *w, const char *name, const char *state)
{
    struct sl_json *copy = sl_json_clone(world_workload(w, name));
    struct sl_json *check = sl_json_path(copy, "status.admissionChecks.0");
    assert_non_null(check);
    sl_json_set_text(check, "state", state);
    (void)world_put(w, SL_KIND_WORKLOAD, copy, NULL);
    world_settle(w);
}

/* A pod of the workload that runs on the node. */
static inline void scene_put_pod(struct world *w, const char *name, const char *workload,
                                 const char *node, const char *phase)
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"team\",\"name\":\"%s\",\"labels\":{"
                   "\"kueue.x-k8s.io/podset\":\"main\",\"kueue.x-k8s.io/tas\":\"true\"},"
                   "\"annotations\":{\"kueue.x-k8s.io/workload\":\"%s\",\"kueue.x-k8s.io/"
                   "podset-required-topology\":\"" RACK "\"}},"
                   "\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\",\"resources\":{"
                   "\"requests\":{\"cpu\":\"1\"}}}]},\"status\":{\"phase\":\"%s\"}}",
                   name, workload, node, phase);
    world_add(w, SL_KIND_POD, text);
    world_settle(w);
}

/* Somebody else marks the node in the status. */
static inline void scene_mark(struct world *w, const char *name, const char *node)
{
    char patch[200];
    (void)snprintf(patch, sizeof patch, "{\"status\":{\"unhealthyNodes\":[{\"name\":\"%s\"}]}}",
                   node);
    (void)world_patch(w, SL_KIND_WORKLOAD, "team", name, patch);
}

static inline void scene_stop(struct world *w, const char *name)
{
    sl_engine_job_stopped(w->engine, world_workload(w, name), w->now_ms);
    world_settle(w);
}

/* --- looking ---------------------------------------------------------------------------------- */

static inline int scene_by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Where the pods of the first pod set stand: "x1=2 x3=1", by node name; "" = nowhere. */
static inline const char *scene_where(struct world *w, const char *workload)
{
    static char out[2048];
    static char rows[64][96];
    struct sl_assignment_reader r;
    size_t count = 0;
    const struct sl_json *assignment = sl_json_path(
        world_workload(w, workload), "status.admission.podSetAssignments.0.topologyAssignment");
    out[0] = '\0';
    if (assignment == NULL) {
        return out;
    }
    sl_assignment_reader_start(&r, assignment);
    while (count < 64 && sl_assignment_reader_next(&r)) {
        (void)snprintf(rows[count++], sizeof rows[0], "%s=%u", r.values[r.level_count - 1],
                       r.count);
    }
    qsort(rows, count, sizeof rows[0], scene_by_text);
    for (size_t i = 0; i < count; i++) {
        size_t at = strlen(out);
        (void)snprintf(out + at, sizeof out - at, "%s%s", i == 0 ? "" : " ", rows[i]);
    }
    return out;
}

/* Names of the failed nodes that the status marks: "x1,x2". */
static inline const char *scene_marked(struct world *w, const char *workload)
{
    static char out[512];
    const struct sl_json *list = sl_json_path(world_workload(w, workload), "status.unhealthyNodes");
    out[0] = '\0';
    for (size_t i = 0; i < sl_json_len(list); i++) {
        size_t at = strlen(out);
        (void)snprintf(out + at, sizeof out - at, "%s%s", i == 0 ? "" : ",",
                       sl_json_path_text(sl_json_at(list, i), "name", ""));
    }
    return out;
}

static inline const char *scene_delayed(struct world *w, const char *workload)
{
    return sl_json_path_text(world_workload(w, workload),
                             "status.admission.podSetAssignments.0.delayedTopologyRequest", "");
}

/* When the next second pass is due; INT64_MAX = none is armed. */
static inline int64_t scene_next_pass(void)
{
    int64_t due = INT64_MAX;
    for (uint32_t i = 0; i < sl_second_pass_count(); i++) {
        int64_t at = sl_second_pass_due_ms(sl_second_pass_at(i));
        due = at < due ? at : due;
    }
    return due;
}

/* Nothing about quota or admission has changed, and nobody was evicted. */
static inline void scene_expect_untouched(struct world *w, const char *workload)
{
    world_expect(w, workload, "QuotaReserved", "True", "QuotaReserved");
    world_expect(w, workload, "Admitted", "True", "Admitted");
    assert_false(sl_condition_true(world_workload(w, workload), "Evicted"));
    assert_null(sl_condition_find(world_workload(w, workload), "Requeued"));
}
#endif
