/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Between the replicas and their API server: requests that arrive late, after who sent them has ended, or not at all;
 * answers that get lost, or are refusals; watches that tell late; and a replica that is cut off. Each replica has
 * its own faults. */
#ifndef SL_TESTS_SIM_REPLICA_NET_H
#define SL_TESTS_SIM_REPLICA_NET_H
#include "replica_api.h"
#include "replica_wire.h"
#include "sim.h"

#define SIM_REPLICAS 2u

struct sim_net;
/* What the network tells of requests, for the checks; `life` is that of the sender. */
struct sim_net_told {
    void (*sent)(void *context, unsigned life, const struct sim_frame *request);
    /* It has been carried out, or refused. */
    void (*arrived)(void *context, unsigned life, const struct sim_frame *request, int status);
    void *context;
};
struct sim_net *sim_net_new(struct sim *s, struct sim_api *api, const struct sim_net_told *told);
void sim_net_free(struct sim_net *n);

/* This life is the replica's from now on. */
void sim_net_begin(struct sim_net *n, unsigned replica, unsigned life);
/* It has ended; what it has sent may yet arrive, or with `lost` percent does not. */
void sim_net_end(struct sim_net *n, unsigned replica, uint32_t lost);
void sim_net_request(struct sim_net *n, unsigned replica, const struct sim_frame *f);
void sim_net_cancel(struct sim_net *n, unsigned replica, uint64_t id);

/* Everything that arrives at the API server now, and what its watches tell; true when there was something. */
bool sim_net_arrive(struct sim_net *n);
void sim_net_deliver(struct sim_net *n, unsigned replica, int fd);
int64_t sim_net_arrives_ms(const struct sim_net *n); /* when sim_net_arrive has something to do */
int64_t sim_net_due_ms(const struct sim_net *n,
                       unsigned replica); /* when there is something to deliver */

/* --- faults ------------------------------------------------------------------------------------- */
struct sim_net_delay {
    int64_t until_ms, most_ms;
};
/* Requests and answers take up to most_ms each. */
void sim_net_delay(struct sim_net *n, unsigned replica, struct sim_net_delay d);
/* What watches tell does. */
void sim_net_delay_watches(struct sim_net *n, unsigned replica, struct sim_net_delay d);
/* Of the next `count` requests that many percent get no answer; half of these are carried out. */
void sim_net_lose(struct sim_net *n, unsigned replica, unsigned count, unsigned percent);
/* ... or are refused (429, 500, 503). */
void sim_net_refuse(struct sim_net *n, unsigned replica, unsigned count, unsigned percent);
/* What lists and watches say is spoiled on its way: replica_lies.h. */
void sim_net_lie(struct sim_net *n, unsigned replica, int64_t until_ms);
/* Has it happened to this life of the replica? */
bool sim_net_spoiled(const struct sim_net *n, unsigned replica);
/* No request leaves and no answer comes; what is under way gets lost, or arrives when it is over. */
void sim_net_cut(struct sim_net *n, unsigned replica, int64_t until_ms);
void sim_net_calm(struct sim_net *n);
/* When the last of these was over, or will be. */
int64_t sim_net_sound_ms(const struct sim_net *n, unsigned replica);
#endif
