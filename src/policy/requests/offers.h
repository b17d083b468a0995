/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What each ClusterQueue offers: its rules, and the cells that workloads may be given, grouped
 * and in the order in which flavors are tried. An offer is a cell of the queue's own qnode, so
 * nothing is stored twice: flavor and resource are the ledger's. Owns the rules and the lists of
 * offers. */
#ifndef SL_POLICY_OFFERS_H
#define SL_POLICY_OFFERS_H
#include "kernel/base/status.h"
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

#define SL_GROUPS_MAX 16u /* resource groups of one ClusterQueue (as the API's limit) */

enum sl_strategy { SL_BEST_EFFORT_FIFO, SL_STRICT_FIFO };
enum sl_fungibility { SL_MAY_STOP_SEARCH, SL_TRY_NEXT_FLAVOR };
enum sl_preference { SL_BORROWING_OVER_PREEMPTION, SL_PREEMPTION_OVER_BORROWING };

struct sl_rules {
    enum sl_strategy strategy;
    enum sl_fungibility when_can_borrow;  /* it fits only by borrowing: take it, or look on */
    enum sl_fungibility when_can_preempt; /* it fits only by preemption: take it, or look on */
    enum sl_preference preference;        /* which of two flavors is the better */
    bool by_usage;                        /* workloads of LocalQueues that used less go first
                                           * (usage.h) */
};

/* Refused: NO_QNODE. For a queue's strategy use sl_queues_configure, which also looks at its
 * head again. The rules of a queue that was never set are the API's defaults: BestEffortFIFO,
 * whenCanBorrow MayStopSearch, whenCanPreempt TryNextFlavor, BorrowingOverPreemption. Whoever
 * sets rules sets all four: zero is not the default of when_can_preempt. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_offers_set_rules(sl_qnode_id qnode, struct sl_rules rules) SL_MUST_CHECK;
/*@ terminates \true; exits \false; assigns \nothing; */
struct sl_rules sl_offers_rules(sl_qnode_id qnode);

/* Replace what a queue offers: clear, then add cell by cell; resource group by resource group,
 * in a group flavor by flavor in the order of the spec. Adding is refused when the cell is not
 * one of `qnode` (PLAN_USAGE), is offered already (IN_USE) or the group is beyond SL_GROUPS_MAX
 * (BAD_ARGUMENT). Clear before a cell is given back to the ledger. Afterwards wake the queue. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_offers_clear(sl_qnode_id qnode);
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_offers_add(sl_qnode_id qnode, uint32_t group, sl_cell_id cell) SL_MUST_CHECK;

/* In the order they were added; SL_NO_ID = no (more). */
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_CELLS_MAX || \result == SL_NO_ID;
*/
sl_cell_id sl_offers_first(sl_qnode_id qnode);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_CELLS_MAX || \result == SL_NO_ID;
*/
sl_cell_id sl_offers_next(sl_cell_id cell);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_GROUPS_MAX || \result == SL_NO_ID;
*/
uint32_t sl_offers_group_of(sl_cell_id cell);

/* Every cell that offers a flavor, in no particular order; SL_NO_ID = no (more). Flavors beyond
 * SL_USED_FLAVORS_MAX have no topology, and are not in the list. */
#define SL_USED_FLAVORS_MAX 65536u
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_CELLS_MAX || \result == SL_NO_ID;
*/
sl_cell_id sl_offers_first_of(sl_flavor_id flavor);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_CELLS_MAX || \result == SL_NO_ID;
*/
sl_cell_id sl_offers_next_of(sl_cell_id cell);

/* Does topology wait for a second phase where this cell's flavor is given to a workload: a check of
 * the queue (a ProvisioningRequest for that flavor; MultiKueue: for all) has to come first. One
 * that holds a reservation is placed. Cells that are offered again start with no; those that are
 * not offered never wait. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_offers_set_delayed(sl_cell_id cell, bool delayed);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_offers_is_delayed(sl_cell_id cell);

/* The resource that counts pods ("pods"): a pod set asks for as many as it has pods from a queue
 * that offers it, and for none from one that does not. SL_NO_ID (at first) = no such resource. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_offers_set_pods_resource(sl_resource_id resource);
/*@ terminates \true; exits \false; assigns \nothing; */
sl_resource_id sl_offers_pods_resource(void);

/* Resources are looked at in the order of these keys (at first 0), those of equal keys in the order
 * of the workload: where one has no place the next ones are not tried, so the order decides which
 * message a workload gets. Kueue's key is the 64-bit FNV-1a hash of the name; the shell, which has
 * the names, sets it when a name gets its id. Beyond SL_RESOURCES_MAX ids: nothing happens. */
#define SL_RESOURCES_MAX 4096u
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_offers_set_order(sl_resource_id resource, uint64_t key);
/*@ terminates \true; exits \false; assigns \nothing; */
uint64_t sl_offers_order(sl_resource_id resource);

/* The measure of nodes (kernel/topology/topology.h) that has the resource's name; SL_NO_ID (at first) =
 * none. A pod set that asks for topology may be given a flavor without, where its pods
 * themselves ask for nothing of what the flavor's resource group covers. The shell sets it when
 * it has both. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_offers_set_measure(sl_resource_id resource, uint32_t measure);
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_offers_measure(sl_resource_id resource);

/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_offers_valid(void); /* every list is of its qnode's cells, none twice; linear time */
#endif
