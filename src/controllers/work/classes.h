/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A WorkloadPriorityClass that gets another value: so do the Workloads that name it and have not finished. */
#ifndef SL_CONTROLLERS_CLASSES_H
#define SL_CONTROLLERS_CLASSES_H
#include "api/objects/client.h"
#include "base/map.h"

struct sl_classes {
    const struct sl_client *client;
    struct sl_map *values; /* class -> its value, as last seen, if it is there or not */
};

void sl_classes_init(struct sl_classes *c, const struct sl_client *client); /* the client is lent */
void sl_classes_fini(struct sl_classes *c);
/* The first sight of a class changes nothing: a Workload may have a priority of its own. One that comes back after it was
 * deleted has been seen before. */
void sl_classes_observe(struct sl_classes *c, enum sl_kind kind, const struct sl_json *object,
                        bool deleted);
#endif
