/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Jobs that run after others. What is known between two looks is only which Job waits for which: it is found again from the Jobs
 * after a restart. */
#include "controllers/cluster/dependencies.h"
#include "base/check.h"
#include "base/map.h"
#include "controllers/jobs/job.h"
#include <stdio.h>
#include <string.h>

enum state { STATE_WAITS, STATE_COMPLETE, STATE_FAILED, STATE_DELETED };

/* One of the list: NAME or NAME:UID. */
struct item {
    char name[256];
    char uid[64]; /* "": any */
};

/* The next item of a list with commas, without blanks around it; false after the last. */
static bool next_text(const char **at, const char **text, size_t *len)
{
    if (*at == NULL) {
        return false;
    }
    *text = *at + strspn(*at, " ");
    *len = strcspn(*text, ",");
    *at = (*text)[*len] == ',' ? *text + *len + 1 : NULL;
    while (*len > 0 && (*text)[*len - 1] == ' ') {
        (*len)--;
    }
    return true;
}

static void take_item(const char *text, size_t len, struct item *out)
{
    const char *colon = memchr(text, ':', len);
    size_t name_len = colon == NULL ? len : (size_t)(colon - text);
    (void)snprintf(out->name, sizeof out->name, "%.*s", (int)name_len, text);
    (void)snprintf(out->uid, sizeof out->uid, "%.*s", (int)(colon == NULL ? 0 : len - name_len - 1),
                   colon == NULL ? "" : colon + 1);
}

static bool is_ours(const char *text, size_t len)
{
    return len == strlen(SL_GATE_AFTER) && memcmp(text, SL_GATE_AFTER, len) == 0;
}

static bool is_gated(const struct sl_json *job)
{
    const char *at = sl_object_annotation(job, SL_ANNOTATION_GATED_BY), *text;
    bool found = false;
    for (size_t len; next_text(&at, &text, &len);) {
        found = found || is_ours(text, len);
    }
    return found;
}

static bool waits(const struct sl_json *job)
{
    bool success;
    const char *message;
    return is_gated(job) && !sl_object_deleting(job) && !sl_job_finished(job, &success, &message);
}

/* --- what becomes of it ---------------------------------------------------------------------------- */

/* The other gates stay. */
static void open_gate(struct sl_reconciler *r, struct sl_json *job)
{
    struct sl_note note = {.kind = SL_KIND_JOB,
                           .about = job,
                           .reason = "DependenciesComplete",
                           .message = "All jobs that it was to run after are complete"};
    struct sl_json *patch = sl_json_new_map();
    struct sl_json *annotations = sl_json_path_make(patch, "metadata.annotations");
    struct sl_buf rest = {0};
    sl_json_set_text(sl_json_get(patch, "metadata"), "resourceVersion",
                     sl_object_resource_version(job));
    const char *at = sl_object_annotation(job, SL_ANNOTATION_GATED_BY), *text;
    for (size_t len; next_text(&at, &text, &len);) {
        if (!is_ours(text, len)) {
            sl_buf_print(&rest, "%s%.*s", rest.len > 0 ? "," : "", (int)len, text);
        }
    }
    sl_json_set(annotations, SL_ANNOTATION_GATED_BY,
                rest.len > 0 ? sl_json_new_text(rest.data) : sl_json_new_null());
    struct sl_write w = sl_reconciler_write_of(SL_VERB_PATCH_MERGE, SL_KIND_JOB, job, patch);
    sl_reconciler_write(r, &w, &note);
    sl_json_free(patch);
    sl_buf_fini(&rest);
}

static void fail(struct sl_reconciler *r, struct sl_json *job, const char *name, enum state state,
                 int64_t now_ms)
{
    struct sl_note note = {
        .kind = SL_KIND_JOB, .about = job, .warning = true, .reason = "DependencyFailed"};
    (void)snprintf(note.message, sizeof note.message, "Job %s, which it was to run after, %s", name,
                   state == STATE_DELETED ? "was deleted" : "has failed");
    sl_condition_set(sl_json_path_make(job, "status"), "Failed", true, note.reason, note.message, 0,
                     now_ms);
    struct sl_write w = sl_reconciler_write_of(SL_VERB_UPDATE_STATUS, SL_KIND_JOB, job, job);
    sl_reconciler_write(r, &w, &note);
}

