/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Two workloads with any records that change as they please between three calls (G5, G9): a second pass is taken only
 * for the incarnation that it was armed for, not before it is due, and only while the live record needs it; nobody
 * has two, and what is not due waits. */
#include "kernel/lifecycle/second_pass.h"
#include "specs/cbmc/look.h"
#include "specs/cbmc/record.h"

#define ALL SL_WORKLOADS_MAX
#define CALLS 3u

struct sl_workload sl_workloads[SL_WORKLOADS_MAX];
static bool need[ALL]; /* what the live records say */

/* What should be armed. */
static bool armed[ALL];
static uint32_t armed_for[ALL];
static int64_t due_ms[ALL];

/* Instead of kernel/lifecycle/lifecycle_valid.c. */
bool sl_lifecycle_needs_pass(sl_workload_id id)
{
    return need[id];
}

static int64_t delay_ms(uint32_t iteration)
{
    return iteration < 5 ? INT64_C(1000) << iteration : 30000;
}

static void arm(sl_workload_id id, int64_t now_ms)
{
    uint32_t iteration = nondet_uint32();
    bool live = armed[id] && armed_for[id] == sl_workloads[id].generation;
    bool done = sl_second_pass_arm(id, iteration, now_ms) == SL_OK;
    USAGE(done == (need[id] && !live && is_time(now_ms)), "armed when it is needed and is not");
    if (done) {
        armed[id] = true;
        armed_for[id] = sl_workloads[id].generation;
        due_ms[id] =
            now_ms > SL_TIME_MAX - delay_ms(iteration) ? SL_TIME_MAX : now_ms + delay_ms(iteration);
    }
}

static void take(sl_workload_id id, int64_t now_ms)
{
    bool live = armed[id] && armed_for[id] == sl_workloads[id].generation;
    bool taken = sl_second_pass_take(id, now_ms) == SL_OK;
    USAGE(taken == (live && due_ms[id] <= now_ms && need[id]),
          "taken when it is due and still needed");
    armed[id] = live && due_ms[id] > now_ms;
}

/* Near the least and the largest, on both sides. */
static int64_t nondet_time(void)
{
    return nondet_bool() ? (int64_t)nondet_uint16() - 1 : SL_TIME_MAX - 30000 + nondet_uint16();
}

static void call(sl_workload_id id)
{
    int64_t now_ms = nondet_time();
    sl_workloads[id].generation = nondet_uint32();
    need[id] = nondet_bool();
    if (nondet_bool()) {
        arm(id, now_ms);
    } else if (nondet_bool()) {
        take(id, now_ms);
    } else {
        sl_second_pass_cancel(id);
        armed[id] = false;
    }
}

void look_second_pass(void)
{
    for (uint32_t i = 0; i < CALLS; i++) {
        if (nondet_bool()) {
            call(0);
        } else {
            call(1);
        }
    }
    uint32_t count = 0;
    for (sl_workload_id id = 0; id < ALL; id++) {
        count += armed[id];
        USAGE(sl_second_pass_due_ms(id) == (armed[id] ? due_ms[id] : SL_NEVER),
              "armed is what should be, and when");
    }
    USAGE(sl_second_pass_count() == count && sl_second_pass_valid(), "nobody has two");
}
