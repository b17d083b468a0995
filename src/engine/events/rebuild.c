/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A workload seen for the first time may have a past: another run of the daemon reserved, evicted
 * or refused it. Its object says so, and here its record gets there by the core's own events, so
 * that a restart ends where living through it would have (G10). */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/conditions/answers.h"
#include "engine/calls/call.h"
#include "engine/requests/requests.h"
#include "engine/records/event_in.h"
#include "engine/decisions/follow.h"
#include "engine/decisions/node_health.h"
#include "engine/quota/quotas.h"
#include "engine/events/restand.h"
#include "engine/topology/assignments_in.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct past {
    struct sl_engine *g;
    const struct sl_json *object;
    sl_workload_id id;
    int64_t now_ms;
    bool reserved;
    bool admitted;
    enum sl_evict_reason evicted;
    enum sl_requeued requeued;
    int64_t evicted_ms;
    int64_t requeue_at_ms; /* SL_NEVER = not set */
    int64_t accumulated_ms;
};

static const char *const evict_names[] = {
#define SL_REASON(constant, text) [constant] = text,
#include "model/evict_reasons.def"
};
static const char *const preempt_names[] = {
#include "model/preempt_reasons.def"
};
static const char *const pending_names[] = {
#include "model/pending_reasons.def"
};
static const char *const cause_names[] = {
#include "model/deactivation_causes.def"
#undef SL_REASON
};
#define COUNT_OF(names) (sizeof(names) / sizeof(names)[0])

static uint32_t find_name(const char *const *names, size_t count, const char *text, uint32_t absent)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            return i;
        }
    }
    return absent;
}

/* When a condition last changed; `absent` when that is not known. */
static int64_t time_of(const struct sl_json *object, const char *type, int64_t absent)
{
    int64_t at = sl_clock_parse(
        sl_json_path_text(sl_condition_find(object, type), "lastTransitionTime", ""));
    return at < 0 ? absent : at;
}

static enum sl_requeued read_requeued(const struct sl_json *object)
{
    const char *status = sl_json_path_text(sl_condition_find(object, "Requeued"), "status", "");
    if (strcmp(status, "True") == 0) {
        return SL_REQUEUED_TRUE;
    }
    return strcmp(status, "False") == 0 ? SL_REQUEUED_FALSE : SL_REQUEUED_UNSET;
}

static struct past read_past(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                             int64_t now_ms)
{
    struct past p = {.g = g, .object = object, .id = id, .now_ms = now_ms};
    int64_t at = sl_clock_parse(sl_json_path_text(object, "status.requeueState.requeueAt", ""));
    int64_t seconds = sl_json_path_int(object, "status.accumulatedPastExecutionTimeSeconds", 0);
    p.reserved = sl_condition_true(object, "QuotaReserved") &&
                 sl_json_path(object, "status.admission") != NULL;
    p.admitted = p.reserved && sl_condition_true(object, "Admitted");
    p.requeued = read_requeued(object);
    p.requeue_at_ms = at < 0 ? SL_NEVER : at;
    p.accumulated_ms = seconds > 0 && seconds < INT32_MAX ? seconds * 1000 : 0;
    p.evicted_ms = time_of(object, "Evicted", now_ms);
    if (sl_condition_true(object, "Evicted")) {
        const char *reason = sl_json_path_text(sl_condition_find(object, "Evicted"), "reason", "");
        bool off = strncmp(reason, "Deactivated", 11) == 0;
        p.evicted = off ? SL_EVICT_DEACTIVATED
                        : (enum sl_evict_reason)find_name(evict_names, COUNT_OF(evict_names),
                                                          reason, SL_EVICT_PREEMPTED);
    }
    return p;
}

/* --- the reservation -------------------------------------------------------------------------- */

struct usage {
    struct sl_admission *admission;
    struct sl_cell_amount items[SL_USAGE_CELLS_MAX];
    uint32_t count;
};

static bool add_usage_row(struct usage *c, sl_cell_id cell, int64_t amount)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->items[i].cell == cell) {
            c->items[i].amount += amount;
            return c->items[i].amount <= SL_AMOUNT_MAX;
        }
    }
    if (c->count == SL_USAGE_CELLS_MAX) {
        return false;
    }
    c->items[c->count++] = (struct sl_cell_amount){cell, amount};
    return true;
}

