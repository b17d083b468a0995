/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Gated objects: reading them, and what is written to each. */
#include "controllers/jobs/job_members.h"
#include "base/check.h"
#include "base/mem.h"
#include "controllers/jobs/podjob.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

static void add(struct sl_job_view *v, struct sl_json *object)
{
    v->members.at[v->loaded++] = (struct sl_member){.object = object};
    v->members.count = v->loaded;
    v->job = v->members.at[0].object;
}

/* Which speaks for all must not depend on the order in which they were seen. */
static int by_age(const void *left, const void *right)
{
    const struct sl_json *a = ((const struct sl_member *)left)->object;
    const struct sl_json *b = ((const struct sl_member *)right)->object;
    int64_t x = sl_object_created_ms(a);
    int64_t y = sl_object_created_ms(b);
    return x != y ? (x < y ? -1 : 1) : strcmp(sl_object_name(a), sl_object_name(b));
}

static bool load_group(struct sl_job_view *v, const struct sl_key *key)
{
    size_t cursor = 0;
    const char *name;
    const char *unused;
    bool absent = true;
    bool all = true;
    size_t most = sl_job_children_count(v->of->members, v->key);
    v->members.group = key->name;
    v->members.at = sl_mem_new(most + 1, sizeof *v->members.at);
    while (sl_job_children_next(v->of->members, v->key, &cursor, &name, &unused)) {
        struct sl_json *object = sl_reconciler_get(v->r, v->f->kind, key->ns, name, &absent);
        all = all && (object != NULL || absent);
        if (object != NULL) {
            v->f->composition->prepare(object);
            add(v, object);
        }
    }
    if (v->loaded > 0) {
        qsort(v->members.at, v->loaded, sizeof *v->members.at, by_age);
        v->job = v->members.at[0].object;
    }
    return all && v->loaded > 0;
}

bool sl_members_load(struct sl_job_view *v, const struct sl_key *key)
{
    SL_PRE(v != NULL);
    if (v->f->composition != NULL) {
        return load_group(v, key);
    }
    bool absent;
    struct sl_json *object = sl_reconciler_get(v->r, v->f->kind, key->ns, key->name, &absent);
    v->members.at = sl_mem_new(1, sizeof *v->members.at);
    if (object != NULL) {
        add(v, object);
    }
    return object != NULL && (v->f->claims == NULL || v->f->claims(object));
}

void sl_members_fini(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    for (size_t i = 0; i < v->loaded; i++) {
        sl_json_free(v->members.at[i].object);
    }
    sl_mem_free(v->members.at);
    v->members.at = NULL;
}

static bool is_gated(const struct sl_job_view *v, const struct sl_json *object)
{
    return v->f->suspended(v->f, object);
}

static bool has_ended(const struct sl_job_view *v, const struct sl_json *object)
{
    bool success;
    const char *message;
    return v->f->finished(v->f, object, &success, &message);
}

static bool is_held(const struct sl_job_view *v, const struct sl_json *object)
{
    return sl_object_has_finalizer(object, v->f->gated->finalizer);
}

typedef bool is_so(const struct sl_job_view *v, const struct sl_json *object);

static bool any(const struct sl_job_view *v, is_so *is)
{
    bool yes = false;
    for (size_t i = 0; i < v->members.count && !yes; i++) {
        yes = is(v, v->members.at[i].object);
    }
    return yes;
}

static bool leaves(const struct sl_job_view *v, const struct sl_json *object)
{
    (void)v;
    return sl_object_deleting(object);
}

bool sl_members_leave(const struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    return any(v, leaves);
}

static bool runs(const struct sl_job_view *v, const struct sl_json *object)
{
    return !sl_object_deleting(object) && !is_gated(v, object) && !has_ended(v, object);
}

bool sl_members_run(const struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    return any(v, runs);
}

static bool waits(const struct sl_job_view *v, const struct sl_json *object)
{
    return is_gated(v, object) && v->f->gated->counts(object);
}

bool sl_members_wait(const struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    return any(v, waits);
}

bool sl_members_name_class(const struct sl_job_view *v, const char *class)
{
    SL_PRE(v != NULL);
    bool agree = true;
    for (size_t i = 0; i < v->members.count && agree; i++) {
        const char *own = sl_object_label(v->members.at[i].object, SL_LABEL_PRIORITY_CLASS);
        agree = strcmp(own == NULL ? "" : own, class) == 0 || has_ended(v, v->members.at[i].object);
    }
    return agree;
}

static bool is_limited_so(const struct sl_job_view *v, const struct sl_json *object)
{
    return sl_workload_limit_matches(v->wl, object);
}

