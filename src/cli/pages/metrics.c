/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* /metrics: Prometheus text. Names and labels are Kueue's where Kueue has them; what only Sluice has
 * begins with sluice_. */
#include "base/buf.h"
#include "base/check.h"
#include "base/map.h"
#include "api/objects/quantity.h"
#include "cli/pages/metrics.h"
#include "cli/common/version.h"
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

void sl_metrics_help(struct sl_buf *out, const char *name, const char *type, const char *text)
{
    sl_buf_print(out, "# HELP %s %s\n# TYPE %s %s\n", name, text, name, type);
}

void sl_metrics_value(struct sl_buf *out, const char *name, const char *text, uint64_t value)
{
    size_t len = strlen(name);
    bool counter = len > 6 && strcmp(name + len - 6, "_total") == 0;
    sl_metrics_help(out, name, counter ? "counter" : "gauge", text);
    sl_buf_print(out, "%s %" PRIu64 "\n", name, value);
}

static const char *role_of(const struct sl_pages *p)
{
    return p->role == NULL ? "standalone" : p->role;
}

struct queues {
    struct sl_engine *engine;
    const char *role; /* what Kueue's label replica_role says of this process */
    struct sl_buf *out;
    struct sl_json *items; /* list of {name, cohort, spec, seen} */
};

static void collect_queue(void *context, struct sl_json *object)
{
    struct queues *q = context;
    struct sl_json *seen =
        sl_engine_queue_status(q->engine, SL_KIND_CLUSTER_QUEUE, "", sl_object_name(object));
    struct sl_queue_figures figures;
    if (seen == NULL || !sl_engine_queue_figures(q->engine, SL_KIND_CLUSTER_QUEUE, "",
                                                 sl_object_name(object), &figures)) {
        sl_json_free(seen);
        return;
    }
    sl_json_set_int(seen, "active_pending", figures.active);
    sl_json_set_int(seen, "inadmissible", figures.inadmissible);
    sl_json_set_int(seen, "finished", figures.finished);
    struct sl_json *item = sl_json_new_map();
    sl_json_set_text(item, "name", sl_object_name(object));
    sl_json_set_text(item, "cohort", sl_json_path_text(object, "spec.cohortName", ""));
    struct sl_json *groups = sl_json_path(object, "spec.resourceGroups");
    if (groups != NULL) {
        sl_json_set(item, "groups", sl_json_ref(groups));
    }
    sl_json_set(item, "seen", seen);
    sl_json_append(q->items, item);
}

static void count_family(struct sl_buf *out, const struct queues *q, const char *metric,
                         const char *member, const char *text)
{
    sl_metrics_help(out, metric, "gauge", text);
    for (size_t i = 0; i < sl_json_len(q->items); i++) {
        const struct sl_json *item = sl_json_at(q->items, i);
        sl_buf_print(out, "%s{cluster_queue=\"%s\",replica_role=\"%s\"} %" PRId64 "\n", metric,
                     sl_json_path_text(item, "name", ""), q->role,
                     sl_json_int(sl_json_get(sl_json_get(item, "seen"), member), 0));
    }
}

/* Active ones may be admitted by one of the next cycles, the others wait until something changes. */
static void pending_family(struct sl_buf *out, const struct queues *q)
{
    static const char line[] = "kueue_pending_workloads{cluster_queue=\"%s\",status=\"%s\","
                               "replica_role=\"%s\"} %" PRId64 "\n";
    sl_metrics_help(out, "kueue_pending_workloads", "gauge", "Pending workloads per ClusterQueue");
    for (size_t i = 0; i < sl_json_len(q->items); i++) {
        const struct sl_json *item = sl_json_at(q->items, i);
        const char *queue = sl_json_path_text(item, "name", "");
        sl_buf_print(out, line, queue, "active", q->role,
                     sl_json_path_int(item, "seen.active_pending", 0));
        sl_buf_print(out, line, queue, "inadmissible", q->role,
                     sl_json_path_int(item, "seen.inadmissible", 0));
    }
}

static void collect_share(void *context, struct sl_json *cohort)
{
    struct queues *q = context;
    struct sl_json *seen =
        sl_engine_queue_status(q->engine, SL_KIND_COHORT, "", sl_object_name(cohort));
    const struct sl_json *share = sl_json_path(seen, "fairSharing.weightedShare");
    if (share != NULL) {
        sl_buf_print(q->out,
                     "kueue_cohort_weighted_share{cohort=\"%s\",replica_role=\"%s\"} %" PRId64 "\n",
                     sl_object_name(cohort), q->role, sl_json_int(share, 0));
    }
    sl_json_free(seen);
}

