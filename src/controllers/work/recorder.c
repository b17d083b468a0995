/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Event recorder. What is kept is a first-in first-out list of (key, time); an event that was counted up has
 * been put in again at the end, and its older entries are skipped when they come up. */
#include "controllers/work/recorder.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/fnv1a.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "controllers/work/budget.h"
#include "controllers/work/work.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIM_BATCH 64
#define MESSAGE_SIZE_MAX 1024u
#define HASH_DIGITS 16u

struct entry {
    char *key;
    int64_t at_ms;
};

struct sl_recorder {
    const struct sl_client *client;
    struct sl_map *latest; /* key -> when it last happened */
    struct entry *entries; /* a ring */
    size_t head, count, cap;
    bool expire; /* nothing is kept of what was written */
    struct sl_budget budget;
    uint64_t dropped;
};

struct sl_recorder *sl_recorder_new(const struct sl_client *client)
{
    struct sl_recorder *ev = sl_mem_new(1, sizeof *ev);
    ev->client = client;
    ev->latest = sl_map_new();
    ev->budget = sl_budget_new(SL_EVENTS_PER_S, SL_EVENTS_BURST);
    return ev;
}

void sl_recorder_limit(struct sl_recorder *ev, unsigned per_s, unsigned burst)
{
    SL_PRE(ev != NULL);
    ev->budget = sl_budget_new(per_s, burst);
    ev->expire = true;
}

void sl_recorder_free(struct sl_recorder *ev)
{
    if (ev == NULL) {
        return;
    }
    for (size_t i = 0; i < ev->count; i++) {
        sl_mem_free(ev->entries[(ev->head + i) % ev->cap].key);
    }
    sl_mem_free(ev->entries);
    sl_map_free(ev->latest);
    sl_mem_free(ev);
}

static void ring_grow(struct sl_recorder *ev)
{
    size_t cap = ev->cap == 0 ? 256 : 2 * ev->cap;
    struct entry *entries = sl_mem_new(cap, sizeof *entries);
    for (size_t i = 0; i < ev->count; i++) {
        entries[i] = ev->entries[(ev->head + i) % ev->cap];
    }
    sl_mem_free(ev->entries);
    ev->entries = entries;
    ev->head = 0;
    ev->cap = cap;
}

static void keep(struct sl_recorder *ev, const char *key, int64_t at_ms)
{
    if (ev->count == ev->cap) {
        ring_grow(ev);
    }
    ev->entries[(ev->head + ev->count++) % ev->cap] =
        (struct entry){.key = sl_mem_text(key), .at_ms = at_ms};
    sl_map_put(ev->latest, key, (union sl_map_value){.number = (uint64_t)at_ms});
}

struct loading {
    struct entry *entries;
    size_t count, cap;
    int64_t now_ms;
};

static void load_one(void *context, struct sl_json *object)
{
    struct loading *l = context;
    if (l->count == l->cap) {
        l->cap = l->cap == 0 ? 256 : 2 * l->cap;
        l->entries = sl_mem_grow(l->entries, l->cap, sizeof *l->entries);
    }
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(object), sl_object_name(object), key);
    int64_t at = sl_clock_parse(sl_json_path_text(object, "lastTimestamp", ""));
    l->entries[l->count++] =
        (struct entry){.key = sl_mem_text(key), .at_ms = at == INT64_MIN ? l->now_ms : at};
}

static int by_time(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    return x->at_ms != y->at_ms ? (x->at_ms < y->at_ms ? -1 : 1) : strcmp(x->key, y->key);
}

void sl_recorder_load(struct sl_recorder *ev, int64_t now_ms)
{
    SL_PRE(ev != NULL);
    struct loading l = {.now_ms = now_ms};
    struct sl_error e = {0};
    if (ev->expire) {
        return;
    }
    if (ev->client->list(ev->client->self, SL_KIND_EVENT, "", load_one, &l, &e) != SL_CODE_OK) {
        sl_log(SL_LOG_WARN, "events of earlier runs could not be listed", "error", e.text, NULL);
    }
    if (l.count > 0) {
        qsort(l.entries, l.count, sizeof *l.entries, by_time);
    }
    for (size_t i = 0; i < l.count; i++) {
        keep(ev, l.entries[i].key, l.entries[i].at_ms);
        sl_mem_free(l.entries[i].key);
    }
    sl_mem_free(l.entries);
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    hash = sl_fnv1a(hash, text, strlen(text));
    return sl_fnv1a(hash, "\xff", 1); /* so that "ab","c" and "a","bc" differ */
}

void sl_recorder_name(const struct sl_json *about, const char *reason, const char *message,
                      char out[static 254])
{
    uint64_t hash = add_text(SL_FNV1A_BASIS, sl_object_uid(about));
    hash = add_text(add_text(hash, reason), message);
    snprintf(out, 254, "%.*s.%016llx", (int)(253 - 1 - HASH_DIGITS), sl_object_name(about),
             (unsigned long long)hash);
}

static struct sl_json *involved(enum sl_kind kind, const struct sl_json *about)
{
    struct sl_json *ref = sl_json_new_map();
    const struct sl_kind_info *info = sl_kind_info(kind);
    sl_json_set_text(ref, "apiVersion", info->api_version);
    sl_json_set_text(ref, "kind", info->kind);
    if (info->namespaced) {
        sl_json_set_text(ref, "namespace", sl_object_namespace(about));
    }
    sl_json_set_text(ref, "name", sl_object_name(about));
    sl_json_set_text(ref, "uid", sl_object_uid(about));
    return ref;
}

struct pending {
    struct sl_recorder *ev;
    char key[SL_KEY_SIZE];
};