/* Labels of many change one after the other: its limit holds until the last asks for another. */
bool sl_members_limit_matches(const struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    return any(v, is_limited_so);
}

/* --- letting go ------------------------------------------------------------------------------- */

static void let_go(struct sl_job_view *v, const struct sl_json *object)
{
    struct sl_json *o = sl_json_clone(object);
    (void)sl_object_drop_finalizer(o, v->f->gated->finalizer);
    sl_job_write(v->r, SL_VERB_UPDATE, v->f->kind, o, NULL);
}

static bool let_some_go(struct sl_job_view *v, bool all)
{
    bool some = false;
    for (size_t i = 0; v->f->gated != NULL && i < v->members.count; i++) {
        const struct sl_json *object = v->members.at[i].object;
        if (is_held(v, object) && (all || !v->f->gated->counts(object))) {
            let_go(v, object);
            some = true;
        }
    }
    return some;
}

bool sl_members_let_go(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    return let_some_go(v, true);
}

void sl_members_let_stopped_go(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    (void)let_some_go(v, false);
}

static void remove_one(struct sl_job_view *v, struct sl_json *object, const char *reason,
                       const char *message)
{
    struct sl_write w = sl_reconciler_write_of(SL_VERB_DELETE, v->f->kind, object, NULL);
    struct sl_note note = sl_job_note(v, reason, "%s", message);
    note.about = object;
    sl_reconciler_write(v->r, &w, &note);
}

/* --- stopping --------------------------------------------------------------------------------- */

/* As Kueue names them. */
static void print_reason(const struct sl_job_view *v, enum sl_stop stop, char out[static 96])
{
    static const char *const names[] = {[SL_STOP_NO_MATCH] = "NoMatchingWorkload",
                                        [SL_STOP_NOT_ADMITTED] = "NotAdmitted",
                                        [SL_STOP_DELETED] = "WorkloadDeleted",
                                        [SL_STOP_EVICTED] = "WorkloadEvictedDueTo"};
    const struct sl_json *evicted = sl_condition_find(v->wl, "Evicted");
    (void)snprintf(out, 96, "%s%.70s", names[stop],
                   stop == SL_STOP_EVICTED ? sl_json_path_text(evicted, "reason", "") : "");
}

/* First it is said why, then it is deleted: one step for each look. */
static void stop_one(struct sl_job_view *v, struct sl_json *object, const char *reason,
                     const char *why)
{
    if (sl_condition_true(object, SL_TERMINATION_TARGET)) {
        remove_one(v, object, "Stopped", why);
        return;
    }
    struct sl_json *o = sl_json_clone(object);
    sl_condition_set(sl_json_path_make(o, "status"), SL_TERMINATION_TARGET, true, reason, why, 0,
                     v->now_ms);
    sl_job_write(v->r, SL_VERB_UPDATE_STATUS, v->f->kind, o, NULL);
}

static bool is_active(const struct sl_job_view *v, const struct sl_json *object)
{
    return v->f->active(v->f, object);
}

bool sl_members_stop(struct sl_job_view *v, enum sl_stop stop, const char *why)
{
    SL_PRE(v != NULL);
    char reason[96];
    bool stopped = true;
    bool all = stop == SL_STOP_DELETED;
    print_reason(v, stop, reason);
    for (size_t i = 0; i < v->members.count; i++) {
        struct sl_json *object = v->members.at[i].object;
        if (all ? !sl_object_deleting(object) : runs(v, object)) {
            stop_one(v, object, reason, why);
            stopped = false;
        }
    }
    if (stopped && all) {
        return !sl_members_let_go(v); /* only the Workload says that they have to be deleted */
    }
    if (stopped && any(v, is_active)) { /* until their grace is over */
        sl_work_add(v->r->work, v->key, v->now_ms + SL_RETRY_MS);
        return false;
    }
    return stopped;
}

/* --- starting --------------------------------------------------------------------------------- */

static bool is_in_set(const struct sl_job_view *v, const struct sl_json *object, size_t index)
{
    char name[64];
    if (v->f->composition == NULL) {
        return index == 0;
    }
    v->f->composition->pod_set(object, name);
    return strcmp(sl_json_path_text(sl_workload_pod_set(v->wl, index), "name", ""), name) == 0;
}

static bool start(struct sl_job_view *v, struct sl_json *object, size_t index,
                  const struct sl_json *injection, struct sl_error *e)
{
    struct sl_json *o = sl_json_clone(object);
    if (v->f->inject(v->f, o, index, injection, e) != SL_CODE_OK) {
        sl_json_free(o);
        return false;
    }
    struct sl_note note = sl_job_note_start(v);
    note.about = object;
    if (sl_podjob_gated(object)) {
        note.timing = sl_workload_meters_begin_ungating(v->j->meters, v->wl, SL_POD_GATE,
                                                        v->f->composition != NULL);
    }
    sl_job_write(v->r, SL_VERB_UPDATE, v->f->kind, o, &note);
    return true;
}

