/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is counted and timed of Workloads, by ClusterQueue and, of the LocalQueues that have metrics of their own, by
 * LocalQueue. A Workload is as it is now, after what is counted was written. Owns which LocalQueues have metrics. */
#ifndef SL_CONTROLLERS_WORKLOAD_METERS_H
#define SL_CONTROLLERS_WORKLOAD_METERS_H
#include "api/objects/object.h"
#include "controllers/work/custom_labels.h"
#include "controllers/work/meters.h"

/* Which LocalQueues have metrics of their own, and do cohorts? */
struct sl_metered {
    bool on;
    const struct sl_selector *selector; /* lent; NULL: all of them */
    bool cohorts;
    bool creations;                        /* is it timed how long jobs wait for their Workload? */
    const struct sl_custom_labels *custom; /* lent; NULL: none */
    bool unadmitted;                       /* is it shown why Workloads are not admitted? */
};

struct sl_workload_meters {
    struct sl_meters meters;
    struct sl_metered metered;
    struct sl_map *queues; /* "namespace/name" of those that have */
    struct sl_map *custom; /* kind, namespace and name -> custom labels as they are printed */
};
void sl_workload_meters_init(struct sl_workload_meters *m, struct sl_metered metered);
void sl_workload_meters_fini(struct sl_workload_meters *m);
/* A queue or Cohort was seen or deleted; other kinds are ignored. */
void sl_workload_meters_observe(struct sl_workload_meters *m, enum sl_kind kind,
                                const struct sl_json *object, bool gone);
/* The series of Cohorts that are not in the tree any more end. */
void sl_workload_meters_sweep(struct sl_workload_meters *m,
                              bool (*has_cohort)(void *context, const char *name), void *context);
/* The custom labels of a series about that object, with a comma before each; lent until it is observed again. */
const char *sl_workload_meters_custom(const struct sl_workload_meters *m, enum sl_kind kind,
                                      const char *ns, const char *name);
bool sl_workload_meters_has(const struct sl_workload_meters *m, const char *ns, const char *queue);

/* How long it has stood in line: since its creation, or since it was put back there. INT64_MIN: it is not known. */
int64_t sl_workload_queued_ms(const struct sl_json *wl, int64_t now_ms);
void sl_workload_meters_reserved(struct sl_workload_meters *m, const struct sl_json *wl,
                                 int64_t now_ms);
void sl_workload_meters_admitted(struct sl_workload_meters *m, const struct sl_json *wl,
                                 int64_t now_ms);
/* Its pods are ready for the first time since it was admitted. */
void sl_workload_meters_ready(struct sl_workload_meters *m, const struct sl_json *wl,
                              int64_t now_ms);
/* It is admitted in a ClusterQueue below that Cohort. */
void sl_workload_meters_admitted_below(struct sl_workload_meters *m, const struct sl_json *wl,
                                       const char *cohort);
/* `cause` as in status.schedulingStats, where it may be the first of its sort; `ready_ms`: since when its pods had been
 * ready, INT64_MIN = they were not. */
void sl_workload_meters_evicted(struct sl_workload_meters *m, const struct sl_json *wl,
                                const char *reason, const char *cause, int64_t ready_ms);
/* It was evicted, and the quota that it held in that ClusterQueue is free. */
void sl_workload_meters_released(struct sl_workload_meters *m, const struct sl_json *wl,
                                 const char *cluster_queue, int64_t now_ms);
void sl_workload_meters_preempted(struct sl_workload_meters *m, const char *preempting_queue,
                                  const char *reason);
void sl_workload_meters_finished(struct sl_workload_meters *m, const struct sl_json *wl);
/* How long something takes that a write ends: begun before it, and ended with its answer. NULL is not measured. */
struct sl_timing;
/* The Workload that is made for a job of that kind. */
struct sl_timing *sl_workload_meters_begin_creation(struct sl_workload_meters *m,
                                                    const struct sl_json *job, const char *kind,
                                                    const struct sl_json *wl);
/* The scheduling gate of that name is taken off a pod of the Workload, alone or one of a group. */
struct sl_timing *sl_workload_meters_begin_ungating(struct sl_workload_meters *m,
                                                    const struct sl_json *wl, const char *gate,
                                                    bool group);
/* `result`: the object as it was written; NULL: it was not, and nothing is counted. */
void sl_timing_end(struct sl_timing *t, const struct sl_json *result);

/* A cycle that considered a workload. */
void sl_workload_meters_attempt(struct sl_workload_meters *m, bool success, int64_t took_us);
#endif
