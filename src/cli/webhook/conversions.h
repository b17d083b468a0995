/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* CRDs that have their objects converted by our webhook (deploy/kubernetes/v1beta1). Every replica finds out whether there are such;
 * one of them writes into them where the webhook is, and its authorities. */
#ifndef SL_CLI_WEBHOOK_CONVERSIONS_H
#define SL_CLI_WEBHOOK_CONVERSIONS_H
#include "api/json/json.h"
#include "kube/transport.h"

#define SL_WEBHOOK_CONVERT_PATH "/convert"

struct sl_webhook_conversions;
struct sl_webhook_conversions_options {
    uv_loop_t *loop;
    struct sl_transport *transport; /* lent */
    const char *ns, *service;
    uint64_t seed; /* of the jitter */
    void (*asked)(
        void *context); /* once, when the first such CRD is seen; never from within _new */
    bool (*writes)(void *context); /* is it this replica that writes? NULL: it is */
    void *context;
};
struct sl_webhook_conversions *
sl_webhook_conversions_new(const struct sl_webhook_conversions_options *o);
void sl_webhook_conversions_free(
    struct sl_webhook_conversions *c); /* the loop has to turn once more; NULL is fine */
/* From now on they are written: `url` ("https://127.0.0.1:9443") in place of the Service, or NULL; `authorities` (PEM) NULL: these
 * are for others to write. */
void sl_webhook_conversions_write(struct sl_webhook_conversions *c, const char *url,
                                  const char *authorities);

/* The merge patch for a CRD that asks for our webhook; NULL: it does not, or is as it should be. For tests, too. */
struct sl_json *sl_webhook_conversion_patch_new(const struct sl_json *crd, const char *ns,
                                                const char *service, const char *url,
                                                const char *authorities);
bool sl_webhook_conversion_asks(const struct sl_json *crd, const char *ns, const char *service);
#endif
