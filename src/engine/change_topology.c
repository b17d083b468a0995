/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rooms, trees, masks and what pod sets ask of them, as changes of the core. */
#include "engine/change_topology.h"
#include "policy/masks.h"
#include "policy/offers.h"
#include "policy/passes.h"
#include "policy/placement.h"
#include "policy/queues.h"
#include "policy/tolerances.h"
#include "policy/topology_demand.h"
#include "policy/trees.h"

/* --- lists ------------------------------------------------------------------------------------ */

void sl_change_list_topology(struct sl_buf *list, const struct sl_topology_demand *d)
{
    pack_u8(list, SL_TAG_TOPOLOGY);
    pack_u8(list, (uint8_t)d->together);
    pack_u32(list, d->level);
    pack_u8(list, d->asked ? 1 : 0);
    pack_u32(list, d->mask);
    pack_u32(list, d->rank_group);
    pack_u32(list, d->layer_count);
    for (uint32_t i = 0; i < d->layer_count; i++) {
        pack_u32(list, d->layers[i].level);
        pack_u32(list, d->layers[i].size);
    }
    pack_u32(list, d->request_count);
    for (uint32_t i = 0; i < d->request_count; i++) {
        pack_u32(list, d->requests[i].measure);
        pack_i64(list, d->requests[i].per_pod);
    }
}

void sl_change_list_stand_set(struct sl_buf *list, uint32_t pod_set, sl_tree_id tree,
                              uint32_t count)
{
    pack_u8(list, SL_TAG_STAND_SET);
    pack_u32(list, pod_set);
    pack_u32(list, tree);
    pack_u32(list, count);
}

void sl_change_list_stand(struct sl_buf *list, sl_domain_id domain, uint32_t count)
{
    pack_u8(list, SL_TAG_STAND);
    pack_u32(list, domain);
    pack_u32(list, count);
}

void sl_change_list_stand_request(struct sl_buf *list, sl_measure_id measure, int64_t per_pod)
{
    pack_u8(list, SL_TAG_STAND_REQUEST);
    pack_u32(list, measure);
    pack_i64(list, per_pod);
}

void sl_change_list_verdict(struct sl_buf *list, sl_site_id site, uint8_t verdict)
{
    pack_u8(list, SL_TAG_VERDICT);
    pack_u32(list, site);
    pack_u8(list, verdict);
}

void sl_change_list_score(struct sl_buf *list, sl_site_id site, int64_t score)
{
    pack_u8(list, SL_TAG_SCORE);
    pack_u32(list, site);
    pack_i64(list, score);
}

/* --- demands ---------------------------------------------------------------------------------- */

