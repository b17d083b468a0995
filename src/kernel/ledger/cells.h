/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The ledger's arrays, only for the files that make up the ledger. A link is an id plus one, so
 * that memory that was never touched already says "no link", "not in use". Written by: trail.c own,
 * usage, totals; ledger_quota.c limits and what follows from them, links between cells;
 * ledger_cells.c which cells exist; ledger_tree.c the qnodes; ledger_height.c their heights. */
#ifndef SL_KERNEL_CELLS_H
#define SL_KERNEL_CELLS_H
#include "kernel/base/types.h"

/* Totals are kept per resource, modulo this. */
#define SL_TOTALS_MAX 256u

/* What children lend may exceed 64 bits: it is lent_high * SL_LENT_UNIT + lent_low. */
#define SL_LENT_UNIT 4611686018427387904LL

extern bool sl_qnode_used[SL_QNODES_MAX];
extern uint32_t sl_qnode_up[SL_QNODES_MAX];       /* the parent's link */
extern uint32_t sl_qnode_level[SL_QNODES_MAX];    /* steps to the root */
extern uint32_t sl_qnode_children[SL_QNODES_MAX]; /* how many qnodes have it as parent */
extern uint32_t sl_qnode_cells[SL_QNODES_MAX];    /* how many cells it has */
extern uint32_t sl_qnode_first[SL_QNODES_MAX];    /* link to the newest of them */
extern uint32_t sl_qnode_limit;                   /* no qnode from here on was ever in use */

extern uint32_t
    sl_qnode_height[SL_QNODES_MAX]; /* steps down to the farthest leaf, when not stale */
extern bool sl_heights_stale;

extern uint32_t sl_cell_home[SL_CELLS_MAX]; /* link to its qnode, 0 = not in use */
extern sl_flavor_id sl_cell_flavor[SL_CELLS_MAX];
extern sl_resource_id sl_cell_resource[SL_CELLS_MAX];
extern uint32_t sl_cell_up[SL_CELLS_MAX];   /* link to the parent qnode's cell */
extern uint32_t sl_cell_next[SL_CELLS_MAX]; /* link to the qnode's next older cell */
extern uint32_t sl_cell_rank[SL_CELLS_MAX]; /* 1 = the oldest of its qnode */
extern uint32_t sl_cell_limit;              /* no cell from here on was ever in use */

/* Cells below the limit that were given back. */
extern sl_cell_id sl_cell_spare[SL_CELLS_MAX];
extern uint32_t sl_cell_spares;

extern int64_t sl_cell_nominal[SL_CELLS_MAX];
extern int64_t sl_cell_lending[SL_CELLS_MAX];
extern int64_t sl_cell_borrowing[SL_CELLS_MAX];
extern int64_t sl_cell_lent_low[SL_CELLS_MAX]; /* the sum of what its children lend */
extern int64_t sl_cell_lent_high[SL_CELLS_MAX];
extern int64_t sl_cell_subtree[SL_CELLS_MAX]; /* nominal and lent together, saturated */
extern int64_t sl_cell_kept[SL_CELLS_MAX];    /* the part of it that is not lent upwards */

extern int64_t sl_cell_own[SL_CELLS_MAX];   /* charged to this very cell */
extern int64_t sl_cell_usage[SL_CELLS_MAX]; /* own and what its children store in it */
extern int64_t sl_total[SL_TOTALS_MAX];     /* the sum of own over all cells of a resource */

/* What a change of structure has found out before it begins. */
extern sl_qnode_id sl_scratch_path[SL_LEVELS_MAX]; /* the qnodes, upwards, that miss a cell */
extern sl_cell_id sl_scratch_target[SL_CELLS_MAX]; /* what this cell will hang under */
extern bool sl_scratch_moves[SL_QNODES_MAX]; /* does this qnode lie under the one that moves? */

/* What the checker adds up again. */
extern int64_t sl_check_stored[SL_CELLS_MAX];
extern int64_t sl_check_lent_low[SL_CELLS_MAX];
extern int64_t sl_check_lent_high[SL_CELLS_MAX];
extern int64_t sl_check_total[SL_TOTALS_MAX];
extern uint32_t sl_check_counts[SL_QNODES_MAX]; /* of its children first, then of its cells */
extern bool sl_check_spare[SL_CELLS_MAX];       /* is it among the spare ones? */

#include "specs/ledger.acsl"
#include "specs/ledger_forest.acsl"
#include "specs/ledger_height.acsl"
#include "specs/ledger_check.acsl"
#endif
