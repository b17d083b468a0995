/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is done to jobs and plain Pods when they are created: the one set of rules of standalone mode (store/admit.c) and of the
 * webhook (src/webhook). The mutating policies of deploy/kubernetes/policies say the same in CEL; tests/cluster/test_webhook.py
 * compares the two. */
#ifndef SL_API_ADMIT_H
#define SL_API_ADMIT_H
#include "api/objects/object.h"

/* What has to be known of other objects. */
struct sl_admit_world {
    bool (*has_queue)(void *context, const char *ns); /* is there a LocalQueue "default"? */
    bool (*has_class)(void *context);                 /* or a WorkloadPriorityClass "default"? */
    void *context;
};

/* One of these for each policy. */
enum sl_admit_act {
    SL_ADMIT_QUEUE = 1 << 0,       /* who names no queue gets the default one */
    SL_ADMIT_CLASS = 1 << 1,       /* who is queued without a priority class gets the default one */
    SL_ADMIT_SUSPEND = 1 << 2,     /* spec.suspend */
    SL_ADMIT_RUN_POLICY = 1 << 3,  /* spec.runPolicy.suspend */
    SL_ADMIT_GATE = 1 << 4,        /* marks, a finalizer and gates of a pod */
    SL_ADMIT_RAY_SERVICE = 1 << 6, /* spec.rayClusterConfig.suspend */
    SL_ADMIT_TEMPLATE = 1 << 5,    /* queue and class go on to the pod template */
    SL_ADMIT_PARENT = 1 << 7,      /* which says that its pods are a group of their parent's */
    SL_ADMIT_GUARD =
        1 << 8 /* the finalizer of what may be in use: ClusterQueues and ResourceFlavors */
};

/* Of what belongs to no job that is queued, `acts` in this order. `unnamed`: manageJobsWithoutQueueName, so that what names no
 * queue is held back, too. */
void sl_admit_new(const struct sl_admit_world *w, unsigned acts, bool unnamed, const char *ns,
                  struct sl_json *object);
/* INVALID, with a cause: a job leaves its queue where there is a default one. */
enum sl_code sl_admit_change(const struct sl_admit_world *w, const char *ns,
                             const struct sl_json *job, const struct sl_json *old,
                             struct sl_error *causes);
#endif
