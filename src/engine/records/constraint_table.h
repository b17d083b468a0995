/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A counted table of what pod sets ask of nodes, keyed by its JSON text: most workloads share a few.
 * Number 0 is "nothing at all". Owns texts and values. */
#ifndef SL_ENGINE_CONSTRAINT_TABLE_H
#define SL_ENGINE_CONSTRAINT_TABLE_H
#include "api/json/json.h"
#include <stdbool.h>
#include <stdint.h>

struct sl_constraints;
struct sl_engine;
struct sl_constraints *sl_constraints_new(void);
void sl_constraints_free(struct sl_constraints *t);

/* The number of the constraint, for one user more; the value becomes the table's. 0 for one that
 * asks for nothing. */
uint32_t sl_constraints_number(struct sl_constraints *t, struct sl_json *value);
/* One user less; a number without users is used again. */
void sl_constraints_drop(struct sl_constraints *t, uint32_t number);
bool sl_constraints_has_one_user(const struct sl_constraints *t, uint32_t number);

/* The constraint of that number, as sl_pod_constraint_new has it, with `preferred` terms where the
 * settings look at those; NULL for number 0. */
const struct sl_json *sl_constraints_value(const struct sl_engine *g, uint32_t number);
#endif
