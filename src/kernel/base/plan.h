/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A plan: what policy would like to happen to one workload. Policy fills sl_plan, commit judges it. */
#ifndef SL_KERNEL_PLAN_H
#define SL_KERNEL_PLAN_H
#include "kernel/base/types.h"

struct sl_plan {
    sl_workload_id workload;
    uint32_t generation;
    sl_qnode_id cluster_queue; /* every amount must be on a cell of this qnode */
    bool topology_pending;     /* first phase of two: quota now, topology later */
    uint32_t usage_count;
    struct sl_cell_amount usage[SL_USAGE_CELLS_MAX];
    int64_t now_ms;
};

extern struct sl_plan sl_plan;
#endif
