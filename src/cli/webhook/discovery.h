/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Does the cluster have policies that change what is asked for? It is asked at start, until there is an answer. */
#ifndef SL_CLI_WEBHOOK_DISCOVERY_H
#define SL_CLI_WEBHOOK_DISCOVERY_H
#include "kube/transport.h"

struct sl_webhook_discovery;
/* Called once, never from within _new: the newest version in which MutatingAdmissionPolicies are served; NULL: in none. */
typedef void sl_webhook_found_fn(void *context, const char *version);
struct sl_webhook_discovery *sl_webhook_discovery_new(uv_loop_t *loop,
                                                      struct sl_transport *transport, uint64_t seed,
                                                      sl_webhook_found_fn *found, void *context);
void sl_webhook_discovery_free(
    struct sl_webhook_discovery *d); /* the loop has to turn once more; NULL is fine */
#endif
