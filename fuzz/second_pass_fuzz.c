/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_lifecycle_apply with every kind of event, and the second-pass gate, on eight workloads.
 * Oracle: the proved checkers after each step; a refusal leaves the record byte-identical; need against a
 * reference written from the rule; an entry is taken only when due, live and needed; arming and taking never
 * change a record; finished is final; quota appears by reservation only.
 * Input: a program; each step is an operation byte and a workload byte, then its own fields. */
#include <stdlib.h>
#include <string.h>
#include "fuzz/lib/producer.h"
#include "kernel/second_pass.h"

enum { SLOTS = 8, HOSTS = 3, CHECKS = SL_CHECKS_MAX + 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t now_ms;

static void check(bool holds)
{
    if (!holds) {
        abort();
    }
}

static bool reference_need(const struct sl_workload *w)
{
    bool ready = true;
    for (uint32_t i = 0; i < w->check_count; i++) {
        ready = ready && w->checks[i].state == SL_CHECK_READY;
    }
    bool holds =
        w->active && (w->phase == SL_PHASE_QUOTA_RESERVED || w->phase == SL_PHASE_ADMITTED);
    return holds && !w->on_hold &&
           (w->was_admitted ? w->unhealthy_count > 0 : w->topology_pending && ready);
}

static int64_t take_value(struct producer *p)
{
    uint32_t choice = producer_below(p, 4);
    if (choice < 2) {
        return choice * now_ms + producer_below(p, 65536);
    }
    return choice == 2 ? SL_TIME_MAX : producer_int64(p);
}

static void step_event(struct producer *p, sl_workload_id id)
{
    struct sl_workload before = sl_workloads[id];
    bool held = sl_lifecycle_holds_quota(id);
    struct sl_event ev = {
        .kind = producer_below(p, SL_EVENT_COUNT), .workload = id, .now_ms = now_ms};
    ev.index = producer_below(p, CHECKS);
    ev.reason = producer_below(p, 14);
    ev.value = ev.kind == SL_EV_CREATE ? producer_below(p, 65536) : take_value(p);
    ev.generation = before.generation + (producer_below(p, 16) == 0 ? 1 : 0);
    enum sl_status status = sl_lifecycle_apply(ev);
    check(sl_lifecycle_valid(id));
    if (status != SL_OK) {
        check(memcmp(&before, &sl_workloads[id], sizeof before) == 0);
        return;
    }
    check(ev.generation == before.generation);
    check(before.phase != SL_PHASE_FINISHED || ev.kind == SL_EV_DELETE);
    check(held || !sl_lifecycle_holds_quota(id) || ev.kind == SL_EV_RESERVE);
    check(sl_workloads[id].phase != SL_PHASE_EVICTED || sl_workloads[id].evicted != SL_EVICT_NONE);
}

static void step_take(sl_workload_id id)
{
    int64_t due_ms = sl_second_pass_due_ms(id);
    bool need = reference_need(&sl_workloads[id]);
    enum sl_status status = sl_second_pass_take(id, now_ms);
    check(status != SL_OK || (need && due_ms != SL_NEVER && due_ms <= now_ms));
    check((status == SL_REFUSED_NOT_ARMED) == (due_ms == SL_NEVER));
    check((sl_second_pass_due_ms(id) != SL_NEVER) == (status == SL_REFUSED_NOT_DUE));
}

static void step_pass(struct producer *p, sl_workload_id id)
{
    struct sl_workload before = sl_workloads[id];
    bool need = reference_need(&before);
    check(sl_second_pass_needed(id) == need);
    switch (producer_below(p, 4)) {
    case 0:
        check((sl_second_pass_arm(id, producer_below(p, 8), now_ms) == SL_REFUSED_NOT_NEEDED) ==
              !need);
        check(!need || sl_second_pass_due_ms(id) != SL_NEVER);
        break;
    case 1:
        sl_second_pass_cancel(id);
        check(sl_second_pass_due_ms(id) == SL_NEVER);
        break;
    default:
        step_take(id);
        break;
    }
    check(sl_second_pass_valid() && sl_second_pass_count() <= SLOTS);
    check(memcmp(&before, &sl_workloads[id], sizeof before) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memset(sl_workloads, 0, SLOTS * sizeof sl_workloads[0]);
    sl_second_pass_total = 0;
    now_ms = 1000000;
    struct producer p = {data, size};
    while (!producer_done(&p)) {
        uint8_t operation = producer_byte(&p);
        sl_workload_id id = producer_below(&p, SLOTS);
        now_ms += operation >> 2;
        if (operation % 4 == 3) {
            now_ms += (int64_t)(operation >> 2) * 1000;
            step_pass(&p, id);
        } else {
            step_event(&p, id);
        }
    }
    return 0;
}
