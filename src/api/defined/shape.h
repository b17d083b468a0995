/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a structural schema (the openAPIV3Schema of a definition) makes of an object before it is checked: fields that it does not
 * name are removed, and those that are absent get their defaults. apiVersion, kind and metadata are not its. */
#ifndef SL_API_SHAPE_H
#define SL_API_SHAPE_H
#include "api/json/json.h"

/* Removes them. */
void sl_shape_prune(const struct sl_json *schema, struct sl_json *object);
/* Appends their paths to `list`, 16 at most, and removes nothing. */
void sl_shape_unknown(const struct sl_json *schema, const struct sl_json *object,
                      struct sl_json *list);
/* A null where the schema allows none counts as absent, and is removed. False: defaults would weigh more than that in all, and
 * some are missing: each item of a list may have the same ones. */
bool sl_shape_default(const struct sl_json *schema, struct sl_json *object, size_t weight_max);
/* The same of a value below an object. */
void sl_shape_prune_value(const struct sl_json *schema, struct sl_json *value);

/* The schema of a member: of its name, or of any; NULL: none. */
const struct sl_json *sl_shape_member(const struct sl_json *schema, const char *name);
#endif
