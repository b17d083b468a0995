/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who has to be looked at, and Workloads that have lost their pods. */
#include "controllers/podgroups/podgroups.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "controllers/jobs/job_steps.h"
#include "controllers/podgroups/podjob.h"
#include "controllers/podgroups/podlook.h"
#include <stdio.h>
#include <string.h>

#define OWNERS_ASKED 8u

/* --- groups ----------------------------------------------------------------------------------- */

static struct sl_map *members_of(const struct sl_podgroups *p, const char *key)
{
    union sl_map_value value;
    return sl_map_get(p->members, key, &value) ? value.pointer : NULL;
}

static void join(struct sl_podgroups *p, const char *key, const char *pod)
{
    struct sl_map *names = members_of(p, key);
    if (names == NULL) {
        names = sl_map_new();
        sl_map_put(p->members, key, (union sl_map_value){.pointer = names});
    }
    sl_map_put(names, pod, (union sl_map_value){0});
}

static void leave(struct sl_podgroups *p, const char *key, const char *pod)
{
    struct sl_map *names = members_of(p, key);
    if (names == NULL) {
        return;
    }
    (void)sl_map_remove(names, pod, NULL);
    if (sl_map_count(names) == 0) {
        (void)sl_map_remove(p->members, key, NULL);
        sl_map_free(names);
    }
}

/* --- looking ---------------------------------------------------------------------------------- */

/* Pods of another namespace stay as they are, but none that is to go is held back. */
static bool is_managed(struct sl_pod_look *l, const char *ns)
{
    bool deleting = false;
    for (size_t i = 0; i < l->count; i++) {
        deleting = deleting || sl_object_deleting(l->pods[i]);
    }
    return deleting || sl_jobs_namespace_managed(l->p->rules, l->r, ns);
}

static void report_unmanaged(struct sl_pod_look *l, const char *ns)
{
    char message[160];
    if (sl_podjob_gated(l->pods[0])) {
        (void)snprintf(message, sizeof message,
                       SL_NAMESPACE_LEFT_OUT ": nothing will let this Pod start", ns);
        sl_recorder_record_once(l->r->events, SL_KIND_POD, l->pods[0], "NamespaceNotManaged",
                                message, l->now_ms);
    }
}

static void look(struct sl_pod_look *l, const char *ns, const char *workload)
{
    bool absent;
    if (!is_managed(l, ns)) {
        report_unmanaged(l, ns);
        return;
    }
    l->prebuilt = sl_job_prebuilt(l->pods[0]);
    l->wl = sl_reconciler_get(l->r, SL_KIND_WORKLOAD, ns, workload, &absent);
    if (l->wl != NULL || absent) {
        sl_pod_look_act(l);
    }
    sl_json_free(l->wl);
}

/* The Workload of a pod without a group. */
static void name_of(const struct sl_json *pod, char out[static 254])
{
    const char *prebuilt = sl_job_prebuilt(pod);
    if (prebuilt != NULL) {
        memcpy(out, prebuilt, strlen(prebuilt) + 1);
    } else {
        sl_framework_workload_name(&sl_pod_framework, sl_object_name(pod), sl_object_uid(pod), out);
    }
}

static void reconcile_pod(void *self, struct sl_reconciler *r, const struct sl_key *key,
                          int64_t now_ms)
{
    char name[254];
    bool absent;
    struct sl_json *pod = sl_reconciler_get(r, SL_KIND_POD, key->ns, key->name, &absent);
    struct sl_pod_look l = {
        .p = self, .r = r, .key = r->current, .pods = &pod, .count = 1, .now_ms = now_ms};
    if (pod != NULL && sl_podjob_managed(pod) && sl_podjob_group(pod) == NULL) {
        name_of(pod, name);
        look(&l, key->ns, name);
    }
    sl_json_free(pod);
}

