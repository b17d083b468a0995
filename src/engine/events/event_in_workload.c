/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workloads. The engine is the writer of reservation and eviction, so what an object says about those is an echo and
 * looked at once, when the workload is first seen (rebuild.c); after a decision of another's that is
 * once more.
 * Everything else belongs to others: spec, gates, Finished, PodsReady, OnHold, states of admission
 * checks. */
#include "base/check.h"
#include "base/clock.h"
#include "base/fnv1a.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "engine/conditions/answers.h"
#include "engine/events/boost.h"
#include "engine/events/gates.h"
#include "engine/calls/call.h"
#include "engine/requests/families.h"
#include "engine/topology/constraints.h"
#include "engine/records/event_in.h"
#include "engine/decisions/follow.h"
#include "engine/quota/tallies.h"
#include "engine/decisions/node_health.h"
#include "engine/decisions/slices.h"
#include "engine/conditions/released.h"
#include "engine/events/restand.h"
#include "engine/decisions/preemption_gates.h"
#include "engine/decisions/standing.h"
#include "policy/requests/requests.h"
#include "policy/queues/queues.h"
#include <string.h>

#define GROUP_ANNOTATION "kueue.x-k8s.io/is-group-workload"

/* --- the requests ----------------------------------------------------------------------------- */

static bool same_pod_set(uint32_t set, const struct sl_requests *r)
{
    uint32_t i = 0;
    uint32_t known = sl_requests_first(set);
    for (; known != SL_NO_ID && i < r->count; known = sl_requests_next(known), i++) {
        if (sl_requests_resource(known) != r->items[i].resource ||
            sl_requests_per_pod(known) != r->items[i].per_pod) {
            return false;
        }
    }
    return known == SL_NO_ID && i == r->count && sl_requests_pod_count(set) == r->pod_count &&
           sl_requests_min_count(set) == r->min_count && sl_requests_group(set) == r->group &&
           sl_requests_fingerprint(set) == r->fingerprint;
}

static bool same_sets(sl_workload_id id, const struct sl_requests *r, uint32_t count)
{
    uint32_t pod_set = sl_requests_first_pod_set(id);
    for (uint32_t i = 0; i < count; i++) {
        if (pod_set == SL_NO_ID || !same_pod_set(pod_set, &r[i])) {
            return false;
        }
        pod_set = sl_requests_next_pod_set(pod_set);
    }
    return pod_set == SL_NO_ID;
}

/* `whole` says it, where that is not empty. */
static void set_trouble(struct sl_workload_entry *entry, enum sl_code code,
                        const struct sl_error *e, const struct sl_buf *whole)
{
    const char *first = e->cause_count > 0 ? e->causes[0].text : e->text;
    sl_mem_free(entry->trouble);
    entry->trouble = code == SL_CODE_OK ? NULL : sl_mem_text(whole->len > 0 ? whole->data : first);
}

/* Does it belong to one Pod and nothing else? Such a Pod cannot move. */
static bool owned_by_pod(const struct sl_json *object)
{
    const struct sl_json *owners = sl_json_path(object, "metadata.ownerReferences");
    const struct sl_json *owner = sl_json_at(owners, 0);
    const char *group = sl_object_annotation(object, GROUP_ANNOTATION);
    return sl_json_len(owners) == 1 && (group == NULL || strcmp(group, "true") != 0) &&
           sl_object_ref_is(owner, SL_KIND_POD);
}

/* The requests in the core; none when they cannot be counted there. */
static enum sl_code make_requests(struct sl_engine *g, sl_workload_id id,
                                  const struct sl_json *object, const struct sl_requests *requests,
                                  uint32_t count, struct sl_error *e)
{
    struct sl_workload_entry *entry = &g->workloads[id];
    enum sl_code code = sl_requests_check_size(g, requests, count, e);
    entry->oversized = code != SL_CODE_OK;
    sl_tally_leave(g, id); /* what it asked for so far is not asked for any more */
    sl_constraints_take(g, entry, object);
    if (entry->oversized) {
        sl_expect(g, g->now_ms, request, .workload = id, .list = NULL);
        return code;
    }
    enum sl_status status = sl_constraints_request(g, id, requests, entry->request_at, g->now_ms);
    if (status != SL_OK) {
        sl_error_cause(e, "FieldValueInvalid", "spec.podSets",
                       "the daemon cannot hold what they ask for");
        return SL_CODE_INVALID;
    }
    if (owned_by_pod(object)) {
        sl_tell(g, g->now_ms, single_pod, .workload = id, .is = true);
    }
    return SL_CODE_OK;
}

