/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Capacity that is asked for: admission checks, provisioning, and in standalone mode the autoscaler, as one. */
#ifndef SL_CONTROLLERS_CAPACITY_H
#define SL_CONTROLLERS_CAPACITY_H
#include "controllers/checks/admission_checks.h"
#include "controllers/checks/autoscaler.h"
#include "controllers/checks/provisioning.h"

#define SL_CAPACITY_PARTS 3
struct sl_capacity {
    struct sl_admission_checks checks;
    struct sl_provisioning provisioning;
    struct sl_autoscaler autoscaler;
    bool plays_autoscaler; /* there is no cluster autoscaler */
    struct sl_reconciler *parts[SL_CAPACITY_PARTS];
};
void sl_capacity_init(struct sl_capacity *c, const struct sl_client *client,
                      struct sl_recorder *events, bool plays_autoscaler, bool keep_evicted);
void sl_capacity_fini(struct sl_capacity *c);
void sl_capacity_observe(struct sl_capacity *c, enum sl_kind kind, const struct sl_json *object,
                         bool deleted);
#endif
