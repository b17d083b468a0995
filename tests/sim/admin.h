/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What users and administrators do, at random. */
#ifndef SL_TESTS_SIM_ADMIN_H
#define SL_TESTS_SIM_ADMIN_H
#include "sim.h"

void sim_admin_act(struct sim *s, enum sim_event_kind kind, struct sim_chance *c);
/* For rest: every check that waits says Ready, and what one has against a workload that waits is taken back; true when
 * there was one. */
bool sim_admin_answer_all(struct sim *s);
/* Queues take work; nodes are healthy, and all there where workloads wait for them as long as it takes; everything
 * that was deactivated stays so; what stands on a failed node in a queue that is being deleted is deactivated. */
void sim_admin_calm(struct sim *s);
#endif