/* Of Cohorts that are objects. */
static void cohort_family(struct sl_buf *out, struct queues *q, const struct sl_client *client)
{
    sl_metrics_help(out, "kueue_cohort_weighted_share", "gauge",
                    "Share of the parent's quota that is borrowed, by weight");
    q->out = out;
    (void)client->list(client->self, SL_KIND_COHORT, "", collect_share, q, NULL);
}

/* Shares are there when fair sharing is on. */
static void share_family(struct sl_buf *out, const struct queues *q)
{
    static const char name[] = "kueue_cluster_queue_weighted_share";
    sl_metrics_help(out, name, "gauge", "Share of the cohort's quota that is borrowed, by weight");
    for (size_t i = 0; i < sl_json_len(q->items); i++) {
        const struct sl_json *item = sl_json_at(q->items, i);
        const struct sl_json *share = sl_json_path(item, "seen.fairSharing.weightedShare");
        if (share != NULL) {
            sl_buf_print(out,
                         "%s{cluster_queue=\"%s\",cohort=\"%s\",replica_role=\"%s\"} %" PRId64 "\n",
                         name, sl_json_path_text(item, "name", ""),
                         sl_json_path_text(item, "cohort", ""), q->role, sl_json_int(share, 0));
        }
    }
}

static void status_family(struct sl_buf *out, const struct queues *q)
{
    static const char name[] = "kueue_cluster_queue_status";
    sl_metrics_help(out, name, "gauge", "1 for the state the ClusterQueue is in");
    for (size_t i = 0; i < sl_json_len(q->items); i++) {
        const struct sl_json *item = sl_json_at(q->items, i);
        const struct sl_json *active = sl_json_path(item, "seen.active.status");
        bool is = strcmp(sl_json_text(active, ""), "True") == 0 || sl_json_bool(active, false);
        sl_buf_print(out, "%s{cluster_queue=\"%s\",status=\"active\",replica_role=\"%s\"} %d\n",
                     name, sl_json_path_text(item, "name", ""), q->role, is);
        sl_buf_print(out, "%s{cluster_queue=\"%s\",status=\"pending\",replica_role=\"%s\"} %d\n",
                     name, sl_json_path_text(item, "name", ""), q->role, !is);
    }
}

static void print_quantity(struct sl_buf *out, struct sl_quantity quantity)
{
    int64_t milli = sl_quantity_milli(quantity);
    if (milli % 1000 == 0) {
        sl_buf_print(out, "%" PRId64 "\n", milli / 1000);
    } else {
        sl_buf_print(out, "%" PRId64 ".%03" PRId64 "\n", milli / 1000, milli % 1000);
    }
}

void sl_metrics_quantity(struct sl_buf *out, const char *text)
{
    struct sl_quantity quantity = {0};
    (void)sl_quantity_parse(text, &quantity, NULL);
    print_quantity(out, quantity);
}

/* What the lines of a family have in common. */
struct family {
    const char *metric, *member, *role;
};

static void resource_lines(struct sl_buf *out, const struct family *f, const struct sl_json *item,
                           const struct sl_json *flavors)
{
    for (size_t i = 0; i < sl_json_len(flavors); i++) {
        const struct sl_json *flavor = sl_json_at(flavors, i);
        const struct sl_json *resources = sl_json_get(flavor, "resources");
        for (size_t r = 0; r < sl_json_len(resources); r++) {
            const struct sl_json *resource = sl_json_at(resources, r);
            const struct sl_json *value = sl_json_get(resource, f->member);
            struct sl_quantity quantity = {0};
            (void)sl_quantity_read(value, &quantity, NULL);
            sl_buf_print(out,
                         "%s{cohort=\"%s\",cluster_queue=\"%s\",flavor=\"%s\",resource=\"%s\","
                         "replica_role=\"%s\"} ",
                         f->metric, sl_json_path_text(item, "cohort", ""),
                         sl_json_path_text(item, "name", ""), sl_json_path_text(flavor, "name", ""),
                         sl_json_path_text(resource, "name", ""), f->role);
            if (value == NULL) {
                sl_buf_text(out, "+Inf\n"); /* no limit */
            } else {
                print_quantity(out, quantity);
            }
        }
    }
}