/* What so many pods of a pod set ask for; more than can be counted where that cannot be read. */
static int64_t asked_for(const struct past *p, uint32_t pod_set, sl_resource_id resource,
                         int64_t pods)
{
    static struct sl_requests requests[SL_POD_SETS_MAX];
    uint32_t count = 0;
    int64_t amount = 0;
    if (sl_requests_read(p->g, p->object, requests, &count, NULL) != SL_CODE_OK ||
        pod_set >= count) {
        return INT64_MAX;
    }
    for (uint32_t i = 0; i < requests[pod_set].count; i++) {
        if (requests[pod_set].items[i].resource == resource &&
            __builtin_mul_overflow(requests[pod_set].items[i].per_pod, pods, &amount)) {
            return INT64_MAX;
        }
    }
    return amount;
}

/* How much of a resource an assignment uses. One that does not say it, as others than Kueue's scheduler may write it, uses
 * what its pods ask for. */
static bool read_amount(const struct past *p, const struct sl_json *assignment,
                        const char *resource, struct sl_choice *out)
{
    struct sl_error ignored = {0};
    struct sl_quantity quantity = {0};
    const struct sl_json *usage = sl_json_get(assignment, "resourceUsage");
    if (usage == NULL) {
        int64_t pods = sl_requests_pods_assigned(p->object, assignment);
        out->amount = asked_for(p, out->pod_set, out->resource, pods);
        return true;
    }
    if (sl_quantity_read(sl_json_get(usage, resource), &quantity, &ignored) != SL_CODE_OK ||
        quantity.nano < 0) {
        return false;
    }
    out->amount = sl_quantity_amount(quantity, resource);
    return true;
}

/* One flavor and resource of one pod set: the cell that paid for it, opened where its quota is not
 * known yet. */
static bool read_choice(const struct past *p, sl_qnode_id qnode, const struct sl_json *assignment,
                        const char *resource, struct sl_choice *out)
{
    const char *flavor =
        sl_json_text(sl_json_get(sl_json_get(assignment, "flavors"), resource), "");
    out->resource = sl_name_take(p->g, SL_INTERN_RESOURCE, resource, p->now_ms);
    out->flavor = sl_name_take(p->g, SL_INTERN_FLAVOR, flavor, p->now_ms);
    return read_amount(p, assignment, resource, out) && out->amount <= SL_AMOUNT_MAX &&
           sl_quotas_open(p->g, qnode, out->flavor, out->resource, &out->cell, p->now_ms) == SL_OK;
}

static bool read_assignment(const struct past *p, sl_qnode_id qnode,
                            const struct sl_json *assignment, uint32_t index, struct usage *out)
{
    void *it = NULL;
    const char *resource;
    struct sl_json *flavor;
    out->admission->counts[index] = sl_requests_pods_assigned(p->object, assignment);
    while (sl_json_next(sl_json_get(assignment, "flavors"), &it, &resource, &flavor)) {
        struct sl_choice *choice = &out->admission->choices[out->admission->choice_count];
        choice->pod_set = index;
        if (!read_choice(p, qnode, assignment, resource, choice) ||
            (choice->amount > 0 && !add_usage_row(out, choice->cell, choice->amount))) {
            return false;
        }
        out->admission->choice_count++;
    }
    return true;
}

static bool read_usage_rows(const struct past *p, sl_qnode_id qnode, struct usage *out)
{
    const struct sl_json *list = sl_json_path(p->object, "status.admission.podSetAssignments");
    uint32_t pod_sets = (uint32_t)sl_json_len(list);
    size_t choices = 0;
    for (uint32_t i = 0; i < pod_sets; i++) {
        choices += sl_json_len(sl_json_get(sl_json_at(list, i), "flavors"));
    }
    out->admission = sl_admission_new(pod_sets, (uint32_t)choices);
    out->admission->choice_count = 0;
    for (uint32_t i = 0; i < pod_sets; i++) {
        if (!read_assignment(p, qnode, sl_json_at(list, i), i, out)) {
            return false;
        }
    }
    return true;
}

/* Amounts, and where the pods stand; what cannot be placed is charged all the same. */
/* Reserved only, and waiting: for its topology; or it was evicted before it was admitted and its checks were dropped since,
 * and without anything to wait for the reservation would be an admission. */
static bool waits(const struct past *p, const struct sl_assignments_in *assignments)
{
    bool dropped = p->evicted != SL_EVICT_NONE && sl_workloads[p->id].check_count == 0;
    return !p->admitted && (assignments->pending || dropped);
}

