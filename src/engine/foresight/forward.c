/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The loop that runs ahead. It stands in for the controllers and for the cluster: what they would do next is done at once. */
#include "engine/foresight/forward.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/decisions/slices.h"
#include "engine/decisions/standing.h"
#include "engine/foresight/admitted.h"
#include "engine/records/event_in.h"
#include "engine/requests/families.h"
#include "policy/requests/requests.h"
#include <string.h>

#define OVERDUE_MS_MIN 1000 /* what runs longer than it should goes on for that at least */
#define IDLE_ROUNDS_MAX 64u /* of timers that change nothing, when no job is known to end */
#define ENOUGH_EVERY 16u    /* cycles */
#define STEPS_OF_ONE_MAX 8u /* things that happen to one workload at one decision */

const char *const sl_forward_end_names[] = {[SL_FORWARD_DONE] = "NothingWaits",
                                            [SL_FORWARD_QUIET] = "NothingChanges",
                                            [SL_FORWARD_HORIZON] = "Horizon",
                                            [SL_FORWARD_ENOUGH] = "CutShort"};

/* --- what a time rests on --------------------------------------------------------------------- */

static bool has_topology(const struct sl_engine *g)
{
    for (uint32_t i = 0; i < g->flavor_cap; i++) {
        if (sl_json_path(g->flavors[i].spec, "topologyName") != NULL) {
            return true;
        }
    }
    return false;
}

static sl_qnode_id root_of(const struct sl_engine *g, sl_qnode_id qnode)
{
    for (uint32_t i = 0; i < SL_LEVELS_MAX && g->qnodes[qnode]->parent != SL_NO_ID; i++) {
        qnode = g->qnodes[qnode]->parent;
    }
    return qnode;
}

/* Where is noted on what the times of the workload's tree rest. */
static unsigned *rests_of(const struct sl_forward *f, sl_workload_id id)
{
    const struct sl_workload_entry *e = &f->g->workloads[id];
    sl_qnode_id qnode = e->held_at != SL_NO_ID ? e->held_at : e->queue->cluster_queue;
    bool known = !f->one_tree && qnode != SL_NO_ID && f->g->qnodes[qnode] != NULL;
    return &f->rests_on[known ? root_of(f->g, qnode) + 1 : 0];
}

unsigned sl_forward_rests_on(const struct sl_forward *f, sl_workload_id id)
{
    SL_PRE(f != NULL);
    return *rests_of(f, id);
}

/* --- fates ------------------------------------------------------------------------------------ */

static struct sl_fate *fate_of(struct sl_forward *f, sl_workload_id id)
{
    uint32_t generation = f->g->workloads[id].generation;
    uint32_t known = f->fate_cap;
    f->fates = sl_mem_reach(f->fates, &f->fate_cap, 64, id, sizeof *f->fates);
    if (id >= known || f->fates[id].generation != generation + 1) {
        f->fates[id] = (struct sl_fate){.generation = generation + 1, /* 0: none yet */
                                        .start_ms = SL_NEVER,
                                        .evicted_ms = SL_NEVER,
                                        .end_ms = SL_NEVER,
                                        .by = SL_NO_ID};
    }
    return &f->fates[id];
}

const struct sl_fate *sl_forward_fate(const struct sl_forward *f, sl_workload_id id)
{
    SL_PRE(f != NULL);
    bool known = id < f->fate_cap && id < f->g->workload_cap && f->g->workloads[id].uid != NULL &&
                 f->fates[id].generation == f->g->workloads[id].generation + 1;
    return known ? &f->fates[id] : NULL;
}

void sl_forward_ask(struct sl_forward *f, sl_workload_id id)
{
    SL_PRE(f != NULL && id < f->g->workload_cap);
    struct sl_fate *fate = fate_of(f, id);
    fate->asked = true;
    fate->waits = fate->waits || !fate->holds;
}

static void note_start(struct sl_forward *f, sl_workload_id id)
{
    struct sl_fate *fate = fate_of(f, id);
    bool goes_on = fate->holds && fate->evicted_ms == SL_NEVER;
    if (fate->start_ms == SL_NEVER && !goes_on) {
        fate->start_ms = f->now_ms;
        fate->rests_on = f->now_ms == f->options->now_ms ? *rests_of(f, id) & SL_RESTS_ON_CHECKS
                                                         : *rests_of(f, id);
    }
}

