/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which variants of a workload may take the place of one that holds quota already (Kueue's lastAcceptableFlavorName, and
 * RetainFirstAdmission). Owns a limit per queue. */
#ifndef SL_POLICY_MIGRATION_LIMIT_H
#define SL_POLICY_MIGRATION_LIMIT_H
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* Those whose rank (kernel/commit/variants.h) is less than the limit may. SL_NO_ID, at first: all. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_migration_limit_set(sl_qnode_id queue, uint32_t limit);
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_migration_limit(sl_qnode_id queue);
#endif
