/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is to be written for a decision, and what follows from how that has ended (docs/internals/writes.md). */
#include "api/kinds/elastic.h"
#include "base/check.h"
#include "engine/calls/call.h"
#include "engine/conditions/given_back.h"
#include "engine/conditions/released.h"
#include "engine/decisions/decision_out.h"
#include "engine/decisions/slices.h"
#include "engine/decisions/standing.h"
#include "engine/events/revive.h"
#include "engine/records/event_in.h"
#include "engine/requests/requests.h"
#include "engine/state.h"
#include "engine/turn/valid.h"
#include "policy/queues/queues.h"
#include "policy/verdicts/backoff.h"
#include <string.h>

static bool is_about(const struct sl_engine *g, const struct sl_decision *d)
{
    SL_PRE(d->workload < g->workload_cap);
    const struct sl_workload_entry *e = &g->workloads[d->workload];
    return e->uid != NULL && e->generation == d->generation;
}

/* --- what is to be written -------------------------------------------------------------------- */

/* An entry keeps of its newest write: plain, the patch says nothing that is new to the engine; echo, the watch has not
 * shown what was written; stale, the object asks for something else than quota is reserved for; reserved, the object has
 * said before that it is, and no release is still to be written. */

/* The object says that it has finished, and the engine has not observed that. What a watch shows is committed; this
 * may yet be lost. */
static bool end_is_untold(const struct sl_engine *g, const struct sl_decision *d,
                          const struct sl_json *live)
{
    return sl_condition_true(live, "Finished") && is_about(g, d) &&
           sl_workloads[d->workload].phase != SL_PHASE_FINISHED;
}

/* Will the object say nothing then that is not known, if it says nothing more than the patch makes of it? What an
 * eviction or a release leaves, and what becomes of checks, is read. */
static bool is_plain(const struct sl_engine *g, const struct sl_decision *d,
                     const struct sl_json *patch)
{
    const struct sl_workload *w = &sl_workloads[d->workload];
    bool plain =
        d->kind == SL_DECIDE_RESERVE || d->kind == SL_DECIDE_ADMIT || d->kind == SL_DECIDE_PENDING;
    return plain && g->workloads[d->workload].released == NULL && w->active &&
           w->evicted == SL_EVICT_NONE && w->deactivation == SL_CAUSE_NONE &&
           sl_json_path(patch, "status.admissionChecks") == NULL;
}

/* The patch of such a decision says all there is to say about the record; one that is to be deactivated has two. */
static bool says_all(const struct sl_engine *g, const struct sl_decision *d)
{
    return is_about(g, d) && d->kind != SL_DECIDE_DELETE && d->kind != SL_DECIDE_UNPLACED &&
           d->kind != SL_DECIDE_LATE && d->kind != SL_DECIDE_DEACTIVATE;
}

bool sl_engine_waits(struct sl_engine *g, const struct sl_decision *d)
{
    SL_PRE(g != NULL && d != NULL);
    if (!is_about(g, d)) {
        return false;
    }
    return d->kind == SL_DECIDE_FINISH
               ? sl_slice_waits(g, d->workload)
               : sl_workloads[d->workload].has_admission && sl_given_back_waits(g, d->workload);
}

static bool holds_quota(sl_workload_id id)
{
    enum sl_phase phase = sl_workloads[id].phase;
    return phase == SL_PHASE_QUOTA_RESERVED || phase == SL_PHASE_ADMITTED;
}

/* Of an elastic job: for other numbers of pods than the object asks for by now, of which fewer may have been given back. */
static bool asks_for_others(const struct sl_engine *g, sl_workload_id id,
                            const struct sl_json *live)
{
    const struct sl_admission *a = g->workloads[id].admission;
    bool elastic = g->settings.elastic_jobs && sl_is_elastic(live);
    bool differs = false;
    for (uint32_t i = 0; elastic && a != NULL && i < a->pod_set_count; i++) {
        differs = differs || sl_requests_pods_left(g, live, i) != a->counts[i];
    }
    return differs;
}

/* Its queue, its limit and, of an elastic job, its pods may change until quota is reserved, and so until that is written. */
static bool is_stale(const struct sl_engine *g, const struct sl_decision *d,
                     const struct sl_json *live)
{
    return says_all(g, d) && holds_quota(d->workload) &&
           !sl_condition_true(live, "QuotaReserved") &&
           (strcmp(sl_json_path_text(live, "spec.queueName", ""),
                   g->workloads[d->workload].queue->name) != 0 ||
            sl_workloads[d->workload].execution_ms_max != sl_event_limit_ms(live) ||
            asks_for_others(g, d->workload, live));
}

