/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A small cluster over the fake client: nodes, a gated Job, its Workload and pods; world_turn lets all controllers of
 * pods see what has changed and act. */
#ifndef SL_TESTS_UNIT_CONTROLLERS_POD_WORLD_H
#define SL_TESTS_UNIT_CONTROLLERS_POD_WORLD_H
#include "base/clock.h"
#include "controllers/cluster/cluster.h"
#include "controllers/jobs/job.h"
#include "controllers/work/template.h"
#include "fake_client.h"
#include "t.h"
#include <stdlib.h>

#define T0 1700000000000

struct world {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_cluster cluster;
    struct sl_map *seen; /* pods and nodes that were shown: "kind/ns/name" -> a copy */
    int64_t now_ms;
};

static inline void world_init(struct world *w, bool simulated)
{
    *w = (struct world){.seen = sl_map_new(), .now_ms = T0};
    sl_clock_set_virtual(T0);
    fake_init(&w->fake);
    w->recorder = sl_recorder_new(&w->fake.client);
    sl_cluster_init(&w->cluster, &w->fake.client, w->recorder, simulated);
}

static inline void world_fini(struct world *w)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    fake_flush(&w->fake);
    sl_cluster_fini(&w->cluster);
    fake_fini(&w->fake);
    sl_recorder_free(w->recorder);
    while (sl_map_next(w->seen, &cursor, &key, &value)) {
        sl_json_free(value.pointer);
    }
    sl_map_free(w->seen);
}

static inline enum sl_kind world_kind(const char *key)
{
    return (enum sl_kind)strtol(key, NULL, 10);
}

/* Show what is new or different, and what is gone. */
static inline void world_show(struct world *w)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    union sl_map_value old;
    while (sl_map_next(w->fake.objects, &cursor, &key, &value)) {
        bool known = sl_map_get(w->seen, key, &old);
        if (!known || !sl_json_equal(old.pointer, value.pointer)) {
            struct sl_json *copy = sl_json_clone(value.pointer);
            sl_cluster_observe(&w->cluster, world_kind(key), copy, false, w->now_ms);
            if (known) {
                sl_json_free(old.pointer);
            }
            sl_map_put(w->seen, key, (union sl_map_value){.pointer = copy});
        }
    }
    cursor = 0;
    while (sl_map_next(w->seen, &cursor, &key, &old)) {
        if (!sl_map_get(w->fake.objects, key, &value)) {
            enum sl_kind kind = world_kind(key);
            sl_map_remove(w->seen, key, NULL);
            sl_cluster_observe(&w->cluster, kind, old.pointer, true, w->now_ms);
            sl_json_free(old.pointer);
        }
    }
}

/* At that time, until nothing is due any more (but at most so many rounds). */
static inline void world_turn(struct world *w, int64_t at_ms)
{
    w->now_ms = at_ms;
    sl_clock_set_virtual(at_ms);
    for (int round = 0; round < 50; round++) {
        world_show(w);
        sl_reconcilers_step(w->cluster.parts, SL_CLUSTER_PARTS, at_ms, 32);
        fake_flush(&w->fake);
        world_show(w);
        if (sl_reconcilers_due_ms(w->cluster.parts, SL_CLUSTER_PARTS) > at_ms) {
            return;
        }
    }
    fail_msg("the controllers of pods do not come to rest");
}

static inline void world_node(struct world *w, const char *name, const char *rack, bool ready)
{
    char text[600];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"rack\":\"%s\","
             "\"kubernetes.io/hostname\":\"%s\"}},\"spec\":{},\"status\":{"
             "\"allocatable\":{\"cpu\":\"2\",\"pods\":\"10\"},"
             "\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
             name, rack, name, ready ? "True" : "False");
    fake_put(&w->fake, SL_KIND_NODE, parse(text));
}

/* An unsuspended Job "n/j" of so many pods with one cpu each, gated by Workload "w"; `more` are annotations. */
static inline void world_job(struct world *w, int pods, bool indexed, const char *more)
{
    char text[1200];
    snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"j\",\"namespace\":\"n\",\"uid\":\"u\",\"annotations\":{%s}},"
        "\"spec\":{\"suspend\":false,\"parallelism\":%d,\"completions\":%d,"
        "\"completionMode\":\"%s\",\"template\":{\"metadata\":{"
        "\"labels\":{\"kueue.x-k8s.io/podset\":\"main\"},"
        "\"annotations\":{\"kueue.x-k8s.io/workload\":\"w\"}},\"spec\":{"
        "\"schedulingGates\":[{\"name\":\"kueue.x-k8s.io/topology\"}],"
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}}",
        more, pods, pods, indexed ? "Indexed" : "NonIndexed");
    fake_put(&w->fake, SL_KIND_JOB, parse(text));
}

/* The admitted Workload "n/w": `slices` of its topologyAssignment, whose one level is the host. */
static inline void world_workload(struct world *w, int pods, const char *slices,
                                  const char *unhealthy)
{
    char text[1600];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"},"
             "\"spec\":{\"podSets\":[{\"name\":\"main\",\"count\":%d,\"topologyRequest\":{"
             "\"required\":\"rack\",\"podIndexLabel\":\"" SL_LABEL_INDEX "\"}}]},"
             "\"status\":{\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\"}],"
             "\"unhealthyNodes\":[%s],\"admission\":{\"podSetAssignments\":[{\"name\":\"main\","
             "\"count\":%d,\"topologyAssignment\":{\"levels\":[\"kubernetes.io/hostname\"],"
             "\"slices\":[%s]}}]}}}",
             pods, unhealthy, pods, slices);
    fake_put(&w->fake, SL_KIND_WORKLOAD, parse(text));
}

#define SLICE(host, count)                                                                         \
    "{\"domainCount\":1,\"podCounts\":{\"universal\":" #count                                      \
    "},\"valuesPerLevel\":[{\"universal\":\"" host "\"}]}"

static inline struct sl_json *world_get(struct world *w, enum sl_kind kind, const char *name)
{
    return fake_find(&w->fake, kind, kind == SL_KIND_NODE ? "" : "n", name);
}

/* The i-th pod, oldest first; NULL when there are fewer. */
static inline struct sl_json *world_pod(struct world *w, unsigned i)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(w->fake.objects, &cursor, &key, &value)) {
        if (world_kind(key) == SL_KIND_POD && i-- == 0) {
            return value.pointer;
        }
    }
    return NULL;
}

static inline const char *world_host(struct world *w, unsigned i)
{
    const struct sl_json *selector = sl_json_path(world_pod(w, i), "spec.nodeSelector");
    return sl_json_text(sl_json_get(selector, "kubernetes.io/hostname"), "");
}

/* Pods of that phase on that node ("" = anywhere). */
static inline unsigned world_count(struct world *w, const char *phase, const char *node)
{
    unsigned n = 0;
    struct sl_json *pod;
    for (unsigned i = 0; (pod = world_pod(w, i)) != NULL; i++) {
        bool here =
            node[0] == '\0' || strcmp(sl_json_path_text(pod, "spec.nodeName", ""), node) == 0;
        n += here && strcmp(sl_json_path_text(pod, "status.phase", "Pending"), phase) == 0;
    }
    return n;
}
#endif
