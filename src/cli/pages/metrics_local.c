/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Metrics of LocalQueues. There may be many of them: gauges come from the engine's figures, family by family, without
 * any object being read. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/mem.h"
#include "cli/pages/metrics.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What the controllers count: names, in the order in which they are shown. */
static const struct {
    const char *name, *type, *text;
} meters_shown[] = {
    {"kueue_local_queue_quota_reserved_workloads_total", "counter",
     "Quota reservations since the start"},
    {"kueue_local_queue_quota_reserved_wait_time_seconds", "histogram",
     "From creation or requeuing to the reservation of quota"},
    {"kueue_local_queue_admitted_workloads_total", "counter", "Admissions since the start"},
    {"kueue_local_queue_admission_wait_time_seconds", "histogram",
     "From creation or requeuing to the admission"},
    {"kueue_local_queue_admission_checks_wait_time_seconds", "histogram",
     "From the reservation of quota to the admission, of workloads with checks"},
    {"kueue_local_queue_ready_wait_time_seconds", "histogram",
     "From creation or requeuing until all pods were ready"},
    {"kueue_local_queue_admitted_until_ready_wait_time_seconds", "histogram",
     "From the admission until all pods were ready"},
    {"kueue_local_queue_evicted_workloads_total", "counter", "Evictions since the start"},
    {"kueue_local_queue_finished_workloads_total", "counter",
     "Workloads that finished since the start"},
    {"kueue_local_queue_execution_time_seconds", "histogram",
     "How long finished workloads were admitted"},
};

struct local {
    char *ns;
    const char *name; /* in the same piece of memory */
    struct sl_queue_figures figures;
};

struct locals {
    const struct sl_engine *engine;
    const char *role;
    struct sl_buf *out;
    struct local *list;
    size_t count;
};

static void collect(struct locals *l, const struct sl_workload_meters *meters)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    l->list = sl_mem_new(sl_map_count(meters->queues) + 1, sizeof *l->list);
    while (sl_map_next(meters->queues, &cursor, &key, &value)) {
        struct local *q = &l->list[l->count];
        q->ns = sl_mem_text(key);
        char *slash = strchr(q->ns, '/');
        *slash = '\0';
        q->name = slash + 1;
        if (sl_engine_queue_figures(l->engine, SL_KIND_LOCAL_QUEUE, q->ns, q->name, &q->figures)) {
            l->count++;
        } else {
            sl_mem_free(q->ns);
        }
    }
}

static void line(const struct locals *l, const struct local *q, const char *metric,
                 const char *more, uint64_t value)
{
    sl_buf_print(l->out, "%s{name=\"%s\",namespace=\"%s\"%s,replica_role=\"%s\"} %" PRIu64 "\n",
                 metric, q->name, q->ns, more, l->role, value);
}

static void pending_family(const struct locals *l)
{
    static const char metric[] = "kueue_local_queue_pending_workloads";
    sl_metrics_help(l->out, metric, "gauge", "Pending workloads per LocalQueue");
    for (size_t i = 0; i < l->count; i++) {
        const struct local *q = &l->list[i];
        line(l, q, metric, ",status=\"active\"", q->figures.active);
        line(l, q, metric, ",status=\"inadmissible\"", q->figures.inadmissible);
    }
}

static void count_family(const struct locals *l, const char *metric, size_t member,
                         const char *text)
{
    sl_metrics_help(l->out, metric, "gauge", text);
    for (size_t i = 0; i < l->count; i++) {
        uint32_t value;
        memcpy(&value, (const char *)&l->list[i].figures + member, sizeof value);
        line(l, &l->list[i], metric, "", value);
    }
}

static void status_family(const struct locals *l)
{
    static const char metric[] = "kueue_local_queue_status";
    sl_metrics_help(l->out, metric, "gauge", "1 for the state the LocalQueue is in");
    for (size_t i = 0; i < l->count; i++) {
        const struct local *q = &l->list[i];
        line(l, q, metric, ",active=\"True\"", q->figures.open);
        line(l, q, metric, ",active=\"False\"", !q->figures.open);
        line(l, q, metric, ",active=\"Unknown\"", 0);
    }
}

struct usage_family {
    const struct locals *l;
    const struct local *q;
    const char *metric;
    bool usage; /* else the reservation */
};

static void print_usage(void *context, const struct sl_queue_usage *usage)
{
    const struct usage_family *f = context;
    char text[64];
    sl_buf_print(f->l->out,
                 "%s{name=\"%s\",namespace=\"%s\",flavor=\"%s\",resource=\"%s\","
                 "replica_role=\"%s\"} ",
                 f->metric, f->q->name, f->q->ns, usage->flavor, usage->resource, f->l->role);
    sl_quantity_print_amount(f->usage ? usage->usage : usage->reservation, usage->resource, text);
    sl_metrics_quantity(f->l->out, text);
}

static void resource_family(const struct locals *l, const char *metric, bool usage,
                            const char *text)
{
    sl_metrics_help(l->out, metric, "gauge", text);
    for (size_t i = 0; i < l->count; i++) {
        struct usage_family f = {l, &l->list[i], metric, usage};
        sl_engine_queue_usages(l->engine, f.q->ns, f.q->name, print_usage, &f);
    }
}

/* With admission fair sharing. */
static void fair_family(const struct locals *l)
{
    static const char metric[] = "kueue_local_queue_admission_fair_sharing_usage";
    sl_metrics_help(l->out, metric, "gauge", "Recent usage, weighted");
    for (size_t i = 0; i < l->count; i++) {
        const struct local *q = &l->list[i];
        const char *cluster_queue;
        double usage;
        if (sl_engine_queue_fair_usage(l->engine, q->ns, q->name, &cluster_queue, &usage)) {
            sl_buf_print(l->out,
                         "%s{name=\"%s\",namespace=\"%s\",cluster_queue=\"%s\",replica_role="
                         "\"%s\"} ",
                         metric, q->name, q->ns, cluster_queue, l->role);
            sl_buf_print(l->out, isinf(usage) ? "+Inf\n" : "%.6g\n", usage);
        }
    }
}

void sl_metrics_local_queues(const struct sl_pages *p, const struct sl_workload_meters *meters,
                             const char *role, struct sl_buf *out)
{
    SL_PRE(p != NULL);
    struct locals l = {.engine = p->engine, .role = role, .out = out};
    if (!meters->metered.on) {
        return;
    }
    collect(&l, meters);
    pending_family(&l);
    count_family(&l, "kueue_local_queue_reserving_active_workloads",
                 offsetof(struct sl_queue_figures, reserving), "Workloads that hold a reservation");
    count_family(&l, "kueue_local_queue_admitted_active_workloads",
                 offsetof(struct sl_queue_figures, admitted),
                 "Admitted workloads that have not finished");
    count_family(&l, "kueue_local_queue_finished_workloads",
                 offsetof(struct sl_queue_figures, finished), "Workloads that have finished");
    status_family(&l);
    resource_family(&l, "kueue_local_queue_resource_reservation", false, "Reserved quota");
    resource_family(&l, "kueue_local_queue_resource_usage", true,
                    "Quota used by admitted workloads");
    fair_family(&l);
    for (size_t i = 0; i < sizeof meters_shown / sizeof meters_shown[0]; i++) {
        sl_metrics_help(out, meters_shown[i].name, meters_shown[i].type, meters_shown[i].text);
        sl_meters_print(&meters->meters, meters_shown[i].name, role, out);
    }
    for (size_t i = 0; i < l.count; i++) {
        sl_mem_free(l.list[i].ns);
    }
    sl_mem_free(l.list);
}
