/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The processes of the replicas: started, given their turns, ended. One that ends by itself has lost its Lease, or
 * was asked to; anything else is a defect. */
#include "replica.h"
#include "replica_process.h"
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESTART_MS 1000 /* whoever has lost the Lease is started again by then */

/* It is gone, and `status` says how. */
static void buried(struct sim_replicas *r, struct sim_replica *one, uint32_t lost)
{
    sim_net_end(r->net, one->number, lost);
    (void)close(one->fd);
    one->pid = 0;
    one->timer_ms = INT64_MAX;
    one->paused_ms = 0;
    one->sound_ms = r->sim->now_ms;
}

static void on_end(struct sim_replicas *r, struct sim_replica *one)
{
    int status = 0;
    (void)waitpid(one->pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
        sim_story_violation("replica life %u broke down (status %d)", one->life, status);
    }
    sim_story_tell("replica", "life %u ends: %s", one->life,
                   WEXITSTATUS(status) == 0 ? "it was asked to" : "its Lease is lost");
    buried(r, one, 0);
    one->start_ms = r->sim->now_ms + RESTART_MS;
}

/* The replica's turn, until it has nothing to do. */
static void listen_to(struct sim_replicas *r, struct sim_replica *one)
{
    struct sim_frame f = {0};
    bool goes_on = true;
    while (goes_on) {
        if (!sim_frame_receive(one->fd, &f)) {
            on_end(r, one);
            break;
        }
        goes_on = f.type != SIM_IDLE;
        if (f.type == SIM_REQUEST) {
            sim_net_request(r->net, one->number, &f);
        } else if (f.type == SIM_CANCEL) {
            sim_net_cancel(r->net, one->number, f.id);
        } else if (f.type == SIM_IDLE) {
            one->timer_ms = f.ms == INT64_MAX ? INT64_MAX : r->sim->now_ms + f.ms;
        }
    }
    sim_frame_fini(&f);
}

static void be_replica(const struct sim_replicas *r, const struct sim_replica *one, int fd)
{
    const struct sim_process p = {.fd = fd,
                                  .life = one->life,
                                  .now_ms = r->sim->now_ms,
                                  .kubeconfig = r->kubeconfig,
                                  .settings = &r->sim->settings};
    int status = sim_process_run(&p);
    (void)fflush(stderr);
    _exit(status);
}

void sim_replica_start(struct sim_replicas *r, struct sim_replica *one)
{
    int pair[2];
    one->life = ++r->lives;
    sim_net_begin(r->net, one->number, one->life);
    sim_tally(SIM_TALLY_REPLICA_LIVES);
    sim_story_tell("replica", "%u begins, life %u", one->number, one->life);
    (void)fflush(stdout);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        sim_story_violation("no socket for a replica");
    }
    one->pid = fork();
    if (one->pid == 0) {
        (void)close(pair[0]);
        be_replica(r, one, pair[1]);
    }
    (void)close(pair[1]);
    one->fd = pair[0];
    one->sound_ms = r->sim->now_ms;
    if (one->pid < 0) {
        sim_story_violation("no process for a replica");
    }
    listen_to(r, one);
}

static void give_turn(struct sim_replicas *r, struct sim_replica *one)
{
    sim_frame_send(one->fd, &(struct sim_frame){.type = SIM_GO});
    listen_to(r, one);
}

static void tell_time(struct sim_replicas *r, struct sim_replica *one)
{
    sim_frame_send(one->fd, &(struct sim_frame){.type = SIM_CLOCK, .ms = r->sim->now_ms});
}

int64_t sim_replica_due_ms(const struct sim_replicas *r, const struct sim_replica *one)
{
    if (one->pid == 0) {
        return one->start_ms;
    }
    if (one->paused_ms > r->sim->now_ms) {
        return one->paused_ms;
    }
    int64_t answer_ms = sim_net_due_ms(r->net, one->number);
    return answer_ms < one->timer_ms ? answer_ms : one->timer_ms;
}

bool sim_replica_go(struct sim_replicas *r, struct sim_replica *one)
{
    if (sim_replica_due_ms(r, one) > r->sim->now_ms || one->pid == 0) {
        return false;
    }
    tell_time(r, one);
    sim_net_deliver(r->net, one->number, one->fd);
    give_turn(r, one);
    return true;
}

void sim_replica_kill(struct sim_replicas *r, struct sim_replica *one, uint32_t lost)
{
    sim_story_tell("replica", "life %u is killed", one->life);
    (void)kill(one->pid, SIGKILL);
    (void)waitpid(one->pid, NULL, 0);
    buried(r, one, lost);
}

void sim_replica_terminate(struct sim_replicas *r, struct sim_replica *one)
{
    sim_story_tell("replica", "life %u is asked to end", one->life);
    tell_time(r, one);
    sim_frame_send(one->fd, &(struct sim_frame){.type = SIM_TERMINATE});
    give_turn(r, one);
}

void sim_replica_look(struct sim_replica *one, struct sim_frame *f)
{
    sim_frame_send(one->fd, &(struct sim_frame){.type = SIM_LOOK});
    if (!sim_frame_receive(one->fd, f) || f->type != SIM_VIEW) {
        sim_story_violation("replica life %u does not say what it knows", one->life);
    }
}
