/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the target `objects`: the rarer changes, in the world of objects.h. */
#ifndef SL_FUZZ_OBJECTS_MORE_H
#define SL_FUZZ_OBJECTS_MORE_H
#include "api/objects/object.h"

/* Of a Workload, in place. */
void objects_change_more(struct sl_json *o, uint32_t what, uint32_t a, uint32_t b);
/* Checks, nodes, queues, quotas, flavors and topologies come, change and go. */
void objects_administer(uint32_t what, uint32_t a, uint32_t b);
#endif
