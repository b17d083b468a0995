/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Opening and closing, and the doors through which objects come in. */
#include "engine/engine.h"
#include "engine/parents.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/quota/accounts.h"
#include "engine/calls/call.h"
#include "engine/conditions/given_back.h"
#include "engine/topology/constraints.h"
#include "engine/records/event_in.h"
#include "engine/decisions/follow.h"
#include "engine/journal/journal_turn.h"
#include "engine/requests/devices.h"
#include "engine/requests/limits.h"
#include "engine/decisions/node_health.h"
#include "engine/events/restand.h"
#include "engine/records/tenants.h"
#include "engine/journal/pack.h"
#include "engine/quota/parent_figures.h"
#include "engine/quota/quotas.h"
#include "engine/decisions/slices.h"
#include "engine/decisions/standing.h"
#include "engine/records/world.h"
#include "policy/queues/queues.h"
#include <string.h>

static bool opened; /* the core's state is one per process */

enum sl_code sl_engine_open(const struct sl_engine_options *options, struct sl_engine **out,
                            struct sl_error *e)
{
    SL_PRE(!opened && out != NULL);
    struct sl_engine *g = sl_mem_new(1, sizeof *g);
    bool given = options != NULL && options->settings != NULL;
    g->settings = given ? *options->settings : sl_engine_settings_default();
    enum sl_code code =
        sl_journal_open(options == NULL ? NULL : options->journal_dir, &g->journal, e);
    if (code != SL_CODE_OK) {
        sl_mem_free(g);
        return code;
    }
    if (options != NULL && options->journal_file_bytes > 0) {
        sl_journal_limit(g->journal, options->journal_file_bytes);
    }
    opened = true;
    g->names = sl_intern_new();
    g->local_queues = sl_map_new();
    g->namespaces = sl_map_new();
    g->run_times = sl_map_new();
    g->preemptor = SL_NO_ID;
    g->follow = sl_follow;
    g->reading = SL_NO_ID;
    g->constraints = sl_constraints_new();
    g->limits = sl_limits_new();
    g->devices = sl_devices_new();
    (void)sl_journal_append(g->journal, SL_JOURNAL_START, 0, NULL);
    enum sl_status set = sl_call(g, 0, settings, .settings = g->settings.policy);
    SL_PRE(set == SL_OK);
    sl_tell(g, 0, requeue_rules, .limited = g->settings.limit_requeues,
            .count_max = g->settings.requeues_max, .base_ms = g->settings.backoff_base_ms,
            .ms_max = g->settings.backoff_ms_max);
    sl_accounts_configure(g);
    sl_world_open(g);
    g->tenants = sl_tenants_new();
    g->health = sl_node_health_new();
    sl_tell(g, 0, pods_resource, .resource = sl_name_take(g, SL_INTERN_RESOURCE, "pods", 0));
    *out = g;
    return SL_CODE_OK;
}

/* Leave the core as it was before anything was observed, so that another engine may be opened. */
static void empty_core(struct sl_engine *g)
{
    for (sl_workload_id id = 0; id < g->workload_cap; id++) {
        if (g->workloads[id].uid != NULL) {
            sl_event_drop_workload(g, id, 0);
        }
    }
    for (struct sl_map_item e = {0}; sl_map_each(g->local_queues, &e);) {
        struct sl_local_queue *q = e.value.pointer;
        q->exists = false;
        sl_local_queue_drop_unused(g, q, 0);
    }
    for (sl_qnode_id qnode = 0; qnode < g->qnode_cap; qnode++) {
        if (g->qnodes[qnode] != NULL) {
            struct sl_error ignored = {0};
            g->qnodes[qnode]->exists = false;
            (void)sl_event_parent(g, qnode, "", "", 0, &ignored);
        }
    }
    sl_queues_flush();
    g->sweep = true;
    sl_qnode_sweep(g, 0);
}

