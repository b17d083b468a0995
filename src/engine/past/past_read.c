/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Runs of a daemon, one after the other, become one past: what a later run finds as the one before has left it is nothing
 * new, and what it does not find any more was deleted in between. */
#include "engine/past/past.h"
#include "api/objects/object.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/journal/journal.h"
#include "engine/journal/journal_image.h"
#include "engine/decisions/slices.h"
#include "engine/past/past_history.h"
#include "engine/past/past_take.h"
#include <string.h>

#define SLICES_MAX 64u /* of a job, that are joined */

struct reading {
    struct sl_past *past;
    struct sl_json *now;    /* by kind and key: the workloads at the end of the run */
    struct sl_map *seen;    /* kind and key -> the number of the run that saw it last */
    struct sl_map *current; /* key of a workload -> its history, lent */
    uint64_t run, sequence; /* of the last record that was played */
    bool looked;            /* in this run */
};

/* --- notes ---------------------------------------------------------------------------------------- */

static void note(struct sl_past *p, const char *text, int64_t count)
{
    struct sl_json *known = sl_json_find_by(p->notes, "note", text);
    if (count == 0) {
        return;
    }
    if (known == NULL) {
        known = sl_json_new_map();
        sl_json_set_text(known, "note", text);
        sl_json_append(p->notes, known);
    }
    sl_json_set_int(known, "count", sl_json_path_int(known, "count", 0) + count);
}

/* --- objects --------------------------------------------------------------------------------------- */

static void print_key(const struct sl_json *object, struct sl_buf *out)
{
    sl_buf_print(out, "%s %s/%s", sl_json_path_text(object, "kind", ""),
                 sl_object_namespace(object), sl_object_name(object));
}

static bool is_workload(const struct sl_json *object)
{
    return strcmp(sl_json_path_text(object, "kind", ""), "Workload") == 0;
}

static void add_entry(struct reading *r, struct sl_json *line)
{
    sl_json_append(r->past->entries, line);
}

static struct sl_json *history_of(const struct reading *r, const char *key)
{
    return sl_map_find(r->current, key);
}

/* The ClusterQueue that its LocalQueue leads to. */
static void set_queue(const struct reading *r, struct sl_json *history,
                      const struct sl_json *object)
{
    struct sl_buf key = {0};
    const char *local = sl_json_path_text(object, "spec.queueName", "");
    sl_buf_print(&key, "LocalQueue %s/%s", sl_object_namespace(object), local);
    const struct sl_json *queue = sl_json_get(r->past->last, key.data);
    if (queue != NULL) {
        sl_json_set_text(history, "localQueue", local);
        sl_json_set_text(history, "queue", sl_json_path_text(queue, "spec.clusterQueue", ""));
    }
    sl_buf_fini(&key);
}

/* The history that begins with the object, or that it belongs to. */
static struct sl_json *enter(struct reading *r, const struct sl_json *object, int64_t at_ms,
                             bool *fresh)
{
    char *key = sl_object_key_new(object);
    struct sl_json *history = history_of(r, key);
    bool known = history != NULL &&
                 strcmp(sl_json_path_text(history, "uid", ""), sl_object_uid(object)) == 0;
    if (!known) {
        int64_t created_ms = sl_object_created_ms(object);
        bool before = !r->looked && created_ms >= 0 && created_ms < at_ms;
        history = sl_past_history_new(key, object, before ? created_ms : at_ms);
        sl_json_append(r->past->workloads, history);
        sl_map_put(r->current, key, (union sl_map_value){.pointer = history});
    }
    set_queue(r, history, object);
    if (sl_object_annotation(object, SL_SLICE_ANNOTATION) != NULL) {
        sl_json_set_text(history, "replaces", sl_object_annotation(object, SL_SLICE_ANNOTATION));
    }
    sl_mem_free(key);
    *fresh = !known;
    return history;
}

