/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objections: an admission check in state Retry or Rejected keeps a pending workload from being
 * admitted. A cycle that comes to such a workload turns it away. It is tried again when no check
 * objects any more, or when something else wakes its queue. Owns the list of workloads that were
 * turned away for that. */
#ifndef SL_POLICY_OBJECTIONS_H
#define SL_POLICY_OBJECTIONS_H
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* Does a check object to it? */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures result: sl_workloads[id].check_count <= SL_CHECKS_MAX ==>
      (\result == 1 <==> CheckObjects(id)); */
bool sl_objections_any(sl_workload_id id);

/* For the queues: a cycle has turned it away for that; or it enters the line again, or has left
 * it. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_objections_note(sl_workload_id id);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_objections_forget(sl_workload_id id);
/* It was turned away for that, and nothing objects any more. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures none: \result == 1 && sl_workloads[id].check_count <= SL_CHECKS_MAX ==>
      id < SL_WORKLOADS_MAX && !CheckObjects(id); */
bool sl_objections_over(sl_workload_id id);
#endif
