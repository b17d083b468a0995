/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quota and usage: a forest of cells, one per (quota node, flavor, resource) in use, each linked to the cell
 * of the same flavor and resource in its node's parent. Usage beyond what a node keeps for itself is stored
 * in its parent (FEATURES 3.9). Owns the nodes and cells. Carries G2, G3. */
#ifndef SL_KERNEL_LEDGER_H
#define SL_KERNEL_LEDGER_H
#include "kernel/status.h"
#include "kernel/types.h"

/* --- structure and quotas: administrators' changes ------------------------------------------------- */

/* Take a free node id into use as a root, or give an unused one back (refused while it has cells in use
 * or children). The caller chooses the id. */
enum sl_status sl_ledger_open_node(sl_node_id node) SL_MUST_CHECK;
enum sl_status sl_ledger_close_node(sl_node_id node) SL_MUST_CHECK;

/* Put `node` under `parent` (SL_NO_ID = make it a root). Cycles are refused. Cells missing above are
 * opened with no quota. Usage moves along. */
enum sl_status sl_ledger_move_node(sl_node_id node, sl_node_id parent) SL_MUST_CHECK;

/* Find or open the cell of (node, flavor, resource), opening the chain up to the root as needed. */
enum sl_status sl_ledger_open_cell(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource,
                                   sl_cell_id *cell) SL_MUST_CHECK;

/* Limits: SL_AMOUNT_UNLIMITED = none. Usage never changes what is set here; available may become negative. */
enum sl_status sl_ledger_set_quota(sl_cell_id cell, int64_t nominal, int64_t lending_limit,
                                   int64_t borrowing_limit) SL_MUST_CHECK;

/* --- usage ------------------------------------------------------------------------------------------ */

/* Charge `amount` to `cell` if it is available on the way to the root (G3), else refuse without effect. */
enum sl_status sl_ledger_reserve(sl_cell_id cell, int64_t amount) SL_MUST_CHECK;

/* Charge without asking for availability: what is already running at a restart, or is rescaled. */
enum sl_status sl_ledger_charge(sl_cell_id cell, int64_t amount) SL_MUST_CHECK;
enum sl_status sl_ledger_release(sl_cell_id cell, int64_t amount) SL_MUST_CHECK;

/* --- questions -------------------------------------------------------------------------------------- */
int64_t sl_ledger_available(sl_cell_id cell);           /* may be negative after a quota cut */
int64_t sl_ledger_potential(sl_cell_id cell);           /* the most that could ever be available */
uint32_t sl_ledger_borrow_height(sl_cell_id cell, int64_t amount); /* 0 = within its own subtree's quota */
int64_t sl_ledger_usage(sl_cell_id cell);               /* incl. what it stores for its children */
int64_t sl_ledger_own(sl_cell_id cell);                 /* charged to this very cell */
int64_t sl_ledger_nominal(sl_cell_id cell);
sl_node_id sl_ledger_node_of(sl_cell_id cell);          /* SL_NO_ID = not in use */
sl_flavor_id sl_ledger_flavor_of(sl_cell_id cell);
sl_resource_id sl_ledger_resource_of(sl_cell_id cell);
sl_node_id sl_ledger_parent_node(sl_node_id node);
sl_node_id sl_ledger_root_node(sl_node_id node);

bool sl_ledger_valid(void);                             /* LedgerInv, linear time */
#endif
