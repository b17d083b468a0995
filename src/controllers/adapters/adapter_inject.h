/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What admission adds to a job that an adapter file describes, and how that is taken out again (struct sl_framework).
 * Inside the adapters only. */
#ifndef SL_CONTROLLERS_ADAPTER_INJECT_H
#define SL_CONTROLLERS_ADAPTER_INJECT_H
#include "controllers/adapters/adapter_place.h"

enum sl_code sl_adapter_inject(const struct sl_framework *f, struct sl_json *job, size_t index,
                               const struct sl_json *injection, struct sl_error *e);
void sl_adapter_restore(const struct sl_framework *f, struct sl_json *job, size_t index,
                        const struct sl_json *pod_set);
#endif
