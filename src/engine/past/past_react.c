/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/past/past_react.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/decisions/slices.h"
#include "engine/decisions/standing.h"
#include "engine/past/past_history.h"
#include "engine/quota/run_times.h"
#include "kernel/commit/commit.h"
#include "kernel/ledger/cells.h"
#include "policy/requests/requests.h"
#include <inttypes.h>
#include <string.h>

#define DEACTIVATE_MS                                                                              \
    1000 /* from the decision until the spec says it, where the past does not emit */

/* What comes by itself, as timers of these kinds. */
#define ENDS SL_TIMER_EXECUTION
#define ANSWERS SL_TIMER_REWRITE
#define READY SL_TIMER_READY
#define STOPS SL_TIMER_STOP
#define DEACTIVATES SL_TIMER_RETAIN

/* --- lines --------------------------------------------------------------------------------------- */

void sl_play_line(struct sl_play *p, const char *verb, const struct sl_actor *a)
{
    sl_buf_print(&p->pipe->text,
                 "{\"at\":%" PRId64 ",\"do\":\"%s\",\"history\":\"%s\",\"workload\":\"%s\"",
                 p->now_ms, verb, sl_json_path_text(a->history, "id", ""),
                 sl_json_path_text(a->history, "workload", ""));
}

static struct sl_json *uses_new(const struct sl_engine *g, sl_workload_id id)
{
    struct sl_json *uses = sl_json_new_map();
    for (uint32_t i = 0; i < sl_commit_usage_count(id); i++) {
        struct sl_cell_amount held = sl_commit_usage(id, i);
        const char *flavor = sl_intern_name(g->names, SL_INTERN_FLAVOR, sl_cell_flavor[held.cell]);
        if (sl_json_get(uses, flavor) == NULL) {
            sl_json_set(uses, flavor, sl_json_new_map());
        }
        sl_json_set_int(sl_json_get(uses, flavor),
                        sl_intern_name(g->names, SL_INTERN_RESOURCE, sl_cell_resource[held.cell]),
                        held.amount);
    }
    return uses;
}

static void emit_admitted(struct sl_play *p, sl_workload_id id, const struct sl_actor *a)
{
    struct sl_json *uses = uses_new(p->g, id);
    sl_play_line(p, "admitted", a);
    sl_buf_print(&p->pipe->text, ",\"queue\":\"%s\",\"uses\":", sl_engine_queue_of(p->g, id));
    sl_json_print(uses, &p->pipe->text);
    sl_buf_text(&p->pipe->text, "}\n");
    sl_json_free(uses);
}

/* --- what follows on decisions ---------------------------------------------------------------------- */

struct sl_actor *sl_play_actor(struct sl_play *p, sl_workload_id id)
{
    p->actors = sl_mem_reach(p->actors, &p->actor_cap, 256, id, sizeof *p->actors);
    struct sl_actor *a = &p->actors[id];
    bool same = p->g->workloads[id].uid != NULL && a->history != NULL &&
                a->generation == p->g->workloads[id].generation;
    return same ? a : NULL;
}

static void arm(struct sl_play *p, sl_workload_id id, enum sl_timer_kind kind, int64_t after_ms)
{
    sl_timers_arm(&p->timers, p->now_ms + after_ms, kind, id, p->g->workloads[id].generation);
}

/* As long after as it was with this workload, else as with others. */
static int64_t after_ms(const struct sl_actor *a, const char *event, int64_t typical_ms)
{
    int64_t own_ms = sl_past_history_after_ms(a->history, event);
    return own_ms >= 0 ? own_ms : typical_ms;
}

/* Was it so in the past, at this very time? Then what follows comes as it did. */
static bool as_before(const struct sl_actor *a, const char *what, int64_t at_ms)
{
    return sl_past_history_had(a->history, what, at_ms);
}

