/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A little world for tests of the engine: objects in memory in place of an API server. Decisions
 * are carried out as the controllers would, by merge patch on the live object, which the engine
 * then sees again. */
#ifndef SL_TESTS_ENGINE_WORLD_H
#define SL_TESTS_ENGINE_WORLD_H
#include "api/objects/object.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "engine/conditions/mirror.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/place.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define WORLD_START_MS 1800000000000LL

struct world {
    struct sl_engine *engine;
    struct sl_map *objects;                    /* "<kind>/<ns>/<name>" -> struct sl_json * */
    const struct sl_engine_settings *settings; /* NULL = the defaults */
    int64_t now_ms;
    long version;
    unsigned writes;
    enum sl_code fail_next;  /* the next write is refused so; OK = none */
    struct sl_json *written; /* what the last write has made, until it is answered; NULL = none */
    char last_message[1024];
    char last_reason[64];
    enum sl_decision_kind last_kind;
};

static inline struct sl_json *world_parse(const char *text)
{
    struct sl_error e = {0};
    struct sl_json *v = sl_json_parse(text, strlen(text), &e);
    if (v == NULL) {
        fail_msg("%s in %s", e.text, text);
    }
    return v;
}

static inline void world_key(enum sl_kind kind, const char *ns, const char *name,
                             char out[static 300])
{
    (void)snprintf(out, 300, "%d/%s/%s", (int)kind, ns, name);
}

static inline struct sl_json *world_get(struct world *w, enum sl_kind kind, const char *ns,
                                        const char *name)
{
    char key[300];
    union sl_map_value value;
    world_key(kind, ns, name, key);
    return sl_map_get(w->objects, key, &value) ? value.pointer : NULL;
}

static inline enum sl_code world_observe(struct world *w, enum sl_kind kind,
                                         const struct sl_json *o, struct sl_error *e)
{
    return sl_engine_observe(w->engine, kind, o, w->now_ms, e);
}

/* Store the object (the world's from now on) with a new version, and show it to the engine. */
static inline enum sl_code world_put(struct world *w, enum sl_kind kind, struct sl_json *o,
                                     struct sl_error *e)
{
    char key[300];
    char text[32];
    char uid[64];
    union sl_map_value old = {0};
    struct sl_json *meta = sl_json_path_make(o, "metadata");
    world_key(kind, sl_object_namespace(o), sl_object_name(o), key);
    bool known = sl_map_get(w->objects, key, &old);
    w->version++;
    (void)snprintf(text, sizeof text, "%ld", w->version);
    sl_json_set_text(meta, "resourceVersion", text);
    if (sl_object_uid(o)[0] == '\0') {
        (void)snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%012ld", w->version);
        sl_json_set_text(meta, "uid", uid);
    }
    if (!sl_json_has(meta, "creationTimestamp")) {
        sl_clock_format(w->now_ms, text);
        sl_json_set_text(meta, "creationTimestamp", text);
    }
    if (!known) {
        sl_json_set_int(meta, "generation", 1);
    }
    if (known && old.pointer != o) {
        sl_json_free(old.pointer);
    }
    sl_map_put(w->objects, key, (union sl_map_value){.pointer = o});
    struct sl_error local = {0};
    return world_observe(w, kind, o, e == NULL ? &local : e);
}

static inline void world_add(struct world *w, enum sl_kind kind, const char *text)
{
    struct sl_error e = {0};
    if (world_put(w, kind, world_parse(text), &e) != SL_CODE_OK) {
        fail_msg("%s: %s", e.text, e.cause_count > 0 ? e.causes[0].text : "");
    }
}

/* Change the live object by a merge patch, as somebody else would. */
static inline enum sl_code world_patch(struct world *w, enum sl_kind kind, const char *ns,
                                       const char *name, const char *patch)
{
    struct sl_json *o = world_get(w, kind, ns, name);
    struct sl_json *p = world_parse(patch);
    struct sl_error e = {0};
    assert_non_null(o);
    struct sl_json *copy = sl_json_clone(o);
    assert_int_equal(sl_patch_merge(&copy, p, &e), SL_CODE_OK);
    if (sl_json_has(p, "spec")) {
        sl_json_set_int(sl_json_get(copy, "metadata"), "generation", sl_object_generation(o) + 1);
    }
    sl_json_free(p);
    return world_put(w, kind, copy, NULL);
}

static inline void world_delete(struct world *w, enum sl_kind kind, const char *ns,
                                const char *name)
{
    char key[300];
    union sl_map_value old;
    world_key(kind, ns, name, key);
    assert_true(sl_map_remove(w->objects, key, &old));
    sl_engine_forget(w->engine, kind, old.pointer, w->now_ms);
    sl_json_free(old.pointer);
}

