/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Variables of a pod whose values are in ConfigMaps and Secrets of its namespace (`envFrom`, `valueFrom`). */
#ifndef SL_RUNNER_VALUES_H
#define SL_RUNNER_VALUES_H
#include "api/objects/client.h"

/* A copy of the pod, which the caller frees, where each such variable has its value as `value`, in which "$" is "$$": what comes
 * from elsewhere is not expanded. `envFrom` has become variables before those of `env`, the later of two with one name last. What
 * is `optional` and not there is left out. `path` is that of the pod's spec, for *e.
 * NULL and NOT_FOUND: a ConfigMap, Secret or key is not there, and may come. NULL and INVALID: it cannot be a variable's value, or
 * all are larger than 512 KiB, where each one counts 64 bytes besides. `client` NULL: only what cannot come right is refused, and values are empty. */
struct sl_json *sl_values_new(const struct sl_json *pod, const char *path,
                              const struct sl_client *client, struct sl_error *e);
#endif