enum sl_status sl_change_add_topology(sl_workload_id id, struct unpack *u)
{
    struct sl_topology_demand d = {0};
    d.together = (enum sl_together)unpack_u8(u);
    d.level = unpack_u32(u);
    d.asked = unpack_u8(u) != 0;
    d.mask = unpack_u32(u);
    d.rank_group = unpack_u32(u);
    d.layer_count = unpack_u32(u);
    if (d.layer_count > SL_LAYERS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    for (uint32_t i = 0; i < d.layer_count; i++) {
        d.layers[i].level = unpack_u32(u);
        d.layers[i].size = unpack_u32(u);
    }
    d.request_count = unpack_u32(u);
    if (d.request_count > SL_TOPOLOGY_REQUESTS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    for (uint32_t i = 0; i < d.request_count; i++) {
        d.requests[i].measure = unpack_u32(u);
        d.requests[i].per_pod = unpack_i64(u);
    }
    return u->failed ? SL_REFUSED_BAD_ARGUMENT : sl_topology_demand_set(id, d);
}

static enum sl_status set_demand_mask(sl_workload_id id, uint32_t index, sl_mask_id mask)
{
    uint32_t pod_set = sl_demand_first_pod_set(id);
    while (pod_set != SL_NO_ID && index > 0) {
        pod_set = sl_demand_next_pod_set(pod_set);
        index--;
    }
    return pod_set == SL_NO_ID ? SL_REFUSED_BAD_ARGUMENT
                               : sl_topology_demand_set_mask(pod_set, mask);
}

/* --- where a workload stands ------------------------------------------------------------------ */

static struct {
    uint32_t count;
    struct {
        uint32_t pod_set;
        sl_tree_id tree;
        uint32_t pods;
    } sets[SL_TOPOLOGY_SETS_MAX];
} granted; /* also those that are not placed yet */

void sl_change_begin_stands(sl_workload_id id)
{
    sl_topology_plan.workload = id;
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
    granted.count = 0;
}

static enum sl_status begin_set(struct unpack *u)
{
    uint32_t at = granted.count;
    if (at == SL_TOPOLOGY_SETS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    granted.sets[at].pod_set = unpack_u32(u);
    granted.sets[at].tree = unpack_u32(u);
    granted.sets[at].pods = unpack_u32(u);
    granted.count++;
    return SL_OK;
}

/* The set of the plan that is being filled, begun with the first row of a pod set. */
static struct sl_topology_set *plan_set(void)
{
    struct sl_topology_plan *plan = &sl_topology_plan;
    uint32_t last = granted.count - 1;
    if (plan->set_count == 0 ||
        plan->sets[plan->set_count - 1].pod_set != granted.sets[last].pod_set) {
        plan->sets[plan->set_count++] =
            (struct sl_topology_set){.pod_set = granted.sets[last].pod_set,
                                     .count = granted.sets[last].pods,
                                     .tree = granted.sets[last].tree,
                                     .within = SL_NO_ID,
                                     .first_row = plan->row_count};
    }
    return &plan->sets[plan->set_count - 1];
}

enum sl_status sl_change_add_stand(uint8_t tag, struct unpack *u)
{
    if (tag == SL_TAG_STAND_SET) {
        return begin_set(u);
    }
    if (granted.count == 0 || (tag != SL_TAG_STAND && tag != SL_TAG_STAND_REQUEST)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    struct sl_topology_set *set = plan_set();
    uint32_t first = unpack_u32(u);
    if (tag == SL_TAG_STAND) {
        if (sl_topology_plan.row_count == SL_TOPOLOGY_ROWS_MAX) {
            return SL_REFUSED_BAD_ARGUMENT;
        }
        sl_topology_plan.rows[sl_topology_plan.row_count++] =
            (struct sl_topology_row){first, unpack_u32(u)};
        set->row_count++;
        return SL_OK;
    }
    if (set->request_count == SL_TOPOLOGY_REQUESTS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    set->requests[set->request_count++] = (struct sl_topology_request){first, unpack_i64(u)};
    return SL_OK;
}

void sl_change_end_stands(bool restored)
{
    for (uint32_t i = 0; restored && i < granted.count; i++) {
        sl_passes_grant(sl_topology_plan.workload, granted.sets[i].pod_set, granted.sets[i].tree,
                        granted.sets[i].pods);
    }
    granted.count = 0;
}

/* --- carrying out ----------------------------------------------------------------------------- */

static enum sl_status perform_tree(const struct sl_change *c)
{
    struct sl_tree_levels levels = {.count = c->word[2]};
    if ((c->word[1] & 1u) == 0) {
        return sl_trees_forget(c->word[0]);
    }
    for (uint32_t i = 0; i < levels.count && i < SL_DEPTHS_MAX; i++) {
        levels.ids[i] = c->word[3 + i];
    }
    return sl_trees_configure(c->word[0], levels, (c->word[1] & 2u) != 0);
}

static enum sl_status say(sl_mask_id mask, uint8_t tag, struct unpack *u)
{
    sl_site_id site = unpack_u32(u);
    if (tag == SL_TAG_VERDICT) {
        return sl_masks_set(mask, site, unpack_u8(u));
    }
    if (tag != SL_TAG_SCORE) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    /* Where too many masks have preferences its own do not count; its verdicts do. */
    enum sl_status status = sl_masks_prefer(mask, site, unpack_i64(u));
    return status == SL_FULL_WORKLOADS ? SL_OK : status;
}

static enum sl_status perform_mask(const struct sl_change *c)
{
    const unsigned char *data =
        c->list == NULL ? NULL : (const unsigned char *)(const void *)c->list->data;
    struct unpack u = {data, data == NULL ? NULL : data + c->list->len, false};
    enum sl_status status = c->word[1] != 0 ? sl_masks_clear(c->word[0]) : SL_OK;
    while (status == SL_OK && u.at < u.end && !u.failed) {
        uint8_t tag = unpack_u8(&u);
        status = say(c->word[0], tag, &u);
    }
    return u.failed ? SL_REFUSED_BAD_ARGUMENT : status;
}

static enum sl_status perform_link(const struct sl_change *c)
{
    switch (c->kind) {
    case SL_CHANGE_MASK_LINK:
        return sl_tolerances_link(c->word[0], c->word[1], c->word[2]);
    case SL_CHANGE_TOLERANCE:
        return sl_tolerances_set(c->word[0], c->word[1]);
    case SL_CHANGE_DELAYED:
        sl_offers_set_delayed(c->word[0], c->word[1] != 0);
        return SL_OK;
    case SL_CHANGE_SINGLE_POD:
        sl_demand_set_single_pod(c->word[0], c->word[1] != 0);
        return SL_OK;
    case SL_CHANGE_MEASURE:
        sl_offers_set_measure(c->word[0], c->word[1]);
        return SL_OK;
    case SL_CHANGE_MEASURE_RANK:
        sl_placement_rank_measure(c->word[0], c->word[1]);
        return SL_OK;
    case SL_CHANGE_WAKE_PASSES:
        sl_passes_note_room(c->word[0], c->number[0]);
        return SL_OK;
    case SL_CHANGE_DEMAND_MASK:
        return set_demand_mask(c->word[0], c->word[1], c->word[2]);
    default:
        return SL_REFUSED_BAD_ARGUMENT;
    }
}

enum sl_status sl_change_perform_topology(const struct sl_change *c)
{
    switch (c->kind) {
    case SL_CHANGE_ROOM:
        return sl_room_set_capacity(c->word[0], c->word[1], c->number[0]);
    case SL_CHANGE_TREE:
        return perform_tree(c);
    case SL_CHANGE_TREE_RANK:
        sl_trees_set_rank(c->word[0], c->word[1]);
        return SL_OK;
    case SL_CHANGE_OPEN_DOMAIN:
        return sl_trees_open(c->word[0], c->word[1], c->word[2], c->word[3], c->word[4]);
    case SL_CHANGE_CLOSE_DOMAIN:
        return sl_trees_close(c->word[0]);
    case SL_CHANGE_MASK:
        return perform_mask(c);
    default:
        return perform_link(c);
    }
}
