/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What administrators and restarts do to the little cluster: queues that are deleted and come again, settings that
 * change, accounts that are closed or remembered, resources that count otherwise, weights. */
#include "fuzz/lib/check.h"
#include "fuzz/lib/world.h"
#include "kernel/commit/commit.h"
#include "policy/fair/branches.h"
#include "policy/topology/masks.h"
#include "policy/requests/offers.h"
#include "policy/queues/outsiders.h"
#include "policy/queues/queues.h"
#include "policy/common/settings.h"
#include "policy/fair/shares.h"
#include "policy/queues/turns.h"
#include "policy/fair/usage.h"

/* A queue goes as it may: nobody waits in it, nothing is charged to it. What its workloads hold of it is nothing. */
static void close_queue(sl_qnode_id node)
{
    struct sl_rules rules = sl_offers_rules(node);
    sl_queues_wake_tree(node);
    sl_queues_flush();
    CHECK(sl_queues_configure(node, rules, false) == SL_OK);
    for (sl_workload_id id = 0; id < SLOTS; id++) {
        if (sl_queues_queue_of(id) == node) {
            sl_queues_detach(id);
        }
    }
    sl_offers_clear(node);
}

static void close_and_open(struct producer *p)
{
    sl_qnode_id node = producer_below(p, NODES);
    bool placed_first = producer_byte(p) % 2 != 0;
    for (uint32_t name = 0; name < NAMES; name++) {
        if (sl_ledger_own(sl_ledger_find_cell(node, PLAIN + name / 2, CPU + name % 2)) > 0) {
            return;
        }
    }
    if (node >= COHORTS) {
        close_queue(node);
    } else {
        sl_queues_wake_tree(node);
        sl_queues_flush();
    }
    if (sl_ledger_close_qnode(node) == SL_OK) {
        sl_branches_follow(node);
        world_forget_node(node);
        CHECK(sl_ledger_open_qnode(node) == SL_OK);
        sl_branches_follow(node);
    }
    if (node >= COHORTS) {
        world_open_queue(node, placed_first);
    }
    sl_queues_wake_tree(node);
}

/* Everybody looks again, as after a restart with another configuration. */
static void change_settings(struct producer *p)
{
    world_read_settings(p);
    for (sl_qnode_id node = COHORTS; node < NODES; node++) {
        struct sl_rules rules = sl_offers_rules(node);
        rules.by_usage = rules.by_usage && sl_settings.admission_fair_sharing;
        CHECK(sl_queues_configure(node, rules, sl_turns_is_active(node)) == SL_OK);
        sl_queues_wake_tree(node);
        sl_turns_refresh(node);
    }
}

/* Its parts are of all sizes, now and then one too many. */
static void restore_usage(sl_account_id account, sl_resource_id resource, int64_t milli,
                          int64_t at_ms)
{
    uint32_t parts = (uint32_t)((uint64_t)milli % (SL_USAGE_PARTS + 1));
    sl_usage_restore(account, resource, (struct sl_usage_amount){milli, parts}, at_ms);
}

static void change_accounts(struct producer *p)
{
    sl_account_id account = producer_below(p, NODES * ACCOUNTS);
    uint32_t what = producer_byte(p);
    sl_resource_id resource = what & 64 ? 100u + producer_byte(p) : (uint32_t)CPU + (what >> 5 & 1);
    switch (what % 5) {
    case 0:
        sl_usage_close(account);
        break;
    case 1:
        restore_usage(account, resource, producer_int64(p) >> producer_byte(p) % 64,
                      world_now_ms - producer_byte(p) * 1000);
        break;
    case 2:
        CHECK(sl_usage_set_resource(CPU, producer_below(p, 4) * 1000000000LL, what & 8) == SL_OK);
        break;
    case 3:
        sl_usage_configure(producer_below(p, 4) * 60000LL, producer_below(p, 4) * 5000LL);
        break;
    default:
        sl_usage_sample_begin(account, world_now_ms);
        sl_usage_sample_running(resource, producer_int64(p) >> producer_byte(p) % 64);
        sl_usage_sample_end();
        break;
    }
    (void)sl_usage_consumed(account, resource);
    (void)sl_usage_pending(account, resource);
    for (sl_qnode_id node = COHORTS; node < NODES; node++) {
        sl_turns_refresh(node);
    }
}

/* Which resource counts pods, in which order resources are looked at. */
static void change_resources(struct producer *p)
{
    uint32_t what = producer_byte(p);
    sl_offers_set_pods_resource(what % 4 == 3 ? MEMORY : what % 4 == 2 ? UNDECLARED : SL_NO_ID);
    sl_offers_set_measure(MEMORY, what >= 224 ? SL_NO_ID : MEMORY);
    sl_offers_set_order(CPU, what >> 2 & 1);
    sl_offers_set_order(MEMORY, what >> 3 & 1);
    for (sl_qnode_id node = COHORTS; node < NODES; node++) {
        sl_queues_wake_queue(node);
    }
}

static void change_weights(struct producer *p)
{
    static const int64_t weights[] = {0, 1, 500000000, 1000000000, 4000000000, INT64_MAX};
    sl_qnode_id node = producer_below(p, NODES);
    CHECK(sl_shares_set_weight(node, weights[producer_below(p, 6)]) == SL_OK);
    for (sl_qnode_id n = 0; n < NODES; n++) {
        (void)sl_shares_shown(sl_shares_of(n));
    }
    sl_queues_wake_tree(node);
}

/* Some are asked to look again in vain, some wait for their turn. */
static void knock(struct producer *p)
{
    sl_workload_id id = producer_below(p, SLOTS);
    switch (producer_below(p, 5)) {
    case 0:
        sl_queues_retry(id, world_now_ms);
        break;
    case 1:
        sl_queues_owe(id);
        break;
    case 2:
        sl_turns_rouse(sl_ledger_root_qnode(producer_below(p, NODES)));
        break;
    case 3:
        sl_queues_detach(id);
        break;
    default:
        world_change_demand(p, id);
        break;
    }
    (void)sl_queues_in_backoff(id, world_now_ms);
    (void)sl_queues_awaits_turn(id);
}

void world_administer(struct producer *p)
{
    switch (producer_below(p, 6)) {
    case 0:
        close_and_open(p);
        break;
    case 1:
        change_settings(p);
        break;
    case 2:
        change_accounts(p);
        break;
    case 3:
        change_resources(p);
        break;
    case 4:
        change_weights(p);
        break;
    default:
        knock(p);
        break;
    }
}
