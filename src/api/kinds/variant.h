/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Variants of a Workload, as their objects say it (feature gate ConcurrentAdmission): the Workload that owns them is their parent,
 * and has a label. Owns nothing. */
#ifndef SL_API_VARIANT_H
#define SL_API_VARIANT_H
#include "api/objects/object.h"

#define SL_LABEL_PARENT "kueue.x-k8s.io/concurrent-admission-parent"
#define SL_ANNOTATION_ALLOWED_FLAVORS "kueue.x-k8s.io/workload-allowed-resource-flavors"
#define SL_VARIANT_GATE "kueue.x-k8s.io/concurrent-admission" /* of preemption */

/* The reference to the Workload that owns this one; NULL: it is no variant. */
const struct sl_json *sl_variant_parent(const struct sl_json *workload);
bool sl_variant_has_parent_label(const struct sl_json *workload);
#endif