/* Nothing in the object or around it has changed that its requests are made of. */
static bool requests_are_fresh(const struct sl_engine *g, const struct sl_workload_entry *entry,
                               const struct sl_json *object)
{
    return sl_constraints_fresh(g, entry, object) && !entry->reclaims &&
           sl_json_path(object, "status.reclaimablePods") == NULL &&
           entry->limits_version == sl_requests_version(g);
}

/* At first sight the requests are made for the ClusterQueue that it will be attached to. */
static void expect_queue(struct sl_engine *g, struct sl_workload_entry *entry)
{
    sl_qnode_id qnode = entry->queue->cluster_queue;
    if (entry->request_at == SL_NO_ID && qnode != SL_NO_ID && g->qnodes[qnode]->exists) {
        entry->request_at = qnode;
    }
}

/* A workload whose pod sets cannot be used stays known, and out of the queue, with that reason. */
static enum sl_code take_requests(struct sl_engine *g, sl_workload_id id,
                                  const struct sl_json *object, int64_t now_ms, struct sl_error *e)
{
    static struct sl_requests requests[SL_POD_SETS_MAX];
    struct sl_workload_entry *entry = &g->workloads[id];
    struct sl_buf whole = {0};
    uint32_t count = 0;
    if (requests_are_fresh(g, entry, object)) {
        return SL_CODE_OK;
    }
    bool same_spec = sl_constraints_fresh(g, entry, object);
    enum sl_code code = sl_requests_read(g, object, requests, &count, e);
    entry->limits_version = sl_requests_version(g);
    entry->reclaims = sl_json_path(object, "status.reclaimablePods") != NULL;
    if (code != SL_CODE_OK || !same_spec || entry->oversized || !same_sets(id, requests, count)) {
        entry->object_generation = sl_object_generation(object);
        expect_queue(g, entry);
        code = code == SL_CODE_OK ? make_requests(g, id, object, requests, count, e) : code;
        sl_tally_update(g, id);
        sl_tell(g, now_ms, retry, .workload = id, .now_ms = now_ms);
    }
    if (code == SL_CODE_OK) {
        code = sl_requests_check_claims(g, object, &whole, e);
        entry->device_claims = code != SL_CODE_OK;
    }
    if (code == SL_CODE_OK) {
        code = sl_requests_check_limits(g, object, &whole, e);
    }
    set_trouble(entry, code, e, &whole);
    sl_buf_fini(&whole);
    return code;
}

/* --- what others say -------------------------------------------------------------------------- */

static void take_active(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                        int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    e->wants_active = sl_json_path_bool(object, "spec.active", true);
    if (!e->wants_active && sl_workloads[id].active) {
        sl_words_say_stopping(&e->words, SL_EVICT_DEACTIVATED, "");
        if (sl_workloads[id].deactivation == SL_CAUSE_ADMISSION_CHECK) {
            sl_answers_say_rejection(g, id, object);
        }
        sl_send(g, id, now_ms, .kind = SL_EV_DEACTIVATE);
    }
}

static void take_job(struct sl_workload_entry *e, const struct sl_json *object)
{
    const char *uid = sl_object_label(object, "kueue.x-k8s.io/job-uid");
    if (uid == NULL || e->job_uid == NULL || strcmp(uid, e->job_uid) != 0) {
        sl_mem_free(e->job_uid);
        e->job_uid = uid == NULL ? NULL : sl_mem_text(uid);
    }
}

static bool on_hold(const struct sl_json *object)
{
    const struct sl_json *c = sl_condition_find(object, "QuotaReserved");
    return strcmp(sl_json_path_text(c, "status", ""), "False") == 0 &&
           strcmp(sl_json_path_text(c, "reason", ""), "OnHold") == 0;
}

