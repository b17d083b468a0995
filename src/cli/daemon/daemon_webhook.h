/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The webhook of a daemon in a cluster: whether there is one is found out at start; every replica serves it, and the one that leads
 * registers it. In a pod as the configuration says, or [::]:9443, by the Service; elsewhere where
 * --webhook-listen says, by that address. */
#ifndef SL_CLI_DAEMON_WEBHOOK_H
#define SL_CLI_DAEMON_WEBHOOK_H
#include "api/objects/client.h"
#include "cli/config/config.h"
#include "cli/daemon/daemon_options.h"
#include "kube/transport.h"

struct sl_daemon_webhook;
struct sl_daemon_webhook_place {
    uv_loop_t *loop;
    struct sl_transport *transport;
    const struct sl_daemon_options *options;
    const struct sl_config *config;
    const struct sl_client *client;
    const char *ns;               /* of the Service and the Secret */
    bool (*ready)(void *context); /* do the caches know enough to answer? */
    void (*decided)(
        void *context); /* sl_daemon_webhook_mutates may be asked; never from within _start */
    void *context;
};
/* All is lent. */
struct sl_daemon_webhook *sl_daemon_webhook_start(const struct sl_daemon_webhook_place *place);
void sl_daemon_webhook_stop(
    struct sl_daemon_webhook *w); /* the loop has to turn once more; NULL is fine */
void sl_daemon_webhook_lead(struct sl_daemon_webhook *w);
/* It is known whether there is a webhook, and that one does what mutating policies would. */
bool sl_daemon_webhook_known(const struct sl_daemon_webhook *w);
bool sl_daemon_webhook_mutates(const struct sl_daemon_webhook *w);
void sl_daemon_webhook_print(const struct sl_daemon_webhook *w, struct sl_buf *out); /* metrics */
#endif