static void note_eviction(struct sl_forward *f, const struct sl_decision *d)
{
    struct sl_fate *fate = fate_of(f, d->workload);
    if (fate->start_ms == f->now_ms || fate->start_ms == SL_NEVER) { /* that was no start */
        fate->start_ms = SL_NEVER;
        sl_json_free(fate->pod_sets);
        fate->pod_sets = NULL;
    }
    if (fate->evicted_ms != SL_NEVER) {
        return;
    }
    fate->evicted_ms = f->now_ms;
    fate->reason = d->reason;
    if (d->by_name != NULL) {
        struct sl_buf key = {0};
        sl_buf_print(&key, "%s/%s", d->by_ns, d->by_name);
        fate->by = sl_intern_find(f->g->names, SL_INTERN_WORKLOAD, key.data);
        sl_buf_fini(&key);
    }
}

/* --- what others would do --------------------------------------------------------------------- */

/* An overdue one is taken to be half through its delay. Slices of a job run one after the other: it goes on. */
static int64_t end_of(const struct sl_forward *f, sl_workload_id id, struct sl_run_time run)
{
    bool own = run.basis == SL_RUN_LIMIT;
    int64_t end_ms = (own ? sl_workloads[id].admitted_at_ms : sl_run_began_ms(f->g, id)) + run.ms;
    if (run.basis == SL_RUN_OBSERVED && end_ms <= f->now_ms) {
        int64_t over_ms = f->now_ms - end_ms;
        return f->now_ms + (over_ms > OVERDUE_MS_MIN ? over_ms : OVERDUE_MS_MIN);
    }
    return end_ms > f->now_ms ? end_ms : f->now_ms;
}

static void arm_end(struct sl_forward *f, sl_workload_id id)
{
    struct sl_fate *fate = fate_of(f, id);
    struct sl_run_time run = sl_run_time_of(f->g, id);
    if (fate->end_ms != SL_NEVER) {
        return;
    }
    if (run.basis == SL_RUN_UNKNOWN) {
        *rests_of(f, id) |= SL_RESTS_ON(SL_RUN_UNKNOWN);
        return;
    }
    fate->end_ms = end_of(f, id, run);
    sl_timers_arm(&f->ends, fate->end_ms, SL_TIMER_EXECUTION, id, f->g->workloads[id].generation);
}

static void answer_checks(struct sl_forward *f, sl_workload_id id)
{
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        struct sl_check check = sl_workloads[id].checks[i];
        if (check.state == SL_CHECK_PENDING && sl_workloads[id].phase == SL_PHASE_QUOTA_RESERVED) {
            *rests_of(f, id) |= SL_RESTS_ON_CHECKS;
            sl_send(f->g, id, f->now_ms, .kind = SL_EV_CHECK_STATE, .index = check.check,
                    .reason = SL_CHECK_READY);
        }
    }
}

static bool pods_are_ready(const struct sl_workload *w)
{
    return w->pods_ready == SL_PODS_STARTED || w->pods_ready == SL_PODS_RECOVERED;
}

static void run_job(struct sl_forward *f, sl_workload_id id)
{
    note_start(f, id);
    if (f->g->settings.wait_for_pods_ready && !pods_are_ready(&sl_workloads[id])) {
        sl_send(f->g, id, f->now_ms, .kind = SL_EV_PODS_READY, .index = 1);
    }
    arm_end(f, id);
}

static void stop_job(struct sl_forward *f, sl_workload_id id)
{
    fate_of(f, id)->end_ms = SL_NEVER;
    sl_send(f->g, id, f->now_ms, .kind = SL_EV_JOB_STOPPED,
            .index = sl_requests_is_single_pod(id) ? 1u : 0u);
}

/* spec.active becomes false, as the daemon has decided. */
static void deactivate(struct sl_forward *f, sl_workload_id id)
{
    f->g->workloads[id].wants_active = false;
    sl_send(f->g, id, f->now_ms, .kind = SL_EV_DEACTIVATE);
}

