/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For tests of scheduling with topology: small trees of racks and hosts, and workloads that ask for
 * them. Every tree is new: flavor, domains and sites. */
#ifndef SL_TESTS_POLICY_PLACES_WORLD_H
#define SL_TESTS_POLICY_PLACES_WORLD_H
#include "fixture.h"

#include "policy/topology/assumed.h"
#include "policy/queues/passes.h"
#include "policy/requests/topology_request.h"
#include "policy/topology/trees.h"

enum { LEVEL_RACK = 1, LEVEL_HOST = 2, LEVEL_OTHER = 3, MEASURE_CPU = 1 };
#define PODS_A_HOST 100

static sl_tree_id pw_next_tree = 1000;
static sl_domain_id pw_next_domain = 1000;
static sl_site_id pw_next_site = 1000;

struct pw_tree {
    sl_tree_id tree;
    sl_site_id first_site; /* hosts in order, rack by rack */
};

static inline void pw_host(struct pw_tree t, sl_domain_id rack, sl_domain_id after, int64_t cpu)
{
    sl_site_id site = pw_next_site++;
    sl_domain_id host = pw_next_domain++;
    assert_int_equal(sl_trees_open(host, t.tree, rack, after, site), SL_OK);
    assert_int_equal(sl_site_set_capacity(site, SL_MEASURE_PODS, PODS_A_HOST), SL_OK);
    assert_int_equal(sl_site_set_capacity(site, MEASURE_CPU, cpu), SL_OK);
}

/* So many racks of so many hosts with that much cpu each. */
static inline struct pw_tree pw_tree(uint32_t racks, uint32_t hosts, int64_t cpu)
{
    static const struct sl_tree_levels levels = {2, {LEVEL_RACK, LEVEL_HOST}};
    struct pw_tree t = {pw_next_tree++, pw_next_site};
    sl_domain_id last_rack = SL_NO_ID;
    sl_offers_set_measure(CPU, MEASURE_CPU);
    assert_int_equal(sl_trees_configure(t.tree, levels, true), SL_OK);
    for (uint32_t r = 0; r < racks; r++) {
        sl_domain_id rack = pw_next_domain++;
        assert_int_equal(sl_trees_open(rack, t.tree, SL_NO_ID, last_rack, SL_NO_ID), SL_OK);
        last_rack = rack;
        for (uint32_t h = 0; h < hosts; h++) {
            pw_host(t, rack, h == 0 ? SL_NO_ID : pw_next_domain - 1, cpu);
        }
    }
    return t;
}

/* Its nodes changed: wake the trees of all queues that offer its flavor. */
static inline void pw_wake_users(struct pw_tree t)
{
    for (sl_cell_id cell = sl_offers_first_of(t.tree); cell != SL_NO_ID;
         cell = sl_offers_next_of(cell)) {
        sl_queues_wake_tree(sl_ledger_qnode_of(cell));
    }
}

/* A queue that offers cpu of the tree's flavor alone. */
static inline sl_qnode_id pw_queue(sl_qnode_id cohort, struct pw_tree t, int64_t cpu)
{
    sl_qnode_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, -1);
    (void)fx_offer(queue, t.tree, CPU, cpu);
    return queue;
}

static inline void pw_ask(sl_workload_id id, enum sl_together together, sl_level_id level,
                          int64_t cpu)
{
    struct sl_topology_request request = {
        .together = together,
        .level = level,
        .asked = true,
        .mask = SL_NO_ID,
        .rank_group = SL_NO_ID,
        .request_count = 1,
    };
    request.requests[0] = (struct sl_measure_amount){MEASURE_CPU, cpu};
    assert_int_equal(sl_topology_request_set(id, request), SL_OK);
}

/* In line: so many pods of so much cpu, together in one domain of the level. */
static inline sl_workload_id pw_workload(sl_qnode_id queue, int32_t priority, uint32_t pods,
                                         int64_t cpu, sl_level_id level)
{
    sl_workload_id id = fx_create();
    fx_pod_set(id, pods, CPU, cpu);
    pw_ask(id, SL_TOGETHER_REQUIRED, level, cpu);
    fx_attach(id, queue, priority, id);
    return id;
}

/* Pods of the workload on the tree's host of that number. */
static inline uint32_t pw_pods_on(sl_workload_id id, struct pw_tree t, uint32_t host)
{
    uint32_t pods = 0;
    for (uint32_t i = 0; i < sl_topology_assignment_count(id); i++) {
        struct sl_domain_assignment assignment = sl_topology_assignment_at(id, i);
        pods += sl_domain_site(assignment.domain) == t.first_site + host ? assignment.count : 0;
    }
    return pods;
}

static inline const struct sl_cycle_outcome *pw_outcome(sl_workload_id id)
{
    for (uint32_t i = 0; i < fx_outcome_count; i++) {
        if (fx_outcomes[i].workload == id) {
            return &fx_outcomes[i];
        }
    }
    fail_msg("no outcome for workload %u", id);
    return NULL;
}

static int pw_teardown(void **state)
{
    int result = fx_teardown(state);
    return sl_topology_valid() && sl_second_pass_count() == 0 ? result : -1;
}

#define PW_TEST(name) cmocka_unit_test_teardown(name, pw_teardown)
#endif
