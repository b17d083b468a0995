/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a pod template asks for, and which flavors it accepts: the parts of a PodSpec that
 * scheduling looks at. Pure functions of their arguments; texts are lent from the objects. */
#ifndef SL_ENGINE_POD_H
#define SL_ENGINE_POD_H
#include "api/json/json.h"
#include "base/error.h"

#define SL_POD_RESOURCES_MAX 16u

struct sl_pod_request {
    const char *resource;
    __int128 nano;
};

/* Requests of one pod, exact. Zero requests are kept: they were asked for. */
struct sl_pod_requests {
    uint32_t count;
    struct sl_pod_request items[SL_POD_RESOURCES_MAX];
};

/* The amount of a resource, made with zero when new; NULL when there is no more room. */
__int128 *sl_pod_take_request(struct sl_pod_requests *r, const char *resource);
__int128 *sl_pod_find_request(struct sl_pod_requests *r, const char *resource);

/* Sum of the containers, or the largest init step where that is more (init containers with
 * restartPolicy Always keep running and count on both sides), pod-level requests in place of both,
 * plus overhead. A limit replaces a missing request. INVALID when a quantity is malformed or
 * negative, or there are more than SL_POD_RESOURCES_MAX resources; `field` is the path of the
 * PodSpec for the causes. */
enum sl_code sl_pod_sum_requests(const struct sl_json *pod_spec, const char *field,
                                 struct sl_pod_requests *out, struct sl_error *e);

/* The parts that decide about flavors as one new map {nodeSelector, nodeAffinity, tolerations};
 * pods with equal constraints accept the same flavors. */
struct sl_json *sl_pod_constraint_new(const struct sl_json *pod_spec);

/* Does one of the tolerations tolerate the taint? */
bool sl_pod_tolerates(const struct sl_json *tolerations, const struct sl_json *taint);
/* The first taint with effect NoSchedule or NoExecute that neither list tolerates; NULL = none. */
const struct sl_json *sl_pod_untolerated(const struct sl_json *taints,
                                         const struct sl_json *tolerations,
                                         const struct sl_json *more_tolerations);
/* Are the labels as the selector wants them; `absent`: where there is no such label? */
bool sl_pod_selector_holds(const struct sl_json *selector, const struct sl_json *labels,
                           bool absent);
/* One expression of a node affinity on a label; NULL = the node does not have it. */
bool sl_pod_expression_holds(const struct sl_json *expression, const char *label);

enum sl_pod_fit { SL_POD_FITS, SL_POD_TAINTED, SL_POD_AFFINITY };
/* Does a pod with this constraint accept the flavor (its spec)? Taints must be tolerated by the pod
 * or the flavor; nodeSelector and required node affinity count only where they speak of the
 * flavor's own label keys. */
enum sl_pod_fit sl_pod_fits_flavor(const struct sl_json *constraint,
                                   const struct sl_json *flavor_spec);
#endif
