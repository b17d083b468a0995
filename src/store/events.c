/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The watch log: the last events in memory, bounded in count and bytes, and the watches that are
 * pushed or read from it. Revisions in the ring are consecutive, so an event is found by
 * subtraction. Events that are staged but not yet durable come after the durable part: push watches may
 * get them (ahead.c), readers do not. */
#include "store/internal.h"

#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"

#define RING_CAP_FIRST 256u

void sl_events_open(struct sl_store_log *l, uint64_t revision)
{
    SL_PRE(l != NULL);
    *l = (struct sl_store_log){.cap = RING_CAP_FIRST, .floor = revision, .published = revision};
    l->ring = sl_mem_new(l->cap, sizeof *l->ring);
}

static struct sl_store_entry *entry_at(const struct sl_store_log *l, size_t index)
{
    SL_PRE(index < l->count);
    return &l->ring[(l->head + index) & (l->cap - 1)];
}

static void drop(struct sl_store_log *l, struct sl_store_entry *entry)
{
    l->bytes -= entry->text_size + entry->old_size;
    sl_mem_free(entry->text);
    sl_mem_free(entry->old);
    sl_json_free(entry->object);
    l->count--;
}

void sl_events_close(struct sl_store_log *l)
{
    SL_PRE(l != NULL);
    while (l->count > 0) {
        drop(l, entry_at(l, l->count - 1));
    }
    sl_mem_free(l->ring);
    l->ring = NULL;
}

static void make_room(struct sl_store_log *l)
{
    struct sl_store_entry *bigger = sl_mem_new(l->cap * 2, sizeof *bigger);
    for (size_t i = 0; i < l->count; i++) {
        bigger[i] = *entry_at(l, i);
    }
    sl_mem_free(l->ring);
    l->ring = bigger;
    l->cap *= 2;
    l->head = 0;
}

void sl_events_add(struct sl_store_log *l, struct sl_store_entry entry)
{
    SL_PRE(entry.revision == l->floor + l->count + 1);
    if (l->count == l->cap) {
        make_room(l);
    }
    l->ring[(l->head + l->count) & (l->cap - 1)] = entry;
    l->count++;
    l->bytes += entry.text_size + entry.old_size;
}

void sl_events_forget(struct sl_store_log *l, enum sl_kind kind)
{
    SL_PRE(l != NULL);
    for (size_t i = 0; i < l->count; i++) {
        struct sl_store_entry *entry = entry_at(l, i);
        entry->kind = entry->kind == kind ? SL_KIND_COUNT : entry->kind;
    }
}

void sl_events_truncate(struct sl_store_log *l, uint64_t revision)
{
    SL_PRE(revision >= l->published);
    while (l->count > 0 && l->floor + l->count > revision) {
        drop(l, entry_at(l, l->count - 1));
    }
}

static void keep_lost(struct sl_store *s, struct sl_store_entry entry)
{
    s->lost = sl_mem_grow(s->lost, s->lost_count + 1, sizeof *s->lost);
    s->lost[s->lost_count++] = entry; /* with its text */
}

/* Their numbers come again. */
static void step_back(struct sl_store *s, uint64_t revision)
{
    s->log.published = revision < s->log.published ? revision : s->log.published;
    for (size_t i = 0; i < s->watcher_count; i++) {
        struct sl_store_watcher *w = &s->watchers[i];
        w->since = revision < w->since ? revision : w->since;
    }
}

void sl_events_lose(struct sl_store *s, uint64_t revision)
{
    struct sl_store_log *l = &s->log;
    step_back(s, revision);
    while (l->count > 0 && l->floor + l->count > revision) {
        struct sl_store_entry *entry = entry_at(l, l->count - 1);
        keep_lost(s, (struct sl_store_entry){
                         .kind = entry->kind, .text = entry->text, .text_size = entry->text_size});
        l->bytes -= entry->text_size;
        entry->text = NULL;
        entry->text_size = 0;
        drop(l, entry);
    }
}