static void answer_to_reservation(struct sl_play *p, sl_workload_id id, struct sl_actor *a)
{
    int64_t at_ms = sl_workloads[id].reserved_at_ms;
    if (a->reserved_ms != at_ms && sl_workloads[id].phase == SL_PHASE_QUOTA_RESERVED) {
        a->reserved_ms = at_ms;
        if (!as_before(a, "reserved", at_ms)) {
            arm(p, id, ANSWERS, after_ms(a, "check", p->answers_ms));
        }
    }
}

/* When the job ends: that of a slice began with its first. Not before the slice is admitted. */
static int64_t ends_ms(const struct sl_play *p, sl_workload_id id, int64_t runs_ms)
{
    int64_t end_ms = sl_run_began_ms(p->g, id) + runs_ms;
    int64_t least_ms = sl_workloads[id].admitted_at_ms;
    return end_ms > least_ms ? end_ms : least_ms;
}

static void answer_to_admission(struct sl_play *p, sl_workload_id id, struct sl_actor *a)
{
    int64_t at_ms = sl_workloads[id].admitted_at_ms;
    int64_t runs_ms = sl_past_history_after_ms(a->history, "finish");
    if (sl_workloads[id].phase != SL_PHASE_ADMITTED || a->admitted_ms == at_ms) {
        return;
    }
    a->admitted_ms = at_ms;
    emit_admitted(p, id, a);
    if (!as_before(a, "admitted", at_ms)) {
        arm(p, id, READY, after_ms(a, "ready", p->ready_ms));
    }
    if (runs_ms >= 0 && !as_before(a, "finish", at_ms)) {
        arm(p, id, ENDS, ends_ms(p, id, runs_ms) - p->now_ms);
    }
}

static void answer_to_eviction(struct sl_play *p, sl_workload_id id, struct sl_actor *a)
{
    const struct sl_workload *w = &sl_workloads[id];
    if (w->evicted == SL_EVICT_NONE || a->evicted_ms == w->evicted_at_ms) {
        return;
    }
    a->evicted_ms = w->evicted_at_ms;
    sl_play_line(p, "evicted", a);
    sl_buf_print(&p->pipe->text, ",\"reason\":%d}\n", (int)w->evicted);
    if (w->phase == SL_PHASE_EVICTED && !as_before(a, "evicted", w->evicted_at_ms)) {
        arm(p, id, STOPS, after_ms(a, "stopped", p->stops_ms));
    }
}

void sl_play_respond(struct sl_play *p, sl_workload_id id)
{
    struct sl_actor *a = sl_play_actor(p, id);
    if (a == NULL) {
        return;
    }
    answer_to_reservation(p, id, a);
    answer_to_admission(p, id, a);
    answer_to_eviction(p, id, a);
    if (sl_workloads[id].deactivation != SL_CAUSE_NONE && sl_workloads[id].active) {
        arm(p, id, DEACTIVATES, DEACTIVATE_MS);
    }
}

/* --- events ---------------------------------------------------------------------------------------- */

/* A refusal is fine: in this course of things it came to nothing. */
static void send(struct sl_play *p, sl_workload_id id, struct sl_event ev)
{
    ev.workload = id;
    ev.generation = sl_workloads[id].generation;
    ev.now_ms = p->now_ms;
    if (sl_call(p->g, p->now_ms, event, .event = ev) != SL_OK) {
        p->ignored++;
        return;
    }
    sl_standing_update(p->g, id, p->now_ms);
    sl_play_respond(p, id);
}

static void finish(struct sl_play *p, sl_workload_id id)
{
    const struct sl_actor *a = sl_play_actor(p, id);
    if (a != NULL && sl_workloads[id].phase != SL_PHASE_FINISHED) {
        sl_play_line(p, "finished", a);
        sl_buf_text(&p->pipe->text, "}\n");
        send(p, id, (struct sl_event){.kind = SL_EV_FINISH, .reason = SL_FINISH_SUCCEEDED});
    }
}

