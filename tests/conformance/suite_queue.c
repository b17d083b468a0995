/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Small questions about queues, each asked of the part of the program that answers it. */
#include "base/clock.h"
#include "conformance.h"
#include "engine/decisions/standing.h"
#include "kernel/lifecycle/second_pass.h"
#include "policy/cycle/cycle_steps.h"
#include "policy/queues/heads.h"
#include "policy/queues/lanes.h"
#include <stdio.h>
#include <string.h>

/* --- a queue for the case's workloads --------------------------------------------------------- */

static struct sl_json *parse(const char *text)
{
    struct sl_error e = {0};
    return sl_json_parse(text, strlen(text), &e);
}

static struct sl_json *new_cluster_queue(const char *strategy, bool takes_namespace)
{
    struct sl_json *q = parse(
        "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"ClusterQueue\","
        "\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},"
        "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{"
        "\"name\":\"default\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"1\"}]}]}]}}");
    sl_json_set_text(sl_json_get(q, "spec"), "queueingStrategy", strategy);
    if (!takes_namespace) {
        sl_json_set_text(sl_json_path_make(q, "spec.namespaceSelector.matchLabels"), "no", "such");
    }
    return q;
}

/* The case with a queue in which all its Workloads wait. */
static struct sl_json *new_root_with_queue(const struct conf_case *c)
{
    struct sl_json *root = sl_json_clone(c->root);
    struct sl_json *objects = sl_json_get(root, "objects");
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        struct sl_json *o = sl_json_at(objects, i);
        sl_json_set_text(sl_json_path_make(o, "metadata"), "namespace", "default");
        sl_json_set_text(sl_json_path_make(o, "spec"), "queueName", "lq");
    }
    struct sl_json *queue = sl_object_new(SL_KIND_LOCAL_QUEUE, "default", "lq");
    sl_json_set_text(sl_json_path_make(queue, "spec"), "clusterQueue", "cq");
    struct sl_json *flavor = sl_object_new(SL_KIND_RESOURCE_FLAVOR, "", "default");
    sl_json_set(flavor, "spec", sl_json_new_map());
    sl_json_append(objects, queue);
    sl_json_append(objects, flavor);
    sl_json_append(objects, sl_object_new(SL_KIND_NAMESPACE, "", "default"));
    const char *strategy = sl_json_path_text(c->input, "queueingStrategy", "BestEffortFIFO");
    const char *reason = sl_json_path_text(c->input, "reason", "");
    sl_json_append(objects, new_cluster_queue(strategy, strcmp(reason, "NamespaceMismatch") != 0));
    return root;
}

static sl_workload_id first_workload(const struct conf_world *w)
{
    char key[512];
    conf_key(sl_json_at(w->store.workloads, 0), key);
    return conf_workload_id(w, key);
}

/* --- the questions ---------------------------------------------------------------------------- */

static void run_backoff(const struct conf_case *c)
{
    struct conf_world w;
    conf_world_open(&w, c, NULL);
    conf_expect_bool("result", sl_json_path_bool(c->expect, "result", false),
                     !sl_queues_in_backoff(first_workload(&w), w.now_ms));
}

static void run_pop(const struct conf_case *c)
{
    struct conf_world w;
    struct conf_case own = *c;
    char expected[300];
    struct sl_json *root = new_root_with_queue(c);
    own.root = root;
    conf_world_open(&w, &own, NULL);
    uint32_t count = sl_queues_list(conf_queue_node(&w, "cq"));
    sl_workload_id first = count == 0 ? SL_NO_ID : sl_queues_listed(0);
    (void)snprintf(expected, sizeof expected, "default/%s",
                   sl_json_path_text(c->expect, "first", ""));
    conf_expect_text("first", expected,
                     first == SL_NO_ID ? "nothing"
                                       : sl_intern_name(w.g->names, SL_INTERN_WORKLOAD, first));
    sl_json_free(root);
}

static void expect_order(const struct conf_case *c, struct conf_world *w, const char *strategy)
{
    char time[32];
    w->g->settings.policy.requeue_at_eviction = strcmp(strategy, "Eviction") == 0;
    sl_clock_format(sl_standing_key(w->g, first_workload(w)).queued_at_ms, time);
    conf_expect_text(strategy, sl_json_path_text(c->expect, strategy, ""), time);
}

static void run_order(const struct conf_case *c)
{
    struct conf_world w;
    conf_world_open(&w, c, NULL);
    expect_order(c, &w, "Creation");
    expect_order(c, &w, "Eviction");
}

/* --- back from the cycle ---------------------------------------------------------------------- */

struct back {
    const char *reason; /* why Kueue's scheduler requeues */
    enum sl_back why;
};
static const struct back backs[] = {{"", SL_BACK_INVALID},
                                    {"NoFit", SL_BACK_NO_FIT},
                                    {"PreemptionNoCandidates", SL_BACK_NO_VICTIMS},
                                    {"FailedAfterNomination", SL_BACK_SKIPPED},
                                    {"PreemptionFailed", SL_BACK_SKIPPED},
                                    {"PendingPreemption", SL_BACK_PREEMPTING},
                                    {"PreemptionGated", SL_BACK_GATED},
                                    {"NamespaceMismatch", SL_BACK_OUTSIDER}};

