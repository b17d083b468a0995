/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is due when: a heap of (time, kind, id, generation). Entries are never searched for: one
 * that was overtaken by events is recognised when it comes up and ignored (G9). Equal times come up
 * in the order in which they were armed. */
#ifndef SL_ENGINE_TIMERS_H
#define SL_ENGINE_TIMERS_H
#include <stdbool.h>
#include <stdint.h>

enum sl_timer_kind {
    SL_TIMER_BACKOFF,   /* id = a workload: its requeueAt has come */
    SL_TIMER_EXECUTION, /* id = a workload: its maximum execution time is over */
    SL_TIMER_REWRITE,   /* id = a workload: repeat a write that failed */
    SL_TIMER_READY,     /* id = a workload: its pods should be ready by now */
    SL_TIMER_STOP,      /* id = a workload: its job should have stopped by now */
    SL_TIMER_RETAIN,    /* id = a workload: finished or deactivated long enough ago to be deleted */
    SL_TIMER_RESTRAINT, /* id = a workload: it may preempt again */
    SL_TIMER_SAMPLE     /* no id: what LocalQueues use is to be summed up */
};
struct sl_timer {
    int64_t due_ms;
    uint64_t order;
    enum sl_timer_kind kind;
    uint32_t id;
    uint32_t generation;
};
struct sl_timers {
    struct sl_timer *items;
    uint32_t count;
    uint32_t cap;
    uint64_t order;
};
void sl_timers_arm(struct sl_timers *t, int64_t due_ms, enum sl_timer_kind kind, uint32_t id,
                   uint32_t generation);
int64_t sl_timers_due_ms(const struct sl_timers *t); /* INT64_MAX = never */
bool sl_timers_take(struct sl_timers *t, int64_t now_ms,
                    struct sl_timer *out); /* false: nothing is due */
void sl_timers_fini(struct sl_timers *t);
#endif
