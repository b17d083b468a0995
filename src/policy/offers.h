/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What each ClusterQueue offers: its rules, and the cells that workloads may be given, grouped
 * and in the order in which flavors are tried. An offer is a cell of the queue's own node, so
 * nothing is stored twice: flavor and resource are the ledger's. Owns the rules and the lists of
 * offers. */
#ifndef SL_POLICY_OFFERS_H
#define SL_POLICY_OFFERS_H
#include "kernel/status.h"
#include "kernel/types.h"

#define SL_GROUPS_MAX 16u /* resource groups of one ClusterQueue (as the API's limit) */

enum sl_strategy { SL_BEST_EFFORT_FIFO, SL_STRICT_FIFO };
enum sl_fungibility { SL_MAY_STOP_SEARCH, SL_TRY_NEXT_FLAVOR };

struct sl_rules {
    enum sl_strategy strategy;
    enum sl_fungibility when_can_borrow; /* it fits only by borrowing: take it, or look on */
};

/* Refused: NO_NODE_ID. For a queue's strategy use sl_queues_configure, which also looks at its
 * head again. */
enum sl_status sl_offers_set_rules(sl_node_id node, struct sl_rules rules) SL_MUST_CHECK;
struct sl_rules sl_offers_rules(sl_node_id node);

/* Replace what a queue offers: clear, then add cell by cell; resource group by resource group,
 * in a group flavor by flavor in the order of the spec. Adding is refused when the cell is not
 * one of `node` (PLAN_CLAIM), is offered already (IN_USE) or the group is beyond SL_GROUPS_MAX
 * (BAD_ARGUMENT). Clear before a cell is given back to the ledger. Afterwards wake the queue. */
void sl_offers_clear(sl_node_id node);
enum sl_status sl_offers_add(sl_node_id node, uint32_t group, sl_cell_id cell) SL_MUST_CHECK;

/* In the order they were added; SL_NO_ID = no (more). */
sl_cell_id sl_offers_first(sl_node_id node);
sl_cell_id sl_offers_next(sl_cell_id cell);
uint32_t sl_offers_group_of(sl_cell_id cell);

/* The resource that counts pods ("pods"): a pod set asks for as many as it has pods from a queue
 * that offers it, and for none from one that does not. SL_NO_ID (at first) = no such resource. */
void sl_offers_set_pods_resource(sl_resource_id resource);
sl_resource_id sl_offers_pods_resource(void);

bool sl_offers_valid(void); /* every list is of its node's cells, none twice; linear time */
#endif
