/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Per pod set what was in the way of each flavor, joined by commas. */
#include "engine/conditions/message.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/conditions/conditions.h"
#include "engine/conditions/unplaced.h"
#include "engine/journal/status_text.h"
#include "engine/records/names.h"
#include "engine/state.h"
#include "kernel/commit/placement.h"
#include "policy/cycle/cycle.h"
#include "policy/requests/requests.h"
#include "policy/common/settings.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

static const char *pod_set_name(const struct sl_engine *g, sl_workload_id id, uint32_t pod_set)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    return pod_set < e->pod_set_count ? e->pod_sets[pod_set].name : "?";
}

/* --- what is in the way ----------------------------------------------------------------------- */

/* Those of one pod set, which Kueue puts in order. */
static char gathered[SL_DETAILS_MAX + 1][SL_CLAUSE_SIZE];
static uint32_t gathered_count;

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void begin_pod_set(const struct sl_engine *g, sl_workload_id id, uint32_t pod_set,
                          bool error, char *out)
{
    add(out, "%s%s to pod set %s: ", out[0] == '\0' ? "" : "; ",
        error ? "failed to assign flavors" : "couldn't assign flavors",
        pod_set_name(g, id, pod_set));
}

static void add_gathered(const struct sl_engine *g, uint32_t pod_set, char *out)
{
    begin_pod_set(g, sl_assignment.workload, pod_set, false, out);
    qsort(gathered, gathered_count, SL_CLAUSE_SIZE, by_text);
    for (uint32_t i = 0; i < gathered_count; i++) {
        add(out, "%s%s", i == 0 ? "" : ", ", gathered[i]);
    }
    gathered_count = 0;
}

static bool is_of(uint32_t detail, uint32_t pod_set)
{
    return detail < sl_assignment.detail_count && sl_assignment.details[detail].pod_set == pod_set;
}

static void add_placement(const struct sl_engine *g, sl_workload_id id, char *out)
{
    char clause[SL_CLAUSE_SIZE];
    bool error = sl_clause_of_placement(g, id, clause);
    begin_pod_set(g, id, sl_assignment.topology_failure.pod_set, error, out);
    add(out, "%s", clause);
}

/* Beside what else is in the way of its pod set, where something is. */
static void gather_placement(const struct sl_engine *g, uint32_t pod_set, bool *said)
{
    const struct sl_placement_failure *f = &sl_assignment.topology_failure;
    if (f->miss != SL_PLACEMENT_OK && f->miss != SL_PLACEMENT_NO_TREE && f->pod_set == pod_set) {
        (void)sl_clause_of_placement(g, sl_assignment.workload, gathered[gathered_count++]);
        *said = true;
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
    bool said = sl_assignment.topology_failure.miss == SL_PLACEMENT_OK;
    out[0] = '\0';
    gathered_count = 0;
    for (uint32_t i = 0; i < sl_assignment.detail_count; i++) {
        uint32_t pod_set = sl_assignment.details[i].pod_set;
        sl_clause_of_detail(g, &sl_assignment.details[i], gathered[gathered_count++]);
        if (!is_of(i + 1, pod_set)) {
            gather_placement(g, pod_set, &said);
            add_gathered(g, pod_set, out);
        }
    }
    if (sl_assignment.details_left_out > 0) {
        add(out, ", and %u more reasons", sl_assignment.details_left_out);
    }
    if (!said) {
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

/* That is no preemption: it makes way for another variant of its Workload. */
static void say_migration(const struct sl_engine *g, char out[static SL_MESSAGE_SIZE])
{
    out[0] = '\0';
    add(out,
        "Evicted to accommodate a workload (UID: %s) due to migration to more favorable resource "
        "flavor",
        g->workloads[sl_cycle_outcome.workload].uid);
}

void sl_message_from_preemption(struct sl_engine *g, sl_workload_id victim,
                                enum sl_preempt_reason reason, char out[static SL_MESSAGE_SIZE])
{
    SL_PRE(g != NULL);
    if (reason == SL_PREEMPT_FLAVOR_MIGRATION) {
        say_migration(g, out);
        return;
    }
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

const char sl_message_checks[] = "The workload has failed admission checks";
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
    } else if (sl_cycle_outcome.variant == SL_VARIANT_COMES_LATER) {
        add(out, "A more favorable variant is already admitted");
    } else if (sl_cycle_outcome.variant == SL_VARIANT_BELOW_LIMIT) {
        add(out, "Target flavor is below LastAcceptableFlavorName");
    } else if (sl_cycle_outcome.status != SL_OK) {
        SL_ASSERT(sl_cycle_outcome.status < SL_STATUS_COUNT);
        add(out, "%s", sl_status_text(sl_cycle_outcome.status));
    } else if (sl_cycle_outcome.overlaps) {
        add(out, "Workload has overlapping preemption targets with another workload%s",
            sl_cycle_outcome.reason == SL_PENDING_PREEMPTED_WORKLOADS
                ? ", but will fit after these preemptions complete"
                : "");
    } else if (sl_cycle_outcome.reason == SL_PENDING_GATED) {
        add(out, "%s", sl_condition_gate_closed);
    } else if (sl_cycle_outcome.reason == SL_PENDING_PREEMPTED_WORKLOADS) {
        sl_message_from_assignment(g, out);
        add(out, "%sPending the %s of %u workload(s)", out[0] == '\0' ? "" : ". ",
            sl_cycle_outcome.variant == SL_VARIANT_MIGRATES ? "migration" : "preemption",
            sl_cycle_outcome.victim_count);
    } else {
        sl_message_from_assignment(g, out);
        add_restraint(g, out);
    }
}