static void reconcile_group(void *self, struct sl_reconciler *r, const struct sl_key *key,
                            int64_t now_ms)
{
    struct sl_podgroups *p = self;
    struct sl_map *names = members_of(p, r->current);
    size_t most = names == NULL ? 0 : sl_map_count(names);
    size_t count = 0;
    size_t cursor = 0;
    const char *name;
    union sl_map_value value;
    bool absent = true;
    bool all = most > 0;
    struct sl_json **pods = sl_mem_new(most + 1, sizeof *pods);
    while (names != NULL && sl_map_next(names, &cursor, &name, &value)) {
        struct sl_json *pod = sl_reconciler_get(r, SL_KIND_POD, key->ns, name, &absent);
        all = all && (pod != NULL || absent);
        if (pod != NULL) {
            sl_podjob_keep_role(pod); /* it is asked for often */
            pods[count++] = pod;
        }
    }
    struct sl_pod_look l = {.p = p,
                            .r = r,
                            .key = r->current,
                            .group = key->name,
                            .pods = pods,
                            .count = count,
                            .now_ms = now_ms};
    if (all && count > 0) {
        look(&l, key->ns, key->name);
    }
    for (size_t i = 0; i < count; i++) {
        sl_json_free(pods[i]);
    }
    sl_mem_free(pods);
}

/* --- Workloads without pods ------------------------------------------------------------------- */

/* Marked as such, or a prebuilt one that pods own without controlling it. */
static bool is_group(const struct sl_json *wl)
{
    const char *mark = sl_object_annotation(wl, SL_GROUP_WORKLOAD);
    const struct sl_json *owner = sl_json_at(sl_json_path(wl, "metadata.ownerReferences"), 0);
    bool by_pods = owner != NULL && sl_object_controller_ref(wl) == NULL &&
                   sl_object_ref_is(owner, SL_KIND_POD);
    return by_pods || (mark != NULL && strcmp(mark, "true") == 0);
}

static const struct sl_json *owner_pod(const struct sl_json *wl)
{
    const struct sl_json *owner = sl_object_controller_ref(wl);
    return sl_object_ref_is(owner, SL_KIND_POD) ? owner : NULL;
}

/* Are the pods that own the Workload of a group certain to be deleted? A cache that lacks them all
 * by mistake is found out by asking about the first few. */
static bool all_gone(struct sl_reconciler *r, const struct sl_json *wl)
{
    const struct sl_json *owners = sl_json_path(wl, "metadata.ownerReferences");
    bool gone = true;
    for (size_t i = 0; i < sl_json_len(owners) && i < OWNERS_ASKED && gone; i++) {
        const struct sl_json *owner = sl_json_at(owners, i);
        gone = strcmp(sl_json_path_text(owner, "kind", ""), "Pod") != 0 ||
               sl_reconciler_confirm_gone(r, SL_KIND_POD, sl_object_namespace(wl), owner);
    }
    return gone;
}

static bool is_widow(struct sl_podgroups *p, struct sl_reconciler *r, const struct sl_json *wl)
{
    bool absent;
    const struct sl_json *owner = owner_pod(wl);
    if (is_group(wl)) {
        return members_of(p, r->current) == NULL && all_gone(r, wl);
    }
    if (owner == NULL) {
        return false;
    }
    struct sl_json *pod = sl_reconciler_get(r, SL_KIND_POD, sl_object_namespace(wl),
                                            sl_json_path_text(owner, "name", ""), &absent);
    bool other =
        pod != NULL && strcmp(sl_object_uid(pod), sl_json_path_text(owner, "uid", "")) != 0;
    sl_json_free(pod);
    return other ||
           (absent && sl_reconciler_confirm_gone(r, SL_KIND_POD, sl_object_namespace(wl), owner));
}

/* Its owners are deleted; without the finalizer it is, too. */
static void reconcile_widow(void *self, struct sl_reconciler *r, const struct sl_key *key,
                            int64_t now_ms)
{
    bool absent;
    struct sl_json *wl = sl_reconciler_get(r, SL_KIND_WORKLOAD, key->ns, key->name, &absent);
    (void)now_ms;
    if (wl != NULL && sl_workload_has_finalizer(wl) && is_widow(self, r, wl)) {
        sl_job_release_workload(r, wl);
    }
    sl_json_free(wl);
}

/* --- what happens ----------------------------------------------------------------------------- */