/* As if the cycle had tried the first of its queue's flavors, and others were left. */
static void leave_flavors(const struct conf_world *w, sl_workload_id id, sl_qnode_id node)
{
    sl_assignment = (struct sl_assignment){.workload = id, .cluster_queue = node};
    sl_assignment.choices[0].cell = conf_cell(w, node, "default", "cpu");
    sl_assignment.choices[0].tried_flavor = 0;
    sl_assignment.choice_count = 1;
    sl_flavors_remember(1);
}

static void put_back(const struct conf_case *c, const struct conf_world *w, sl_qnode_id node)
{
    const char *reason = sl_json_path_text(c->input, "reason", "");
    sl_queues_flush();
    sl_workload_id id = sl_queues_take(node);
    sl_cycle_now_ms = w->now_ms;
    sl_cycle_begin_outcome(id);
    if (sl_json_path_bool(c->input, "pendingFlavors", false)) {
        leave_flavors(w, id, node);
    }
    for (size_t i = 0; i < sizeof backs / sizeof backs[0]; i++) {
        if (strcmp(backs[i].reason, reason) == 0) {
            sl_cycle_put_back(backs[i].why);
            return;
        }
    }
    conf_differ("reason", "a known one", reason);
}

static void run_requeue(const struct conf_case *c)
{
    struct conf_world w;
    struct conf_case own = *c;
    struct sl_json *root = new_root_with_queue(c);
    own.root = root;
    conf_world_open(&w, &own, NULL);
    sl_qnode_id node = conf_queue_node(&w, "cq");
    put_back(c, &w, node);
    sl_workload_id id = first_workload(&w);
    sl_lane_id lane = sl_lanes_of(id);
    void *it = NULL;
    const char *what;
    struct sl_json *expected;
    while (sl_json_next(c->expect, &it, &what, &expected)) {
        bool got = strcmp(what, "inadmissible") == 0 ? !sl_queues_awaits_turn(id)
                   : strcmp(what, "sticky") == 0     ? sl_heads_is_sticky(node, id)
                                                     : lane != SL_NO_ID && sl_lanes_is_shut(lane);
        conf_expect_bool(what, sl_json_bool(expected, false), got);
    }
    sl_json_free(root);
}

/* The topology that its Workload stands on: the flavor and the queue that the case's admission names. */
static struct sl_json *new_root_with_topology(const struct conf_case *c)
{
    struct sl_json *root = sl_json_clone(c->root);
    struct sl_json *objects = sl_json_get(root, "objects");
    sl_json_append(objects,
                   parse("{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Topology\","
                         "\"metadata\":{\"name\":\"nodes\"},\"spec\":{\"levels\":[{"
                         "\"nodeLabel\":\"kubernetes.io/hostname\"}]}}"));
    sl_json_append(objects,
                   parse("{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"ResourceFlavor\","
                         "\"metadata\":{\"name\":\"tas-default\"},\"spec\":{\"topologyName\":"
                         "\"nodes\"}}"));
    struct sl_json *queue = new_cluster_queue("BestEffortFIFO", true);
    sl_json_set_text(sl_json_get(queue, "metadata"), "name", "tas-main");
    sl_json_set_text(sl_json_path(queue, "spec.resourceGroups.0.flavors.0"), "name", "tas-default");
    sl_json_append(objects, queue);
    struct sl_json *local = sl_object_new(SL_KIND_LOCAL_QUEUE, "default", "tas-main");
    sl_json_set_text(sl_json_path_make(local, "spec"), "clusterQueue", "tas-main");
    sl_json_append(objects, local);
    return root;
}

static void run_second_pass(const struct conf_case *c)
{
    struct conf_world w;
    struct sl_json *root = new_root_with_topology(c);
    struct conf_case with_topology = *c;
    with_topology.root = root;
    conf_world_open(&w, &with_topology, NULL);
    conf_expect_bool("result", sl_json_path_bool(c->expect, "result", false),
                     sl_second_pass_needed(first_workload(&w)));
    sl_json_free(root);
}

void conf_run_queue(const struct conf_case *c)
{
    static const struct {
        const char *op;
        void (*run)(const struct conf_case *c);
    } ops[] = {
        {"backoffWaitingTimeExpired", run_backoff}, {"pop", run_pop},
        {"requeueIfNotPresent", run_requeue},       {"requeueMarksSchedulingHash", run_requeue},
        {"queueOrderTimestamp", run_order},         {"needsSecondPass", run_second_pass}};
    const char *op = sl_json_path_text(c->input, "op", "");
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (strcmp(ops[i].op, op) == 0) {
            ops[i].run(c);
            return;
        }
    }
    conf_differ("op", "a known one", op);
}