/* A reason and its message come from one look: what only some reasons may say beside them. */
static inline void world_told_once(const char *reason, const char *message)
{
    static const char *const pairs[][2] = {
        {"is pending evaluation in", " PendingEvaluation Pending "},
        {"has failed admission checks", " PendingEvaluation Pending "},
        {" is inactive", " Suspended Inadmissible "},
        {"quota for", " WaitingForQuota ExceedsMaxQuota NoMatchingFlavor TopologyPlacementFailed "
                      "WaitingForPreemptedWorkloads Pending "},
        {"unavailable in ClusterQueue",
         " NoMatchingFlavor ExceedsMaxQuota WaitingForQuota Pending "},
        {"gated by", " AdmissionGated "},
        {"it's gated", " AdmissionGated PreemptionGated Pending "},
        {"allows to fit",
         " TopologyPlacementFailed WaitingForQuota NoMatchingFlavor ExceedsMaxQuota "
         "WaitingForPreemptedWorkloads SecondPassFailed Pending "},
        {"Preempted to accommodate",
         " Preempted InClusterQueue InCohortReclamation InCohortFairSharing "
         "InCohortReclaimWhileBorrowing PendingEvaluation Pending "},
        {"failed node", " NodeFailures PendingEvaluation Pending "},
        {"nodes have failed", " NodeFailures PendingEvaluation Pending "},
        {"unhealthy node", " NodeFailures PendingEvaluation Pending "},
        {"has its topology assignment", " TopologyAssigned "},
        {"waits for its topology", " PendingDelayedTopologyRequests "},
        {"in Retry state", " AdmissionCheck PendingEvaluation Pending "},
        {"PodsReady timeout", " PodsReadyTimeout PendingEvaluation Pending "},
        {"is deactivated", " Deactivated DeactivatedDueToAdmissionCheck "
                           "DeactivatedDueToRequeuingLimitExceeded "
                           "DeactivatedDueToMaximumExecutionTimeExceeded Pending "},
        {"The ClusterQueue is stopped", " ClusterQueueStopped PendingEvaluation Pending "},
        {"The LocalQueue is stopped", " LocalQueueStopped PendingEvaluation Pending "}};
    char wanted[80];
    (void)snprintf(wanted, sizeof wanted, " %s ", reason);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strncmp(message, "Previously: ", 12) != 0 && strstr(message, pairs[i][0]) != NULL &&
            strstr(pairs[i][1], wanted) == NULL) {
            fail_msg("%s says: %s", reason, message);
        }
    }
}

static inline void world_conditions_told_once(const struct sl_json *object)
{
    const struct sl_json *list = sl_json_path(object, "status.conditions");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *c = sl_json_at(list, i);
        world_told_once(sl_json_path_text(c, "reason", ""), sl_json_path_text(c, "message", ""));
    }
}

static inline enum sl_code world_write(struct world *w, const struct sl_decision *d,
                                       struct sl_json *live)
{
    struct sl_error e = {0};
    struct sl_json *patch;
    enum sl_to_write what = sl_engine_write(w->engine, d, live, &patch);
    bool status = what == SL_TO_WRITE_STATUS;
    sl_json_free(w->written);
    w->written = NULL;
    assert_int_equal(patch != NULL, status || what == SL_TO_WRITE_SPEC);
    if (patch == NULL) {
        bool later = what == SL_TO_WRITE_LATER || what == SL_TO_WRITE_AFTER;
        return later                       ? SL_CODE_UNAVAILABLE
               : what == SL_TO_WRITE_STALE ? SL_CODE_CONFLICT
                                           : SL_CODE_OK;
    }
    assert_string_equal(sl_json_path_text(patch, "metadata.resourceVersion", ""),
                        sl_object_resource_version(live));
    assert_true(sl_json_has(patch, status ? "status" : "spec"));
    assert_false(sl_json_has(patch, status ? "spec" : "status"));
    enum sl_code fail = w->fail_next;
    w->fail_next = SL_CODE_OK;
    if (fail != SL_CODE_OK) {
        sl_json_free(patch);
        return fail;
    }
    w->writes++;
    struct sl_json *copy = sl_json_clone(live);
    assert_int_equal(sl_patch_merge(&copy, patch, &e), SL_CODE_OK);
    if (!status) {
        sl_json_set_int(sl_json_get(copy, "metadata"), "generation",
                        sl_object_generation(live) + 1);
    }
    sl_json_free(patch);
    const char *trouble = sl_mirror_written(w->engine, d, live, copy);
    if (trouble != NULL) {
        fail_msg("%s", trouble);
    }
    world_conditions_told_once(copy);
    (void)world_put(w, SL_KIND_WORKLOAD, copy, NULL);
    w->written = sl_json_clone(copy); /* of the version that it has by now */
    return SL_CODE_OK;
}