static void resource_family(struct sl_buf *out, const struct queues *q, const char *metric,
                            const char *member, const char *text)
{
    sl_metrics_help(out, metric, "gauge", text);
    for (size_t i = 0; i < sl_json_len(q->items); i++) {
        const struct sl_json *item = sl_json_at(q->items, i);
        struct family f = {metric, "total", q->role};
        resource_lines(out, &f, item, sl_json_get(sl_json_get(item, "seen"), member));
    }
}

static void quota_family(struct sl_buf *out, const struct queues *q, const char *metric,
                         const char *member, const char *text)
{
    sl_metrics_help(out, metric, "gauge", text);
    for (size_t i = 0; i < sl_json_len(q->items); i++) {
        const struct sl_json *item = sl_json_at(q->items, i);
        const struct sl_json *groups = sl_json_get(item, "groups");
        for (size_t g = 0; g < sl_json_len(groups); g++) {
            struct family f = {metric, member, q->role};
            resource_lines(out, &f, item, sl_json_get(sl_json_at(groups, g), "flavors"));
        }
    }
}

/* What the controllers count: names, in the order in which they are shown. */
static const struct {
    const char *name, *type, *text;
} meters[] = {
    {"kueue_admission_attempts_total", "counter", "Attempts to admit workloads, by result"},
    {"kueue_admission_attempt_duration_seconds", "histogram", "How long an attempt took"},
    {"kueue_quota_reserved_workloads_total", "counter", "Quota reservations since the start"},
    {"kueue_quota_reserved_wait_time_seconds", "histogram",
     "From creation or requeuing to the reservation of quota"},
    {"kueue_admitted_workloads_total", "counter", "Admissions since the start"},
    {"kueue_admission_wait_time_seconds", "histogram",
     "From creation or requeuing to the admission"},
    {"kueue_admission_checks_wait_time_seconds", "histogram",
     "From the reservation of quota to the admission, of workloads with checks"},
    {"kueue_ready_wait_time_seconds", "histogram",
     "From creation or requeuing until all pods were ready"},
    {"kueue_admitted_until_ready_wait_time_seconds", "histogram",
     "From the admission until all pods were ready"},
    {"kueue_evicted_workloads_total", "counter", "Evictions since the start"},
    {"kueue_evicted_workloads_once_total", "counter",
     "Workloads that were evicted for the first time for that reason"},
    {"kueue_preempted_workloads_total", "counter",
     "Preemptions since the start, by the ClusterQueue of the preemptor"},
    {"kueue_finished_workloads_total", "counter", "Workloads that finished since the start"},
    {"kueue_execution_time_seconds", "histogram", "How long finished workloads were admitted"},
};

static void totals(struct sl_buf *out, const struct sl_pages *p)
{
    struct sl_engine_counters e;
    struct sl_controller_counters c;
    sl_engine_count(p->engine, &e);
    sl_controllers_count(p->controllers, &c);
    for (size_t i = 0; i < sizeof meters / sizeof meters[0]; i++) {
        sl_metrics_help(out, meters[i].name, meters[i].type, meters[i].text);
        sl_meters_print(&c.meters->meters, meters[i].name, role_of(p), out);
    }
    sl_metrics_local_queues(p, c.meters, role_of(p), out);
    if (c.meters->metered.cohorts) {
        sl_metrics_tree(p->engine, role_of(p), out);
    }
    sl_metrics_value(out, "sluice_workloads", "Workloads known to the core", e.workloads);
    sl_metrics_value(out, "sluice_workloads_pending", "Workloads that wait for quota", e.pending);
    sl_metrics_value(out, "sluice_workloads_holding", "Workloads that hold quota", e.holding);
    sl_metrics_value(out, "sluice_cycles_total", "Scheduling cycles", e.cycles);
    sl_metrics_value(out, "sluice_core_events_total", "Events applied to the core", e.events);
    sl_metrics_value(out, "sluice_core_refusals_total", "Events that the core refused", e.refused);
    sl_metrics_value(out, "sluice_preemptors_restrained_total",
                     "Times that a workload was kept from preempting for a while, since it had "
                     "preempted in vain",
                     e.restrained);
    sl_metrics_value(out, "sluice_second_passes_armed",
                     "Workloads that hold quota and wait for a topology assignment",
                     e.passes_armed);
    sl_metrics_value(out, "sluice_second_passes_placed_total",
                     "Second passes that found a topology assignment and admitted",
                     e.passes_placed);
    sl_metrics_value(
        out, "sluice_second_passes_failed_total",
        "Second passes that found no topology assignment, or none without failed nodes",
        e.passes_failed);
    sl_metrics_value(out, "sluice_replacements_total",
                     "Times that pods of a workload were reassigned from failed nodes",
                     e.replacements);
    sl_metrics_value(out, "sluice_core_bytes", "Core state in use", e.core_bytes);
    sl_metrics_value(out, "sluice_write_conflicts_total",
                     "Decisions written again after a conflict", c.workloads.conflicts);
    sl_metrics_value(out, "sluice_journal_lost_total",
                     "Records of the journal that the disk refused", e.journal_lost);
    sl_metrics_value(out, "sluice_metrics_dropped_total",
                     "Samples that were not counted because there are too many series",
                     c.meters->meters.dropped);
    sl_metrics_value(out, "sluice_events_dropped_total", "Events over the writing budget",
                     c.events_dropped);
    sl_metrics_value(out, "sluice_jobs_queued", "Jobs the job controller has to look at",
                     c.jobs_waiting);
}

