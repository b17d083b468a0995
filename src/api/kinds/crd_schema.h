/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#ifndef SL_API_KINDS_CRD_SCHEMA_H
#define SL_API_KINDS_CRD_SCHEMA_H
#include "api/objects/schema.h"

/* Are fields that no row names kept? Ours are pruned as Kueue's are, so that a misspelt one is refused; those
 * of pods, of which the tables name only what is read, are kept. */
enum sl_crd_unknown { SL_CRD_UNKNOWN_PRUNED, SL_CRD_UNKNOWN_KEPT };

struct sl_json *sl_crd_schema_new(const struct sl_node *node, enum sl_crd_unknown unknown);
/* "A|B" as a list of texts; "A|" is A and the empty text. */
struct sl_json *sl_crd_split(const char *values, char separator);
/* A CEL rule of a schema. */
void sl_crd_add_rule(struct sl_json *s, const char *rule, const char *message);
#endif