/* A slice that has taken the place of another may end that now. */
static void note_reserved(struct sl_engine *g, const struct sl_decision *d,
                          const struct sl_json *object)
{
    if (sl_workloads[d->workload].has_admission && sl_condition_true(object, "QuotaReserved")) {
        sl_slice_written(g, d->workload);
    }
}

/* There is no patch. */
static enum sl_to_write nothing_of(struct sl_engine *g, const struct sl_decision *d,
                                   const struct sl_json *live)
{
    if (end_is_untold(g, d, live)) {
        return SL_TO_WRITE_LATER;
    }
    if (says_all(g, d)) {
        sl_given_back_asked(g, d->workload, true);
        sl_given_back_written(g, d->workload);
        note_reserved(g, d, live);
    }
    return SL_TO_WRITE_NOTHING;
}

enum sl_to_write sl_engine_write(struct sl_engine *g, const struct sl_decision *d,
                                 const struct sl_json *live, struct sl_json **patch)
{
    SL_PRE(g != NULL && d != NULL && live != NULL && patch != NULL);
    SL_PRE(d->workload < g->workload_cap);
    bool status = true;
    struct sl_workload_entry *e = &g->workloads[d->workload];
    e->asked = e->asked == d->sequence ? 0 : e->asked; /* the write before met a conflict */
    *patch = NULL;
    if (d->kind == SL_DECIDE_DELETE) {
        return SL_TO_WRITE_DELETE;
    }
    if (d->kind == SL_DECIDE_FINISH && is_about(g, d) && sl_slice_in_vain(g, d->workload)) {
        sl_slice_revive(g, d->workload, d->now_ms);
        return SL_TO_WRITE_NOTHING;
    }
    e->reserved = e->released == NULL && sl_condition_true(live, "QuotaReserved");
    e->stale = is_stale(g, d, live);
    if (e->stale) {
        return SL_TO_WRITE_STALE;
    }
    *patch = sl_patch_from_decision(g, d, live, &status);
    if (*patch == NULL) {
        return nothing_of(g, d, live);
    }
    bool waits = sl_given_back_takes(*patch) || d->kind == SL_DECIDE_FINISH;
    if (waits && sl_engine_waits(g, d)) {
        sl_json_free(*patch);
        *patch = NULL;
        return SL_TO_WRITE_AFTER;
    }
    sl_given_back_asked(g, d->workload, says_all(g, d));
    sl_valid_patch(g, d, live, *patch);
    e->asked = d->sequence;
    e->plain = status && is_plain(g, d, *patch);
    return status ? SL_TO_WRITE_STATUS : SL_TO_WRITE_SPEC;
}

/* --- how it ended ----------------------------------------------------------------------------- */

static void note_written(struct sl_workload_entry *e, const struct sl_json *written)
{
    e->written_version = sl_released_version(written);
    if (e->base_version <= e->answers_version) { /* else it has kept what is still to be read */
        e->answers_version = e->written_version;
    }
    e->echo = e->plain && written != NULL;
}

/* The API may have taken the write and only the reply was lost: what was reserved stays reserved. */
static bool in_doubt(enum sl_code code)
{
    return code == SL_CODE_TIMEOUT || code == SL_CODE_UNAVAILABLE || code == SL_CODE_INTERNAL;
}

/* What was refused for what it says is refused again, until somebody changes a policy or a right: later and later. */
static int64_t rewrite_wait_ms(struct sl_workload_entry *e, enum sl_decision_kind kind,
                               enum sl_code code)
{
    bool refused = code == SL_CODE_FORBIDDEN || code == SL_CODE_INVALID ||
                   code == SL_CODE_BAD_REQUEST || code == SL_CODE_TOO_LARGE;
    if (!refused) {
        return sl_backoff_of_write_ms(0);
    }
    e->given.first = 0; /* others do not wait for it until then */
    e->refusals = e->refused_kind == kind ? e->refusals + 1 : 1;
    e->refused_kind = kind;
    return sl_backoff_of_write_ms(e->refusals);
}

/* Out of the queue until its object was seen again, or for a while: else it would spin. */
static void pause_reservation(struct sl_engine *g, sl_workload_id id, int64_t wait_ms,
                              int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    e->paused = true;
    if (sl_queues_queue_of(id) != SL_NO_ID) {
        sl_tell(g, now_ms, detach, .workload = id);
    }
    sl_send(g, id, now_ms, .kind = SL_EV_WRITE_FAILED);
    sl_slice_undo(g, id, now_ms);
    sl_timers_arm(&g->timers, now_ms + wait_ms, SL_TIMER_REWRITE, id, e->generation);
}

