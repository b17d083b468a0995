/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What each pod set of a Workload asks for, in the core's amounts: its pods with the defaults of
 * the namespace and the overhead of their runtime class, without excluded resources, transformed as
 * the settings say, with the devices that they claim (devices.h), times their count. */
#ifndef SL_ENGINE_REQUESTS_H
#define SL_ENGINE_REQUESTS_H
#include "engine/state.h"
#include "policy/requests/requests.h"

struct sl_request_amount {
    sl_resource_id resource;
    int64_t per_pod; /* saturated */
};

struct sl_requests {
    uint32_t pod_count;   /* without those that are reclaimable */
    uint32_t min_count;   /* how few of them would do */
    uint32_t group;       /* the first pod set that must get the same flavors; SL_NO_ID = none */
    uint64_t fingerprint; /* see fingerprint.h */
    uint32_t count;
    struct sl_request_amount items[SL_REQUESTS_MAX];
    uint32_t spec_count; /* what the spec says of one pod, where items are something else; else 0 */
    struct sl_request_amount spec[SL_REQUESTS_MAX];
};

/* All pod sets, SL_POD_SETS_MAX of them at most. INVALID with a cause naming the field: bad
 * quantities, a count below zero, more resource names than can be held. */
enum sl_code sl_requests_read(struct sl_engine *g, const struct sl_json *workload,
                              struct sl_requests *out, uint32_t *count, struct sl_error *e);
/* Grows when something changed that requests are made of beside their Workload: limits, classes, devices. */
uint64_t sl_requests_version(const struct sl_engine *g);
/* How many pods of a pod set are not reclaimable: those that have ended for good need no quota. */
int64_t sl_requests_pods_left(const struct sl_engine *g, const struct sl_json *workload,
                              size_t index);
/* The pods that an assignment of the Workload's admission is for: all of the pod set, where it does not say. */
int64_t sl_requests_pods_assigned(const struct sl_json *workload, const struct sl_json *assignment);
/* Of all pods together, saturated. */
int64_t sl_requests_total(const struct sl_requests *r, uint32_t index);
/* Can the core count it? INVALID with a cause: a total beyond 2^60. */
enum sl_code sl_requests_check_size(const struct sl_engine *g, const struct sl_requests *r,
                                    uint32_t count, struct sl_error *e);
/* Is all that they ask for counted? INVALID with a cause, and Kueue's sentence in `whole`: devices that cannot be counted, or
 * any that are claimed where none are. */
enum sl_code sl_requests_check_claims(const struct sl_engine *g, const struct sl_json *workload,
                                      struct sl_buf *whole, struct sl_error *e);
/* May such pods be made in that namespace? INVALID with causes: more than their own limits or the
 * LimitRanges allow; `whole` (or NULL) gets all of them in one sentence, as Kueue says it. */
enum sl_code sl_requests_check_limits(const struct sl_engine *g, const struct sl_json *workload,
                                      struct sl_buf *whole, struct sl_error *e);
#endif