/* One step of what happens where it is; false: nothing does. */
static bool step_of_one(struct sl_forward *f, sl_workload_id id)
{
    const struct sl_workload *w = &sl_workloads[id];
    enum sl_phase phase = w->phase;
    if (w->deactivation != SL_CAUSE_NONE && w->active) {
        deactivate(f, id);
        return true;
    }
    switch (phase) {
    case SL_PHASE_QUOTA_RESERVED:
        answer_checks(f, id);
        break;
    case SL_PHASE_ADMITTED:
        run_job(f, id);
        break;
    case SL_PHASE_EVICTED:
        stop_job(f, id);
        break;
    case SL_PHASE_ABSENT:
    case SL_PHASE_PENDING:
    case SL_PHASE_FINISHED:
        return false;
    }
    return sl_workloads[id].phase != phase;
}

static void respond(struct sl_forward *f, sl_workload_id id)
{
    unsigned steps = 0;
    while (f->g->workloads[id].uid != NULL && steps < STEPS_OF_ONE_MAX && step_of_one(f, id)) {
        steps++;
    }
    if (steps > 0 && f->g->workloads[id].uid != NULL) {
        sl_standing_update(f->g, id, f->now_ms);
    }
}

/* --- decisions -------------------------------------------------------------------------------- */

static void note_admission(struct sl_forward *f, sl_workload_id id)
{
    struct sl_fate *fate = fate_of(f, id);
    if (fate->asked && fate->pod_sets == NULL) {
        fate->pod_sets = sl_admitted_pod_sets_new(f->g, id);
    }
}

static bool carry_out_all(struct sl_forward *f)
{
    struct sl_decision d;
    bool any = false;
    while (sl_engine_next_decision(f->g, &d)) {
        any = true;
        if (d.kind == SL_DECIDE_EVICT) {
            note_eviction(f, &d);
        }
        if (d.kind == SL_DECIDE_RESERVE || d.kind == SL_DECIDE_ADMIT || d.kind == SL_DECIDE_PLACE) {
            note_admission(f, d.workload);
        }
        (void)sl_engine_written(f->g, &d, SL_CODE_OK, NULL, f->now_ms);
        if (d.kind == SL_DECIDE_DELETE) {
            sl_event_drop_workload(f->g, d.workload, f->now_ms);
        } else {
            f->decided =
                sl_mem_reach(f->decided, &f->decided_cap, 64, f->decided_count, sizeof *f->decided);
            f->decided[f->decided_count++] = d.workload;
        }
    }
    return any;
}

static void respond_all(struct sl_forward *f)
{
    for (uint32_t i = 0; i < f->decided_count; i++) {
        respond(f, f->decided[i]);
    }
    f->decided_count = 0;
}

static bool is_enough(struct sl_forward *f)
{
    const struct sl_foresee_options *o = f->options;
    f->cycles++;
    bool out = o->cycles_max != 0 && f->cycles > o->cycles_max;
    bool asks = o->enough != NULL && f->cycles % ENOUGH_EVERY == 0;
    f->cut = f->cut || out || (asks && o->enough(o->context));
    return f->cut;
}

/* All that happens at one instant. */
static void settle(struct sl_forward *f)
{
    bool any = false, more = true;
    while (more && !is_enough(f)) {
        more = sl_engine_cycle(f->g, f->now_ms);
        more = carry_out_all(f) || more || sl_engine_due_ms(f->g) <= f->now_ms;
        if (!more && f->decided_count > 0) {
            any = more = true;
            respond_all(f);
        }
    }
    f->idle_rounds = any ? 0 : f->idle_rounds + 1;
}

/* --- time ------------------------------------------------------------------------------------- */

static void finish(struct sl_forward *f, sl_workload_id id)
{
    sl_send(f->g, id, f->now_ms, .kind = SL_EV_FINISH, .reason = SL_FINISH_SUCCEEDED);
    sl_standing_update(f->g, id, f->now_ms);
}

static void end_with_job(struct sl_forward *f, sl_workload_id id)
{
    if (sl_workloads[id].phase != SL_PHASE_FINISHED) {
        fate_of(f, id)->job_ended = true;
        finish(f, id);
    }
}