static void take_flags(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                       int64_t now_ms)
{
    const char *gate = sl_gate_of(g, object);
    bool gated = gate != NULL;
    bool hold = on_hold(object);
    if (gated != sl_workloads[id].gated) {
        if (gated) {
            sl_gate_say(g, id, gate);
        }
        g->workloads[id].gate_untold = gated && g->restoring && !sl_gate_is_shown(object);
        sl_send(g, id, now_ms, .kind = gated ? SL_EV_GATE : SL_EV_UNGATE);
    }
    /* The reason OnHold is another's; where the engine itself wrote the condition it is not there. */
    if (hold != sl_workloads[id].on_hold && g->workloads[id].unwritten_count == 0) {
        sl_send(g, id, now_ms, .kind = hold ? SL_EV_HOLD : SL_EV_UNHOLD);
    }
}

static bool take_finished(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                          int64_t now_ms)
{
    static const char *const names[] = {
#define SL_REASON(constant, text) [constant] = text,
#include "model/finish_reasons.def"
#undef SL_REASON
    };
    if (sl_workloads[id].phase == SL_PHASE_FINISHED) {
        return true;
    }
    if (!sl_condition_true(object, "Finished")) {
        return false;
    }
    const char *text = sl_json_path_text(sl_condition_find(object, "Finished"), "reason", "");
    uint32_t reason = SL_FINISH_SUCCEEDED;
    for (uint32_t i = 1; i < sizeof names / sizeof names[0]; i++) {
        reason = strcmp(names[i], text) == 0 ? i : reason;
    }
    sl_send(g, id, now_ms, .kind = SL_EV_FINISH, .reason = reason);
    return true;
}

static int32_t priority_of(const struct sl_engine *g, const struct sl_json *object)
{
    int64_t own = sl_json_path_int(object, "spec.priority", 0);
    own = own > INT32_MAX ? INT32_MAX : own < INT32_MIN ? INT32_MIN : own;
    own += g->settings.priority_boost ? sl_boost_of(object) : 0;
    return own > INT32_MAX ? INT32_MAX : own < INT32_MIN ? INT32_MIN : (int32_t)own;
}

static void take_priority(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                          int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    int32_t priority = priority_of(g, object);
    if (priority != e->priority) {
        e->priority = priority;
        sl_send(g, id, now_ms, .kind = SL_EV_RESCALE);
    }
}

/* queueName is the user's to change while nothing is reserved; after that the API holds it fixed. */
static void take_queue(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                       int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    struct sl_local_queue *old = e->queue;
    const char *name = sl_json_path_text(object, "spec.queueName", "");
    if (strcmp(name, old->name) == 0 || sl_workloads[id].phase != SL_PHASE_PENDING) {
        return;
    }
    sl_send(g, id, now_ms, .kind = SL_EV_QUEUE_MOVED);
    if (sl_queues_queue_of(id) != SL_NO_ID) {
        sl_tell(g, now_ms, detach, .workload = id);
    }
    sl_tally_move(g, id, sl_local_queue_take(g, old->ns, name));
    sl_local_queue_drop_unused(g, old, now_ms);
}

static void take_pods_ready(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                            int64_t now_ms)
{
    const struct sl_workload *w = &sl_workloads[id];
    const struct sl_json *c = sl_condition_find(object, "PodsReady");
    if (c == NULL || w->phase != SL_PHASE_ADMITTED) {
        return;
    }
    bool ready = strcmp(sl_json_path_text(c, "status", ""), "True") == 0;
    bool recovers = strcmp(sl_json_path_text(c, "reason", ""), "WaitForRecovery") == 0;
    bool was = w->pods_ready == SL_PODS_STARTED || w->pods_ready == SL_PODS_RECOVERED;
    int64_t at = sl_clock_parse(sl_json_path_text(c, "lastTransitionTime", ""));
    at = at < 0 || at > now_ms ? now_ms : at;
    if (recovers && !was && w->pods_ready != SL_PODS_WAIT_FOR_RECOVERY) { /* ready, but unseen */
        sl_send(g, id, at, .kind = SL_EV_PODS_READY, .index = 1);
        was = true;
    }
    if (ready != was || w->pods_ready == SL_PODS_UNKNOWN) {
        sl_send(g, id, at, .kind = SL_EV_PODS_READY, .index = ready ? 1 : 0);
    }
}

