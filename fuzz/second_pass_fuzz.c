/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_transition_event with every kind of event, reservations by plan, and the second-pass gate, on eight workloads.
 * Oracle: the proved checkers after each step; a refusal leaves the record byte-identical; need against a
 * reference written from the rule; an entry is taken only when due, live and needed; arming and taking never
 * change a record; finished is final; quota appears by reservation only; a door says of a record what a comparison finds.
 * Input: events of an operation byte, a workload byte and their own fields. */
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/producer.h"
#include "fuzz/lib/state.h"
#include "kernel/commit/transition.h"
#include "kernel/lifecycle/second_pass.h"
#include "policy/flavors/open_cell.h"

enum { SLOTS = 8, HOSTS = 3, CHECKS = SL_CHECKS_MAX + 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t now_ms;
static sl_cell_id cell;

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

/* A reservation comes with a plan: a restored one for an orphan, else through the running cycle. */
static enum sl_status reserve(sl_workload_id id, struct sl_event ev)
{
    sl_plan.workload = id;
    sl_plan.generation = ev.generation;
    sl_plan.cluster_queue = 0;
    sl_plan.usage_count = 1;
    sl_plan.usage[0] = (struct sl_cell_amount){cell, ev.index};
    sl_plan.topology_pending = ev.reason % 2 == 0;
    sl_plan.now_ms = now_ms;
    if (sl_places[id] == SL_PLACE_ORPHANED) {
        return sl_commit_restore();
    }
    (void)!sl_place_move(id, SL_PLACE_INADMISSIBLE, SL_PLACE_HEAP);
    (void)!sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT);
    return sl_commit_apply();
}

static bool objects(const struct sl_workload *w)
{
    bool any = false;
    for (uint32_t i = 0; i < w->check_count; i++) {
        any =
            any || w->checks[i].state == SL_CHECK_RETRY || w->checks[i].state == SL_CHECK_REJECTED;
    }
    return any && w->phase == SL_PHASE_PENDING && w->pending_reason == SL_PENDING_EVALUATION;
}

/* What the door says that it did is what the records say. */
static enum sl_status tell(struct sl_event ev)
{
    struct sl_workload b = sl_workloads[ev.workload];
    struct sl_transition did = sl_transition_event(ev);
    const struct sl_workload *w = &sl_workloads[ev.workload];
    CHECK(did.from == b.phase && did.to == w->phase);
    CHECK(did.news[SL_CHANGED_EVICTION] ==
          (w->evicted != b.evicted && w->evicted != SL_EVICT_NONE));
    CHECK(did.news[SL_CHANGED_REQUEUE] ==
          (w->requeued != b.requeued && w->requeued == SL_REQUEUED_TRUE));
    CHECK(did.news[SL_CHANGED_REASON] == (w->pending_reason != b.pending_reason));
    CHECK(did.news[SL_CHANGED_CHECKS] == (w->check_count != b.check_count));
    CHECK(did.from == SL_PHASE_ABSENT ||
          did.news[SL_CHANGED_NODES] ==
              (w->unhealthy_count != b.unhealthy_count ||
               memcmp(w->unhealthy, b.unhealthy, w->unhealthy_count * sizeof b.unhealthy[0]) != 0));
    CHECK(did.from != did.to || b.pending_reason != w->pending_reason ||
          did.news[SL_CHANGED_OBJECTION] == (objects(&b) != objects(w)));
    CHECK(!did.news[SL_CHANGED_WAIT] || (reference_need(w) && !reference_need(&b)));
    CHECK(!did.news[SL_CHANGED_TARGET] || (w->deactivation != b.deactivation && w->active));
    CHECK(!did.news[SL_CHANGED_START] || w->pods_ready == SL_PODS_STARTED);
    return did.status;
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
    if (producer_byte(p) == 77) { /* a clock that went back */
        ev.now_ms = 1;
    }
    bool restored = ev.kind == SL_EV_RESERVE && sl_places[id] == SL_PLACE_ORPHANED;
    fuzz_guarantees_step(SLOTS, false);
    enum sl_status status = ev.kind == SL_EV_RESERVE ? reserve(id, ev) : tell(ev);
    fuzz_guarantees_step(SLOTS, !restored);
    if (status != SL_OK) {
        CHECK(memcmp(&before, &sl_workloads[id], sizeof before) == 0);
        return;
    }
    CHECK(ev.generation == before.generation);
    CHECK(before.phase != SL_PHASE_FINISHED || ev.kind == SL_EV_DELETE);
    CHECK(held || !sl_lifecycle_holds_quota(id) || ev.kind == SL_EV_RESERVE);
    CHECK(sl_workloads[id].phase != SL_PHASE_EVICTED || sl_workloads[id].evicted != SL_EVICT_NONE);
}

static void step_take(sl_workload_id id)
{
    int64_t due_ms = sl_second_pass_due_ms(id);
    bool need = reference_need(&sl_workloads[id]);
    enum sl_status status = sl_second_pass_take(id, now_ms);
    CHECK(status != SL_OK || (need && due_ms != SL_NEVER && due_ms <= now_ms));
    CHECK((status == SL_REFUSED_NOT_ARMED) == (due_ms == SL_NEVER));
    CHECK((sl_second_pass_due_ms(id) != SL_NEVER) == (status == SL_REFUSED_NOT_DUE));
}

static void step_pass(struct producer *p, sl_workload_id id)
{
    struct sl_workload before = sl_workloads[id];
    bool need = reference_need(&before);
    CHECK(sl_second_pass_needed(id) == need);
    switch (producer_below(p, 4)) {
    case 0:
        CHECK((sl_second_pass_arm(id, producer_below(p, 8), now_ms) == SL_REFUSED_NOT_NEEDED) ==
              !need);
        CHECK(!need || sl_second_pass_due_ms(id) != SL_NEVER);
        break;
    case 1:
        sl_second_pass_cancel(id);
        CHECK(sl_second_pass_due_ms(id) == SL_NEVER);
        break;
    default:
        step_take(id);
        break;
    }
    CHECK(sl_second_pass_count() <= SLOTS);
    CHECK(memcmp(&before, &sl_workloads[id], sizeof before) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer program = {data, size}, p;
    fuzz_state_reset();
    now_ms = 1000000;
    CHECK(sl_ledger_open_qnode(0) == SL_OK && sl_ledger_open_cell(0, 1, 1, &cell) == SL_OK);
    CHECK(sl_ledger_set_quota(cell, 16, 0, 0) == SL_OK);
    while (producer_event(&program, &p)) {
        uint8_t operation = producer_byte(&p);
        sl_workload_id id = producer_below(&p, SLOTS);
        now_ms += operation >> 2;
        if (operation % 4 == 3) {
            now_ms += (int64_t)(operation >> 2) * 1000;
            step_pass(&p, id);
        } else {
            step_event(&p, id);
        }
        fuzz_guarantees_kernel(SLOTS);
    }
    return 0;
}
