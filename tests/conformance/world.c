/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The engine with a case's objects in it. The recorded objects are what tests built in memory; here
 * they are brought into the form in which the API would hold them: creation times that are absent
 * are the oldest, UIDs are UUIDs in the same order, every Workload that holds quota names a
 * LocalQueue, and one that has no check to wait for is admitted as soon as it holds quota. */
#include "api/objects/quantity.h"
#include "base/clock.h"
#include "base/mem.h"
#include "conformance.h"
#include "engine/decisions/follow.h"
#include "engine/journal/intern.h"
#include "engine/decisions/standing.h"
#include "policy/flavors/open_cell.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void conf_key(const struct sl_json *object, char out[static 512])
{
    (void)snprintf(out, 512, "%s/%s", sl_object_namespace(object), sl_object_name(object));
}

/* --- bringing objects into form --------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* UIDs of the list in byte order; an absent one is the first. */
static const char **new_uids(const struct sl_json *list)
{
    size_t count = sl_json_len(list);
    const char **uids = sl_mem_new(count + 1, sizeof *uids);
    for (size_t i = 0; i < count; i++) {
        uids[i] = sl_object_uid(sl_json_at(list, i));
    }
    qsort(uids, count, sizeof *uids, by_text);
    return uids;
}

static void form_workload(struct sl_json *o, const char *const *uids, size_t count)
{
    const char *own = sl_object_uid(o);
    size_t rank = 0;
    char uid[48];
    while (rank < count && strcmp(uids[rank], own) < 0) {
        rank++;
    }
    (void)snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%012zx",
                   own[0] == '\0' ? 0 : rank + 1);
    struct sl_json *metadata = sl_json_path_make(o, "metadata");
    sl_json_set_text(metadata, "uid", uid);
    sl_json_set_text(metadata, "resourceVersion", "1");
    if (sl_json_get(metadata, "creationTimestamp") == NULL) {
        sl_json_set_text(metadata, "creationTimestamp", "1970-01-01T00:00:00Z");
    }
    conf_form_admitted(o);
}

static bool waits_for_checks(const struct sl_json *o)
{
    const struct sl_json *checks = sl_json_path(o, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(checks, i), "state", ""), "Ready") != 0) {
            return true;
        }
    }
    return false;
}

/* Quota comes first, and where the pods go once the checks are ready. */
static bool waits_for_topology(const struct sl_json *o)
{
    const struct sl_json *sets = sl_json_path(o, "status.admission.podSetAssignments");
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const char *delayed = sl_json_path_text(sl_json_at(sets, i), "delayedTopologyRequest", "");
        if (strcmp(delayed, "Pending") == 0) {
            return true;
        }
    }
    return false;
}

/* Fixtures have reasons of their own: AdmittedByTest, ByTest. */
static bool is_of_test(const struct sl_json *condition)
{
    const char *reason = sl_json_path_text(condition, "reason", "");
    size_t len = strlen(reason);
    return len >= 6 && strcmp(reason + len - 6, "ByTest") == 0;
}

static void rename_reason(const struct sl_json *o, const char *type)
{
    struct sl_json *list = sl_json_path(o, "status.conditions");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        struct sl_json *c = sl_json_at(list, i);
        if (strcmp(sl_json_path_text(c, "type", ""), type) == 0 &&
            strcmp(sl_json_path_text(c, "status", ""), "True") == 0 && is_of_test(c)) {
            sl_json_set_text(c, "reason", type);
        }
    }
}

/* The queues of the recorded cycles had a clock of their own, later than all times in the cases: no
 * backoff lasts, and none begins. */
void conf_form_backoff(struct sl_json *o)
{
    struct sl_json *state = sl_json_path(o, "status.requeueState");
    if (state != NULL) {
        sl_json_remove(state, "requeueAt");
    }
}

void conf_form_admitted(struct sl_json *o)
{
    const struct sl_json *reserved = sl_condition_find(o, "QuotaReserved");
    rename_reason(o, "QuotaReserved");
    rename_reason(o, "Admitted");
    if (sl_condition_true(o, "QuotaReserved") && sl_condition_find(o, "Admitted") == NULL &&
        !waits_for_checks(o) && !waits_for_topology(o)) {
        struct sl_json *admitted = sl_json_clone(reserved);
        sl_json_set_text(admitted, "type", "Admitted");
        sl_json_set_text(admitted, "reason", "Admitted");
        sl_json_append(sl_json_path(o, "status.conditions"), admitted);
    }
}

