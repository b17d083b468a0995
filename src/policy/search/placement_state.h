/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What only the parts of placement share: the pod set that is being placed, how many pods and
 * slices each domain can take, and which domains were chosen. Places in the tree are spots
 * (trees.h). */
#ifndef SL_POLICY_PLACEMENT_STATE_H
#define SL_POLICY_PLACEMENT_STATE_H
#include "policy/placement/placement.h"
#include "policy/topology/trees.h"

#define SL_TAKES_MAX (SL_TOPOLOGY_REQUESTS_MAX + 1u) /* requests, and the pod itself */

/* What a pod takes of a node; only what is more than nothing. */
struct sl_takes {
    uint32_t count;
    struct sl_measure_amount of[SL_TAKES_MAX];
};

/* The pod set in question, with the levels of its tree for names. */
struct sl_placing {
    sl_tree_id tree;
    struct sl_trees_layout at;
    uint32_t pod_set;
    uint32_t count;   /* pods, in whole slices */
    uint32_t surplus; /* so many of them there are not: the last slice lacks them */
    uint32_t leaders; /* 1: a leader is placed with it */
    uint32_t depth;   /* the level at which it is to stay together */
    bool required;
    bool unconstrained;
    bool least_free; /* take the fullest domains that will do */
    bool preferring; /* nodes by preferred affinity first */
    bool empty;      /* as if nothing was booked */
    uint32_t layer_count;
    struct sl_topology_layer layers[SL_LAYERS_MAX]; /* slices, outermost first */
    uint32_t slice_size;                            /* of the outermost; 1 without slices */
    uint32_t slice_depth;                           /* the lowest level without slices */
    uint32_t size_at[SL_DEPTHS_MAX];                /* of inner slices; 0 = none at this level */
    sl_mask_id mask;
    sl_domain_id within; /* only nodes in there; SL_NO_ID: all */
    struct sl_takes takes;
    struct sl_takes leader_takes;
};
extern struct sl_placing sl_placing;

/* --- capacity of spots: placement_counts.c fills it, and what is chosen overwrites it --- */
extern int64_t sl_fit_pods[SL_SPOTS_MAX];
extern int64_t sl_fit_slices[SL_SPOTS_MAX];
extern int64_t sl_fit_score[SL_SPOTS_MAX]; /* only when preferring */
/* With the leader standing there, too; only when there is one. */
extern int64_t sl_fit_pods_led[SL_SPOTS_MAX];
extern int64_t sl_fit_slices_led[SL_SPOTS_MAX];
extern uint32_t sl_fit_leaders[SL_SPOTS_MAX];

/* What earlier pod sets of the question take of capacities. */
extern int64_t sl_placement_own[SL_CAPACITIES_MAX];
extern bool sl_placement_has_own;

/* --- chosen spots --- */
struct sl_spot_list {
    uint32_t count;
    uint32_t spots[SL_DOMAINS_MAX];
};
extern struct sl_spot_list sl_chosen;

/* clang-format off */
#define SL_OWN sl_placement_own[0 .. SL_CAPACITIES_MAX - 1], sl_placement_has_own
#define SL_FITS                                                                                    \
    sl_fit_pods[0 .. SL_SPOTS_MAX - 1], sl_fit_slices[0 .. SL_SPOTS_MAX - 1],                      \
        sl_fit_score[0 .. SL_SPOTS_MAX - 1], sl_fit_pods_led[0 .. SL_SPOTS_MAX - 1],               \
        sl_fit_slices_led[0 .. SL_SPOTS_MAX - 1], sl_fit_leaders[0 .. SL_SPOTS_MAX - 1]
