/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Field by field. The first difference is said; a caller that goes on after one does so at its own risk. */
#include "engine/conditions/mirror.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "base/clock.h"
#include "engine/conditions/answers.h"
#include "engine/conditions/conditions.h"
#include "engine/conditions/mirror_places.h"
#include "engine/requests/requests.h"
#include "engine/records/names.h"
#include "engine/conditions/released.h"
#include "engine/state.h"
#include <stdio.h>
#include <string.h>

struct glass {
    const struct sl_engine *g;
    const struct sl_json *object;
    const struct sl_workload *record;
    sl_workload_id id;
    char *text;                   /* SL_MIRROR_TEXT bytes */
    const struct sl_json *before; /* that the object was made of; NULL = it is not known */
};

static char said[SL_MIRROR_TEXT]; /* until the next question */

static bool say(const struct glass *m, const char *field, const char *is, const char *record)
{
    (void)snprintf(m->text, SL_MIRROR_TEXT, "G10: %.200s/%.200s: %s is %.200s, the record says %s",
                   sl_object_namespace(m->object), sl_object_name(m->object), field, is, record);
    return false;
}

static bool holds_quota(const struct sl_workload *w)
{
    return w->phase == SL_PHASE_QUOTA_RESERVED || w->phase == SL_PHASE_ADMITTED ||
           w->phase == SL_PHASE_EVICTED;
}

/* --- conditions ------------------------------------------------------------------------------- */

static const char *status_of(const struct glass *m, const char *type)
{
    return sl_json_path_text(sl_condition_find(m->object, type), "status", "absent");
}

static const char *reason_of(const struct glass *m, const char *type)
{
    return sl_json_path_text(sl_condition_find(m->object, type), "reason", "");
}

static bool is_true(const struct glass *m, const char *type, bool wanted)
{
    return sl_condition_true(m->object, type) == wanted ||
           say(m, type, status_of(m, type), wanted ? "True" : "not True");
}

static bool has_reason(const struct glass *m, const char *type, const char *wanted)
{
    return strcmp(reason_of(m, type), wanted) == 0 || say(m, type, reason_of(m, type), wanted);
}

static bool reservation_agrees(const struct glass *m)
{
    bool admission = sl_json_path(m->object, "status.admission") != NULL;
    return is_true(m, "QuotaReserved", holds_quota(m->record)) &&
           is_true(m, "Admitted", m->record->was_admitted) &&
           (admission == m->record->has_admission ||
            say(m, "status.admission", admission ? "there" : "absent",
                admission ? "that nothing is reserved" : "that something is reserved"));
}

/* Why it is deactivated may be known to the object alone, after a restart. Of what is over the object speaks until
 * the next reservation is written. */
static bool eviction_agrees(const struct glass *m)
{
    const struct sl_workload *w = m->record;
    if (w->evicted == SL_EVICT_NONE) {
        return !holds_quota(w) || is_true(m, "Evicted", false);
    }
    if (!is_true(m, "Evicted", true)) {
        return false;
    }
    if (w->evicted == SL_EVICT_PREEMPTED &&
        sl_condition_evicted_by_others(sl_json_get(m->object, "status"))) {
        return true;
    }
    return w->evicted == SL_EVICT_DEACTIVATED
               ? strncmp(reason_of(m, "Evicted"), "Deactivated", 11) == 0 ||
                     say(m, "Evicted", reason_of(m, "Evicted"), "Deactivated")
               : has_reason(m, "Evicted", sl_condition_evict_reason(w));
}

static bool preemption_agrees(const struct glass *m)
{
    const struct sl_workload *w = m->record;
    bool preempted = w->preempted != SL_PREEMPT_NONE;
    return (!preempted && !holds_quota(w)) || (!preempted && w->phase == SL_PHASE_EVICTED) ||
           is_true(m, "Preempted", preempted);
}

static bool requeuing_agrees(const struct glass *m)
{
    const struct sl_workload *w = m->record;
    if (w->requeued == SL_REQUEUED_TRUE && w->requeue_reason != SL_REQUEUE_NONE) {
        return is_true(m, "Requeued", true) &&
               has_reason(m, "Requeued", sl_condition_requeue_reason(w));
    }
    return w->requeued != SL_REQUEUED_FALSE || is_true(m, "Requeued", false);
}

static bool target_agrees(const struct glass *m)
{
    const struct sl_workload *w = m->record;
    bool wanted =
        w->active && w->deactivation != SL_CAUSE_NONE && w->evicted != SL_EVICT_DEACTIVATED;
    return is_true(m, "DeactivationTarget", wanted) &&
           (!wanted || has_reason(m, "DeactivationTarget", sl_condition_cause(w)));
}

