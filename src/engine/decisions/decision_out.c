/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Decisions become merge patches: the status that the record wants, and of it only what differs
 * from the live object. Lists are replaced whole in a merge patch, so each starts from the live
 * one. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/conditions/answers.h"
#include "engine/conditions/conditions.h"
#include "engine/conditions/released.h"
#include "engine/decisions/decision_out.h"
#include "engine/decisions/preemption_gates.h"
#include "engine/decisions/slices.h"
#include "engine/requests/requests.h"
#include "engine/records/rules.h"
#include "engine/decisions/standing.h"
#include "engine/topology/topology_out.h"
#include <string.h>

/* --- status.admission ------------------------------------------------------------------------- */

static void add_choice(struct sl_engine *g, struct sl_json *flavors, struct sl_json *usage,
                       const struct sl_choice *choice)
{
    char amount[64];
    const char *resource = sl_intern_name(g->names, SL_INTERN_RESOURCE, choice->resource);
    sl_quantity_print_amount(choice->amount, resource, amount);
    sl_json_set_text(flavors, resource, sl_intern_name(g->names, SL_INTERN_FLAVOR, choice->flavor));
    sl_json_set_text(usage, resource, amount);
}

static struct sl_json *new_pod_set_assignment(struct sl_engine *g, sl_workload_id id,
                                              uint32_t pod_set, const char *name,
                                              const struct sl_json *was)
{
    const struct sl_admission *a = g->workloads[id].admission;
    struct sl_json *item = sl_json_new_map();
    struct sl_json *flavors = sl_json_new_map();
    struct sl_json *usage = sl_json_new_map();
    for (uint32_t i = 0; i < a->choice_count; i++) {
        if (a->choices[i].pod_set == pod_set) {
            add_choice(g, flavors, usage, &a->choices[i]);
        }
    }
    sl_json_set_text(item, "name", name);
    /* Absent where it would be empty, as Kueue writes it, and what was taken over stays as it was: one who shares the object
     * would own a part of it else, and an admission may not be changed. */
    sl_json_set_filled(item, "flavors", flavors);
    if (was == NULL || sl_json_has(was, "resourceUsage")) {
        sl_json_set_filled(item, "resourceUsage", usage);
    } else {
        sl_json_free(usage);
    }
    if (was == NULL || sl_json_has(was, "count")) {
        sl_json_set_int(item, "count", a->counts[pod_set]);
    }
    sl_topology_out_write(g, id, pod_set, item);
    return item;
}

static struct sl_json *new_admission(struct sl_engine *g, sl_workload_id id,
                                     const struct sl_json *workload)
{
    const struct sl_json *pod_sets = sl_json_path(workload, "spec.podSets");
    const struct sl_json *before = sl_json_path(workload, "status.admission.podSetAssignments");
    struct sl_json *admission = sl_json_new_map();
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; i < g->workloads[id].admission->pod_set_count; i++) {
        const char *name = sl_json_path_text(sl_json_at(pod_sets, i), "name", "main");
        const struct sl_json *was = sl_json_find_by(before, "name", name);
        sl_json_append(list, new_pod_set_assignment(g, id, i, name, was));
    }
    sl_json_set_text(admission, "clusterQueue", sl_engine_queue_of(g, id));
    sl_json_set(admission, "podSetAssignments", list);
    return admission;
}

/* --- status.admissionChecks ------------------------------------------------------------------- */

/* How often it asked to retry, counted in the object, where a restart finds it; any other answer ends the count. */
static void count_try(struct sl_json *item, const char *answer)
{
    if (strcmp(answer, "Retry") == 0) {
        sl_json_set_int(item, "retryCount", sl_json_path_int(item, "retryCount", 0) + 1);
    } else {
        sl_json_remove(item, "retryCount");
    }
}

/* One check as the record has it. A state that the core has reset keeps what it was in its message.
 */
static struct sl_json *new_check(const struct sl_json *live, const char *name,
                                 const struct sl_check *check, const struct sl_condition_view *v,
                                 bool unread)
{
    const struct sl_workload *w = v->record;
    bool reactivated =
        w->active && w->phase != SL_PHASE_EVICTED && w->requeue_reason == SL_REQUEUE_REACTIVATED;
    const char *state = sl_answers_state_text(check->state);
    const char *old = sl_json_path_text(live, "state", "");
    struct sl_json *item = live == NULL ? sl_json_new_map() : sl_json_clone(live);
    if (strcmp(old, state) != 0 && !(unread && live != NULL)) {
        char time[32];
        struct sl_buf message = {0};
        sl_clock_format(v->now_ms, time);
        if (live != NULL) {
            sl_buf_print(&message, "Reset to %s after %s. Previously: %s", state,
                         reactivated ? "reactivation" : "eviction", old);
        } else {
            sl_buf_text(&message, "");
        }
        sl_json_set_text(item, "name", name);
        sl_json_set_text(item, "state", state);
        sl_json_set_text(item, "lastTransitionTime", time);
        sl_json_set_text(item, "message", message.data);
        sl_json_remove(item, "podSetUpdates");
        count_try(item, old);
        sl_buf_fini(&message);
    }
    return item;
}

