/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The controller of batch/v1 Jobs where pods are processes, in place of Kubernetes': pods are made for a Job that is not
 * suspended, as many as its parallelism and completions ask for; a pod that failed is replaced until its backoff limit is
 * reached; the Job ends, and is removed when its time to live is over. Pods that have ended stay, as on a cluster, held by a
 * finalizer until their Job is over, so that none is counted twice or never. A Job is over, or suspended, when the
 * processes of all its pods have ended. */
#ifndef SL_RUNNER_BATCH_H
#define SL_RUNNER_BATCH_H
#include "controllers/cluster/podbook.h"
#include "controllers/work/reconciler.h"

struct sl_batch {
    struct sl_reconciler jobs;
    const struct sl_podbook *book; /* lent */
    const char *node;
    const struct sl_runtime *runtime; /* lent; of containers; NULL: pods are processes */
    bool as_submitter;                /* pods run as who has submitted the Job */
    uint64_t made;                    /* pods so far: no two names are alike */
};
void sl_batch_init(struct sl_batch *b, const struct sl_client *client, struct sl_recorder *events);
void sl_batch_fini(struct sl_batch *b);
void sl_batch_observe_job(struct sl_batch *b, const struct sl_json *job);
void sl_batch_observe_pod(struct sl_batch *b, const struct sl_json *pod);
#endif