/* With the job, what waits to be its next slice ends, too. */
static void end_job(struct sl_play *p, sl_workload_id id)
{
    finish(p, id);
    for (sl_workload_id slice = sl_slice_next(p->g, id, SL_NO_ID); slice != SL_NO_ID;
         slice = sl_slice_next(p->g, id, slice)) {
        if (!sl_workloads[slice].has_admission) {
            finish(p, slice);
        }
    }
}

static void deactivate(struct sl_play *p, sl_workload_id id)
{
    p->g->workloads[id].wants_active = false;
    if (sl_workloads[id].active) {
        send(p, id, (struct sl_event){.kind = SL_EV_DEACTIVATE});
    }
}

static void answer_checks(struct sl_play *p, sl_workload_id id)
{
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        struct sl_check check = sl_workloads[id].checks[i];
        if (check.state == SL_CHECK_PENDING && sl_workloads[id].phase == SL_PHASE_QUOTA_RESERVED) {
            send(p, id,
                 (struct sl_event){
                     .kind = SL_EV_CHECK_STATE, .index = check.check, .reason = SL_CHECK_READY});
        }
    }
}

static void stop(struct sl_play *p, sl_workload_id id)
{
    if (sl_workloads[id].phase == SL_PHASE_EVICTED) {
        send(p, id,
             (struct sl_event){.kind = SL_EV_JOB_STOPPED,
                               .index = sl_requests_is_single_pod(id) ? 1u : 0u});
    }
}

/* What was armed for what is no longer so does nothing. */
void sl_play_fire(struct sl_play *p, const struct sl_timer *t)
{
    const struct sl_actor *a = sl_play_actor(p, t->id);
    const struct sl_workload *w = &sl_workloads[t->id];
    if (a == NULL || a->generation != t->generation) {
        return;
    }
    int64_t runs_ms = sl_past_history_after_ms(a->history, "finish");
    switch (t->kind) {
    case ENDS:
        if (w->phase == SL_PHASE_ADMITTED && ends_ms(p, t->id, runs_ms) == t->due_ms) {
            end_job(p, t->id);
        }
        break;
    case ANSWERS:
        answer_checks(p, t->id);
        break;
    case READY:
        if (w->phase == SL_PHASE_ADMITTED && w->pods_ready != SL_PODS_STARTED &&
            w->pods_ready != SL_PODS_RECOVERED) {
            send(p, t->id, (struct sl_event){.kind = SL_EV_PODS_READY, .index = 1});
        }
        break;
    case STOPS:
        stop(p, t->id);
        break;
    case DEACTIVATES:
        if (w->deactivation != SL_CAUSE_NONE && w->active) {
            deactivate(p, t->id);
        }
        break;
    default:
        break;
    }
}

/* --- events of the past ---------------------------------------------------------------------- */

static bool same(int64_t a_ms, int64_t b_ms)
{
    return a_ms - b_ms < SL_PAST_SAME_MS && b_ms - a_ms < SL_PAST_SAME_MS;
}

static void send_check(struct sl_play *p, sl_workload_id id, const struct sl_json *entry)
{
    const struct sl_workload *w = &sl_workloads[id];
    int64_t since_ms = sl_json_path_int(entry, "since", -1);
    sl_check_id check =
        sl_intern_find(p->g->names, SL_INTERN_CHECK, sl_json_path_text(entry, "name", ""));
    bool meant = since_ms < 0 ? w->phase == SL_PHASE_PENDING
                              : w->has_admission && same(w->reserved_at_ms, since_ms);
    if (meant && check != SL_NO_ID) {
        send(p, id,
             (struct sl_event){.kind = SL_EV_CHECK_STATE,
                               .index = check,
                               .reason = (uint32_t)sl_json_path_int(entry, "state", 0),
                               .value = sl_json_path_int(entry, "value", 0)});
    }
}

