/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The engine writes an eviction, which closes the gates, and does not read its own write again: until others have
 * changed the object, what counts is what it wrote. */
#include "engine/decisions/preemption_gates.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/calls/call.h"
#include "engine/conditions/conditions.h"
#include "policy/requests/preemption_gate.h"
#include <string.h>

static const struct sl_json *named(const struct sl_json *workload)
{
    return sl_json_path(workload, "spec.preemptionGates");
}

static const char *name_at(const struct sl_json *gates, size_t i)
{
    return sl_json_path_text(sl_json_at(gates, i), "name", "");
}

static bool any_closed(const struct sl_json *workload)
{
    const struct sl_json *gates = named(workload);
    const struct sl_json *states = sl_json_path(workload, "status.preemptionGates");
    bool closed = false;
    for (size_t i = 0; i < sl_json_len(gates) && !closed; i++) {
        const struct sl_json *state = sl_json_find_by(states, "name", name_at(gates, i));
        closed = strcmp(sl_json_path_text(state, "position", "Closed"), "Open") != 0;
    }
    return closed;
}

static void set(struct sl_engine *g, sl_workload_id id, bool closed, int64_t now_ms)
{
    if (closed != sl_preemption_gate_closed(id)) {
        sl_tell(g, now_ms, preemption_gate, .workload = id, .closed = closed, .now_ms = now_ms);
    }
}

bool sl_preemption_gates_count(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    return g->settings.preemption_gates || g->settings.concurrent_admission;
}

void sl_preemption_gates_take(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                              int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    bool had = e->has_preemption_gates;
    e->has_preemption_gates = sl_preemption_gates_count(g) && sl_json_len(named(object)) > 0;
    e->shut_preemption_gates = false;
    if (had || e->has_preemption_gates) {
        set(g, id, e->has_preemption_gates && any_closed(object), now_ms);
    }
}

void sl_preemption_gates_after(struct sl_engine *g, sl_workload_id id,
                               const struct sl_transition *did, int64_t now_ms)
{
    SL_PRE(g != NULL && did != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    bool begins = did->to == SL_PHASE_EVICTED && did->from != SL_PHASE_EVICTED;
    if ((begins || did->news[SL_CHANGED_EVICTION]) && !g->restoring) {
        e->shut_preemption_gates = e->has_preemption_gates;
    }
    if (did->to == SL_PHASE_PENDING && e->shut_preemption_gates) {
        e->shut_preemption_gates = false;
        set(g, id, true, now_ms);
    }
    /* Its slot is another's next. */
    if (sl_workloads[id].phase == SL_PHASE_ABSENT && e->has_preemption_gates) {
        set(g, id, false, now_ms);
    }
}

bool sl_preemption_gates_hold(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    return g->workloads[id].has_preemption_gates && sl_preemption_gate_closed(id) &&
           sl_condition_preemption_gated(&sl_workloads[id]);
}

static struct sl_json *new_closed(const char *name, const char *time)
{
    struct sl_json *state = sl_json_new_map();
    sl_json_set_text(state, "name", name);
    sl_json_set_text(state, "position", "Closed");
    sl_json_set_text(state, "lastTransitionTime", time);
    return state;
}

void sl_preemption_gates_write(const struct sl_json *workload, struct sl_json *status, bool close,
                               int64_t now_ms)
{
    const struct sl_json *gates = named(workload);
    const struct sl_json *states = sl_json_get(status, "preemptionGates");
    struct sl_json *list = sl_json_new_list();
    char time[32];
    sl_clock_format(now_ms, time);
    for (size_t i = 0; i < sl_json_len(gates); i++) {
        const char *name = name_at(gates, i);
        const struct sl_json *known = sl_json_find_by(states, "name", name);
        sl_json_append(list,
                       known == NULL || close ? new_closed(name, time) : sl_json_clone(known));
    }
    sl_json_set_filled(status, "preemptionGates", list);
}
