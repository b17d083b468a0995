/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Readiness: a count of workloads, and a list of queues without repetitions. */
#include "policy/queues/readiness.h"

#include "kernel/lifecycle/lifecycle.h"
#include "policy/queues/turns.h"

static bool unready[SL_WORKLOADS_MAX];
static uint32_t unready_count;

static sl_qnode_id waiting[SL_QNODES_MAX];
static uint32_t waiting_count;
static bool waits[SL_QNODES_MAX];

/*@
  // The list names queues only.
  predicate WaitingList{L} = waiting_count <= SL_QNODES_MAX &&
    \forall integer i; 0 <= i < SL_QNODES_MAX ==> waiting[i] < SL_QNODES_MAX;
*/

bool sl_readiness_all(void)
{
    return unready_count == 0;
}

/*@ requires list: WaitingList; terminates \true; exits \false;
    assigns sl_hidden, waiting_count, waits[0 .. SL_QNODES_MAX - 1]; ensures list: WaitingList; */
static void tell_waiting(void)
{
    /*@
      loop invariant list: WaitingList;
      loop assigns sl_hidden, waiting_count, waits[0 .. SL_QNODES_MAX - 1];
      loop variant waiting_count;
    */
    while (waiting_count != 0) {
        waiting_count--;
        waits[waiting[waiting_count]] = false;
        sl_turns_mark_queue(waiting[waiting_count]);
    }
}

/*@ requires list: WaitingList; terminates \true; exits \false;
    assigns sl_hidden, waiting_count, waits[0 .. SL_QNODES_MAX - 1], unready[id], unready_count;
    ensures list: WaitingList; */
void sl_readiness_watch(sl_workload_id id, bool holds)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    enum sl_pods_ready pods = sl_workloads[id].pods_ready;
    bool now = holds && pods != SL_PODS_STARTED && pods != SL_PODS_RECOVERED;
    if (now == unready[id]) {
        return;
    }
    unready[id] = now;
    if (now) {
        unready_count++;
        return;
    }
    unready_count--;
    if (unready_count == 0) {
        tell_waiting();
    }
}

/*@ requires list: WaitingList; terminates \true; exits \false;
    assigns waiting_count, waits[queue], waiting[0 .. SL_QNODES_MAX - 1];
    ensures list: WaitingList; */
void sl_readiness_wait(sl_qnode_id queue)
{
    if (queue < SL_QNODES_MAX && !waits[queue] && waiting_count < SL_QNODES_MAX) {
        waits[queue] = true;
        waiting[waiting_count] = queue;
        waiting_count++;
    }
}
