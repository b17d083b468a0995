/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The plan: the topology assignment of one workload. Policy fills it, the kernel judges it. */
#ifndef SL_KERNEL_TOPOLOGY_PLAN_H
#define SL_KERNEL_TOPOLOGY_PLAN_H
#include "kernel/base/types.h"

#define SL_SITES_MAX 131072u
#define SL_MEASURES_MAX 64u
#define SL_CAPACITIES_MAX 8388608u /* room = measure * SL_SITES_MAX + site */
#define SL_DOMAINS_MAX 524288u
#define SL_DEPTHS_MAX 16u        /* levels of a topology */
#define SL_BOOKINGS_MAX 4194304u /* capacities that all workloads together have booked */
#define SL_LAYERS_MAX 3u         /* nested slices */
#define SL_TOPOLOGY_SETS_MAX 18u /* pod sets of one workload */
#define SL_TOPOLOGY_ROWS_MAX 262144u
#define SL_TOPOLOGY_REQUESTS_MAX 64u /* of one pod set */
#define SL_MEASURE_PODS 0u

typedef uint32_t sl_site_id;
typedef uint32_t sl_measure_id;
typedef uint32_t sl_domain_id;
typedef uint32_t sl_tree_id; /* one per ResourceFlavor with a topology: the flavor's id */

struct sl_topology_row {
    sl_domain_id domain; /* a bottom domain */
    uint32_t count;      /* pods, at least one */
};
struct sl_measure_amount {
    sl_measure_id measure;
    int64_t per_pod;
};
struct sl_topology_layer { /* pods come in slices of `size`, each within one domain at `depth` */
    uint32_t depth;
    uint32_t size; /* at least 1 */
};
struct sl_topology_set {
    uint32_t pod_set; /* its index in the workload; ascending */
    uint32_t count;   /* its pods: the sum over its rows */
    sl_tree_id tree;
    sl_domain_id within; /* every row lies in it; SL_NO_ID: anywhere in the tree */
    uint32_t layer_count;
    /* outermost first; each size is a multiple of the next */
    struct sl_topology_layer layers[SL_LAYERS_MAX];
    /* right after the rows of the set before; those of one domain of a layer are adjacent */
    uint32_t first_row;
    uint32_t row_count;
    uint32_t request_count;
    /* measures ascending, none twice; SL_MEASURE_PODS adds to the pods themselves */
    struct sl_measure_amount requests[SL_TOPOLOGY_REQUESTS_MAX];
};
struct sl_topology_plan {
    sl_workload_id workload;
    uint32_t set_count; /* 0: no pod set of the workload has a topology (yet) */
    uint32_t row_count;
    struct sl_topology_set sets[SL_TOPOLOGY_SETS_MAX];
    struct sl_topology_row rows[SL_TOPOLOGY_ROWS_MAX];
};
extern struct sl_topology_plan sl_topology_plan;

#endif
