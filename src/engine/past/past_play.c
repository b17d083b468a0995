/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The loop that plays. It stands in for the controllers, the cluster and the users, and decides nothing. */
#include "engine/past/past_play.h"
#include "api/objects/object.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/decisions/standing.h"
#include "engine/past/past_life.h"
#include "engine/past/past_sums.h"
#include "engine/records/timers.h"
#include "kernel/commit/commit.h"
#include "kernel/ledger/cells.h"
#include "policy/requests/requests.h"
#include <inttypes.h>
#include <string.h>

/* What is due for the engine waits so long for a cycle that the daemon made: its loop has turns. */
#define TURN_MS 100
#define DEACTIVATE_MS                                                                              \
    1000 /* from the decision until the spec says it, where the past does not tell */

/* What comes by itself, as timers of these kinds. */
#define ENDS SL_TIMER_EXECUTION
#define ANSWERS SL_TIMER_REWRITE
#define READY SL_TIMER_READY
#define STOPS SL_TIMER_STOP
#define DEACTIVATES SL_TIMER_RETAIN

struct actor {
    const struct sl_json *life;
    uint32_t generation;
    int64_t reserved_ms, admitted_ms, evicted_ms; /* what was answered to */
};

struct play {
    const struct sl_past *past;
    const struct sl_past_policy *policy;
    struct sl_engine *g;
    struct sl_past_pipe *pipe;
    int64_t now_ms;
    size_t next, look;    /* entries: the next one, and the next cycle from there on */
    struct sl_map *lives; /* by id, lent */
    struct actor *actors; /* by workload */
    uint32_t actor_cap;
    struct sl_timers timers;
    sl_workload_id *decided;
    uint32_t decided_count, decided_cap;
    struct sl_past_sums sums;
    int64_t answers_ms, ready_ms, stops_ms; /* how long it takes where a workload has no example */
    uint64_t ignored;
};

/* --- lines --------------------------------------------------------------------------------------- */

