/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a run of a daemon has come to know, as lines: objects when they have changed, and what became of workloads. */
#ifndef SL_ENGINE_PAST_EMIT_H
#define SL_ENGINE_PAST_EMIT_H
#include "api/json/json.h"
#include "base/buf.h"
#include "engine/journal/journal_names.h"
#include "kernel/base/types.h"

struct sl_taken_queue {
    bool dirty, emitted, configured;
    struct sl_json *checks; /* names, as its workloads have them */
};
struct sl_taken_workload {
    bool dirty, emitted;
    bool gated;     /* a preemption gate of it was closed once */
    char *slice_of; /* the key of the one whose place it was to take once; NULL = of none */
    int64_t reserved_ms, admitted_ms, evicted_ms; /* as they were emitted last */
    uint32_t account;                             /* plus one; 0 = none */
    char *local_queue;                            /* as it was emitted last */
};
extern const struct sl_taken_workload sl_taken_unknown; /* of which nothing was emitted */

struct sl_taken_ids {
    uint32_t *ids;
    uint32_t count, cap;
};

struct sl_taking {
    struct sl_buf *out;
    struct sl_journal_names names;
    struct sl_buf list; /* of the call that is made */
    int64_t now_ms;
    uint64_t sequence, records;
    struct sl_taken_queue *queues;
    struct sl_taken_workload *workloads;
    uint32_t queue_cap, workload_cap;
    struct sl_taken_ids dirty_queues, dirty_workloads;
    int64_t *weights; /* of accounts, in 1e-9; 0 = one */
    uint32_t weight_cap;
    bool looked;              /* nothing was emitted since the last look */
    bool restoring, restored; /* an image is being put into the core; it has to be emitted */
    uint64_t failed_writes, topology_calls, moved_nodes, reductions;
    const char *why; /* it ends before the run does */
};

/* A line with the object, which it takes. */
void sl_emit(struct sl_taking *t, const char *verb, struct sl_json *object);
/* "NAMESPACE/NAME" */
const char *sl_emit_key(const struct sl_taking *t, sl_workload_id id);
/* A line about a workload, without its end. */
void sl_emit_begin(struct sl_taking *t, const char *verb, sl_workload_id id);
struct sl_taken_queue *sl_emit_queue_state(struct sl_taking *t, sl_qnode_id qnode);
struct sl_taken_workload *sl_emit_workload_state(struct sl_taking *t, sl_workload_id id);
/* The workload as it is now. */
struct sl_json *sl_emit_workload_new(struct sl_taking *t, sl_workload_id id);
/* It has changed, and is emitted with the next sl_emit_all. */
void sl_emit_touch_queue(struct sl_taking *t, sl_qnode_id qnode);
void sl_emit_touch_workload(struct sl_taking *t, sl_workload_id id);
void sl_emit_all(struct sl_taking *t);
/* What has become of it, if that was not emitted yet. */
void sl_emit_fate(struct sl_taking *t, sl_workload_id id);
#endif
