/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The loop that plays. */
#include "engine/past/past_play.h"
#include "api/objects/object.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/past/past_history.h"
#include "engine/past/past_react.h"
#include "kernel/lifecycle/lifecycle.h"
#include <inttypes.h>
#include <string.h>

/* What is due for the engine waits so long for a cycle that the daemon made: its loop has turns. */
#define TURN_MS 100

/* --- turns of the engine ------------------------------------------------------------------------------ */

static void carry_out_all(struct sl_play *p)
{
    struct sl_decision d;
    while (sl_engine_next_decision(p->g, &d)) {
        (void)sl_engine_written(p->g, &d, SL_CODE_OK, NULL, p->now_ms);
        p->decided =
            sl_mem_reach(p->decided, &p->decided_cap, 64, p->decided_count, sizeof *p->decided);
        p->decided[p->decided_count++] = d.workload;
    }
    for (uint32_t i = 0; i < p->decided_count; i++) {
        sl_play_respond(p, p->decided[i]);
    }
    p->decided_count = 0;
}

static void turn(struct sl_play *p)
{
    (void)sl_engine_cycle(p->g, p->now_ms);
    carry_out_all(p);
}

static void pass_to(struct sl_play *p, int64_t ms)
{
    if (ms > p->now_ms) {
        sl_past_sums_add(&p->sums, p->g, ms - p->now_ms, p->pipe);
        p->now_ms = ms;
        sl_past_pipe_push(p->pipe, false);
    }
}

static int64_t at_of(const struct sl_play *p, size_t entry)
{
    return sl_json_path_int(sl_json_at(p->past->entries, entry), "at", 0);
}

static const char *verb_of(const struct sl_play *p, size_t entry)
{
    return sl_json_path_text(sl_json_at(p->past->entries, entry), "do", "");
}

/* When the engine wants its turn, and gets none by the past. */
static int64_t turn_ms(struct sl_play *p)
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
static void advance(struct sl_play *p, int64_t until_ms)
{
    struct sl_timer t;
    for (;;) {
        int64_t own_ms = sl_timers_due_ms(&p->timers), engine_ms = turn_ms(p);
        if (own_ms <= until_ms && own_ms <= engine_ms) {
            pass_to(p, own_ms);
            while (sl_timers_take(&p->timers, p->now_ms, &t)) {
                sl_play_fire(p, &t);
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
static struct sl_json *changed_new(const struct sl_play *p, const struct sl_json *object)
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

static void observe(struct sl_play *p, enum sl_kind kind, const struct sl_json *object)
{
    struct sl_error ignored = {0}; /* the object is known then, with what is wrong with it */
    struct sl_json *made = changed_new(p, object);
    (void)sl_engine_observe(p->g, kind, made, p->now_ms, &ignored);
    sl_json_free(made);
}

static void observe_workload(struct sl_play *p, const struct sl_json *entry)
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
    (void)sl_play_actor(p, id);
    p->actors[id] = (struct sl_actor){
        .history = sl_map_find(p->histories, sl_json_path_text(entry, "history", "")),
        .generation = p->g->workloads[id].generation,
        .reserved_ms = sl_workloads[id].reserved_at_ms,
        .admitted_ms = sl_workloads[id].admitted_at_ms,
        .evicted_ms = sl_workloads[id].evicted_at_ms};
}

static void apply(struct sl_play *p, const struct sl_json *entry)
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
static void remove_object(struct sl_play *p, const struct sl_json *entry)
{
    const struct sl_json *object = sl_json_get(entry, "object");
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(object, "apiVersion", ""),
                                            sl_json_path_text(object, "kind", ""));
    if (kind != SL_KIND_WORKLOAD) {
        sl_engine_forget(p->g, kind, object, p->now_ms);
        return;
    }
    sl_workload_id id = sl_workload_find(p->g, object);
    const struct sl_actor *a = id == SL_NO_ID ? NULL : sl_play_actor(p, id);
    if (a == NULL ||
        (sl_json_has(a->history, "finished") && sl_workloads[id].phase != SL_PHASE_FINISHED)) {
        return;
    }
    if (sl_workloads[id].phase != SL_PHASE_FINISHED) {
        sl_play_line(p, "deleted", a);
        sl_buf_text(&p->pipe->text, "}\n");
    }
    sl_engine_forget(p->g, kind, object, p->now_ms);
}

static void play_entry(struct sl_play *p, size_t i)
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
        sl_play_event(p, entry);
    }
}

/* --- beginning and end ---------------------------------------------------------------------------------- */

/* What the policy adds. */
static void observe_added(struct sl_play *p)
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

static void play_all(struct sl_play *p)
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
    struct sl_play *p = context;
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
    p->answers_ms = sl_past_history_median_ms(p->past->workloads, "check");
    p->ready_ms = sl_past_history_median_ms(p->past->workloads, "ready");
    p->stops_ms = sl_past_history_median_ms(p->past->workloads, "stopped");
    p->pipe = pipe;
    p->histories = sl_map_new();
    for (size_t i = 0; i < sl_json_len(p->past->workloads); i++) {
        struct sl_json *history = sl_json_at(p->past->workloads, i);
        sl_map_put(p->histories, sl_json_path_text(history, "id", ""),
                   (union sl_map_value){.pointer = history});
    }
    play_all(p);
    sl_past_sums_fini(&p->sums, pipe);
    sl_buf_print(&pipe->text, "{\"do\":\"ignored\",\"count\":%" PRIu64 "}\n", p->ignored);
    sl_timers_fini(&p->timers);
    sl_map_free(p->histories);
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
    struct sl_play p = {.past = past, .policy = policy};
    *out = sl_json_new_map();
    sl_json_set(*out, "decisions", sl_json_new_list());
    sl_json_set(*out, "sums", sl_json_new_list());
    return sl_past_in_child(run, &p, take_line, *out, e);
}
