/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which workloads have pods on which site, and back: what happens to a node concerns only those. A
 * row says that a workload has pods on a site, whatever their number and pod sets. */
#ifndef SL_ENGINE_TENANTS_H
#define SL_ENGINE_TENANTS_H
#include "kernel/topology/topology.h"

struct sl_tenants;
struct sl_tenants *sl_tenants_new(void);
void sl_tenants_free(struct sl_tenants *t);

/* Makes the workload's rows again, from its assignment in the core; none when it has none. */
void sl_tenants_list(struct sl_tenants *t, sl_workload_id id);
bool sl_tenants_listed(const struct sl_tenants *t, sl_workload_id id);

/* Rows of a site, and of a workload; SL_NO_ID = no (more). */
uint32_t sl_tenants_first(const struct sl_tenants *t, sl_site_id site);
uint32_t sl_tenants_next(const struct sl_tenants *t, uint32_t row);
uint32_t sl_tenants_first_of(const struct sl_tenants *t, sl_workload_id id);
uint32_t sl_tenants_next_of(const struct sl_tenants *t, uint32_t row);
sl_workload_id sl_tenants_workload(const struct sl_tenants *t, uint32_t row);
sl_site_id sl_tenants_site(const struct sl_tenants *t, uint32_t row);
/* The row of a workload on a site; SL_NO_ID = it has no pods there. */
uint32_t sl_tenants_find(const struct sl_tenants *t, sl_workload_id id, sl_site_id site);

/* A pod of the workload there has ended or was deleted. */
void sl_tenants_note_loss(struct sl_tenants *t, uint32_t row);
bool sl_tenants_has_lost(const struct sl_tenants *t, uint32_t row);
#endif
