/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Run times: of jobs by their uid, of queues as a mean that forgets. */
#include "engine/quota/run_times.h"
#include "base/check.h"
#include "engine/records/event_in.h"

#define WEIGHT 8u      /* of what was seen before, against what is new */
#define SLICES_MAX 64u /* of a job, that are looked at */
#define SAMPLES_MIN 3u /* of a queue, before anything is said about it */

void sl_run_mean_add(struct sl_run_mean *m, int64_t ms)
{
    SL_PRE(m != NULL && ms >= 0);
    m->count += m->count < UINT32_MAX;
    uint32_t weight = m->count < WEIGHT ? m->count : WEIGHT;
    m->mean_ms += (ms - m->mean_ms) / (int64_t)weight;
}

/* After an eviction the job has begun again. */
int64_t sl_run_began_ms(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL && id < g->workload_cap);
    int64_t began_ms = sl_workloads[id].admitted_at_ms;
    for (uint32_t i = 0; i < SLICES_MAX && sl_workloads[id].eviction_count == 0; i++) {
        sl_workload_id old = sl_slice_old(g, id);
        if (old == SL_NO_ID || sl_workloads[old].finished != SL_FINISH_SLICE_REPLACED ||
            sl_workloads[old].phase != SL_PHASE_FINISHED ||
            sl_workloads[old].admitted_at_ms == SL_NEVER) {
            break;
        }
        began_ms = sl_workloads[old].admitted_at_ms;
        id = old;
    }
    return began_ms;
}

void sl_run_times_note(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    SL_PRE(g != NULL && id < g->workload_cap);
    const struct sl_workload_entry *e = &g->workloads[id];
    int64_t began_ms = sl_run_began_ms(g, id);
    if (began_ms == SL_NEVER || began_ms > now_ms) {
        return;
    }
    sl_run_mean_add(&e->queue->tally.run_mean, now_ms - began_ms);
    if (e->held_at != SL_NO_ID) {
        sl_run_mean_add(&g->qnodes[e->held_at]->tally.run_mean, now_ms - began_ms);
    }
}

/* The basis and the time in one number of a map. */
#define BASES 8u

void sl_engine_say_run_time(struct sl_engine *g, const char *uid, enum sl_run_basis basis,
                            int64_t ms)
{
    SL_PRE(g != NULL && uid != NULL && ms >= 0);
    _Static_assert(SL_RUN_BASES <= BASES, "they fit");
    if (basis == SL_RUN_UNKNOWN) {
        (void)sl_map_remove(g->run_times, uid, NULL);
    } else {
        sl_map_put(g->run_times, uid,
                   (union sl_map_value){.number = (uint64_t)ms * BASES + (uint64_t)basis});
    }
}

static struct sl_run_time said(const struct sl_engine *g, const struct sl_workload_entry *e)
{
    union sl_map_value value = {.number = SL_RUN_UNKNOWN};
    if (e->job_uid == NULL || !sl_map_get(g->run_times, e->job_uid, &value)) {
        (void)sl_map_get(g->run_times, e->uid, &value);
    }
    return (struct sl_run_time){(int64_t)(value.number / BASES),
                                (enum sl_run_basis)(value.number % BASES)};
}

static struct sl_run_time observed(const struct sl_engine *g, const struct sl_workload_entry *e)
{
    sl_qnode_id at = e->held_at != SL_NO_ID ? e->held_at : e->queue->cluster_queue;
    const struct sl_run_mean *means[] = {&e->queue->tally.run_mean,
                                         at == SL_NO_ID ? NULL : &g->qnodes[at]->tally.run_mean};
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        if (means[i] != NULL && means[i]->count >= SAMPLES_MIN) {
            return (struct sl_run_time){means[i]->mean_ms, SL_RUN_OBSERVED};
        }
    }
    return (struct sl_run_time){0, SL_RUN_UNKNOWN};
}

struct sl_run_time sl_run_time_of(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL && id < g->workload_cap);
    const struct sl_workload *w = &sl_workloads[id];
    struct sl_run_time known = said(g, &g->workloads[id]);
    if (known.basis == SL_RUN_FOR) {
        return known;
    }
    if (w->execution_ms_max > 0) {
        int64_t left_ms = w->execution_ms_max - w->accumulated_ms;
        return (struct sl_run_time){left_ms > 0 ? left_ms : 0, SL_RUN_LIMIT};
    }
    return known.basis != SL_RUN_UNKNOWN ? known : observed(g, &g->workloads[id]);
}