static void reduce(struct sl_play *p, sl_workload_id id, const struct sl_json *entry)
{
    sl_flavor_id flavor =
        sl_intern_find(p->g->names, SL_INTERN_FLAVOR, sl_json_path_text(entry, "flavor", ""));
    sl_resource_id resource =
        sl_intern_find(p->g->names, SL_INTERN_RESOURCE, sl_json_path_text(entry, "resource", ""));
    int64_t left = sl_json_path_int(entry, "left", 0);
    for (uint32_t i = 0; i < sl_commit_usage_count(id); i++) {
        struct sl_cell_amount held = sl_commit_usage(id, i);
        if (sl_cell_flavor[held.cell] == flavor && sl_cell_resource[held.cell] == resource &&
            held.amount > left &&
            sl_call(p->g, p->now_ms, reduce, .workload = id,
                    .generation = sl_workloads[id].generation, .usage = i,
                    .amount = left) != SL_OK) {
            p->ignored++;
        }
    }
}

/* What its job, its pods and its checks did: only where it fares as it did. */
static void repeat(struct sl_play *p, sl_workload_id id, const char *event,
                   const struct sl_json *entry)
{
    int64_t since_ms = sl_json_path_int(entry, "since", -1);
    const struct sl_workload *w = &sl_workloads[id];
    bool runs = w->phase == SL_PHASE_ADMITTED && same(w->admitted_at_ms, since_ms);
    bool stops = w->phase == SL_PHASE_EVICTED && same(w->evicted_at_ms, since_ms);
    bool holds = w->has_admission && same(w->reserved_at_ms, since_ms);
    if (strcmp(event, "finish") == 0 && (runs || since_ms < 0)) {
        end_job(p, id);
    } else if (strcmp(event, "ready") == 0 && runs) {
        send(p, id, (struct sl_event){.kind = SL_EV_PODS_READY, .index = 1});
    } else if (strcmp(event, "unready") == 0 && runs) {
        send(p, id, (struct sl_event){.kind = SL_EV_PODS_READY});
    } else if (strcmp(event, "check") == 0) {
        send_check(p, id, entry);
    } else if (strcmp(event, "stopped") == 0 && stops) {
        stop(p, id);
    } else if (strcmp(event, "reduce") == 0 && holds) {
        reduce(p, id, entry);
    }
}

/* What users and administrators did, which comes in any case. */
static void impose(struct sl_play *p, sl_workload_id id, const char *event,
                   const struct sl_json *entry)
{
    uint32_t reason = (uint32_t)sl_json_path_int(entry, "reason", 0);
    bool marked = sl_workloads[id].deactivation != SL_CAUSE_NONE;
    if (strcmp(event, "drain") == 0) {
        send(p, id, (struct sl_event){.kind = SL_EV_DRAIN, .reason = reason});
    } else if (strcmp(event, "unusable") == 0 &&
               sl_workloads[id].phase == SL_PHASE_QUOTA_RESERVED) {
        send(p, id, (struct sl_event){.kind = SL_EV_QUEUE_UNUSABLE, .reason = reason});
    } else if (strcmp(event, "deactivate") == 0 || (strcmp(event, "deactivated") == 0 && marked)) {
        deactivate(p, id);
    } else if (strcmp(event, "reactivate") == 0) {
        p->g->workloads[id].wants_active = true;
        sl_standing_update(p->g, id, p->now_ms);
        sl_play_respond(p, id);
    }
}

void sl_play_event(struct sl_play *p, const struct sl_json *entry)
{
    const struct sl_json *history =
        sl_map_find(p->histories, sl_json_path_text(entry, "history", ""));
    sl_workload_id id =
        sl_intern_find(p->g->names, SL_INTERN_WORKLOAD, sl_json_path_text(entry, "workload", ""));
    const struct sl_actor *a = id == SL_NO_ID ? NULL : sl_play_actor(p, id);
    if (a != NULL && a->history == history) {
        const char *event = sl_json_path_text(entry, "event", "");
        repeat(p, id, event, entry);
        impose(p, id, event, entry);
    }
}
