/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the modules of the replicas share; sim.h has what the rest of the simulator asks of them. */
#ifndef SL_TESTS_SIM_REPLICA_H
#define SL_TESTS_SIM_REPLICA_H
#include "replica_net.h"
#include "replicas.h"
#include <sys/types.h>

/* --- replica_world.c: what stands in for the job controller, scheduler, kubelets and autoscaler ----- */
struct sim_stands;
struct sim_stands *sim_stands_new(struct sim *s);
void sim_stands_free(struct sim_stands *w);
bool sim_stands_step(struct sim_stands *w, int64_t now_ms);
int64_t sim_stands_due_ms(const struct sim_stands *w);

/* --- replica_check.c: who decides, and what it comes to ---------------------------------------------- */
struct sim_check;
struct sim_check *sim_check_new(struct sim *s);
void sim_check_free(struct sim_check *k);
void sim_check_sent(void *check, unsigned life, const struct sim_frame *request);
void sim_check_arrived(void *check, unsigned life, const struct sim_frame *request, int status);
/* The lease is at most so old while somebody sound waits for it; `sound_ms`: since when somebody is. */
void sim_check_lease(struct sim_check *k, int64_t sound_ms);
unsigned sim_check_leader(const struct sim_check *k); /* whose the Lease is; 0 = nobody's */
/* At rest: nothing is over its quota. */
void sim_check_rest(struct sim_check *k);

/* --- replica_quota.c -------------------------------------------------------------------------------- */
/* Whether what the Workloads in the store have reserved exceeds a quota or limit on the way to the root; says
 * where. */
bool sim_quota_exceeded(struct sim *s, struct sl_buf *where);

/* --- replica.c: their processes ---------------------------------------------------------------------- */
struct sim_replica {
    unsigned number;
    pid_t pid; /* 0: none runs */
    int fd;
    unsigned life;
    int64_t timer_ms;  /* when it wants to go on by itself */
    int64_t start_ms;  /* when it is started again */
    int64_t paused_ms; /* until then */
    int64_t sound_ms;  /* since when it has been in no trouble */
};
struct sim_replicas {
    struct sim *sim;
    struct sim_api *api;
    struct sim_net *net;
    struct sim_stands *assignments;
    struct sim_check *check;
    struct sim_replica all[SIM_REPLICAS];
    unsigned lives;
    char kubeconfig[600];
};
void sim_replica_start(struct sim_replicas *r, struct sim_replica *one);
/* When it has something to do, or is to be started. */
int64_t sim_replica_due_ms(const struct sim_replicas *r, const struct sim_replica *one);
/* Its turn, if it has something to do; true when it had. */
bool sim_replica_go(struct sim_replicas *r, struct sim_replica *one);
/* As by kill -9; of what it has sent that many percent do not arrive. */
void sim_replica_kill(struct sim_replicas *r, struct sim_replica *one, uint32_t lost);
/* As by SIGTERM. */
void sim_replica_terminate(struct sim_replicas *r, struct sim_replica *one);
/* What it knows: a frame of type SIM_VIEW, whose texts are the caller's. */
void sim_replica_look(struct sim_replica *one, struct sim_frame *f);
#endif
