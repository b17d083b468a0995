/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* May they? As the API server's own authorizers say of the same request: a SubjectAccessReview for the resource or
 * the path that is asked for. */
#ifndef SL_CLI_ACCESS_H
#define SL_CLI_ACCESS_H
#include "cli/pages/reviews.h"
#include "server/server.h"

/* `caller`: {user, groups, uid, extra} (server/front_proxy.h). `path` without the query. */
enum sl_verdict sl_access_ask(struct sl_reviews *reviews, const struct sl_json *caller,
                              const char *method, const char *path, struct sl_error *e);
#endif
