/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* CustomResourceDefinitions (apiextensions.k8s.io/v1): what is asked of one, and what the server writes into it. */
#ifndef SL_API_DEFINITION_H
#define SL_API_DEFINITION_H
#include "api/objects/object.h"

/* Holds a definition until its objects are deleted; the server's to take away. */
#define SL_DEFINITION_FINALIZER "customresourcecleanup.apiextensions.k8s.io"
#define SL_DEFINITION_SOURCE_BYTES 256
#define SL_DEFINITION_SCALE_BYTES 60 /* of a path to numbers of replicas */

/* From now on sl_object_validate asks of definitions all that is asked of them. */
void sl_definition_rules(void);
/* Names that are left out, and the strategy. */
void sl_definition_default(struct sl_json *definition);
/* Its status: the names, the versions, and that it is established. Once it is being deleted, that its objects are, too. */
void sl_definition_settle(struct sl_json *definition, int64_t now_ms);
/* The one version of a definition that was checked. */
const struct sl_json *sl_definition_version(const struct sl_json *definition);
/* What two definitions may not both have: the path of the first such field in `definition`; NULL: there is none. */
const char *sl_definition_shared(const struct sl_json *definition, const struct sl_json *other);
/* INVALID with that complaint about `field`, for what only others can know. */
enum sl_code sl_definition_refuse(const struct sl_json *definition, const char *field,
                                  const char *why, struct sl_error *e);
/* A column's jsonPath as sl_column.source has it. False: it says more than can be shown. */
bool sl_definition_source(const char *json_path, char out[static SL_DEFINITION_SOURCE_BYTES]);
#endif
