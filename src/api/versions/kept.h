/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The annotation in which an object holds what its version has no field for: a map from paths to members there. */
#ifndef SL_API_VERSIONS_KEPT_H
#define SL_API_VERSIONS_KEPT_H
#include "api/json/json.h"

/* Takes what was kept out of an object that is to be converted, to v1beta2 or to v1beta1. The caller frees it; NULL:
 * nothing. What is no map is a cause in v1beta1, where it would be lost with the next write; in v1beta2 it counts as
 * nothing, so that no annotation keeps clients from reading. */
struct sl_json *sl_version_kept_take(struct sl_json *o, bool to_new, struct sl_error *e);
/* Puts `kept` into the object that was converted; nothing when it is empty. */
void sl_version_kept_put(struct sl_json *o, bool to_new, const struct sl_json *kept,
                         struct sl_error *e);
#endif