/* What was only the first part of it is followed by the rest. */
static inline enum sl_then world_answer(struct world *w, const struct sl_decision *d,
                                        enum sl_code code)
{
    const struct sl_json *written = code == SL_CODE_OK ? w->written : NULL;
    enum sl_then then = sl_engine_written(w->engine, d, code, written, w->now_ms);
    if (then == SL_THEN_ASK) {
        struct sl_json *live = world_get(w, SL_KIND_WORKLOAD, d->ns, d->name);
        then = world_answer(w, d, world_write(w, d, live));
    }
    sl_json_free(w->written);
    w->written = NULL;
    return then;
}

static inline void world_check(struct world *w)
{
    const char *broken = NULL;
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    if (!sl_engine_valid(w->engine, &broken)) {
        fail_msg("guarantee broken: %s", broken);
    }
    while (sl_map_next(w->objects, &cursor, &key, &value)) {
        broken =
            atoi(key) == (int)SL_KIND_WORKLOAD ? sl_mirror_settled(w->engine, value.pointer) : NULL;
        if (broken != NULL) {
            fail_msg("%s", broken);
        }
    }
}

/* Run cycles and carry out decisions until nothing is left to do at this moment. */
static inline void world_settle(struct world *w)
{
    struct sl_decision d;
    bool more = true;
    for (int rounds = 0; more; rounds++) {
        assert_true(rounds < 10000); /* else it never comes to rest */
        more = sl_engine_cycle(w->engine, w->now_ms);
        while (sl_engine_next_decision(w->engine, &d)) {
            more = true;
            world_told_once(d.reason, d.message);
            (void)snprintf(w->last_message, sizeof w->last_message, "%s", d.message);
            (void)snprintf(w->last_reason, sizeof w->last_reason, "%s", d.reason);
            w->last_kind = d.kind;
            struct sl_json *live = world_get(w, SL_KIND_WORKLOAD, d.ns, d.name);
            (void)world_answer(w, &d, live == NULL ? SL_CODE_NOT_FOUND : world_write(w, &d, live));
        }
    }
    world_check(w);
}

static inline void world_pass(struct world *w, int64_t ms)
{
    w->now_ms += ms;
    sl_clock_set_virtual(w->now_ms);
    world_settle(w);
}

static size_t world_journal_bytes; /* of a file of the journal; 0 = as ever */

static inline void world_open_with(struct world *w, const char *journal_dir,
                                   const struct sl_engine_settings *settings)
{
    static struct sl_engine_settings paranoid; /* every cycle is checked as it comes */
    paranoid = settings != NULL ? *settings : sl_engine_settings_default();
    paranoid.paranoid = true;
    struct sl_engine_options options = {.journal_dir = journal_dir,
                                        .journal_file_bytes = world_journal_bytes,
                                        .settings = &paranoid};
    struct sl_error e = {0};
    sl_log_setup(SL_LOG_ERROR, false);
    *w = (struct world){.objects = sl_map_new(), .settings = &paranoid, .now_ms = WORLD_START_MS};
    sl_clock_set_virtual(w->now_ms);
    if (sl_engine_open(&options, &w->engine, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
}

static inline void world_open(struct world *w, const char *journal_dir)
{
    world_open_with(w, journal_dir, NULL);
}

static inline void world_close(struct world *w)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    sl_engine_close(w->engine);
    sl_json_free(w->written);
    while (sl_map_next(w->objects, &cursor, &key, &value)) {
        sl_json_free(value.pointer);
    }
    sl_map_free(w->objects);
}

/* Throw the engine away and build it anew from the objects, kinds in the order given by `order`. */
static inline void world_restart(struct world *w, const enum sl_kind *order, size_t count)
{
    struct sl_engine_options options = {.settings = w->settings};
    struct sl_error e = {0};
    sl_engine_close(w->engine);
    assert_int_equal(sl_engine_open(&options, &w->engine, &e), SL_CODE_OK);
    for (size_t i = 0; i < count; i++) {
        size_t cursor = 0;
        const char *key;
        union sl_map_value value;
        char prefix[16];
        (void)snprintf(prefix, sizeof prefix, "%d/", (int)order[i]);
        while (sl_map_next(w->objects, &cursor, &key, &value)) {
            if (strncmp(key, prefix, strlen(prefix)) == 0) {
                (void)world_observe(w, order[i], value.pointer, &e);
            }
        }
    }
    sl_engine_synced(w->engine, w->now_ms);
}

/* --- objects ---------------------------------------------------------------------------------- */

static inline void world_add_flavor(struct world *w, const char *name, const char *spec)
{
    char text[1024];
    (void)snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"%s\"},\"spec\":%s}", name, spec);
    world_add(w, SL_KIND_RESOURCE_FLAVOR, text);
}

