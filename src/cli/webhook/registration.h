/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the webhook does for a configuration, and how it is registered. Both come from the mutating policies that the
 * configuration would need (cli/policies), so that the two ways never differ in kinds, owners or namespaces. */
#ifndef SL_CLI_REGISTRATION_H
#define SL_CLI_REGISTRATION_H
#include "cli/policies/policies.h"
#include "webhook/webhook.h"

#define SL_WEBHOOK_MUTATE_PATH "/mutate"
#define SL_WEBHOOK_VALIDATE_PATH "/validate"

struct sl_webhook_rules;
struct sl_webhook_rules *sl_webhook_rules_new(const struct sl_job_rules *jobs,
                                              const struct sl_json *namespaces);
void sl_webhook_rules_free(struct sl_webhook_rules *r); /* NULL is fine */
/* All but the world; lends what it points to. */
void sl_webhook_rules_fill(const struct sl_webhook_rules *r, struct sl_webhook *out);

/* Where it is to be asked. */
struct sl_webhook_place {
    const char *ns, *service;
    const char *url; /* "https://127.0.0.1:9443": in place of the Service; NULL: by the Service */
};
/* A MutatingWebhookConfiguration or ValidatingWebhookConfiguration, which the caller frees. `authorities` (PEM) NULL: which ones the API
 * server believes is for others to say. `place` NULL: none is asked. */
struct sl_json *sl_webhook_registration_new(const struct sl_webhook_rules *r,
                                            enum sl_webhook_way way,
                                            const struct sl_webhook_place *place,
                                            const char *authorities);
const char *sl_webhook_registration_name(enum sl_webhook_way way);
/* Does a registration differ from the wanted one? What an API server adds by default is no difference. */
bool sl_webhook_registration_differs(const struct sl_json *live, const struct sl_json *wanted);
/* The live one as it is to be written: our webhooks in place of its own, and where we name no authorities its own. */
struct sl_json *sl_webhook_registration_merged_new(const struct sl_json *live,
                                                   const struct sl_json *wanted);
#endif
