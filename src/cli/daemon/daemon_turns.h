/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The daemon's turns on its loop: the controllers work for some milliseconds, then requests and answers have their
 * turn; when there is nothing to do the loop sleeps until something is due. And the signals: those that end it, and SIGUSR2, which
 * writes its state into the log. */
#ifndef SL_CLI_DAEMON_TURNS_H
#define SL_CLI_DAEMON_TURNS_H
#include "controllers/control/controllers.h"
#include <uv.h>

#define SL_TURNS_SIGNALS 4

struct sl_turns {
    uv_loop_t *loop;
    uv_idle_t busy;        /* active while there is work: the loop then does not sleep */
    uv_timer_t timer, log; /* log: while lines of it wait */
    uv_prepare_t turn;     /* measures the turns */
    uint64_t turn_ns,
        idle_ns; /* when the last one began, and how long the loop had waited until then */
    uint64_t turn_cpu_ns,
        turn_steps; /* what the thread had done until then: time, and work (base/effort.h) */
    uint64_t longest_ns, slow; /* the longest turn, and how many took more than a second */
    uint64_t longest_cpu_ns, longest_steps; /* the most that one turn did */
    uv_signal_t signals[SL_TURNS_SIGNALS];
    struct sl_controllers *controllers; /* NULL: there are none yet */
    bool (*may_go_on)(void *context);   /* asked before each turn; NULL: always */
    bool (*deliver)(
        void *
            context); /* after each, what it has staged; true: there was something. NULL: a commit does it */
    void (*signalled)(void *context, const char *name); /* may be called again */
    void (*dump)(void *context);                        /* by SIGUSR2, besides the log */
    void *context;
    bool stopped;
    int64_t off_ms; /* of the system's clock, when that was last said */
};
/* The other fields are the caller's; the object stays where it is. */
void sl_turns_start(struct sl_turns *t);
/* There is new work; `turns` is a struct sl_turns. */
void sl_turns_kick(void *turns);
/* No work any more; signals are still heard. */
void sl_turns_stop(struct sl_turns *t);
void sl_turns_close(struct sl_turns *t);
void sl_turns_print(const struct sl_turns *t, struct sl_buf *out); /* its metrics */
#endif