/* Its reservation was taken back by others: it waits again, and a job that is being stopped is waited for no longer. */
static void take_release(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                         int64_t now_ms)
{
    if (!g->restoring && !on_hold(object) && sl_released_by_others(g, id, object)) {
        bool evicted = sl_workloads[id].phase == SL_PHASE_EVICTED;
        sl_log(SL_LOG_WARN, "its reservation was removed by another client", "workload",
               sl_intern_name(g->names, SL_INTERN_WORKLOAD, id), NULL);
        sl_words_fini(&g->workloads[id].words);
        sl_send(g, id, now_ms, .kind = evicted ? SL_EV_JOB_STOPPED : SL_EV_WRITE_FAILED);
    }
}

/* --- retention -------------------------------------------------------------------------------- */

/* When it finished, or was deactivated by a rule of the daemon's; SL_NEVER = neither. */
static int64_t ended_ms(const struct sl_json *object, int64_t now_ms, bool *finished)
{
    const struct sl_json *evicted = sl_condition_find(object, "Evicted");
    *finished = sl_condition_true(object, "Finished");
    bool by_rule = !sl_json_path_bool(object, "spec.active", true) &&
                   sl_condition_true(object, "Evicted") &&
                   strncmp(sl_json_path_text(evicted, "reason", ""), "DeactivatedDueTo", 16) == 0;
    if (!*finished && !by_rule) {
        return SL_NEVER;
    }
    const struct sl_json *c = *finished ? sl_condition_find(object, "Finished") : evicted;
    int64_t at = sl_clock_parse(sl_json_path_text(c, "lastTransitionTime", ""));
    return at < 0 || at > now_ms ? now_ms : at;
}

/* What ended is deleted some time later, where the settings say so. */
static void take_retention(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                           int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    bool finished;
    int64_t at_ms = ended_ms(object, now_ms, &finished);
    int64_t keep_ms = finished ? g->settings.retain_finished_ms : g->settings.retain_deactivated_ms;
    int64_t due_ms =
        at_ms == SL_NEVER || keep_ms < 0 || sl_object_deleting(object) ? SL_NEVER : at_ms + keep_ms;
    if (due_ms != e->retain_ms) {
        e->retain_ms = due_ms;
        if (due_ms != SL_NEVER) {
            sl_timers_arm(&g->timers, due_ms, SL_TIMER_RETAIN, id, e->generation);
        }
    }
}

/* --- first sight, later sights ---------------------------------------------------------------- */

/* A deactivation may have been found written, by whoever, in a batch that was then lost. */
static void deactivate_again(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                             int64_t now_ms)
{
    const struct sl_workload *w = &sl_workloads[id];
    if (!g->restoring && g->workloads[id].wants_active && w->active &&
        w->deactivation != SL_CAUSE_NONE && sl_released_is_current(g, id, object)) {
        sl_decide(g, id, SL_DECIDE_DEACTIVATE, now_ms);
    }
}

/* Before a decision is written, or written again, the object may say what is just being reset. */
static bool is_settled(const struct sl_workload_entry *e)
{
    return e->unwritten_count == 0 && !e->rewrite;
}

/* What is not read while decisions are unwritten is read once they are (sl_engine_written). */
static void note_unread(struct sl_workload_entry *e, const struct sl_json *object)
{
    uint64_t version = sl_released_version(object);
    bool read = is_settled(e);
    e->seen_version = version;
    e->unread_last = read ? 0 : version;
    e->unread_first = read ? 0 : e->unread_first == 0 ? version : e->unread_first;
}

/* That it waits longer for a check is written, also where nothing else is news. */
static void take_answers(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                         int64_t now_ms)
{
    int64_t until_ms = sl_workloads[id].requeue_at_ms;
    sl_answers_take(g, id, object, now_ms);
    if (!g->restoring && sl_workloads[id].requeue_at_ms != until_ms &&
        g->workloads[id].unwritten_count == 0) {
        sl_decide(g, id, SL_DECIDE_PLACE, now_ms);
    }
}