static void decisions(struct sl_buf *out, const struct sl_pages *p)
{
    struct queues q = {.engine = p->engine, .role = role_of(p), .items = sl_json_new_list()};
    (void)p->client.list(p->client.self, SL_KIND_CLUSTER_QUEUE, "", collect_queue, &q, NULL);
    pending_family(out, &q);
    count_family(out, &q, "kueue_reserving_active_workloads", "reservingWorkloads",
                 "Workloads that hold a reservation");
    count_family(out, &q, "kueue_admitted_active_workloads", "admittedWorkloads",
                 "Admitted workloads that have not finished");
    count_family(out, &q, "kueue_finished_workloads", "finished", "Workloads that have finished");
    status_family(out, &q);
    resource_family(out, &q, "kueue_cluster_queue_resource_reservation", "flavorsReservation",
                    "Reserved quota");
    resource_family(out, &q, "kueue_cluster_queue_resource_usage", "flavorsUsage",
                    "Quota used by admitted workloads");
    resource_family(out, &q, "sluice_cluster_queue_quota_excess", "quotaExcess",
                    "Usage beyond the limits, after a quota was lowered");
    quota_family(out, &q, "kueue_cluster_queue_nominal_quota", "nominalQuota", "Nominal quota");
    quota_family(out, &q, "kueue_cluster_queue_borrowing_limit", "borrowingLimit",
                 "Borrowing limit");
    quota_family(out, &q, "kueue_cluster_queue_lending_limit", "lendingLimit", "Lending limit");
    share_family(out, &q);
    cohort_family(out, &q, &p->client);
    totals(out, p);
    sl_json_free(q.items);
}

static void process(struct sl_buf *out)
{
    size_t bytes = 0;
    struct rusage u = {0};
    (void)uv_resident_set_memory(&bytes);
    (void)getrusage(RUSAGE_SELF, &u);
    int64_t us = ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 + u.ru_utime.tv_usec +
                 u.ru_stime.tv_usec;
    sl_metrics_value(out, "process_resident_memory_bytes", "Resident memory", bytes);
    sl_metrics_help(out, "process_cpu_seconds_total", "counter", "CPU time");
    sl_buf_print(out, "process_cpu_seconds_total %" PRId64 ".%06" PRId64 "\n", us / 1000000,
                 us % 1000000);
}

void sl_pages_metrics(void *context, const char *path, const char *query,
                      struct sl_server_page *page)
{
    SL_PRE(page != NULL);
    (void)path;
    (void)query;
    const struct sl_pages *p = context;
    struct sl_buf *out = &page->body;
    page->content_type = "text/plain; version=0.0.4; charset=utf-8";
    if (p->engine != NULL) {
        decisions(out, p);
    }
    sl_metrics_help(out, "kueue_build_info", "gauge", "1, with the version as a label");
    sl_buf_print(out, "kueue_build_info{git_version=\"%s\",name=\"sluice\"} 1\n", SL_VERSION);
    if (p->metrics != NULL) {
        p->metrics(p->context, out);
    }
    process(out);
}
