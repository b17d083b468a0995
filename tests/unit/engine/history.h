/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Random histories in a little world: workloads come, run, are stopped and go; queues, quotas,
 * flavors and cohorts change under them. One seed, one history. */
#ifndef SL_TESTS_ENGINE_HISTORY_H
#define SL_TESTS_ENGINE_HISTORY_H
#include "cluster.h"

struct history {
    struct world *w;
    uint64_t state;
    unsigned made;
    bool topology; /* nodes come and go, too, and a queue places its pods on them */
};

static inline unsigned history_draw(struct history *h, unsigned bound)
{
    h->state = h->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(h->state >> 33) % bound;
}

static inline void history_begin(struct history *h, struct world *w, uint64_t seed)
{
    *h = (struct history){.w = w, .state = seed * 0x9e3779b97f4a7c15u + 1};
    world_add_flavor(w, "spot", "{}");
    world_add_flavor(w, "big",
                     "{\"nodeLabels\":{\"size\":\"big\"},\"nodeTaints\":[{\"key\":\"t\",\"effect\":"
                     "\"NoSchedule\"}]}");
    world_add(w, SL_KIND_NAMESPACE, "{\"metadata\":{\"name\":\"team\"}}");
    world_add_cluster_queue(
        w, "cq0", "spot", "6",
        ",\"admissionScope\":{\"admissionMode\":\"UsageBasedAdmissionFairSharing\"},\"cohortName\":"
        "\"c\",\"preemption\":{\"withinClusterQueue\":"
        "\"LowerPriority\",\"reclaimWithinCohort\":\"Any\"}");
    world_add_cluster_queue(
        w, "cq1", "spot", "4",
        ",\"cohortName\":\"c\",\"queueingStrategy\":\"StrictFIFO\","
        "\"preemption\":{\"withinClusterQueue\":\"LowerOrNewerEqualPriority\"}");
    world_add_check(w, "check");
    world_add_cluster_queue(
        w, "cq2", "big", "5",
        ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"check\"}]}");
    for (int i = 0; i < 3; i++) {
        char lq[8];
        char cq[8];
        (void)snprintf(lq, sizeof lq, "lq%d", i);
        (void)snprintf(cq, sizeof cq, "cq%d", i);
        world_add_local_queue(w, "team", lq, cq);
    }
    sl_engine_synced(w->engine, w->now_ms);
}

static inline void history_touch_node(struct history *h)
{
    static const char *const more[] = {"", "", "", "\"unschedulable\":true",
                                       "\"taints\":[{\"key\":\"t\",\"effect\":\"NoSchedule\"}]"};
    char name[8];
    char rack[16];
    unsigned i = history_draw(h, 6);
    (void)snprintf(name, sizeof name, "n%u", i);
    (void)snprintf(rack, sizeof rack, "r%u", history_draw(h, 12) == 0 ? 9 : i / 2);
    if (history_draw(h, 5) == 0 && world_get(h->w, SL_KIND_NODE, "", name) != NULL) {
        world_delete(h->w, SL_KIND_NODE, "", name);
    } else {
        cluster_put_node(h->w, name, i < 4 ? "b0" : "b1", rack, history_draw(h, 4) == 0 ? "2" : "4",
                         more[history_draw(h, 5)]);
    }
}

static inline void history_touch_pod(struct history *h)
{
    static const char *const phases[] = {"Running", "Running", "Succeeded"};
    char name[8];
    char node[8];
    (void)snprintf(name, sizeof name, "p%u", history_draw(h, 4));
    (void)snprintf(node, sizeof node, "n%u", history_draw(h, 6));
    cluster_put_pod(h->w, name, node, "1500m", phases[history_draw(h, 3)]);
}

/* After history_begin: queue "lq4" of nodes "n0" to "n5", in racks of two, in two blocks. */
static inline void history_add_topology(struct history *h)
{
    h->topology = true;
    cluster_add_topology(h->w, "topo");
    world_add_flavor(h->w, "tas", "{\"topologyName\":\"topo\"}");
    world_add_flavor(h->w, "too",
                     "{\"topologyName\":\"topo\",\"nodeLabels\":{\"block\":\"b0\"},"
                     "\"tolerations\":[{\"operator\":\"Exists\"}]}");
    world_add(h->w, SL_KIND_CLUSTER_QUEUE,
              "{\"metadata\":{\"name\":\"cq4\"},\"spec\":{\"namespaceSelector\":{},"
              "\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"},\"resourceGroups\":[{"
              "\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"tas\",\"resources\":[{"
              "\"name\":\"cpu\",\"nominalQuota\":\"14\"}]},{\"name\":\"too\",\"resources\":[{"
              "\"name\":\"cpu\",\"nominalQuota\":\"3\"}]}]}]}}");
    world_add_local_queue(h->w, "team", "lq4", "cq4");
    for (int i = 0; i < 12; i++) {
        history_touch_node(h);
    }
}

