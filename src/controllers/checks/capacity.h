/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Capacity that is asked for: admission checks, provisioning, and in standalone mode the autoscaler, as one. */
#ifndef SL_CONTROLLERS_CAPACITY_H
#define SL_CONTROLLERS_CAPACITY_H
#include "controllers/checks/admission_checks.h"
#include "controllers/checks/autoscaler.h"
#include "controllers/checks/provisioning.h"

struct sl_capacity {
    struct sl_admission_checks checks;
    struct sl_provisioning provisioning;
    struct sl_autoscaler autoscaler;
    bool plays_autoscaler; /* there is no cluster autoscaler */
};
void sl_capacity_init(struct sl_capacity *c, const struct sl_client *client,
                      struct sl_recorder *events, bool plays_autoscaler, bool keep_evicted);
void sl_capacity_fini(struct sl_capacity *c);
void sl_capacity_observe(struct sl_capacity *c, enum sl_kind kind, const struct sl_json *object,
                         bool deleted);
bool sl_capacity_step(struct sl_capacity *c, int64_t now_ms, unsigned limit);
int64_t sl_capacity_due_ms(const struct sl_capacity *c);
#endif
