/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/decisions/slices.h"
#include "base/check.h"
#include "engine/records/event_in.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "engine/calls/call.h"
#include "engine/decisions/decide.h"
#include "engine/decisions/follow.h"
#include <stdio.h>
#include <string.h>

/* --- which names which ------------------------------------------------------------------------ */

static struct sl_workload_entry *entry_of(const struct sl_engine *g, sl_workload_id id)
{
    return id < g->workload_cap && g->workloads[id].uid != NULL ? &g->workloads[id] : NULL;
}

static sl_workload_id first_of(const struct sl_engine *g, const char *key)
{
    union sl_map_value first;
    return g->slices.first != NULL && sl_map_get(g->slices.first, key, &first)
               ? (sl_workload_id)first.number
               : SL_NO_ID;
}

sl_workload_id sl_slice_next(const struct sl_engine *g, sl_workload_id old, sl_workload_id last)
{
    SL_PRE(g != NULL);
    return last != SL_NO_ID ? g->workloads[last].slice.next
                            : first_of(g, sl_intern_name(g->names, SL_INTERN_WORKLOAD, old));
}

static void set_first(struct sl_engine *g, const char *key, sl_workload_id id)
{
    if (id == SL_NO_ID) {
        (void)sl_map_remove(g->slices.first, key, NULL);
    } else {
        sl_map_put(g->slices.first, key, (union sl_map_value){.number = id});
    }
}

static void leave(struct sl_engine *g, sl_workload_id id)
{
    struct sl_workload_entry *e = &g->workloads[id];
    sl_workload_id before = e->slice.of == NULL ? SL_NO_ID : first_of(g, e->slice.of);
    if (before == id) {
        set_first(g, e->slice.of, e->slice.next);
    }
    while (before != SL_NO_ID && before != id) {
        struct sl_workload_entry *b = &g->workloads[before];
        before = b->slice.next;
        b->slice.next = before == id ? e->slice.next : b->slice.next;
    }
    sl_mem_free(e->slice.of);
    e->slice.of = NULL;
    e->slice.next = SL_NO_ID;
}

static void join(struct sl_engine *g, sl_workload_id id, const char *key)
{
    struct sl_workload_entry *e = &g->workloads[id];
    g->slices.first = g->slices.first == NULL ? sl_map_new() : g->slices.first;
    e->slice.of = sl_mem_text(key);
    e->slice.next = first_of(g, key);
    set_first(g, key, id);
}

/* The core learns whose place it takes, and which flavors it keeps by that. */
static void link_up(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    sl_workload_id old = sl_slice_old(g, id);
    const struct sl_workload_entry *e = entry_of(g, old);
    struct sl_buf list = {0};
    for (uint32_t i = 0; e != NULL && e->admission != NULL && i < e->admission->choice_count; i++) {
        const struct sl_choice *choice = &e->admission->choices[i];
        sl_item_add(&list, kept, .pod_set = choice->pod_set, .flavor = choice->flavor);
    }
    if (sl_call(g, now_ms, slice, .workload = id, .old = old,
                .generation = e == NULL ? 0 : e->generation, .now_ms = now_ms,
                .list = &list) != SL_OK) {
        sl_log(SL_LOG_WARN, "it takes the place of no other: there are too many such workloads",
               "workload", sl_intern_name(g->names, SL_INTERN_WORKLOAD, id), NULL);
    }
    sl_buf_fini(&list);
}

/* Of a Workload of the same namespace, and not of itself. */
static const char *key_in(const struct sl_engine *g, sl_workload_id id,
                          const struct sl_json *object)
{
    const char *key = sl_object_annotation(object, SL_SLICE_ANNOTATION);
    const char *ns = sl_object_namespace(object);
    size_t len = strlen(ns);
    bool usable = g->settings.elastic_jobs && key != NULL && strncmp(key, ns, len) == 0 &&
                  key[len] == '/' &&
                  strcmp(key, sl_intern_name(g->names, SL_INTERN_WORKLOAD, id)) != 0;
    return usable ? key : NULL;
}

void sl_slice_take(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                   int64_t now_ms)
{
    SL_PRE(g != NULL);
    const char *key = key_in(g, id, object);
    const char *was = g->workloads[id].slice.of;
    if (key == was || (key != NULL && was != NULL && strcmp(key, was) == 0)) {
        return;
    }
    leave(g, id);
    if (key != NULL) {
        join(g, id, key);
    }
    link_up(g, id, now_ms);
}

void sl_slice_met(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    SL_PRE(g != NULL);
    sl_workload_id slice = first_of(g, sl_intern_name(g->names, SL_INTERN_WORKLOAD, id));
    while (slice != SL_NO_ID) {
        link_up(g, slice, now_ms);
        slice = g->workloads[slice].slice.next;
    }
}

void sl_slice_drop(struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    leave(g, id);
}

void sl_slice_fini(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    sl_map_free(g->slices.first);
    sl_mem_free(g->slices.ids);
}

/* --- one has taken the place of another ---------------------------------------------------------- */

/* The one whose place `id` has taken, as long as its end is that. */
static struct sl_workload_entry *replaced_by(const struct sl_engine *g, sl_workload_id old,
                                             sl_workload_id *by)
{
    const struct sl_workload_entry *e = entry_of(g, old);
    *by = e == NULL ? SL_NO_ID : e->slice.by;
    struct sl_workload_entry *n = entry_of(g, *by);
    return n != NULL && n->generation == e->slice.by_generation ? n : NULL;
}

static void note(struct sl_engine *g, sl_workload_id id, sl_workload_id old)
{
    g->workloads[old].slice.by = id;
    g->workloads[old].slice.by_generation = g->workloads[id].generation;
}

