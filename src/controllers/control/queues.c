/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Writing the status of queues and cohorts. */
#include "controllers/control/queues.h"
#include "base/check.h"
#include "base/buf.h"
#include "base/map.h"
#include <stdio.h>
#include <string.h>

static const enum sl_kind kinds[3] = {SL_KIND_CLUSTER_QUEUE, SL_KIND_LOCAL_QUEUE, SL_KIND_COHORT};

static size_t index_of(enum sl_kind kind)
{
    for (size_t i = 0; i < 3; i++) {
        if (kinds[i] == kind) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* "10 cpu of flavor spot, ..." into `out`. False: nothing is. */
static bool list_excess(const struct sl_json *flavors, struct sl_buf *out)
{
    for (size_t f = 0; f < sl_json_len(flavors); f++) {
        const struct sl_json *flavor = sl_json_at(flavors, f);
        const struct sl_json *resources = sl_json_get(flavor, "resources");
        for (size_t r = 0; r < sl_json_len(resources); r++) {
            const struct sl_json *item = sl_json_at(resources, r);
            const char *total = sl_json_path_text(item, "total", "0");
            if (strcmp(total, "0") != 0) {
                sl_buf_print(out, "%s%s %s of flavor %s", out->len == 0 ? "" : ", ", total,
                             sl_json_path_text(item, "name", ""),
                             sl_json_path_text(flavor, "name", ""));
            }
        }
    }
    return out->len > 0;
}

/* Said from when a quota was lowered below what is held until as much has ended; a queue to which that never happened
 * has no such condition. */
static void say_excess(const struct sl_json *live, const struct sl_json *flavors,
                       struct sl_json *status, int64_t now_ms)
{
    struct sl_buf excess = {0};
    bool exceeded = list_excess(flavors, &excess);
    char text[600] = "Usage is within the quota";
    if (exceeded) {
        (void)snprintf(
            text, sizeof text,
            "%.400s used beyond the quota; running workloads go on, others wait until usage "
            "is within the quota",
            excess.data);
    }
    if (exceeded || sl_condition_true(live, SL_QUEUE_EXCEEDED)) {
        sl_condition_set(status, SL_QUEUE_EXCEEDED, exceeded,
                         exceeded ? "MoreThanQuota" : "WithinQuota", text,
                         sl_object_generation(live), now_ms);
    }
    sl_buf_fini(&excess);
}

struct sl_json *sl_queue_status_merge(const struct sl_json *live, const struct sl_json *seen,
                                      int64_t now_ms)
{
    const struct sl_json *old = sl_json_get(live, "status");
    struct sl_json *status = old == NULL ? sl_json_new_map() : sl_json_clone(old);
    for (struct sl_json_member m = {0}; sl_json_each(seen, &m);) {
        if (sl_json_type(m.value) == SL_JSON_NULL && !sl_json_has(old, m.key)) {
            continue;
        }
        if (strcmp(m.key, "quotaExcess") == 0) {
            say_excess(live, m.value, status, now_ms);
            continue;
        }
        if (strcmp(m.key, "active") != 0) {
            sl_json_set(status, m.key, sl_json_clone(m.value));
            continue;
        }
        bool active = strcmp(sl_json_path_text(m.value, "status", ""), "True") == 0 ||
                      sl_json_path_bool(m.value, "status", false);
        sl_condition_set(status, "Active", active, sl_json_path_text(m.value, "reason", "Unknown"),
                         sl_json_path_text(m.value, "message", ""), sl_object_generation(live),
                         now_ms);
    }
    return status;
}

/* An Event for administrators when the condition begins; NULL = none is due. */
static const struct sl_note *note_excess(struct sl_json *live, const struct sl_json *patch,
                                         struct sl_note *note)
{
    if (sl_condition_true(live, SL_QUEUE_EXCEEDED) ||
        !sl_condition_true(patch, SL_QUEUE_EXCEEDED)) {
        return NULL;
    }
    *note = (struct sl_note){
        .kind = SL_KIND_CLUSTER_QUEUE, .about = live, .warning = true, .reason = SL_QUEUE_EXCEEDED};
    snprintf(note->message, sizeof note->message, "%s",
             sl_json_path_text(sl_condition_find(patch, SL_QUEUE_EXCEEDED), "message", ""));
    return note;
}

static void write_status(struct sl_queues *q, size_t index, struct sl_json *live,
                         struct sl_json *status)
{
    struct sl_note note;
    struct sl_reconciler *r = &q->kinds[index];
    struct sl_json *patch = sl_json_new_map();
    sl_json_set(patch, "status", sl_json_ref(status));
    struct sl_write w =
        sl_reconciler_write_of(SL_VERB_PATCH_STATUS_MERGE, kinds[index], live, patch);
    sl_reconciler_write(r, &w, note_excess(live, patch, &note));
    sl_json_free(patch);
}

static void reconcile(struct sl_queues *q, size_t index, const struct sl_key *key, int64_t now_ms)
{
    struct sl_reconciler *r = &q->kinds[index];
    bool absent;
    struct sl_json *seen = sl_engine_queue_status(q->engine, kinds[index], key->ns, key->name);
    struct sl_json *live =
        seen == NULL ? NULL : sl_reconciler_get(r, kinds[index], key->ns, key->name, &absent);
    if (live != NULL) {
        struct sl_json *status = sl_queue_status_merge(live, seen, now_ms);
        if (!sl_json_equal(sl_json_get(live, "status"), status)) {
            sl_map_put(q->written_ms[index], r->current,
                       (union sl_map_value){.number = (uint64_t)now_ms});
            sl_budget_spend(&q->budget, now_ms);
            write_status(q, index, live, status);
        }
        sl_json_free(status);
    }
    sl_json_free(live);
    sl_json_free(seen);
}

/* One function per kind, since a reconciler knows only its key. */
static void reconcile_cluster_queue(void *self, struct sl_reconciler *r, const struct sl_key *key,
                                    int64_t now_ms)
{
    (void)r;
    reconcile(self, 0, key, now_ms);
}

static void reconcile_local_queue(void *self, struct sl_reconciler *r, const struct sl_key *key,
                                  int64_t now_ms)
{
    (void)r;
    reconcile(self, 1, key, now_ms);
}

static void reconcile_cohort(void *self, struct sl_reconciler *r, const struct sl_key *key,
                             int64_t now_ms)
{
    (void)r;
    reconcile(self, 2, key, now_ms);
}

void sl_queues_init(struct sl_queues *q, const struct sl_client *client, struct sl_recorder *events,
                    struct sl_engine *engine)
{
    static sl_reconcile_fn *const functions[3] = {reconcile_cluster_queue, reconcile_local_queue,
                                                  reconcile_cohort};
    *q = (struct sl_queues){.engine = engine};
    for (size_t i = 0; i < 3; i++) {
        sl_reconciler_init(&q->kinds[i], "queue status", client, events);
        q->kinds[i].self = q;
        q->kinds[i].reconcile = functions[i];
        q->written_ms[i] = sl_map_new();
    }
}

void sl_queues_fini(struct sl_queues *q)
{
    for (size_t i = 0; i < 3; i++) {
        sl_reconciler_fini(&q->kinds[i]);
        sl_map_free(q->written_ms[i]);
    }
}

static void note_touched(struct sl_queues *q)
{
    enum sl_kind kind;
    const char *ns;
    const char *name;
    while (sl_engine_next_touched(q->engine, &kind, &ns, &name)) {
        size_t index = index_of(kind);
        if (index == SIZE_MAX) {
            continue;
        }
        if (kind == SL_KIND_CLUSTER_QUEUE && q->guards != NULL) {
            sl_guards_touch(q->guards, name);
        }
        char key[SL_KEY_SIZE];
        sl_key_print(ns == NULL ? "" : ns, name, key);
        union sl_map_value last;
        bool before = sl_map_get(q->written_ms[index], key, &last);
        sl_work_add(q->kinds[index].work, key,
                    before ? (int64_t)last.number + SL_QUEUE_STATUS_MS : SL_WORK_NOW);
    }
}

/* Most keys that are due lead to a write: one at a time while there is a budget. */
static bool step_kind(struct sl_queues *q, size_t index, int64_t now_ms, unsigned limit)
{
    if (q->budget.per_s == 0) {
        return sl_reconciler_step(&q->kinds[index], now_ms, limit);
    }
    return sl_budget_has(&q->budget, now_ms) && sl_reconciler_step(&q->kinds[index], now_ms, 1) &&
           sl_budget_has(&q->budget, now_ms);
}

bool sl_queues_step(struct sl_queues *q, int64_t now_ms, unsigned limit)
{
    SL_PRE(q != NULL);
    bool more = false;
    note_touched(q);
    q->turn++;
    for (size_t i = 0; i < 3; i++) {
        more = step_kind(q, (q->turn + i) % 3, now_ms, limit) || more;
    }
    return more;
}

int64_t sl_queues_due_ms(const struct sl_queues *q)
{
    SL_PRE(q != NULL);
    int64_t due = INT64_MAX;
    int64_t affordable = sl_budget_due_ms(&q->budget);
    for (size_t i = 0; i < 3; i++) {
        int64_t next = sl_work_due_ms(q->kinds[i].work);
        due = next < due ? next : due;
    }
    return due < affordable ? affordable : due;
}

void sl_queues_forget(struct sl_queues *q, enum sl_kind kind, const struct sl_json *object)
{
    size_t index = index_of(kind);
    if (index != SIZE_MAX) {
        char key[SL_KEY_SIZE];
        sl_key_print(sl_object_namespace(object), sl_object_name(object), key);
        sl_map_remove(q->written_ms[index], key, NULL);
    }
}
