/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* /metrics: Prometheus text. Names and labels are Kueue's where Kueue has them; what only Sluice has
 * begins with sluice_. */
#include "base/buf.h"
#include "base/check.h"
#include "base/effort.h"
#include "base/mem.h"
#include "api/objects/quantity.h"
#include "cli/pages/metrics.h"
#include "cli/common/version.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

void sl_metrics_help(struct sl_buf *out, const char *name, const char *type, const char *text)
{
    sl_buf_print(out, "# HELP %s %s\n# TYPE %s %s\n", name, text, name, type);
}

static bool is_total(const char *name)
{
    size_t len = strlen(name);
    return len > 6 && strcmp(name + len - 6, "_total") == 0;
}

void sl_metrics_value(struct sl_buf *out, const char *name, const char *text, uint64_t value)
{
    sl_metrics_help(out, name, is_total(name) ? "counter" : "gauge", text);
    sl_buf_print(out, "%s %" PRIu64 "\n", name, value);
}

static const char *role_of(const struct sl_pages *p)
{
    return p->role == NULL ? "standalone" : p->role;
}

/* A page that is being written. */
struct scrape {
    struct sl_server_rest rest;
    const struct sl_pages *pages;
    char **names; /* of ClusterQueues and Cohorts */
    enum sl_kind *kinds;
    uint32_t count, name_cap, kind_cap, at;
    struct sl_buf *families, cohorts; /* what has been written of each */
    struct sl_metrics_locals *locals;
    struct sl_marks *counted;
    struct sl_metrics_marks marks;
    size_t part, meter;
};

static void print_count(struct sl_buf *out, const struct sl_metrics_family *f,
                        const struct sl_metrics_queue *q)
{
    sl_buf_print(out, "%s{cluster_queue=\"%s\",%s} %" PRId64 "\n", f->metric, q->name, q->tail,
                 sl_json_int(sl_json_get(q->seen, f->member), 0));
}

static void print_marked(struct sl_buf *out, const struct sl_metrics_family *f,
                         const struct sl_metrics_queue *q, const char *status, size_t member)
{
    struct sl_buf start = {0};
    sl_buf_print(&start, "cluster_queue=\"%s\"%s", q->name, status);
    sl_metrics_marked(out, q->marks,
                      sl_marks_of(q->marks->counts, SL_KIND_CLUSTER_QUEUE, "", q->name),
                      &(struct sl_metrics_marked){f->metric, start.data, q->tail, member});
    sl_buf_fini(&start);
}

/* By their own custom labels, where these are asked for. */
static void print_admitted(struct sl_buf *out, const struct sl_metrics_family *f,
                           const struct sl_metrics_queue *q)
{
    if (q->marks->counts == NULL) {
        print_count(out, f, q);
    } else {
        print_marked(out, f, q, "", offsetof(struct sl_marked, admitted));
    }
}

/* Active ones may be admitted by one of the next cycles, the others wait until something changes. */
static void print_pending(struct sl_buf *out, const struct sl_metrics_family *f,
                          const struct sl_metrics_queue *q)
{
    static const char line[] = "%s{cluster_queue=\"%s\",status=\"%s\",%s} %" PRId64 "\n";
    if (q->marks->counts != NULL) {
        print_marked(out, f, q, ",status=\"active\"", offsetof(struct sl_marked, active));
        print_marked(out, f, q, ",status=\"inadmissible\"",
                     offsetof(struct sl_marked, inadmissible));
        return;
    }
    sl_buf_print(out, line, f->metric, q->name, "active", q->tail,
                 sl_json_int(sl_json_get(q->seen, "active_pending"), 0));
    sl_buf_print(out, line, f->metric, q->name, "inadmissible", q->tail,
                 sl_json_int(sl_json_get(q->seen, "inadmissible"), 0));
}

/* As short as it can be read back as the same number. */
static void print_number(struct sl_buf *out, double value)
{
    char text[40];
    int digits = 15;
    do {
        (void)snprintf(text, sizeof text, "%.*g", digits++, value);
    } while (digits <= 17 && strtod(text, NULL) != value);
    sl_buf_print(out, "%s\n", isnan(value) ? "NaN" : text);
}

