/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a ProvisioningRequest asks of the autoscaler of standalone mode, read from its parameters. Pure functions. */
#ifndef SL_CONTROLLERS_AUTOSCALER_PLAN_H
#define SL_CONTROLLERS_AUTOSCALER_PLAN_H
#include "api/objects/object.h"

struct sl_autoscaler_plan {
    int64_t after_ms, revoke_ms, expire_ms; /* the last two: -1 never */
    int64_t nodes;
    bool fails; /* this attempt */
};
/* INVALID with the parameter's name when one cannot be read. */
enum sl_code sl_autoscaler_plan_read(const struct sl_json *request, struct sl_autoscaler_plan *out,
                                     struct sl_error *e);
/* node-<last 8 of the uid>-<index>, and what all of its nodes begin with: UIDs of one time begin alike. */
void sl_autoscaler_prefix(const struct sl_json *request, char out[static 64]);
void sl_autoscaler_node_name(const struct sl_json *request, int64_t index, char out[static 64]);
/* A new Node of the request; NULL: *e says which parameter makes no sense. */
struct sl_json *sl_autoscaler_node_new(const struct sl_json *request, int64_t index, int64_t now_ms,
                                       struct sl_error *e);
#endif