static enum sl_code follow_object(struct sl_engine *g, sl_workload_id id,
                                  const struct sl_json *object, int64_t now_ms, struct sl_error *e)
{
    take_retention(g, id, object, now_ms);
    if (take_finished(g, id, object, now_ms)) {
        return SL_CODE_OK;
    }
    take_release(g, id, object, now_ms);
    take_active(g, id, object, now_ms);
    take_flags(g, id, object, now_ms);
    take_job(&g->workloads[id], object);
    sl_slice_take(g, id, object, now_ms);
    take_queue(g, id, object, now_ms);
    sl_family_take(g, id, object, now_ms);
    take_priority(g, id, object, now_ms);
    sl_reclaim_take(g, id, object, now_ms);
    enum sl_code code = take_requests(g, id, object, now_ms, e);
    sl_constraints_refine(g, id, object, now_ms);
    if (is_settled(&g->workloads[id])) {
        sl_preemption_gates_take(g, id, object, now_ms);
        deactivate_again(g, id, object, now_ms);
        take_answers(g, id, object, now_ms);
        g->workloads[id].answers_version = sl_released_version(object);
        sl_node_health_read(g, id, object, now_ms);
        take_pods_ready(g, id, object, now_ms);
    }
    note_unread(&g->workloads[id], object);
    return code;
}

/* The UID's 16 bytes as two numbers; what is no UUID is spread over them by a hash. */
static void read_uid(struct sl_workload_entry *e)
{
    uint64_t half[2] = {0, 0};
    unsigned digits = 0;
    for (const char *p = e->uid; *p != '\0'; p++) {
        int value = *p >= '0' && *p <= '9' ? *p - '0' : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10 : -1;
        if (value >= 0 && digits < 32) {
            half[digits / 16] = half[digits / 16] << 4 | (uint64_t)value;
            digits++;
        } else if (*p != '-') {
            digits = 33;
        }
    }
    if (digits != 32) {
        half[0] = sl_fnv1a(SL_FNV1A_BASIS, e->uid, strlen(e->uid));
        half[1] = half[0] * 0x9e3779b97f4a7c15u;
    }
    e->uid_high = half[0];
    e->uid_low = half[1];
}

int64_t sl_event_limit_ms(const struct sl_json *object)
{
    int64_t seconds = sl_json_path_int(object, "spec.maximumExecutionTimeSeconds", 0);
    return seconds > 0 && seconds < INT32_MAX ? seconds * 1000 : 0;
}

/* How long it may run is written into its record when that is made, and may change until it is admitted. */
static bool has_other_limit(const struct sl_engine *g, sl_workload_id id, const struct sl_json *o)
{
    const struct sl_workload *w = &sl_workloads[id];
    return (w->phase == SL_PHASE_PENDING || w->phase == SL_PHASE_QUOTA_RESERVED) &&
           is_settled(&g->workloads[id]) && w->execution_ms_max != sl_event_limit_ms(o);
}

static enum sl_status create(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                             int64_t now_ms)
{
    struct sl_event ev = {.kind = SL_EV_CREATE,
                          .workload = id,
                          .generation = sl_workloads[id].generation,
                          .value = sl_event_limit_ms(object),
                          .now_ms = now_ms};
    enum sl_status status = sl_call(g, ev.now_ms, event, .event = ev);
    g->workloads[id].generation = sl_workloads[id].generation;
    return status;
}

static enum sl_code enter(struct sl_engine *g, const char *key, const struct sl_json *object,
                          int64_t now_ms, struct sl_error *e)
{
    sl_workload_id id = sl_name_take(g, SL_INTERN_WORKLOAD, key, now_ms);
    if (id == SL_NO_ID) {
        return sl_error_set(e, SL_CODE_TOO_MANY, "the daemon holds as many workloads as it can");
    }
    struct sl_workload_entry *entry = sl_workload_entry_take(g, id, sl_object_uid(object));
    const char *queue = sl_json_path_text(object, "spec.queueName", "");
    sl_workload_enlist(g, id, sl_local_queue_take(g, sl_object_namespace(object), queue));
    read_uid(entry);
    entry->seen_ms = now_ms;
    entry->created_ms = sl_object_created_ms(object);
    entry->created_ms = entry->created_ms < 0 ? now_ms : entry->created_ms;
    entry->priority = priority_of(g, object);
    g->restoring = true;
    enum sl_code code = SL_CODE_OK;
    if (create(g, id, object, now_ms) != SL_OK) {
        sl_workload_entry_drop(g, id, now_ms);
        code = sl_error_set(e, SL_CODE_TOO_MANY, "the workload's slot cannot be given out again");
    } else {
        code = sl_json_path(object, "status.admission") == NULL
                   ? SL_CODE_OK /* what its pods take of nodes is known before they stand on them */
                   : take_requests(g, id, object, now_ms, e);
        sl_rebuild_workload(g, id, object, now_ms);
        enum sl_code rest = follow_object(g, id, object, now_ms, e);
        code = code == SL_CODE_OK ? rest : code;
        sl_slice_met(g, id, now_ms);
    }
    g->restoring = false;
    return code;
}

