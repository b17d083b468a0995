/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Jobs that run after others, in standalone mode: a Job with the gate sluice.dev/after among its admission gates waits for
 * the Jobs of its namespace that the annotation sluice.dev/after names, "NAME" or "NAME:UID" with commas between them. The gate
 * is opened when all of them are complete. When one has failed, or the one with that UID does not exist any more, the Job
 * fails. A name alone may be that of a Job which is yet to be created. */
#ifndef SL_CONTROLLERS_DEPENDENCIES_H
#define SL_CONTROLLERS_DEPENDENCIES_H
#include "controllers/work/reconciler.h"

#define SL_ANNOTATION_AFTER "sluice.dev/after"
#define SL_GATE_AFTER "sluice.dev/after"

struct sl_dependencies {
    struct sl_reconciler jobs;
    struct sl_map *waiting; /* "namespace/name" of a Job -> a list of the keys that wait for it */
};
void sl_dependencies_init(struct sl_dependencies *d, const struct sl_client *client,
                          struct sl_recorder *events);
void sl_dependencies_fini(struct sl_dependencies *d);
void sl_dependencies_observe(struct sl_dependencies *d, const struct sl_json *job);
#endif
