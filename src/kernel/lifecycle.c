/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An event is addressed, judged by its guard, looked up in the table, and only then carried out: up to that
 * point nothing is written, and from there nothing can fail. */
#include "kernel/lifecycle.h"
#include "kernel/lifecycle_effects.h"

struct sl_workload sl_workloads[SL_WORKLOADS_MAX];

/* Is the event meant for a live incarnation, or for a free slot if it creates one? */
static enum sl_status check_address(struct sl_event ev)
{
    if (ev.workload >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (ev.kind >= SL_EVENT_COUNT || ev.now_ms < 0 || ev.now_ms > SL_TIME_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_workloads[ev.workload].generation != ev.generation) {
        return SL_REFUSED_STALE;
    }
    if (ev.kind != SL_EV_CREATE && sl_workloads[ev.workload].phase == SL_PHASE_ABSENT) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    return SL_OK;
}

/* A slot whose generations are used up is never given out again: (id, generation) stays unique. */
static struct sl_verdict guard_create(struct sl_event ev)
{
    if (ev.value < 0 || ev.value > SL_TIME_MAX) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (ev.generation == UINT32_MAX) {
        return sl_guard_refuse(SL_FULL_WORKLOADS);
    }
    return sl_guard_step(SL_STEP_CREATE, SL_EVICT_NONE);
}

/* Everything that can refuse, in one place. */
static struct sl_verdict resolve(struct sl_event ev)
{
    enum sl_status status = check_address(ev);
    if (status != SL_OK) {
        return sl_guard_refuse(status);
    }
    enum sl_phase phase = sl_workloads[ev.workload].phase;
    if (phase == SL_PHASE_FINISHED && ev.kind != SL_EV_DELETE) {
        return sl_guard_refuse(SL_REFUSED_FINISHED);
    }
    struct sl_verdict v =
        phase == SL_PHASE_ABSENT ? guard_create(ev) : sl_lifecycle_guard(ev);
    if (v.status == SL_OK && !sl_lifecycle_row(phase, v.step).found) {
        return sl_guard_refuse(SL_REFUSED_TRANSITION);
    }
    return v;
}

/* Enter the phase; the first moment of being admitted is kept. */
static void enter(struct sl_event ev, enum sl_phase to)
{
    sl_workload_id id = ev.workload;
    if (to == SL_PHASE_ADMITTED && !sl_workloads[id].was_admitted) {
        sl_workloads[id].was_admitted = true;
        sl_workloads[id].admitted_at_ms = ev.now_ms;
    }
    sl_workloads[id].phase = to;
}

/* The resets that the row names. */
static void reset(struct sl_event ev, enum sl_reset what, enum sl_evict_reason evict)
{
    switch (what) {
    case SL_RESET_NONE:
        break;
    case SL_RESET_CREATION:
        sl_lifecycle_create(ev);
        break;
    case SL_RESET_RESERVATION:
        sl_lifecycle_reserve(ev);
        break;
    case SL_RESET_EVICTION:
        sl_lifecycle_evict(ev, evict);
        break;
    case SL_RESET_RELEASE:
        sl_lifecycle_release(ev, true);
        break;
    case SL_RESET_UNWRITTEN:
        sl_lifecycle_release(ev, false);
        break;
    case SL_RESET_DELETION:
        sl_workloads[ev.workload].generation++;
        break;
    }
}

/* Carry out what was resolved. */
static void perform(struct sl_event ev, struct sl_verdict v)
{
    struct sl_outcome row = sl_lifecycle_row(sl_workloads[ev.workload].phase, v.step);
    sl_lifecycle_note(ev, v.step);
    reset(ev, row.reset, v.evict);
    sl_lifecycle_requeue(ev, row.requeue);
    enter(ev, row.to);
}

enum sl_status sl_lifecycle_apply(struct sl_event ev)
{
    struct sl_verdict v = resolve(ev);
    if (v.status == SL_OK) {
        perform(ev, v);
    }
    return v.status;
}