static void take_apply(struct reading *r, struct sl_json *line)
{
    struct sl_json *object = sl_json_get(line, "object");
    struct sl_buf key = {0};
    print_key(object, &key);
    sl_map_put(r->seen, key.data, (union sl_map_value){.number = r->run});
    bool same = sl_json_equal(sl_json_get(r->past->last, key.data), object);
    bool fresh = true;
    if (is_workload(object)) {
        bool gated = sl_json_path(object, "spec.preemptionGates") != NULL;
        r->past->settings.preemption_gates = r->past->settings.preemption_gates || gated;
        struct sl_json *history = enter(r, object, sl_json_path_int(line, "at", 0), &fresh);
        sl_json_set_text(line, "history", sl_json_path_text(history, "id", ""));
    }
    /* What a new run finds reserved is going on. */
    bool goes_on = !fresh && sl_json_path(object, "status.admission") != NULL;
    if (same || goes_on) {
        sl_json_free(line);
    } else {
        sl_json_set(r->past->last, key.data, sl_json_ref(object));
        add_entry(r, line);
    }
    sl_buf_fini(&key);
}

static void take_delete(struct reading *r, struct sl_json *line)
{
    struct sl_json *object = sl_json_get(line, "object");
    struct sl_buf key = {0};
    print_key(object, &key);
    sl_json_remove(r->past->last, key.data);
    (void)sl_map_remove(r->seen, key.data, NULL);
    if (is_workload(object)) {
        char *name = sl_object_key_new(object);
        struct sl_json *history = history_of(r, name);
        if (history != NULL) {
            sl_json_set_int(history, "deleted", sl_json_path_int(line, "at", 0));
            sl_json_set_text(line, "history", sl_json_path_text(history, "id", ""));
            sl_json_set_text(sl_json_path_make(object, "metadata"), "uid",
                             sl_json_path_text(history, "uid", ""));
        }
        (void)sl_map_remove(r->current, name, NULL);
        sl_mem_free(name);
    }
    add_entry(r, line);
    sl_buf_fini(&key);
}

/* What the run before knew, and this one does not. */
static void sweep(struct reading *r, int64_t at_ms)
{
    struct sl_json *deleted = sl_json_new_list();
    for (struct sl_map_item e = {0}; sl_map_each(r->seen, &e);) {
        if (e.value.number < r->run) {
            const struct sl_json *object = sl_json_get(r->past->last, e.key);
            struct sl_json *line = sl_json_new_map();
            sl_json_set_int(line, "at", at_ms);
            sl_json_set_text(line, "do", "delete");
            sl_json_set(line, "object", sl_json_clone(object));
            sl_json_append(deleted, line);
        }
    }
    for (size_t i = 0; i < sl_json_len(deleted); i++) {
        take_delete(r, sl_json_ref(sl_json_at(deleted, i)));
    }
    sl_json_free(deleted);
}

/* --- the other lines -------------------------------------------------------------------------------- */

static void take_look(struct reading *r, struct sl_json *line)
{
    int64_t at_ms = sl_json_path_int(line, "at", 0);
    if (!r->looked && r->run > 1) {
        sweep(r, at_ms);
    }
    if (!r->looked && r->run == 1) {
        r->past->begin_ms = at_ms;
    }
    r->looked = true;
    add_entry(r, line);
}

/* Nearest first, so that the job's run counts from the first of all. */
static void join_slices(struct reading *r, struct sl_json *history)
{
    struct sl_json *old = history;
    for (unsigned i = 0; i < SLICES_MAX && old != NULL && sl_json_has(old, "replaces"); i++) {
        old = history_of(r, sl_json_path_text(old, "replaces", ""));
        if (old != NULL && !sl_json_has(old, "finished")) {
            sl_past_history_one_run(history, old);
        }
    }
}

static void take_send(struct reading *r, struct sl_json *line)
{
    struct sl_json *history = history_of(r, sl_json_path_text(line, "workload", ""));
    if (history == NULL) {
        sl_json_free(line);
        return;
    }
    sl_past_history_note(history, line);
    if (strcmp(sl_json_path_text(line, "event", ""), "finish") == 0) {
        join_slices(r, history);
    }
    sl_json_set_text(line, "history", sl_json_path_text(history, "id", ""));
    add_entry(r, line);
}

