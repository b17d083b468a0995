/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A daemon's controllers and engine on a little API server (shelf.h), with what Kubernetes does besides. One at a time. */
#ifndef SL_FUZZ_CLUSTER_H
#define SL_FUZZ_CLUSTER_H
#include "engine/engine.h"
#include "fuzz/lib/shelf.h"

enum { CLUSTER_CHECKS = 2 };

struct cluster_setup {
    bool cached;     /* the daemon reads from a cache that lags behind */
    bool wait_ready; /* pods must be ready within 5 minutes, three tries */
    bool topology;   /* the first flavor's nodes are in racks */
    uint32_t checks;
};
void cluster_open(const struct cluster_setup *setup);
void cluster_close(void);
const struct sl_engine *cluster_engine(void);
/* Only a daemon whose reads are what there is can be held to what it reads. */
bool cluster_reads_all(void);

/* The daemon ends, and another begins. */
void cluster_restart(void);
void cluster_pass(int64_t ms);
int64_t cluster_now_ms(void);
/* One step of the controllers. */
void cluster_step(void);
/* Until nobody has anything to do at once, nor within some seconds; then the rules of rest (joblaw.h). */
void cluster_settle(void);

/* What administrators own. */
void cluster_put_queue(const char *cluster_stop, const char *local_stop);
void cluster_set_quota(uint32_t cpu); /* these two from the next cluster_put_queue on */
void cluster_set_checks(uint32_t checks);
void cluster_put_flavor(uint32_t number, const char *pool);
void cluster_put_class(enum sl_kind kind, const char *name, int value);

/* Kubernetes' job controller, kubelets and garbage collector, one step of each; true when something was done. */
void cluster_begin_jobs(void);
bool cluster_run_jobs(void);
bool cluster_run_pods(void);
#endif
