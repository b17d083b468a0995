/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a replica's process and the simulator say to each other, in lock step over a socket: either the simulator
 * acts, or one replica does until it has nothing to do. */
#ifndef SL_TESTS_SIM_REPLICA_WIRE_H
#define SL_TESTS_SIM_REPLICA_WIRE_H
#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

enum sim_frame_type {
    /* to the replica */
    SIM_CLOCK,     /* it is ms */
    SIM_GO,        /* the turn is the replica's */
    SIM_ANSWER,    /* the exchange has ended: status (0: no answer), a = body or reason */
    SIM_DATA,      /* a piece of its answer: a */
    SIM_TERMINATE, /* as by SIGTERM */
    SIM_LOOK,      /* tell a SIM_VIEW */
    /* from the replica */
    SIM_IDLE,    /* the turn is the simulator's; ms: when a timer is due, INT64_MAX = never */
    SIM_REQUEST, /* id; a = method, b = path, c = body; ms, idle_ms: its limits, 0 = none */
    SIM_CANCEL,  /* nobody waits for the answer any more */
    SIM_VIEW     /* a = counters, b = "namespace/name uid version" of every Workload in its cache */
};
struct sim_frame {
    enum sim_frame_type type;
    int status;
    uint64_t id;
    int64_t ms, idle_ms;
    struct sl_buf a, b, c;
};
void sim_frame_send(int fd, const struct sim_frame *f);
/* False: the other side has ended. `f` is reused: zeroed before the first time. */
bool sim_frame_receive(int fd, struct sim_frame *f);
void sim_frame_fini(struct sim_frame *f);
/* Lent for a frame to be sent. */
struct sl_buf sim_frame_text(const char *text);
#endif