static struct sl_json *new_local_queue(const char *ns, const char *name, const char *cluster_queue)
{
    struct sl_json *q = sl_object_new(SL_KIND_LOCAL_QUEUE, ns, name);
    sl_json_set_text(sl_json_path_make(q, "spec"), "clusterQueue", cluster_queue);
    return q;
}

/* A LocalQueue for the holder, of the ClusterQueue that it holds quota of. */
static void lend_queue(struct conf_world *w, struct sl_json *o, const char *cluster_queue)
{
    char name[300];
    struct sl_error e = {0};
    if (cluster_queue[0] == '\0' || sl_json_path_text(o, "spec.queueName", "")[0] != '\0') {
        return;
    }
    (void)snprintf(name, sizeof name, "of-%s", cluster_queue);
    sl_json_set_text(sl_json_path_make(o, "spec"), "queueName", name);
    struct sl_json *q = new_local_queue(sl_object_namespace(o), name, cluster_queue);
    (void)sl_engine_observe(w->g, SL_KIND_LOCAL_QUEUE, q, w->now_ms, &e);
    sl_json_free(q);
}

/* --- loading ---------------------------------------------------------------------------------- */

static const enum sl_kind load_order[] = {
    SL_KIND_NAMESPACE, SL_KIND_LIMIT_RANGE,     SL_KIND_NODE,
    SL_KIND_TOPOLOGY,  SL_KIND_RESOURCE_FLAVOR, SL_KIND_ADMISSION_CHECK,
    SL_KIND_COHORT,    SL_KIND_CLUSTER_QUEUE,   SL_KIND_LOCAL_QUEUE,
    SL_KIND_POD};

static enum sl_kind kind_of(const struct sl_json *o)
{
    return sl_kind_find_object(sl_json_path_text(o, "apiVersion", ""),
                               sl_json_path_text(o, "kind", ""));
}

static void observe(struct conf_world *w, enum sl_kind kind, const struct sl_json *o)
{
    char key[512];
    struct sl_error e = {0};
    if (sl_engine_observe(w->g, kind, o, w->now_ms, &e) != SL_CODE_OK) {
        conf_key(o, key); /* it is known all the same, and the outcome says with what effect */
        printf("# %s: %s\n", key, e.cause_count > 0 ? e.causes[0].text : e.text);
    }
}

static int by_key(const void *a, const void *b)
{
    char x[512];
    char y[512];
    conf_key(*(struct sl_json *const *)a, x);
    conf_key(*(struct sl_json *const *)b, y);
    return strcmp(x, y);
}

static void sort_workloads(struct conf_world *w)
{
    size_t count = sl_json_len(w->store.workloads);
    struct sl_json **all = sl_mem_new(count + 1, sizeof *all);
    for (size_t i = 0; i < count; i++) {
        all[i] = sl_json_ref(sl_json_at(w->store.workloads, i));
    }
    qsort(all, count, sizeof *all, by_key);
    for (size_t i = 0; i < count; i++) {
        sl_json_put_at(w->store.workloads, i, all[i]);
    }
    sl_mem_free(all);
}

static void load_workloads(struct conf_world *w)
{
    size_t count = sl_json_len(w->store.workloads);
    const char **sorted = new_uids(w->store.workloads);
    char **uids = sl_mem_new(count + 1, sizeof *uids);
    for (size_t i = 0; i < count; i++) {
        uids[i] = sl_mem_text(sorted[i]); /* forming a workload frees its own */
    }
    for (size_t i = 0; i < count; i++) {
        struct sl_json *o = sl_json_at(w->store.workloads, i);
        form_workload(o, (const char *const *)uids, count);
        if (w->in_cycles) {
            conf_form_backoff(o);
        }
        lend_queue(w, o, sl_json_path_text(o, "status.admission.clusterQueue", ""));
        observe(w, SL_KIND_WORKLOAD, o);
    }
    for (size_t i = 0; i < count; i++) {
        sl_mem_free(uids[i]);
    }
    sl_mem_free(uids);
    sl_mem_free(sorted);
}

