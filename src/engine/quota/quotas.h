/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* spec.resourceGroups of a ClusterQueue or Cohort, in ids and amounts. */
#ifndef SL_ENGINE_QUOTAS_H
#define SL_ENGINE_QUOTAS_H
#include "engine/state.h"

/* Read the groups; INVALID with causes, and *out untouched, when a quantity is malformed or
 * negative, a name is missing, there are more groups than SL_GROUPS_MAX or names are used up. */
enum sl_code sl_quotas_read(struct sl_engine *g, const struct sl_json *object,
                            struct sl_quotas *out, int64_t now_ms, struct sl_error *e);
/* Never equal when the core has refused one of them: then it has to be set again. */
bool sl_quotas_equal(const struct sl_quotas *a, const struct sl_quotas *b);
void sl_quotas_free(struct sl_quotas *q);
/* Bring the ledger's cells of `qnode` from what `old` says to what `new` says; the first refusal, or
 * SL_OK. */
enum sl_status sl_quotas_apply(struct sl_engine *g, sl_qnode_id qnode, const struct sl_quotas *old,
                               const struct sl_quotas *new_quotas, int64_t now_ms);
/* The same for what a ClusterQueue offers, in the order of the spec. */
/* The cell of that flavor and resource, opened where there is none yet. */
enum sl_status sl_quotas_open(struct sl_engine *g, sl_qnode_id qnode, sl_flavor_id flavor,
                              sl_resource_id resource, sl_cell_id *cell, int64_t now_ms);
enum sl_status sl_quotas_offer(struct sl_engine *g, sl_qnode_id qnode, const struct sl_quotas *q,
                               int64_t now_ms);
#endif
