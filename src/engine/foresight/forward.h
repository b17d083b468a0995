/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Running ahead: cycles and timers of the engine on a virtual clock, every decision taken as written. Jobs respond once the
 * engine has come to rest at an instant, as they take longer than it: they end after their run times (quota/run_times.h),
 * stop when they are evicted, and their pods are ready, at that instant; checks that are asked answer Ready. Nothing is
 * submitted. */
#ifndef SL_ENGINE_FORWARD_H
#define SL_ENGINE_FORWARD_H
#include "engine/foresight.h"
#include "engine/quota/run_times.h"

/* On what a time rests, as bits. */
#define SL_RESTS_ON(basis) (1u << (unsigned)(basis)) /* run times of that basis have ended */
#define SL_RESTS_ON_CHECKS (1u << SL_RUN_BASES)      /* checks were taken to answer at once */

/* What becomes of a workload. */
struct sl_fate {
    uint32_t generation;
    bool waits;     /* it is to start, or to start again, when the run begins */
    bool holds;     /* it is admitted then */
    bool asked;     /* the question is about it */
    bool job_ended; /* while it waited to be the next slice of it */
    int64_t
        start_ms; /* when it is admitted first, or again after an eviction; SL_NEVER: not in this run */
    unsigned rests_on;
    int64_t evicted_ms; /* when it is first evicted; SL_NEVER: it is not */
    sl_workload_id by;  /* who preempts it then; SL_NO_ID: none */
    const char *reason; /* of the API */
    int64_t
        end_ms; /* when it ends, by its present admission; SL_NEVER: not known, or not admitted */
    struct sl_json *pod_sets; /* of its first admission, where it was asked about; NULL = none */
};

enum sl_forward_end {
    SL_FORWARD_DONE,    /* nothing waits any more */
    SL_FORWARD_QUIET,   /* nothing that is known would change anything for those that wait */
    SL_FORWARD_HORIZON, /* it may go on after options->until_ms */
    SL_FORWARD_ENOUGH   /* cut short: cycles_max, or enough() */
};
extern const char *const sl_forward_end_names[];

struct sl_forward {
    struct sl_engine *g;
    const struct sl_foresee_options *options;
    int64_t now_ms;
    uint64_t cycles;
    bool cut;
    struct sl_timers ends;   /* of jobs */
    sl_workload_id *decided; /* workloads whose job has not responded yet */
    uint32_t decided_count, decided_cap;
    struct sl_fate *fates; /* by workload */
    uint32_t fate_cap;
    uint32_t idle_rounds; /* in a row that decided nothing */
    unsigned
        *rests_on; /* by the root of a tree of quotas: what ended there so far, or does not end */
    bool one_tree; /* nodes are shared: what ends in one tree lets others in */
};
/* From now on the engine writes no journal and checks no guarantees. */
void sl_forward_begin(struct sl_forward *f, struct sl_engine *g,
                      const struct sl_foresee_options *options);
/* Who waits, and who holds quota, now. */
void sl_forward_look(struct sl_forward *f);
/* The question is about the workload. */
void sl_forward_ask(struct sl_forward *f, sl_workload_id id);
enum sl_forward_end sl_forward_run(struct sl_forward *f);
void sl_forward_fini(struct sl_forward *f);
/* On what a time of the workload's tree would rest now. */
unsigned sl_forward_rests_on(const struct sl_forward *f, sl_workload_id id);
/* Its fate, if it is still the one that it was; else NULL. */
const struct sl_fate *sl_forward_fate(const struct sl_forward *f, sl_workload_id id);
#endif