/* clang-format on */
/*@
  predicate IsFit(integer amount) = -SL_AMOUNT_MAX <= amount <= SL_AMOUNT_MAX;
  // What is counted of every spot is in range.
  predicate FitsInRange{L} = \forall integer s; 0 <= s < SL_SPOTS_MAX ==>
    IsFit(sl_fit_pods[s]) && IsFit(sl_fit_slices[s]) && IsFit(sl_fit_score[s]) &&
    IsFit(sl_fit_pods_led[s]) && IsFit(sl_fit_slices_led[s]);
  // The pod set in question has levels, is at one of them, and comes in slices of some size at one.
  predicate PlacingSound{L} =
    0 < sl_placing.at.depth_count <= SL_DEPTHS_MAX && sl_placing.leaders <= 1 &&
    sl_placing.depth < sl_placing.at.depth_count && 0 < sl_placing.slice_size &&
    sl_placing.slice_depth < sl_placing.at.depth_count &&
    (\forall integer d; 0 <= d <= SL_DEPTHS_MAX ==> sl_placing.at.first[d] <= SL_SPOTS_MAX);
  // Its layers of slices have sizes, and levels.
  predicate LayersSound{L} = sl_placing.layer_count <= SL_LAYERS_MAX &&
    \forall integer i; 0 <= i < sl_placing.layer_count ==> 0 < sl_placing.layers[i].size &&
      sl_placing.layers[i].depth < sl_placing.at.depth_count;
  // Its pods take something, and an amount, of each measure that is named.
  predicate TakesSound{L} = \forall integer i; 0 <= i < SL_TAKES_MAX ==>
    (i < sl_placing.takes.count ==> 0 < sl_placing.takes.of[i].per_pod <= SL_AMOUNT_MAX) &&
    (i < sl_placing.leader_takes.count ==>
       0 < sl_placing.leader_takes.of[i].per_pod <= SL_AMOUNT_MAX);
  predicate OwnInRange{L} = \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
    -SL_AMOUNT_UNLIMITED <= sl_placement_own[r] <= SL_AMOUNT_UNLIMITED;
  // What counting the capacity of spots, and looking for places, relies on.
  predicate CountsReady{L} = PlacingSound && LayersSound && TakesSound && OwnInRange &&
    FitsInRange && CapacityBounded && UsedInRange && AssumedInRange && DomainsInv;
  predicate ChosenSound{L} = sl_chosen.count <= SL_DOMAINS_MAX &&
    \forall integer i; 0 <= i < sl_chosen.count ==> sl_chosen.spots[i] < SL_SPOTS_MAX;
*/

/*@ requires ready: CountsReady; terminates \true; exits \false; assigns sl_hidden, SL_FITS;
    ensures fits: FitsInRange; */
void sl_counts_fill(void);
/* Real numbers of pods are far below the bound, which keeps sums of any numbers in range. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures fit: IsFit(\result); ensures same: IsFit(amount) ==> \result == amount; */
int64_t sl_counts_bounded(int64_t amount);
/* How many slices the pods of a spot make. */
/*@ requires ready: PlacingSound && FitsInRange && spot < SL_SPOTS_MAX; terminates \true;
    exits \false; assigns sl_fit_slices[spot], sl_fit_slices_led[spot];
    ensures fits: FitsInRange; */
void sl_counts_slices(uint32_t spot);
/* What the children of a spot of that level (not the lowest) have together. */
/*@ requires ready: PlacingSound && FitsInRange && spot < SL_SPOTS_MAX; terminates \true;
    exits \false; assigns SL_FITS; ensures fits: FitsInRange; */
void sl_counts_sum(uint32_t spot, uint32_t depth);
/* What is free of a room for the pod set in question. */
/*@ requires range: OwnInRange && CapacityBounded && UsedInRange && AssumedInRange;
    terminates \true; exits \false; assigns \nothing;
    ensures range: -6 * SL_AMOUNT_MAX <= \result <= 5 * SL_AMOUNT_MAX; */
int64_t sl_counts_free(sl_site_id site, sl_measure_id measure);

/* --- steps; false = sl_placement_failure says why --- */
/* The pod set in question is that one of sl_placement_question, with that leader (SL_NO_ID: none).
 */
