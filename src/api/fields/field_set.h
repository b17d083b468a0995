/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Sets of fields as values of metav1.FieldsV1: a map of path elements (f:NAME, k:{KEYS}, v:VALUE), in which `.` says that
 * the field itself belongs to the set, and an empty map nothing else. NULL is the empty set. Sets are not changed once
 * made, and share what they have in common; the caller frees what is named new. */
#ifndef SL_API_FIELD_SET_H
#define SL_API_FIELD_SET_H
#include "api/json/json.h"

/* What a client sends: the empty set when it has nothing in it. */
struct sl_json *sl_set_root_new(struct sl_json *fields);
bool sl_set_is_member(const struct sl_json *set); /* the field that the set is of */
/* Puts the set of a member or an item into that of its parent, which is made when it is NULL. Takes `child`; NULL adds
 * nothing. */
void sl_set_attach(struct sl_json **parent, const char *element, struct sl_json *child);
/* Adds the field itself: `.` before what is in the set. Takes the set. */
struct sl_json *sl_set_with_self_new(struct sl_json *set);
struct sl_json *sl_set_sorted_new(const struct sl_json *set);
/* Of sets that are sorted. */
struct sl_json *sl_set_union_new(struct sl_json *a, struct sl_json *b);
struct sl_json *sl_set_without_new(struct sl_json *a, const struct sl_json *b);
struct sl_json *sl_set_common_new(struct sl_json *a, const struct sl_json *b);
/* Calls with each path of the set, as Kubernetes writes it: .spec.containers[name="a"].image */
typedef void sl_set_path_fn(void *context, const char *path);
void sl_set_paths(const struct sl_json *set, sl_set_path_fn *visit, void *context);
#endif
