/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Nomination (FEATURES 3.1): with which flavors a workload would fit at once; else with which
 * victims gone; else, partially, with how many fewer pods. */
#ifndef SL_POLICY_NOMINATE_H
#define SL_POLICY_NOMINATE_H
#include "kernel/types.h"

/* Judged on the ledger as it stands, trials included. The answer is in sl_assignment; true =
 * with the victims in sl_victims (mode PREEMPT). Mode PREEMPT without victims: none would help.
 * Where topology is asked for, sl_topology_plan says where the pods would stand: with the
 * victims gone, or, without any, on empty nodes; no sets in it = nowhere. How far the flavors
 * were scanned is remembered under this cycle's number. */
bool sl_nominate(sl_workload_id id, sl_node_id queue, uint64_t cycle, int64_t now_ms);
#endif
