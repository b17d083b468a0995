/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Heads. A preemptor is a link, id plus one, per queue. */
#include "policy/queues/heads.h"

#include "policy/queues/fronts.h"
#include "policy/common/settings.h"

static uint32_t preemptor[SL_QNODES_MAX];
static uint32_t sticky_one[SL_QNODES_MAX];
/* In how many each has evicted somebody, without being served since; no more than SL_THWARTED_MAX. */
static uint32_t evicting_cycles[SL_WORKLOADS_MAX];

sl_workload_id sl_heads_first(sl_qnode_id queue)
{
    if (queue >= SL_QNODES_MAX) {
        return SL_NO_ID;
    }
    uint32_t sticky = sticky_one[queue];
    return sl_fronts_first(queue, sticky != 0 ? sticky - 1 : SL_NO_ID);
}

/*@ terminates \true; exits \false; assigns preemptor[queue], sticky_one[queue]; */
void sl_heads_set_preemptor(sl_qnode_id queue, sl_workload_id id, bool sticky)
{
    if (queue < SL_QNODES_MAX && id < SL_WORKLOADS_MAX) {
        preemptor[queue] = id + 1;
        sticky_one[queue] = sticky ? id + 1 : 0;
    }
}

/*@ terminates \true; exits \false; assigns evicting_cycles[id]; */
void sl_heads_count_eviction(sl_workload_id id)
{
    if (id < SL_WORKLOADS_MAX && evicting_cycles[id] < SL_THWARTED_MAX) {
        evicting_cycles[id]++;
    }
}

/*@ terminates \true; exits \false; assigns preemptor[queue]; */
void sl_heads_doubt_preemptor(sl_qnode_id queue, sl_workload_id id)
{
    if (sl_heads_is_preemptor(queue, id)) {
        preemptor[queue] = 0;
    }
}

/*@ terminates \true; exits \false;
    assigns preemptor[queue], sticky_one[queue], evicting_cycles[id]; */
void sl_heads_forget(sl_qnode_id queue, sl_workload_id id)
{
    sl_heads_doubt_preemptor(queue, id);
    if (id < SL_WORKLOADS_MAX) {
        evicting_cycles[id] = 0;
    }
    if (sl_heads_is_sticky(queue, id)) {
        sticky_one[queue] = 0;
    }
}

bool sl_heads_is_preemptor(sl_qnode_id queue, sl_workload_id id)
{
    return queue < SL_QNODES_MAX && id < SL_WORKLOADS_MAX && preemptor[queue] == id + 1;
}

bool sl_heads_goes_first(sl_qnode_id queue, sl_workload_id id)
{
    return sl_heads_is_preemptor(queue, id) &&
           (sl_settings.prioritize_preemptors || evicting_cycles[id] >= SL_THWARTED_MAX);
}

bool sl_heads_is_sticky(sl_qnode_id queue, sl_workload_id id)
{
    return queue < SL_QNODES_MAX && id < SL_WORKLOADS_MAX && sticky_one[queue] == id + 1;
}
