/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Is a schema structural, as Kubernetes calls it (each field has a type), and is all that it says held here? What is not is refused
 * and named: a rule that is stored and never asked would let objects in that a cluster refuses. */
#ifndef SL_API_STRUCTURAL_H
#define SL_API_STRUCTURAL_H
#include "api/validate/validate.h"

/* Complaints about the schema at the place where the check is. */
void sl_structural_check(struct sl_check *c, const struct sl_json *schema);
#endif
