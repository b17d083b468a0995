/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What admission looks at in a pod's spec, and nothing else of it: in Kueue the role of a pod in its
 * group and the scheduling equivalence of Workloads are hashes of it. Owns nothing. */
#ifndef SL_API_POD_SHAPE_H
#define SL_API_POD_SHAPE_H
#include "api/json/json.h"

/* A new map, its members in the order of their names, as Go prints maps; what is absent or empty is null, and quantities
 * have their canonical form. */
struct sl_json *sl_pod_shape_new(const struct sl_json *pod_spec);
/* The same, with limits in place of requests that are missing. */
struct sl_json *sl_pod_shape_with_limits_new(const struct sl_json *pod_spec);
/* Bring the quantities of a resource list into their canonical form, in place; what is none stays. */
void sl_resource_list_settle(struct sl_json *list);
#endif
