/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A small cluster for the tests of topology: a tree of two blocks with two racks each, and two nodes
 * a rack. Node k is site k and domain 100 + k; block b is domain 10 + b, rack r domain 20 + r. Every
 * node takes ten pods and 100 cpu. */
#ifndef SL_TESTS_PLACE_WORLD_H
#define SL_TESTS_PLACE_WORLD_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/commit/placement.h"
#include "policy/topology/assumed.h"
#include "policy/requests/requests.h"
#include "policy/flavors/open_cell.h"
#include "policy/placement/placement.h"
#include "policy/common/settings.h"

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
enum { AT_BLOCK = 50, AT_RACK, AT_HOST, AT_NOWHERE };
enum { PLACED = 7 }; /* the workload that is placed */

static const struct sl_tree_levels pw_levels = {3, {AT_BLOCK, AT_RACK, AT_HOST}};

static inline void pw_capacity(sl_site_id site, int64_t pods, int64_t cpu)
{
    assert_int_equal(sl_site_set_capacity(site, SL_MEASURE_PODS, pods), SL_OK);
    assert_int_equal(sl_site_set_capacity(site, CPU, cpu), SL_OK);
}

static inline int pw_open(void **state)
{
    (void)state;
    assert_int_equal(sl_trees_configure(TREE, pw_levels, true), SL_OK);
    for (uint32_t b = 0; b < 2; b++) {
        sl_domain_id after = b == 0 ? SL_NO_ID : BLOCK + b - 1;
        assert_int_equal(sl_trees_open(BLOCK + b, TREE, SL_NO_ID, after, SL_NO_ID), SL_OK);
    }
    for (uint32_t r = 0; r < 4; r++) {
        sl_domain_id after = r % 2 == 0 ? SL_NO_ID : RACK + r - 1;
        assert_int_equal(sl_trees_open(RACK + r, TREE, BLOCK + r / 2, after, SL_NO_ID), SL_OK);
    }
    for (uint32_t n = 0; n < NODES; n++) {
        sl_domain_id after = n % 2 == 0 ? SL_NO_ID : NODE + n - 1;
        assert_int_equal(sl_trees_open(NODE + n, TREE, RACK + n / 2, after, n), SL_OK);
        pw_capacity(n, ROOM_PODS, ROOM_CPU);
    }
    sl_settings = sl_settings_default();
    sl_settings.profile_mixed = true;
    sl_settings.overlapping_flavors = true;
    memset(&sl_placement_question, 0, sizeof sl_placement_question);
    sl_placement_question.workload = PLACED;
    sl_placement_failed_count = 0;
    return 0;
}

static inline int pw_close(void **state)
{
    (void)state;
    sl_assumed_back(0);
    sl_requests_clear(PLACED);
    for (uint32_t n = 0; n < NODES; n++) {
        if (sl_trees_shows(NODE + n)) {
            assert_int_equal(sl_trees_close(NODE + n), SL_OK);
        }
    }
    for (uint32_t r = 0; r < 4; r++) {
        if (sl_trees_shows(RACK + r)) {
            assert_int_equal(sl_trees_close(RACK + r), SL_OK);
        }
    }
    for (uint32_t b = 0; b < 2; b++) {
        if (sl_trees_shows(BLOCK + b)) {
            assert_int_equal(sl_trees_close(BLOCK + b), SL_OK);
        }
    }
    assert_int_equal(sl_trees_forget(TREE), SL_OK);
    assert_true(sl_topology_valid());
    return 0;
}

/* A demand that asks for nothing yet but that much cpu a pod. */
static inline struct sl_topology_request pw_requests(int64_t cpu)
{
    return (struct sl_topology_request){.level = SL_NO_ID,
                                        .mask = SL_NO_ID,
                                        .rank_group = SL_NO_ID,
                                        .asked = true,
                                        .request_count = 1,
                                        .requests = {{.measure = CPU, .per_pod = cpu}}};
}

static inline struct sl_topology_request pw_together(enum sl_together together, sl_level_id level,
                                                     int64_t cpu)
{
    struct sl_topology_request d = pw_requests(cpu);
    d.together = together;
    d.level = level;
    return d;
}

static inline void pw_slices(struct sl_topology_request *d, sl_level_id level, uint32_t size)
{
    d->layers[d->layer_count].level = level;
    d->layers[d->layer_count].size = size;
    d->layer_count++;
}

/* One more pod set for the question. */
static inline struct sl_placement_set *pw_ask(const struct sl_topology_request *d, uint32_t count)
{
    uint32_t index = sl_placement_question.set_count++;
    assert_int_equal(sl_requests_add_pod_set(PLACED, count), SL_OK);
    assert_int_equal(sl_topology_request_set(PLACED, *d), SL_OK);
    uint32_t record = sl_requests_first_pod_set(PLACED);
    for (uint32_t i = 0; i < index; i++) {
        record = sl_requests_next_pod_set(record);
    }
    struct sl_placement_set *set = &sl_placement_question.sets[index];
    *set =
        (struct sl_placement_set){.pod_set = index, .record = record, .count = count, .tree = TREE};
    return set;
}

static inline void pw_assert_row(uint32_t set, uint32_t row, sl_domain_id domain, uint32_t count)
{
    assert_true(set < sl_topology_plan.set_count);
    assert_true(row < sl_topology_plan.sets[set].row_count);
    struct sl_topology_row got = sl_topology_plan.rows[sl_topology_plan.sets[set].first_row + row];
    assert_int_equal(got.domain, domain);
    assert_int_equal(got.count, count);
}

static inline void pw_assert_rows(uint32_t set, uint32_t count)
{
    assert_true(set < sl_topology_plan.set_count);
    assert_int_equal(sl_topology_plan.sets[set].row_count, count);
    assert_int_equal(sl_topology_check(), SL_OK);
}

static inline void pw_assert_miss(enum sl_placement_miss miss)
{
    assert_false(sl_placement_find());
    assert_int_equal(sl_placement_failure.miss, miss);
}
#endif
