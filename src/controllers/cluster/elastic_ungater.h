/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pods of elastic jobs wait behind a scheduling gate, and pass it in as many as the slice that holds the quota has, whatever
 * the job asks for: where one ends, the next passes. */
#ifndef SL_CONTROLLERS_ELASTIC_UNGATER_H
#define SL_CONTROLLERS_ELASTIC_UNGATER_H
#include "controllers/cluster/podbook.h"
#include "controllers/work/job_children.h"
#include "controllers/work/reconciler.h"

struct sl_elastic_ungater {
    struct sl_reconciler slices;       /* keys: "namespace/name" of the first of those in a row */
    struct sl_job_children *chains;    /* by such a key: the keys of the Workloads */
    const struct sl_podbook *pods;     /* lent */
    struct sl_workload_meters *meters; /* lent; NULL: nothing is measured */
};
void sl_elastic_ungater_init(struct sl_elastic_ungater *u, const struct sl_client *client,
                             struct sl_recorder *events, const struct sl_podbook *pods);
void sl_elastic_ungater_fini(struct sl_elastic_ungater *u);
void sl_elastic_ungater_observe_workload(struct sl_elastic_ungater *u, const struct sl_json *wl,
                                         bool deleted);
/* After the book has observed the pod, or forgotten it. */
void sl_elastic_ungater_observe_pod(struct sl_elastic_ungater *u, const struct sl_json *pod,
                                    int64_t now_ms);
/* The slice by which the pods of that key may run now, as far as one is known: a reference; NULL = by none. */
struct sl_json *sl_elastic_ungater_holder_new(const struct sl_elastic_ungater *u, const char *key);
/* How many pods of that set may run by the slices of that key now? */
int64_t sl_elastic_ungater_granted(const struct sl_elastic_ungater *u, const char *key,
                                   const char *pod_set);
#endif
