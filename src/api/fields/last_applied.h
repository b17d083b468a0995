/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* `kubectl apply` without --server-side keeps what it applied in an annotation. With the option it goes on from there: what
 * it has set that way is no conflict, and the annotation follows what is applied. */
#ifndef SL_API_LAST_APPLIED_H
#define SL_API_LAST_APPLIED_H
#include "api/fields/managed.h"

#define SL_LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* The fields that are as kubectl applied them then; NULL when there are none, or another manager applies. The caller frees
 * it. */
struct sl_json *sl_last_applied_new(const struct sl_apply *a);
/* Writes what is applied now into the annotation, where there is one. */
void sl_last_applied_renew(const struct sl_apply *a, struct sl_json *object);
#endif
