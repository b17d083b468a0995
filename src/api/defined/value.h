/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Values against a structural schema, with complaints in Kubernetes' words. Formats other than date-time, int32 and int64 are not
 * looked at. */
#ifndef SL_API_VALUE_H
#define SL_API_VALUE_H
#include "api/validate/validate.h"

/* Complaints about the place where the check is, and below. root: apiVersion, kind and metadata are not the schema's. */
void sl_value_check(struct sl_check *c, const struct sl_json *schema, const struct sl_json *value,
                    bool root);
#endif
