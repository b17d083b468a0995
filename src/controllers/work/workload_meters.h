/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is counted and timed of Workloads, by ClusterQueue and, of the LocalQueues that have metrics of their own, by
 * LocalQueue. A Workload is as it is now, after what is counted was written. Owns which LocalQueues have metrics. */
#ifndef SL_CONTROLLERS_WORKLOAD_METERS_H
#define SL_CONTROLLERS_WORKLOAD_METERS_H
#include "api/objects/object.h"
#include "controllers/work/meters.h"

/* Which LocalQueues have metrics of their own, and do cohorts? */
struct sl_metered {
    bool on;
    const struct sl_selector *selector; /* lent; NULL: all of them */
    bool cohorts;
};

struct sl_workload_meters {
    struct sl_meters meters;
    struct sl_metered metered;
    struct sl_map *queues; /* "namespace/name" of those that have */
};
void sl_workload_meters_init(struct sl_workload_meters *m, struct sl_metered metered);
void sl_workload_meters_fini(struct sl_workload_meters *m);
/* A queue was seen or deleted; other kinds are ignored. */
void sl_workload_meters_observe(struct sl_workload_meters *m, enum sl_kind kind,
                                const struct sl_json *object, bool gone);
bool sl_workload_meters_has(const struct sl_workload_meters *m, const char *ns, const char *queue);

void sl_workload_meters_reserved(struct sl_workload_meters *m, const struct sl_json *wl,
                                 int64_t now_ms);
void sl_workload_meters_admitted(struct sl_workload_meters *m, const struct sl_json *wl,
                                 int64_t now_ms);
/* Its pods are ready for the first time since it was admitted. */
void sl_workload_meters_ready(struct sl_workload_meters *m, const struct sl_json *wl,
                              int64_t now_ms);
/* `cause` as in status.schedulingStats, where it may be the first of its sort. */
void sl_workload_meters_evicted(struct sl_workload_meters *m, const struct sl_json *wl,
                                const char *reason, const char *cause);
void sl_workload_meters_preempted(struct sl_workload_meters *m, const char *preempting_queue,
                                  const char *reason);
void sl_workload_meters_finished(struct sl_workload_meters *m, const struct sl_json *wl);
/* A cycle that considered a workload. */
void sl_workload_meters_attempt(struct sl_workload_meters *m, bool success, int64_t took_us);
#endif