/* What some ask of the topology, whatever queue they are in. */
static inline void history_ask_topology(struct history *h, struct sl_json *pod_set)
{
    static const char *const asks[] = {
        "{\"required\":\"rack\"}",
        "{\"preferred\":\"block\"}",
        "{\"unconstrained\":true}",
        "{\"required\":\"block\",\"podSetSliceRequiredTopology\":\"kubernetes.io/hostname\","
        "\"podSetSliceSize\":1}",
    };
    unsigned which = history_draw(h, 6);
    if (which < 4) {
        sl_json_set(pod_set, "topologyRequest", world_parse(asks[which]));
    }
    if (history_draw(h, 4) == 0) {
        sl_json_set(sl_json_path(pod_set, "template.spec"), "nodeSelector",
                    world_parse("{\"block\":\"b0\"}"));
    }
}

static inline void history_add_workload(struct history *h)
{
    char name[32];
    char queue[8];
    (void)snprintf(name, sizeof name, "w%u", h->made++);
    unsigned at = history_draw(h, h->topology ? 8 : 4); /* lq3 does not exist */
    (void)snprintf(queue, sizeof queue, "lq%u", at > 4 ? 4 : at);
    struct sl_json *o =
        world_new_workload("team", name, queue, 1 + (int)history_draw(h, 3), "1500m");
    struct sl_json *spec = sl_json_get(o, "spec");
    sl_json_set_int(spec, "priority", history_draw(h, 3));
    if (history_draw(h, 8) == 0) {
        sl_json_set_text(sl_json_path_make(o, "metadata.annotations"),
                         "kueue.x-k8s.io/admission-gated-by", "g");
    }
    if (history_draw(h, 2) == 0) {
        sl_json_set(sl_json_path(o, "spec.podSets.0.template.spec"), "tolerations",
                    world_parse("[{\"operator\":\"Exists\"}]"));
    }
    if (history_draw(h, 6) == 0) {
        sl_json_set_int(spec, "maximumExecutionTimeSeconds", 40);
    }
    if (history_draw(h, 4) == 0) {
        sl_json_set_int(sl_json_path(o, "spec.podSets.0"), "minCount", 1);
    }
    if (at >= 4) {
        history_ask_topology(h, sl_json_path(o, "spec.podSets.0"));
    }
    (void)world_put(h->w, SL_KIND_WORKLOAD, o, NULL);
}

static inline struct sl_json *history_pick(struct history *h)
{
    char name[32];
    if (h->made == 0) {
        return NULL;
    }
    (void)snprintf(name, sizeof name, "w%u", history_draw(h, h->made));
    return world_get(h->w, SL_KIND_WORKLOAD, "team", name);
}

/* Its job reports on its pods, and some of them end for good. */
static inline void history_report_pods(struct history *h, const struct sl_json *o)
{
    bool was = sl_condition_true(o, "PodsReady");
    struct sl_json *copy = sl_json_clone(o);
    struct sl_json *status = sl_json_path_make(copy, "status");
    (void)sl_condition_set(status, "PodsReady", !was, was ? "WaitForRecovery" : "Started", "pods",
                           1, h->w->now_ms);
    if (history_draw(h, 3) == 0) {
        int64_t pods = sl_json_path_int(o, "spec.podSets.0.count", 1);
        int64_t ended = sl_json_path_int(status, "reclaimablePods.0.count", 0);
        sl_json_set(status, "reclaimablePods", world_parse("[{\"name\":\"main\",\"count\":1}]"));
        sl_json_set_int(sl_json_path(status, "reclaimablePods.0"), "count",
                        ended < pods ? ended + 1 : pods);
    }
    (void)world_put(h->w, SL_KIND_WORKLOAD, copy, NULL);
}

