/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What workloads ask for, of quota and of nodes. */
#include "engine/calls/carry.h"
#include "base/check.h"
#include "policy/queues/queues.h"
#include "policy/requests/requests.h"
#include "policy/requests/slices.h"
#include "policy/requests/topology_request.h"
#include "policy/queues/turns.h"

static enum sl_status add_layer(struct sl_topology_request *d, struct sl_item_layer layer)
{
    if (d->layer_count == SL_LAYERS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    d->layers[d->layer_count].level = layer.level;
    d->layers[d->layer_count++].size = layer.size;
    return SL_OK;
}

static enum sl_status add_need(struct sl_topology_request *d, struct sl_item_need need)
{
    if (d->request_count == SL_TOPOLOGY_REQUESTS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    d->requests[d->request_count++] = (struct sl_measure_amount){need.measure, need.per_pod};
    return SL_OK;
}

/* With the layers and needs that came before. */
static enum sl_status set_topology(sl_workload_id id, struct sl_topology_request *d,
                                   struct sl_item_topology t)
{
    d->together = t.together;
    d->level = t.level;
    d->asked = t.asked;
    d->elastic = t.elastic;
    d->mask = t.mask;
    d->rank_group = t.rank_group;
    enum sl_status status = sl_topology_request_set(id, *d);
    *d = (struct sl_topology_request){0};
    return status;
}

static enum sl_status add(sl_workload_id id, const struct sl_item *item,
                          struct sl_topology_request *d)
{
    switch (item->kind) {
    case SL_ITEM_pod_set:
        return sl_requests_add_pod_set(id, item->pod_set.count);
    case SL_ITEM_request:
        return sl_requests_add(id, item->request.resource, item->request.amount);
    case SL_ITEM_exclusion:
        return sl_requests_add_exclusion(id, item->exclusion.flavor, item->exclusion.why);
    case SL_ITEM_min_count:
        return sl_requests_set_min_count(id, item->min_count.count);
    case SL_ITEM_group:
        return sl_requests_set_group(id, item->group.group);
    case SL_ITEM_fingerprint:
        return sl_requests_set_fingerprint(id, item->fingerprint.of);
    case SL_ITEM_layer:
        return add_layer(d, item->layer);
    case SL_ITEM_need:
        return add_need(d, item->need);
    case SL_ITEM_topology:
        return set_topology(id, d, item->topology);
    default:
        return SL_REFUSED_BAD_ARGUMENT;
    }
}

enum sl_status sl_carry_requests(const struct sl_call_request *v)
{
    SL_PRE(v != NULL);
    enum sl_status status = SL_OK;
    struct sl_topology_request d = {0};
    struct unpack u = sl_item_first(v->list);
    struct sl_item item;
    sl_requests_clear(v->workload);
    while (status == SL_OK && sl_item_next(&u, &item)) {
        status = add(v->workload, &item, &d);
    }
    status = u.failed ? SL_REFUSED_BAD_ARGUMENT : status;
    if (status != SL_OK) {
        sl_requests_clear(v->workload);
    }
    return status;
}

enum sl_status sl_carry_request_mask(const struct sl_call_request_mask *v)
{
    SL_PRE(v != NULL);
    uint32_t record = sl_requests_first_pod_set(v->workload);
    for (uint32_t i = v->pod_set; record != SL_NO_ID && i > 0; i--) {
        record = sl_requests_next_pod_set(record);
    }
    return record == SL_NO_ID ? SL_REFUSED_BAD_ARGUMENT
                              : sl_topology_request_set_mask(record, v->mask);
}

/* --- whose place it takes ---------------------------------------------------------------------- */

enum sl_status sl_carry_slice(const struct sl_call_slice *v)
{
    SL_PRE(v != NULL);
    enum sl_status status = SL_OK;
    struct unpack u = sl_item_first(v->list);
    struct sl_item item;
    sl_slices_set(v->workload, v->old, v->generation);
    while (status == SL_OK && sl_item_next(&u, &item)) {
        status = item.kind == SL_ITEM_kept
                     ? sl_slices_keep(v->workload, item.kept.pod_set, item.kept.flavor)
                     : SL_REFUSED_BAD_ARGUMENT;
    }
    status = u.failed ? SL_REFUSED_BAD_ARGUMENT : status;
    if (status != SL_OK) {
        sl_slices_set(v->workload, SL_NO_ID, 0);
    }
    sl_queues_retry(v->workload, v->now_ms);
    return status;
}

/* --- nodes that pods may use ------------------------------------------------------------------ */

static enum sl_status judge(sl_mask_id mask, const struct sl_item *item)
{
    if (item->kind == SL_ITEM_verdict) {
        return sl_masks_set(mask, item->verdict.site, item->verdict.verdict);
    }
    if (item->kind != SL_ITEM_score) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    /* Where too many masks have preferences its own do not count; its verdicts do. */
    enum sl_status status = sl_masks_prefer(mask, item->score.site, item->score.score);
    return status == SL_FULL_WORKLOADS ? SL_OK : status;
}

enum sl_status sl_carry_mask(const struct sl_call_mask *v)
{
    SL_PRE(v != NULL);
    enum sl_status status = v->anew ? sl_masks_clear(v->mask) : SL_OK;
    struct unpack u = sl_item_first(v->list);
    struct sl_item item;
    while (status == SL_OK && sl_item_next(&u, &item)) {
        status = judge(v->mask, &item);
    }
    return u.failed ? SL_REFUSED_BAD_ARGUMENT : status;
}

/* --- what has been used ----------------------------------------------------------------------- */

/* What an account has used decides which head its queue has. */
enum sl_status sl_carry_sample(const struct sl_call_usage_sample *v)
{
    SL_PRE(v != NULL);
    struct unpack u = sl_item_first(v->list);
    struct sl_item item;
    sl_usage_sample_begin(v->account, v->now_ms);
    while (sl_item_next(&u, &item)) {
        if (item.kind == SL_ITEM_request) {
            sl_usage_sample_running(item.request.resource, item.request.amount);
        } else {
            u.failed = true;
        }
    }
    sl_usage_sample_end();
    sl_turns_refresh(v->cluster_queue);
    return u.failed ? SL_REFUSED_BAD_ARGUMENT : SL_OK;
}