/* NULL: not there. */
static struct sl_store_entry *find_entry(const struct sl_store_log *l, uint64_t revision)
{
    SL_PRE(l != NULL);
    if (revision <= l->floor || revision > l->floor + l->count) {
        return NULL;
    }
    struct sl_store_entry *entry = entry_at(l, (size_t)(revision - l->floor - 1));
    SL_POST(entry->revision == revision);
    return entry;
}

/* Only what is durable, and every push watch has got, may go. */
static void trim(struct sl_store_log *l, uint64_t durable)
{
    uint64_t done = l->published < durable ? l->published : durable;
    while (l->count > 0 && l->floor < done &&
           (l->count > SL_STORE_LOG_EVENTS_MAX || l->bytes > SL_STORE_LOG_BYTES_MAX)) {
        drop(l, entry_at(l, 0));
        l->head = (l->head + 1) & (l->cap - 1);
        l->floor++;
    }
}

/* --- push watches ---------------------------------------------------------------------------- */

static struct sl_store_watcher *find_watcher(struct sl_store *s, uint64_t id)
{
    for (size_t i = 0; i < s->watcher_count; i++) {
        if (s->watchers[i].id == id) {
            return &s->watchers[i];
        }
    }
    return NULL;
}

/* The callback may do anything with the store: add watches, stage writes (the ring may move), lose the batch. So
 * nothing of the store is held by pointer over the call. */
static void deliver(struct sl_store *s, uint64_t revision)
{
    struct sl_store_entry *entry = find_entry(&s->log, revision);
    SL_ASSERT(entry != NULL && entry->object != NULL);
    enum sl_kind kind = entry->kind;
    enum sl_watch_type type = entry->type;
    struct sl_json *object = entry->object;
    entry->object = NULL; /* later readers have the text */
    for (size_t i = 0; i < s->watcher_count && revision <= s->revision; i++) {
        struct sl_store_watcher *w = &s->watchers[i];
        if (w->id == 0 || w->kind != kind || w->since >= revision) {
            continue;
        }
        w->since = revision;
        w->fn(w->context, type, kind, object);
    }
    sl_json_free(object);
}

void sl_events_publish(struct sl_store *s, uint64_t revision)
{
    SL_PRE(!s->log.publishing && revision <= s->revision);
    s->log.publishing = true;
    while (s->log.published < s->revision &&
           (s->log.published < revision || s->log.published < s->durable)) {
        s->log.published++;
        deliver(s, s->log.published);
    }
    s->log.publishing = false;
    trim(&s->log, s->durable);
}

void sl_store_publish(struct sl_store *s)
{
    SL_PRE(s != NULL);
    if (!s->log
             .publishing) { /* else a callback committed: the loop above goes on to what it added */
        sl_events_publish(s, s->durable);
    }
}

/* A revision that is still to come was used by a database that was since restored to an older
 * state: what happened between the two is not known here. */
static enum sl_code check_since(const struct sl_store *s, uint64_t since, struct sl_error *e)
{
    sl_error_clear(e);
    if (since < s->log.floor) {
        return sl_error_set(e, SL_CODE_GONE, "too old resource version: %llu (%llu)",
                            (unsigned long long)since, (unsigned long long)s->log.floor);
    }
    if (since > s->revision) {
        return sl_error_set(e, SL_CODE_GONE, "too large resource version: %llu, current: %llu",
                            (unsigned long long)since, (unsigned long long)s->revision);
    }
    return SL_CODE_OK;
}

static void tell(struct sl_store *s, enum sl_watch_type type, enum sl_kind kind,
                 struct sl_json *object)
{
    for (size_t i = 0; i < s->watcher_count; i++) {
        const struct sl_store_watcher w = s->watchers[i];
        if (w.id != 0 && w.kind == kind) {
            w.fn(w.context, type, kind, object);
        }
    }
}

void sl_events_forget_lost(struct sl_store *s)
{
    SL_PRE(s != NULL);
    for (size_t i = 0; i < s->lost_count; i++) {
        sl_mem_free(s->lost[i].text);
    }
    sl_mem_free(s->lost);
    s->lost = NULL;
    s->lost_count = 0;
}