/*@ requires sets: set < SL_TOPOLOGY_SETS_MAX &&
      (leader < SL_TOPOLOGY_SETS_MAX || leader == SL_NO_ID);
    terminates \true; exits \false;
    assigns sl_hidden, SL_SPOTS, sl_placing, sl_placement_failure;
    ensures ready: \result ==> PlacingSound && TakesSound && LayersSound; */
bool sl_placement_ask(uint32_t set, uint32_t leader);
/* So many pods, in slices of sl_placing.slice_size. */
/*@ requires ready: 0 < sl_placing.slice_size; terminates \true; exits \false;
    assigns sl_placing.count, sl_placing.surplus, sl_placement_failure; */
bool sl_placement_set_count(uint32_t count);
/*@ terminates \true; exits \false; assigns sl_placement_failure; ensures no: !\result; */
bool sl_placement_miss(enum sl_placement_miss miss); /* always false */
/*@ requires ready: CountsReady && depth < SL_DEPTHS_MAX; terminates \true; exits \false;
    assigns sl_placement_failure; ensures no: !\result; */
bool sl_placement_no_fit(uint32_t depth, int64_t fit, int64_t of);
/* The domains that take all pods, in sl_chosen: their level; SL_NO_ID = there are none. */
/*@ requires ready: CountsReady; terminates \true; exits \false;
    assigns sl_hidden, sl_placement_failure, sl_chosen;
    ensures chosen: ChosenSound;
    ensures level: \result < sl_placing.at.depth_count || \result == SL_NO_ID; */
uint32_t sl_placement_search(void);
/* From sl_chosen to the lowest level. */
/*@ requires ready: CountsReady && ChosenSound && depth < sl_placing.at.depth_count;
    terminates \true; exits \false;
    assigns sl_hidden, sl_placement_failure, SL_FITS, sl_chosen;
    ensures fits: FitsInRange; ensures chosen: ChosenSound; */
bool sl_placement_descend(uint32_t depth, bool balanced);
/* As search; SL_NO_ID = that way does not work out, and what is counted of spots is as before. */
/*@ requires ready: CountsReady; terminates \true; exits \false;
    assigns sl_hidden, SL_FITS, sl_placing.size_at[0 .. SL_DEPTHS_MAX - 1], sl_chosen;
    ensures ready: CountsReady;
    ensures chosen: \result != SL_NO_ID ==> ChosenSound;
    ensures level: \result < sl_placing.at.depth_count || \result == SL_NO_ID; */
uint32_t sl_placement_balance(void);
/* All of that; the answer in sl_chosen, in order, and sl_fit_... */
/*@ requires ready: CountsReady; terminates \true; exits \false;
    assigns sl_hidden, sl_placement_failure, SL_FITS, sl_placing.size_at[0 .. SL_DEPTHS_MAX - 1],
            sl_chosen;
    ensures ready: CountsReady; ensures chosen: \result ==> ChosenSound; */
bool sl_placement_one(void);
/*@ requires chosen: ChosenSound; terminates \true; exits \false;
    assigns sl_hidden, sl_chosen.spots[0 .. SL_DOMAINS_MAX - 1]; ensures chosen: ChosenSound; */
void sl_placement_sort_chosen(void);

/* --- what is taken: placement_own.c --- */
/* What the chosen spot gives counts as taken from now on. */
/*@ requires ready: spot < SL_SPOTS_MAX && FitsInRange && TakesSound && OwnInRange;
    terminates \true; exits \false; assigns sl_hidden, SL_OWN; ensures own: OwnInRange; */
void sl_placement_take_own(uint32_t spot, bool leader);
/* So many pods of the pod set in question are on the site. */
/*@ requires ready: TakesSound && OwnInRange; terminates \true; exits \false;
    assigns sl_hidden, SL_OWN; ensures own: OwnInRange; */