/* What a LocalQueue has used before, as its status keeps it over a restart. */
static void restore_usage(const struct conf_case *c, struct sl_json *queue)
{
    char time[32];
    const struct sl_json *used =
        sl_json_get(sl_json_path(c->root, "run.initialLocalQueueUsage"), sl_object_name(queue));
    if (used != NULL && strcmp(sl_object_namespace(queue), "default") == 0) {
        struct sl_json *status =
            sl_json_path_make(queue, "status.fairSharing.admissionFairSharingStatus");
        sl_clock_format(c->now_ms, time);
        sl_json_set(status, "consumedResources", sl_json_clone(used));
        sl_json_set_text(status, "lastUpdate", time);
    }
}

/* The ClusterQueue that a Workload waits for; "" = none. */
static const char *queue_of(const struct sl_json *objects, const struct sl_json *workload)
{
    const char *name = sl_json_path_text(workload, "spec.queueName", "");
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        const struct sl_json *o = sl_json_at(objects, i);
        if (kind_of(o) == SL_KIND_LOCAL_QUEUE && strcmp(sl_object_name(o), name) == 0 &&
            strcmp(sl_object_namespace(o), sl_object_namespace(workload)) == 0) {
            return sl_json_path_text(o, "spec.clusterQueue", "");
        }
    }
    return "";
}

/* A check that nobody has made an object of is one that is looked after. */
static void lend_check(struct conf_world *w, const struct sl_json *objects, const char *name)
{
    struct sl_error e = {0};
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        const struct sl_json *o = sl_json_at(objects, i);
        if (kind_of(o) == SL_KIND_ADMISSION_CHECK && strcmp(sl_object_name(o), name) == 0) {
            return;
        }
    }
    struct sl_json *check = sl_object_new(SL_KIND_ADMISSION_CHECK, "", name);
    sl_json_set_text(sl_json_path_make(check, "spec"), "controllerName", "example.com/check");
    (void)sl_condition_set(sl_json_path_make(check, "status"), "Active", true, "Active", "", 0,
                           w->now_ms);
    (void)sl_engine_observe(w->g, SL_KIND_ADMISSION_CHECK, check, w->now_ms, &e);
    sl_json_free(check);
}

/* Checks that Workloads of the queue wait for are checks that it asks. */
static void ask_checks(struct conf_world *w, const struct sl_json *objects, struct sl_json *queue)
{
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        const struct sl_json *o = sl_json_at(objects, i);
        const struct sl_json *checks = sl_json_path(o, "status.admissionChecks");
        if (kind_of(o) != SL_KIND_WORKLOAD || sl_json_len(checks) == 0 ||
            strcmp(queue_of(objects, o), sl_object_name(queue)) != 0 ||
            sl_json_path(queue, "spec.admissionChecksStrategy") != NULL) {
            continue;
        }
        struct sl_json *asked = sl_json_new_list();
        for (size_t k = 0; k < sl_json_len(checks); k++) {
            struct sl_json *item = sl_json_new_map();
            const char *name = sl_json_path_text(sl_json_at(checks, k), "name", "");
            sl_json_set_text(item, "name", name);
            sl_json_append(asked, item);
            lend_check(w, objects, name);
        }
        sl_json_set(sl_json_path_make(queue, "spec.admissionChecksStrategy"), "admissionChecks",
                    asked);
    }
}

static void load_kind(struct conf_world *w, const struct conf_case *c, enum sl_kind kind)
{
    const struct sl_json *objects = sl_json_get(c->root, "objects");
    if (kind == SL_KIND_POD && sl_json_path_bool(c->root, "run.podsNotInCache", false)) {
        return;
    }
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        if (kind_of(sl_json_at(objects, i)) == kind) {
            struct sl_json *o = sl_json_clone(sl_json_at(objects, i));
            if (kind == SL_KIND_LOCAL_QUEUE) {
                restore_usage(c, o);
            } else if (kind == SL_KIND_CLUSTER_QUEUE) {
                ask_checks(w, objects, o);
            }
            observe(w, kind, o);
            sl_json_free(o);
        }
    }
}

/* What is decided before the first cycle because of queues that are missing or inactive is the work
 * of a controller that did not run when the cases were recorded: taken for written. What is wrong
 * with a Workload itself Kueue says in its cycle. */
