/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which limit keeps a ClusterQueue from more of a flavor and resource: its own quota, a borrowing limit on the way up,
 * or the quota of its cohorts. Names the limit by which the ledger's answer (sl_ledger_available, sl_ledger_potential)
 * comes about; the amounts are the ledger's. */
#ifndef SL_ENGINE_WHY_LIMIT_H
#define SL_ENGINE_WHY_LIMIT_H
#include "engine/state.h"

enum sl_why_limit_kind {
    SL_WHY_NOMINAL,   /* of a ClusterQueue without a cohort */
    SL_WHY_BORROWING, /* nominal quota and borrowing limit together, of a ClusterQueue or a Cohort */
    SL_WHY_COHORT     /* what the cohort has */
};
struct sl_why_limit {
    enum sl_why_limit_kind kind;
    sl_cell_id cell; /* of the ClusterQueue or Cohort whose limit it is */
    int64_t quota;
    int64_t used;
    int64_t withheld; /* COHORT: unused quota that lending limits keep from the ClusterQueue */
    int64_t kept;     /* COHORT: all that lending limits keep out of `quota`, used or not */
};

/* Of the ClusterQueue's cell: what limits it now, and what would if nothing were used (`used` and `withheld` are 0). */
struct sl_why_limit sl_why_limit_now(const struct sl_engine *g, sl_cell_id cell);
struct sl_why_limit sl_why_limit_ever(const struct sl_engine *g, sl_cell_id cell);
/* How the object's spec calls it. */
const char *sl_why_limit_name(enum sl_why_limit_kind kind);
/* SL_AMOUNT_UNLIMITED: none. Of a cell of any ClusterQueue or Cohort. */
int64_t sl_why_borrowing_limit(const struct sl_engine *g, sl_cell_id cell);
/* "ClusterQueue research" */
void sl_why_print_qnode(const struct sl_engine *g, sl_qnode_id qnode, struct sl_buf *out);
#endif