/* Shares are there when fair sharing is on. */
static void print_share(struct sl_buf *out, const struct sl_metrics_family *f,
                        const struct sl_metrics_queue *q)
{
    double share;
    if (sl_engine_weighted_share(q->engine, SL_KIND_CLUSTER_QUEUE, q->name, &share)) {
        sl_buf_print(out, "%s{cluster_queue=\"%s\",cohort=\"%s\",%s} ", f->metric, q->name,
                     q->cohort, q->tail);
        print_number(out, share);
    }
}

static void print_status(struct sl_buf *out, const struct sl_metrics_family *f,
                         const struct sl_metrics_queue *q)
{
    static const char line[] = "%s{cluster_queue=\"%s\",status=\"%s\",%s} %d\n";
    const struct sl_json *active = sl_json_path(q->seen, "active.status");
    bool is = strcmp(sl_json_text(active, ""), "True") == 0 || sl_json_bool(active, false);
    bool ends = sl_json_bool(sl_json_get(q->seen, "deleting"), false);
    sl_buf_print(out, line, f->metric, q->name, "active", q->tail, is && !ends);
    sl_buf_print(out, line, f->metric, q->name, "pending", q->tail, !is && !ends);
    sl_buf_print(out, line, f->metric, q->name, "terminating", q->tail, ends);
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

void sl_metrics_amount(struct sl_buf *out, int64_t amount, const char *resource)
{
    char text[64];
    struct sl_quantity quantity = {0};
    sl_quantity_print_amount(amount, resource, text);
    (void)sl_quantity_parse(text, &quantity, NULL);
    print_quantity(out, quantity);
}

static void resource_lines(struct sl_buf *out, const struct sl_metrics_family *f,
                           const struct sl_metrics_queue *q, const struct sl_json *flavors,
                           const char *member)
{
    for (size_t i = 0; i < sl_json_len(flavors); i++) {
        const struct sl_json *flavor = sl_json_at(flavors, i);
        const struct sl_json *resources = sl_json_get(flavor, "resources");
        for (size_t r = 0; r < sl_json_len(resources); r++) {
            const struct sl_json *resource = sl_json_at(resources, r);
            const struct sl_json *value = sl_json_get(resource, member);
            struct sl_quantity quantity = {0};
            (void)sl_quantity_read(value, &quantity, NULL);
            sl_buf_print(out,
                         "%s{cohort=\"%s\",cluster_queue=\"%s\",flavor=\"%s\",resource=\"%s\","
                         "%s} ",
                         f->metric, q->cohort, q->name, sl_json_path_text(flavor, "name", ""),
                         sl_json_path_text(resource, "name", ""), q->tail);
            if (value == NULL) {
                sl_buf_text(out, "+Inf\n"); /* no limit */
            } else {
                print_quantity(out, quantity);
            }
        }
    }
}

static void print_usage(struct sl_buf *out, const struct sl_metrics_family *f,
                        const struct sl_metrics_queue *q)
{
    resource_lines(out, f, q, sl_json_get(q->seen, f->member), "total");
}

static void print_quota(struct sl_buf *out, const struct sl_metrics_family *f,
                        const struct sl_metrics_queue *q)
{
    for (size_t g = 0; g < sl_json_len(q->groups); g++) {
        resource_lines(out, f, q, sl_json_get(sl_json_at(q->groups, g), "flavors"), f->member);
    }
}

static const struct sl_metrics_family families[] = {
    {"kueue_pending_workloads", "Pending workloads per ClusterQueue", print_pending, NULL},
    {"kueue_reserving_active_workloads", "Workloads that hold a reservation", print_count,
     "reservingWorkloads"},
    {"kueue_admitted_active_workloads", "Admitted workloads that have not finished", print_admitted,
     "admittedWorkloads"},
    {"kueue_finished_workloads", "Workloads that have finished", print_count, "finished"},
    {"kueue_cluster_queue_status", "1 for the state the ClusterQueue is in", print_status, NULL},
    {"kueue_cluster_queue_resource_reservation", "Reserved quota", print_usage,
     "flavorsReservation"},
    {"kueue_cluster_queue_resource_usage", "Quota used by admitted workloads", print_usage,
     "flavorsUsage"},
    {"sluice_cluster_queue_quota_excess", "Usage beyond the limits, after a quota was lowered",
     print_usage, "quotaExcess"},
    {"kueue_cluster_queue_nominal_quota", "Nominal quota", print_quota, "nominalQuota"},
    {"kueue_cluster_queue_borrowing_limit", "Borrowing limit", print_quota, "borrowingLimit"},
    {"kueue_cluster_queue_lending_limit", "Lending limit", print_quota, "lendingLimit"},
    {"kueue_cluster_queue_weighted_share",
     "Share of the cohort's quota that is borrowed, by weight", print_share, NULL},
    {"kueue_cluster_queue_resource_pending", "What pending workloads ask for, in no flavor yet",
     sl_metrics_pending, NULL},
    {"kueue_unadmitted_workloads", "Workloads that are not admitted, by why", sl_metrics_unadmitted,
     NULL},
    {"kueue_pending_scheduling_hashes", "Sorts of pending workloads, by what they ask for",
     sl_metrics_shapes, NULL},
    {"kueue_admission_cycle_preemption_skips",
     "Workloads that would have preempted but for others, in the last cycle with any",
     sl_metrics_skips, NULL},
    {"kueue_preemption_target_recomputations_total",
     "Times that victims were looked for again, since others of the cycle had chosen them",
     sl_metrics_recomputations, NULL}};
#define FAMILY_COUNT (sizeof families / sizeof families[0])

static const struct sl_workload_meters *meters_of(const struct scrape *s)
{
    struct sl_controller_counters c;
    sl_controllers_count(s->pages->controllers, &c);
    return c.meters;
}

/* The role as Kueue's label replica_role has it, and what is custom. */
static void print_tail(const struct scrape *s, enum sl_kind kind, const char *name,
                       struct sl_buf *out)
{
    sl_buf_print(out, "replica_role=\"%s\"%s", role_of(s->pages),
                 sl_workload_meters_custom(meters_of(s), kind, "", name));
}

static void print_queue(struct scrape *s, const char *name)
{
    const struct sl_pages *p = s->pages;
    struct sl_json *object = NULL;
    struct sl_queue_figures figures;
    struct sl_error e = {0};
    struct sl_json *seen = sl_engine_queue_status(p->engine, SL_KIND_CLUSTER_QUEUE, "", name);
    if (seen != NULL &&
        sl_engine_queue_figures(p->engine, SL_KIND_CLUSTER_QUEUE, "", name, &figures) &&
        p->client.get(p->client.self, SL_KIND_CLUSTER_QUEUE, "", name, &object, &e) == SL_CODE_OK) {
        sl_json_set_int(seen, "active_pending", figures.active);
        sl_json_set_int(seen, "inadmissible", figures.inadmissible);
        sl_json_set_int(seen, "finished", figures.finished);
        sl_json_set_bool(seen, "deleting", figures.deleting);
        struct sl_buf tail = {0};
        print_tail(s, SL_KIND_CLUSTER_QUEUE, name, &tail);
        const struct sl_metrics_queue q = {.engine = p->engine,
                                           .name = name,
                                           .cohort =
                                               sl_json_path_text(object, "spec.cohortName", ""),
                                           .tail = tail.data,
                                           .figures = &figures,
                                           .shows_reasons = meters_of(s)->metered.unadmitted,
                                           .marks = &s->marks,
                                           .groups = sl_json_path(object, "spec.resourceGroups"),
                                           .seen = seen};
        for (size_t i = 0; i < FAMILY_COUNT; i++) {
            families[i].print(&s->families[i], &families[i], &q);
        }
        sl_buf_fini(&tail);
    }
    sl_json_free(object);
    sl_json_free(seen);
}

static void print_cohort(struct scrape *s, const char *name)
{
    double share;
    if (sl_engine_weighted_share(s->pages->engine, SL_KIND_COHORT, name, &share)) {
        struct sl_buf tail = {0};
        print_tail(s, SL_KIND_COHORT, name, &tail);
        sl_buf_print(&s->cohorts, "kueue_cohort_weighted_share{cohort=\"%s\",%s} ", name,
                     tail.data);
        sl_buf_fini(&tail);
        print_number(&s->cohorts, share);
    }
}

/* What the controllers count, of ClusterQueues and of LocalQueues (NULL: only of the former), in the order in which it is
 * shown: counters end in _total, the others are histograms. */
#define BOTH(end) "kueue_" end, "kueue_local_queue_" end
static const struct {
    const char *name, *local_name, *text;
} meters[] = {
    {"kueue_admission_attempts_total", NULL, "Attempts to admit workloads, by result"},
    {"kueue_admission_attempt_duration_seconds", NULL, "How long an attempt took"},
    {BOTH("quota_reserved_workloads_total"), "Quota reservations since the start"},
    {BOTH("quota_reserved_wait_time_seconds"),
     "From creation or requeuing to the reservation of quota"},
    {BOTH("admitted_workloads_total"), "Admissions since the start"},
    {"kueue_cohort_subtree_admitted_workloads_total", NULL,
     "Admissions in the Cohort and below it since the start"},
    {BOTH("admission_wait_time_seconds"), "From creation or requeuing to the admission"},
    {BOTH("admission_checks_wait_time_seconds"),
     "From the reservation of quota to the admission, of workloads with checks"},
    {BOTH("ready_wait_time_seconds"), "From creation or requeuing until all pods were ready"},
    {BOTH("admitted_until_ready_wait_time_seconds"),
     "From the admission until all pods were ready"},
    {BOTH("evicted_workloads_total"), "Evictions since the start"},
    {"kueue_evicted_workloads_once_total", NULL,
     "Workloads that were evicted for the first time for that reason"},
    {"kueue_preempted_workloads_total", NULL,
     "Preemptions since the start, by the ClusterQueue of the preemptor"},
    {"kueue_pods_ready_to_evicted_time_seconds", NULL,
     "How long the pods of evicted workloads had been ready"},
    {"kueue_workload_eviction_latency_seconds", NULL, "From the eviction until the quota was free"},
    {"kueue_workload_creation_latency_seconds", NULL,
     "From the creation of a job to that of its Workload"},
    {"kueue_pod_scheduling_gate_removal_seconds", NULL,
     "From the admission until a scheduling gate was taken off a pod"},
    {BOTH("finished_workloads_total"), "Workloads that finished since the start"},
    {"kueue_replaced_workload_slices_total", NULL,
     "Workloads of elastic jobs in whose place another one is since the start"},
    {BOTH("execution_time_seconds"), "How long finished workloads were admitted"},
};

bool sl_metrics_meter(size_t i, bool local, const struct sl_meters *counted, const char *role,
                      struct sl_buf *out)
{
    const char *name = local ? meters[i].local_name : meters[i].name;
    if (name != NULL) {
        sl_metrics_help(out, name, is_total(name) ? "counter" : "histogram", meters[i].text);
        sl_meters_print(counted, name, role, out);
    }
    return i + 1 < sizeof meters / sizeof meters[0];
}

static void totals(struct sl_buf *out, const struct sl_pages *p)
{
    struct sl_engine_counters e;
    struct sl_controller_counters c;
    sl_engine_count(p->engine, &e);
    sl_controllers_count(p->controllers, &c);
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

/* --- the page, part by part ------------------------------------------------------------------ */

/* Only where the Configuration wants Workloads counted by their labels. */
static bool count_marks(struct scrape *s, struct sl_buf *out)
{
    (void)out;
    const struct sl_custom_labels *labels = meters_of(s)->metered.custom;
    if (!sl_custom_labels_from(labels, SL_KIND_WORKLOAD)) {
        return false;
    }
    if (s->counted == NULL) {
        s->counted = sl_marks_new(s->pages->engine, sl_custom_labels_marks(labels));
        s->marks = (struct sl_metrics_marks){s->counted, labels};
    }
    return sl_marks_go_on(s->counted);
}

/* One queue or Cohort. False: there is none left. */
static bool write_qnode(struct scrape *s, struct sl_buf *out)
{
    if (s->at < s->count) {
        bool cohort = s->kinds[s->at] == SL_KIND_COHORT;
        (cohort ? print_cohort : print_queue)(s, s->names[s->at]);
        s->at++;
        return true;
    }
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        sl_metrics_help(out, families[i].metric, is_total(families[i].metric) ? "counter" : "gauge",
                        families[i].text);
        sl_buf_add(out, s->families[i].data, s->families[i].len);
        sl_buf_fini(&s->families[i]);
    }
    sl_metrics_help(out, "kueue_cohort_weighted_share", "gauge",
                    "Share of the parent's quota that is borrowed, by weight");
    sl_buf_add(out, s->cohorts.data, s->cohorts.len);
    return false;
}

static bool write_meters(struct scrape *s, struct sl_buf *out)
{
    size_t before = out->len;
    bool more = sl_metrics_meter(s->meter++, false, &meters_of(s)->meters, role_of(s->pages), out);
    sl_effort_text(out->len - before);
    return more;
}

static bool write_locals(struct scrape *s, struct sl_buf *out)
{
    const struct sl_workload_meters *counted = meters_of(s);
    if (!counted->metered.on) {
        return false;
    }
    if (s->locals == NULL) {
        s->locals = sl_metrics_locals_new(s->pages, counted, &s->marks, role_of(s->pages));
    }
    return sl_metrics_locals_go_on(s->locals, counted, out);
}

static bool write_totals(struct scrape *s, struct sl_buf *out)
{
    if (meters_of(s)->metered.cohorts) {
        size_t before = out->len;
        sl_metrics_tree(s->pages->engine, meters_of(s), role_of(s->pages), out);
        sl_effort_text(out->len - before);
    }
    totals(out, s->pages);
    return false;
}

/* A standby has only this. */
static bool write_own(struct scrape *s, struct sl_buf *out)
{
    const struct sl_pages *p = s->pages;
    sl_metrics_help(out, "kueue_build_info", "gauge", "1, with version and build as labels");
    sl_buf_print(
        out,
        "kueue_build_info{git_version=\"%s\",git_commit=\"%s\",build_date=\"%s\",go_version=\"\","
        "compiler=\"%s\",platform=\"%s\",name=\"sluice\"} 1\n",
        SL_VERSION, SL_BUILD_COMMIT, SL_BUILD_DATE, SL_BUILD_COMPILER, SL_BUILD_PLATFORM);
    if (p->metrics != NULL) {
        p->metrics(p->context, out);
    }
    process(out);
    return false;
}

/* Each writes something; false: that was all of it. */
static bool (*const parts[])(struct scrape *s, struct sl_buf *out) = {
    count_marks, write_qnode, write_meters, write_locals, write_totals, write_own};
#define PART_COUNT (sizeof parts / sizeof parts[0])

static bool write_slice(struct sl_server_rest *rest, struct sl_server_page *page)
{
    struct scrape *s = (struct scrape *)rest;
    uint64_t begin = sl_effort_steps;
    while (s->part < PART_COUNT && sl_effort_steps - begin < SL_PAGE_SLICE_STEPS) {
        s->part += !parts[s->part](s, &page->body);
    }
    return s->part < PART_COUNT;
}

static void free_scrape(struct sl_server_rest *rest)
{
    struct scrape *s = (struct scrape *)rest;
    for (uint32_t i = 0; i < s->count; i++) {
        sl_mem_free(s->names[i]);
    }
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        sl_buf_fini(&s->families[i]);
    }
    sl_buf_fini(&s->cohorts);
    sl_metrics_locals_free(s->locals);
    sl_marks_free(s->counted);
    sl_mem_free(s->families);
    sl_mem_free(s->names);
    sl_mem_free(s->kinds);
    sl_mem_free(s);
}

static void note_qnode(void *context, enum sl_kind kind, const char *name)
{
    struct scrape *s = context;
    s->names = sl_mem_reach(s->names, &s->name_cap, 64, s->count, sizeof *s->names);
    s->kinds = sl_mem_reach(s->kinds, &s->kind_cap, 64, s->count, sizeof *s->kinds);
    s->names[s->count] = sl_mem_text(name);
    s->kinds[s->count++] = kind;
}

void sl_pages_metrics(void *context, const char *path, const char *query,
                      struct sl_server_page *page)
{
    SL_PRE(page != NULL);
    (void)path;
    (void)query;
    const struct sl_pages *p = context;
    struct scrape *s = sl_mem_new(1, sizeof *s);
    *s = (struct scrape){.rest = {write_slice, free_scrape}, .pages = p, .part = PART_COUNT - 1};
    s->families = sl_mem_new(FAMILY_COUNT, sizeof *s->families);
    page->content_type = "text/plain; version=0.0.4; charset=utf-8";
    page->rest = &s->rest;
    if (p->engine != NULL) {
        s->part = 0;
        sl_engine_each_qnode(p->engine, note_qnode, s);
    }
}