/* --- the rest of the status ------------------------------------------------------------------- */

static bool backoff_agrees(const struct glass *m)
{
    const struct sl_workload *w = m->record;
    int64_t count = sl_json_path_int(m->object, "status.requeueState.count", 0);
    const char *text = sl_json_path_text(m->object, "status.requeueState.requeueAt", "");
    int64_t at_ms = sl_clock_parse(text);
    bool never = w->requeue_at_ms == SL_NEVER;
    if (count != (int64_t)w->requeue_count) {
        return say(m, "status.requeueState.count", "another number", "how often it was requeued");
    }
    return (never ? text[0] == '\0' : at_ms >= 0 && at_ms / 1000 == w->requeue_at_ms / 1000) ||
           say(m, "status.requeueState.requeueAt", text[0] == '\0' ? "absent" : text,
               never ? "that it waits for no time" : "another time");
}

static bool record_names_host(const struct glass *m, const char *host)
{
    for (uint32_t i = 0; i < m->record->unhealthy_count; i++) {
        if (strcmp(sl_names_host(m->g, m->record->unhealthy[i]), host) == 0) {
            return true;
        }
    }
    return false;
}

static bool failed_nodes_are_named(const struct glass *m)
{
    const struct sl_json *list = sl_json_path(m->object, "status.unhealthyNodes");
    for (uint32_t i = 0; i < m->record->unhealthy_count; i++) {
        const char *host = sl_names_host(m->g, m->record->unhealthy[i]);
        if (sl_json_find_by(list, "name", host) == NULL) {
            return say(m, "status.unhealthyNodes", "without one", host);
        }
    }
    return true;
}

/* Others may name nodes that the workload does not stand on, until the next write. */
static bool failed_nodes_are_known(const struct glass *m)
{
    const struct sl_json *list = sl_json_path(m->object, "status.unhealthyNodes");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *name = sl_json_path_text(sl_json_at(list, i), "name", "");
        if (!record_names_host(m, name)) {
            return say(m, "status.unhealthyNodes", name, "that it has not failed");
        }
    }
    return true;
}

static const struct sl_check *find_check(const struct glass *m, const char *name)
{
    uint32_t check = sl_intern_find(m->g->names, SL_INTERN_CHECK, name);
    for (uint32_t i = 0; check != SL_NO_ID && i < m->record->check_count; i++) {
        if (m->record->checks[i].check == check) {
            return &m->record->checks[i];
        }
    }
    return NULL;
}

/* An answer that was not read yet stays as it was given, but for an eviction. */
static bool is_still_to_be_read(const struct glass *m, const struct sl_json *check)
{
    const char *name = sl_json_path_text(check, "name", "");
    return m->before != NULL &&
           (sl_condition_true(m->before, "Evicted") || !sl_condition_true(m->object, "Evicted")) &&
           sl_released_version(m->before) > m->g->workloads[m->id].answers_version &&
           sl_json_equal(check, sl_json_find_by(sl_json_path(m->before, "status.admissionChecks"),
                                                "name", name));
}

/* Checks that only one of them knows are of no concern here: which there are is written with the next decision. */
static bool checks_agree(const struct glass *m, bool known)
{
    const struct sl_json *list = sl_json_path(m->object, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *name = sl_json_path_text(sl_json_at(list, i), "name", "");
        const char *state = sl_json_path_text(sl_json_at(list, i), "state", "");
        const struct sl_check *check = find_check(m, name);
        if (check == NULL && known) {
            return say(m, "status.admissionChecks", name, "that no ClusterQueue requires it");
        }
        if (check != NULL && strcmp(state, sl_answers_state_text(check->state)) != 0 &&
            !is_still_to_be_read(m, sl_json_at(list, i))) {
            char field[128];
            (void)snprintf(field, sizeof field, "the state of check %.80s", name);
            return say(m, field, state, sl_answers_state_text(check->state));
        }
    }
    return true;
}

/* A check that has rejected what still holds its reservation: then it is to be deactivated (rule 13). NULL = none. */
static const char *rejection(const struct glass *m, const struct sl_json *object)
{
    const struct sl_json *list = sl_json_path(object, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *name = sl_json_path_text(sl_json_at(list, i), "name", "");
        if (strcmp(sl_json_path_text(sl_json_at(list, i), "state", ""), "Rejected") == 0 &&
            find_check(m, name) != NULL) {
            return name;
        }
    }
    return NULL;
}

