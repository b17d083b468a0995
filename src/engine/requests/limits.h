/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the cluster adds to pods, and refuses, before they run: LimitRanges of a namespace and the
 * overhead of RuntimeClasses. Owns what is known of both. Several LimitRanges of one namespace
 * count as one: the lowest maxima, the highest minima, and of defaults the first in the order of
 * names. */
#ifndef SL_ENGINE_LIMITS_H
#define SL_ENGINE_LIMITS_H
#include "api/objects/object.h"
#include "base/buf.h"

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

/* What is wrong with pods, as Kueue lists it: all of it in `text`, each a cause of `e` as well. */
struct sl_limits_report {
    struct sl_error *e;
    struct sl_buf text; /* the caller's */
    uint32_t count;
};
/* Do they ask for more than their own limits? Paths are below `field`; the spec has its defaults filled in. */
void sl_limits_check_own(const struct sl_json *pod_spec, const char *field,
                         struct sl_limits_report *r);
/* Do they ask for what the namespace does not allow? */
void sl_limits_check_range(const struct sl_limits *t, const char *ns,
                           const struct sl_json *pod_spec, const char *field,
                           struct sl_limits_report *r);
#endif
