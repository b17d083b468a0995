/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Placement (Kueue's FindTopologyAssignmentsForFlavor): to which domains the pods of a workload
 * could be assigned, in the state that assumed.h shows. Owns the question and the answer. */
#ifndef SL_POLICY_PLACEMENT_H
#define SL_POLICY_PLACEMENT_H
#include "kernel/topology/topology.h"
#include "kernel/base/types.h"
#include "policy/topology/assumed.h"
#include "policy/requests/topology_request.h"
#include "specs/hidden.acsl"

enum sl_placement_miss {
    SL_PLACEMENT_OK,
    SL_PLACEMENT_NO_FIT,     /* `fit` of `of` pods or slices: figures below */
    SL_PLACEMENT_NO_LEVEL,   /* the tree lacks the level that is asked for, or no level is */
    SL_PLACEMENT_NO_DOMAINS, /* no domain at that level: no node is in the tree */
    SL_PLACEMENT_NO_SLICE_LEVEL,
    SL_PLACEMENT_SLICE_ABOVE, /* slices span more than the pod set may */
    SL_PLACEMENT_SLICE_SIZE,  /* no size, or sizes that do not nest */
    SL_PLACEMENT_STALE,       /* replacement: it has pods on another site that was deleted:
                               * `domain` */
    SL_PLACEMENT_NO_TREE,     /* no flavor with topology, or several, were assigned */
    SL_PLACEMENT_ELASTIC,     /* pods of an elastic job cannot be made to stay together */
    SL_PLACEMENT_FULL         /* more rows than a plan can have */
};

/* One pod set to be placed. The shell and flavors.c say what is asked; the answer is in
 * sl_topology_plan of the kernel: sets in the order of their pod sets. */
struct sl_placement_set {
    uint32_t pod_set; /* its index in the workload */
    uint32_t record;  /* of requests.h and topology_request.h */
    uint32_t count;   /* pods; more than none */
    sl_tree_id tree;
    bool implied; /* it asks for nothing, but its queue has only flavors with topology */
};

struct sl_placement_question { /* a question that replaces names all sets that have an assignment */
    sl_workload_id workload;
    bool empty;    /* as if no workload had booked anything */
    bool replaces; /* only pods on failed sites move */
    bool keeps; /* pods stay on the places that `old` has booked, if all of these are there still */
    sl_workload_id old;
    uint32_t set_count;
    struct sl_placement_set sets[SL_TOPOLOGY_SETS_MAX]; /* ascending by pod_set */
};
extern struct sl_placement_question sl_placement_question;
/* The failed sites, for a question that replaces; of a workload at hand, those that its record names. */
extern uint32_t sl_placement_failed_count;
extern sl_site_id sl_placement_failed[SL_UNHEALTHY_MAX];

/* Why there is no place: for `pod_set`, and in figures. */
struct sl_placement_level {
    uint32_t depth;
    uint32_t fit;
    uint32_t of;
};
struct sl_placement_failure {
    enum sl_placement_miss miss;
    uint32_t pod_set;
    sl_tree_id tree;
    sl_domain_id domain;
    bool slices; /* fit and of count slices, not pods */
    uint32_t fit;
    uint32_t of;
    uint32_t level_count; /* with several layers of slices: what fits at each */
    struct sl_placement_level levels[SL_LAYERS_MAX];
    /* nodes that were left out, by cause; total 0 = none was */
    uint32_t total_sites;
    uint32_t by_selector, by_affinity, by_domain;
    uint32_t by_taint[SL_TAINTS_MAX];
    uint32_t by_measure[SL_MEASURES_MAX];
};
extern struct sl_placement_failure sl_placement_failure; /* of the last question */

/* Of several measures of which a node has too little the one of the lowest rank is named: the order
 * of their names (at first all 0: that of their ids). */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_placement_rank_measure(sl_measure_id measure, uint32_t rank);

/* clang-format off */
#define SL_PLACED sl_topology_plan, sl_placement_failure, SL_SPOTS
/* clang-format on */
/*@
  // Capacities are as the kernel keeps them, what is assumed of them is in range, and the plan is within
  // its arrays.
  predicate PlaceReady{L} = TopologyInv && AssumedInRange && PlanBounded;
*/

/* Answer sl_placement_question: true with sl_topology_plan filled, or false with
 * sl_placement_failure. All sets of the question are placed, or none. */
/*@ requires ready: PlaceReady; terminates \true; exits \false; assigns sl_hidden, SL_PLACED;
    ensures plan: PlanBounded; */
bool sl_placement_find(void);
#endif