static inline void history_touch_workload(struct history *h)
{
    struct sl_json *o = history_pick(h);
    if (o == NULL) {
        return;
    }
    const char *name = sl_object_name(o);
    bool evicted = sl_condition_true(o, "Evicted") && sl_condition_true(o, "QuotaReserved");
    bool finished = sl_condition_true(o, "Finished");
    switch (history_draw(h, 8)) {
    case 5:
        if (sl_condition_true(o, "Admitted") && !evicted && !finished) {
            history_report_pods(h, o);
        }
        break;
    case 0:
        if (sl_condition_true(o, "Admitted") && !evicted) {
            struct sl_json *copy = sl_json_clone(o);
            (void)sl_condition_set(sl_json_path_make(copy, "status"), "Finished", true, "Succeeded",
                                   "done", 1, h->w->now_ms);
            (void)world_put(h->w, SL_KIND_WORKLOAD, copy, NULL);
        }
        break;
    case 1:
        world_delete(h->w, SL_KIND_WORKLOAD, "team", name);
        break;
    case 2:
        if (!finished) {
            /* Switched on again before the job has stopped leaves no trace in the object: not here.
             */
            bool active = sl_json_path_bool(o, "spec.active", true);
            if (active || !evicted) {
                (void)world_patch(h->w, SL_KIND_WORKLOAD, "team", name,
                                  active ? "{\"spec\":{\"active\":false}}"
                                         : "{\"spec\":{\"active\":true}}");
            }
        }
        break;
    case 3:
        (void)world_patch(
            h->w, SL_KIND_WORKLOAD, "team", name,
            "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/admission-gated-by\":null}}}");
        break;
    case 4:
        if (sl_json_path(o, "status.admissionChecks.0") != NULL && !finished) {
            static const char *const states[] = {"Ready", "Ready", "Retry", "Rejected"};
            struct sl_json *copy = sl_json_clone(o);
            sl_json_set_text(sl_json_path(copy, "status.admissionChecks.0"), "state",
                             states[history_draw(h, 4)]);
            (void)world_put(h->w, SL_KIND_WORKLOAD, copy, NULL);
        }
        break;
    default:
        if (evicted) {
            sl_engine_job_stopped(h->w->engine, o, h->w->now_ms);
        }
        break;
    }
}

static inline void history_touch_queue(struct history *h)
{
    static const char *const stops[] = {"None", "None", "Hold", "HoldAndDrain"};
    char name[8];
    char patch[200];
    unsigned i = history_draw(h, 3);
    bool cluster = history_draw(h, 2) == 0;
    (void)snprintf(name, sizeof name, "%s%u", cluster ? "cq" : "lq", i);
    (void)snprintf(patch, sizeof patch, "{\"spec\":{\"stopPolicy\":\"%s\"}}",
                   stops[history_draw(h, 4)]);
    enum sl_kind kind = cluster ? SL_KIND_CLUSTER_QUEUE : SL_KIND_LOCAL_QUEUE;
    if (world_get(h->w, kind, cluster ? "" : "team", name) != NULL) {
        (void)world_patch(h->w, kind, cluster ? "" : "team", name, patch);
    }
}

static inline void history_remake_queue(struct history *h)
{
    char name[8];
    char cq[8];
    unsigned i = history_draw(h, 3);
    (void)snprintf(name, sizeof name, "lq%u", i);
    (void)snprintf(cq, sizeof cq, "cq%u", i);
    if (history_draw(h, 2) == 0) {
        if (world_get(h->w, SL_KIND_LOCAL_QUEUE, "team", name) != NULL) {
            world_delete(h->w, SL_KIND_LOCAL_QUEUE, "team", name);
        } else {
            world_add_local_queue(h->w, "team", name, cq);
        }
    } else if (world_get(h->w, SL_KIND_CLUSTER_QUEUE, "", cq) != NULL) {
        world_delete(h->w, SL_KIND_CLUSTER_QUEUE, "", cq);
    } else {
        world_add_cluster_queue(h->w, cq, i == 2 ? "big" : "spot", "5",
                                i == 2 ? "" : ",\"cohortName\":\"c\"");
    }
}

static inline void history_touch_quota(struct history *h)
{
    char text[600];
    char name[8];
    (void)snprintf(name, sizeof name, "cq%u", history_draw(h, 3));
    struct sl_json *o = world_get(h->w, SL_KIND_CLUSTER_QUEUE, "", name);
    if (history_draw(h, 3) == 0) {
        const char *child = history_draw(h, 2) == 0 ? "c" : "d";
        const char *parent = history_draw(h, 2) == 0 ? "d" : "c";
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"parentName\":\"%s\"}}", child,
                       parent);
        (void)world_put(h->w, SL_KIND_COHORT, world_parse(text), NULL); /* sometimes a cycle */
    } else if (o != NULL) {
        struct sl_json *copy = sl_json_clone(o);
        sl_json_set_int(sl_json_path(copy, "spec.resourceGroups.0.flavors.0.resources.0"),
                        "nominalQuota", history_draw(h, 9));
        (void)world_put(h->w, SL_KIND_CLUSTER_QUEUE, copy, NULL);
    }
}

static inline void history_step(struct history *h)
{
    unsigned what = history_draw(h, h->topology ? 24 : 20);
    if (what < 7) {
        history_add_workload(h);
    } else if (what < 15) {
        history_touch_workload(h);
    } else if (what < 17) {
        history_touch_queue(h);
    } else if (what == 17) {
        history_remake_queue(h);
    } else if (what == 18) {
        history_touch_quota(h);
    } else if (what == 19) {
        h->w->now_ms += history_draw(h, 20000);
        sl_clock_set_virtual(h->w->now_ms);
    } else if (what < 23) {
        history_touch_node(h);
    } else {
        history_touch_pod(h);
    }
}
#endif
