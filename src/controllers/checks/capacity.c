/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The three controllers of capacity side by side. */
#include "controllers/checks/capacity.h"
#include "base/check.h"

void sl_capacity_init(struct sl_capacity *c, const struct sl_client *client,
                      struct sl_recorder *events, bool plays_autoscaler, bool keep_evicted)
{
    SL_PRE(c != NULL);
    c->plays_autoscaler = plays_autoscaler;
    sl_admission_checks_init(&c->checks, client, events);
    sl_provisioning_init(&c->provisioning, client, events);
    sl_autoscaler_init(&c->autoscaler, client, events);
    c->provisioning.keep_evicted = keep_evicted;
    c->parts[0] = &c->checks.checks;
    c->parts[1] = &c->provisioning.workloads;
    c->parts[2] = &c->autoscaler.requests;
}

void sl_capacity_fini(struct sl_capacity *c)
{
    SL_PRE(c != NULL);
    sl_autoscaler_fini(&c->autoscaler);
    sl_provisioning_fini(&c->provisioning);
    sl_admission_checks_fini(&c->checks);
}

void sl_capacity_observe(struct sl_capacity *c, enum sl_kind kind, const struct sl_json *object,
                         bool deleted)
{
    SL_PRE(c != NULL);
    sl_admission_checks_observe(&c->checks, kind, object, deleted);
    sl_provisioning_observe(&c->provisioning, kind, object, deleted);
    if (c->plays_autoscaler) {
        sl_autoscaler_observe(&c->autoscaler, kind, object, deleted);
    }
}
