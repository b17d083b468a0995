/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment (Kueue's flavorassigner.Assign): which flavor each pod set gets of each
 * resource group of its ClusterQueue, judged on the live ledger, trials included. Owns
 * sl_assignment, the result of the last question, and how far the flavors were scanned for each
 * pending workload. */
#ifndef SL_POLICY_FLAVORS_H
#define SL_POLICY_FLAVORS_H
#include "kernel/ledger/ledger.h"
#include "kernel/base/types.h"
#include "policy/requests/requests.h"
#include "policy/requests/flavors_progress.h"
#include "policy/placement/placement.h"
#include "policy/preemption/preemption.h"
#include "specs/hidden.acsl"

#define SL_CHOICES_MAX (SL_POD_SETS_MAX * (SL_REQUESTS_MAX + 1u))
#define SL_DETAILS_MAX 256u
#define SL_ATTEMPTS_MAX 512u

/* From worst to best. DEFERRED: fits once the victims of others have stopped (set by the cycle). */
enum sl_mode { SL_MODE_NO_FIT, SL_MODE_PREEMPT, SL_MODE_DEFERRED, SL_MODE_FIT };

/* One request of one pod set and the cell that would pay for it. */
struct sl_choice {
    uint32_t pod_set; /* index in the workload, from 0 */
    sl_resource_id resource;
    sl_flavor_id flavor;
    sl_cell_id cell;
    int64_t amount;         /* of all its pods together */
    enum sl_mode mode;      /* NO_FIT never */
    uint32_t borrow_height; /* 0 = nothing is borrowed */
    int32_t
        tried_flavor; /* index in the resource group at which the scan stopped; -1 = at the end */
};

enum sl_miss {
    SL_MISS_NOT_OFFERED,   /* no resource group of the queue covers the resource */
    SL_MISS_TAINT,         /* the flavor's taints are not tolerated */
    SL_MISS_AFFINITY,      /* the flavor's labels do not match */
    SL_MISS_NO_FLAVOR,     /* the ResourceFlavor does not exist */
    SL_MISS_MAX_QUOTA,     /* more than could ever be available: too much by `amount` */
    SL_MISS_UNUSED_QUOTA,  /* more than is unused now: `amount` more needed */
    SL_MISS_NO_TOPOLOGY,   /* topology is asked for, and the flavor has none */
    SL_MISS_ONLY_TOPOLOGY, /* no topology is requested, and the flavor is only for workloads with
                            * a topology request */
    SL_MISS_NO_LEVEL,      /* the flavor's topology lacks the level that is asked for */
    SL_MISS_NO_TREE,       /* the flavor's Topology object does not exist */
    SL_MISS_SLICE,         /* the slice whose place it takes has another flavor */
    SL_MISS_UNNAMED        /* the workload names other flavors */
};

/* Why one flavor would not do for one pod set. */
struct sl_detail {
    uint32_t pod_set; /* index in the workload */
    enum sl_miss miss;
    sl_flavor_id flavor;     /* SL_NO_ID with NOT_OFFERED */
    sl_resource_id resource; /* SL_NO_ID when the flavor itself would not do */
    int64_t amount;          /* with MAX_QUOTA and UNUSED_QUOTA */
};

/* One flavor that was looked at for one pod set, and what came of it. */
struct sl_attempt {
    uint32_t pod_set;
    sl_flavor_id flavor;
    enum sl_mode mode;
    enum sl_possibility possibility; /* with PREEMPT */
    uint32_t borrow_height;
    enum sl_pending_reason reason; /* with NO_FIT */
};

/* Pod sets of one group get the same flavors: what is said of one is said of all. The answer ends
 * with the first group that has no place (mode NO_FIT); those before it keep theirs. */
struct sl_assignment {
    sl_workload_id workload;
    sl_qnode_id cluster_queue;
    sl_workload_id replaces;       /* the slice whose place it takes; SL_NO_ID = none */
    enum sl_mode mode;             /* the worst over all pod sets; NO_FIT when there is none */
    enum sl_pending_reason reason; /* with NO_FIT */
    uint32_t borrow_height;        /* the highest over all choices */
    uint32_t pod_set_count;
    uint32_t counts[SL_POD_SETS_MAX];    /* pods of each set, reduced by partial admission */
    bool examined[SL_POD_SETS_MAX];      /* false: an earlier pod set has no place at all */
    enum sl_mode modes[SL_POD_SETS_MAX]; /* of each set; NO_FIT when not examined */
    sl_tree_id tree[SL_POD_SETS_MAX];    /* the tree that it is or shall be assigned in; SL_NO_ID
                                          * = none */
    bool delayed[SL_POD_SETS_MAX];       /* its topology waits for the second phase */
    struct sl_placement_failure topology_failure; /* miss OK: topology was not in the way. NO_TREE:
                            the choices say whether no flavor with topology was found, or several */
    uint32_t choice_count; /* complete unless NO_FIT; then those of the sets before the one without
                              a place. None where a flavor has no quota of what is asked zero of */
    struct sl_choice choices[SL_CHOICES_MAX];
    uint32_t need_count; /* the same per cell, without zeros, and without what the slice that it
                            replaces holds; contested where a choice's mode is
                            PREEMPT. SL_USAGE_CELLS_MAX + 1 = more cells than a workload may use */
    struct sl_need needs[SL_USAGE_CELLS_MAX];
    uint32_t detail_count;     /* of what is in the way, of sets that do not fit at once; a group's
                                  details stand there once for each of its sets */
    uint32_t details_left_out; /* for which there was no room */
    struct sl_detail details[SL_DETAILS_MAX];
    uint32_t attempt_count; /* those beyond SL_ATTEMPTS_MAX are left out */
    struct sl_attempt attempts[SL_ATTEMPTS_MAX];
};
extern struct sl_assignment sl_assignment;
/*@ // Every count is within its array; a need too many counts as none.
  predicate AssignmentSound{L} = sl_assignment.pod_set_count <= SL_POD_SETS_MAX &&
    sl_assignment.choice_count <= SL_CHOICES_MAX && sl_assignment.need_count <= SL_USAGE_CELLS_MAX + 1 &&
    sl_assignment.detail_count <= SL_DETAILS_MAX && sl_assignment.attempt_count <= SL_ATTEMPTS_MAX;
  // Every choice is of a pod set that may be, and on a cell.
  predicate ChoicesSound{L} = \forall integer i; 0 <= i < sl_assignment.choice_count ==>
    sl_assignment.choices[i].pod_set < SL_POD_SETS_MAX &&
    sl_assignment.choices[i].cell < SL_CELLS_MAX &&
    0 <= sl_assignment.choices[i].amount <= SL_AMOUNT_MAX + 1;
  // So is every need, in range.
  predicate NeedsSound{L} =
    \forall integer i; 0 <= i < sl_assignment.need_count && i < SL_USAGE_CELLS_MAX ==>
      sl_assignment.needs[i].cell < SL_CELLS_MAX &&
      0 <= sl_assignment.needs[i].amount <= SL_AMOUNT_MAX;
  // What is asked of placement is of pod sets that may be.
  predicate PlacesAsked{L} = sl_placement_question.set_count <= SL_TOPOLOGY_SETS_MAX &&
    \forall integer i; 0 <= i < sl_placement_question.set_count ==>
      sl_placement_question.sets[i].pod_set < SL_POD_SETS_MAX;
*/

/*@ // The searches for flavors may begin, which ask those for victims and places.
  predicate SearchReady{L} = PreemptionReady && HeightsInv && VictimsSound; */
/* clang-format off */
#define SL_SEARCHED SL_SOUGHT, SL_HEIGHTS, sl_preemption_question
/* clang-format on */

/* The counts to assign for; written by callers that ask for fewer pods than the spec says. */
extern uint32_t sl_flavors_counts[SL_POD_SETS_MAX];

/* Find flavors for the workload in this queue on the current ledger; the answer is in
 * sl_assignment. Asks sl_preemption_prospect where preemption might help. A workload without pod
 * sets (its requests were refused) never fits: Misconfigured. */
/*@ requires ready: SearchReady; terminates \true; exits \false;
    assigns sl_hidden, SL_SEARCHED, sl_assignment, sl_placement_question;
    ensures ready: SearchReady && TakenBack{Pre, Post};
    ensures sound: AssignmentSound && ChoicesSound && NeedsSound && PlacesAsked; */
void sl_flavors_assign(sl_workload_id id, sl_qnode_id cluster_queue, int64_t now_ms);
/* The same for sl_flavors_counts pods of each set. */
/*@ requires ready: SearchReady; terminates \true; exits \false;
    assigns sl_hidden, SL_SEARCHED, sl_assignment, sl_placement_question;
    ensures ready: SearchReady && TakenBack{Pre, Post};
    ensures sound: AssignmentSound && ChoicesSound && NeedsSound && PlacesAsked; */
void sl_flavors_assign_counts(sl_workload_id id, sl_qnode_id cluster_queue, int64_t now_ms);

/* Remember how far sl_assignment's scan came, with the cycle's number (flavors_progress.h). When no
 * memory is left, nothing is remembered and the scan starts over. */
/*@ requires sound: AssignmentSound; terminates \true; exits \false; assigns sl_hidden; */
void sl_flavors_remember(uint64_t cycle);

/* While pinned, only the flavors of the remembered nomination count (recomputation within a
 * cycle), from the first on: pin takes those of sl_assignment. */
/*@ requires sound: AssignmentSound; terminates \true; exits \false; assigns sl_hidden; */
void sl_flavors_pin(void);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_flavors_unpin(void);
#endif
