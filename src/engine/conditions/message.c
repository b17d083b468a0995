/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One clause per flavor that would not do, joined by commas. */
#include "engine/conditions/message.h"
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/journal/status_text.h"
#include "engine/records/names.h"
#include "engine/state.h"
#include "kernel/commit/placement.h"
#include "policy/cycle/cycle.h"
#include "policy/requests/requests.h"
#include "policy/common/settings.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *out, const char *format, ...)
{
    size_t len = strlen(out);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out + len, SL_MESSAGE_SIZE - len, format, args);
    va_end(args);
    if (n >= 0 && len + (size_t)n >= SL_MESSAGE_SIZE) {
        memcpy(out + SL_MESSAGE_SIZE - 4, "...", 4);
    }
}

static const char *name_of(const struct sl_engine *g, enum sl_intern_class c, uint32_t id)
{
    const char *name = sl_intern_name(g->names, c, id);
    return name == NULL ? "?" : name;
}

/* %f is the flavor, %r the resource, %a the amount. */
static const char *const clauses[] = {
    [SL_MISS_NOT_OFFERED] = "resource %r unavailable in ClusterQueue",
    [SL_MISS_TAINT] = "flavor %f has a taint that is not tolerated",
    [SL_MISS_AFFINITY] = "flavor %f doesn't match node affinity",
    [SL_MISS_NO_FLAVOR] = "flavor %f not found",
    [SL_MISS_MAX_QUOTA] = "request exceeds the maximum quota for %r in flavor %f by %a",
    [SL_MISS_UNUSED_QUOTA] = "insufficient unused quota for %r in flavor %f, %a more needed",
    [SL_MISS_NO_TOPOLOGY] = "Flavor \"%f\" does not support TopologyAwareScheduling",
    [SL_MISS_ONLY_TOPOLOGY] = "Flavor \"%f\" supports only TopologyAwareScheduling",
    [SL_MISS_NO_LEVEL] = "Flavor \"%f\" does not contain the requested level",
    [SL_MISS_NO_TREE] = "Flavor \"%f\" information missing in TAS cache",
};

static void add_clause(const struct sl_engine *g, const struct sl_detail *d, char *out)
{
    const char *flavor = name_of(g, SL_INTERN_FLAVOR, d->flavor);
    const char *resource = name_of(g, SL_INTERN_RESOURCE, d->resource);
    char amount[64];
    sl_quantity_print_amount(d->amount, resource, amount);
    for (const char *at = clauses[d->miss]; *at != '\0';) {
        size_t plain = strcspn(at, "%");
        add(out, "%.*s", (int)plain, at);
        at += plain;
        if (*at == '%') {
            add(out, "%s", at[1] == 'f' ? flavor : at[1] == 'r' ? resource : amount);
            at += 2;
        }
    }
}

/* --- where there is no place ------------------------------------------------------------------ */

static const char *pod_set_name(const struct sl_engine *g, sl_workload_id id, uint32_t pod_set)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    return pod_set < e->pod_set_count ? e->pod_sets[pod_set].name : "?";
}

static struct sl_topology_request request_of(sl_workload_id id, uint32_t pod_set)
{
    uint32_t record = sl_requests_first_pod_set(id);
    for (uint32_t i = 0; i < pod_set && record != SL_NO_ID; i++) {
        record = sl_requests_next_pod_set(record);
    }
    return sl_topology_request_of(record);
}

/* One more cause for which nodes are left out. */
static void add_cause(char *out, bool *first, uint32_t count, const char *what, const char *name)
{
    if (count > 0) {
        add(out, "%s%s%s %u", *first ? ": " : ", ", what, name, count);
        *first = false;
    }
}

static void add_nodes_left_out(const struct sl_engine *g, const struct sl_placement_failure *f,
                               char *out)
{
    bool first = true;
    if (f->total_sites == 0) {
        return;
    }
    add(out, "; of %u node%s some cannot be used", f->total_sites, f->total_sites == 1 ? "" : "s");
    add_cause(out, &first, f->by_selector, "node selector", "");
    add_cause(out, &first, f->by_affinity, "node affinity", "");
    add_cause(out, &first, f->by_domain, "outside the domain", "");
    for (uint32_t i = 0; i < SL_TAINTS_MAX; i++) {
        if (f->by_taint[i] > 0) {
            add_cause(out, &first, f->by_taint[i], "taint ", sl_names_taint(g, i));
        }
    }
    for (uint32_t i = 0; i < SL_MEASURES_MAX; i++) {
        if (f->by_measure[i] > 0) {
            add_cause(out, &first, f->by_measure[i], "too little ", sl_names_measure(g, i));
        }
    }
}

