/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the cluster adds to pods, and refuses, before they run: LimitRanges of a namespace and the
 * overhead of RuntimeClasses. Owns what is known of both. Several LimitRanges of one namespace
 * count as one: the lowest maxima, the highest minima, and of defaults the first in the order of
 * names. */
#ifndef SL_ENGINE_LIMITS_H
#define SL_ENGINE_LIMITS_H
#include "api/objects/object.h"

struct sl_limits;
struct sl_limits *sl_limits_new(void);
void sl_limits_free(struct sl_limits *t);

/* An object was seen or deleted. */
void sl_limits_take_range(struct sl_limits *t, const struct sl_json *object, bool gone);
void sl_limits_take_class(struct sl_limits *t, const struct sl_json *object, bool gone);
/* Grows whenever one of them changed: requests made before may be out of date. */
uint64_t sl_limits_version(const struct sl_limits *t);

/* The PodSpec with defaults and overhead filled in: a new object, or NULL where nothing is to be
 * added. */
struct sl_json *sl_limits_applied_new(const struct sl_limits *t, const char *ns,
                                      const struct sl_json *pod_spec);
/* Does it ask for no more than its own limits and for what the namespace allows? INVALID with the
 * path below `field`. The spec has its defaults filled in. */
enum sl_code sl_limits_check(const struct sl_limits *t, const char *ns,
                             const struct sl_json *pod_spec, const char *field, struct sl_error *e);
#endif
