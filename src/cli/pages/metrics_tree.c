/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Metrics of the tree of cohorts. */
#include "cli/pages/metrics.h"
#include <inttypes.h>

struct family {
    struct sl_buf *out;
    const struct sl_workload_meters *meters;
    const char *metric, *role;
    enum sl_kind kind; /* the series' labels */
    bool reserved;     /* of amounts: what is reserved, else the quota */
};

static void print_place(void *context, const struct sl_tree_qnode *n)
{
    const struct family *f = context;
    if (n->kind == f->kind) {
        sl_buf_print(
            f->out,
            "%s{%s=\"%s\",parent_cohort=\"%s\",root_cohort=\"%s\",replica_role=\"%s\"%s} 1\n",
            f->metric, n->kind == SL_KIND_COHORT ? "cohort" : "cluster_queue", n->name, n->parent,
            n->root, f->role, sl_workload_meters_custom(f->meters, n->kind, "", n->name));
    }
}

static void print_admitted(void *context, const struct sl_tree_qnode *n)
{
    const struct family *f = context;
    if (n->kind == f->kind) {
        sl_buf_print(f->out, "%s{cohort=\"%s\",replica_role=\"%s\"} %" PRIu32 "\n", f->metric,
                     n->name, f->role, n->admitted);
    }
}

/* What is zero is not shown, as in Kueue. */
static void print_amount(void *context, const struct sl_cohort_quota *q)
{
    const struct family *f = context;
    int64_t amount = f->reserved ? q->reserved : q->quota;
    if (amount <= 0) {
        return;
    }
    sl_buf_print(f->out, "%s{cohort=\"%s\",flavor=\"%s\",resource=\"%s\",replica_role=\"%s\"%s} ",
                 f->metric, q->cohort, q->flavor, q->resource, f->role,
                 sl_workload_meters_custom(f->meters, SL_KIND_COHORT, "", q->cohort));
    if (amount >= SL_AMOUNT_UNLIMITED) {
        sl_buf_text(f->out, "+Inf\n");
        return;
    }
    sl_metrics_amount(f->out, amount, q->resource);
}

void sl_metrics_tree(const struct sl_engine *engine, const struct sl_workload_meters *meters,
                     const char *role, struct sl_buf *out)
{
    struct family cohorts = {out, meters, "kueue_cohort_info", role, SL_KIND_COHORT, false};
    struct family queues = {out,  meters, "kueue_cluster_queue_info", role, SL_KIND_CLUSTER_QUEUE,
                            false};
    struct family admitted = {
        out, meters, "kueue_cohort_subtree_admitted_active_workloads", role, SL_KIND_COHORT, false};
    struct family quota = {out, meters, "kueue_cohort_subtree_quota", role, SL_KIND_COHORT, false};
    struct family reserved = {out,  meters,         "kueue_cohort_subtree_resource_reservations",
                              role, SL_KIND_COHORT, true};
    sl_metrics_help(out, cohorts.metric, "gauge", "1, with the Cohort's place in the tree");
    sl_engine_tree(engine, print_place, &cohorts);
    sl_metrics_help(out, queues.metric, "gauge", "1, with the ClusterQueue's place in the tree");
    sl_engine_tree(engine, print_place, &queues);
    sl_metrics_help(out, admitted.metric, "gauge",
                    "Admitted workloads that have not finished, in the Cohort and below it");
    sl_engine_tree(engine, print_admitted, &admitted);
    sl_metrics_help(out, quota.metric, "gauge", "Quota of the Cohort and of what lends to it");
    sl_engine_cohort_quotas(engine, print_amount, &quota);
    sl_metrics_help(out, reserved.metric, "gauge", "Reserved quota in the Cohort and below it");
    sl_engine_cohort_quotas(engine, print_amount, &reserved);
}