static void take_fate(struct reading *r, struct sl_json *line)
{
    struct sl_json *history = history_of(r, sl_json_path_text(line, "workload", ""));
    if (history == NULL || !sl_past_history_decide(history, line)) {
        sl_json_free(line);
        return;
    }
    sl_json_set_text(line, "history", sl_json_path_text(history, "id", ""));
    sl_json_append(r->past->decisions, line);
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void take_settings(struct sl_past *p, const char *hex)
{
    struct sl_call c;
    struct sl_buf list = {0}, bytes = {0};
    enum sl_status answer;
    for (size_t i = 0; hex[i] != '\0' && hex[i + 1] != '\0'; i += 2) {
        char byte = (char)(unsigned char)(digit(hex[i]) << 4 | digit(hex[i + 1]));
        sl_buf_add(&bytes, &byte, 1);
    }
    if (sl_call_unpack((const unsigned char *)bytes.data, bytes.len, &c, &list, &answer)) {
        p->settings.policy = c.settings.settings;
    }
    sl_buf_fini(&bytes);
    sl_buf_fini(&list);
}

static void take_weight(struct sl_past *p, const struct sl_json *line)
{
    size_t n = p->settings.usage_weight_count;
    const char **names = sl_mem_new(n + 1, sizeof *names);
    int64_t *weights = sl_mem_new(n + 1, sizeof *weights);
    for (size_t i = 0; i < n; i++) {
        names[i] = p->settings.usage_weight_resources[i];
        weights[i] = p->settings.usage_weights_nano[i];
    }
    char *name = sl_mem_text(sl_json_path_text(line, "resource", ""));
    names[n] = name;
    weights[n] = sl_json_path_int(line, "nano", 0);
    p->kept = sl_mem_grow(p->kept, p->kept_count + 3, sizeof *p->kept);
    p->kept[p->kept_count++] = name;
    p->kept[p->kept_count++] = (char *)names;
    p->kept[p->kept_count++] = (char *)weights;
    p->settings.usage_weight_resources = names;
    p->settings.usage_weights_nano = weights;
    p->settings.usage_weight_count = n + 1;
}

static void take_rule(struct sl_past *p, const char *verb, const struct sl_json *line)
{
    if (strcmp(verb, "settings") == 0) {
        take_settings(p, sl_json_path_text(line, "bytes", ""));
        p->settings.usage_weight_count = 0; /* a new run begins */
    } else if (strcmp(verb, "requeue") == 0) {
        p->settings.limit_requeues = sl_json_path_int(line, "limited", 0) != 0;
        p->settings.requeues_max = (uint32_t)sl_json_path_int(line, "count", 0);
        p->settings.backoff_base_ms = sl_json_path_int(line, "base", 0);
        p->settings.backoff_ms_max = sl_json_path_int(line, "max", 0);
    } else if (strcmp(verb, "usage") == 0) {
        p->settings.usage_half_life_ms = sl_json_path_int(line, "halfLife", 0);
        p->settings.usage_sampling_ms = sl_json_path_int(line, "sampling", 0);
    } else if (strcmp(verb, "weight") == 0) {
        take_weight(p, line);
    }
}

static void take_now(struct reading *r, struct sl_json *object)
{
    struct sl_buf key = {0};
    print_key(object, &key);
    sl_json_set(r->now, key.data, sl_json_ref(object));
    sl_buf_fini(&key);
}

static void take_end(struct reading *r, struct sl_json *line)
{
    struct sl_past *p = r->past;
    const char *why = sl_json_path_text(line, "why", "");
    int64_t end_ms = sl_json_path_int(line, "at", 0);
    p->end_ms = end_ms > p->end_ms ? end_ms : p->end_ms;
    p->records += (uint64_t)sl_json_path_int(line, "records", 0);
    r->sequence = (uint64_t)sl_json_path_int(line, "sequence", 0);
    note(p, "reservations could not be written, and are taken to have been",
         sl_json_path_int(line, "failedWrites", 0));
    note(p, "changes of nodes and topologies are left out: quotas alone decide",
         sl_json_path_int(line, "topology", 0));
    note(p, "failures of nodes are left out", sl_json_path_int(line, "failedNodes", 0));
    note(p, "pods that ended before their job give quota back only where it started as it did",
         sl_json_path_int(line, "reductions", 0));
    if (why[0] != '\0') {
        note(p, why, 1);
    }
    sl_json_free(line);
}

static void take_line(void *context, struct sl_json *line)
{
    struct reading *r = context;
    const char *verb = sl_json_path_text(line, "do", "");
    if (strcmp(verb, "apply") == 0) {
        take_apply(r, line);
    } else if (strcmp(verb, "delete") == 0) {
        take_delete(r, line);
    } else if (strcmp(verb, "look") == 0) {
        take_look(r, line);
    } else if (strcmp(verb, "send") == 0) {
        take_send(r, line);
    } else if (strcmp(verb, "reserved") == 0 || strcmp(verb, "admitted") == 0 ||
               strcmp(verb, "evicted") == 0) {
        take_fate(r, line);
    } else if (strcmp(verb, "now") == 0) {
        take_now(r, sl_json_get(line, "object"));
        sl_json_free(line);
    } else if (strcmp(verb, "end") == 0) {
        take_end(r, line);
    } else {
        take_rule(r->past, verb, line);
        sl_json_free(line);
    }
}

/* --- the journal -------------------------------------------------------------------------------------- */

/* Can it be played from this record on, which is none of a run that was? */
static bool begins(struct reading *r, const struct sl_journal_record *record)
{
    struct sl_image_part part;
    if (record->type == SL_JOURNAL_START) {
        return true;
    }
    if (record->type != SL_JOURNAL_IMAGE || record->sequence <= r->sequence ||
        !sl_image_look(record->payload, record->len, &part) || part.number != 0) {
        return false;
    }
    if (strcmp(part.digest, sl_core_digest) != 0) {
        note(r->past, "images of another version's core are left out", 1);
        return false;
    }
    return true;
}

static enum sl_code read_runs(struct reading *r, struct sl_journal_reader *reader,
                              struct sl_error *e)
{
    struct sl_journal_record record;
    enum sl_journal_end end;
    while (e->code == SL_CODE_OK &&
           (end = sl_journal_reader_next(reader, &record)) != SL_JOURNAL_END) {
        if (end == SL_JOURNAL_DAMAGED) {
            note(r->past, "files are damaged, and what follows in them is left out", 1);
        } else if (end == SL_JOURNAL_RECORD && begins(r, &record)) {
            struct sl_past_take take = {reader, &record};
            r->run++;
            r->looked = false;
            sl_json_free(r->now);
            r->now = sl_json_new_map();
            r->past->starts++;
            (void)sl_past_in_child(sl_past_take, &take, take_line, r, e);
        } else if (end == SL_JOURNAL_RECORD && r->run == 0) {
            note(r->past, "records before the first start or image are left out", 1);
        }
    }
    return e->code;
}

/* As the workloads are at the end, in place of how they came in; what has ended is not there any more. */
static void finish(struct reading *r)
{
    struct sl_json *last = sl_json_new_map();
    for (struct sl_json_member m = {0}; sl_json_each(r->past->last, &m);) {
        if (!is_workload(m.value)) {
            sl_json_set(last, m.key, sl_json_ref(m.value));
        }
    }
    for (struct sl_json_member m = {0}; sl_json_each(r->now, &m);) {
        sl_json_set(last, m.key, sl_json_ref(m.value));
    }
    sl_json_free(r->past->last);
    sl_json_free(r->now);
    r->past->last = last;
}

enum sl_code sl_past_read(const char *path, struct sl_past *out, struct sl_error *e)
{
    SL_PRE(path != NULL && out != NULL && e != NULL);
    struct sl_journal_reader *reader = NULL;
    *out = (struct sl_past){.entries = sl_json_new_list(),
                            .decisions = sl_json_new_list(),
                            .workloads = sl_json_new_list(),
                            .last = sl_json_new_map(),
                            .notes = sl_json_new_list(),
                            .settings = sl_engine_settings_default()};
    if (sl_journal_reader_open_all(path, &reader, e) != SL_CODE_OK) {
        return e->code;
    }
    struct reading r = {.past = out, .seen = sl_map_new(), .current = sl_map_new()};
    (void)read_runs(&r, reader, e);
    finish(&r);
    sl_journal_reader_close(reader);
    sl_map_free(r.seen);
    sl_map_free(r.current);
    if (e->code == SL_CODE_OK && out->begin_ms == 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "there is nothing in this journal that can be played: no start and no "
                            "image of this program's core before its first decision");
    }
    return e->code;
}

void sl_past_fini(struct sl_past *p)
{
    SL_PRE(p != NULL);
    sl_json_free(p->entries);
    sl_json_free(p->decisions);
    sl_json_free(p->workloads);
    sl_json_free(p->last);
    sl_json_free(p->notes);
    for (size_t i = 0; i < p->kept_count; i++) {
        sl_mem_free(p->kept[i]);
    }
    sl_mem_free(p->kept);
    *p = (struct sl_past){0};
}
