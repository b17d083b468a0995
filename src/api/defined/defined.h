/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kinds that definitions have defined: what is kept of each, and what it means for objects. */
#ifndef SL_API_DEFINED_H
#define SL_API_DEFINED_H
#include "api/objects/schema.h"

/* Serves the kind of a definition that was checked, from now on as it says. CONFLICT, TOO_MANY: it is not served. */
enum sl_code sl_defined_take(const struct sl_json *definition, enum sl_kind *out,
                             struct sl_error *e);
void sl_defined_drop(enum sl_kind kind);
/* The kind that a definition defines; SL_KIND_COUNT: it is not served. */
enum sl_kind sl_defined_kind(const struct sl_json *definition);

#define SL_DEFAULTS_WEIGHT_MAX 65536u /* of those that one object gets (api/json/json.h) */

/* Fields that the kind does not have are removed, and others get their defaults. False: those are too many. */
bool sl_defined_shape(enum sl_kind kind, struct sl_json *object);
void sl_defined_prune(enum sl_kind kind, struct sl_json *object);
/* Appends the paths of fields that the kind does not have, 16 at most. */
void sl_defined_unknown(enum sl_kind kind, const struct sl_json *object, struct sl_json *list);
/* Where its subresource scale has the replicas and the selector, as the definition says it (".spec.replicas"); NULL: it has none.
 * Lent. */
const struct sl_json *sl_defined_scale(enum sl_kind kind);
/* Fields that selectors may ask for besides metadata: maps with a jsonPath each; NULL: none. Lent. */
const struct sl_json *sl_defined_selectable(enum sl_kind kind);
/* Its fields as an OpenAPI v3 schema, for `kubectl explain`. The caller frees it. */
struct sl_json *sl_defined_openapi_new(enum sl_kind kind);
/* What users are to be warned of with each answer, the kind's version being deprecated; false: nothing. */
bool sl_defined_warning(enum sl_kind kind, char out[static 256]);
/* Names of groups of kinds, such as all; NULL: none. Lent. */
const struct sl_json *sl_defined_categories(enum sl_kind kind);
#endif