/* One flavor, one resource; `more` is spliced into the spec ("" or ",\"key\":value"). */
static inline void world_add_cluster_queue(struct world *w, const char *name, const char *flavor,
                                           const char *cpu, const char *more)
{
    char text[2048];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{"
        "\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"%s\",\"resources\":[{\"name\":"
        "\"cpu\","
        "\"nominalQuota\":\"%s\"}]}]}]%s}}",
        name, flavor, cpu, more);
    world_add(w, SL_KIND_CLUSTER_QUEUE, text);
}

/* An AdmissionCheck of somebody else's. */
static inline void world_add_check(struct world *w, const char *name)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"controllerName\":"
                   "\"example.com/check\"},\"status\":{\"conditions\":[{\"type\":\"Active\","
                   "\"status\":\"True\"}]}}",
                   name);
    world_add(w, SL_KIND_ADMISSION_CHECK, text);
}

static inline void world_add_local_queue(struct world *w, const char *ns, const char *name,
                                         const char *cluster_queue)
{
    char text[512];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\"},\"spec\":{\"clusterQueue\":\"%s\"}}",
        ns, name, cluster_queue);
    world_add(w, SL_KIND_LOCAL_QUEUE, text);
}

static inline struct sl_json *world_new_workload(const char *ns, const char *name,
                                                 const char *queue, int count, const char *cpu)
{
    char text[1024];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\"},\"spec\":{\"queueName\":\"%s\","
        "\"podSets\":"
        "[{\"name\":\"main\",\"count\":%d,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
        "\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}}]}}",
        ns, name, queue, count, cpu);
    return world_parse(text);
}

static inline void world_add_workload(struct world *w, const char *name, const char *queue,
                                      int count, const char *cpu)
{
    (void)world_put(w, SL_KIND_WORKLOAD, world_new_workload("team", name, queue, count, cpu), NULL);
}

/* One pod of 1 cpu in team/lq that may run for so long. */
static inline void world_add_limited(struct world *w, const char *name, int64_t limit_s)
{
    struct sl_json *o = world_new_workload("team", name, "lq", 1, "1");
    sl_json_set_int(sl_json_get(o, "spec"), "maximumExecutionTimeSeconds", limit_s);
    (void)world_put(w, SL_KIND_WORKLOAD, o, NULL);
}

/* "spot" with 10 cpu in queue "cq", LocalQueue "team/lq", everything seen. */
static inline void world_add_basics(struct world *w)
{
    world_add_flavor(w, "spot", "{}");
    world_add_cluster_queue(w, "cq", "spot", "10", "");
    world_add_local_queue(w, "team", "lq", "cq");
    sl_engine_synced(w->engine, w->now_ms);
}

/* --- looking ---------------------------------------------------------------------------------- */

static inline struct sl_json *world_workload(struct world *w, const char *name)
{
    struct sl_json *o = world_get(w, SL_KIND_WORKLOAD, "team", name);
    assert_non_null(o);
    return o;
}

static inline void world_expect(struct world *w, const char *workload, const char *type,
                                const char *status, const char *reason)
{
    const struct sl_json *c = sl_condition_find(world_workload(w, workload), type);
    if (c == NULL) {
        fail_msg("%s has no condition %s", workload, type);
    }
    assert_string_equal(sl_json_path_text(c, "status", ""), status);
    assert_string_equal(sl_json_path_text(c, "reason", ""), reason);
}

static inline int64_t world_count(struct world *w, enum sl_kind kind, const char *ns,
                                  const char *name, const char *member)
{
    struct sl_json *status = sl_engine_queue_status(w->engine, kind, ns, name);
    assert_non_null(status);
    int64_t n = sl_json_path_int(status, member, -1);
    sl_json_free(status);
    return n;
}

static inline int64_t world_count_cq(struct world *w, const char *member)
{
    return world_count(w, SL_KIND_CLUSTER_QUEUE, "", "cq", member);
}

/* A list of all that sl_engine_pending_next says. */
static inline struct sl_json *world_pending(const struct world *w, const char *queue,
                                            const struct sl_pending_range *range)
{
    struct sl_json *list = sl_json_new_list(), *item;
    struct sl_pending *p = sl_engine_pending_new(w->engine, queue, range);
    while ((item = sl_engine_pending_next(w->engine, p)) != NULL) {
        sl_json_append(list, item);
    }
    sl_engine_pending_free(p);
    return list;
}
#endif
