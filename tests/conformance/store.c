/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The API's Workloads in memory, as a client interface: the daemon's workload controller and
 * recorder work on it as they do on a real one. Notes events and what became preempted or evicted. */
#include "base/clock.h"
#include "base/buf.h"
#include "base/mem.h"
#include "conformance.h"
#include "controllers/work/recorder.h"
#include <stdio.h>
#include <string.h>

#define STEP 1024u

struct sl_json *conf_store_find(const struct conf_store *s, const char *key)
{
    char own[512];
    for (size_t i = 0; i < sl_json_len(s->workloads); i++) {
        conf_key(sl_json_at(s->workloads, i), own);
        if (strcmp(own, key) == 0) {
            return sl_json_at(s->workloads, i);
        }
    }
    return NULL;
}

void conf_store_put(struct conf_store *s, struct sl_json *workload)
{
    char own[512];
    char key[512];
    conf_key(workload, key);
    for (size_t i = 0; i < sl_json_len(s->workloads); i++) {
        conf_key(sl_json_at(s->workloads, i), own);
        if (strcmp(own, key) == 0) {
            sl_json_put_at(s->workloads, i, workload);
            return;
        }
    }
    sl_json_append(s->workloads, workload);
}

/* --- reading ---------------------------------------------------------------------------------- */

static enum sl_code get(void *self, enum sl_kind kind, const char *ns, const char *name,
                        struct sl_json **out, struct sl_error *e)
{
    char key[512];
    (void)snprintf(key, sizeof key, "%s/%s", ns, name);
    struct sl_json *found = kind == SL_KIND_WORKLOAD ? conf_store_find(self, key) : NULL;
    if (found == NULL) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "%s is not there", key);
    }
    *out = sl_json_clone(found);
    return SL_CODE_OK;
}

static enum sl_code list(void *self, enum sl_kind kind, const char *ns, sl_visit_fn *visit,
                         void *context, struct sl_error *e)
{
    (void)self, (void)kind, (void)ns, (void)visit, (void)context, (void)e;
    return SL_CODE_OK;
}

static void watch(void *self, enum sl_kind kind, sl_watch_fn *fn, void *context)
{
    (void)self, (void)kind, (void)fn, (void)context;
}

/* --- writing ---------------------------------------------------------------------------------- */

static struct sl_json *new_note(const char *key, const char *reason)
{
    struct sl_json *note = sl_json_new_map();
    sl_json_set_text(note, "key", key);
    sl_json_set_text(note, "reason", reason);
    return note;
}

static void note_event(struct conf_store *s, const struct sl_json *event)
{
    char key[512];
    (void)snprintf(key, sizeof key, "%s/%s",
                   sl_json_path_text(event, "involvedObject.namespace", ""),
                   sl_json_path_text(event, "involvedObject.name", ""));
    struct sl_json *note = new_note(key, sl_json_path_text(event, "reason", ""));
    sl_json_set_text(note, "type", sl_json_path_text(event, "type", ""));
    sl_json_append(s->events, note);
}

static void note_condition(struct sl_json *notes, const char *type, const struct sl_json *before,
                           const struct sl_json *after)
{
    if (!sl_condition_true(before, type) && sl_condition_true(after, type)) {
        char key[512];
        conf_key(after, key);
        sl_json_append(
            notes, new_note(key, sl_json_path_text(sl_condition_find(after, type), "reason", "")));
    }
}

/* The change itself; the stored object stays as it was when it is refused. */
static enum sl_code change(struct conf_store *s, const struct sl_write *w, const char *key,
                           struct sl_error *e)
{
    struct sl_json *before = conf_store_find(s, key);
    if (w->verb == SL_VERB_PATCH_STATUS_MERGE && s->status_error != SL_CODE_OK) {
        return sl_error_set(e, s->status_error, "the status cannot be written");
    }
    if (before == NULL) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "%s is not there", key);
    }
    struct sl_json *after = sl_json_clone(before);
    enum sl_code code = sl_patch_merge(&after, w->body, e);
    if (code != SL_CODE_OK) {
        sl_json_free(after);
        return code;
    }
    note_condition(s->preempted, "Preempted", before, after);
    note_condition(s->evicted, "Evicted", before, after);
    sl_json_set_bool(s->changed, key, true);
    conf_store_put(s, after);
    return SL_CODE_OK;
}

static void write_object(void *self, const struct sl_write *w, sl_reply_fn *reply, void *context)
{
    struct conf_store *s = self;
    struct sl_error e = {0};
    char key[512];
    enum sl_code code = SL_CODE_OK;
    (void)snprintf(key, sizeof key, "%s/%s", w->ns, w->name);
    if (w->kind == SL_KIND_WORKLOAD) {
        code = change(s, w, key, &e);
        if (code != SL_CODE_OK) {
            sl_json_set_bool(s->changed, key, true);
        }
    } else if (w->kind == SL_KIND_EVENT && w->verb == SL_VERB_CREATE) {
        note_event(s, w->body);
    }
    if (reply != NULL) {
        reply(context, code, &e,
              code == SL_CODE_OK && w->kind == SL_KIND_WORKLOAD ? conf_store_find(s, key) : NULL);
    }
}

void conf_store_open(struct conf_store *s, struct sl_engine *g)
{
    *s = (struct conf_store){
        .client = {.self = s, .get = get, .list = list, .watch = watch, .write = write_object},
        .workloads = sl_json_new_list(),
        .changed = sl_json_new_map(),
        .drained = sl_json_new_map(),
        .events = sl_json_new_list(),
        .preempted = sl_json_new_list(),
        .evicted = sl_json_new_list()};
    s->recorder = sl_recorder_new(&s->client);
    sl_workloads_init(&s->controller, &s->client, s->recorder, g);
}

void conf_store_carry_out(struct conf_store *s)
{
    while (sl_workloads_step(&s->controller, sl_clock_now_ms(), STEP)) {
    }
}