/* The same thing happened again: count it. */
static void count_up(struct sl_recorder *ev, const struct sl_key *key, const char *time)
{
    struct sl_json *live = NULL;
    struct sl_error e = {0};
    if (ev->client->get(ev->client->self, SL_KIND_EVENT, key->ns, key->name, &live, &e) !=
        SL_CODE_OK) {
        return;
    }
    struct sl_json *patch = sl_json_new_map();
    sl_json_set_int(patch, "count", sl_json_path_int(live, "count", 1) + 1);
    sl_json_set_text(patch, "lastTimestamp", time);
    struct sl_write w = {.verb = SL_VERB_PATCH_MERGE,
                         .kind = SL_KIND_EVENT,
                         .ns = key->ns,
                         .name = key->name,
                         .body = patch};
    ev->client->write(ev->client->self, &w, NULL, NULL);
    sl_json_free(patch);
    sl_json_free(live);
}

static void written(void *context, enum sl_code code, const struct sl_error *e,
                    struct sl_json *result)
{
    (void)result;
    struct pending *p = context;
    struct sl_key key;
    char time[32];
    sl_clock_format(sl_clock_now_ms(), time);
    if (code == SL_CODE_ALREADY_EXISTS && !p->ev->expire && sl_key_parse(p->key, &key)) {
        count_up(p->ev, &key, time);
    } else if (code != SL_CODE_OK && code != SL_CODE_ALREADY_EXISTS) {
        p->ev->dropped++;
        sl_log(SL_LOG_DEBUG, "event not written", "event", p->key, "error", e->text, NULL);
    }
    sl_mem_free(p);
}

static struct sl_json *event_new(const char *ns, const char *name, bool warning, const char *reason,
                                 const char *message)
{
    char time[32];
    char text[MESSAGE_SIZE_MAX];
    sl_clock_format(sl_clock_now_ms(), time);
    sl_utf8_print(text, sizeof text, "%s", message);
    struct sl_json *o = sl_object_new(SL_KIND_EVENT, ns, name);
    sl_json_set_text(o, "type", warning ? "Warning" : "Normal");
    sl_json_set_text(o, "reason", reason);
    sl_json_set_text(o, "message", text);
    sl_json_set_text(o, "firstTimestamp", time);
    sl_json_set_text(o, "lastTimestamp", time);
    sl_json_set_int(o, "count", 1);
    sl_json_set_text(sl_json_path_make(o, "source"), "component", "sluice");
    sl_json_set_text(o, "reportingComponent", "sluice");
    sl_json_set_text(o, "reportingInstance", "");
    return o;
}

/* What has the same words happened again. */
static void record(struct sl_recorder *ev, enum sl_kind kind, const struct sl_json *about,
                   bool warning, const char *reason, const char *message, const char *words,
                   int64_t now_ms)
{
    SL_PRE(reason[0] != '\0');
    if (!sl_budget_has(&ev->budget, now_ms)) {
        ev->dropped++;
        return;
    }
    sl_budget_spend(&ev->budget, now_ms);
    char name[254];
    sl_recorder_name(about, reason, words, name);
    const char *ns = sl_kind_info(kind)->namespaced ? sl_object_namespace(about) : "default";
    struct sl_json *o = event_new(ns, name, warning, reason, message);
    sl_json_set(o, "involvedObject", involved(kind, about));
    struct pending *p = sl_mem_new(1, sizeof *p);
    p->ev = ev;
    sl_key_print(ns, name, p->key);
    if (!ev->expire) {
        keep(ev, p->key, now_ms);
    }
    struct sl_write w = {
        .verb = SL_VERB_CREATE, .kind = SL_KIND_EVENT, .ns = ns, .name = name, .body = o};
    ev->client->write(ev->client->self, &w, written, p);
    sl_json_free(o);
}

void sl_recorder_record(struct sl_recorder *ev, enum sl_kind kind, const struct sl_json *about,
                        bool warning, const char *reason, const char *message, int64_t now_ms)
{
    record(ev, kind, about, warning, reason, message, message, now_ms);
}

void sl_recorder_record_once(struct sl_recorder *ev, enum sl_kind kind, const struct sl_json *about,
                             const char *reason, const char *message, int64_t now_ms)
{
    record(ev, kind, about, false, reason, message, "", now_ms);
}

static void trim_one(struct sl_recorder *ev)
{
    struct entry oldest = ev->entries[ev->head];
    ev->head = (ev->head + 1) % ev->cap;
    ev->count--;
    union sl_map_value latest;
    struct sl_key key;
    if (sl_map_get(ev->latest, oldest.key, &latest) && (int64_t)latest.number == oldest.at_ms &&
        sl_key_parse(oldest.key, &key)) {
        sl_map_remove(ev->latest, oldest.key, NULL);
        struct sl_write w = {
            .verb = SL_VERB_DELETE, .kind = SL_KIND_EVENT, .ns = key.ns, .name = key.name};
        ev->client->write(ev->client->self, &w, NULL, NULL);
    }
    sl_mem_free(oldest.key);
}

bool sl_recorder_trim(struct sl_recorder *ev)
{
    for (int i = 0; i < TRIM_BATCH; i++) {
        if (sl_map_count(ev->latest) <= SL_EVENTS_KEPT_MAX &&
            ev->count <= (size_t)2 * SL_EVENTS_KEPT_MAX) {
            return false;
        }
        trim_one(ev);
    }
    return true;
}

uint64_t sl_recorder_dropped(const struct sl_recorder *ev)
{
    SL_PRE(ev != NULL);
    return ev->dropped;
}