void sl_placement_take_pods(sl_site_id site, uint32_t pods);
/* What the workload has booked counts as free. */
/*@ requires ready: OwnInRange && BlocksSound; terminates \true; exits \false;
    assigns sl_hidden, SL_OWN; ensures own: OwnInRange; */
void sl_placement_free_booked(sl_workload_id id);
/* Nothing is taken any more by the sets placed so far. */
/*@ requires own: OwnInRange; terminates \true; exits \false; assigns sl_hidden, SL_OWN;
    ensures own: OwnInRange; */
void sl_placement_clear_own(void);

/* --- the answer: placement_answer.c --- */
/* No set of the question has rows. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_placement_start(void);
/* The rows of that set begin here. */
/*@ requires set: set < SL_TOPOLOGY_SETS_MAX; terminates \true; exits \false;
    assigns sl_hidden; */
void sl_placement_start_set(uint32_t set);
/* One more row of that set of the question. */
/*@ terminates \true; exits \false; assigns sl_hidden, sl_placement_failure; */
bool sl_placement_put(uint32_t set, sl_domain_id domain, int64_t count);
/* What the answer says of the set (its leader) besides its rows, which are there already. */
/*@ requires ready: set < SL_TOPOLOGY_SETS_MAX && LayersSound && DomainsInv;
    terminates \true; exits \false; assigns sl_hidden; */
void sl_placement_head(uint32_t set, bool leader);
/* It promises no more than is true of the rows. */
/*@ requires ready: set < SL_TOPOLOGY_SETS_MAX && DomainsInv;
    terminates \true; exits \false; assigns sl_hidden; */
void sl_placement_loosen(uint32_t set);
/* The rows of all sets, in the order of the question, into the plan, which is empty. */
/*@ requires empty: sl_topology_plan.set_count == 0 && sl_topology_plan.row_count == 0 &&
      sl_placement_question.set_count <= SL_TOPOLOGY_SETS_MAX;
    terminates \true; exits \false; assigns sl_topology_plan; ensures plan: PlanBounded; */
void sl_placement_write(void);
/* All rows of a set of which some have failed, with new ones in their place. */
/*@ requires set: set < SL_TOPOLOGY_SETS_MAX;
    requires ready: OwnInRange && FitsInRange && TopologyInv && AssumedInRange;
    terminates \true; exits \false;
    assigns sl_hidden, sl_placement_failure, sl_placing, sl_chosen, SL_FITS, SL_SPOTS, SL_OWN;
    ensures ready: OwnInRange && FitsInRange; */
bool sl_placement_replace(uint32_t set);

/* --- pods of the slice before: placement_keep.c --- */
/* Do the pods of sl_placement_question.old stay where they are? Not if one of its places was closed. */
/*@ requires ready: BlocksSound; terminates \true; exits \false; assigns \nothing; */
bool sl_placement_keeps_places(void);
/* What they take of capacities is taken from now on, and what was booked for them is not. */
/*@ requires ready: OwnInRange && TopologyInv; terminates \true; exits \false;
    assigns sl_hidden, sl_placement_failure, sl_placing, SL_SPOTS, SL_OWN; ensures own: OwnInRange; */
void sl_placement_take_kept(void);
/* Has the set of the question pods that stay? */
/*@ requires ready: BlocksSound; terminates \true; exits \false; assigns \nothing; */
bool sl_placement_has_kept(uint32_t set);
/* All rows of a set: those that stay, the last ones left out where there are too many, and new ones where there are too
 * few. */
/*@ requires set: set < SL_TOPOLOGY_SETS_MAX;
    requires ready: OwnInRange && FitsInRange && TopologyInv && AssumedInRange;
    terminates \true; exits \false;
    assigns sl_hidden, sl_placement_failure, sl_placing, sl_chosen, SL_FITS, SL_SPOTS, SL_OWN;
    ensures ready: OwnInRange && FitsInRange; */
bool sl_placement_keep(uint32_t set);
#endif
