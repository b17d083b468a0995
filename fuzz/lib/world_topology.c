/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The hosts of the little cluster, and what asks for them. Of two shapes: two racks of two hosts, or two blocks of two
 * such racks. The other flavor may have a topology, too: the same hosts without racks. */
#include "fuzz/lib/check.h"
#include "fuzz/lib/world.h"
#include "policy/cycle/cycle.h"
#include "policy/requests/offers.h"
#include "policy/placement/placement.h"
#include "policy/queues/queues.h"
#include "policy/topology/tolerances.h"
#include "policy/requests/topology_request.h"
#include "policy/topology/trees.h"

enum { LEVEL_RACK = 1, LEVEL_HOST = 2, LEVEL_BLOCK = 3, LEVEL_NONE = 9 };
enum { HOST_PODS = 6, HOST_CPU = 12 };

static const struct sl_tree_levels two_levels = {2, {LEVEL_RACK, LEVEL_HOST}};
static const struct sl_tree_levels three_levels = {3, {LEVEL_BLOCK, LEVEL_RACK, LEVEL_HOST}};
static const struct sl_tree_levels one_level = {1, {LEVEL_HOST}};
static bool has_blocks, has_bare_hosts;

static uint32_t host_count(void)
{
    return has_blocks ? HOSTS : HOSTS / 2;
}

static sl_domain_id before(uint32_t i, sl_domain_id first)
{
    return i % 2 == 0 ? SL_NO_ID : first + i - 1;
}

static void open_upper(void)
{
    for (uint32_t b = 0; has_blocks && b < 2; b++) {
        CHECK(sl_trees_open(BLOCK + b, PLACED, SL_NO_ID, before(b, BLOCK), SL_NO_ID) == SL_OK);
    }
    for (uint32_t r = 0; r < host_count() / 2; r++) {
        sl_domain_id up = has_blocks ? BLOCK + r / 2 : SL_NO_ID;
        CHECK(sl_trees_open(RACK + r, PLACED, up, before(r, RACK), SL_NO_ID) == SL_OK);
    }
}

static void open_bare(bool ends_at_nodes)
{
    CHECK(sl_trees_configure(PLAIN, one_level, ends_at_nodes) == SL_OK);
    for (uint32_t h = 0; h < host_count(); h++) {
        sl_domain_id after = h == 0 ? SL_NO_ID : BARE_HOST + h - 1;
        CHECK(sl_trees_open(BARE_HOST + h, PLAIN, SL_NO_ID, after, h) == SL_OK);
    }
}

void world_open_trees(uint32_t shape)
{
    bool ends_at_nodes = (shape & 24) != 24;
    has_blocks = shape & 1;
    has_bare_hosts = (shape & 6) == 6;
    sl_offers_set_measure(CPU, CPU);
    sl_offers_set_measure(MEMORY, MEMORY);
    CHECK(sl_trees_configure(PLACED, has_blocks ? three_levels : two_levels, ends_at_nodes) ==
          SL_OK);
    open_upper();
    for (uint32_t h = 0; h < host_count(); h++) {
        CHECK(sl_trees_open(HOST + h, PLACED, RACK + h / 2, before(h, HOST), h) == SL_OK);
        CHECK(sl_site_set_capacity(h, SL_MEASURE_PODS, HOST_PODS) == SL_OK);
        CHECK(sl_site_set_capacity(h, CPU, HOST_CPU) == SL_OK);
        CHECK(sl_site_set_capacity(h, MEMORY, HOST_CPU) == SL_OK);
    }
    if (has_bare_hosts) {
        open_bare(ends_at_nodes);
    } else if ((shape & 30) == 28) { /* its Topology is missing */
        CHECK(sl_trees_configure(PLAIN, (struct sl_tree_levels){0, {0}}, true) == SL_OK);
    }
    sl_trees_set_rank(PLACED, shape >> 5 & 1);
    sl_placement_rank_measure(CPU, shape >> 6);
}

/* --- demands ------------------------------------------------------------------------------------ */

static void ask_layers(struct sl_topology_request *d, uint32_t how, uint32_t more)
{
    static const sl_level_id below[] = {LEVEL_BLOCK, LEVEL_RACK, LEVEL_HOST};
    d->layer_count = 1;
    d->layers[0].level = how & 32 ? LEVEL_HOST : LEVEL_RACK;
    d->layers[0].size = 1 + how / 64;
    if ((more & 12) == 12) { /* several, each a part of the one before; or what looks like it */
        d->layer_count = more & 16 ? 3 : 2;
        for (uint32_t i = 0; i < d->layer_count; i++) {
            d->layers[i].level = below[i + 3 - d->layer_count];
            d->layers[i].size = more & 32 ? 4u >> i : how / 64 + more / 64 - i;
        }
    }
}

