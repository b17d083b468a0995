/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A little cluster around the real engine: an API server that keeps the newest version of each object, watches that may
 * be late, and decisions that are carried out in two steps, the patch and its answer, as the daemon does it
 * (src/controllers/control/workloads.c). All of its state is in variables, so that a snapshot has it. */
#ifndef SL_EXPLORE_CLUSTER_H
#define SL_EXPLORE_CLUSTER_H
#include "api/objects/object.h"
#include "engine/engine.h"
#include "tests/explore/worlds.h"

enum flight_end { ARRIVES, ARRIVES_UNANSWERED, IS_LOST, IS_REFUSED };
struct flight { /* a write under way */
    bool used;
    struct sl_decision d; /* its texts are the copies below */
    char name[16], uid[48], reason[64];
    enum sl_to_write what;
    struct sl_json *patch;
    uint64_t version; /* that it was made of */
    uint32_t tries;
};
struct cluster {
    const struct world *world;
    struct sl_engine *engine;
    int64_t now_ms;
    uint64_t version;
    struct sl_json *workloads[WORLD_WORKLOADS]; /* NULL = there is none */
    struct sl_json *shown[WORLD_WORKLOADS];     /* as a watch has last told it */
    uint32_t made[WORLD_WORKLOADS];             /* how often */
    struct sl_json *queues[WORLD_QUEUES];       /* ClusterQueues */
    bool node_down[WORLD_NODES], cut[WORLD_QUEUES];
    uint32_t stopped;                   /* queue a: None, Hold, HoldAndDrain */
    bool dropped;                       /* queue a is gone */
    bool unchecked;                     /* queues do not ask for the check any more */
    uint32_t troubles;                  /* how many there may still be */
    uint32_t switched[WORLD_WORKLOADS]; /* how often it was activated again */
    uint32_t waited;                    /* how often time has passed since something is under way */
    struct flight flights[WORLD_WORKLOADS];
};
extern struct cluster cluster;

/* Ends the history: what does not hold. */
_Noreturn void broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

void cluster_open(const struct world *world, uint32_t troubles);
void cluster_restart(void);

void cluster_make(uint32_t w);
void cluster_delete(uint32_t w);
/* Takes the object: its next version. */
void cluster_put(uint32_t w, struct sl_json *object);
struct sl_json *cluster_copy(uint32_t w);
/* A watch tells the engine what has become of it. */
bool cluster_is_untold(uint32_t w);
void cluster_tell(uint32_t w);
void cluster_tell_node(uint32_t n);
void cluster_tell_queues(void);
void cluster_drop_queue(void);
int cluster_queue_count(void);
void cluster_stop_job(uint32_t w);

bool cluster_cycle_is_due(void);
void cluster_cycle(void);
/* The next decision becomes a write under way, unless one of its workload is. */
bool cluster_can_send(void);
void cluster_send(void);
void cluster_answer(uint32_t w, enum flight_end end);
void cluster_pass(int64_t ms);

/* Of objects. */
uint64_t cluster_version(const struct sl_json *object);
bool cluster_says(uint32_t w, const char *condition); /* the newest version has it, as True */
#endif
