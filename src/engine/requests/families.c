/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/requests/families.h"
#include "api/kinds/elastic.h"
#include "api/kinds/variant.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/parents.h"
#include "engine/requests/allowed.h"
#include "kernel/commit/variants.h"
#include "policy/requests/migration_limit.h"
#include <string.h>

/* A queue with variants has one resource group. SL_NO_ID: it does not offer this flavor. */
static uint32_t position(const struct sl_engine *g, sl_qnode_id qnode, const char *flavor)
{
    const struct sl_qnode_entry *n = qnode == SL_NO_ID ? NULL : g->qnodes[qnode];
    sl_flavor_id id = sl_intern_find(g->names, SL_INTERN_FLAVOR, flavor);
    if (n == NULL || n->quotas.group_count == 0 || id == SL_NO_ID) {
        return SL_NO_ID;
    }
    const struct sl_group *group = &n->quotas.groups[0];
    for (uint32_t i = 0; i < group->flavor_count; i++) {
        if (group->flavors[i] == id) {
            return i;
        }
    }
    return SL_NO_ID;
}

/* --- families --------------------------------------------------------------------------------- */

static uint32_t family_of(const struct sl_workload_entry *e)
{
    return e->family == 0 ? SL_NO_ID : e->family - 1;
}

static void drop_from_family(struct sl_engine *g, struct sl_workload_entry *e)
{
    uint32_t family = family_of(e);
    if (family != SL_NO_ID && --g->family_sizes[family] == 0) {
        sl_intern_drop(g->names, SL_INTERN_FAMILY, family);
    }
    e->family = 0;
}

static void enter_family(struct sl_engine *g, struct sl_workload_entry *e, const char *parent_uid,
                         int64_t now_ms)
{
    uint32_t family = sl_name_take(g, SL_INTERN_FAMILY, parent_uid, now_ms);
    SL_ASSERT(family != SL_NO_ID); /* there may be as many as workloads */
    g->family_sizes =
        sl_mem_reach(g->family_sizes, &g->family_cap, 64, family, sizeof *g->family_sizes);
    g->family_sizes[family]++;
    e->family = family + 1;
}

/* The first of the flavors that it is allowed. */
static char *flavor_new(const struct sl_engine *g, const struct sl_json *object)
{
    const char *allowed = sl_allowed_flavors(g, object);
    if (allowed == NULL) {
        return NULL;
    }
    allowed += strspn(allowed, " ");
    return sl_mem_text_n(allowed, strcspn(allowed, ", "));
}

static char *parent_new(const struct sl_json *object)
{
    struct sl_buf key = {0};
    sl_buf_print(&key, "%s/%s", sl_object_namespace(object),
                 sl_json_path_text(sl_variant_parent(object), "name", ""));
    char *parent = sl_mem_text(key.data);
    sl_buf_fini(&key);
    return parent;
}

void sl_family_take(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                    int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    const char *uid = g->settings.concurrent_admission
                          ? sl_json_path_text(sl_variant_parent(object), "uid", "")
                          : "";
    const char *was =
        e->family == 0 ? "" : sl_intern_name(g->names, SL_INTERN_FAMILY, family_of(e));
    if (strcmp(uid, was) != 0) {
        drop_from_family(g, e);
        if (uid[0] != '\0') {
            enter_family(g, e, uid, now_ms);
        }
    }
    sl_mem_free(e->variant_flavor);
    sl_mem_free(e->parent);
    e->variant_flavor = e->family == 0 ? NULL : flavor_new(g, object);
    e->parent = e->family == 0 ? NULL : parent_new(object);
    sl_family_update(g, id, now_ms);
}

/* Of 17 the last one is out of its family, and so is not tried (sl_family_keeps_out): else it could get quota beside another.
 * Where nothing says which flavor it is a variant of, or its queue lacks that, it comes last. */
void sl_family_update(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    SL_PRE(g != NULL);
    const struct sl_workload_entry *e = &g->workloads[id];
    uint32_t family = family_of(e);
    uint32_t rank = e->variant_flavor == NULL || e->queue == NULL
                        ? SL_NO_ID
                        : position(g, e->queue->cluster_queue, e->variant_flavor);
    rank = rank == SL_NO_ID ? SL_VARIANTS_MAX : rank;
    bool same = family == SL_NO_ID
                    ? sl_variants_family(id) == SL_NO_ID
                    : sl_variants_family(id) == family && sl_variants_rank(id) == rank;
    if (!same &&
        sl_call(g, now_ms, variant, .workload = id, .family = family, .rank = rank) != SL_OK) {
        sl_expect(g, now_ms, variant, .workload = id, .family = SL_NO_ID, .rank = 0);
    }
}

