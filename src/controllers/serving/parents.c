/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which parents are managed, and when they have to be looked at. */
#include "controllers/serving/parents.h"
#include "base/check.h"
#include "base/log.h"
#include "base/map.h"
#include "controllers/jobs/podjob.h"
#include "controllers/serving/groups.h"
#include <stdio.h>
#include <string.h>

/* --- rounds ----------------------------------------------------------------------------------- */

/* What has changed: a round that is under way may have passed it. */
static void wake(struct sl_parents_of *p, const char *key)
{
    union sl_map_value round;
    sl_work_add(p->of.work.work, key, SL_WORK_NOW);
    if (sl_map_get(p->rounds, key, &round)) {
        sl_map_put(p->rounds, key, (union sl_map_value){.number = round.number | 1});
    }
}

int64_t sl_parents_round(const struct sl_parents_of *p, const char *key)
{
    SL_PRE(p != NULL && key != NULL);
    union sl_map_value round;
    return sl_map_get(p->rounds, key, &round) ? (int64_t)(round.number >> 1) : 0;
}

void sl_parents_go_on(struct sl_parents_of *p, const char *key, int64_t next)
{
    SL_PRE(p != NULL && key != NULL && next >= 0);
    union sl_map_value round = {0};
    (void)sl_map_remove(p->rounds, key, &round);
    bool again = (round.number & 1) != 0;
    if (next > 0) {
        sl_map_put(p->rounds, key,
                   (union sl_map_value){.number = (uint64_t)next << 1 | (again ? 1 : 0)});
    }
    if (next > 0 || again) {
        sl_work_add(p->of.work.work, key, SL_WORK_NOW);
    }
}

/* --- the look --------------------------------------------------------------------------------- */

/* Whose are its pods, by its templates: of another parent, which has made this one, or of none, then they are not gated for
 * a group. */
enum whose { WHOSE_OURS, WHOSE_ANOTHERS, WHOSE_NONE };

static enum whose whose_pods(const struct sl_framework *f, const struct sl_pod_sets *sets)
{
    enum whose whose = WHOSE_OURS;
    for (size_t i = 0; i < sets->count && whose != WHOSE_ANOTHERS; i++) {
        const char *parent = sl_object_annotation(sets->at[i].template, SL_POD_PARENT);
        bool another = parent != NULL && strcmp(parent, f->name) != 0;
        whose = another ? WHOSE_ANOTHERS : parent == NULL ? WHOSE_NONE : whose;
    }
    return whose;
}

static bool is_managed(const struct sl_job_view *v)
{
    const struct sl_job_rules *rules = &v->j->rules;
    return (v->queue[0] != '\0' || rules->manage_all) && !v->f->skips(v->f, v->job) &&
           sl_jobs_namespace_managed(rules, v->r, sl_object_namespace(v->job));
}

static void report_unmarked(const struct sl_job_view *v)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "The annotation " SL_POD_PARENT
                   ": %.100s is missing in its pod templates: its pods are no group",
                   v->f->name);
    sl_job_report(v, "PodsNotGrouped", text);
}

static void look(struct sl_parents_of *p, struct sl_job_view *v)
{
    struct sl_error e = {0};
    const char *queue = sl_job_queue(v->job);
    v->queue = queue == NULL ? "" : queue;
    enum sl_code code = v->f->pod_sets(v->f, v->job, &v->sets, &e);
    enum whose whose = whose_pods(v->f, &v->sets);
    bool managed = is_managed(v);
    if (managed && code != SL_CODE_OK) {
        sl_job_report(v, "ErrWorkloadCompose", e.cause_count > 0 ? e.causes[0].text : e.text);
    } else if (managed && whose == WHOSE_NONE) {
        report_unmarked(v);
    } else if (managed && whose == WHOSE_OURS) {
        sl_groups_look(p, v);
    }
    sl_pod_sets_fini(&v->sets);
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct sl_parents_of *p = self;
    bool absent;
    struct sl_member one = {.object =
                                sl_reconciler_get(r, p->of.f->kind, key->ns, key->name, &absent)};
    struct sl_job_view v = {.j = p->of.all,
                            .of = &p->of,
                            .f = p->of.f,
                            .r = r,
                            .key = r->current,
                            .job = one.object,
                            .members = {.count = 1, .at = &one},
                            .now_ms = now_ms};
    if (one.object != NULL && !sl_object_deleting(one.object)) {
        look(p, &v);
    } else {
        (void)sl_map_remove(p->rounds, r->current, NULL);
    }
    sl_json_free(one.object);
}

/* --- making and ending ------------------------------------------------------------------------ */

static void add_kind(struct sl_parents *p, const struct sl_framework *f,
                     const struct sl_client *client, struct sl_recorder *events)
{
    struct sl_parents_of *k = &p->kinds[p->kind_count++];
    k->of = (struct sl_jobs_of){.all = p->jobs, .f = f};
    k->of.blocked = sl_map_new();
    k->of.members = sl_job_children_new();
    k->workloads = sl_job_children_new();
    k->rounds = sl_map_new();
    sl_reconciler_init(&k->of.work, f->name, client, events);
    k->of.work.self = k;
    k->of.work.reconcile = reconcile;
}

