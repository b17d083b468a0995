/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A workload that stands in the small cluster already: its plan is written as rows, and restored. */
#ifndef SL_TESTS_PLACE_STANDING_H
#define SL_TESTS_PLACE_STANDING_H
#include "place_world.h"

static inline void ps_tell(enum sl_event_kind kind)
{
    struct sl_event ev = {.kind = kind,
                          .workload = PLACED,
                          .generation = sl_workloads[PLACED].generation,
                          .now_ms = 1};
    assert_int_equal(sl_placement_event(ev), SL_OK);
}

static inline void ps_begin(void)
{
    ps_tell(SL_EV_CREATE);
    sl_topology_plan.workload = PLACED;
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
}

/* The next pod set, whose pods ask for that much cpu; rows follow. */
static inline void ps_set(uint32_t pod_set, int64_t cpu)
{
    sl_topology_plan.sets[sl_topology_plan.set_count++] =
        (struct sl_topology_set){.pod_set = pod_set,
                                 .tree = TREE,
                                 .within = SL_NO_ID,
                                 .first_row = sl_topology_plan.row_count,
                                 .request_count = 1,
                                 .requests = {{.measure = CPU, .per_pod = cpu}}};
}

static inline void ps_row(sl_domain_id domain, uint32_t count)
{
    struct sl_topology_set *set = &sl_topology_plan.sets[sl_topology_plan.set_count - 1];
    sl_topology_plan.rows[sl_topology_plan.row_count++] =
        (struct sl_topology_row){.domain = domain, .count = count};
    set->row_count++;
    set->count += count;
}

static inline void ps_assignment(void)
{
    static sl_qnode_id queue = 40;
    sl_cell_id cell = SL_NO_ID;
    queue++;
    assert_int_equal(sl_ledger_open_qnode(queue), SL_OK);
    assert_int_equal(sl_ledger_open_cell(queue, TREE, CPU, &cell), SL_OK);
    assert_int_equal(sl_ledger_set_quota(cell, 1, 0, 0), SL_OK);
    sl_plan = (struct sl_plan){.workload = PLACED,
                               .generation = sl_workloads[PLACED].generation,
                               .cluster_queue = queue,
                               .usage_count = 1,
                               .usage = {{.cell = cell, .amount = 1}},
                               .now_ms = 1};
    assert_int_equal(sl_placement_restore(), SL_OK);
}

static inline int ps_close(void **state)
{
    if (sl_workloads[PLACED].phase != SL_PHASE_ABSENT) {
        ps_tell(SL_EV_DELETE);
    }
    sl_placement_failed_count = 0;
    return pw_close(state);
}

static inline void ps_fail(sl_site_id site)
{
    sl_placement_question.replaces = true;
    sl_placement_failed[sl_placement_failed_count++] = site;
}
#endif
