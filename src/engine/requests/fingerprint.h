/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A hash of what a pod set says beside what the core knows of it: two pod sets for which Kueue has
 * different scheduling equivalence hashes have different numbers, or different requests. Pure
 * function of its arguments. docs/decisions/0021 */
#ifndef SL_ENGINE_FINGERPRINT_H
#define SL_ENGINE_FINGERPRINT_H
#include "api/json/json.h"

/* Of its name, minCount and topologyRequest, and of the shape (api/objects/pod_shape.h) of the spec that its
 * pods get, defaults and overhead filled in, limits in place of missing requests. The order of map keys does not matter. */
uint64_t sl_fingerprint(const struct sl_json *pod_set, const struct sl_json *pod_spec);
#endif
