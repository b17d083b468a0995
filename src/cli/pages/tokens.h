/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who asks, when they show a bearer token: a TokenReview says. */
#ifndef SL_CLI_TOKENS_H
#define SL_CLI_TOKENS_H
#include "cli/pages/reviews.h"
#include "server/front_proxy.h"
#include "server/server.h"

/* Does the request show one? */
bool sl_token_shown(const struct sl_call *call);
/* PASS: *caller is as sl_front_proxy_caller_new gives it, for the caller to free. */
enum sl_verdict sl_token_ask(struct sl_reviews *reviews, const struct sl_call *call,
                             struct sl_json **caller, struct sl_error *e);
#endif