/* Sorted by name, so that equal sets look equal. */
static void insert_sorted(struct sl_json *list, struct sl_json *item)
{
    const char *name = sl_json_path_text(item, "name", "");
    size_t at = sl_json_len(list);
    sl_json_append(list, item);
    while (at > 0 && strcmp(sl_json_path_text(sl_json_at(list, at - 1), "name", ""), name) > 0) {
        struct sl_json *before = sl_json_ref(sl_json_at(list, at - 1));
        struct sl_json *moved = sl_json_ref(sl_json_at(list, at));
        sl_json_put_at(list, at, before);
        sl_json_put_at(list, at - 1, moved);
        at--;
    }
}

/* A check that only some flavors ask for is not shown before the flavors are known. */
static bool may_not_apply(const struct sl_engine *g, sl_workload_id id,
                          const struct sl_workload *record, sl_check_id check)
{
    sl_qnode_id qnode = g->workloads[id].queue->cluster_queue;
    return (g->workloads[id].admission == NULL || !record->has_admission) && qnode != SL_NO_ID &&
           sl_rules_by_flavor(g->qnodes[qnode], check);
}

static void write_checks(struct sl_engine *g, struct sl_json *status, sl_workload_id id,
                         const struct sl_condition_view *v, bool unread)
{
    const struct sl_workload *record = v->record;
    const struct sl_json *live = sl_json_get(status, "admissionChecks");
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; i < record->check_count; i++) {
        const char *name = sl_intern_name(g->names, SL_INTERN_CHECK, record->checks[i].check);
        const struct sl_json *old = sl_json_find_by(live, "name", name);
        if (old != NULL || !may_not_apply(g, id, record, record->checks[i].check)) {
            insert_sorted(list, new_check(old, name, &record->checks[i], v, unread));
        }
    }
    sl_json_set_filled(status, "admissionChecks", list);
}

/* --- the rest of the status ------------------------------------------------------------------- */

static void write_requeue_state(struct sl_json *status, const struct sl_workload *record)
{
    struct sl_json *state = sl_json_new_map();
    if (record->requeue_count > 0) {
        sl_json_set_int(state, "count", record->requeue_count);
    }
    if (record->requeue_at_ms != SL_NEVER) {
        char time[32];
        sl_clock_format(record->requeue_at_ms, time);
        sl_json_set_text(state, "requeueAt", time);
    }
    sl_json_set_filled(status, "requeueState", state);
}

/* schedulingStats.evictions[reason, cause]: counted once per eviction, when the condition turns
 * true. */
static const char *underlying_cause(const struct sl_json *workload,
                                    const struct sl_workload *record)
{
    if (record->evicted == SL_EVICT_DEACTIVATED) {
        return sl_condition_cause(record);
    }
    if (record->evicted != SL_EVICT_PODS_READY_TIMEOUT) {
        return "";
    }
    const struct sl_json *ready = sl_condition_find(workload, "PodsReady");
    bool recovers = strcmp(sl_json_path_text(ready, "reason", ""), "WaitForRecovery") == 0;
    return recovers ? "WaitForRecovery" : "WaitForStart";
}

static void count_eviction(struct sl_json *status, const struct sl_json *workload,
                           const struct sl_workload *record)
{
    const char *reason =
        record->evicted == SL_EVICT_DEACTIVATED ? "Deactivated" : sl_condition_evict_reason(record);
    const char *cause = underlying_cause(workload, record);
    struct sl_json *stats = sl_json_path_make(status, "schedulingStats");
    struct sl_json *list = sl_json_get(stats, "evictions");
    if (list == NULL) {
        list = sl_json_new_list();
        sl_json_set(stats, "evictions", list);
    }
    for (size_t i = 0; i < sl_json_len(list); i++) {
        struct sl_json *item = sl_json_at(list, i);
        if (strcmp(sl_json_path_text(item, "reason", ""), reason) == 0 &&
            strcmp(sl_json_path_text(item, "underlyingCause", ""), cause) == 0) {
            sl_json_set_int(item, "count", sl_json_path_int(item, "count", 0) + 1);
            return;
        }
    }
    struct sl_json *item = sl_json_new_map();
    sl_json_set_text(item, "reason", reason);
    sl_json_set_text(item, "underlyingCause", cause);
    sl_json_set_int(item, "count", 1);
    sl_json_append(list, item);
}

