/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An adapter's document, in parts: files/ says whether it makes sense, adapter_rule.c answers its rules and
 * numbers about an object, adapter_adds.c completes templates, adapter.c is the framework over it. Inside the adapters only. */
#ifndef SL_CONTROLLERS_ADAPTER_DOC_H
#define SL_CONTROLLERS_ADAPTER_DOC_H
#include "controllers/adapters/adapter.h"

struct sl_adapter {
    struct sl_framework framework; /* its `self` is the adapter */
    struct sl_grouping grouping;   /* of one with `groups` */
    struct sl_json *doc;
};

const struct sl_json *sl_adapter_doc(const struct sl_framework *f);
/* Fill the functions of the framework. */
void sl_adapter_init(struct sl_adapter *a);

/* adapter_groups.c: of a kind with `groups`, what they are. */
void sl_adapter_group(struct sl_adapter *a);

/* adapter_fixed.c: complaints about changes of what the Workloads of groups were made for; `old` may be NULL. */
void sl_adapter_fixed(const struct sl_adapter *a, const struct sl_json *o,
                      const struct sl_json *old, struct sl_error *e);

/* Complaints about what the file refuses, and about the topologies that a job asks for (sl_object_rule); `self` is the
 * adapter. */
void sl_adapter_valid(const void *self, const struct sl_json *o, const struct sl_json *old,
                      struct sl_error *e);

/* Complaints about what the `refuse` of the file says of the object; not about what it says of the old one as well (NULL: there
 * is none), which can still be changed, started and stopped. */
void sl_adapter_refuse(const struct sl_json *refusals, const struct sl_json *object,
                       const struct sl_json *old, struct sl_error *e);

/* A number: 3, a path, {path, default, minus}, {min|max: [numbers]}, {choose: [{when, use}]} or a list of numbers, their
 * product. */
int64_t sl_adapter_number(const struct sl_json *number, const struct sl_json *object);
/* Does the rule hold? {condition}, {path, in|present|filled, default}, {sum, of, above|atLeast}, {count, in, atLeast} or
 * {some, where}, each with an optional `not`. */
bool sl_adapter_holds(const struct sl_json *rule, const struct sl_json *object);
bool sl_adapter_all_hold(const struct sl_json *rules, const struct sl_json *object);
bool sl_adapter_any_holds(const struct sl_json *rules, const struct sl_json *object);
/* adapter_pattern.c: a copy of `pattern` in which each {$path: P, $as: javaMemory, $default: D} is the object's value at P, or
 * else D, each {$key: P, $value: V} a map of one member, each {$item: P} the pod set's item's value and each {$inject: M} the
 * injection's member M; members without a value are left out. */
struct sl_expansion {
    const struct sl_json *object, *item, *injection; /* NULL: has no values */
    bool sparse; /* maps inside of which nothing is left are left out, too */
};
struct sl_json *sl_adapter_expand(const struct sl_json *pattern, const struct sl_expansion *x);
/* The template with what the `adds` of its pod set say; NULL: they say nothing about that object. */
struct sl_json *sl_adapter_completed_new(const struct sl_json *adds, const struct sl_json *object,
                                         const struct sl_json *template);
#endif
