/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A little API server for the engine alone: objects of a fixed cast, each kept as the newest version that was written,
 * and decisions carried out on them as the controllers do. Every write is compared with the record (engine/conditions/mirror.h).
 * One world at a time. */
#ifndef SL_FUZZ_OBJECTS_H
#define SL_FUZZ_OBJECTS_H
#include "api/objects/object.h"
#include "engine/engine.h"

enum { OBJECTS_WORKLOADS = 6, OBJECTS_NODES = 4, OBJECTS_CHECKS = 3 };

struct objects_setup {
    bool topology;   /* the flavor's nodes are in racks of two, with 2 cpu each */
    bool wait_ready; /* pods must be ready within 5 minutes, five tries */
    bool granular, fail_fast;
    uint32_t
        checks; /* how many admission checks the ClusterQueue has; the first makes places wait */
};
void objects_open(const struct objects_setup *setup);
void objects_close(void);
/* The daemon ends, and another begins with what the objects say. Where everything was settled, it knows what the one
 * before knew. */
void objects_restart(void);

/* NULL = there is none. Lent until the next write. */
const struct sl_json *objects_workload(uint32_t number);
/* Takes the object: a new version, which the engine sees. */
void objects_put_workload(uint32_t number, struct sl_json *object);
/* The same while no daemon runs: objects_restart has to be next. */
void objects_put_unseen(uint32_t number, struct sl_json *object);
void objects_delete_workload(uint32_t number);
void objects_put_node(uint32_t number, bool ready);
struct objects_node {
    bool ready;
    uint32_t rack, cpu;
    const char *spec; /* its fields */
};
void objects_put_node_as(uint32_t number, const struct objects_node *n);
void objects_delete_node(uint32_t number);
void objects_put_queue(uint32_t checks, const char *cluster_stop, const char *local_stop);
void objects_put_local_queue(const char *name, const char *stop);
void objects_set_quota(uint32_t cpu); /* from the next objects_put_queue on */
void objects_put_check(uint32_t number, bool active);
void objects_put_flavor(
    const char *spec); /* its fields but the topology's, each with a comma behind it */
void objects_put_topology(bool racks);
/* One that is not a Workload or a Node is deleted, if it is there. */
void objects_drop(enum sl_kind kind, const char *name);
void objects_stop_job(uint32_t number);

/* The next writes end like that and are not made; OK: all are made again. */
void objects_fail(enum sl_code code, uint32_t writes);
void objects_pass(int64_t ms);
/* Cycles and writes until nothing is left to do now; then all guarantees, and each object against its record. */
void objects_settle(void);
/* One cycle, and at most so many decisions carried out. */
void objects_step(uint32_t decisions);
int64_t objects_now_ms(void);
#endif