void sl_engine_close(struct sl_engine *g)
{
    if (g == NULL) {
        return;
    }
    sl_journal_close(g->journal); /* what follows is no history */
    (void)sl_journal_open(NULL, &g->journal, NULL);
    g->synced = false;
    empty_core(g);
    sl_world_close(g);
    sl_accounts_fini(g);
    sl_journal_close(g->journal);
    for (uint32_t i = 0; i < g->flavor_cap; i++) {
        sl_json_free(g->flavors[i].spec);
    }
    sl_map_free_with(g->namespaces, sl_json_free_value);
    sl_map_free(g->run_times);
    sl_parent_figures_fini(g);
    sl_slice_fini(g);
    for (uint32_t i = g->touched_first; i < g->touched_count; i++) {
        sl_mem_free(g->touched[i].key);
    }
    sl_map_free(g->local_queues);
    sl_constraints_free(g->constraints);
    sl_limits_free(g->limits);
    sl_devices_free(g->devices);
    sl_node_health_free(g->health);
    sl_tenants_free(g->tenants);
    sl_timers_fini(&g->timers);
    sl_intern_free(g->names);
    sl_mem_free(g->flavors);
    sl_mem_free(g->qnodes);
    sl_mem_free(g->workloads);
    for (uint32_t i = 0; i < g->decision_count; i++) {
        sl_mem_free(g->decisions[(g->decision_first + i) % g->decision_cap].message);
    }
    sl_mem_free(g->decisions);
    sl_given_back_free(g);
    sl_mem_free(g->touched);
    sl_mem_free(g->granted);
    sl_mem_free(g->family_sizes);
    sl_mem_free(g->restless);
    sl_mem_free(g->lent);
    sl_mem_free(g);
    opened = false;
}

static void note_object(struct sl_engine *g, enum sl_kind kind, const struct sl_json *object,
                        bool deleted, int64_t now_ms)
{
    struct sl_buf payload = {0};
    pack_u8(&payload, (uint8_t)kind);
    pack_u8(&payload, deleted ? 1 : 0);
    pack_text(&payload, sl_object_resource_version(object));
    pack_text(&payload, sl_object_namespace(object));
    pack_text(&payload, sl_object_name(object));
    (void)sl_journal_append(g->journal, SL_JOURNAL_OBSERVE, now_ms, &payload);
    sl_buf_fini(&payload);
}

/* A Node or a Pod: what is free, and then who is concerned. */
static enum sl_code take_node(struct sl_engine *g, enum sl_kind kind, const struct sl_json *object,
                              bool deleted, int64_t now_ms, struct sl_error *e)
{
    enum sl_code code;
    if (kind == SL_KIND_NODE) {
        code = sl_event_from_node(g, object, deleted, now_ms, e);
        sl_node_health_node(g, object, deleted, now_ms);
    } else {
        code = sl_event_from_pod(g, object, deleted, now_ms, e);
        sl_node_health_pod(g, object, deleted, now_ms);
    }
    return code;
}

static enum sl_code take_workload(struct sl_engine *g, const struct sl_json *object, int64_t now_ms,
                                  struct sl_error *e)
{
    if (g->settings.concurrent_admission) {
        sl_parent_figures_take(g, object, sl_engine_is_parent(g, object));
    }
    return sl_event_from_workload(g, object, now_ms, e);
}

static void lose_workload(struct sl_engine *g, const struct sl_json *object, int64_t now_ms)
{
    if (g->settings.concurrent_admission) {
        sl_parent_figures_take(g, object, false);
    }
    sl_event_workload_gone(g, object, now_ms);
}

/* What becomes part of the core under its name, and leaves it. */
static const struct {
    enum sl_kind kind;
    enum sl_code (*is_there)(struct sl_engine *g, const struct sl_json *object, int64_t now_ms,
                             struct sl_error *e);
    void (*is_deleted)(struct sl_engine *g, const struct sl_json *object, int64_t now_ms);
} members[] = {
    {SL_KIND_COHORT, sl_event_from_cohort, sl_event_cohort_gone},
    {SL_KIND_CLUSTER_QUEUE, sl_event_from_cluster_queue, sl_event_cluster_queue_gone},
    {SL_KIND_LOCAL_QUEUE, sl_event_from_local_queue, sl_event_local_queue_gone},
    {SL_KIND_WORKLOAD, take_workload, lose_workload},
};