static enum sl_status commit_list(const struct past *p, sl_qnode_id qnode,
                                  const struct usage *usage,
                                  const struct sl_assignments_in *assignments, int64_t at_ms)
{
    struct sl_buf list = {0};
    for (uint32_t i = 0; i < usage->count; i++) {
        sl_item_add(&list, usage, .cell = usage->items[i].cell, .amount = usage->items[i].amount);
    }
    if (assignments->list.len > 0) {
        sl_buf_add(&list, assignments->list.data, assignments->list.len);
    }
    enum sl_status status =
        sl_call(p->g, p->now_ms, restore, .workload = p->id,
                .generation = p->g->workloads[p->id].generation, .cluster_queue = qnode,
                .topology_pending = waits(p, assignments), .at_ms = at_ms, .list = &list);
    sl_buf_fini(&list);
    return status;
}

static bool commit_usage(const struct past *p, sl_qnode_id qnode, struct usage *usage,
                         int64_t at_ms)
{
    struct sl_workload_entry *e = &p->g->workloads[p->id];
    struct sl_assignments_in assignments;
    sl_assignments_in_read(p->g, p->id, p->object, usage->admission, &assignments, p->now_ms);
    e->admission = usage->admission;
    sl_workload_hold(p->g, e, qnode);
    enum sl_status status = commit_list(p, qnode, usage, &assignments, at_ms);
    if (status != SL_OK && assignments.list.len > 0) {
        sl_log(SL_LOG_WARN, "the topology assignment cannot be taken over", "workload",
               sl_intern_name(p->g->names, SL_INTERN_WORKLOAD, p->id), NULL);
        sl_buf_reset(&assignments.list);
        assignments.lost = true;
        status = commit_list(p, qnode, usage, &assignments, at_ms);
    }
    e->admission->unplaced = assignments.lost;
    sl_assignments_in_end(p->g, &assignments, p->now_ms);
    if (status != SL_OK) {
        e->admission = NULL;
        sl_workload_hold(p->g, e, SL_NO_ID);
    }
    sl_node_health_moved(p->g, p->id);
    return status == SL_OK;
}

/* Quota found reserved is charged whether or not it is available now: it is in use. */
static bool restore_reservation(const struct past *p)
{
    const char *name = sl_json_path_text(p->object, "status.admission.clusterQueue", "");
    sl_qnode_id qnode = name[0] == '\0' ? SL_NO_ID : sl_qnode_take(p->g, true, name, p->now_ms);
    int64_t at = time_of(p->object, p->admitted ? "Admitted" : "QuotaReserved", p->now_ms);
    struct usage usage = {0};
    if (p->requeue_at_ms != SL_NEVER && p->requeue_at_ms > at) {
        at = p->requeue_at_ms; /* the core reserves nothing before; the time only orders holders */
    }
    if (qnode == SL_NO_ID || !sl_qnode_open(p->g, qnode, p->now_ms) ||
        !read_usage_rows(p, qnode, &usage) || !commit_usage(p, qnode, &usage, at)) {
        sl_admission_free(usage.admission);
        sl_log(SL_LOG_WARN, "reservation cannot be taken over and is given back", "workload",
               sl_intern_name(p->g->names, SL_INTERN_WORKLOAD, p->id), "queue", name, NULL);
        return false;
    }
    return true;
}

/* --- admission checks ------------------------------------------------------------------------- */

/* The checks themselves. Ready ones are so at once, since they decide whether the reservation is an
 * admission; of an evicted workload they are reports that came after it. */
static void restore_checks(const struct past *p)
{
    const struct sl_json *list = sl_json_path(p->object, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(list) && i < SL_CHECKS_MAX; i++) {
        const struct sl_json *item = sl_json_at(list, i);
        uint32_t check =
            sl_name_take(p->g, SL_INTERN_CHECK, sl_json_path_text(item, "name", ""), p->now_ms);
        if (check != SL_NO_ID) {
            sl_send(p->g, p->id, p->now_ms, .kind = SL_EV_CHECK_ADD, .index = check);
            if (sl_answers_state(item) == SL_CHECK_READY && p->evicted == SL_EVICT_NONE) {
                sl_send(p->g, p->id, p->now_ms, .kind = SL_EV_CHECK_STATE, .index = check,
                        .reason = SL_CHECK_READY);
            }
        }
    }
}

static bool has_check(sl_workload_id id, sl_check_id check)
{
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        if (sl_workloads[id].checks[i].check == check) {
            return true;
        }
    }
    return false;
}

/* Those that its queue asks for and its object does not have (yet): without them the reservation would be an admission.
 * Which of them its flavors do without is looked at afterwards. */
