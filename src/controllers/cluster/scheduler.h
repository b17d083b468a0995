/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The scheduler of standalone mode: binds each pod without gates to a node that has the labels of
 * its node selector, takes pods, and has room for its requests; the first such node. Affinity,
 * spreading and priorities are ignored: the topology assignment was decided before. A pod that fits
 * nowhere is tried again. */
#ifndef SL_CONTROLLERS_SCHEDULER_H
#define SL_CONTROLLERS_SCHEDULER_H
#include "controllers/cluster/nodebook.h"
#include "controllers/cluster/podbook.h"
#include "controllers/work/reconciler.h"

#define SL_SCHEDULE_RETRY_MS 1000

struct sl_scheduler {
    struct sl_reconciler pods;
    const struct sl_podbook *book; /* lent */
    const struct sl_nodebook *nodes;
    struct sl_map *assumed; /* pods that are being bound: key -> name of the node */
};
void sl_scheduler_init(struct sl_scheduler *s, const struct sl_client *client,
                       struct sl_recorder *events, const struct sl_podbook *book,
                       const struct sl_nodebook *nodes);
void sl_scheduler_fini(struct sl_scheduler *s);
/* After the book has observed it, or forgotten it. */
void sl_scheduler_observe_pod(struct sl_scheduler *s, const struct sl_json *pod);
#endif
