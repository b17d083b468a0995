/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One thing that is in the way of a pod set, in Kueue's words. From sl_assignment. Owns nothing. */
#ifndef SL_ENGINE_CLAUSES_H
#define SL_ENGINE_CLAUSES_H
#include "policy/flavors/flavors.h"

#define SL_CLAUSE_SIZE 400 /* longer ones end in "..." */

struct sl_engine;
/* In the quota of a flavor, or in the flavor itself. */
void sl_clause_of_detail(const struct sl_engine *g, const struct sl_detail *d,
                         char out[static SL_CLAUSE_SIZE]);
#endif