static void ask_checks(const struct past *p)
{
    const char *name = sl_json_path_text(p->object, "status.admission.clusterQueue", "");
    sl_qnode_id qnode = sl_qnode_find(p->g, true, name);
    const struct sl_qnode_entry *n = qnode == SL_NO_ID ? NULL : p->g->qnodes[qnode];
    for (uint32_t i = 0; n != NULL && i < n->check_count; i++) {
        if (sl_workloads[p->id].check_count < SL_CHECKS_MAX &&
            !has_check(p->id, n->checks[i].check)) {
            sl_send(p->g, p->id, p->now_ms, .kind = SL_EV_CHECK_ADD, .index = n->checks[i].check);
        }
    }
}

/* --- the whole past --------------------------------------------------------------------------- */

static void restore_eviction(const struct past *p)
{
    const struct sl_json *preempted = sl_condition_find(p->object, "Preempted");
    if (p->evicted == SL_EVICT_DEACTIVATED) {
        sl_send(p->g, p->id, p->evicted_ms, .kind = SL_EV_DEACTIVATE);
    } else if (p->evicted == SL_EVICT_PREEMPTED && sl_condition_true(p->object, "Preempted")) {
        uint32_t reason =
            find_name(preempt_names, COUNT_OF(preempt_names),
                      sl_json_path_text(preempted, "reason", ""), SL_PREEMPT_IN_CLUSTER_QUEUE);
        sl_send(p->g, p->id, p->evicted_ms, .kind = SL_EV_PREEMPT, .reason = reason);
    } else if (p->evicted != SL_EVICT_NONE) {
        sl_send(p->g, p->id, p->evicted_ms, .kind = SL_EV_RESTORE_EVICTED, .reason = p->evicted,
                .value = p->accumulated_ms);
    }
}

/* It was to be deactivated, and what for may show nowhere else by now. */
static void restore_target(const struct past *p)
{
    const struct sl_json *c = sl_condition_find(p->object, "DeactivationTarget");
    if (p->evicted != SL_EVICT_NONE || !sl_condition_true(p->object, "DeactivationTarget")) {
        return;
    }
    uint32_t cause = find_name(cause_names, COUNT_OF(cause_names),
                               sl_json_path_text(c, "reason", ""), SL_CAUSE_NONE);
    if (cause != SL_CAUSE_NONE) {
        sl_send(p->g, p->id, p->now_ms, .kind = SL_EV_RESTORE_TARGET, .reason = cause);
    }
}

/* Pods that nobody knows the place of, or that stand where others do by now, are not left there. */
static void evict_stray(const struct past *p)
{
    const char *trouble = sl_restand_trouble(p->g, p->id);
    if (trouble != NULL) {
        sl_words_say_stopping(&p->g->workloads[p->id].words, SL_EVICT_NODE_FAILURES, trouble);
        sl_send(p->g, p->id, p->now_ms, .kind = SL_EV_RESTORE_EVICTED,
                .reason = SL_EVICT_NODE_FAILURES, .value = p->accumulated_ms);
    }
}

/* The eviction after which Requeued came to say what it says: the reservation that follows ends it.
 */
static enum sl_evict_reason evicted_before(const struct sl_json *object)
{
    const char *reason = sl_json_path_text(sl_condition_find(object, "Requeued"), "reason", "");
    static const struct {
        const char *requeued;
        enum sl_evict_reason evicted;
    } pairs[] = {{"Preempted", SL_EVICT_PREEMPTED},
                 {"NodeFailures", SL_EVICT_NODE_FAILURES},
                 {"FlavorMigration", SL_EVICT_FLAVOR_MIGRATION},
                 {"Reactivated", SL_EVICT_DEACTIVATED},
                 {"ClusterQueueRestarted", SL_EVICT_CLUSTER_QUEUE_STOPPED},
                 {"LocalQueueRestarted", SL_EVICT_LOCAL_QUEUE_STOPPED}};
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        if (strcmp(pairs[i].requeued, reason) == 0) {
            return pairs[i].evicted;
        }
    }
    return SL_EVICT_PODS_READY_TIMEOUT;
}

