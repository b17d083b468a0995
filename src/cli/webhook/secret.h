/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Secret with the webhook's keys: read now and then, by every replica, and written by the first that sees that something in it
 * has to be renewed. */
#ifndef SL_CLI_WEBHOOK_SECRET_H
#define SL_CLI_WEBHOOK_SECRET_H
#include "cli/webhook/keys.h"
#include "kube/transport.h"

#define SL_WEBHOOK_LOOK_MS 60000

struct sl_webhook_secret;
struct sl_webhook_secret_options {
    uv_loop_t *loop;
    struct sl_transport *transport; /* lent */
    const char *ns, *name;          /* of the Secret */
    const char *server;             /* the name that clients call, DNS or IP */
    uint64_t seed;                  /* of the jitter */
    /* New keys, lent: those that are first seen, and whenever they have changed. Never from within _new. */
    void (*taken)(void *context, const struct sl_webhook_keys *keys);
    void *context;
};
struct sl_webhook_secret *sl_webhook_secret_new(const struct sl_webhook_secret_options *o);
void sl_webhook_secret_free(
    struct sl_webhook_secret *s); /* the loop has to turn once more; NULL is fine */
#endif