static enum sl_code take_member(struct sl_engine *g, enum sl_kind kind,
                                const struct sl_json *object, bool deleted, int64_t now_ms,
                                struct sl_error *e)
{
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (members[i].kind == kind && deleted) {
            members[i].is_deleted(g, object, now_ms);
        } else if (members[i].kind == kind) {
            return members[i].is_there(g, object, now_ms, e);
        }
    }
    return SL_CODE_OK; /* priority classes: their value stands in each Workload's spec.priority */
}

static enum sl_code take(struct sl_engine *g, enum sl_kind kind, const struct sl_json *object,
                         bool deleted, int64_t now_ms, struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    note_object(g, kind, object, deleted, now_ms);
    switch (kind) {
    case SL_KIND_NAMESPACE:
        sl_event_from_namespace(g, object, deleted, now_ms);
        break;
    case SL_KIND_LIMIT_RANGE:
        sl_limits_take_range(g->limits, object, deleted);
        break;
    case SL_KIND_RUNTIME_CLASS:
        sl_limits_take_class(g->limits, object, deleted);
        break;
    case SL_KIND_RESOURCE_CLAIM_TEMPLATE:
        sl_devices_take_template(g->devices, object, deleted);
        break;
    case SL_KIND_DEVICE_CLASS:
        sl_devices_take_class(g->devices, object, deleted);
        break;
    case SL_KIND_RESOURCE_SLICE:
        sl_devices_take_slice(g->devices, object, deleted);
        break;
    case SL_KIND_RESOURCE_FLAVOR:
        code = sl_event_from_flavor(g, object, deleted, now_ms);
        break;
    case SL_KIND_TOPOLOGY:
        code = sl_event_from_topology(g, object, deleted, now_ms, e);
        break;
    case SL_KIND_NODE:
    case SL_KIND_POD:
        code = take_node(g, kind, object, deleted, now_ms, e);
        break;
    case SL_KIND_ADMISSION_CHECK:
        sl_event_from_check(g, object, deleted, now_ms);
        break;
    default:
        code = take_member(g, kind, object, deleted, now_ms, e);
    }
    if (!deleted && (kind == SL_KIND_RESOURCE_FLAVOR || kind == SL_KIND_TOPOLOGY)) {
        sl_restand_settle(g, now_ms);
    }
    return code;
}

bool sl_engine_counts_devices(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    return sl_engine_settings_count_devices(&g->settings);
}

bool sl_engine_wants_requests(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    return sl_devices_changed(g->devices);
}

bool sl_engine_settle_requests(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    return sl_devices_settle(g);
}

enum sl_code sl_engine_observe(struct sl_engine *g, enum sl_kind kind, const struct sl_json *object,
                               int64_t now_ms, struct sl_error *e)
{
    struct sl_error local = {0};
    struct sl_error *why = e == NULL ? &local : e;
    SL_PRE(g != NULL && object != NULL && now_ms >= 0);
    if (sl_object_name(object)[0] == '\0') {
        return sl_error_set(why, SL_CODE_BAD_REQUEST, "the object has no name");
    }
    g->now_ms = now_ms;
    g->news = 0;
    g->world->round++;
    return take(g, kind, object, false, now_ms, why);
}

void sl_engine_forget(struct sl_engine *g, enum sl_kind kind, const struct sl_json *object,
                      int64_t now_ms)
{
    SL_PRE(g != NULL && object != NULL && now_ms >= 0);
    g->now_ms = now_ms;
    (void)take(g, kind, object, true, now_ms, NULL);
}

void sl_engine_synced(struct sl_engine *g, int64_t now_ms)
{
    SL_PRE(g != NULL);
    if (g->synced) {
        return;
    }
    g->synced = true;
    for (sl_workload_id id = 0; id < g->workload_cap; id++) {
        if (g->workloads[id].uid != NULL) {
            sl_standing_update(g, id, now_ms);
        }
    }
    sl_accounts_sample(g, now_ms);
    g->sweep = true;
    sl_qnode_sweep(g, now_ms);
    sl_journal_end_turn(g, now_ms);
}