static void take_failure(struct sl_engine *g, const struct sl_decision *d, enum sl_code code,
                         int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[d->workload];
    if (code == SL_CODE_NOT_FOUND) {
        sl_event_drop_workload(g, d->workload, now_ms);
        return;
    }
    if (d->kind == SL_DECIDE_UNPLACED || d->kind == SL_DECIDE_LATE) {
        return; /* nothing was to be written */
    }
    int64_t wait_ms = rewrite_wait_ms(e, d->kind, code);
    bool refused = (d->kind == SL_DECIDE_RESERVE && !in_doubt(code) && !e->reserved) || e->stale;
    e->reserved = e->stale = false;
    if (refused && holds_quota(d->workload)) {
        pause_reservation(g, d->workload, wait_ms, now_ms);
    } else {
        sl_step_rewrite(g, d->workload, d->kind, wait_ms, now_ms);
    }
}

static void take_answer(struct sl_engine *g, const struct sl_decision *d, enum sl_code code,
                        int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[d->workload];
    SL_PRE(e->unwritten_count > 0);
    e->unwritten_count--;
    if (code == SL_CODE_OK) {
        e->refusals = d->kind == e->refused_kind ? 0 : e->refusals;
        sl_released_written(g, d);
    } else {
        take_failure(g, d, code, now_ms);
    }
}

/* The version that the engine's own write has made is known, unless that was made of one which was not read. */
static bool is_known(const struct sl_workload_entry *e, uint64_t version)
{
    return version == e->written_version && e->base_version <= e->answers_version;
}

/* Has the object said something while decisions were unwritten that was not read? */
static bool is_unread(const struct sl_engine *g, const struct sl_decision *d)
{
    const struct sl_workload_entry *e = &g->workloads[d->workload];
    return is_about(g, d) && e->unwritten_count == 0 && !e->rewrite && e->unread_first != 0 &&
           (!is_known(e, e->unread_first) || !is_known(e, e->unread_last));
}

enum sl_then sl_engine_written(struct sl_engine *g, const struct sl_decision *d, enum sl_code code,
                               const struct sl_json *written, int64_t now_ms)
{
    SL_PRE(g != NULL && d != NULL && now_ms >= 0);
    if (!is_about(g, d)) {
        return SL_THEN_NOTHING;
    }
    struct sl_workload_entry *e = &g->workloads[d->workload];
    bool asked = e->asked == d->sequence;
    e->asked = asked ? 0 : e->asked;
    if (asked && code == SL_CODE_OK) {
        note_written(e, written);
        sl_given_back_written(g, d->workload);
        if (sl_released_in_part(g, d, written)) {
            return SL_THEN_ASK;
        }
        note_reserved(g, d, written);
    }
    if (d->put_off) {
        return SL_THEN_NOTHING;
    }
    take_answer(g, d, code, now_ms);
    return is_unread(g, d) ? SL_THEN_SHOW : SL_THEN_NOTHING;
}

/* --- what comes back -------------------------------------------------------------------------- */

void sl_engine_show(struct sl_engine *g, const struct sl_json *workload, int64_t now_ms)
{
    SL_PRE(g != NULL && workload != NULL && now_ms >= 0);
    sl_workload_id id = sl_workload_find(g, workload);
    g->news = 0;
    if (id != SL_NO_ID && sl_released_version(workload) <= g->workloads[id].unread_last) {
        (void)sl_engine_observe(g, SL_KIND_WORKLOAD, workload, now_ms, NULL);
    }
}

/* Nothing is open that seeing the object again would go on with. */
static bool is_at_rest(const struct sl_workload_entry *e)
{
    bool again = e->admission != NULL && (e->admission->unplaced || e->admission->displaced);
    return e->unwritten_count == 0 && !e->rewrite && !e->paused && e->unread_first == 0 && !again;
}

enum sl_sight sl_engine_recognise(struct sl_engine *g, const struct sl_json *workload,
                                  int64_t now_ms)
{
    SL_PRE(g != NULL && workload != NULL && now_ms >= 0);
    sl_workload_id id = sl_workload_find(g, workload);
    struct sl_workload_entry *e = id == SL_NO_ID ? NULL : &g->workloads[id];
    uint64_t version = sl_released_version(workload);
    if (e == NULL || version <= e->seen_version || e->seen_version != e->base_version) {
        return SL_SIGHT_NEWS; /* between what the patch was made of and this there may be more */
    }
    if (e->asked != 0 && e->plain) {
        return SL_SIGHT_UNSURE;
    }
    if (!e->echo || version != e->written_version || !is_at_rest(e)) {
        return SL_SIGHT_NEWS;
    }
    e->echo = false;
    e->seen_version = version;
    g->counters.echoes++;
    sl_standing_update(g, id, now_ms);
    return SL_SIGHT_ECHO;
}