sl_workload_id sl_family_next(const struct sl_engine *g, sl_workload_id id, sl_workload_id last)
{
    SL_PRE(g != NULL && id < g->workload_cap);
    uint32_t family = g->workloads[id].family;
    sl_workload_id next = last == SL_NO_ID ? 0 : last + 1;
    for (; family != 0 && next < g->workload_cap; next++) {
        if (next != id && g->workloads[next].uid != NULL && g->workloads[next].family == family) {
            return next;
        }
    }
    return SL_NO_ID;
}

void sl_family_leave(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    drop_from_family(g, e);
    sl_mem_free(e->variant_flavor);
    sl_mem_free(e->parent);
    e->variant_flavor = e->parent = NULL;
    sl_family_update(g, id, now_ms);
}

const char *sl_family_name_in_pods(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL && id < g->workload_cap);
    const char *parent = g->workloads[id].parent;
    return parent != NULL ? parent : sl_intern_name(g->names, SL_INTERN_WORKLOAD, id);
}

/* --- the policy of a queue -------------------------------------------------------------------- */

bool sl_family_limit(struct sl_engine *g, sl_qnode_id qnode, const struct sl_json *object,
                     int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_qnode_entry *n = g->qnodes[qnode];
    const struct sl_json *policy = g->settings.concurrent_admission
                                       ? sl_json_path(object, "spec.concurrentAdmissionPolicy")
                                       : NULL;
    const char *last =
        sl_json_path_text(policy, "migration.constraints.lastAcceptableFlavorName", "");
    uint32_t limit = SL_NO_ID;
    if (strcmp(sl_json_path_text(policy, "migration.mode", ""), "RetainFirstAdmission") == 0) {
        limit = 0;
    } else if (last[0] != '\0' && position(g, qnode, last) != SL_NO_ID) {
        limit = position(g, qnode, last) + 1;
    }
    if (sl_migration_limit(qnode) != limit) {
        sl_tell(g, now_ms, migration_limit, .cluster_queue = qnode, .limit = limit);
    }
    bool had = n->has_variants;
    n->has_variants = sl_json_type(policy) == SL_JSON_MAP;
    return had != n->has_variants;
}

/* --- parents ---------------------------------------------------------------------------------- */

static bool has_variants(const struct sl_engine *g, const struct sl_local_queue *q)
{
    return q != NULL && q->cluster_queue != SL_NO_ID && g->qnodes[q->cluster_queue]->has_variants;
}

bool sl_family_is_parent(const struct sl_engine *g, const struct sl_json *object)
{
    SL_PRE(g != NULL);
    if (!g->settings.concurrent_admission || sl_variant_parent(object) != NULL) {
        return false;
    }
    if (sl_variant_has_parent_label(object) || sl_condition_true(object, "QuotaReserved")) {
        return sl_variant_has_parent_label(object);
    }
    if (g->settings.elastic_jobs && sl_is_elastic(object)) {
        return false;
    }
    struct sl_buf key = {0};
    sl_buf_print(&key, "%s/%s", sl_object_namespace(object),
                 sl_json_path_text(object, "spec.queueName", ""));
    bool is = has_variants(g, sl_map_find(g->local_queues, key.data));
    sl_buf_fini(&key);
    return is;
}

bool sl_family_stays_out(const struct sl_engine *g, const struct sl_json *object)
{
    SL_PRE(g != NULL);
    bool left_behind = !g->settings.concurrent_admission && sl_variant_parent(object) != NULL &&
                       sl_object_annotation(object, SL_ANNOTATION_ALLOWED_FLAVORS) != NULL;
    return left_behind || sl_family_is_parent(g, object);
}

bool sl_family_keeps_out(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    const struct sl_workload_entry *e = &g->workloads[id];
    if (sl_workloads[id].phase != SL_PHASE_PENDING) {
        return false;
    }
    bool elastic = e->pod_set_count > 0 && e->pod_sets[0].elastic;
    return e->family == 0 ? !elastic && has_variants(g, e->queue)
                          : sl_variants_family(id) == SL_NO_ID;
}

bool sl_engine_admits_concurrently(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    return g->settings.concurrent_admission;
}

bool sl_engine_is_parent(const struct sl_engine *g, const struct sl_json *workload)
{
    return sl_family_is_parent(g, workload);
}
