/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What an admission gives to each pod set, for people. */
#ifndef SL_ENGINE_ADMITTED_H
#define SL_ENGINE_ADMITTED_H
#include "engine/state.h"

/* [{name, count, flavors: {RESOURCE: FLAVOR}, topologyAssignment}]; NULL when it holds nothing. The caller frees it. */
struct sl_json *sl_admitted_pod_sets_new(const struct sl_engine *g, sl_workload_id id);
#endif
