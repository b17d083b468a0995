/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* x-kubernetes-validations: the rules in CEL that a structural schema has at its places. */
#ifndef SL_API_RULES_H
#define SL_API_RULES_H
#include "api/validate/validate.h"

/* Of all rules of a schema together, and the steps that those of one object may take (1,000,000 of them are less than a second). */
#define SL_VALIDATIONS_BYTES_MAX 65536u
#define SL_VALIDATIONS_STEPS_MAX 1000000u

struct sl_validations;

/* The rules of a schema, which is kept as a copy. With a check, complaints about them at the place where it is; without
 * one they were checked before. NULL: there are none, or none that are good. */
struct sl_validations *sl_validations_new(const struct sl_json *schema, struct sl_check *c);
void sl_validations_free(struct sl_validations *rules);
/* Asks them of an object, and of its change where there was one. When the schema has refused it in a way that leaves types open, it says so
 * instead. */
void sl_validations_ask(const struct sl_validations *rules, struct sl_check *c);
#endif
