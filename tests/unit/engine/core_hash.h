/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The state of the core as one number, for tests that compare two cores. */
#ifndef SL_TESTS_ENGINE_CORE_HASH_H
#define SL_TESTS_ENGINE_CORE_HASH_H
#include "base/buf.h"
#include "base/fnv1a.h"
#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/place.h"
#include "kernel/topology/topology.h"
#include <stddef.h>
#include <stdint.h>

#define WORKLOADS_COMPARED 512u
#define CELLS_COMPARED 64u
#define SITES_COMPARED 64u

static inline void hash_print_stands(sl_workload_id id, struct sl_buf *all)
{
    for (uint32_t i = 0; i < sl_topology_assignment_count(id); i++) {
        struct sl_domain_assignment s = sl_topology_assignment_at(id, i);
        sl_buf_print(all, "%u@%u*%u ", s.pod_set, s.domain, s.count);
    }
}

/* A number for all that was decided: records, places, claims, usage, stands, rooms. */
static inline uint64_t hash_core(void)
{
    struct sl_buf all = {0};
    for (sl_workload_id id = 0; id < WORKLOADS_COMPARED; id++) {
        const struct sl_workload *r = &sl_workloads[id];
        sl_buf_print(&all, "%u %d %d %d %d %d %lld %lld %d %u ", r->generation, r->phase, r->active,
                     r->pending_reason, r->evicted, r->requeued, (long long)r->reserved_at_ms,
                     (long long)r->accumulated_ms, sl_place_of(id), r->check_count);
        for (uint32_t i = 0; i < sl_commit_usage_count(id); i++) {
            sl_buf_print(&all, "%u:%lld ", sl_commit_usage(id, i).cell,
                         (long long)sl_commit_usage(id, i).amount);
        }
        hash_print_stands(id, &all);
    }
    for (sl_site_id site = 0; site < SITES_COMPARED; site++) {
        sl_buf_print(&all, "%lld/%lld ", (long long)sl_site_used_of(site, 1),
                     (long long)sl_site_capacity_of(site, 1));
    }
    for (sl_cell_id cell = 0; cell < CELLS_COMPARED; cell++) {
        sl_buf_print(&all, "%u=%lld ", sl_ledger_qnode_of(cell), (long long)sl_ledger_usage(cell));
    }
    uint64_t h = sl_fnv1a(SL_FNV1A_BASIS, all.data, all.len);
    sl_buf_fini(&all);
    return h;
}
#endif
