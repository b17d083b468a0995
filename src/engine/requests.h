/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What each pod set of a Workload asks for, in the core's amounts. */
#ifndef SL_ENGINE_REQUESTS_H
#define SL_ENGINE_REQUESTS_H
#include "engine/pod.h"
#include <stdint.h>

#define SL_POD_SETS_MAX_API 18u /* of the API */

struct sl_requests {
    int64_t pod_count; /* without those that are reclaimable */
    uint32_t count;
    struct {
        const char *resource; /* lent from the object */
        int64_t per_pod;
        int64_t total; /* per_pod * pod_count, 0 .. SL_AMOUNT_MAX */
    } items[SL_POD_RESOURCES_MAX];
};

/* INVALID with a cause naming the field: bad quantities, a count below zero, a total beyond 2^60.
 */
enum sl_code sl_requests_of_pod_set(const struct sl_json *workload, size_t pod_set,
                                    struct sl_requests *out, struct sl_error *e);
#endif
