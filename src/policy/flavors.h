/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment (FEATURES 3.2): which flavor each pod set gets of each resource group of its
 * ClusterQueue, judged on the live ledger. Owns sl_assignment, the result of the last question. */
#ifndef SL_POLICY_FLAVORS_H
#define SL_POLICY_FLAVORS_H
#include "kernel/types.h"
#include "policy/demand.h"

#define SL_CHOICES_MAX (SL_POD_SETS_MAX * (SL_REQUESTS_MAX + 1u))
#define SL_DETAILS_MAX 256u

/* One request of one pod set and the cell that would pay for it. */
struct sl_choice {
    uint32_t pod_set; /* index in the workload, from 0 */
    sl_resource_id resource;
    sl_flavor_id flavor;
    sl_cell_id cell;
    int64_t amount; /* of all its pods together */
};

enum sl_miss {
    SL_MISS_NOT_OFFERED, /* no resource group of the queue covers the resource */
    SL_MISS_TAINT,       /* the flavor's taints are not tolerated */
    SL_MISS_AFFINITY,    /* the flavor's labels do not match */
    SL_MISS_NO_FLAVOR,   /* the ResourceFlavor does not exist */
    SL_MISS_MAX_QUOTA,   /* more than could ever be available: too much by `amount` */
    SL_MISS_UNUSED_QUOTA /* more than is unused now: `amount` more needed */
};

/* Why one flavor would not do for one pod set. */
struct sl_detail {
    uint32_t pod_set; /* index in the workload */
    enum sl_miss miss;
    sl_flavor_id flavor;     /* SL_NO_ID with NOT_OFFERED */
    sl_resource_id resource; /* SL_NO_ID when the flavor itself would not do */
    int64_t amount;          /* with MAX_QUOTA and UNUSED_QUOTA */
};

struct sl_assignment {
    sl_workload_id workload;
    bool fits;
    enum sl_pending_reason reason; /* if not: flavor, maximum or waiting for quota */
    uint32_t borrow_height;        /* the highest over all choices; 0 = nothing is borrowed */
    uint32_t choice_count;         /* complete only when it fits */
    struct sl_choice choices[SL_CHOICES_MAX];
    uint32_t detail_count;     /* of what is in the way; after a cycle's reservation 0 */
    uint32_t details_left_out; /* for which there was no room */
    struct sl_detail details[SL_DETAILS_MAX];
};
extern struct sl_assignment sl_assignment;

/* Find flavors for the workload in this queue as the ledger stands now; the answer is in
 * sl_assignment. Nothing else changes. A workload
 * without pod sets (its demand was refused) never fits: Misconfigured. */
void sl_flavors_assign(sl_workload_id id, sl_node_id cluster_queue);
#endif