/* Refused by a cycle, not for what its queues are: only then is it worth saying what it asked for.
 */
static bool refused_by_cycle(const struct sl_workload *record, const struct sl_condition_view *v)
{
    switch (record->pending_reason) {
    case SL_PENDING_NO_MATCHING_FLAVOR:
    case SL_PENDING_EXCEEDS_MAX_QUOTA:
    case SL_PENDING_WAITING_FOR_QUOTA:
    case SL_PENDING_TOPOLOGY_FAILED:
    case SL_PENDING_PREEMPTED_WORKLOADS:
    case SL_PENDING_PODS_READY:
        return true;
    case SL_PENDING_MISCONFIGURED:
        return !v->queue_to_blame;
    case SL_PENDING_GATED:
        return sl_condition_preemption_gated(record);
    case SL_PENDING_EVALUATION:
        return sl_words_has_waiting(v->words, record);
    default:
        return false;
    }
}

static struct sl_json *new_resources(struct sl_engine *g, const struct sl_requests *r)
{
    struct sl_json *resources = sl_json_new_map();
    for (uint32_t i = 0; i < r->count; i++) {
        char amount[64];
        const char *name = sl_intern_name(g->names, SL_INTERN_RESOURCE, r->items[i].resource);
        sl_quantity_print_amount(sl_requests_total(r, i), name, amount);
        sl_json_set_text(resources, name, amount);
    }
    return resources;
}

/* What was asked for, shown from its refusal until it is granted. */
static void write_resource_requests(struct sl_engine *g, struct sl_json *status,
                                    const struct sl_json *workload,
                                    const struct sl_condition_view *v)
{
    static struct sl_requests requests[SL_POD_SETS_MAX];
    const struct sl_workload *record = v->record;
    const struct sl_json *pod_sets = sl_json_path(workload, "spec.podSets");
    uint32_t count = 0;
    if (record->phase == SL_PHASE_QUOTA_RESERVED || record->phase == SL_PHASE_ADMITTED) {
        sl_json_remove(status, "resourceRequests");
        return;
    }
    if (record->phase != SL_PHASE_PENDING || !refused_by_cycle(record, v) ||
        sl_requests_read(g, workload, requests, &count, NULL) != SL_CODE_OK) {
        return;
    }
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; i < count; i++) {
        struct sl_json *item = sl_json_new_map();
        sl_json_set_text(item, "name", sl_json_path_text(sl_json_at(pod_sets, i), "name", "main"));
        sl_json_set(item, "resources", new_resources(g, &requests[i]));
        sl_json_append(list, item);
    }
    sl_json_set(status, "resourceRequests", list);
}

static void write_rest(struct sl_engine *g, struct sl_json *status, sl_workload_id id,
                       const struct sl_condition_view *v, bool unread)
{
    const struct sl_workload *record = v->record;
    write_checks(g, status, id, v, unread);
    write_requeue_state(status, record);
    sl_topology_out_write_failed(g, record, status);
    if (record->accumulated_ms > 0) {
        sl_json_set_int(status, "accumulatedPastExecutionTimeSeconds",
                        record->accumulated_ms / 1000);
    } else {
        sl_json_remove(status, "accumulatedPastExecutionTimeSeconds");
    }
}

static void write_admission(struct sl_engine *g, struct sl_json *status, sl_workload_id id,
                            const struct sl_workload *record, const struct sl_json *workload)
{
    const struct sl_workload_entry *entry = &g->workloads[id];
    if (!record->has_admission) {
        sl_json_remove(status, "admission");
    } else if (entry->admission != NULL) {
        sl_json_set(status, "admission", new_admission(g, id, workload));
    }
}

/* --- the patch -------------------------------------------------------------------------------- */

static struct sl_json *wrap(const struct sl_json *workload, const char *part, struct sl_json *patch)
{
    if (patch == NULL) {
        return NULL;
    }
    struct sl_json *whole = sl_json_new_map();
    sl_json_set_text(sl_json_path_make(whole, "metadata"), "resourceVersion",
                     sl_object_resource_version(workload));
    sl_json_set(whole, part, patch);
    return whole;
}

/* Why it is to be deactivated stands in the object first: who goes on after a restart between this write and that of
 * the eviction has it from there. */
