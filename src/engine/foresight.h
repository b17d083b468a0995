/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Foresight: the engine runs ahead of time, from where it is, on a virtual clock, with the very core that decides. That
 * uses the state up: it is done in a process that was forked for it (docs/decisions/0051), and the one that decides never
 * calls sl_foresee. */
#ifndef SL_ENGINE_FORESIGHT_H
#define SL_ENGINE_FORESIGHT_H
#include "base/aside.h"
#include "engine/engine.h"

/* What a run time is taken from. */
enum sl_run_basis {
    SL_RUN_UNKNOWN,
    SL_RUN_FOR,      /* the job says it, and standalone mode ends it so: exact */
    SL_RUN_LIMIT,    /* spec.maximumExecutionTimeSeconds: it ends by then */
    SL_RUN_DEADLINE, /* the job's activeDeadlineSeconds: it ends by then */
    SL_RUN_OBSERVED, /* what ran in its queue before ran so long: an estimate */
    SL_RUN_BASES
};
/* How long the job with that uid (or the Workload with it) runs once it is admitted, as SL_RUN_FOR or SL_RUN_DEADLINE;
 * SL_RUN_UNKNOWN forgets what was said. */
void sl_engine_say_run_time(struct sl_engine *g, const char *uid, enum sl_run_basis basis,
                            int64_t ms);

/* When the Workload "namespace/name" was admitted last; SL_NEVER: not yet. False: there is none. */
bool sl_engine_admitted(const struct sl_engine *g, const char *key, int64_t *admitted_ms);

struct sl_foresee_options {
    int64_t now_ms;
    int64_t until_ms;              /* the farthest that is looked */
    uint64_t cycles_max;           /* 0 = no limit */
    size_t rows_max;               /* in each list of the answer; the rest is counted */
    bool (*enough)(void *context); /* asked now and then: stop here? NULL = no */
    void *context;
};
/* Answers a question as JSON (docs/operations.md, Foresight). `changes`: a list of {"apply": OBJECT} and {"delete": OBJECT},
 * of kinds that the engine observes, for a Workload with {"run": {"milliseconds": N, "exact": BOOL}}; NULL or empty: things stay as they are. `before`: what sl_foresee answered without
 * the changes, to be compared with; NULL: no comparison. The caller frees the answer. NULL, and *e: an object cannot be
 * used, or not all objects have been read yet. The engine is good for nothing else afterwards. */
struct sl_json *sl_foresee(struct sl_engine *g, const struct sl_json *changes,
                           const struct sl_json *before, const struct sl_foresee_options *options,
                           struct sl_error *e);

/* The same as work for a copy of the process (base/aside.h). */
struct sl_question {
    struct sl_engine *engine;
    const struct sl_json *changes; /* as above */
    int64_t now_ms, until_ms;
    uint64_t cycles_max; /* 0 = no limit */
    unsigned
        seconds_max; /* of CPU time for each of two runs; what is found by then is the answer. 0 = no limit */
    size_t rows_max;
    /* Of sl_question_pending: whose workloads, and which of them. */
    const char *cluster_queue;
    const struct sl_pending_range *range;
};
#define SL_QUESTION_SAMPLE 100u
/* Lines "NAMESPACE/NAME START_MS CERTAINTY" for up to SL_QUESTION_SAMPLE workloads, none where something is changed; an
 * empty line; then the answer, or a Status. What becomes of things without the changes is found out by a copy of the copy. */
void sl_question_answer(void *question, struct sl_buf *out);
/* What waits in a ClusterQueue, as sl_engine_pending_next describes it, a line each, and with "foreseen" what else is known
 * of its start: {start, waitMilliseconds, certainty, basis}, or {certainty: Unknown, reason, notBefore}. The same
 * lines of a sample and an empty one come before. In place of all of it: a Status. Nothing is changed (`changes`). */
void sl_question_pending(void *question, struct sl_buf *out);
/* Where in the result the answer begins. */
size_t sl_question_body(const struct sl_buf *result);
struct sl_aside_work sl_question_work(struct sl_question *q,
                                      void (*run)(void *context, struct sl_buf *result));
#endif
