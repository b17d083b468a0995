/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which part observes what, and in which order they act. */
#include "controllers/cluster/cluster.h"
#include "base/check.h"
#include <string.h>

void sl_cluster_init(struct sl_cluster *c, const struct sl_client *client,
                     struct sl_recorder *events, bool simulated)
{
    SL_PRE(c != NULL);
    *c = (struct sl_cluster){
        .pods = sl_podbook_new(), .nodes = sl_nodebook_new(), .simulated = simulated};
    sl_ungater_init(&c->ungater, client, events, c->pods, c->nodes, &c->slices);
    sl_elastic_ungater_init(&c->slices, client, events, c->pods);
    sl_recovery_init(&c->recovery, client, events, c->pods, c->nodes);
    sl_pods_init(&c->makers, client, events, c->pods);
    sl_scheduler_init(&c->scheduler, client, events, c->pods, c->nodes);
    sl_kubelet_init(&c->kubelet, client, events, c->pods, c->nodes);
    sl_dependencies_init(&c->dependencies, client, events);
    struct sl_reconciler *const parts[] = {
        &c->makers.jobs,  &c->ungater.workloads, &c->ungater.late,  &c->scheduler.pods,
        &c->kubelet.pods, &c->recovery.pods,     &c->slices.slices, &c->dependencies.jobs};
    memcpy(c->parts, parts, sizeof c->parts);
}

void sl_cluster_fini(struct sl_cluster *c)
{
    SL_PRE(c != NULL);
    sl_dependencies_fini(&c->dependencies);
    sl_kubelet_fini(&c->kubelet);
    sl_scheduler_fini(&c->scheduler);
    sl_pods_fini(&c->makers);
    sl_recovery_fini(&c->recovery);
    sl_elastic_ungater_fini(&c->slices);
    sl_ungater_fini(&c->ungater);
    sl_nodebook_free(c->nodes);
    sl_podbook_free(c->pods);
}

static void observe_pod(struct sl_cluster *c, const struct sl_json *pod, bool deleted,
                        int64_t now_ms)
{
    if (deleted) {
        sl_podbook_forget(c->pods, pod);
    } else {
        sl_podbook_observe(c->pods, pod);
    }
    sl_ungater_observe_pod(&c->ungater, pod, now_ms);
    sl_elastic_ungater_observe_pod(&c->slices, pod, now_ms);
    if (!deleted) {
        sl_recovery_observe_pod(&c->recovery, pod);
    }
    if (c->simulated && !c->processes) {
        sl_pods_observe_pod(&c->makers, pod);
        sl_scheduler_observe_pod(&c->scheduler, pod);
        sl_kubelet_observe_pod(&c->kubelet, pod);
    }
}

static void observe_node(struct sl_cluster *c, const struct sl_json *node, bool deleted,
                         int64_t now_ms)
{
    if (deleted) {
        sl_nodebook_forget(c->nodes, sl_object_name(node));
    } else {
        sl_nodebook_observe(c->nodes, node, now_ms);
    }
    sl_ungater_observe_node(&c->ungater, sl_object_name(node), now_ms);
    sl_recovery_observe_node(&c->recovery, sl_object_name(node));
    if (c->simulated && !c->processes) {
        sl_kubelet_observe_node(&c->kubelet, sl_object_name(node));
    }
}

void sl_cluster_observe(struct sl_cluster *c, enum sl_kind kind, const struct sl_json *object,
                        bool deleted, int64_t now_ms)
{
    switch (kind) {
    case SL_KIND_POD:
        observe_pod(c, object, deleted, now_ms);
        break;
    case SL_KIND_NODE:
        observe_node(c, object, deleted, now_ms);
        break;
    case SL_KIND_WORKLOAD:
        sl_ungater_observe_workload(&c->ungater, object, deleted);
        sl_elastic_ungater_observe_workload(&c->slices, object, deleted);
        break;
    case SL_KIND_JOB:
        if (c->simulated) {
            sl_pods_observe_job(&c->makers, object, deleted);
        }
        if (c->simulated) {
            sl_dependencies_observe(&c->dependencies, object);
        }
        break;
    default:
        break;
    }
}
