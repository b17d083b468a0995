/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The small worlds that are explored: worlds.def lists them. */
#ifndef SL_EXPLORE_WORLDS_H
#define SL_EXPLORE_WORLDS_H
#include <stdbool.h>
#include <stdint.h>

enum { WORLD_WORKLOADS = 3, WORLD_NODES = 3, WORLD_QUEUES = 2 };

/* What may happen in a world, besides cycles, writes, their answers, watches, jobs that stop and time that passes. */
enum {
    MAY_SWITCH = 1,            /* a workload is deactivated, and activated again */
    MAY_DELETE = 2,            /* it is deleted, and made again under the same name */
    MAY_FINISH = 4,            /* its job ends */
    MAY_ANSWER = 8,            /* checks: Ready at any time, Retry and Rejected as a trouble */
    MAY_PODS = 16,             /* its pods become ready, and stop being ready */
    MAY_FAIL_NODE = 32,        /* a node fails, and recovers */
    MAY_CUT = 64,              /* a queue's quota is cut, and raised again */
    MAY_STOP = 128,            /* queue a is stopped (Hold or HoldAndDrain), and started again */
    MAY_DROP_QUEUE = 256,      /* queue a is deleted, and made again */
    MAY_RESTART = 512,         /* the daemon ends, and another begins with what the objects say */
    MAY_LOSE = 1024,           /* a write does not arrive, its answer does not, or it is refused */
    MAY_DROP_CHECK = 2048,     /* the queues stop asking for the check */
    MAY_SCALE = 4096,          /* a pod of a running workload ends for good */
    MAY_BE_TAKEN_OVER = 16384, /* another instance still writes a reservation that it has made */
    MAY_TELL_LATE =
        8192 /* watches and writes take their time: anything may happen before they are through */
};

struct world_workload {
    char queue; /* 'a' or 'b' */
    int priority, pods;
};
struct world {
    const char *name, *text;
    uint32_t may;
    struct world_workload workloads[WORLD_WORKLOADS]; /* those without pods are not there */
    int quota;                                        /* of each queue, in pods */
    uint32_t troubles; /* at most in one history, unless more are asked for */
    bool check, topology, wait_ready, preempts;
    bool begun;   /* all workloads are there from the start */
    bool fair;    /* fair sharing */
    bool fast;    /* TASFailedNodeReplacementFailFast */
    bool several; /* TASReplaceSeveralFailedNodes */
};
extern const struct world worlds[];
extern const uint32_t world_count;
#endif
