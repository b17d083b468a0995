/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What happens less often in the little cluster: usage that is remembered, masks, delayed topology, outsiders, pods
 * that give back early, offers that are said anew. */
#include "fuzz/lib/check.h"
#include "fuzz/lib/world.h"
#include "kernel/commit/commit.h"
#include "policy/requests/preemption_gate.h"
#include "policy/requests/requests.h"
#include "policy/flavors/flavors.h"
#include "policy/topology/masks.h"
#include "policy/requests/offers.h"
#include "policy/requests/slices.h"
#include "policy/queues/outsiders.h"
#include "policy/queues/queues.h"
#include "policy/preemption/restraint.h"
#include "policy/queues/turns.h"
#include "policy/fair/usage.h"

enum { MASKS = 2 };

static void refresh_queues(void)
{
    for (sl_qnode_id n = COHORTS; n < NODES; n++) {
        sl_turns_refresh(n);
    }
}

/* An account is of one queue. */
void world_own(sl_workload_id id, sl_qnode_id queue)
{
    uint32_t which = id % (ACCOUNTS + 1);
    sl_usage_set_account(id, which < ACCOUNTS ? queue * ACCOUNTS + which : SL_NO_ID);
}

void world_open_more(void)
{
    sl_usage_configure(60000, 5000);
    CHECK(sl_usage_set_resource(CPU, 1000000000, false) == SL_OK);
    for (uint32_t m = 0; m < MASKS; m++) {
        CHECK(sl_masks_clear(m) == SL_OK);
    }
}

static void sample_usage(struct producer *p)
{
    sl_account_id account = producer_below(p, NODES * ACCOUNTS);
    sl_usage_sample_begin(account, world_now_ms);
    sl_usage_sample_running(CPU, producer_below(p, 64));
    sl_usage_sample_running(MEMORY, producer_below(p, 64));
    sl_usage_sample_end();
    if (producer_byte(p) % 8 == 7) {
        sl_usage_set_weight(account, producer_below(p, 3) * 500000000LL);
    }
    refresh_queues();
}

static void change_mask(struct producer *p)
{
    sl_mask_id mask = producer_below(p, MASKS);
    for (sl_site_id site = 0; site < HOSTS; site++) {
        uint32_t verdict = producer_byte(p);
        CHECK(sl_masks_set(mask, site, verdict < 160 ? SL_VERDICT_MAY : verdict % 4) == SL_OK);
        if (verdict % 8 == 1) {
            CHECK(sl_masks_prefer(mask, site, verdict) == SL_OK);
        }
    }
    for (sl_qnode_id n = COHORTS; n < NODES; n++) {
        sl_queues_wake_tree(n);
    }
}

/* Of the flavor with a topology: whether it waits for a check in this queue. */
static void change_delay(struct producer *p)
{
    sl_qnode_id node = COHORTS + producer_below(p, NODES - COHORTS);
    bool delayed = producer_byte(p) % 2 != 0;
    for (sl_resource_id r = CPU; r <= MEMORY; r++) {
        sl_offers_set_delayed(sl_ledger_find_cell(node, PLACED, r), delayed);
    }
    sl_queues_wake_queue(node);
}

static void give_back(struct producer *p)
{
    sl_workload_id id = producer_below(p, SLOTS);
    uint32_t index = producer_below(p, 4);
    struct sl_cell_amount usage = sl_commit_usage(id, index);
    sl_qnode_id node = sl_ledger_qnode_of(usage.cell);
    int64_t amount = producer_below(p, 8);
    if (sl_commit_reduce(id, sl_workloads[id].generation, index, amount) == SL_OK &&
        node != SL_NO_ID) {
        sl_flavors_touch_queue(node);
        sl_turns_mark_tree(node);
    }
}

/* Of slices: whose place each takes, and how that is said. */
static struct {
    sl_workload_id old;
    uint32_t how;
} links[SLOTS];

/* The flavors that a pod set keeps are those that the old one holds, or one. */
static void keep_flavors(sl_workload_id id, sl_workload_id old, uint32_t how)
{
    uint32_t sets = how & 8 ? 1 : sl_requests_set_count(id);
    for (uint32_t s = 0; s < sets; s++) {
        for (uint32_t i = 0; i < sl_commit_usage_count(old); i++) {
            sl_flavor_id held = sl_ledger_flavor_of(sl_commit_usage(old, i).cell);
            sl_flavor_id flavor = how & 16 ? PLAIN : how & 32 ? PLACED : held;
            CHECK(sl_slices_keep(id, s, flavor) == SL_OK);
        }
    }
}

/* It takes the place of another, of one of an earlier life, or of one that never was. */
static void link_up(sl_workload_id id)
{
    sl_workload_id old = links[id].old;
    uint32_t how = links[id].how;
    bool is_there = (how & 2) == 0;
    sl_slices_set(id, is_there ? old : SL_NO_ID, sl_workloads[old].generation - (how & 1));
    if (is_there && (how & 4) == 0) {
        keep_flavors(id, old, how);
    }
}

/* As the engine does (decisions/slices.c): those that take its place learn what it was given. */
void world_met(sl_workload_id old)
{
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        if (sl_slices_is(id) && links[id].old == old) {
            link_up(id);
            sl_queues_retry(id, world_now_ms);
        }
    }
}

/* Of these bytes few say anything, so that seeds from before them say what they said. */
static void become(struct producer *p, sl_workload_id id)
{
    uint32_t old = producer_byte(p), named = producer_byte(p);
    if (named >= 240 &&
        sl_workloads[id].phase == SL_PHASE_PENDING) { /* of the pod set added last */
        sl_flavor_id not_named = named % 2 == 0 ? PLAIN : PLACED;
        (void)!sl_requests_add_exclusion(id, not_named, SL_EXCLUDED_UNNAMED);
    }
    if (old >= 240) {
        links[id].old = old % SLOTS;
        links[id].how = producer_byte(p);
        link_up(id);
    }
    world_join_family(p, id);
}

static void turn_away(struct producer *p)
{
    sl_workload_id id = producer_below(p, SLOTS);
    uint32_t how = producer_byte(p);
    if (sl_place_of(id) != SL_PLACE_NONE) {
        sl_outsiders_set(id, how % 2 != 0);
        sl_restraint_set(id, how % 4 >= 2);
        sl_preemption_gate_set(id, how % 8 >= 4);
        sl_requests_set_single_pod(id, producer_byte(p) % 2 != 0);
        become(p, id);
        sl_queues_retry(id, world_now_ms);
    }
}

/* One flavor, or both, in one group or two. */
static void offer_anew(struct producer *p)
{
    sl_qnode_id node = COHORTS + producer_below(p, NODES - COHORTS);
    uint32_t which = producer_byte(p);
    sl_offers_clear(node);
    for (uint32_t name = 0; name < NAMES; name++) {
        uint32_t group = which & 16 ? name % 2 : 0;
        if ((which >> name & 1) == 0) {
            sl_cell_id cell = sl_ledger_find_cell(node, PLAIN + name / 2, CPU + name % 2);
            CHECK(sl_offers_add(node, group, cell) == SL_OK);
        }
    }
    sl_queues_wake_queue(node);
}

void world_step_more(struct producer *p)
{
    uint32_t what = producer_byte(p);
    switch (what < 192 ? what % 6 : 6) {
    case 0:
        sample_usage(p);
        break;
    case 1:
        change_mask(p);
        break;
    case 2:
        change_delay(p);
        break;
    case 3:
        give_back(p);
        break;
    case 4:
        turn_away(p);
        break;
    case 5:
        offer_anew(p);
        break;
    default:
        world_administer(p);
        break;
    }
}
