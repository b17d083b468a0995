/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Nomination (Kueue's Scheduler.nominate): with which flavors a workload would fit at once; else
 * without which victims; else, partially, with how many fewer pods. */
#ifndef SL_POLICY_NOMINATE_H
#define SL_POLICY_NOMINATE_H
#include "kernel/base/types.h"
#include "policy/flavors/flavors.h"

/* Judged on the current ledger, trials included. The answer is in sl_assignment; true = with the
 * victims in sl_victims (mode PREEMPT). Mode PREEMPT without victims: none would help. Where
 * topology is asked for, sl_topology_plan has the assignment: without the victims' pods, or, where
 * there are no victims, on empty nodes; no sets in it = none. How far the flavors were scanned is
 * remembered under this cycle's number. */
/*@ requires ready: SearchReady; terminates \true; exits \false;
    assigns sl_hidden, SL_SEARCHED, sl_assignment, sl_placement_question,
      sl_flavors_counts[0 .. SL_POD_SETS_MAX - 1];
    ensures ready: SearchReady && TakenBack{Pre, Post};
    ensures sound: AssignmentSound && ChoicesSound && NeedsSound; */
bool sl_nominate(sl_workload_id id, sl_qnode_id queue, uint64_t cycle, int64_t now_ms);
#endif
