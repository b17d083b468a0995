/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Metrics of LocalQueues. There may be many of them: gauges come from the engine's figures as they are at the beginning,
 * family by family, without any object being read. */
#include "base/check.h"
#include "base/effort.h"
#include "base/mem.h"
#include "cli/pages/metrics.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

struct local {
    char *ns;
    const char *name; /* in the same piece of memory */
    char *tail;       /* the labels that its series end with */
    struct sl_queue_figures figures;
};

struct sl_metrics_locals {
    const struct sl_engine *engine;
    const struct sl_metrics_marks *marks;
    const char *role;
    bool shows_reasons;
    struct local *list;
    size_t count;
    size_t family, at; /* what comes next */
};

/* Families that the engine has figures for. */
struct family {
    const char *metric, *text;
    void (*print)(const struct sl_metrics_locals *l, const struct family *f, const struct local *q,
                  struct sl_buf *out);
    size_t member; /* of the figures */
    bool usage;    /* else the reservation */
};

/* What follows the metric's name in each line. */
#define LABELS "{name=\"%s\",namespace=\"%s\""

static void print_count(const struct sl_metrics_locals *l, const struct family *f,
                        const struct local *q, struct sl_buf *out)
{
    (void)l;
    uint32_t value;
    memcpy(&value, (const char *)&q->figures + f->member, sizeof value);
    sl_buf_print(out, "%s" LABELS ",%s} %" PRIu32 "\n", f->metric, q->name, q->ns, q->tail, value);
}

/* By their own custom labels, where these are asked for. */
static void print_admitted(const struct sl_metrics_locals *l, const struct family *f,
                           const struct local *q, struct sl_buf *out)
{
    struct sl_buf start = {0};
    if (l->marks->counts == NULL) {
        print_count(l, f, q, out);
        return;
    }
    sl_buf_print(&start, "name=\"%s\",namespace=\"%s\"", q->name, q->ns);
    sl_metrics_marked(out, l->marks,
                      sl_marks_of(l->marks->counts, SL_KIND_LOCAL_QUEUE, q->ns, q->name),
                      &(struct sl_metrics_marked){f->metric, start.data, q->tail,
                                                  offsetof(struct sl_marked, admitted)});
    sl_buf_fini(&start);
}

static void print_pending(const struct sl_metrics_locals *l, const struct family *f,
                          const struct local *q, struct sl_buf *out)
{
    (void)l;
    static const char line[] = "%s" LABELS ",status=\"%s\",%s} %" PRIu32 "\n";
    sl_buf_print(out, line, f->metric, q->name, q->ns, "active", q->tail, q->figures.active);
    sl_buf_print(out, line, f->metric, q->name, q->ns, "inadmissible", q->tail,
                 q->figures.inadmissible);
}

static void print_status(const struct sl_metrics_locals *l, const struct family *f,
                         const struct local *q, struct sl_buf *out)
{
    (void)l;
    static const char line[] = "%s" LABELS ",active=\"%s\",%s} %d\n";
    sl_buf_print(out, line, f->metric, q->name, q->ns, "True", q->tail, q->figures.open);
    sl_buf_print(out, line, f->metric, q->name, q->ns, "False", q->tail, !q->figures.open);
    sl_buf_print(out, line, f->metric, q->name, q->ns, "Unknown", q->tail, 0);
}

struct usages {
    const struct sl_metrics_locals *l;
    const struct family *f;
    const struct local *q;
    struct sl_buf *out;
};

static void print_usage(void *context, const struct sl_queue_usage *usage)
{
    const struct usages *u = context;
    sl_effort_add(1);
    sl_buf_print(u->out, "%s" LABELS ",flavor=\"%s\",resource=\"%s\",%s} ", u->f->metric,
                 u->q->name, u->q->ns, usage->flavor, usage->resource, u->q->tail);
    sl_metrics_amount(u->out, u->f->usage ? usage->usage : usage->reservation, usage->resource);
}

static void print_usages(const struct sl_metrics_locals *l, const struct family *f,
                         const struct local *q, struct sl_buf *out)
{
    struct usages u = {l, f, q, out};
    sl_engine_queue_usages(l->engine, q->ns, q->name, print_usage, &u);
}

/* With admission fair sharing. */
static void print_fair(const struct sl_metrics_locals *l, const struct family *f,
                       const struct local *q, struct sl_buf *out)
{
    const char *cluster_queue;
    double usage;
    if (sl_engine_queue_fair_usage(l->engine, q->ns, q->name, &cluster_queue, &usage)) {
        sl_buf_print(out, "%s" LABELS ",cluster_queue=\"%s\",%s} ", f->metric, q->name, q->ns,
                     cluster_queue, q->tail);
        sl_buf_print(out, isinf(usage) ? "+Inf\n" : "%.6g\n", usage);
    }
}