static enum sl_code first_sight(struct sl_engine *g, const char *key, const struct sl_json *object,
                                int64_t now_ms, struct sl_error *e)
{
    enum sl_code code = enter(g, key, object, now_ms, e);
    sl_workload_id id = sl_intern_find(g->names, SL_INTERN_WORKLOAD, key);
    if (id != SL_NO_ID) {
        sl_rebuild_amend(g, id, object, now_ms);
        sl_slice_settle(g, id, now_ms);
        if (g->workloads[id].gate_untold) {
            sl_gate_say(g, id, sl_gate_of(g, object));
        }
    }
    return code;
}

static void repeat_writes(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    if (e->refusals > 0 && (e->paused || e->rewrite)) {
        return; /* when its time comes: seeing the object changes nothing about a policy */
    }
    e->paused = false;
    if (e->rewrite) {
        e->rewrite = false;
        sl_decide(g, id, e->rewrite_kind, now_ms);
    }
}

/* Where it belongs by now; of checks that it is asked for there, and was not before, its object may know more. */
static void assignment(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                       int64_t now_ms)
{
    g->reading = id;
    sl_standing_update(g, id, now_ms);
    g->reading = SL_NO_ID;
    if (is_settled(&g->workloads[id]) && sl_workloads[id].phase != SL_PHASE_FINISHED) {
        take_answers(g, id, object, now_ms);
    }
}

enum sl_code sl_event_from_workload(struct sl_engine *g, const struct sl_json *object,
                                    int64_t now_ms, struct sl_error *e)
{
    if (sl_family_stays_out(g, object)) {
        sl_event_workload_gone(g, object, now_ms);
        return SL_CODE_OK;
    }
    char *key = sl_object_key_new(object);
    enum sl_code code;
    g->counters.workloads_read++;
    sl_workload_id id = sl_intern_find(g->names, SL_INTERN_WORKLOAD, key);
    /* It was deleted and made again in between, or is to be taken over from others. */
    if (id != SL_NO_ID && (strcmp(g->workloads[id].uid, sl_object_uid(object)) != 0 ||
                           sl_decided_by_others(g, id, object) || has_other_limit(g, id, object))) {
        sl_event_drop_workload(g, id, now_ms); /* as at a start */
        id = SL_NO_ID;
    }
    if (id == SL_NO_ID) {
        code = first_sight(g, key, object, now_ms, e);
        id = sl_intern_find(g->names, SL_INTERN_WORKLOAD, key);
    } else {
        code = follow_object(g, id, object, now_ms, e);
        repeat_writes(g, id, now_ms);
    }
    sl_mem_free(key);
    if (id != SL_NO_ID) {
        sl_restand_note(g, id, object);
        assignment(g, id, object, now_ms);
        sl_restand_meet(g, id, now_ms);
    }
    return code;
}

void sl_event_workload_again(struct sl_engine *g, sl_workload_id id, const struct sl_json *known,
                             const struct sl_json *object, const struct sl_words *words,
                             int64_t now_ms)
{
    struct sl_error ignored = {0};
    char *key = sl_mem_text(sl_intern_name(g->names, SL_INTERN_WORKLOAD, id));
    sl_event_drop_workload(g, id, now_ms);
    (void)enter(g, key, known, now_ms, &ignored);
    id = sl_intern_find(g->names, SL_INTERN_WORKLOAD, key);
    sl_mem_free(key);
    if (id == SL_NO_ID) {
        return;
    }
    struct sl_words *own = &g->workloads[id].words;
    if (own->waiting == NULL) {
        sl_words_say_waiting(own, words->waits_for, words->waiting);
    }
    if (own->stopping == NULL) {
        sl_words_say_stopping(own, words->stopped_by, words->stopping);
    }
    sl_rebuild_amend(g, id, object, now_ms);
    sl_standing_update(g, id, now_ms);
}

void sl_event_workload_gone(struct sl_engine *g, const struct sl_json *object, int64_t now_ms)
{
    sl_workload_id id = sl_workload_find(g, object);
    if (id != SL_NO_ID) {
        sl_event_drop_workload(g, id, now_ms);
    }
}