void world_ask_topology(struct producer *p, sl_workload_id id, int64_t cpu)
{
    uint32_t how = producer_byte(p), more = producer_byte(p);
    struct sl_topology_request d = {.together =
                                        how % 2 ? SL_TOGETHER_REQUIRED : SL_TOGETHER_PREFERRED,
                                    .level = how & 4 ? LEVEL_RACK : LEVEL_HOST,
                                    .asked = true,
                                    .elastic = how & 64,
                                    .mask = how & 128 ? how / 4 % 2 : SL_NO_ID,
                                    .rank_group = how & 8 ? 1 : SL_NO_ID,
                                    .request_count = 1};
    d.requests[0] = (struct sl_measure_amount){CPU, cpu};
    if (how & 16) {
        ask_layers(&d, how, more);
    }
    if (more % 4 == 1 && how % 8 < 4) {
        d.together = SL_TOGETHER_UNCONSTRAINED;
        d.level = SL_NO_ID;
    } else if (more % 16 == 13) { /* for slices alone, or for nothing */
        d.together = SL_TOGETHER_UNASKED;
        d.level = SL_NO_ID;
        d.asked = d.layer_count != 0;
    } else if (more % 4 == 2) {
        d.level = more & 128 ? LEVEL_NONE : LEVEL_BLOCK;
    } else if (more % 4 == 3) {
        d.requests[d.request_count++] = (struct sl_measure_amount){MEMORY, more / 64};
    }
    if (how % 4 != 3) {
        (void)!sl_topology_request_set(id, d);
    }
}

/* What a check says of its nodes: the mask of its first pod set is another one. */
void world_change_demand(struct producer *p, sl_workload_id id)
{
    uint32_t pod_set = sl_requests_first_pod_set(id);
    sl_mask_id mask = producer_below(p, 3);
    if (pod_set != SL_NO_ID) {
        (void)!sl_topology_request_set_mask(pod_set, mask == 2 ? SL_NO_ID : mask);
        sl_queues_retry(id, world_now_ms);
    }
}

/* --- nodes -------------------------------------------------------------------------------------- */

/* Who waits for the tree looks again. */
static void wake_users(void)
{
    for (sl_flavor_id flavor = PLAIN; flavor <= PLACED; flavor++) {
        for (sl_cell_id cell = sl_offers_first_of(flavor); cell != SL_NO_ID;
             cell = sl_offers_next_of(cell)) {
            sl_queues_wake_tree(sl_ledger_qnode_of(cell));
        }
    }
}

static void change_rack(uint32_t h)
{
    uint32_t rack = h / 2;
    if (sl_trees_close(RACK + rack) == SL_OK) {
        sl_domain_id up = has_blocks ? BLOCK + (rack / 2 + h) % 2 : SL_NO_ID;
        (void)!sl_trees_open(RACK + rack, PLACED, up, SL_NO_ID, SL_NO_ID);
    }
}

static void change_more(struct producer *p, uint32_t h)
{
    uint32_t racks = host_count() / 2;
    switch (producer_below(p, 6)) {
    case 0: /* it stands elsewhere from now on */
        (void)!sl_trees_close(HOST + h);
        (void)!sl_trees_open(HOST + h, PLACED, RACK + producer_below(p, racks), SL_NO_ID, h);
        break;
    case 1:
        (void)!sl_trees_close(HOST + h);
        (void)!sl_trees_close(HOST + (h ^ 1));
        change_rack(h);
        break;
    case 2:
        if (has_bare_hosts && sl_trees_close(BARE_HOST + h) != SL_OK) {
            (void)!sl_trees_open(BARE_HOST + h, PLAIN, SL_NO_ID, SL_NO_ID, h);
        }
        break;
    case 3:
        (void)!sl_tolerances_set(PLACED, producer_below(p, 3));
        (void)!sl_tolerances_link(producer_below(p, 2), 1, producer_below(p, 2));
        break;
    case 4:
        CHECK(sl_site_set_capacity(h, MEMORY, producer_below(p, 2 * HOST_CPU)) == SL_OK);
        break;
    default:
        (void)!sl_trees_open(HOST + h, PLACED, RACK + h / 2, HOST + (h ^ 1), h);
        break;
    }
}

void world_change_host(struct producer *p)
{
    uint32_t h = producer_below(p, host_count());
    uint32_t what = producer_byte(p);
    switch (what < 128 ? what % 4 : 4) {
    case 0:
        CHECK(sl_site_set_capacity(h, CPU, producer_below(p, 2 * HOST_CPU)) == SL_OK);
        break;
    case 1:
        CHECK(sl_site_set_capacity(h, SL_MEASURE_PODS, producer_below(p, HOST_PODS)) == SL_OK);
        break;
    case 2:
        (void)!sl_trees_close(HOST + h);
        break;
    case 3:
        (void)!sl_trees_open(HOST + h, PLACED, RACK + h / 2, SL_NO_ID, h);
        break;
    default:
        change_more(p, h);
        break;
    }
    for (sl_tree_id tree = PLAIN; what % 8 == 7 && tree <= PLACED; tree++) {
        sl_queues_note_capacity(tree, what % 16 == 15); /* told as the engine tells it */
    }
    wake_users();
}

void world_fail_host(struct producer *p)
{
    uint32_t h = producer_below(p, host_count());
    enum sl_event_kind kind = producer_byte(p) % 2 != 0 ? SL_EV_NODE_FAILED : SL_EV_NODE_RECOVERED;
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        for (uint32_t i = 0; i < sl_topology_assignment_count(id); i++) {
            if (sl_domain_site(sl_topology_assignment_at(id, i).domain) == h) {
                (void)!world_tell(id, kind, h, 0, 0);
                break;
            }
        }
    }
}
