/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which workloads wait without any ClusterQueue listing them: their LocalQueue or ClusterQueue is missing, or they
 * are deactivated. Pure functions. */
#ifndef SL_CLI_STRAY_H
#define SL_CLI_STRAY_H
#include "api/object.h"
#include "base/map.h"

/* Notes the items of a queue's list of pending workloads as "namespace/name". */
void sl_stray_see(struct sl_map *seen, const struct sl_json *items);
/* The workloads that are not in `seen`, not finished and hold no quota, as items of such a list: metadata, priority,
 * and the reason and message of QuotaReserved. What has no such condition yet is about to be queued and left out.
 * Caller frees. */
struct sl_json *sl_stray_new(const struct sl_json *workloads, const struct sl_map *seen);
#endif