static void end_job(struct sl_forward *f, sl_workload_id id)
{
    *rests_of(f, id) |= SL_RESTS_ON(sl_run_time_of(f->g, id).basis);
    finish(f, id);
    for (sl_workload_id slice = sl_slice_next(f->g, id, SL_NO_ID); slice != SL_NO_ID;
         slice = sl_slice_next(f->g, id, slice)) { /* it waits to be the job's next */
        end_with_job(f, slice);
    }
    for (sl_workload_id other = sl_family_next(f->g, id, SL_NO_ID); other != SL_NO_ID;
         other = sl_family_next(f->g, id, other)) { /* it was tried for the same job */
        end_with_job(f, other);
    }
}

static void end_jobs(struct sl_forward *f)
{
    struct sl_timer t;
    while (sl_timers_take(&f->ends, f->now_ms, &t)) {
        const struct sl_fate *fate = sl_forward_fate(f, t.id);
        bool same = fate != NULL && f->g->workloads[t.id].generation == t.generation &&
                    fate->end_ms == t.due_ms;
        if (same && sl_workloads[t.id].phase == SL_PHASE_ADMITTED) {
            end_job(f, t.id);
            f->idle_rounds = 0;
        }
    }
}

static bool something_waits(const struct sl_forward *f)
{
    return f->g->counters.pending > 0;
}

static int64_t next_ms(const struct sl_forward *f)
{
    int64_t ends_ms = sl_timers_due_ms(&f->ends), due_ms = sl_engine_due_ms(f->g);
    return ends_ms < due_ms ? ends_ms : due_ms;
}

enum sl_forward_end sl_forward_run(struct sl_forward *f)
{
    SL_PRE(f != NULL);
    settle(f);
    for (;;) {
        int64_t next = next_ms(f);
        if (f->cut) {
            return SL_FORWARD_ENOUGH;
        }
        if (!something_waits(f)) {
            return SL_FORWARD_DONE;
        }
        if (next == INT64_MAX || (f->ends.count == 0 && f->idle_rounds > IDLE_ROUNDS_MAX)) {
            return SL_FORWARD_QUIET;
        }
        if (next > f->options->until_ms) {
            return SL_FORWARD_HORIZON;
        }
        f->now_ms = next > f->now_ms ? next : f->now_ms;
        end_jobs(f);
        settle(f);
    }
}

/* --- beginning and end ------------------------------------------------------------------------ */

void sl_forward_begin(struct sl_forward *f, struct sl_engine *g,
                      const struct sl_foresee_options *options)
{
    SL_PRE(f != NULL && g != NULL && g->synced && options->now_ms >= g->now_ms);
    *f = (struct sl_forward){.g = g, .options = options, .now_ms = options->now_ms};
    /* The file is not ours: what is not flushed yet is written by the process that decides. */
    (void)sl_journal_open(NULL, &g->journal, NULL);
    g->settings.paranoid = false;
    g->runs_ahead = true;
    f->one_tree = has_topology(g);
    f->rests_on = sl_mem_new(SL_QNODES_MAX + 1u, sizeof *f->rests_on);
}

void sl_forward_look(struct sl_forward *f)
{
    SL_PRE(f != NULL);
    struct sl_engine *g = f->g;
    for (sl_workload_id id = 0; id < g->workload_cap; id++) {
        if (g->workloads[id].uid != NULL) {
            enum sl_phase phase = sl_workloads[id].phase;
            struct sl_fate *fate = fate_of(f, id);
            fate->waits = phase == SL_PHASE_PENDING || phase == SL_PHASE_QUOTA_RESERVED ||
                          phase == SL_PHASE_EVICTED;
            fate->holds = phase == SL_PHASE_ADMITTED;
            respond(f, id);
        }
    }
}

void sl_forward_fini(struct sl_forward *f)
{
    SL_PRE(f != NULL);
    for (uint32_t i = 0; i < f->fate_cap; i++) {
        sl_json_free(f->fates[i].pod_sets);
    }
    sl_mem_free(f->fates);
    sl_mem_free(f->rests_on);
    sl_mem_free(f->decided);
    sl_timers_fini(&f->ends);
    *f = (struct sl_forward){0};
}