static bool say_forgotten(const struct glass *m, const char *check)
{
    char field[128];
    (void)snprintf(field, sizeof field, "the state of check %.80s", check);
    return say(m, field, "Rejected", "nothing that deactivates it");
}

static bool rejections_count(const struct glass *m)
{
    const struct sl_workload *w = m->record;
    bool stays = w->phase == SL_PHASE_QUOTA_RESERVED || w->phase == SL_PHASE_ADMITTED;
    const char *check = rejection(m, m->object);
    return !stays || check == NULL || w->deactivation != SL_CAUSE_NONE || !w->active ||
           say_forgotten(m, check);
}

/* An eviction that checks have asked for, written over the very version in which they did: one of them that rejected
 * there would have been first. */
static bool rejections_were_heard(const struct glass *m, const struct sl_json *before)
{
    const struct sl_workload_entry *e = &m->g->workloads[m->id];
    const char *check = rejection(m, before);
    bool asked = m->record->evicted == SL_EVICT_ADMISSION_CHECK &&
                 !sl_condition_true(before, "Evicted") &&
                 e->news_version == sl_released_version(before);
    return !asked || check == NULL || say_forgotten(m, check);
}

/* What has been decided is shown, and what is reserved asks for all its checks. */
static bool checks_are_shown(const struct glass *m)
{
    const struct sl_json *list = sl_json_path(m->object, "status.admissionChecks");
    for (uint32_t i = 0; m->record->has_admission && i < m->record->check_count; i++) {
        const char *name = sl_intern_name(m->g->names, SL_INTERN_CHECK, m->record->checks[i].check);
        if (sl_json_find_by(list, "name", name) == NULL) {
            return say(m, "status.admissionChecks", "without one", name);
        }
    }
    return true;
}

/* --- status.admission ------------------------------------------------------------------------- */

/* Others have reserved without saying how much: that is in no object, and a write of ours leaves it so. */
static bool usage_is_unsaid(const struct glass *m, const struct sl_json *item)
{
    const struct sl_json *was =
        sl_json_find_by(sl_json_path(m->before, "status.admission.podSetAssignments"), "name",
                        sl_json_path_text(item, "name", ""));
    return !sl_json_has(item, "resourceUsage") &&
           (m->before == NULL || (was != NULL && !sl_json_has(was, "resourceUsage")));
}

static bool flavor_agrees(const struct glass *m, const struct sl_json *item,
                          const struct sl_choice *choice)
{
    const char *resource = sl_intern_name(m->g->names, SL_INTERN_RESOURCE, choice->resource);
    const char *flavor = sl_intern_name(m->g->names, SL_INTERN_FLAVOR, choice->flavor);
    const char *is = sl_json_text(sl_json_get(sl_json_get(item, "flavors"), resource), "none");
    struct sl_quantity used = {0};
    struct sl_error ignored = {0};
    if (strcmp(is, flavor) != 0) {
        return say(m, "the flavor of a pod set", is, flavor);
    }
    if (usage_is_unsaid(m, item)) {
        return true;
    }
    return (sl_quantity_read(sl_json_get(sl_json_get(item, "resourceUsage"), resource), &used,
                             &ignored) == SL_CODE_OK &&
            sl_quantity_amount(used, resource) == choice->amount) ||
           say(m, "resourceUsage of a pod set", resource, "another amount");
}

static bool admission_agrees(const struct glass *m)
{
    const struct sl_admission *admission = m->g->workloads[m->id].admission;
    const struct sl_json *sets = sl_json_path(m->object, "status.admission.podSetAssignments");
    if (!m->record->has_admission || admission == NULL) {
        return true;
    }
    const char *queue = sl_json_path_text(m->object, "status.admission.clusterQueue", "");
    if (strcmp(queue, sl_engine_queue_of(m->g, m->id)) != 0) {
        return say(m, "status.admission.clusterQueue", queue, sl_engine_queue_of(m->g, m->id));
    }
    if (sl_json_len(sets) != admission->pod_set_count) {
        return say(m, "status.admission", "of other pod sets", "how many there are");
    }
    for (uint32_t i = 0; i < admission->pod_set_count; i++) {
        if (sl_requests_pods_assigned(m->object, sl_json_at(sets, i)) != admission->counts[i]) {
            return say(m, "the count of a pod set", "another number", "how many pods it has");
        }
    }
    for (uint32_t c = 0; c < admission->choice_count; c++) {
        if (!flavor_agrees(m, sl_json_at(sets, admission->choices[c].pod_set),
                           &admission->choices[c])) {
            return false;
        }
    }
    const char *trouble = sl_mirror_places(m->g, m->id, sets);
    return trouble == NULL || say(m, "topologyAssignment", trouble, "its topology assignment");
}

