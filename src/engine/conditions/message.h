/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Why a workload waits, in words: what policy found in the way, per pod set and flavor. */
#ifndef SL_ENGINE_MESSAGE_H
#define SL_ENGINE_MESSAGE_H
#include "api/json/json.h"
#include "kernel/base/types.h"

#define SL_MESSAGE_SIZE 1024 /* longer texts end in "..." */

struct sl_engine;
/* From sl_cycle_outcome and sl_assignment, right after sl_cycle_next. */
void sl_message_from_outcome(struct sl_engine *g, char out[static SL_MESSAGE_SIZE]);
/* From sl_assignment.topology_failure: why its pods have no place, in figures. */
void sl_message_from_placement(struct sl_engine *g, char out[static SL_MESSAGE_SIZE]);
/* For one that was evicted in the cycle, as the nodes named in sl_placement_failed have failed. */
void sl_message_from_failed_nodes(struct sl_engine *g, char out[static SL_MESSAGE_SIZE]);
/* From sl_assignment alone, right after sl_flavors_assign. */
void sl_message_from_assignment(struct sl_engine *g, char out[static SL_MESSAGE_SIZE]);
/* For one that is not looked at because of its checks. */
extern const char sl_message_checks[];
/* For an outsider of its ClusterQueue (policy/queues/outsiders.h). */
extern const char sl_message_outsider[];
/* For a victim: the workload for which it was preempted, and by which rule. From
 * sl_cycle_outcome. */
void sl_message_from_preemption(struct sl_engine *g, sl_workload_id victim,
                                enum sl_preempt_reason reason, char out[static SL_MESSAGE_SIZE]);
/* The checks of the Workload that its object shows in that state, with what they say; "" when none is. */
void sl_message_from_checks(const struct sl_json *object, const char *state,
                            char out[static SL_MESSAGE_SIZE]);
#endif