static void wake(struct sl_reconciler *r, const char *ns, const char *name)
{
    char key[SL_KEY_SIZE];
    sl_key_print(ns, name, key);
    sl_work_add(r->work, key, SL_WORK_NOW);
}

static void observe_pod(struct sl_podgroups *p, const struct sl_json *pod, bool deleted)
{
    char key[SL_KEY_SIZE];
    char name[254];
    const char *ns = sl_object_namespace(pod);
    const char *group = sl_podjob_group(pod);
    if (!sl_podjob_managed(pod) && !deleted) {
        return;
    }
    if (group == NULL && !deleted) {
        wake(&p->pods, ns, sl_object_name(pod));
    } else if (group == NULL) {
        name_of(pod, name);
        wake(&p->widows, ns, name);
    } else {
        sl_key_print(ns, group, key);
        (deleted ? leave : join)(p, key, sl_object_name(pod));
        wake(members_of(p, key) == NULL ? &p->widows : &p->groups, ns, group);
    }
}

static void observe_workload(struct sl_podgroups *p, const struct sl_json *wl)
{
    const char *ns = sl_object_namespace(wl);
    const struct sl_json *owner = owner_pod(wl);
    if (is_group(wl)) {
        wake(&p->groups, ns, sl_object_name(wl));
        wake(&p->widows, ns, sl_object_name(wl));
    } else if (owner != NULL) {
        wake(&p->pods, ns, sl_json_path_text(owner, "name", ""));
        wake(&p->widows, ns, sl_object_name(wl));
    }
}

void sl_podgroups_observe(struct sl_podgroups *p, enum sl_kind kind, const struct sl_json *object,
                          bool deleted)
{
    SL_PRE(p != NULL);
    if (p->enabled && kind == SL_KIND_POD) {
        observe_pod(p, object, deleted);
    } else if (p->enabled && kind == SL_KIND_WORKLOAD) {
        observe_workload(p, object);
    }
}

bool sl_podgroups_wanted(const struct sl_job_rules *rules)
{
    SL_PRE(rules != NULL);
    bool yes = rules->framework_count == 0;
    for (size_t i = 0; i < rules->framework_count && !yes; i++) {
        yes = strcmp(rules->frameworks[i], sl_pod_framework.name) == 0;
    }
    return yes;
}

/* --- the controller --------------------------------------------------------------------------- */

void sl_podgroups_init(struct sl_podgroups *p, const struct sl_client *client,
                       struct sl_recorder *events, struct sl_engine *engine,
                       const struct sl_job_rules *rules)
{
    SL_PRE(p != NULL);
    *p = (struct sl_podgroups){.members = sl_map_new(),
                               .engine = engine,
                               .rules = rules,
                               .enabled = sl_podgroups_wanted(rules)};
    sl_reconciler_init(&p->pods, "pod", client, events);
    sl_reconciler_init(&p->groups, "pod group", client, events);
    sl_reconciler_init(&p->widows, "workload without pods", client, events);
    p->pods.self = p->groups.self = p->widows.self = p;
    p->pods.reconcile = reconcile_pod;
    p->groups.reconcile = reconcile_group;
    p->widows.reconcile = reconcile_widow;
}

static void free_members(void *members)
{
    sl_map_free(members);
}

void sl_podgroups_fini(struct sl_podgroups *p)
{
    SL_PRE(p != NULL);
    sl_map_free_with(p->members, free_members);
    sl_reconciler_fini(&p->pods);
    sl_reconciler_fini(&p->groups);
    sl_reconciler_fini(&p->widows);
}

bool sl_podgroups_step(struct sl_podgroups *p, int64_t now_ms, unsigned limit)
{
    SL_PRE(p != NULL);
    bool more = sl_reconciler_step(&p->pods, now_ms, limit);
    more = sl_reconciler_step(&p->groups, now_ms, limit) || more;
    return sl_reconciler_step(&p->widows, now_ms, limit) || more;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t sl_podgroups_due_ms(const struct sl_podgroups *p)
{
    SL_PRE(p != NULL);
    int64_t due_ms = earlier(sl_work_due_ms(p->pods.work), sl_work_due_ms(p->groups.work));
    return earlier(due_ms, sl_work_due_ms(p->widows.work));
}
