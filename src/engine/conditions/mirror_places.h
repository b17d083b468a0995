/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The part of mirror.h about places: do the topologyAssignments of an admission say where the core has the pods? */
#ifndef SL_ENGINE_MIRROR_PLACES_H
#define SL_ENGINE_MIRROR_PLACES_H
#include "engine/state.h"

#define SL_MIRROR_TEXT 900

/* `sets` is status.admission.podSetAssignments. What is wrong, for people (valid until the next question); NULL =
 * nothing. */
const char *sl_mirror_places(const struct sl_engine *g, sl_workload_id id,
                             const struct sl_json *sets);
#endif