static void add_fit(const struct sl_engine *g, sl_workload_id id, char *out)
{
    const struct sl_placement_failure *f = &sl_assignment.topology_failure;
    struct sl_topology_request d = request_of(id, f->pod_set);
    add(out, "topology %s has room for %u of %u %s%s", sl_names_topology(g, f->tree), f->fit, f->of,
        f->slices ? "slice" : "pod", f->of == 1 ? "" : "s");
    if (d.together == SL_TOGETHER_REQUIRED) {
        add(out, " within one %s", sl_names_level_key(g, d.level));
    }
    for (uint32_t i = 0; i < f->level_count; i++) {
        const struct sl_placement_level *l = &f->levels[i];
        add(out, "%s%s %u of %u", i == 0 ? " (" : ", ", sl_names_level(g, f->tree, l->depth),
            l->fit, l->of);
    }
    add(out, "%s", f->level_count > 0 ? ")" : "");
    add_nodes_left_out(g, f, out);
}

/* From sl_assignment.topology_failure. */
static void add_placement(const struct sl_engine *g, sl_workload_id id, char *out)
{
    const struct sl_placement_failure *f = &sl_assignment.topology_failure;
    const char *topology = sl_names_topology(g, f->tree);
    sl_level_id level;
    add(out, "pod set %s: ", pod_set_name(g, id, f->pod_set));
    switch (f->miss) {
    case SL_PLACEMENT_OK:
        add(out, "other workloads were assigned there in this cycle; it will be tried again");
        break;
    case SL_PLACEMENT_NO_FIT:
        add_fit(g, id, out);
        break;
    case SL_PLACEMENT_NO_LEVEL:
        level = request_of(id, f->pod_set).level;
        add(out, "topology %s lacks the level %s", topology,
            level == SL_NO_ID ? "that the pods ask for" : sl_names_level_key(g, level));
        break;
    case SL_PLACEMENT_NO_SLICE_LEVEL:
        add(out, "topology %s lacks a level that its slices ask for", topology);
        break;
    case SL_PLACEMENT_SLICE_ABOVE:
        add(out, "its slices ask for a level above the one in which the pods must stay together");
        break;
    case SL_PLACEMENT_SLICE_SIZE:
        add(out, "its slices have no size, or sizes that do not divide each other and the pods");
        break;
    case SL_PLACEMENT_STALE:
        add(out, "it also uses %s, which topology %s no longer has", sl_names_value(g, f->domain),
            topology);
        break;
    case SL_PLACEMENT_NO_TREE:
        add(out, "not exactly one of the flavors that it would get has a topology");
        break;
    case SL_PLACEMENT_NO_DOMAINS:
        add(out, "topology %s has no domains", topology);
        break;
    case SL_PLACEMENT_FULL:
        add(out, "it would use more domains than the daemon can hold");
        break;
    }
}

void sl_message_from_placement(struct sl_engine *g, char out[static SL_MESSAGE_SIZE])
{
    out[0] = '\0';
    if (sl_cycle_outcome.status != SL_OK) {
        SL_ASSERT(sl_cycle_outcome.status < SL_STATUS_COUNT);
        add(out, "%s", sl_status_text(sl_cycle_outcome.status));
    } else {
        add_placement(g, sl_cycle_outcome.workload, out);
    }
}

void sl_message_from_failed_nodes(struct sl_engine *g, char out[static SL_MESSAGE_SIZE])
{
    out[0] = '\0';
    add(out, "Workload was evicted as there was no replacement for unhealthy node(s): ");
    for (uint32_t i = 0; i < sl_placement_failed_count; i++) {
        add(out, "%s%s", i == 0 ? "" : ",", sl_names_host(g, sl_placement_failed[i]));
    }
}

/* --- why it waits ----------------------------------------------------------------------------- */

/* What does not fit is told for all of its pods. */
static bool makes_do_with_fewer(sl_workload_id id)
{
    for (uint32_t set = sl_requests_first_pod_set(id);
         set != SL_NO_ID && sl_settings.partial_admission; set = sl_requests_next_pod_set(set)) {
        if (sl_requests_min_count(set) < sl_requests_pod_count(set)) {
            return true;
        }
    }
    return false;
}

void sl_message_from_assignment(struct sl_engine *g, char out[static SL_MESSAGE_SIZE])
{
    SL_PRE(g != NULL);
    uint32_t pod_set = SL_NO_ID;
    out[0] = '\0';
    for (uint32_t i = 0; i < sl_assignment.detail_count; i++) {
        const struct sl_detail *d = &sl_assignment.details[i];
        if (d->pod_set != pod_set) {
            pod_set = d->pod_set;
            add(out, "%scouldn't assign flavors to pod set %s: ", i == 0 ? "" : "; ",
                pod_set_name(g, sl_assignment.workload, pod_set));
        } else {
            add(out, ", ");
        }
        add_clause(g, d, out);
    }
    if (sl_assignment.details_left_out > 0) {
        add(out, ", and %u more reasons", sl_assignment.details_left_out);
    }
    if (sl_assignment.topology_failure.miss != SL_PLACEMENT_OK) {
        add(out, "%s", out[0] == '\0' ? "" : "; ");
        add_placement(g, sl_assignment.workload, out);
    }
    if (out[0] != '\0' && makes_do_with_fewer(sl_assignment.workload)) {
        add(out, "; partial admission may start it with fewer pods");
    }
}