void sl_parents_init(struct sl_parents *p, struct sl_jobs *jobs, const struct sl_client *client,
                     struct sl_recorder *events)
{
    SL_PRE(p != NULL && jobs != NULL);
    *p = (struct sl_parents){.jobs = jobs};
    const struct sl_framework *f;
    for (size_t i = 0; (f = sl_jobs_framework(i)) != NULL; i++) {
        if (f->grouping != NULL && sl_jobs_enabled(&jobs->rules, f)) {
            add_kind(p, f, client, events);
        } else if (f->grouping != NULL) {
            sl_log(SL_LOG_INFO, "left alone: integrations.frameworks does not name it", "framework",
                   f->name, NULL);
        }
    }
}

void sl_parents_fini(struct sl_parents *p)
{
    SL_PRE(p != NULL);
    for (size_t i = 0; i < p->kind_count; i++) {
        sl_reconciler_fini(&p->kinds[i].of.work);
        sl_map_free(p->kinds[i].of.blocked);
        sl_job_children_free(p->kinds[i].of.members);
        sl_job_children_free(p->kinds[i].workloads);
        sl_map_free(p->kinds[i].rounds);
    }
}

/* --- what happens ----------------------------------------------------------------------------- */

static void observe_pod(struct sl_parents_of *p, const struct sl_json *pod, bool deleted)
{
    char key[SL_KEY_SIZE];
    const char *parent = sl_object_annotation(pod, SL_POD_PARENT);
    const char *maker = parent != NULL && strcmp(parent, p->of.f->name) == 0
                            ? p->of.f->grouping->maker(p->of.f, pod)
                            : NULL;
    if (maker != NULL) {
        size_t before;
        sl_key_print(sl_object_namespace(pod), maker, key);
        before = sl_job_children_count(p->of.members, key);
        sl_job_children_put(p->of.members, key, sl_object_name(pod), "", !deleted);
        bool fresh = sl_job_children_count(p->of.members, key) != before;
        if (fresh || sl_podjob_group(pod) == NULL) {
            wake(p, key);
        }
    }
}

/* What is said of a Workload that holds quota concerns its pods only. */
static void observe_workload(struct sl_parents_of *p, const struct sl_json *wl, bool deleted)
{
    const struct sl_json *owners = sl_json_path(wl, "metadata.ownerReferences");
    bool waits = !sl_condition_true(wl, "QuotaReserved") || sl_condition_true(wl, "Evicted");
    for (size_t i = 0; i < sl_json_len(owners); i++) {
        char key[SL_KEY_SIZE];
        const struct sl_json *owner = sl_json_at(owners, i);
        if (!sl_object_ref_is(owner, p->of.f->kind)) {
            continue;
        }
        sl_key_print(sl_object_namespace(wl), sl_json_path_text(owner, "name", ""), key);
        size_t before = sl_job_children_count(p->workloads, key);
        sl_job_children_put(p->workloads, key, sl_object_name(wl), "", !deleted);
        if (deleted || waits || sl_job_children_count(p->workloads, key) != before) {
            wake(p, key);
        }
    }
}

static void unblock(struct sl_parents_of *p)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(p->of.blocked, &cursor, &key, &value)) {
        wake(p, key);
        sl_map_remove(p->of.blocked, key, NULL);
    }
}

void sl_parents_observe(struct sl_parents *p, enum sl_kind kind, const struct sl_json *object,
                        bool deleted)
{
    SL_PRE(p != NULL && object != NULL);
    for (size_t i = 0; i < p->kind_count; i++) {
        struct sl_parents_of *k = &p->kinds[i];
        if (kind == k->of.f->kind) {
            char key[SL_KEY_SIZE];
            sl_key_print(sl_object_namespace(object), sl_object_name(object), key);
            wake(k, key);
        } else if (kind == SL_KIND_POD) {
            observe_pod(k, object, deleted);
        } else if (kind == SL_KIND_WORKLOAD) {
            observe_workload(k, object, deleted);
        } else if (kind == SL_KIND_PRIORITY_CLASS || kind == SL_KIND_WORKLOAD_PRIORITY_CLASS) {
            unblock(k);
        }
    }
}

bool sl_parents_step(struct sl_parents *p, int64_t now_ms, unsigned limit)
{
    SL_PRE(p != NULL);
    bool more = false;
    for (size_t i = 0; i < p->kind_count; i++) {
        more = sl_reconciler_step(&p->kinds[i].of.work, now_ms, limit) || more;
    }
    return more;
}

int64_t sl_parents_due_ms(const struct sl_parents *p)
{
    SL_PRE(p != NULL);
    int64_t due = SL_WORK_NEVER;
    for (size_t i = 0; i < p->kind_count; i++) {
        int64_t next = sl_work_due_ms(p->kinds[i].of.work.work);
        due = next < due ? next : due;
    }
    return due;
}
