/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The registration of the webhook: our two configurations are looked at now and then, and written where they differ from what is
 * wanted. Only by the replica that leads. */
#ifndef SL_CLI_WEBHOOK_REGISTER_H
#define SL_CLI_WEBHOOK_REGISTER_H
#include "kube/transport.h"
#include "api/json/json.h"

struct sl_webhook_register;
struct sl_webhook_register *sl_webhook_register_new(uv_loop_t *loop, struct sl_transport *transport,
                                                    uint64_t seed);
void sl_webhook_register_free(
    struct sl_webhook_register *r); /* the loop has to turn once more; NULL is fine */
/* From now on these are wanted (taken over). Before the first call nothing is looked at. */
void sl_webhook_register_want(struct sl_webhook_register *r, struct sl_json *mutating,
                              struct sl_json *validating);
#endif
