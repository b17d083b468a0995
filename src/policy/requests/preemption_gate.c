/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flags per workload. */
#include "policy/requests/preemption_gate.h"

static bool is_closed[SL_WORKLOADS_MAX];
static bool is_news[SL_WORKLOADS_MAX];

/*@ terminates \true; exits \false;
    assigns is_closed[0 .. SL_WORKLOADS_MAX - 1], is_news[0 .. SL_WORKLOADS_MAX - 1]; */
void sl_preemption_gate_set(sl_workload_id id, bool closed)
{
    if (id < SL_WORKLOADS_MAX) {
        is_closed[id] = closed;
        is_news[id] = true;
    }
}

bool sl_preemption_gate_closed(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && is_closed[id];
}

bool sl_preemption_gate_is_news(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && is_news[id];
}

/*@ terminates \true; exits \false; assigns is_news[0 .. SL_WORKLOADS_MAX - 1]; */
void sl_preemption_gate_note_tried(sl_workload_id id)
{
    if (id < SL_WORKLOADS_MAX) {
        is_news[id] = false;
    }
}
