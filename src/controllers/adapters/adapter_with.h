/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pod sets from several objects: a job and those that it refers to. Inside the adapters only. */
#ifndef SL_CONTROLLERS_ADAPTER_WITH_H
#define SL_CONTROLLERS_ADAPTER_WITH_H
#include "controllers/adapters/adapter_place.h"

/* As the framework has it (struct sl_framework). */
bool sl_adapter_refers(const struct sl_framework *f, const struct sl_json *job, size_t index,
                       struct sl_reference *out);
/* Are they all there? NOT_FOUND, UNAVAILABLE (one cannot be read), INVALID: a cause names the field and the object. */
enum sl_code sl_adapter_check_with(const struct sl_framework *f, const struct sl_json *job,
                                   struct sl_error *e);
/* The job, and beside its own fields the objects that it refers to, under the names that the file gives them. Not to be
 * changed: what is in it is shared. */
struct sl_json *sl_adapter_whole_new(const struct sl_framework *f, const struct sl_json *job);
/* Change a pod set's template as the file's `patches` say. */
enum sl_code sl_adapter_patch(const struct sl_place *p, struct sl_json *whole,
                              struct sl_json **template, struct sl_error *e);
#endif
