/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The other mode: instead of one standalone system two replicas of the daemon of a cluster, each a process of its own,
 * work against one API. What the rest of the simulator asks of them. */
#ifndef SL_TESTS_SIM_REPLICAS_H
#define SL_TESTS_SIM_REPLICAS_H
#include "sim.h"

/* The store, the cluster around it, and the replicas, which have not begun yet. */
void sim_replicas_open(struct sim *s);
void sim_replicas_close(struct sim *s);
/* Everything that can be done now, then everything that becomes due until `until_ms`. */
void sim_replicas_run(struct sim *s, int64_t until_ms);
/* Is that an event which stands for a fault here? Quotas stay as they are: what is over them is somebody's fault. */
bool sim_replicas_takes(enum sim_event_kind kind);
/* Something happens to one of them, or to its network. */
void sim_replicas_fault(struct sim *s, struct sim_chance *c);
/* No faults any more; whoever has ended is started. */
void sim_replicas_calm(struct sim *s);
/* At rest: both know what the store has; of the engine of the one that leads. */
void sim_replicas_count(struct sim *s, struct sl_engine_counters *out);
/* The leader dies. */
void sim_replicas_fail_over(struct sim *s);
#endif
