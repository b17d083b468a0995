/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Holders that were read while their topology was missing: their objects have a topology
 * assignment, or wait for one in it, and the core does not know it. Once the topology exists they
 * are read again; one whose domains are missing, or given to others, is evicted. Owns the objects
 * of such holders (struct sl_admission). */
#ifndef SL_ENGINE_RESTAND_H
#define SL_ENGINE_RESTAND_H
#include "engine/state.h"

/* The object of a workload was seen: kept where it may have to be read again. */
void sl_restand_note(struct sl_engine *g, sl_workload_id id, const struct sl_json *object);
/* A workload has just been restored: does it have the assignment of its object, or will it when the
 * topology exists? Otherwise a message that says why not. */
const char *sl_restand_trouble(const struct sl_engine *g, sl_workload_id id);
/* A tree was laid out. Workloads that were read without an assignment are read again at once.
 * Workloads whose domains are no longer in the tree are read again when their objects are seen:
 * sl_engine_wants_workloads. Between cycles. */
void sl_restand_settle(struct sl_engine *g, int64_t now_ms);
/* The object was seen of a workload that waits for that; its number may be another afterwards. */
void sl_restand_meet(struct sl_engine *g, sl_workload_id id, int64_t now_ms);
#endif