/* Its reservation is still to be written. */
static void note_unwritten(struct sl_engine *g, sl_workload_id id, sl_workload_id old)
{
    g->workloads[id].slice.replaces = old;
    g->workloads[id].slice.replaces_generation = g->workloads[old].generation;
}

static bool holds(sl_workload_id id)
{
    return sl_workloads[id].has_admission && sl_workloads[id].phase != SL_PHASE_FINISHED;
}

void sl_slice_reserved(struct sl_engine *g, sl_workload_id id, sl_workload_id replaced,
                       const struct sl_transition *ended, int64_t now_ms)
{
    SL_PRE(g != NULL);
    if (replaced != SL_NO_ID) {
        note(g, id, replaced);
        note_unwritten(g, id, replaced);
        sl_follow(g, replaced, ended, now_ms);
        sl_decide(g, replaced, SL_DECIDE_FINISH, now_ms);
    }
    if (g->workloads[id].slice.of != NULL ||
        first_of(g, sl_intern_name(g->names, SL_INTERN_WORKLOAD, id)) != SL_NO_ID) {
        g->slices.ids = sl_mem_grow(g->slices.ids, g->slices.count + 1, sizeof *g->slices.ids);
        g->slices.ids[g->slices.count++] = id;
    }
}

/* Which of two that hold quota has ended. */
static sl_workload_id settle_pair(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    sl_workload_id old = sl_slice_old(g, id);
    if (old == SL_NO_ID || !holds(id) || sl_workloads[id].phase == SL_PHASE_EVICTED ||
        !holds(old)) {
        return SL_NO_ID;
    }
    note(g, id, old);
    sl_send(g, old, now_ms, .kind = SL_EV_FINISH, .reason = SL_FINISH_SLICE_REPLACED);
    sl_decide(g, old, SL_DECIDE_FINISH, now_ms);
    return old;
}

void sl_slice_end_cycle(struct sl_engine *g, int64_t now_ms)
{
    SL_PRE(g != NULL);
    for (uint32_t i = 0; i < g->slices.count; i++) {
        sl_workload_id old = settle_pair(g, g->slices.ids[i], now_ms);
        if (old != SL_NO_ID) {
            note_unwritten(g, g->slices.ids[i], old);
        }
        sl_slice_met(g, g->slices.ids[i], now_ms); /* it has flavors now */
    }
    g->slices.count = 0;
}

void sl_slice_settle(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    SL_PRE(g != NULL);
    (void)settle_pair(g, id, now_ms);
    sl_workload_id slice = first_of(g, sl_intern_name(g->names, SL_INTERN_WORKLOAD, id));
    while (slice != SL_NO_ID) {
        (void)settle_pair(g, slice, now_ms);
        slice = g->workloads[slice].slice.next;
    }
}

/* --- what is written of it ------------------------------------------------------------------------ */

sl_workload_id sl_slice_unwritten(const struct sl_engine *g, sl_workload_id id)
{
    const struct sl_workload_entry *e = entry_of(g, id);
    const struct sl_workload_entry *old = e == NULL ? NULL : entry_of(g, e->slice.replaces);
    return old != NULL && old->generation == e->slice.replaces_generation ? e->slice.replaces
                                                                          : SL_NO_ID;
}

/* It gave its quota back before its reservation was written, so that its object may never say that it had any. One that
 * has itself been replaced by then has left it to another. */
static bool has_given_up(sl_workload_id by)
{
    const struct sl_workload *w = &sl_workloads[by];
    bool ended = w->phase == SL_PHASE_FINISHED && w->finished != SL_FINISH_SLICE_REPLACED;
    return ended || !w->has_admission;
}

bool sl_slice_waits(const struct sl_engine *g, sl_workload_id old)
{
    sl_workload_id by;
    return replaced_by(g, old, &by) != NULL && sl_slice_unwritten(g, by) == old &&
           !has_given_up(by);
}

bool sl_slice_in_vain(const struct sl_engine *g, sl_workload_id old)
{
    sl_workload_id by;
    return replaced_by(g, old, &by) != NULL && sl_slice_unwritten(g, by) == old && has_given_up(by);
}

void sl_slice_written(struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    g->workloads[id].slice.replaces = SL_NO_ID;
}

void sl_slice_say(const struct sl_engine *g, sl_workload_id old, char out[static SL_MESSAGE_SIZE])
{
    sl_workload_id by;
    const struct sl_workload_entry *n = replaced_by(g, old, &by);
    sl_utf8_print(out, SL_MESSAGE_SIZE,
                  "Replaced to accommodate a workload (UID: %s, JobUID: %s) due to workload slice "
                  "aggregation",
                  n == NULL ? "UNKNOWN" : n->uid,
                  n == NULL || n->job_uid == NULL ? "" : n->job_uid);
}

struct sl_json *sl_slice_finish_new(const struct sl_engine *g, sl_workload_id old,
                                    const struct sl_json *workload, int64_t now_ms)
{
    char text[SL_MESSAGE_SIZE];
    if (sl_condition_true(workload, "Finished")) {
        return NULL;
    }
    const struct sl_json *live = sl_json_get(workload, "status");
    struct sl_json *wanted = live == NULL ? sl_json_new_map() : sl_json_clone(live);
    sl_slice_say(g, old, text);
    (void)sl_condition_set(wanted, "Finished", true, "WorkloadSliceReplaced", text,
                           sl_object_generation(workload), now_ms);
    struct sl_json *patch = sl_patch_between_new(live, wanted);
    sl_json_free(wanted);
    return patch;
}