/* False when it cannot be read. */
static bool tell_as_it_is(struct sl_store *s, const struct sl_store_entry *lost)
{
    struct sl_error e;
    struct sl_json *live = NULL;
    struct sl_json *object = sl_json_parse(lost->text, lost->text_size, NULL);
    SL_ASSERT(object != NULL);
    enum sl_code code =
        sl_rows_get(s, lost->kind, sl_object_namespace(object), sl_object_name(object), &live, &e);
    if (code == SL_CODE_OK) {
        tell(s, SL_WATCH_MODIFIED, lost->kind, live);
    } else if (code == SL_CODE_NOT_FOUND) {
        tell(s, SL_WATCH_DELETED, lost->kind, object);
    }
    sl_json_free(live);
    sl_json_free(object);
    return code == SL_CODE_OK || code == SL_CODE_NOT_FOUND;
}

void sl_events_tell_lost(struct sl_store *s)
{
    SL_PRE(s != NULL);
    struct sl_store_entry *lost = s->lost;
    size_t count = s->lost_count;
    s->lost = NULL; /* callbacks may write, and that may be lost, too */
    s->lost_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (tell_as_it_is(s, &lost[i])) {
            sl_mem_free(lost[i].text);
        } else {
            keep_lost(s, lost[i]);
            s->late_next_ms = sl_clock_now_ms() + SL_STORE_LATE_RETRY_MS;
        }
    }
    sl_mem_free(lost);
}

enum sl_code sl_store_watch(struct sl_store *s, enum sl_kind kind, uint64_t since, sl_watch_fn *fn,
                            void *context, uint64_t *watch, struct sl_error *e)
{
    SL_PRE(fn != NULL && watch != NULL);
    enum sl_code code = check_since(s, since, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    struct sl_store_watcher *w = find_watcher(s, 0);
    if (w == NULL) {
        s->watchers = sl_mem_grow(s->watchers, s->watcher_count + 1, sizeof *s->watchers);
        w = &s->watchers[s->watcher_count++];
    }
    uint64_t id = ++s->watch_id_last;
    *w = (struct sl_store_watcher){
        .id = id, .since = since, .kind = kind, .fn = fn, .context = context};
    *watch = id;
    /* What others have already got; the rest comes by sl_store_publish. */
    for (uint64_t revision = since + 1; revision <= s->log.published; revision++) {
        const struct sl_store_entry *entry = find_entry(&s->log, revision);
        w = find_watcher(s, id);
        if (w == NULL) {
            break; /* the callback ended this watch */
        }
        w->since = revision;
        if (entry != NULL && entry->kind == kind) {
            struct sl_json *object = sl_json_parse(entry->text, entry->text_size, NULL);
            fn(context, entry->type, kind, object);
            sl_json_free(object);
        }
    }
    return SL_CODE_OK;
}

void sl_store_unwatch(struct sl_store *s, uint64_t watch)
{
    SL_PRE(watch != 0);
    struct sl_store_watcher *w = find_watcher(s, watch);
    if (w != NULL) {
        *w = (struct sl_store_watcher){.id = 0};
    }
}

/* --- read at the reader's pace --------------------------------------------------------------- */

enum sl_code sl_store_next(struct sl_store *s, enum sl_kind kind, uint64_t *since,
                           struct sl_store_event *event, bool *found, struct sl_error *e)
{
    SL_PRE(since != NULL && event != NULL && found != NULL);
    *found = false;
    enum sl_code code = check_since(s, *since, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    while (*since < s->durable && !*found) {
        const struct sl_store_entry *entry = find_entry(&s->log, *since + 1);
        SL_ASSERT(entry != NULL);
        *since = entry->revision;
        if (entry->kind == kind) {
            *event = (struct sl_store_event){entry->type,    kind,       entry->revision,
                                             entry->text,    entry->old, entry->text_size,
                                             entry->old_size};
            *found = true;
        }
    }
    return SL_CODE_OK;
}