/* --- what it waits for ----------------------------------------------------------------------------- */

static enum state state_of(const struct sl_json *job, const struct item *item)
{
    bool success = false;
    const char *message;
    bool other = job == NULL || strcmp(sl_object_uid(job), item->uid) != 0;
    if (item->uid[0] != '\0' && other) {
        return STATE_DELETED;
    }
    if (job == NULL || !sl_job_finished(job, &success, &message)) {
        return STATE_WAITS;
    }
    return success ? STATE_COMPLETE : STATE_FAILED;
}

static void wait_for(struct sl_dependencies *d, const struct sl_key *key, const char *name)
{
    char other[SL_KEY_SIZE];
    sl_key_print(key->ns, name, other);
    struct sl_json *list = sl_map_find(d->waiting, other);
    if (list == NULL) {
        list = sl_json_new_list();
        sl_map_put(d->waiting, other, (union sl_map_value){.pointer = list});
    }
    if (!sl_json_has_text(list, d->jobs.current)) {
        sl_json_append(list, sl_json_new_text(d->jobs.current));
    }
}

/* Those that wait for the Job look at it again. */
static void wake(struct sl_dependencies *d, const char *key)
{
    union sl_map_value waiting;
    if (!sl_map_remove(d->waiting, key, &waiting)) {
        return;
    }
    for (size_t i = 0; i < sl_json_len(waiting.pointer); i++) {
        sl_work_add(d->jobs.work, sl_json_text(sl_json_at(waiting.pointer, i), ""), SL_WORK_NOW);
    }
    sl_json_free(waiting.pointer);
}

/* The worst of all; *item is whose that is. A Job that cannot be read now makes it wait: the reconciler comes again. */
static enum state look(struct sl_dependencies *d, const struct sl_json *job,
                       const struct sl_key *key, struct item *item)
{
    enum state all = STATE_COMPLETE;
    const char *at = sl_object_annotation(job, SL_ANNOTATION_AFTER), *text;
    for (size_t len; next_text(&at, &text, &len);) {
        struct item one;
        bool absent = true;
        take_item(text, len, &one);
        struct sl_json *other =
            sl_reconciler_get(&d->jobs, SL_KIND_JOB, key->ns, one.name, &absent);
        enum state state = other == NULL && !absent ? STATE_WAITS : state_of(other, &one);
        sl_json_free(other);
        if (state == STATE_FAILED || state == STATE_DELETED) {
            *item = one;
            return state;
        }
        if (state == STATE_WAITS) {
            wait_for(d, key, one.name);
            all = STATE_WAITS;
        }
    }
    return all;
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct item item;
    bool absent;
    struct sl_json *job = sl_reconciler_get(r, SL_KIND_JOB, key->ns, key->name, &absent);
    if (job != NULL && waits(job)) {
        enum state state = look(self, job, key, &item);
        if (state == STATE_COMPLETE) {
            open_gate(r, job);
        } else if (state != STATE_WAITS) {
            fail(r, job, item.name, state, now_ms);
        }
    }
    sl_json_free(job);
}

void sl_dependencies_init(struct sl_dependencies *d, const struct sl_client *client,
                          struct sl_recorder *events)
{
    SL_PRE(d != NULL);
    *d = (struct sl_dependencies){.waiting = sl_map_new()};
    sl_reconciler_init(&d->jobs, "job dependencies", client, events);
    d->jobs.self = d;
    d->jobs.reconcile = reconcile;
}

void sl_dependencies_fini(struct sl_dependencies *d)
{
    SL_PRE(d != NULL);
    sl_reconciler_fini(&d->jobs);
    sl_map_free_with(d->waiting, sl_json_free_value);
}

void sl_dependencies_observe(struct sl_dependencies *d, const struct sl_json *job)
{
    SL_PRE(d != NULL);
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(job), sl_object_name(job), key);
    wake(d, key);
    if (waits(job)) {
        sl_work_add(d->jobs.work, key, SL_WORK_NOW);
    }
}