static bool start_set(struct sl_job_view *v, size_t index)
{
    struct sl_error e = {0};
    struct sl_json *injection = NULL;
    bool ok = true;
    for (size_t i = 0; i < v->members.count && ok; i++) {
        struct sl_json *object = v->members.at[i].object;
        if (!waits(v, object) || !is_in_set(v, object, index)) {
            continue;
        }
        injection = injection == NULL ? sl_admission_injection_new(v, index, &e) : injection;
        ok = injection != NULL && start(v, object, index, injection, &e);
    }
    sl_json_free(injection);
    if (!ok) {
        sl_job_cannot_start(v, &e);
    }
    return ok;
}

void sl_members_start(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    size_t sets = sl_json_len(sl_json_path(v->wl, "spec.podSets"));
    for (size_t i = 0; i < sets && start_set(v, i); i++) {
    }
}

/* --- composed jobs ---------------------------------------------------------------------------- */

/* One write for each member and look: the finalizer first, then the deletion. */
static void meet(struct sl_job_view *v, const struct sl_member *m)
{
    if (m->fate == SL_FATE_KEPT || m->fate == SL_FATE_UNKNOWN) {
        return;
    }
    if (is_held(v, m->object)) {
        let_go(v, m->object);
    } else if (m->fate == SL_FATE_EXCESS && !sl_object_deleting(m->object)) {
        remove_one(v, m->object, "ExcessPodDeleted", "Excess pod deleted");
    }
}

/* Let fate take its course, and look at those that are kept from now on. */
static void settle(struct sl_job_view *v)
{
    struct sl_members *m = &v->members;
    size_t kept = 0;
    for (size_t i = 0; i < m->count; i++) {
        struct sl_member one = m->at[i];
        meet(v, &one);
        if (one.fate == SL_FATE_KEPT) {
            m->at[i] = m->at[kept];
            m->at[kept++] = one;
        }
    }
    m->count = kept;
    v->job = m->at[0].object;
}

bool sl_members_gather(struct sl_job_view *v)
{
    SL_PRE(v->f->composition != NULL);
    struct sl_error e = {0};
    enum sl_code code = v->f->composition->gather(&v->members, &e);
    settle(v);
    if (code == SL_CODE_OK) {
        code = v->f->composition->pod_sets(&v->members, &v->sets, &e);
    }
    if (code == SL_CODE_INVALID) {
        sl_job_report(v, "ErrWorkloadCompose", e.text);
    }
    return code == SL_CODE_OK;
}

bool sl_members_match(struct sl_job_view *v)
{
    SL_PRE(v->f->composition != NULL);
    if (!v->f->composition->match(&v->members, v->wl)) {
        return false;
    }
    settle(v);
    return true;
}

bool sl_members_own(struct sl_job_view *v)
{
    SL_PRE(v->f->composition != NULL);
    struct sl_json *o = sl_json_clone(v->wl);
    size_t added = sl_framework_own_all(v->f, o, &v->members);
    if (added == 0) {
        sl_json_free(o);
        return false;
    }
    struct sl_note note =
        sl_job_note(v, "OwnerReferencesAdded", "Added %zu owner reference(s)", added);
    note.kind = SL_KIND_WORKLOAD;
    note.about = v->wl;
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
    return true;
}

/* While the Workload is evicted, they are missing for the reason of that. */
bool sl_members_tell_missing(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    static const char type[] = "WaitingForReplacementPods";
    bool missing = v->members.missing > 0;
    const struct sl_json *evicted =
        sl_condition_true(v->wl, "Evicted") ? sl_condition_find(v->wl, "Evicted") : NULL;
    const char *reason = missing ? "PodsFailed" : "PodsReady";
    const char *message =
        missing ? "Some Failed pods need replacement" : "No pods need replacement";
    if (missing && evicted != NULL) {
        reason = sl_json_path_text(evicted, "reason", "Evicted");
        message = sl_json_path_text(evicted, "message", "");
    } else if (missing == sl_condition_true(v->wl, type)) {
        return false;
    }
    struct sl_json *o = sl_json_clone(v->wl);
    bool differs = sl_condition_set(sl_json_path_make(o, "status"), type, missing, reason, message,
                                    sl_object_generation(v->wl), v->now_ms);
    if (differs) {
        sl_job_write(v->r, SL_VERB_UPDATE_STATUS, SL_KIND_WORKLOAD, o, NULL);
    } else {
        sl_json_free(o);
    }
    return differs;
}