/* --- the questions ---------------------------------------------------------------------------- */

static bool status_agrees(const struct glass *m)
{
    return reservation_agrees(m) && eviction_agrees(m) && preemption_agrees(m) &&
           requeuing_agrees(m) && failed_nodes_are_named(m);
}

const char *sl_mirror_written(const struct sl_engine *g, const struct sl_decision *d,
                              const struct sl_json *before, const struct sl_json *after)
{
    SL_PRE(d != NULL);
    const struct sl_released *past = sl_released_of(g, d->workload, d->sequence);
    if (past == NULL) {
        past = g->workloads[d->workload].released;
    }
    bool older = past != NULL && sl_json_path(after, "status.admission") == NULL &&
                 sl_workloads[d->workload].has_admission;
    const struct sl_workload *record = older ? &past->record : &sl_workloads[d->workload];
    struct glass m = {g, after, record, d->workload, said, before};
    if (d->kind == SL_DECIDE_FINISH) { /* nothing else is written by that */
        return sl_condition_true(after, "Finished") ? NULL : "G10: Finished was not written";
    }
    if (d->kind == SL_DECIDE_DEACTIVATE && !sl_json_path_bool(after, "spec.active", true)) {
        return NULL; /* the spec was written; what follows from it is another decision */
    }
    bool agrees = status_agrees(&m) && backoff_agrees(&m) && failed_nodes_are_known(&m) &&
                  target_agrees(&m) && checks_agree(&m, true) && checks_are_shown(&m) &&
                  rejections_were_heard(&m, before) && (older || admission_agrees(&m));
    return agrees ? sl_mirror_evicted(before, after) : said;
}

/* All checks are asked again; those that asked to retry have one more try behind them. */
static bool check_was_reset(const struct glass *m, const struct sl_json *before,
                            const struct sl_json *check)
{
    const char *name = sl_json_path_text(check, "name", "");
    const char *state = sl_json_path_text(check, "state", "");
    const struct sl_json *old =
        sl_json_find_by(sl_json_path(before, "status.admissionChecks"), "name", name);
    bool retried = strcmp(sl_json_path_text(old, "state", ""), "Retry") == 0;
    int64_t tries = sl_json_path_int(check, "retryCount", 0);
    if (strcmp(state, "Pending") != 0) {
        char field[160];
        (void)snprintf(field, sizeof field, "after the eviction the state of check %.80s", name);
        return say(m, field, state, "Pending");
    }
    return !retried || tries == sl_json_path_int(old, "retryCount", 0) + 1 ||
           say(m, "retryCount", "as before", "that it was tried once more");
}

const char *sl_mirror_evicted(const struct sl_json *before, const struct sl_json *after)
{
    struct glass m = {.object = after, .text = said};
    const struct sl_json *checks = sl_json_path(after, "status.admissionChecks");
    if (sl_condition_true(before, "Evicted") || !sl_condition_true(after, "Evicted") ||
        sl_condition_true(after, "Finished")) {
        return NULL;
    }
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        if (!check_was_reset(&m, before, sl_json_at(checks, i))) {
            return said;
        }
    }
    static const char *const gone[] = {"unhealthyNodes", "clusterName", "nominatedClusterNames"};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        if (sl_json_has(sl_json_get(after, "status"), gone[i])) {
            (void)say(&m, gone[i], "there after the eviction", "that it was removed");
            return said;
        }
    }
    return NULL;
}

const char *sl_mirror_settled(const struct sl_engine *g, const struct sl_json *object)
{
    sl_workload_id id = sl_workload_find(g, object);
    const struct sl_workload_entry *e = id == SL_NO_ID ? NULL : &g->workloads[id];
    if (!g->synced || g->wants_workloads || e == NULL || e->unwritten_count > 0 || e->rewrite ||
        e->paused || e->unread_first != 0 || e->seen_version != sl_released_version(object) ||
        sl_workloads[id].phase == SL_PHASE_FINISHED || sl_condition_true(object, "Finished")) {
        return NULL;
    }
    struct glass m = {g, object, &sl_workloads[id], id, said, NULL};
    bool agrees = status_agrees(&m) && checks_agree(&m, false) && rejections_count(&m) &&
                  admission_agrees(&m);
    return agrees ? NULL : said;
}