static void begin_line(struct play *p, const char *verb, const struct actor *a)
{
    sl_buf_print(&p->pipe->text,
                 "{\"at\":%" PRId64 ",\"do\":\"%s\",\"life\":\"%s\",\"workload\":\"%s\"", p->now_ms,
                 verb, sl_json_path_text(a->life, "id", ""),
                 sl_json_path_text(a->life, "workload", ""));
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

static void tell_admitted(struct play *p, sl_workload_id id, const struct actor *a)
{
    struct sl_json *uses = uses_new(p->g, id);
    begin_line(p, "admitted", a);
    sl_buf_print(&p->pipe->text, ",\"queue\":\"%s\",\"uses\":", sl_engine_queue_of(p->g, id));
    sl_json_print(uses, &p->pipe->text);
    sl_buf_text(&p->pipe->text, "}\n");
    sl_json_free(uses);
}

/* --- what follows on decisions ---------------------------------------------------------------------- */

static struct actor *actor_of(struct play *p, sl_workload_id id)
{
    p->actors = sl_mem_reach(p->actors, &p->actor_cap, 256, id, sizeof *p->actors);
    struct actor *a = &p->actors[id];
    bool same = p->g->workloads[id].uid != NULL && a->life != NULL &&
                a->generation == p->g->workloads[id].generation;
    return same ? a : NULL;
}

static void arm(struct play *p, sl_workload_id id, enum sl_timer_kind kind, int64_t after_ms)
{
    sl_timers_arm(&p->timers, p->now_ms + after_ms, kind, id, p->g->workloads[id].generation);
}

/* As long after as it was with this workload, else as with others. */
static int64_t after_ms(const struct actor *a, const char *event, int64_t typical_ms)
{
    int64_t own_ms = sl_past_life_after_ms(a->life, event);
    return own_ms >= 0 ? own_ms : typical_ms;
}

/* Was it so in the past, at this very time? Then what follows comes as it did. */
static bool as_before(const struct actor *a, const char *what, int64_t at_ms)
{
    return sl_past_life_follows(a->life, what, at_ms);
}

static void follow_reservation(struct play *p, sl_workload_id id, struct actor *a)
{
    int64_t at_ms = sl_workloads[id].reserved_at_ms;
    if (a->reserved_ms != at_ms && sl_workloads[id].phase == SL_PHASE_QUOTA_RESERVED) {
        a->reserved_ms = at_ms;
        if (!as_before(a, "reserved", at_ms)) {
            arm(p, id, ANSWERS, after_ms(a, "check", p->answers_ms));
        }
    }
}

static void follow_admission(struct play *p, sl_workload_id id, struct actor *a)
{
    int64_t at_ms = sl_workloads[id].admitted_at_ms;
    int64_t runs_ms = sl_past_life_after_ms(a->life, "finish");
    if (sl_workloads[id].phase != SL_PHASE_ADMITTED || a->admitted_ms == at_ms) {
        return;
    }
    a->admitted_ms = at_ms;
    tell_admitted(p, id, a);
    if (!as_before(a, "admitted", at_ms)) {
        arm(p, id, READY, after_ms(a, "ready", p->ready_ms));
    }
    if (runs_ms >= 0 && !as_before(a, "finish", at_ms)) {
        arm(p, id, ENDS, runs_ms);
    }
}

static void follow_eviction(struct play *p, sl_workload_id id, struct actor *a)
{
    const struct sl_workload *w = &sl_workloads[id];
    if (w->evicted == SL_EVICT_NONE || a->evicted_ms == w->evicted_at_ms) {
        return;
    }
    a->evicted_ms = w->evicted_at_ms;
    begin_line(p, "evicted", a);
    sl_buf_print(&p->pipe->text, ",\"reason\":%d}\n", (int)w->evicted);
    if (w->phase == SL_PHASE_EVICTED && !as_before(a, "evicted", w->evicted_at_ms)) {
        arm(p, id, STOPS, after_ms(a, "stopped", p->stops_ms));
    }
}

static void respond(struct play *p, sl_workload_id id)
{
    struct actor *a = actor_of(p, id);
    if (a == NULL) {
        return;
    }
    follow_reservation(p, id, a);
    follow_admission(p, id, a);
    follow_eviction(p, id, a);
    if (sl_workloads[id].deactivation != SL_CAUSE_NONE && sl_workloads[id].active) {
        arm(p, id, DEACTIVATES, DEACTIVATE_MS);
    }
}

/* --- events ---------------------------------------------------------------------------------------- */

/* A refusal is fine: in this course of things it came to nothing. */
static void send(struct play *p, sl_workload_id id, struct sl_event ev)
{
    ev.workload = id;
    ev.generation = sl_workloads[id].generation;
    ev.now_ms = p->now_ms;
    if (sl_call(p->g, p->now_ms, event, .event = ev) != SL_OK) {
        p->ignored++;
        return;
    }
    sl_standing_update(p->g, id, p->now_ms);
    respond(p, id);
}

static void finish(struct play *p, sl_workload_id id)
{
    const struct actor *a = actor_of(p, id);
    if (a != NULL && sl_workloads[id].phase != SL_PHASE_FINISHED) {
        begin_line(p, "finished", a);
        sl_buf_text(&p->pipe->text, "}\n");
        send(p, id, (struct sl_event){.kind = SL_EV_FINISH, .reason = SL_FINISH_SUCCEEDED});
    }
}

static void deactivate(struct play *p, sl_workload_id id)
{
    p->g->workloads[id].wants_active = false;
    if (sl_workloads[id].active) {
        send(p, id, (struct sl_event){.kind = SL_EV_DEACTIVATE});
    }
}

static void answer_checks(struct play *p, sl_workload_id id)
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

static void stop(struct play *p, sl_workload_id id)
{
    if (sl_workloads[id].phase == SL_PHASE_EVICTED) {
        send(p, id,
             (struct sl_event){.kind = SL_EV_JOB_STOPPED,
                               .index = sl_requests_is_single_pod(id) ? 1u : 0u});
    }
}

/* What was armed for what is no longer so does nothing. */
static void fire(struct play *p, const struct sl_timer *t)
{
    const struct actor *a = actor_of(p, t->id);
    const struct sl_workload *w = &sl_workloads[t->id];
    if (a == NULL || a->generation != t->generation) {
        return;
    }
    int64_t runs_ms = sl_past_life_after_ms(a->life, "finish");
    switch (t->kind) {
    case ENDS:
        if (w->phase == SL_PHASE_ADMITTED && w->admitted_at_ms + runs_ms == t->due_ms) {
            finish(p, t->id);
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

/* --- turns of the engine ------------------------------------------------------------------------------ */

static void carry_out_all(struct play *p)
{
    struct sl_decision d;
    while (sl_engine_next_decision(p->g, &d)) {
        (void)sl_engine_written(p->g, &d, SL_CODE_OK, NULL, p->now_ms);
        p->decided =
            sl_mem_reach(p->decided, &p->decided_cap, 64, p->decided_count, sizeof *p->decided);
        p->decided[p->decided_count++] = d.workload;
    }
    for (uint32_t i = 0; i < p->decided_count; i++) {
        respond(p, p->decided[i]);
    }
    p->decided_count = 0;
}

static void turn(struct play *p)
{
    (void)sl_engine_cycle(p->g, p->now_ms);
    carry_out_all(p);
}

static void pass_to(struct play *p, int64_t ms)
{
    if (ms > p->now_ms) {
        sl_past_sums_add(&p->sums, p->g, ms - p->now_ms, p->pipe);
        p->now_ms = ms;
        sl_past_pipe_push(p->pipe, false);
    }
}

static int64_t at_of(const struct play *p, size_t entry)
{
    return sl_json_path_int(sl_json_at(p->past->entries, entry), "at", 0);
}

static const char *verb_of(const struct play *p, size_t entry)
{
    return sl_json_path_text(sl_json_at(p->past->entries, entry), "do", "");
}

/* When the engine wants its turn, and gets none by the past. */
static int64_t turn_ms(struct play *p)
{
    size_t count = sl_json_len(p->past->entries);
    int64_t due_ms = sl_engine_due_ms(p->g);
    p->look = p->look < p->next ? p->next : p->look;
    while (p->look < count && strcmp(verb_of(p, p->look), "look") != 0) {
        p->look++;
    }
    due_ms = due_ms < p->now_ms ? p->now_ms : due_ms;
    bool comes = due_ms != INT64_MAX && p->look < count && at_of(p, p->look) - due_ms <= TURN_MS;
    return comes ? INT64_MAX : due_ms;
}

/* What happens of itself before that time; at it come jobs first, and then what came from outside. */
static void advance(struct play *p, int64_t until_ms)
{
    struct sl_timer t;
    for (;;) {
        int64_t own_ms = sl_timers_due_ms(&p->timers), engine_ms = turn_ms(p);
        if (own_ms <= until_ms && own_ms <= engine_ms) {
            pass_to(p, own_ms);
            while (sl_timers_take(&p->timers, p->now_ms, &t)) {
                fire(p, &t);
            }
        } else if (engine_ms < until_ms) {
            pass_to(p, engine_ms);
            turn(p);
        } else {
            return;
        }
    }
}

/* --- entries ------------------------------------------------------------------------------------------ */

/* With what the policy says about the object. */
static struct sl_json *changed_new(const struct play *p, const struct sl_json *object)
{
    struct sl_json *made = sl_json_clone(object);
    for (size_t i = 0; i < sl_json_len(p->policy->objects); i++) {
        const struct sl_json *o = sl_json_at(p->policy->objects, i);
        struct sl_error ignored = {0};
        if (strcmp(sl_json_path_text(o, "kind", ""), sl_json_path_text(object, "kind", "")) == 0 &&
            strcmp(sl_object_name(o), sl_object_name(object)) == 0) {
            (void)sl_patch_merge(&made, o, &ignored);
        }
    }
    return made;
}

static void observe(struct play *p, enum sl_kind kind, const struct sl_json *object)
{
    struct sl_error ignored = {0}; /* the object is known then, with what is wrong with it */
    struct sl_json *made = changed_new(p, object);
    (void)sl_engine_observe(p->g, kind, made, p->now_ms, &ignored);
    sl_json_free(made);
}

static void observe_workload(struct play *p, const struct sl_json *entry)
{
    const struct sl_json *object = sl_json_get(entry, "object");
    sl_workload_id id = sl_workload_find(p->g, object);
    if (id != SL_NO_ID && sl_workloads[id].phase != SL_PHASE_PENDING) {
        p->ignored++; /* what has changed about it cannot be changed now */
        return;
    }
    bool fresh = id == SL_NO_ID;
    observe(p, SL_KIND_WORKLOAD, object);
    id = sl_workload_find(p->g, object);
    if (id == SL_NO_ID || !fresh) {
        return;
    }
    (void)actor_of(p, id);
    p->actors[id] =
        (struct actor){.life = sl_map_find(p->lives, sl_json_path_text(entry, "life", "")),
                       .generation = p->g->workloads[id].generation,
                       .reserved_ms = sl_workloads[id].reserved_at_ms,
                       .admitted_ms = sl_workloads[id].admitted_at_ms,
                       .evicted_ms = sl_workloads[id].evicted_at_ms};
}

static void apply(struct play *p, const struct sl_json *entry)
{
    const struct sl_json *object = sl_json_get(entry, "object");
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(object, "apiVersion", ""),
                                            sl_json_path_text(object, "kind", ""));
    if (kind == SL_KIND_WORKLOAD) {
        observe_workload(p, entry);
    } else if (kind != SL_KIND_COUNT) {
        observe(p, kind, object);
    }
}

/* A job that had ended when it was deleted is not deleted before it has ended now. */
static void remove_object(struct play *p, const struct sl_json *entry)
{
    const struct sl_json *object = sl_json_get(entry, "object");
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(object, "apiVersion", ""),
                                            sl_json_path_text(object, "kind", ""));
    if (kind != SL_KIND_WORKLOAD) {
        sl_engine_forget(p->g, kind, object, p->now_ms);
        return;
    }
    sl_workload_id id = sl_workload_find(p->g, object);
    const struct actor *a = id == SL_NO_ID ? NULL : actor_of(p, id);
    if (a == NULL ||
        (sl_json_has(a->life, "finished") && sl_workloads[id].phase != SL_PHASE_FINISHED)) {
        return;
    }
    if (sl_workloads[id].phase != SL_PHASE_FINISHED) {
        begin_line(p, "gone", a);
        sl_buf_text(&p->pipe->text, "}\n");
    }
    sl_engine_forget(p->g, kind, object, p->now_ms);
}

static bool same(int64_t a_ms, int64_t b_ms)
{
    return a_ms - b_ms < SL_PAST_SAME_MS && b_ms - a_ms < SL_PAST_SAME_MS;
}

static void send_check(struct play *p, sl_workload_id id, const struct sl_json *entry)
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

static void reduce(struct play *p, sl_workload_id id, const struct sl_json *entry)
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

/* Only of the workload that has fared as it did; what its user did comes in any case. */
static void replay_event(struct play *p, sl_workload_id id, const struct sl_json *entry)
{
    const char *event = sl_json_path_text(entry, "event", "");
    int64_t since_ms = sl_json_path_int(entry, "since", -1);
    const struct sl_workload *w = &sl_workloads[id];
    bool runs = w->phase == SL_PHASE_ADMITTED && same(w->admitted_at_ms, since_ms);
    if (strcmp(event, "finish") == 0) {
        if (runs || since_ms < 0) {
            finish(p, id);
        }
    } else if (strcmp(event, "ready") == 0 || strcmp(event, "unready") == 0) {
        if (runs) {
            send(p, id,
                 (struct sl_event){.kind = SL_EV_PODS_READY, .index = event[0] == 'r' ? 1u : 0u});
        }
    } else if (strcmp(event, "check") == 0) {
        send_check(p, id, entry);
    } else if (strcmp(event, "stopped") == 0) {
        if (w->phase == SL_PHASE_EVICTED && same(w->evicted_at_ms, since_ms)) {
            stop(p, id);
        }
    } else if (strcmp(event, "reduce") == 0) {
        if (w->has_admission && same(w->reserved_at_ms, since_ms)) {
            reduce(p, id, entry);
        }
    } else if (strcmp(event, "drain") == 0) {
        send(p, id,
             (struct sl_event){.kind = SL_EV_DRAIN,
                               .reason = (uint32_t)sl_json_path_int(entry, "reason", 0)});
    } else if (strcmp(event, "unusable") == 0) {
        if (w->phase == SL_PHASE_QUOTA_RESERVED) {
            send(p, id,
                 (struct sl_event){.kind = SL_EV_QUEUE_UNUSABLE,
                                   .reason = (uint32_t)sl_json_path_int(entry, "reason", 0)});
        }
    } else if (strcmp(event, "deactivate") == 0 ||
               (strcmp(event, "deactivated") == 0 && w->deactivation != SL_CAUSE_NONE)) {
        deactivate(p, id);
    } else if (strcmp(event, "reactivate") == 0) {
        p->g->workloads[id].wants_active = true;
        sl_standing_update(p->g, id, p->now_ms);
        respond(p, id);
    }
}

static void send_entry(struct play *p, const struct sl_json *entry)
{
    const struct sl_json *life = sl_map_find(p->lives, sl_json_path_text(entry, "life", ""));
    sl_workload_id id =
        sl_intern_find(p->g->names, SL_INTERN_WORKLOAD, sl_json_path_text(entry, "workload", ""));
    const struct actor *a = id == SL_NO_ID ? NULL : actor_of(p, id);
    if (a != NULL && a->life == life) {
        replay_event(p, id, entry);
    }
}

static void play_entry(struct play *p, size_t i)
{
    const struct sl_json *entry = sl_json_at(p->past->entries, i);
    const char *verb = verb_of(p, i);
    if (strcmp(verb, "look") == 0) {
        if (!p->g->synced) {
            sl_engine_synced(p->g, p->now_ms);
        }
        turn(p);
    } else if (strcmp(verb, "apply") == 0) {
        apply(p, entry);
    } else if (strcmp(verb, "delete") == 0) {
        remove_object(p, entry);
    } else if (strcmp(verb, "send") == 0) {
        send_entry(p, entry);
    }
}

/* --- beginning and end ---------------------------------------------------------------------------------- */

/* What the policy adds. */
static void observe_added(struct play *p)
{
    for (size_t i = 0; i < sl_json_len(p->policy->objects); i++) {
        const struct sl_json *o = sl_json_at(p->policy->objects, i);
        enum sl_kind kind = sl_kind_find_object(sl_json_path_text(o, "apiVersion", ""),
                                                sl_json_path_text(o, "kind", ""));
        bool known = false;
        for (size_t k = 0; k < sl_json_len(p->past->entries) && !known; k++) {
            const struct sl_json *other = sl_json_path(sl_json_at(p->past->entries, k), "object");
            known = other != NULL &&
                    strcmp(sl_json_path_text(other, "kind", ""), sl_kind_info(kind)->kind) == 0 &&
                    strcmp(sl_object_name(other), sl_object_name(o)) == 0;
        }
        if (!known) {
            observe(p, kind, o);
        }
    }
}

static void play_all(struct play *p)
{
    size_t count = sl_json_len(p->past->entries);
    p->now_ms = count > 0 ? at_of(p, 0) : 0;
    observe_added(p);
    for (p->next = 0; p->next < count; p->next++) {
        int64_t at_ms = at_of(p, p->next);
        if (p->g->synced) {
            advance(p, at_ms);
        }
        pass_to(p, at_ms);
        play_entry(p, p->next);
    }
    if (p->g->synced) {
        advance(p, p->past->end_ms);
        pass_to(p, p->past->end_ms);
    }
}

static void run(void *context, struct sl_past_pipe *pipe)
{
    struct play *p = context;
    struct sl_error e = {0};
    struct sl_engine_settings settings =
        p->policy->settings != NULL ? *p->policy->settings : p->past->settings;
    /* They were read with what these make of them, and what has ended is of no more interest. */
    settings.excluded_prefix_count = settings.transformation_count = 0;
    settings.retain_finished_ms = settings.retain_deactivated_ms = -1;
    settings.paranoid = false;
    const struct sl_engine_options options = {.settings = &settings};
    if (sl_engine_open(&options, &p->g, &e) != SL_CODE_OK) {
        return; /* cannot be: without a journal */
    }
    p->g->runs_ahead = true;
    p->answers_ms = sl_past_life_median_ms(p->past->workloads, "check");
    p->ready_ms = sl_past_life_median_ms(p->past->workloads, "ready");
    p->stops_ms = sl_past_life_median_ms(p->past->workloads, "stopped");
    p->pipe = pipe;
    p->lives = sl_map_new();
    for (size_t i = 0; i < sl_json_len(p->past->workloads); i++) {
        struct sl_json *life = sl_json_at(p->past->workloads, i);
        sl_map_put(p->lives, sl_json_path_text(life, "id", ""),
                   (union sl_map_value){.pointer = life});
    }
    play_all(p);
    sl_past_sums_fini(&p->sums, pipe);
    sl_buf_print(&pipe->text, "{\"do\":\"ignored\",\"count\":%" PRIu64 "}\n", p->ignored);
    sl_timers_fini(&p->timers);
    sl_map_free(p->lives);
    sl_mem_free(p->actors);
    sl_mem_free(p->decided);
    sl_engine_close(p->g);
}

static void take_line(void *taker, struct sl_json *line)
{
    struct sl_json *out = taker;
    const char *verb = sl_json_path_text(line, "do", "");
    if (strcmp(verb, "ignored") == 0) {
        sl_json_set_int(out, "ignored", sl_json_path_int(line, "count", 0));
        sl_json_free(line);
    } else {
        sl_json_append(sl_json_get(out, strcmp(verb, "sum") == 0 ? "sums" : "decisions"), line);
    }
}

enum sl_code sl_past_play(const struct sl_past *past, const struct sl_past_policy *policy,
                          struct sl_json **out, struct sl_error *e)
{
    SL_PRE(past != NULL && policy != NULL && out != NULL && e != NULL);
    struct play p = {.past = past, .policy = policy};
    *out = sl_json_new_map();
    sl_json_set(*out, "decisions", sl_json_new_list());
    sl_json_set(*out, "sums", sl_json_new_list());
    return sl_past_in_child(run, &p, take_line, *out, e);
}