static void take_decisions(struct conf_world *w)
{
    struct sl_decision d;
    struct sl_json *kept = sl_json_new_list();
    while (sl_engine_next_decision(w->g, &d)) {
        bool own = d.kind == SL_DECIDE_PENDING && !sl_standing_queue_to_blame(w->g, d.workload);
        if (own) {
            sl_json_append(kept, sl_json_new_int(d.workload));
        }
        (void)sl_engine_written(w->g, &d, SL_CODE_OK, NULL, w->now_ms);
    }
    for (size_t i = 0; i < sl_json_len(kept); i++) {
        sl_decide(w->g, (sl_workload_id)sl_json_int(sl_json_at(kept, i), 0), SL_DECIDE_PENDING,
                  w->now_ms);
    }
    sl_json_free(kept);
}

void conf_world_open(struct conf_world *w, const struct conf_case *c, const struct sl_json *extra)
{
    const struct sl_json *objects = sl_json_get(c->root, "objects");
    struct sl_error e = {0};
    *w = (struct conf_world){.settings = conf_settings(c),
                             .in_cycles = sl_json_has(c->root, "run"),
                             .now_ms = c->now_ms};
    struct sl_engine_options options = {.settings = &w->settings};
    if (sl_engine_open(&options, &w->g, &e) != SL_CODE_OK) {
        conf_differ("engine", "open", e.text);
        exit(CONF_FAILED);
    }
    conf_store_open(&w->store, w->g);
    for (size_t k = 0; k < sizeof load_order / sizeof load_order[0]; k++) {
        load_kind(w, c, load_order[k]);
    }
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        if (kind_of(sl_json_at(objects, i)) == SL_KIND_WORKLOAD) {
            sl_json_append(w->store.workloads, sl_json_clone(sl_json_at(objects, i)));
        }
    }
    if (extra != NULL) {
        struct sl_json *o = sl_json_clone(extra);
        lend_queue(w, o, sl_json_path_text(c->input, "clusterQueue", ""));
        sl_json_append(w->store.workloads, o);
    }
    sort_workloads(w);
    load_workloads(w);
    sl_engine_synced(w->g, w->now_ms);
    take_decisions(w);
}

/* --- names ------------------------------------------------------------------------------------ */

sl_workload_id conf_workload_id(const struct conf_world *w, const char *key)
{
    return sl_intern_find(w->g->names, SL_INTERN_WORKLOAD, key);
}

sl_qnode_id conf_queue_node(const struct conf_world *w, const char *name)
{
    return sl_qnode_find(w->g, true, name);
}

sl_cell_id conf_cell(const struct conf_world *w, sl_qnode_id node, const char *flavor,
                     const char *resource)
{
    sl_flavor_id f = sl_intern_find(w->g->names, SL_INTERN_FLAVOR, flavor);
    sl_resource_id r = sl_intern_find(w->g->names, SL_INTERN_RESOURCE, resource);
    sl_cell_id cell = SL_NO_ID;
    if (f == SL_NO_ID || r == SL_NO_ID || sl_ledger_open_cell(node, f, r, &cell) != SL_OK) {
        conf_differ("cell", flavor, "no such cell");
        exit(CONF_FAILED);
    }
    return cell;
}

const char *conf_flavor_name(const struct conf_world *w, sl_flavor_id flavor)
{
    return sl_intern_name(w->g->names, SL_INTERN_FLAVOR, flavor);
}

const char *conf_resource_name(const struct conf_world *w, sl_resource_id resource)
{
    return sl_intern_name(w->g->names, SL_INTERN_RESOURCE, resource);
}

void conf_charge(const struct conf_world *w, sl_qnode_id node, const struct sl_json *flavors)
{
    void *it = NULL;
    const char *flavor;
    struct sl_json *resources;
    while (sl_json_next(flavors, &it, &flavor, &resources)) {
        void *at = NULL;
        const char *resource;
        struct sl_json *amount;
        while (sl_json_next(resources, &at, &resource, &amount)) {
            sl_cell_id cell = conf_cell(w, node, flavor, resource);
            if (sl_ledger_charge(cell, sl_json_int(amount, 0)) != SL_OK) {
                conf_differ("usage", "charged", "refused");
            }
        }
    }
}
