/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The webhook's authority and its server's certificate, as the Secret has them that all replicas share: ca.crt, ca.key, tls.crt and
 * tls.key, as Kueue's. They are renewed long before they end. A new authority is trusted long before anything is signed by it, as a
 * certificate that is good is kept. */
#ifndef SL_CLI_WEBHOOK_KEYS_H
#define SL_CLI_WEBHOOK_KEYS_H
#include "api/json/json.h"
#include "server/issue.h"

struct sl_webhook_keys {
    struct sl_issued authority; /* the newest first; its key is that of the first */
    struct sl_issued server;
};
void sl_webhook_keys_fini(struct sl_webhook_keys *k);
/* What a Secret says; what it lacks stays empty. */
void sl_webhook_keys_read(const struct sl_json *secret, struct sl_webhook_keys *out);
/* Into `data` of a Secret, beside what else is there. */
void sl_webhook_keys_write(const struct sl_webhook_keys *k, struct sl_json *secret);
/* What lacks, is spoiled, for another name (DNS or IP), or near its end is made again. *why: a word about it for the log; NULL: all
 * is well. */
enum sl_code sl_webhook_keys_renew(struct sl_webhook_keys *k, const char *name, int64_t now_s,
                                   const char **why, struct sl_error *e);
#endif
