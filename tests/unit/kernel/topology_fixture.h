/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A small world of topology: a tree of two blocks with two racks each, and two nodes a rack. Node k is site k and
 * domain 100 + k; block b is domain 10 + b, rack r domain 20 + r. */
#ifndef SL_TESTS_TOPOLOGY_FIXTURE_H
#define SL_TESTS_TOPOLOGY_FIXTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/topology/topology.h"

enum {
    TREE = 3,
    OTHER_TREE = 4,
    BLOCK = 10,
    RACK = 20,
    NODE = 100,
    NODES = 8,
    CPU = 1,
    MEMORY = 2
};
enum { ROOM_PODS = 10, ROOM_CPU = 100 };

static inline void open_world(void)
{
    for (uint32_t b = 0; b < 2; b++) {
        assert_int_equal(sl_domain_open(BLOCK + b, TREE, SL_NO_ID, SL_NO_ID), SL_OK);
    }
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(sl_domain_open(RACK + r, TREE, BLOCK + r / 2, SL_NO_ID), SL_OK);
    }
    for (uint32_t n = 0; n < NODES; n++) {
        assert_int_equal(sl_domain_open(NODE + n, TREE, RACK + n / 2, n), SL_OK);
        assert_int_equal(sl_site_set_capacity(n, SL_MEASURE_PODS, ROOM_PODS), SL_OK);
        assert_int_equal(sl_site_set_capacity(n, CPU, ROOM_CPU), SL_OK);
    }
}

static inline void close_world(void)
{
    for (uint32_t n = 0; n < NODES; n++) {
        assert_int_equal(sl_domain_close(NODE + n), SL_OK);
    }
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(sl_domain_close(RACK + r), SL_OK);
    }
    for (uint32_t b = 0; b < 2; b++) {
        assert_int_equal(sl_domain_close(BLOCK + b), SL_OK);
    }
}

/* An empty plan for the workload. */
static inline void plan_for(sl_workload_id id)
{
    memset(&sl_topology_plan, 0, sizeof sl_topology_plan);
    sl_topology_plan.workload = id;
}

/* The next pod set, whose pods ask for that much cpu; rows follow by plan_row. */
static inline struct sl_topology_set *plan_set(uint32_t pod_set, int64_t cpu)
{
    struct sl_topology_set *set = &sl_topology_plan.sets[sl_topology_plan.set_count++];
    set->pod_set = pod_set;
    set->tree = TREE;
    set->within = SL_NO_ID;
    set->first_row = sl_topology_plan.row_count;
    set->request_count = 1;
    set->requests[0] = (struct sl_measure_amount){CPU, cpu};
    return set;
}

static inline void plan_row(struct sl_topology_set *set, sl_domain_id domain, uint32_t pods)
{
    sl_topology_plan.rows[sl_topology_plan.row_count++] = (struct sl_topology_row){domain, pods};
    set->row_count++;
    set->count += pods;
}
#endif
