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
/* The template of the pod set, as the file has it by default where the job has none. */
struct sl_json *sl_adapter_template_make(const struct sl_place *p, struct sl_json *job);

/* adapter_fields.c: the same, into the fields that `inject.fields` of the pod set names. `template` is the Workload's. */
enum sl_code sl_adapter_fields_inject(const struct sl_places *all, size_t index,
                                      struct sl_json *job, const struct sl_json *injection,
                                      struct sl_error *e);
void sl_adapter_fields_restore(const struct sl_place *p, struct sl_json *job,
                               const struct sl_json *template);
#endif