static const char *const rules[] = {
    [SL_PREEMPT_NONE] = "UNKNOWN",
    [SL_PREEMPT_IN_CLUSTER_QUEUE] = "prioritization in the ClusterQueue",
    [SL_PREEMPT_RECLAMATION] = "reclamation within the cohort",
    [SL_PREEMPT_FAIR_SHARING] = "Fair Sharing within the cohort",
    [SL_PREEMPT_RECLAIM_WHILE_BORROWING] = "reclamation within the cohort while borrowing",
};

/* From the root of its cohorts down to itself. */
static void add_path(const struct sl_engine *g, sl_qnode_id queue, char *out)
{
    sl_qnode_id way[SL_LEVELS_MAX + 1];
    uint32_t count = 0;
    for (sl_qnode_id n = queue; n != SL_NO_ID && count <= SL_LEVELS_MAX; n = g->qnodes[n]->parent) {
        way[count++] = n;
    }
    add(out, "%s", count == 0 ? "UNKNOWN" : "");
    while (count > 0) {
        add(out, "/%s", g->qnodes[way[--count]]->name);
    }
}

void sl_message_from_preemption(struct sl_engine *g, sl_workload_id victim,
                                enum sl_preempt_reason reason, char out[static SL_MESSAGE_SIZE])
{
    SL_PRE(g != NULL);
    const struct sl_workload_entry *e = &g->workloads[sl_cycle_outcome.workload];
    out[0] = '\0';
    add(out, "Preempted to accommodate a workload (UID: %s, JobUID: %s) due to %s", e->uid,
        e->job_uid == NULL ? "UNKNOWN" : e->job_uid, rules[reason]);
    add(out, "; preemptor path: ");
    add_path(g, sl_cycle_outcome.cluster_queue, out);
    add(out, "; preemptee path: ");
    add_path(g, g->workloads[victim].held_at, out);
}

void sl_message_from_checks(const struct sl_json *object, const char *state,
                            char out[static SL_MESSAGE_SIZE])
{
    const struct sl_json *list = sl_json_path(object, "status.admissionChecks");
    char parts[SL_MESSAGE_SIZE] = "";
    uint32_t count = 0;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *item = sl_json_at(list, i);
        const char *message = sl_json_path_text(item, "message", "");
        if (strcmp(sl_json_path_text(item, "state", ""), state) == 0) {
            add(parts, "%s\"%s\"", count == 0 ? "" : "; ", sl_json_path_text(item, "name", ""));
            if (message[0] != '\0') {
                add(parts, " (%s)", message);
            }
            count++;
        }
    }
    out[0] = '\0';
    if (count > 0) {
        add(out, "AdmissionCheck%s in %s state: %s", count == 1 ? "" : "s", state, parts);
    }
}

const char sl_message_outsider[] = "workload namespace doesn't match ClusterQueue selector";

static void add_restraint(const struct sl_engine *g, char *out)
{
    const struct sl_workload_entry *e = &g->workloads[sl_cycle_outcome.workload];
    if (e->restrained_ms != SL_NEVER) {
        char until[32];
        sl_clock_format(e->restrained_ms, until);
        add(out,
            "; it may not preempt until %s: %u times it soon lost the quota that it got by "
            "preemption",
            until, e->vain_preemptions);
    }
}

void sl_message_from_outcome(struct sl_engine *g, char out[static SL_MESSAGE_SIZE])
{
    out[0] = '\0';
    if (sl_cycle_outcome.outsider) {
        add(out, "%s", sl_message_outsider);
    } else if (sl_cycle_outcome.overtaken) {
        add(out, "Workload no longer fits after processing another workload");
    } else if (sl_cycle_outcome.status != SL_OK) {
        SL_ASSERT(sl_cycle_outcome.status < SL_STATUS_COUNT);
        add(out, "%s", sl_status_text(sl_cycle_outcome.status));
    } else if (sl_cycle_outcome.overlaps) {
        add(out, "Workload has overlapping preemption targets with another workload%s",
            sl_cycle_outcome.reason == SL_PENDING_PREEMPTED_WORKLOADS
                ? ", but will fit after these preemptions complete"
                : "");
    } else if (sl_cycle_outcome.reason == SL_PENDING_PREEMPTED_WORKLOADS) {
        sl_message_from_assignment(g, out);
        add(out, "%sPending the preemption of %u workload(s)", out[0] == '\0' ? "" : ". ",
            sl_cycle_outcome.victim_count);
    } else {
        sl_message_from_assignment(g, out);
        add_restraint(g, out);
    }
}