static void print_reason(void *context, const struct sl_unadmitted *u)
{
    const struct usages *l = context;
    sl_buf_print(l->out,
                 "%s" LABELS
                 ",cluster_queue=\"%s\",reason=\"%s\",underlying_cause=\"%s\",%s} %" PRIu32 "\n",
                 l->f->metric, l->q->name, l->q->ns, u->cluster_queue, u->reason, u->cause,
                 l->q->tail, u->count);
}

static void print_reasons(const struct sl_metrics_locals *l, const struct family *f,
                          const struct local *q, struct sl_buf *out)
{
    struct usages u = {l, f, q, out};
    if (l->shows_reasons) {
        sl_engine_unadmitted(l->engine, SL_KIND_LOCAL_QUEUE, q->ns, q->name, print_reason, &u);
    }
}

#define FIGURE(name) offsetof(struct sl_queue_figures, name)
static const struct family families[] = {
    {"kueue_local_queue_pending_workloads", "Pending workloads per LocalQueue", print_pending, 0,
     false},
    {"kueue_local_queue_reserving_active_workloads", "Workloads that hold a reservation",
     print_count, FIGURE(reserving), false},
    {"kueue_local_queue_admitted_active_workloads", "Admitted workloads that have not finished",
     print_admitted, FIGURE(admitted), false},
    {"kueue_local_queue_finished_workloads", "Workloads that have finished", print_count,
     FIGURE(finished), false},
    {"kueue_local_queue_status", "1 for the state the LocalQueue is in", print_status, 0, false},
    {"kueue_local_queue_resource_reservation", "Reserved quota", print_usages, 0, false},
    {"kueue_local_queue_resource_usage", "Quota used by admitted workloads", print_usages, 0, true},
    {"kueue_local_queue_admission_fair_sharing_usage", "Recent usage, weighted", print_fair, 0,
     false},
    {"kueue_local_queue_unadmitted_workloads", "Workloads that are not admitted, by why",
     print_reasons, 0, false}};
#define FAMILY_COUNT (sizeof families / sizeof families[0])

static char *tail_new(const struct sl_workload_meters *meters, const char *role,
                      const struct local *q)
{
    struct sl_buf text = {0};
    sl_buf_print(&text, "replica_role=\"%s\"%s", role,
                 sl_workload_meters_custom(meters, SL_KIND_LOCAL_QUEUE, q->ns, q->name));
    return sl_buf_take(&text);
}

struct sl_metrics_locals *sl_metrics_locals_new(const struct sl_pages *p,
                                                const struct sl_workload_meters *meters,
                                                const struct sl_metrics_marks *marks,
                                                const char *role)
{
    SL_PRE(p != NULL && meters != NULL && marks != NULL);
    struct sl_metrics_locals *l = sl_mem_new(1, sizeof *l);
    *l = (struct sl_metrics_locals){.engine = p->engine,
                                    .marks = marks,
                                    .role = role,
                                    .shows_reasons = meters->metered.unadmitted};
    l->list = sl_mem_new(sl_map_count(meters->queues) + 1, sizeof *l->list);
    for (struct sl_map_item e = {0}; sl_map_each(meters->queues, &e);) {
        struct local *q = &l->list[l->count];
        q->ns = sl_mem_text(e.key);
        char *slash = strchr(q->ns, '/');
        *slash = '\0';
        q->name = slash + 1;
        if (sl_engine_queue_figures(l->engine, SL_KIND_LOCAL_QUEUE, q->ns, q->name, &q->figures)) {
            q->tail = tail_new(meters, role, q);
            l->count++;
        } else {
            sl_mem_free(q->ns);
        }
    }
    return l;
}

/* The lines of one LocalQueue in one family. */
static void print_next(struct sl_metrics_locals *l, struct sl_buf *out)
{
    const struct family *f = &families[l->family];
    if (l->at == 0) {
        sl_metrics_help(out, f->metric, "gauge", f->text);
    }
    if (l->at < l->count) {
        f->print(l, f, &l->list[l->at], out);
    }
    if (++l->at >= l->count) {
        l->at = 0;
        l->family++;
    }
}

bool sl_metrics_locals_go_on(struct sl_metrics_locals *l, const struct sl_workload_meters *meters,
                             struct sl_buf *out)
{
    SL_PRE(l != NULL && meters != NULL);
    size_t before = out->len;
    bool more = true;
    if (l->family < FAMILY_COUNT) {
        print_next(l, out);
    } else {
        more = sl_metrics_meter(l->family++ - FAMILY_COUNT, true, &meters->meters, l->role, out);
    }
    sl_effort_add(1);
    sl_effort_text(out->len - before);
    return more;
}

void sl_metrics_locals_free(struct sl_metrics_locals *l)
{
    for (size_t i = 0; l != NULL && i < l->count; i++) {
        sl_mem_free(l->list[i].ns);
        sl_mem_free(l->list[i].tail);
    }
    if (l != NULL) {
        sl_mem_free(l->list);
        sl_mem_free(l);
    }
}