static bool says_why(const struct sl_json *workload, const struct sl_workload *record)
{
    const struct sl_json *c = sl_condition_find(workload, "DeactivationTarget");
    return record->deactivation == SL_CAUSE_NONE ||
           !sl_json_path_bool(workload, "spec.active", true) ||
           (sl_condition_true(workload, "DeactivationTarget") &&
            strcmp(sl_json_path_text(c, "reason", ""), sl_condition_cause(record)) == 0);
}

static struct sl_json *new_deactivation(const struct sl_json *workload)
{
    if (!sl_json_path_bool(workload, "spec.active", true)) {
        return NULL;
    }
    struct sl_json *spec = sl_json_new_map();
    sl_json_set_bool(spec, "active", false);
    return wrap(workload, "spec", spec);
}

static struct sl_json *new_status_patch(struct sl_engine *g, sl_workload_id id,
                                        const struct sl_json *workload,
                                        const struct sl_condition_view *v)
{
    const struct sl_json *live = sl_json_get(workload, "status");
    struct sl_json *wanted = live == NULL ? sl_json_new_map() : sl_json_clone(live);
    bool newly_evicted =
        v->record->evicted != SL_EVICT_NONE && !sl_condition_true(workload, "Evicted");
    sl_condition_write(wanted, v);
    write_admission(g, wanted, id, v->record, workload);
    write_rest(g, wanted, id, v, !newly_evicted && sl_answers_unread(g, id, workload));
    write_resource_requests(g, wanted, workload, v);
    if (sl_preemption_gates_count(g)) {
        sl_preemption_gates_write(workload, wanted, newly_evicted, v->now_ms);
    }
    if (newly_evicted) {
        count_eviction(wanted, workload, v->record);
        sl_json_remove(wanted, "clusterName"); /* a dispatcher chooses anew */
        sl_json_remove(wanted, "nominatedClusterNames");
    }
    struct sl_json *patch = sl_patch_between_new(live, wanted);
    sl_json_free(wanted);
    return patch;
}

/* Its record is as it ended. */
static struct sl_json *new_finish(struct sl_engine *g, const struct sl_decision *d,
                                  const struct sl_json *workload)
{
    struct sl_workload_entry *e = &g->workloads[d->workload];
    bool is_it = sl_workloads[d->workload].generation == d->generation && e->uid != NULL &&
                 strcmp(sl_object_uid(workload), e->uid) == 0;
    struct sl_json *patch = is_it ? sl_slice_finish_new(g, d->workload, workload, d->now_ms) : NULL;
    if (patch != NULL) {
        e->base_version = sl_released_version(workload);
    }
    return wrap(workload, "status", patch);
}

struct sl_json *sl_patch_from_decision(struct sl_engine *g, const struct sl_decision *d,
                                       const struct sl_json *workload, bool *status)
{
    SL_PRE(g != NULL && d != NULL && workload != NULL && status != NULL);
    const struct sl_workload *record = &sl_workloads[d->workload];
    *status = d->kind != SL_DECIDE_DEACTIVATE || !says_why(workload, record);
    if (d->kind == SL_DECIDE_FINISH) {
        return new_finish(g, d, workload);
    }
    if (d->kind == SL_DECIDE_DELETE || d->kind == SL_DECIDE_UNPLACED || d->kind == SL_DECIDE_LATE ||
        record->generation != d->generation || record->phase == SL_PHASE_ABSENT ||
        record->phase == SL_PHASE_FINISHED || sl_condition_true(workload, "Finished") ||
        strcmp(sl_object_uid(workload), g->workloads[d->workload].uid) != 0 ||
        sl_reserved_meanwhile(g, d, workload)) {
        return NULL;
    }
    g->workloads[d->workload].base_version = sl_released_version(workload);
    if (!*status) {
        return new_deactivation(workload);
    }
    const struct sl_released *past = sl_released_to_write(g, d, workload);
    record = past != NULL ? &past->record : record;
    struct sl_condition_view view = {
        .record = record,
        .cluster_queue = sl_engine_queue_of(g, d->workload),
        .words = past != NULL ? &past->words : &g->workloads[d->workload].words,
        .granular = g->settings.granular_reasons,
        .waits_for_pods = g->settings.wait_for_pods_ready,
        .queue_to_blame = sl_standing_queue_to_blame(g, d->workload),
        .other_trouble =
            d->kind == SL_DECIDE_PENDING && (record->pending_reason == SL_PENDING_MISCONFIGURED ||
                                             record->pending_reason == SL_PENDING_SUSPENDED),
        .gate_closed = past == NULL && sl_preemption_gates_hold(g, d->workload),
        .generation = sl_object_generation(workload),
        .now_ms = d->now_ms};
    return wrap(workload, "status", new_status_patch(g, d->workload, workload, &view));
}
