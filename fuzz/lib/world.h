/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A small cluster for targets that drive kernel and policy together: three cohorts, six queues, two flavors of two
 * resources, one of them with a topology of racks and hosts, and sixteen workloads. The first event of a
 * program says the settings; each further one is something that the shell tells the core, with what follows. */
#ifndef SL_FUZZ_WORLD_H
#define SL_FUZZ_WORLD_H
#include <stdbool.h>
#include <stdint.h>
#include "fuzz/lib/forest.h"
#include "fuzz/lib/producer.h"
#include "kernel/base/types.h"

enum { COHORTS = 3, NODES = 9, SLOTS = 16, HOSTS = 8, ACCOUNTS = 2 };
enum { RACK = 10, HOST = 20, BLOCK = 30, BARE_HOST = 40 }; /* the first domain of each kind */
enum { PLAIN = 1, PLACED = 2, CPU = 1, MEMORY = 2, UNDECLARED = 3, NAMES = FOREST_NAMES };

extern int64_t world_now_ms;
extern struct forest
    world_forest; /* quotas and parents as they were said; who holds what: world_hold */

/* The core is reset before. */
void world_open(struct producer *settings);
/* One event; true when it was one after which whatever grew must fit (policy/guarantees/guarantees.h). */
bool world_step(struct producer *event);
/* One cycle, of all heads or of those that something happened to; how many got quota. */
uint32_t world_cycle(bool all);
/* Cycles until nothing is left to try; fails when it does not come to rest, where it must. */
void world_rest(void);
/* True, unless the target says otherwise: is it asked at rest whether a wake-up would serve anybody? */
extern bool world_probes;
/* All guarantees. */
void world_check(bool decided);

/* world_more.c, for world.c: what is opened besides, whose a workload is, and the rarer events. */
void world_open_more(void);
void world_own(sl_workload_id id, sl_qnode_id queue);
void world_step_more(struct producer *event);
void world_met(sl_workload_id old); /* it was given quota */
/* world_topology.c and world_admin.c, for the other two. */
void world_open_trees(uint32_t shape);
void world_ask_topology(struct producer *p, sl_workload_id id, int64_t cpu);
void world_change_demand(struct producer *p, sl_workload_id id);
void world_change_host(struct producer *p);
void world_fail_host(struct producer *p);
void world_administer(struct producer *p);
/* world_variants.c, for all of them: families of variants. */
struct sl_cycle_outcome;
void world_open_variants(void);
void world_leave_family(sl_workload_id id);
void world_join_family(struct producer *p, sl_workload_id id);
void world_note_variants(void); /* before each outcome of a cycle */
void world_judge_variant(const struct sl_cycle_outcome *o);
void world_check_families(void);
/* world.c, for these. */
void world_read_settings(struct producer *p);
void world_open_queue(sl_qnode_id node, bool placed_first);
void world_forget_node(sl_qnode_id node); /* of world_forest */

/* Count in world_forest what each workload holds. */
void world_hold(void);
uint32_t world_name(sl_flavor_id flavor, sl_resource_id resource); /* of world_forest */
/* An event for a workload, and what follows it. */
enum sl_status world_tell(sl_workload_id id, enum sl_event_kind kind, uint32_t index,
                          uint32_t reason, int64_t value);
#endif
