/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quota and nodes that a workload held before this daemon was there. */
#include "engine/calls/carry.h"
#include "base/check.h"
#include "kernel/commit/commit.h"
#include "kernel/commit/placement.h"
#include "policy/queues/passes.h"
#include "policy/queues/queues.h"

static struct {
    uint32_t count;
    struct sl_item_assigned_set sets[SL_TOPOLOGY_SETS_MAX];
} granted; /* also those that are not placed yet */

static enum sl_status add_usage_row(struct sl_item_usage usage)
{
    if (sl_plan.usage_count == SL_USAGE_CELLS_MAX) {
        return SL_FULL_USAGE;
    }
    sl_plan.usage[sl_plan.usage_count++] = (struct sl_cell_amount){usage.cell, usage.amount};
    return SL_OK;
}

static enum sl_status add_set(struct sl_item_assigned_set set)
{
    if (granted.count == SL_TOPOLOGY_SETS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    granted.sets[granted.count++] = set;
    return SL_OK;
}

/* The set of the plan that is being filled, begun with the first row of a pod set. */
static struct sl_topology_set *plan_set(void)
{
    struct sl_topology_plan *plan = &sl_topology_plan;
    const struct sl_item_assigned_set *last = &granted.sets[granted.count - 1];
    if (plan->set_count == 0 || plan->sets[plan->set_count - 1].pod_set != last->pod_set) {
        plan->sets[plan->set_count++] = (struct sl_topology_set){.pod_set = last->pod_set,
                                                                 .count = last->count,
                                                                 .tree = last->tree,
                                                                 .within = SL_NO_ID,
                                                                 .first_row = plan->row_count};
    }
    return &plan->sets[plan->set_count - 1];
}

static enum sl_status add_row(struct sl_item_assigned_row row)
{
    if (granted.count == 0 || sl_topology_plan.row_count == SL_TOPOLOGY_ROWS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    plan_set()->row_count++;
    sl_topology_plan.rows[sl_topology_plan.row_count++] =
        (struct sl_topology_row){row.domain, row.count};
    return SL_OK;
}

static enum sl_status add_need(struct sl_item_assigned_need need)
{
    if (granted.count == 0 || plan_set()->request_count == SL_TOPOLOGY_REQUESTS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    struct sl_topology_set *set = plan_set();
    set->requests[set->request_count++] = (struct sl_measure_amount){need.measure, need.per_pod};
    return SL_OK;
}

static enum sl_status add(const struct sl_item *item)
{
    switch (item->kind) {
    case SL_ITEM_usage:
        return add_usage_row(item->usage);
    case SL_ITEM_assigned_set:
        return add_set(item->assigned_set);
    case SL_ITEM_assigned_row:
        return add_row(item->assigned_row);
    case SL_ITEM_assigned_need:
        return add_need(item->assigned_need);
    default:
        return SL_REFUSED_BAD_ARGUMENT;
    }
}

static enum sl_status read_plan(const struct sl_call_restore *v)
{
    enum sl_status status = SL_OK;
    struct unpack u = sl_item_first(v->list);
    struct sl_item item;
    sl_plan.usage_count = 0;
    sl_topology_plan.workload = v->workload;
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
    granted.count = 0;
    while (status == SL_OK && sl_item_next(&u, &item)) {
        status = add(&item);
    }
    return u.failed ? SL_REFUSED_BAD_ARGUMENT : status;
}

struct sl_transition sl_carry_restore(const struct sl_call_restore *v)
{
    SL_PRE(v != NULL);
    sl_plan.workload = v->workload;
    sl_plan.generation = v->generation;
    sl_plan.cluster_queue = v->cluster_queue;
    sl_plan.topology_pending = v->topology_pending;
    sl_plan.now_ms = v->at_ms;
    struct sl_transition did = {.status = read_plan(v)};
    if (did.status == SL_OK) {
        did = sl_transition_restore();
    }
    for (uint32_t i = 0; did.status == SL_OK && i < granted.count; i++) {
        sl_passes_grant(v->workload, granted.sets[i].pod_set, granted.sets[i].tree,
                        granted.sets[i].count);
    }
    sl_queues_settle(v->workload, v->at_ms);
    sl_passes_settle(v->workload, v->at_ms);
    return did;
}
