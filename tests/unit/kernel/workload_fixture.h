/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workloads in every phase for the tests of the lifecycle and what builds on it. Each test takes a fresh slot. */
#ifndef SL_TESTS_WORKLOAD_FIXTURE_H
#define SL_TESTS_WORKLOAD_FIXTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/lifecycle/lifecycle.h"

enum { NOW_MS = 1000000, CHECK_A = 7, CHECK_B = 8, HOST_A = 21, HOST_B = 22 };

static sl_workload_id fixture_next_id;
static int64_t fixture_now_ms = NOW_MS;

/* The answer to one event, and always: the record stays sound, and a refusal leaves every byte alone. */
static inline enum sl_status event(sl_workload_id id, enum sl_event_kind kind, uint32_t index,
                                   uint32_t reason, int64_t value)
{
    struct sl_workload before = sl_workloads[id];
    struct sl_event ev = {kind, id, before.generation, index, reason, value, fixture_now_ms};
    enum sl_status status = sl_lifecycle_apply(ev);
    assert_true(sl_lifecycle_valid(id));
    if (status != SL_OK) {
        assert_memory_equal(&before, &sl_workloads[id], sizeof before);
    }
    return status;
}

static inline void happens(sl_workload_id id, enum sl_event_kind kind, uint32_t index,
                           uint32_t reason, int64_t value)
{
    assert_int_equal(event(id, kind, index, reason, value), SL_OK);
}

static inline void is_in(sl_workload_id id, enum sl_phase phase)
{
    assert_int_equal(sl_workloads[id].phase, phase);
}

static inline sl_workload_id pending(void)
{
    sl_workload_id id = fixture_next_id++;
    fixture_now_ms = NOW_MS;
    happens(id, SL_EV_CREATE, 0, 0, 0);
    is_in(id, SL_PHASE_PENDING);
    return id;
}

/* Reserved with check A still open. */
static inline sl_workload_id reserved(void)
{
    sl_workload_id id = pending();
    happens(id, SL_EV_CHECK_ADD, CHECK_A, 0, 0);
    happens(id, SL_EV_RESERVE, 0, 0, 0);
    is_in(id, SL_PHASE_QUOTA_RESERVED);
    return id;
}

static inline sl_workload_id admitted(void)
{
    sl_workload_id id = reserved();
    happens(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_READY, 0);
    is_in(id, SL_PHASE_ADMITTED);
    return id;
}

static inline sl_workload_id evicted(enum sl_preempt_reason reason)
{
    sl_workload_id id = admitted();
    happens(id, SL_EV_PREEMPT, 0, reason, 0);
    is_in(id, SL_PHASE_EVICTED);
    return id;
}

static inline sl_workload_id finished(void)
{
    sl_workload_id id = admitted();
    happens(id, SL_EV_FINISH, 0, SL_FINISH_SUCCEEDED, 0);
    is_in(id, SL_PHASE_FINISHED);
    return id;
}
#endif