static void restore_pending(const struct past *p)
{
    const struct sl_json *c = sl_condition_find(p->object, "QuotaReserved");
    /* It was queued again after another eviction, and the record would give the reason of this one. */
    bool earlier = p->requeued == SL_REQUEUED_TRUE && evicted_before(p->object) != p->evicted;
    enum sl_requeued requeued = earlier ? SL_REQUEUED_UNSET : p->requeued;
    if (p->evicted != SL_EVICT_NONE || requeued != SL_REQUEUED_UNSET || p->accumulated_ms > 0) {
        sl_send(p->g, p->id, p->evicted_ms, .kind = SL_EV_RESTORE_EVICTED, .index = requeued,
                .reason = p->evicted, .value = p->accumulated_ms);
    }
    /* Switched on again while nobody looked: off once more, so that it is seen to be switched
     * on. */
    if (p->evicted == SL_EVICT_DEACTIVATED && p->requeued == SL_REQUEUED_FALSE &&
        sl_json_path_bool(p->object, "spec.active", true)) {
        sl_send(p->g, p->id, p->evicted_ms, .kind = SL_EV_DEACTIVATE);
        return;
    }
    uint32_t reason = find_name(pending_names, COUNT_OF(pending_names),
                                sl_json_path_text(c, "reason", ""), SL_PENDING_EVALUATION);
    if (reason != SL_PENDING_EVALUATION &&
        strcmp(sl_json_path_text(c, "status", ""), "False") == 0) {
        sl_send(p->g, p->id, p->now_ms, .kind = SL_EV_REFUSE, .reason = reason);
        sl_words_say_waiting(&p->g->workloads[p->id].words, reason,
                             sl_json_path_text(c, "message", ""));
    }
}

void sl_rebuild_workload(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                         int64_t now_ms)
{
    SL_PRE(g->restoring && sl_workloads[id].phase == SL_PHASE_PENDING);
    struct past p = read_past(g, id, object, now_ms);
    int64_t count = sl_json_path_int(object, "status.requeueState.count", 0);
    if (sl_condition_true(object, "Finished")) {
        return;
    }
    if (count > 0 || p.requeue_at_ms != SL_NEVER) {
        uint32_t bounded = count < 0 ? 0 : count > INT32_MAX ? INT32_MAX : (uint32_t)count;
        sl_send(p.g, p.id, now_ms, .kind = SL_EV_RESTORE_REQUEUE, .index = bounded,
                .value = p.requeue_at_ms);
    }
    if (!p.reserved) {
        restore_checks(&p);
        restore_pending(&p);
        return;
    }
    if (p.requeued == SL_REQUEUED_TRUE || p.accumulated_ms > 0) {
        bool again = p.requeued == SL_REQUEUED_TRUE;
        sl_send(p.g, p.id, now_ms, .kind = SL_EV_RESTORE_EVICTED,
                .index = again ? SL_REQUEUED_TRUE : SL_REQUEUED_UNSET,
                .reason = again ? evicted_before(object) : SL_EVICT_NONE,
                .value = p.accumulated_ms);
    }
    if (!p.admitted) {
        restore_checks(&p);
        ask_checks(&p);
    }
    if (restore_reservation(&p)) {
        if (p.admitted) {
            restore_checks(&p);
        }
        sl_node_health_read(g, id, object, now_ms);
        restore_target(&p);
        restore_eviction(&p);
        evict_stray(&p);
    }
}

/* Is a check that it waits for not named in its object, where it would be answered? */
static bool lacks_checks(const struct sl_engine *g, sl_workload_id id, const struct sl_json *object)
{
    const struct sl_json *list = sl_json_path(object, "status.admissionChecks");
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        const char *name =
            sl_intern_name(g->names, SL_INTERN_CHECK, sl_workloads[id].checks[i].check);
        if (sl_json_find_by(list, "name", name) == NULL) {
            return true;
        }
    }
    return false;
}

/* What the object lacks of what the record now says: the last run did not come to write it. */
void sl_rebuild_amend(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                      int64_t now_ms)
{
    const struct sl_workload *w = &sl_workloads[id];
    if (sl_condition_true(object, "Finished")) {
        return;
    }
    if (w->phase == SL_PHASE_PENDING && sl_condition_true(object, "QuotaReserved")) {
        sl_decide(g, id, SL_DECIDE_RELEASE, now_ms);
    } else if (w->phase == SL_PHASE_QUOTA_RESERVED && lacks_checks(g, id, object)) {
        sl_decide(g, id, SL_DECIDE_RESERVE, now_ms);
    } else if (w->phase == SL_PHASE_ADMITTED && !sl_condition_true(object, "Admitted")) {
        sl_decide(g, id, SL_DECIDE_ADMIT, now_ms);
    } else if (w->phase == SL_PHASE_EVICTED && !sl_condition_true(object, "Evicted")) {
        sl_decide(g, id, SL_DECIDE_EVICT, now_ms);
    } else if (!w->active && w->evicted != SL_EVICT_NONE && !sl_condition_true(object, "Evicted")) {
        sl_decide(g, id, SL_DECIDE_EVICT, now_ms);
    }
    if (w->active &&
        (w->deactivation != SL_CAUSE_NONE || sl_condition_true(object, "DeactivationTarget"))) {
        sl_decide(g, id, SL_DECIDE_DEACTIVATE, now_ms);
    }
}
