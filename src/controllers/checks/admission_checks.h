/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* AdmissionChecks of the provisioning controller show in their condition Active whether they can be used, that is
 * whether the ProvisioningRequestConfig that they name exists. Those of MultiKueue, which Sluice does not have, show that they
 * cannot, so that their queues take nothing that would wait for them for ever. Checks of other controllers are left to
 * those. */
#ifndef SL_CONTROLLERS_ADMISSION_CHECKS_H
#define SL_CONTROLLERS_ADMISSION_CHECKS_H
#include "controllers/work/reconciler.h"

struct sl_admission_checks {
    struct sl_reconciler checks;
};
void sl_admission_checks_init(struct sl_admission_checks *a, const struct sl_client *client,
                              struct sl_recorder *events);
void sl_admission_checks_fini(struct sl_admission_checks *a);
/* Kinds it wants to see: AdmissionCheck, ProvisioningRequestConfig. */
void sl_admission_checks_observe(struct sl_admission_checks *a, enum sl_kind kind,
                                 const struct sl_json *object, bool deleted);

/* Is it ours to decide? */
bool sl_admission_check_provisions(const struct sl_json *check);
/* The config that the check names; NULL: `problem` says why there is none, or is OK when it could not be read and
 * the key is looked at again. */
struct sl_json *sl_admission_check_config(struct sl_reconciler *r, const struct sl_json *check,
                                          struct sl_error *problem);
#endif
